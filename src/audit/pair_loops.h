/* pair_loops.h - the inner loops of pair_matrix.h: one row of distances against all words,
 * sixteen at a time. Compiled once for each width of registers from the one source pair_loops.c;
 * every operation is for one element by itself, so all give the same bits. */
#ifndef AUDIT_PAIR_LOOPS_H
#define AUDIT_PAIR_LOOPS_H

#include <stdint.h>

enum { PAIR_LANES = 16 };

/* Vectors are padded to whole lanes; the padding of what is multiplied is 0. */
typedef struct pair_row {
    const uint16_t *steps; /* distances, in units of `unit` */
    uint32_t groups;       /* of PAIR_LANES */
    float unit;
    float gamma; /* distances are cut here */
    float rate;  /* -s / ln 2: exp(-s m) = 2^(rate m) */
} pair_row;

typedef struct pair_sums {
    float z, m, q; /* of a k, a k m, a k m^2 */
} pair_sums;

/* How much the pairs of a word are too steep: v = max(|u - u_y| - limit m, 0). */
typedef struct pair_excess {
    float signed_sum; /* of v, with the sign of u - u_y */
    float moment;     /* of v m */
} pair_excess;

/* What a word is to others. */
typedef struct pair_numbers {
    float a, p, h;
} pair_numbers;

/* Some words: what they are to others, and what is found of them. */
typedef struct pair_side {
    const float *a, *p, *h;
    float *z, *m, *q, *gradient;
} pair_side;

typedef struct pair_loops {
    /* Distances from their squares: the root times `scale`, rounded, 65535 at most. */
    void (*roots)(const uint32_t *squares, uint32_t groups, float scale, uint16_t *steps);
    pair_sums (*sums)(const pair_row *row, const float *a);
    float (*gradient)(const pair_row *row, const float *p, const float *q); /* of k (m p + q) */
    pair_excess (*excess)(const pair_row *row, float u, const float *others, float limit);
    float (*slope)(const pair_row *row, float u, const float *others); /* largest |u - u_y| / m */

    /* The row and some words as columns, either to the other: `row_sums` has four groups of lanes,
     * for the z, m, q and gradient of the row; what is found is added. */
    void (*meet)(const pair_row *row, const pair_numbers *row_numbers, float *row_sums,
                 const pair_side *columns);
} pair_loops;

extern const pair_loops pair_loops_plain;
#if defined(__x86_64__)
extern const pair_loops pair_loops_avx2, pair_loops_avx512;
#endif

#endif
