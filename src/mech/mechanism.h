/* mechanism.h - one interface for all mechanisms.
 *
 * A mechanism is one file that defines a mechanism_ops, and one line in mechanisms.c. The rest of
 * tem asks the properties and never the name. A field that a new mechanism leaves out is 0, and 0
 * means "claims nothing, takes nothing, has no law": tem then refuses every request that needs that
 * field. tests/mechanisms/uniform.c is a complete example.
 *
 * PRIVACY: the report states `properties.guarantee`, and a budget is charged for it. A mechanism
 * states a guarantee only if its file proves it or names the theorem. */
#ifndef MECH_MECHANISM_H
#define MECH_MECHANISM_H

#include "mech/sampler.h"

/* The arguments of mechanism_ops.init. All of them are public. */
typedef struct mechanism_setup {
    const space *space;
    const neighbour_index *index;
    double epsilon;
    double beta, gamma;              /* 0: not given; 0 for mechanisms that do not take gamma */
    const uint32_t *weights;         /* NULL: all 1. A word with the weight 0 must never be drawn; a
                                * mechanism that takes no weights looks at nothing else in them.
                                * Not there after init: weights_init copies them */
    const exponent *certified;       /* s and gamma of a certificate, or NULL */
    const tem_parameter *parameters; /* the mechanism's, and in the same order their values: as */
    const double *numbers;           /* given, or the usual ones; each within its range */
    const uint8_t *listed;           /* 1 for each word of the public list; NULL: it takes none. Not
                                  * there after init */
} mechanism_setup;

/* The mechanism's own number with this name, which must be among its parameters. */
double mechanism_number(const mechanism_setup *setup, const char *name);

typedef struct mechanism_ops {
    tem_mechanism_properties properties;

    /* The functions below work on a state of this many bytes. The caller zeroes it before init. */
    size_t state_bytes;

    /* Sets up the state. *beta receives the beta from which init computed gamma; if there is no
     * such beta, init leaves *beta alone. Fails with TEM_ERR_RANGE, TEM_ERR_UNSUPPORTED,
     * TEM_ERR_MEMORY or, for lists that overlap, TEM_ERR_DAMAGED. After a failure the caller still
     * calls `free`. */
    tem_status (*init)(void *state, const mechanism_setup *setup, double *beta, tem_error *error);
    void (*free)(void *state);

    /* Draws an output for each of `count` words. TEM_NO_WORD stands for an unknown word. `out` may
     * be `words` itself. On failure the caller must not release anything. */
    tem_status (*draw)(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error);

    /* The number of draws that take some tens of milliseconds together. After this many draws the
     * caller asks whether to go on. 0: all draws are quick. */
    size_t slow_draws;

    /* Returns the sampler of a mechanism whose law is a_y exp(-s min(d, gamma)) / Z. tem can
     * compute, audit and certify this law. NULL instead of a function: the mechanism has another
     * law, or a law that cannot be computed. */
    const sampler *(*exponential)(const void *state);

    /* Sets probabilities[y] to P(y | word) for all words y; TEM_NO_WORD stands for an unknown word.
     * Each has a relative error of at most 10^-MECHANISM_ROW_DIGITS. NULL instead of a function:
     * the law is exponential, or it cannot be computed. Fails with TEM_ERR_MEMORY. Any thread. */
    tem_status (*row)(const void *state, uint32_t word, double *probabilities, tem_error *error);

    /* Sets likelihoods[w] to P(y | w) for all words w and, as the last number, for an unknown word,
     * with the error of `row`. y is an output. NULL instead of a function: whoever needs a column
     * takes it from rows. Only for mechanisms with `row`. Any thread. */
    void (*column)(const void *state, uint32_t y, double *likelihoods);

    /* Returns the s and gamma of a mechanism that proves P(y | w) <= exp(2 s min(d(w,w'), gamma))
     * P(y | w') exactly, and whose law is not exponential. NULL: it is, or nothing is proved. */
    const exponent *(*bound)(const void *state);
} mechanism_ops;

enum { MECHANISM_ROW_DIGITS = 12, MECHANISM_PARAMETERS_MAX = 8 };

/* Returns a text that says what is missing in a mechanism or contradicts itself, or NULL. tem uses
 * no mechanism that has a fault. PRIVACY: a mechanism that claims a guarantee must have the
 * properties on which the claim rests. */
const char *mechanism_fault(const mechanism_ops *ops);

/* The unit of the mechanism's epsilon, as its properties say; where they say nothing, the
 * mechanism's own name: such an epsilon adds up with no other. */
const char *mechanism_unit(const mechanism_ops *ops);

extern const mechanism_ops mechanism_tem, mechanism_em, mechanism_madlib;
extern const mechanism_ops mechanism_mahalanobis, mechanism_vickrey, mechanism_vickrey_exclude,
    mechanism_gumbel, mechanism_hyperbolic;
extern const mechanism_ops mechanism_santext, mechanism_santext_plus, mechanism_custext,
    mechanism_custext_plus, mechanism_diffractor, mechanism_permute_and_flip;

/* Sets *e as `tem` does: s by exponent_s, and gamma as given or from beta, or all of it by the
 * certificate. *beta is that of mechanism_ops.init. Fails with TEM_ERR_RANGE. */
tem_status mechanism_choose_exponent(const mechanism_setup *setup, exponent *e, double *beta,
                                     tem_error *error);

/* The mechanism with this name, and mechanism number i, counted from 0. NULL if there is none. */
const mechanism_ops *mechanism_find(const char *name);
const mechanism_ops *mechanism_at(unsigned i);

#endif
