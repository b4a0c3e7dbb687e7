/* lapack.h - eigenvectors of a symmetric matrix, by LAPACK in OpenBLAS.
 *
 * The library is loaded when it is first needed, and not linked: OpenBLAS starts one thread per CPU
 * as soon as it is loaded, and a process that builds no sphere does without it. */
#ifndef CORE_LAPACK_H
#define CORE_LAPACK_H

#include "tem.h"

/* Replaces the symmetric matrix a (size by size) by its eigenvectors: a[i * size + k] is the kth
 * number of the eigenvector of values[i]. The values ascend. Runs on one thread, so that the
 * order of sums is always the same. While it runs, OpenBLAS has one thread in the whole process.
 * Fails with TEM_ERR_UNSUPPORTED if there is no OpenBLAS, TEM_ERR_MEMORY, or TEM_ERR_RANGE if the
 * iteration does not converge. */
tem_status lapack_eigenvectors(uint32_t size, double *a, double *values, tem_error *error);

#endif
