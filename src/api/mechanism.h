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
    char certificate[65]; /* hash of the one that s and gamma come from, in hex, or "" */
    sampler sampler;      /* TEM, EM */
    madlib madlib;        /* Madlib */
};

#endif
