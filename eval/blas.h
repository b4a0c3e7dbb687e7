/* blas.h - OpenBLAS, loaded when an evaluation starts.
 *
 * The program does not link OpenBLAS, because OpenBLAS starts one thread per CPU as soon as it is
 * loaded. Every other command would pay for that: 2 of its 3.4 ms, measured on two CPUs. */
#ifndef EVAL_BLAS_H
#define EVAL_BLAS_H

#include "tem.h"

#include <stdbool.h>

/* Loads the library once, limited to one thread. Fails with TEM_ERR_UNSUPPORTED if the library is
 * missing. Call it before the functions below, and before starting threads. */
tem_status blas_open(tem_error *error);

/* c (m rows of n) = a times b + keep * c. a is m by k, or k by m if a_turned (transposed); b is k
 * by n, or n by k if b_turned. Rows are a_stride, b_stride and n floats apart. */
void blas_multiply(bool a_turned, bool b_turned, uint32_t m, uint32_t n, uint32_t k, const float *a,
                   uint32_t a_stride, const float *b, uint32_t b_stride, float keep, float *c);

#endif
