/* partition.h - lower and upper bounds on ln Z(w) of every word.
 *
 * Z(w) = sum over y of a_y f(d(w, y)), f(d) = exp(-s min(d, gamma)). f is convex, also where it
 * becomes flat. So the profile (profile.h) gives an upper bound. For the lower bound, the numbers
 * of the profile are multiplied by smaller values v_k, such that (1 - u) v_k + u v_(k+1) <= f(d)
 * for every d = p_k + u step. These values are, with x = s step,
 *
 *     v_k = f(p_k) exp(-x^2/8)                      if p_(k+1) is at or before gamma,
 *     v_k = the lesser of that and exp(-s gamma)    at the last point up to gamma,
 *     v_k = exp(-s gamma)                           beyond gamma, where f is flat.
 *
 * The factor exp(-x^2/8) follows from Hoeffding's lemma, (1-u) e^(ux) + u e^(-(1-u)x) <= e^(x^2/8),
 * for a variable with two values, the mean 0 and the range x.
 *
 * Both bounds count the word itself with exactly a_w. slack() covers every rounding.
 *
 * PRIVACY: an audit or certificate is right only if least[w] <= ln Z(w) <= most[w]
 * (docs/PRIVACY.md, "The realized loss"). */
#ifndef AUDIT_PARTITION_H
#define AUDIT_PARTITION_H

#include "audit/decay.h"
#include "audit/profile.h"

typedef struct partition {
    exponent exponent;
    const uint32_t *weights; /* NULL: all 1; not owned */
    decay decay;
    uint32_t count;
    tem_dist reach;       /* no two words are farther apart */
    double *least, *most; /* bounds on ln Z */
    uint8_t *refined;     /* 1: partition_refine has set the bounds of this word */
} partition;

/* Computes the bounds of every word. `weights` are those of the profile, and must live as long as
 * the partition. TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Free with partition_free. */
tem_status partition_make(const profile *p, const uint32_t *weights, exponent e, const tem_run *run,
                          partition *out, tem_error *error);
void partition_free(partition *z);

/* Replaces the bounds of one word by bounds from the sum over all words. The new bounds differ by
 * less than 1e-9. O(count). */
void partition_refine(partition *z, const space *s, uint32_t id);

#endif
