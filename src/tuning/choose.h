/* choose.h - the epsilon for a target. */
#ifndef TUNING_CHOOSE_H
#define TUNING_CHOOSE_H

#include "audit/accountant.h"
#include "tem_account.h"

/* As tem_accountant_choose and tem_accountant_curve. No pointer but `run` may be NULL, wish->prior
 * included, and the target must be one of tem_account.h. */
tem_status choose_epsilon(const tem_accountant *accountant, const tem_wish *wish,
                          const tem_run *run, tem_point *answer, tem_error *error);
tem_status choose_curve(const tem_accountant *accountant, const tem_wish *wish,
                        const tem_point *answer, const tem_run *run,
                        tem_point points[TEM_CURVE_MAX], uint32_t *count, tem_error *error);

/* As tem_form_choose. No pointer but `run` and wish->prior may be NULL. */
tem_status choose_for_form(const tem_model *model, const tem_mechanism_options *options,
                           const tem_wish *wish, const tem_run *run, tem_form_point *answer,
                           tem_error *error);

/* As tem_wish_value, tem_wish_is_kept and tem_target_name (NULL: no such target). */
double wish_value(const tem_wish *wish, const tem_summary *summary);
bool wish_is_kept(const tem_wish *wish, const tem_summary *summary);
const char *target_name(tem_target target);

/* As tem_point_get_options. */
tem_mechanism_options point_options(const tem_point *point);

#endif
