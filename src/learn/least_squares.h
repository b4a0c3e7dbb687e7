/* least_squares.h - functions h of the released word whose means come near given functions g of
 * the input word.
 *
 * Each column is one g and one h. The steps lower the mean of (g - P h)^2 under the expected shares
 * pi of the inputs, by conjugate gradients on the normal equations (CGLS: Hestenes, Stiefel 1952;
 * Bjorck, Numerical Methods for Least Squares Problems, 1996, 7.4), where h lives in the space with
 * the inner product sum of p h h', p = transpose(P) pi. There the transpose of P is
 *
 *     r  ->  transpose(P) (pi r) / p,
 *
 * the mean of r(w) given the released word. All means under pi and p stay 0: g has its mean taken
 * off first, and both products keep a mean. With each step |g - P h| falls and |h| rises
 * (Steihaug 1983), so the number of steps sets how bias and noise of an estimate are balanced. */
#ifndef LEARN_LEAST_SQUARES_H
#define LEARN_LEAST_SQUARES_H

#include "learn/channel.h"

typedef struct least_squares {
    const tem_channel *channel;
    const double *expected; /* pi, which the caller keeps */
    double *predicted;      /* p */
    uint32_t columns;
    double *rest;      /* g - P h, without its mean: a row per input */
    double *image;     /* P direction; a row per input */
    double *h;         /* a row per output */
    double *direction; /* a row per output */
    double *gradient;  /* the mean of `rest` given the released word; a row per output */
    double *slopes;    /* the square of the gradient, per column */
} least_squares;

/* Starts at h = 0. Cost: one product with one column, and one with `columns`. Fails with
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Free with least_squares_free, also after a failure. */
tem_status least_squares_init(least_squares *l, const tem_channel *channel, const double *expected,
                              const double *g, uint32_t columns, const tem_run *run,
                              tem_error *error);
void least_squares_free(least_squares *l);

/* One step in each column. Cost: two products. After a failure *l can only be freed. */
tem_status least_squares_step(least_squares *l, const tem_run *run, tem_error *error);

/* The variance of h of a column under p, where its mean is 0. */
double least_squares_variance(const least_squares *l, uint32_t column);

#endif
