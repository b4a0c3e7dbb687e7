/* profile.h - how far away from each word all the others are, in a form that serves every
 * exponent.
 *
 * The distances from 0 to the largest are cut by PROFILE_POINTS equally spaced points. A word
 * y of weight a_y at the distance d of w, between the points p_k and p_(k+1), adds to the
 * profile of w
 *
 *     a_y (p_(k+1) - d)   at the point k,      a_y (d - p_k)   at the point k + 1:
 *
 * `step` times a_y in all, the more the nearer the point. w itself is left out.
 *
 * Then, for a convex function f, the sum over the profile of its numbers times f(p_k), divided
 * by step, is the sum of a_y times the chord of f at d(w, y): not below the sum of
 * a_y f(d(w, y)), and near it where f is nearly straight over a step. partition.h makes bounds
 * on Z(w) of that, for every s and gamma, from one look at all pairs of words.
 *
 * With weights of 1 the numbers are exact integers. With others they are sums of at most
 * `count` positive terms, each off by a relative (count + 1) 2^-53 at most. */
#ifndef AUDIT_PROFILE_H
#define AUDIT_PROFILE_H

#include "space/space.h"

enum { PROFILE_POINTS = 512 };

typedef struct profile {
    uint32_t count; /* words */
    uint32_t step;  /* between two points, in steps of 2^-16; point k is at k * step */
    tem_dist reach; /* no two words are farther apart */
    double *values; /* count * PROFILE_POINTS */
} profile;

/* Looks at all pairs of words. weights: one a word, or NULL: all 1. TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. Free with profile_free. */
tem_status profile_make(const space *s, const uint32_t *weights, const tem_run *run, profile *out,
                        tem_error *error);
void profile_free(profile *p);

static inline const double *profile_of(const profile *p, uint32_t id) {
    return p->values + (size_t)id * PROFILE_POINTS;
}

#endif
