/* realised.h - the realised loss: what an exponent really costs on a vocabulary.
 *
 *     eps* = s + max over pairs with d > 0 of |ln Z(w) - ln Z(w')| / min(d(w, w'), gamma)
 *
 * bounded from above by a proof that covers all pairs of words, and from below by one of them. */
#ifndef AUDIT_REALISED_H
#define AUDIT_REALISED_H

#include "audit/slopes.h"

/* What it is computed from. */
typedef struct loss_inputs {
    const space *space;
    const neighbour_index *index;
    const profile *profile;
    const uint32_t *weights; /* NULL: all 1 */
} loss_inputs;

typedef struct realised_loss {
    double most, least; /* bounds on eps*, most with room for the sampler's 2^-60 */
    slope worst;        /* a steepest pair; a == TEM_NO_WORD if no two words are apart */
    double local;       /* bound on the loss between any two inputs */
    uint64_t examined;  /* pairs of words; the others were proved to be less steep */
} realised_loss;

/* target: INFINITY, or a loss that is not to be exceeded: then the search ends as soon as it is
 * (least > target), and does not tell losses below the target apart (most <= target is all that
 * is proved). TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. */
tem_status realised_find(const loss_inputs *a, exponent e, double target, const tem_run *run,
                         realised_loss *out, tem_error *error);

/* Whether e->s, with a gamma from beta > 0 or else `gamma`, is proved to lose at most epsilon; if
 * so *proof is the proof and e->gamma that gamma. An s for which there is no gamma (s gamma beyond
 * 64) is none that holds. Fails as realised_find does, with *holds false. */
tem_status realised_try(const loss_inputs *a, exponent *e, double epsilon, double beta,
                        double gamma, const tem_run *run, realised_loss *proof, bool *holds,
                        tem_error *error);

/* The proof that realised_try gave for e as tight as it can be had: with a target it stops
 * there. */
tem_status realised_tighten(const loss_inputs *a, exponent e, const tem_run *run,
                            realised_loss *proof, tem_error *error);

/* Finds an exponent as large as bisection does, to 1/512, with a realised loss that is proved to
 * be at most epsilon. beta > 0: gamma is made from it and s; else it is `gamma`. TEM_ERR_RANGE if
 * not even epsilon/2 has a gamma, or as realised_find does. */
tem_status realised_calibrate(const loss_inputs *a, double epsilon, double beta, double gamma,
                              const tem_run *run, exponent *out, realised_loss *proof,
                              tem_error *error);

#endif
