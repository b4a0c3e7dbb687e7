/* realised.h - the realized loss of an exponent on a vocabulary,
 *
 *     eps* = s + max over pairs with d > 0 of |ln Z(w) - ln Z(w')| / min(d(w, w'), gamma).
 *
 * A proof that covers all pairs of words gives the upper bound. One pair gives the lower
 * bound. */
#ifndef AUDIT_REALISED_H
#define AUDIT_REALISED_H

#include "audit/slopes.h"

/* The inputs from which the loss is computed. */
typedef struct loss_inputs {
    const space *space;
    const neighbour_index *index;
    const profile *profile;
    const uint32_t *weights; /* NULL: all 1 */
} loss_inputs;

typedef struct realised_loss {
    double most, least; /* bounds on eps*; `most` includes 2^-60 for the sampler's law */
    slope worst;        /* a steepest pair; a == TEM_NO_WORD if no pair has a distance above 0 */
    double local;       /* bound on the loss between any two inputs */
    uint64_t examined;  /* pairs of words; all other pairs are proved to be less steep */
} realised_loss;

/* Finds and proves bounds on the realized loss of the exponent e.
 *   target  INFINITY, or a loss that must not be exceeded. With such a target the search ends as
 *           soon as the loss is known to exceed it: then least > target, `most` is above the target
 *           but may be no bound, and worst and examined may be unset. The search does not
 *           distinguish losses below the target: then it proves most <= target and no more, and
 *           worst may be unset.
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. */
tem_status realised_find(const loss_inputs *a, exponent e, double target, const tem_run *run,
                         realised_loss *out, tem_error *error);

/* Tries to prove that e->s loses at most epsilon. If beta > 0, gamma is computed from beta;
 * otherwise it is `gamma`. *holds tells whether the proof succeeded; if so, *proof receives the
 * proof, and e->gamma the gamma. An s for which there is no gamma (s gamma above 64) does not hold.
 * Fails as realised_find does, with *holds false. */
tem_status realised_try(const loss_inputs *a, exponent *e, double epsilon, double beta,
                        double gamma, const tem_run *run, realised_loss *proof, bool *holds,
                        tem_error *error);

/* Replaces *proof, which realised_try gave for e, by a proof as tight as possible: realised_try
 * stops at its target. Fails as realised_find does, with *proof unchanged. */
tem_status realised_tighten(const loss_inputs *a, exponent e, const tem_run *run,
                            realised_loss *proof, tem_error *error);

/* Finds, by bisection to 1/512, a large exponent whose realized loss is proved to be at most
 * epsilon. If beta > 0, gamma is computed from beta and s; otherwise it is `gamma`. TEM_ERR_RANGE
 * if not even s = epsilon/2 has a gamma; otherwise fails as realised_find does. */
tem_status realised_calibrate(const loss_inputs *a, double epsilon, double beta, double gamma,
                              const tem_run *run, exponent *out, realised_loss *proof,
                              tem_error *error);

#endif
