/* worst_case.h - the largest mean of a function over all shares that the ratio allows.
 *
 * The shares q of the input words of a text are unknown. Allowed are all q >= 0 that add up to 1
 * and have q(w) <= ratio * pi(w) for the expected shares pi. The mean of a function r under q is
 * largest if q has as much as it may of the words with the largest r: sort r, and give ratio * pi
 * to each word in turn until 1 is given away. (In finance this mean is the conditional value at
 * risk at the level 1 - 1/ratio.) */
#ifndef LEARN_WORST_CASE_H
#define LEARN_WORST_CASE_H

#include "tem.h"

typedef struct worst_case_entry {
    double value, share;
} worst_case_entry;

typedef struct worst_case {
    uint32_t inputs;
    const double *expected; /* pi, which the caller keeps */
    double ratio;           /* above 1 */
    worst_case_entry *entries;
} worst_case;

/* Fails with TEM_ERR_MEMORY. Free with worst_case_free. */
tem_status worst_case_init(worst_case *w, const double *expected, uint32_t inputs, double ratio,
                           tem_error *error);
void worst_case_free(worst_case *w);

/* *size receives the largest absolute value of the mean of r under an allowed q, and *square the
 * largest mean of r^2. The value of input w is r[w * stride]. */
void worst_case_find(worst_case *w, const double *r, uint32_t stride, double *size, double *square);

#endif
