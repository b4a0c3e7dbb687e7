/* prior.h - how often each word is expected in the texts to come.
 *
 * PRIVACY: what is chosen by a prior (an epsilon, weights) discloses something about it. So it
 * must be public, and never be counted in the text that is to be protected. The library cannot
 * know where a file comes from; docs/THREAT_MODEL.md says it to the user. */
#ifndef AUDIT_PRIOR_H
#define AUDIT_PRIOR_H

#include "tem_account.h"

struct tem_prior {
    const tem_model *model; /* only to know it again */
    uint32_t count;
    double *frequencies; /* one a word; they add up to 1 */
    tem_prior_info info;
};

/* A prior over `count` words with frequencies of 0, to be filled in and then given to prior_scale.
 * NULL: no memory. Free with prior_free. */
tem_prior *prior_make(const tem_model *model, uint32_t count);
void prior_free(tem_prior *p);

/* Divides the frequencies by their sum, and says what it was; if that is 0 they stay as they
 * are. */
double prior_scale(tem_prior *p);

/* As tem_prior_create_zipf and tem_prior_load; no pointer but `run` is NULL. */
tem_status prior_create_zipf(const tem_model *model, double power, tem_prior **prior,
                             tem_error *error);
tem_status prior_load(const tem_model *model, const char *path, const tem_run *run,
                      tem_prior **prior, tem_error *error);

#endif
