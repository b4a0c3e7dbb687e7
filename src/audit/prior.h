/* prior.h - how often each word is expected in future texts.
 *
 * PRIVACY: an epsilon or weights that were chosen by a prior disclose something about the prior. So
 * the prior must be public, and must never be counted from the text to be protected. The library
 * cannot know where a file comes from; docs/THREAT_MODEL.md tells the user. */
#ifndef AUDIT_PRIOR_H
#define AUDIT_PRIOR_H

#include "tem_account.h"

struct tem_prior {
    const tem_model *model; /* only to check that the prior belongs to a model */
    uint32_t count;
    double *frequencies; /* one per word; they add up to 1 */
    tem_prior_info info;
};

/* Makes a prior over `count` words with all frequencies 0. The caller fills them in and then calls
 * prior_scale. Returns NULL if there is no memory. Free with prior_free. */
tem_prior *prior_make(const tem_model *model, uint32_t count);
void prior_free(tem_prior *p);

/* Divides the frequencies by their sum, and returns the sum. If it is 0, the frequencies stay as
 * they are. */
double prior_scale(tem_prior *p);

/* As tem_prior_create_zipf and tem_prior_load; no pointer but `run` is NULL. */
tem_status prior_create_zipf(const tem_model *model, double power, tem_prior **prior,
                             tem_error *error);
tem_status prior_load(const tem_model *model, const char *path, const tem_run *run,
                      tem_prior **prior, tem_error *error);

#endif
