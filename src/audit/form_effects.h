/* form_effects.h - what a law with one Z for all words does to every word alike. */
#ifndef AUDIT_FORM_EFFECTS_H
#define AUDIT_FORM_EFFECTS_H

#include "audit/prior.h"
#include "mech/model_mechanism.h"

/* Fails with TEM_ERR_UNSUPPORTED if the law of a mechanism has no form, or if Z differs. */
tem_status form_check_alike(const tem_mechanism *m, tem_error *error);

/* Sets *self to N_w of every word that can be an output, *support to S_w of every word. The law has
 * passed form_check_alike. TEM_ERR_MEMORY. */
tem_status form_measure_alike(const tem_mechanism *m, double *self, double *support,
                              tem_error *error);

/* As tem_form_measure; prior NULL: none. */
tem_status form_measure(const tem_mechanism *m, const tem_prior *prior, const tem_run *run,
                        tem_form_point *point, tem_error *error);

#endif
