/* pair_loops.h - the inner loops of pair_matrix.h: rows of distances against a block of words,
 * sixteen words at a time.
 *
 * The build compiles the one source, pair_loops.c, once per register width. Every operation works
 * on each element separately. The versions for AVX2 and AVX-512 return the same bits; they have
 * multiply-add instructions, which round once. The plain version rounds twice. */
#ifndef AUDIT_PAIR_LOOPS_H
#define AUDIT_PAIR_LOOPS_H

#include <stdint.h>

enum { PAIR_LANES = 16, PAIR_ROWS = 4 };

/* One row of distances. All vectors are padded to whole groups of PAIR_LANES elements. The padding
 * of vectors that are factors is 0. */
typedef struct pair_row {
    const uint16_t *steps; /* distances, in steps of `unit` */
    uint32_t groups;       /* number of groups of PAIR_LANES distances */
    float unit;
    float gamma; /* larger distances count as gamma */
    float rate;  /* -s / ln 2: exp(-s m) = 2^(rate m) */
} pair_row;

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

/* Which sums a pass computes: z; z, m and q; gradient; all four; all four, where the words at
 * gamma or beyond it add k a to q instead of k m^2 a, and the others nothing. */
typedef enum pair_kind {
    PAIR_TOTALS,
    PAIR_MOMENTS,
    PAIR_GRADIENT,
    PAIR_ALL,
    PAIR_BEYOND,
    PAIR_KINDS
} pair_kind;

/* Adds the words of the columns to the sums of PAIR_ROWS rows, and these rows to the sums of the
 * columns. With k = exp(-s m), a word with the factors a, p, h adds k a to z, k m a to m, k m^2 a
 * to q, and k (m p + h) to gradient. Only sums of the kind, and only factors that they need, are
 * used.
 *   rows      the first row; the others follow it, without a gap
 *   own       the factors of the rows
 *   row_sums  per row four groups of lanes: z, m, q and gradient */
typedef void pair_meet(const pair_row *rows, const pair_numbers own[PAIR_ROWS], float *row_sums,
                       const pair_side *columns);

typedef struct pair_loops {
    /* Computes distances from their squares: the root times `scale`, rounded, at most 65535. */
    void (*roots)(const uint32_t *squares, uint32_t groups, float scale, uint16_t *steps);

    /* others_sums: the signed sums of the other words, to which each v is added; or NULL. */
    pair_excess (*excess)(const pair_row *row, float u, const float *others, float limit,
                          float *others_sums);
    float (*slope)(const pair_row *row, float u, const float *others); /* largest |u - u_y| / m */
    pair_meet *meet[PAIR_KINDS];
} pair_loops;

extern const pair_loops pair_loops_plain;
#if defined(__x86_64__)
extern const pair_loops pair_loops_avx2, pair_loops_avx512;
#endif

#endif
