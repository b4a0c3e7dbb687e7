/* distance_law.h - a law that depends on the distance alone, learned from pairs.
 *
 *     g(y | w) = f(d(w, y)) / Z(w),   g(w | w) = f_self / Z(w)
 *
 * ln f is straight between knots, which are points of the profile (profile.h) at quantiles of the
 * distances of the pairs. Between two neighboring points f itself is straight, so the profile
 * gives Z(w) = f_self [w is an output] + sum over y != w of f(d(w, y)) exactly, for all words,
 * without a look at any distance.
 *
 * The values at the knots maximize the likelihood of the pairs. It is that of an exponential
 * family, so it is concave, and Newton's method finds the maximum. A small penalty on the second
 * differences of ln f keeps ln f straight where there are no pairs: there f goes on as in an
 * exponential law. */
#ifndef COMPARE_DISTANCE_LAW_H
#define COMPARE_DISTANCE_LAW_H

#include "audit/profile.h"
#include "compare/drawn_pairs.h"

enum { DISTANCE_KNOTS = 30 };

typedef struct distance_law {
    const profile *profile;
    const uint32_t *outputs;          /* 0: the word is never an output; else 1. NULL: all 1 */
    double self;                      /* f_self */
    double at[PROFILE_POINTS];        /* f at the points */
    double most_from[PROFILE_POINTS]; /* the largest of `at` from this point on */
} distance_law;

/* Learns the law from `count` pairs; those of unknown words (TEM_NO_WORD) tell nothing about it.
 * TEM_ERR_MEMORY. */
tem_status distance_law_learn(const space *s, const profile *known, const uint32_t *outputs,
                              const drawn_pair *pairs, uint64_t count, distance_law *out,
                              tem_error *error);

/* f at a distance between two different words. */
static inline double distance_law_at(const distance_law *law, tem_dist d) {
    const uint32_t cell = d / law->profile->step;
    if (cell + 1 >= PROFILE_POINTS)
        return law->at[PROFILE_POINTS - 1];
    const double past = (double)(d - cell * law->profile->step) / law->profile->step;
    return law->at[cell] + past * (law->at[cell + 1] - law->at[cell]);
}

/* No word at this distance or farther has a larger f. */
static inline double distance_law_most(const distance_law *law, tem_dist d) {
    const uint32_t cell = d / law->profile->step;
    return law->most_from[cell < PROFILE_POINTS ? cell : PROFILE_POINTS - 1];
}

static inline double distance_law_self(const distance_law *law, uint32_t word) {
    return law->outputs == NULL || law->outputs[word] > 0 ? law->self : 0;
}

/* Z(w). */
double distance_law_total(const distance_law *law, uint32_t word);

/* The sum of f ln f over all outputs of a word, from which its entropy follows. */
double distance_law_log_sum(const distance_law *law, uint32_t word);

#endif
