/* madlib.h - the mechanism with which TEM is compared: add noise to the vector, then take the
 * nearest word (Feyisetan, Balle, Drake, Diethe 2020).
 *
 * The noise is floating point, as published: its density is proportional to exp(-epsilon |z|), and
 * it is computed from 53-bit numbers and libm. The published privacy statement is for real numbers,
 * and tem claims no exactness for the mechanism. tem then rounds the noisy vector to the model's
 * grid. From there on the search for the nearest word is exact; the lower id wins a tie. */
#ifndef MECH_MADLIB_H
#define MECH_MADLIB_H

#include "mech/point_search.h"
#include "mech/weights.h"

typedef struct madlib {
    double epsilon;
    const double *root; /* a square matrix by which the noise is multiplied; NULL: it is not */
    weights outputs;    /* 1 for every word that may be drawn, 0 for the others */
    point_search search;
} madlib;

/* Prepares the search for the nearest word. outputs: 0 for every word that must not be drawn, 1 for
 * the others; NULL: all may be drawn. Fails with TEM_ERR_UNSUPPORTED if the metric is not
 * euclidean, TEM_ERR_RANGE if the noise of this epsilon could leave the range of point_search_run,
 * TEM_ERR_MEMORY. Free with madlib_free. */
tem_status madlib_init(madlib *m, const space *s, const uint32_t *outputs, double epsilon,
                       tem_error *error);
void madlib_free(madlib *m);

/* The same with noise that is multiplied by the matrix root (dimension by dimension, row by row),
 * which lengthens no vector by more than the factor `stretch`. root must live as long as m. */
tem_status madlib_init_shaped(madlib *m, const space *s, const uint32_t *outputs, double epsilon,
                              const double *root, double stretch, tem_error *error);

/* Draws noise of `dimension` numbers: its length is drawn from Gamma(dimension, 1/epsilon), its
 * direction uniformly. */
void madlib_noise(double epsilon, uint32_t dimension, tem_rng *rng, double *noise);

/* Replaces the noise by root times the noise. */
void madlib_shape(const double *root, uint32_t dimension, double *noise);

/* madlib_draw searches for this many points together. */
enum { MADLIB_POINTS_AT_ONCE = 1536 };

/* Draws an output for each of `count` words; `out` may be `words` itself. An unknown word,
 * TEM_NO_WORD, has no vector to which noise could be added: its output is uniform over all words
 * that may be drawn, and tem states no bound between it and a known word. Fails with
 * TEM_ERR_MEMORY. */
tem_status madlib_draw(const madlib *m, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error);

/* Chooses an output for each of `count` noisy vectors, at most MADLIB_POINTS_AT_ONCE; words: the
 * known words that they were made from. */
typedef tem_status madlib_choice(const void *context, const uint32_t *words, const int64_t *points,
                                 size_t count, tem_rng *rng, uint32_t *out, tem_error *error);

/* madlib_draw with another choice than the nearest word. */
tem_status madlib_draw_by(const madlib *m, madlib_choice *choose, const void *context,
                          const uint32_t *words, size_t count, tem_rng *rng, uint32_t *out,
                          tem_error *error);

#endif
