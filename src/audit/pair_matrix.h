/* pair_matrix.h - all distances of a vocabulary, approximately, in 16 bits each, and sums over
 * them. The search for weights and the effects of a mechanism with weights are computed from them.
 *
 * PRIVACY: no proof rests on these numbers. The search only proposes weights. tem rounds them to
 * integers, and realised.h judges them by the exact distances. */
#ifndef AUDIT_PAIR_MATRIX_H
#define AUDIT_PAIR_MATRIX_H

#include "audit/pair_loops.h"
#include "index/neighbours.h"
#include "space/squares.h"

#include <stdbool.h>

typedef struct pair_matrix {
    uint32_t count;  /* words */
    uint32_t stride; /* count, padded to whole blocks */
    unsigned threads;
    double reach;    /* no distance is larger */
    float unit;      /* size of a step; if streamed, of the current pass */
    bool kept;       /* all distances are in memory; else streamed: computed again for every sum */
    uint16_t *steps; /* kept: tiles, each pair once; streamed: one tile per thread */
    uint16_t *nearest; /* kept: per row of each tile the least distance above 0 */
    float *row_sums;   /* the sums of one block of rows, per thread */
    float *partials;   /* the sums of each group of rows */
    const pair_loops *loops;
    const neighbour_index *index;
    squares squares;
    squares_room room;
} pair_matrix;

/* Prepares the distances of a space with an index. No distance may exceed `reach`. The distances
 * are kept in memory if they take at most `most` bytes: 2 bytes per pair. Otherwise they are
 * streamed. TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Free with pair_matrix_free. */
tem_status pair_matrix_make(const space *s, const neighbour_index *index, tem_dist reach,
                            size_t most, const tem_run *run, pair_matrix *out, tem_error *error);
void pair_matrix_free(pair_matrix *t);

/* Returns zeroed memory for one number per word, padded; NULL if there is no memory. The caller
 * frees it with core_free. */
float *pair_vector(const pair_matrix *t);

/* The functions below compute sums for every word, with the exponent s, distances m cut at gamma,
 * and k = exp(-s m); K is the matrix of all k. All vectors come from pair_vector. In pair_sum and
 * pair_stream any output may be NULL. The results are the same bits for any number of threads. */
typedef struct pair_call {
    pair_matrix *matrix; /* only one call may use it at a time */
    double s, gamma;
    const tem_run *run;
    bool others; /* streamed: each word counts in its own sums as if it were at the distance
                  * min(reach, gamma); the caller subtracts it */
} pair_call;

/* Computes z = K a, m = (K m) a, q = (K m^2) a. TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status pair_sum(const pair_call *call, const float *a, float *z, float *m, float *q,
                    tem_error *error);

/* Computes z, m, q as pair_sum does and gradient = (K m) p + K h, in one pass. Only where distances
 * are streamed. Fails as pair_sum does. */
tem_status pair_stream(const pair_call *call, const pair_side *words, tem_error *error);

/* As pair_stream, but q = sum of k a over the words that are farther than gamma, to 3e-6 of gamma.
 * gamma must be below the reach. */
tem_status pair_stream_beyond(const pair_call *call, const pair_side *words, tem_error *error);

/* Computes out = (K m) p + K h. Only where distances are kept. Fails as pair_sum does. */
tem_status pair_gradient(const pair_call *call, const float *p, const float *h, float *out,
                         tem_error *error);

/* Computes by how much pairs are steeper than `limit`, v = max(|u - u_y| - limit m, 0).
 *   out      for every word the sum of v over its pairs, each v with the sign of u - u_y
 *   *moment  the sum of v m over all pairs, each pair counted twice
 * Where distances are kept, the sums are over all pairs. Where they are streamed, the sums are over
 * the pairs in the lists of the index, which contain nearly all of the steepest pairs; a pair that
 * is in the lists of both its words counts twice as much.
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED or TEM_ERR_DAMAGED. */
tem_status pair_find_excess(const pair_call *call, const float *u, double limit, float *out,
                            double *moment, tem_error *error);

/* Finds the largest |u - u_y| / m over the same pairs, of those with m > 0. Fails as
 * pair_find_excess does. */
tem_status pair_find_slope(const pair_call *call, const float *u, double *slope, tem_error *error);

#endif
