/* profile.h - the distances of each word from all others, in a form that serves every exponent.
 *
 * PROFILE_POINTS equally spaced points cut the distances from 0 to the largest into cells. A word y
 * of weight a_y at the distance d from w, between the points p_k and p_(k+1), adds to the profile
 * of w
 *
 *     a_y (p_(k+1) - d)   at the point k,      a_y (d - p_k)   at the point k + 1.
 *
 * That is `step` times a_y in all, and the nearer point gets more. w itself is left out.
 *
 * For a convex function f, multiply each number of the profile by f(p_k), add up, and divide by
 * step. The result is the sum of a_y times the chord of f at d(w, y). It is not below the sum of
 * a_y f(d(w, y)), and is near it where f is nearly straight over a step. So one pass over all
 * pairs of words is enough for bounds on Z(w) for every s and gamma (partition.h).
 *
 * With weights of 1 the numbers are exact integers. With other weights each number is a sum of at
 * most `count` positive terms, with a relative error of at most (count + 1) 2^-53. */
#ifndef AUDIT_PROFILE_H
#define AUDIT_PROFILE_H

#include "space/space.h"

enum { PROFILE_POINTS = 512 };

typedef struct profile {
    uint32_t count; /* words */
    uint32_t step;  /* between two points, in steps of 2^-16; point k is at k * step */
    tem_dist reach; /* no two words are farther apart */
    uint32_t used;  /* the points from this one on are 0 in every profile */
    double *values; /* count * PROFILE_POINTS */
} profile;

/* Computes the profiles from all pairs of words. weights: one per word, or NULL: all 1.
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. Free with profile_free. */
tem_status profile_make(const space *s, const uint32_t *weights, const tem_run *run, profile *out,
                        tem_error *error);
void profile_free(profile *p);

static inline const double *profile_of(const profile *p, uint32_t id) {
    return p->values + (size_t)id * PROFILE_POINTS;
}

#endif
