/* audit_kept.h - what an adapted model keeps on purpose, for 'tem audit'. */
#ifndef CLI_AUDIT_KEPT_H
#define CLI_AUDIT_KEPT_H

#include "signal_set.h"

typedef struct audit_kept {
    signal_set signals;
    const char *prior_text;
    tem_told told[TEM_SIGNALS_MAX];
    double bayes; /* how often the best guess at a word is right */
    tem_unadapted unadapted;
} audit_kept;

/* Computes everything but the signals and the name of the prior, which the caller sets before.
 * Fails as tem_accountant_summarise, signal_set_tell and tem_accountant_unadapted do. */
tem_status audit_kept_measure(const tem_accountant *accountant, const tem_mechanism *mechanism,
                              const tem_prior *prior, const tem_run *run, audit_kept *kept,
                              tem_error *error);
void audit_kept_free(audit_kept *kept);

void audit_kept_print(const audit_kept *kept, const tem_model *model);

/* Returns an object, or NULL if memory is short or a name or a word is not UTF-8. */
json_t *audit_kept_as_json(const audit_kept *kept, const tem_model *model);

#endif
