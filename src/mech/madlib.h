/* madlib.h - the mechanism that TEM is compared with: noise on the vector, then the
 * nearest word (Feyisetan, Balle, Drake, Diethe 2020).
 *
 * As published it is floating point: noise with density proportional to
 * exp(-epsilon |z|), from 53-bit numbers and libm. Its privacy statement is for real
 * numbers, and tem claims no exactness for it. The noisy vector is then rounded to the
 * model's grid, and from there the nearest word is exact, ties by id. */
#ifndef MECH_MADLIB_H
#define MECH_MADLIB_H

#include "mech/point_search.h"
#include "rng/rng.h"

typedef struct madlib {
    double epsilon;
    point_search search;
} madlib;

/* TEM_ERR_UNSUPPORTED if the metric is not euclidean, TEM_ERR_RANGE if the noise of this
 * epsilon could leave the range of point_search_run, TEM_ERR_MEMORY. Free with madlib_free. */
tem_status madlib_init(madlib *m, const space *s, double epsilon, tem_error *error);
void madlib_free(madlib *m);

/* Noise of `dimension` numbers: a radius from Gamma(dimension, 1/epsilon), a uniform
 * direction. */
void madlib_noise(double epsilon, uint32_t dimension, tem_rng *rng, double *noise);

/* So many are searched for together. */
enum { MADLIB_POINTS_AT_ONCE = 1536 };

/* The outputs for `count` words; out may be `words` itself. An unknown word, TEM_NO_WORD, has
 * no vector to add noise to: its output is uniform over all words, and no bound is stated
 * between it and a known word. TEM_ERR_MEMORY. */
tem_status madlib_draw(const madlib *m, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error);

#endif
