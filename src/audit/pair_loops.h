/* pair_loops.h - the inner loops of pair_matrix.h: one row of distances against all words, sixteen
 * words at a time.
 *
 * The build compiles the one source, pair_loops.c, once per register width. Every operation works
 * on each element separately, so all versions return the same bits. */
#ifndef AUDIT_PAIR_LOOPS_H
#define AUDIT_PAIR_LOOPS_H

#include <stdint.h>

enum { PAIR_LANES = 16 };

/* One row of distances. All vectors are padded to whole groups of PAIR_LANES elements. The padding
 * of vectors that are factors is 0. */
typedef struct pair_row {
    const uint16_t *steps; /* distances, in steps of `unit` */
    uint32_t groups;       /* number of groups of PAIR_LANES distances */
    float unit;
    float gamma; /* larger distances count as gamma */
    float rate;  /* -s / ln 2: exp(-s m) = 2^(rate m) */
} pair_row;

typedef struct pair_sums {
    float z, m, q; /* sums of a k, a k m, a k m^2; k = exp(-s m) */
} pair_sums;

/* By how much the pairs of a word exceed a limit on the slope: v = max(|u - u_y| - limit m, 0). */
typedef struct pair_excess {
    float signed_sum; /* sum of v, each with the sign of u - u_y */
    float moment;     /* sum of v m */
} pair_excess;

/* The factors by which one word enters the sums of other words. */
typedef struct pair_numbers {
    float a, p, h;
} pair_numbers;

/* Several words: the factors by which they enter the sums of others, and their own sums. */
typedef struct pair_side {
    const float *a, *p, *h;
    float *z, *m, *q, *gradient;
} pair_side;

typedef struct pair_loops {
    /* Computes distances from their squares: the root times `scale`, rounded, at most 65535. */
    void (*roots)(const uint32_t *squares, uint32_t groups, float scale, uint16_t *steps);
    pair_sums (*sums)(const pair_row *row, const float *a);
    float (*gradient)(const pair_row *row, const float *p, const float *q); /* sum of k (m p + q) */
    pair_excess (*excess)(const pair_row *row, float u, const float *others, float limit);
    float (*slope)(const pair_row *row, float u, const float *others); /* largest |u - u_y| / m */

    /* Adds the words of the columns to the sums of the row, and the row to the sums of the columns.
     * `row_sums` has four groups of lanes: z, m, q and gradient of the row. */
    void (*meet)(const pair_row *row, const pair_numbers *row_numbers, float *row_sums,
                 const pair_side *columns);
} pair_loops;

extern const pair_loops pair_loops_plain;
#if defined(__x86_64__)
extern const pair_loops pair_loops_avx2, pair_loops_avx512;
#endif

#endif
