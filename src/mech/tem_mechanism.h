/* tem_mechanism.h - what a tem_mechanism is made of. */
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
