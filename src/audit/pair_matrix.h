/* pair_matrix.h - all distances of a vocabulary in 16 bits, nearly, and sums over them: what the
 * search for weights computes with, and what says how a mechanism with weights does.
 *
 * PRIVACY: nothing that is proved rests on this. What the search proposes is rounded to integers
 * and judged by realised.h, from the exact distances. */
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
    float unit;      /* of a step: streamed, that of the pass at hand */
    bool kept;       /* all distances; else they are streamed: made anew for every sum */
    uint16_t *steps; /* kept: rows, `stride` apart; else a tile a thread */
    float *row_sums; /* streamed: of a block of rows, for each thread */
    const pair_loops *loops;
    const neighbour_index *index;
    squares squares;
    squares_room room;
} pair_matrix;

/* The distances of a space with an index; reach: none is larger. They are kept where 2 bytes a
 * pair, both ways, are at most `most` bytes. TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Free with
 * pair_matrix_free. */
tem_status pair_matrix_make(const space *s, const neighbour_index *index, tem_dist reach,
                            size_t most, const tem_run *run, pair_matrix *out, tem_error *error);
void pair_matrix_free(pair_matrix *t);

/* Zeroed memory for a number a word, padded. NULL if there is none. */
float *pair_vector(const pair_matrix *t);

/* The sums for every word with the exponent s and distances cut at gamma, k = exp(-s m). Vectors
 * come from pair_vector; any output may be NULL. The same bits for any number of threads. */
typedef struct pair_call {
    pair_matrix *matrix; /* one call at a time */
    double s, gamma;
    const tem_run *run;
    bool others; /* streamed: sums without the word itself, which is put at min(reach, gamma) */
} pair_call;

/* z = K a, m = (K m) a, q = (K m^2) a. TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status pair_sum(const pair_call *call, const float *a, float *z, float *m, float *q,
                    tem_error *error);

/* The same and out = (K m) p + K h in one pass, where distances are streamed. */
tem_status pair_stream(const pair_call *call, const pair_side *words, tem_error *error);

/* out = (K m) p + K h, where they are kept. */
tem_status pair_gradient(const pair_call *call, const float *p, const float *h, float *out,
                         tem_error *error);

/* For every word the sum of max(|u - u_y| - limit m, 0) with the sign of u - u_y, and *moment, the
 * sum of that without its sign, times m, over all pairs, each twice; where distances are streamed,
 * over the pairs in the lists of the index, which is where nearly all of the steepest are, a pair
 * that is in the lists of both words counting twice as much.
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED or TEM_ERR_DAMAGED. */
tem_status pair_find_excess(const pair_call *call, const float *u, double limit, float *out,
                            double *moment, tem_error *error);

/* The largest |u - u_y| / m over the same pairs with m > 0. Fails as pair_find_excess does. */
tem_status pair_find_slope(const pair_call *call, const float *u, double *slope, tem_error *error);

#endif
