/* singular.h - the first singular vectors of a large sparse matrix.
 *
 * Subspace iteration: a block of `wanted` and some more columns is multiplied by X and by X
 * transposed again and again, and made orthonormal in between, until it spans the first singular
 * vectors (Halko, Martinsson and Tropp, 2011, algorithm 4.4). Each step turns the columns of the
 * block to the best singular vectors of its span (Rayleigh-Ritz), and subtracts a node of a
 * Chebyshev polynomial (Zhou, Saad, Tiago and Chelikowsky, 2006). */
#ifndef LEARN_SINGULAR_H
#define LEARN_SINGULAR_H

#include "tem.h"

/* A sparse matrix, row by row: the entries starts[r] to starts[r + 1] - 1 are those of row r, with
 * their columns and values. */
typedef struct sparse {
    uint32_t rows, columns;
    uint64_t *starts; /* rows + 1 */
    uint32_t *ids;    /* the column of each entry; ascending in each row */
    double *values;
} sparse;

void sparse_free(sparse *m);

/* Writes the first `wanted` right singular vectors of m to `out`: a row per column of m, `wanted`
 * numbers to a row, the largest singular value first. wanted is 1 to the smaller of m->rows and
 * m->columns. A vector whose singular value is below 10^-6 of the largest one is all 0: rounding
 * hides such vectors.
 * The iteration stops when (X transposed) u is within 10^-4 of v, relative to the singular value,
 * for all pairs of wanted vectors u and v, or after 100 steps. The result is the same for every
 * number of threads. Memory: three dense matrices, two with a row per column of m, one with a row
 * per row. Fails with TEM_ERR_UNSUPPORTED (no OpenBLAS), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
tem_status singular_vectors(const sparse *m, uint32_t wanted, const tem_run *run, double *out,
                            tem_error *error);

#endif
