/* tem_mechanism.h - a mechanism over a model, made from a user's options. */
#ifndef MECH_TEM_MECHANISM_H
#define MECH_TEM_MECHANISM_H

#include "mech/mechanism.h"
#include "model/model.h"

struct tem_mechanism {
    const tem_model *model;
    const mechanism_ops *ops;
    void *state; /* of the ops */
    double epsilon, beta;
    uint32_t count;                   /* words */
    tem_certificate_info certificate; /* the one that s, gamma and weights come from; its hash is
                                       * "" if there is none */
};

/* As the functions of tem.h with these names; pointers that must be there are.
 * PRIVACY: mechanism_create refuses a model that is not trusted. */
tem_status mechanism_create(const tem_model *model, const tem_mechanism_options *options,
                            tem_mechanism **mechanism, tem_error *error);
void mechanism_free(tem_mechanism *mechanism);
void mechanism_get_info(const tem_mechanism *mechanism, tem_mechanism_info *info);
const uint32_t *mechanism_weights(const tem_mechanism *mechanism);
tem_status mechanism_self(const tem_mechanism *mechanism, uint32_t word, double *self,
                          tem_error *error);
tem_status mechanism_self_median(const tem_mechanism *mechanism, double *median, tem_error *error);

/* As tem_mechanism_draw_many. */
tem_status mechanism_draw(const tem_mechanism *mechanism, tem_rng *rng, const uint32_t *words,
                          uint32_t *out, size_t count, tem_error *error);

/* Why the mechanism states no bound for what its draws tell, as tem_job_why_not_private says it;
 * NULL: the bound of tem_mechanism_create. PRIVACY: whatever claims or charges for privacy asks
 * this, and not which kind of mechanism it is. */
const char *mechanism_why_unbounded(const tem_mechanism *m);

/* The sampler behind the mechanism, if its law is an exponential one; else NULL. */
const sampler *mechanism_exponential(const tem_mechanism *mechanism);

/* TEM_ERR_UNSUPPORTED if the law cannot be computed: then mechanism_exponential is NULL. */
tem_status mechanism_check_law(const tem_mechanism *mechanism, tem_error *error);

/* Whether the id is a word of the model, or TEM_NO_WORD. */
bool mechanism_has_word(const tem_mechanism *mechanism, uint32_t word);

#endif
