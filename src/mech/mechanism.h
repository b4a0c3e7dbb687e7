/* mechanism.h - one interface for all mechanisms.
 *
 * A mechanism is one file that defines a mechanism_ops, and one line in mechanisms.c. The rest
 * of tem asks the properties and never the name. A field that a new mechanism leaves out is 0,
 * and 0 means "claims nothing, takes nothing, has no law": the rest of tem then refuses what
 * would need it. tests/mechanisms/uniform.c is a complete example.
 *
 * PRIVACY: `properties.guarantee` is what the report says and what a budget is charged for. A
 * mechanism states one only if its file proves it or names the theorem. */
#ifndef MECH_MECHANISM_H
#define MECH_MECHANISM_H

#include "mech/sampler.h"

/* What a mechanism is made from. All of it is public. */
typedef struct mechanism_setup {
    const space *space;
    const neighbour_index *index;
    double epsilon;
    double beta, gamma;        /* 0: not given; 0 for mechanisms that do not take gamma */
    const uint32_t *weights;   /* NULL: all equal; NULL for mechanisms that take none */
    const exponent *certified; /* s and gamma of a certificate, or NULL */
} mechanism_setup;

typedef struct mechanism_ops {
    tem_mechanism_properties properties;

    /* Everything below works on a state of this many bytes, zeroed before init. */
    size_t state_bytes;

    /* Fails with TEM_ERR_RANGE, TEM_ERR_UNSUPPORTED, TEM_ERR_MEMORY. After a failure the caller
     * still calls `free`. *beta: what gamma was made from; left alone if it was not. */
    tem_status (*init)(void *state, const mechanism_setup *setup, double *beta, tem_error *error);
    void (*free)(void *state);

    /* The outputs for `count` words; out may be `words` itself. TEM_NO_WORD is an unknown word.
     * On failure nothing may be released. */
    tem_status (*draw)(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error);

    /* How many draws take some tens of milliseconds, so that the caller asks in between whether to
     * go on; 0: all draws are quick. */
    size_t slow_draws;

    /* The sampler behind a law of the form a_y exp(-s min(d, gamma)) / Z: it has the law, can be
     * audited and certified. NULL: the mechanism has another law, or none that can be computed. */
    const sampler *(*exponential)(const void *state);
} mechanism_ops;

extern const mechanism_ops mechanism_tem, mechanism_em, mechanism_madlib;

/* The mechanism with this name; the i-th of all, from 0. NULL if there is none. */
const mechanism_ops *mechanism_find(const char *name);
const mechanism_ops *mechanism_at(unsigned i);

#endif
