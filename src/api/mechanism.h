/* mechanism.h - what a tem_mechanism is made of. */
#ifndef API_MECHANISM_H
#define API_MECHANISM_H

#include "io/model.h"
#include "mech/madlib.h"
#include "mech/sampler.h"

struct tem_mechanism {
    const tem_model *model;
    tem_mechanism_kind kind;
    double epsilon, beta;
    uint32_t count;       /* words */
    tem_certificate_info certificate; /* the one that s, gamma and weights come from; its hash is ""
                                       * if there is none */
    sampler sampler;      /* TEM, EM */
    madlib madlib;        /* Madlib */
};

/* Why the mechanism states no bound for what its draws tell, as tem_job_why_not_private says it;
 * NULL: the bound of tem_mechanism_create. PRIVACY: whatever claims or charges for privacy asks
 * this, and not which kind of mechanism it is. */
const char *mechanism_why_unbounded(const tem_mechanism *m);

#endif
