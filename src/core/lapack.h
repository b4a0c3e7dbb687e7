/* lapack.h - eigenvectors of a symmetric matrix, and products of matrices, by OpenBLAS.
 *
 * The library is loaded when it is first needed, and not linked: OpenBLAS starts one thread per CPU
 * as soon as it is loaded, and a process that neither builds a sphere nor learns does without
 * it. */
#ifndef CORE_LAPACK_H
#define CORE_LAPACK_H

#include "tem.h"

/* Replaces the symmetric matrix a (size by size) by its eigenvectors: a[i * size + k] is the kth
 * number of the eigenvector of values[i]. The values ascend. Runs on one thread, so that the
 * order of sums is always the same. While it runs, OpenBLAS has one thread in the whole process,
 * and other calls wait; the callback of `run` can stop a call that waits. Fails with
 * TEM_ERR_UNSUPPORTED if there is no OpenBLAS, TEM_ERR_MEMORY, TEM_ERR_CANCELLED,
 * TEM_ERR_ARGUMENT if a progress callback of a call that has OpenBLAS makes this call, or
 * TEM_ERR_RANGE if the iteration does not converge. */
tem_status lapack_eigenvectors(uint32_t size, double *a, double *values, const tem_run *run,
                               tem_error *error);

/* Between these two calls, of one thread, any number of threads may call lapack_add_product and
 * lapack_add_transposed_product. OpenBLAS has one thread in the whole process meanwhile, and other
 * callers of lapack_products_begin and lapack_eigenvectors wait. Fails as lapack_eigenvectors does,
 * except TEM_ERR_RANGE. */
tem_status lapack_products_begin(const tem_run *run, tem_error *error);
void lapack_products_end(void);

/* c (rows by columns) += a (rows by depth) times b (depth by columns). The rows of each matrix are
 * so many numbers apart as its stride says. */
void lapack_add_product(uint32_t rows, uint32_t columns, uint32_t depth, const double *a,
                        size_t a_stride, const double *b, size_t b_stride, double *c,
                        size_t c_stride);

/* The same with the transpose of a (depth by rows). */
void lapack_add_transposed_product(uint32_t rows, uint32_t columns, uint32_t depth, const double *a,
                                   size_t a_stride, const double *b, size_t b_stride, double *c,
                                   size_t c_stride);

#endif
