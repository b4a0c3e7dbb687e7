/* singular.h - the first singular vectors of a large sparse matrix.
 *
 * Subspace iteration: a block of `wanted` and some more columns is multiplied by X and by X
 * transposed again and again, and made orthonormal in between. The block comes to span the first
 * singular vectors (Halko, Martinsson and Tropp, 2011, algorithm 4.4). In each step a
 * Rayleigh-Ritz projection turns the columns of the block to the best singular vectors of its
 * span. */
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

/* Makes the transpose of a matrix. Fails with TEM_ERR_MEMORY. Free with sparse_free. */
tem_status sparse_transpose(const sparse *m, sparse *out, tem_error *error);
void sparse_free(sparse *m);

/* Writes the first `wanted` right singular vectors of m to `out`: a row per column of m, `wanted`
 * numbers to a row, the largest singular value first. wanted is 1 to the smaller of m->rows and
 * m->columns. A vector whose singular value is below 10^-6 of the largest one is all 0: rounding
 * hides such vectors. `transposed` is the transpose of m.
 * The iteration stops when X v is within 10^-4 of its singular value times the left vector, or
 * after STEPS_MOST steps. The result is the same for every number of threads.
 * Fails with TEM_ERR_UNSUPPORTED (no OpenBLAS), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
tem_status singular_vectors(const sparse *m, const sparse *transposed, uint32_t wanted,
                            const tem_run *run, double *out, tem_error *error);

#endif
