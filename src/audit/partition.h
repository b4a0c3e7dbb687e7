/* partition.h - ln Z(w) of every word, from both sides.
 *
 * Z(w) = sum over y of a_y f(d(w, y)), f(d) = exp(-s min(d, gamma)). f is convex, also where it
 * becomes flat. So the profile (profile.h) gives an upper bound, and for the lower one its
 * numbers are multiplied by smaller values v_k with (1 - u) v_k + u v_(k+1) <= f(d) for every d =
 * p_k + u step. With x = s step they are, by Hoeffding's lemma ((1-u) e^(ux) + u e^(-(1-u)x) <=
 * e^(x^2/8): a variable with two values, the mean 0 and the range x),
 *
 *     v_k = f(p_k) exp(-x^2/8)                      where the line ends at or before gamma,
 *     v_k = the lesser of that and exp(-s gamma)    at the point before gamma,
 *     v_k = exp(-s gamma)                           beyond, where f is flat.
 *
 * The word itself counts with a_w on both sides. Every rounding is paid for: see slack().
 *
 * PRIVACY: an audit or certificate is right only if least[w] <= ln Z(w) <= most[w]
 * (docs/PRIVACY.md, "The realised loss"). */
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
    uint8_t *refined;     /* 1: by partition_refine */
} partition;

/* Bounds for every word; weights as for the profile, which must outlive the partition.
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Free with partition_free. */
tem_status partition_make(const profile *p, const uint32_t *weights, exponent e, const tem_run *run,
                          partition *out, tem_error *error);
void partition_free(partition *z);

/* Replaces the bounds of one word by those of the sum over all words, which differ by less than
 * 1e-9. O(count). */
void partition_refine(partition *z, const space *s, uint32_t id);

#endif
