/* blas.c - OpenBLAS, loaded when an evaluation starts. */
#include "blas.h"

#include "failure.h"

#include <cblas.h>
#include <dlfcn.h>
#include <stdlib.h>

static __typeof__(cblas_sgemm) *sgemm;

tem_status blas_open(tem_error *error) {
    if (sgemm != NULL)
        return TEM_OK;
    setenv("OPENBLAS_NUM_THREADS", "1", 1); /* fixed order of sums; eval/ has its own threads */
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *found = library != NULL ? dlsym(library, "cblas_sgemm") : NULL;
    if (found == NULL)
        return eval_fail(error, TEM_ERR_UNSUPPORTED,
                         "an evaluation needs OpenBLAS, libopenblas.so.0; Debian has it as "
                         "libopenblas0");
    *(void **)&sgemm = found; /* POSIX allows this conversion, ISO C does not */
    return TEM_OK;
}

void blas_multiply(bool a_turned, bool b_turned, uint32_t m, uint32_t n, uint32_t k, const float *a,
                   uint32_t a_stride, const float *b, uint32_t b_stride, float keep, float *c) {
    sgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans, b_turned ? CblasTrans : CblasNoTrans,
          (int)m, (int)n, (int)k, 1, a, (int)a_stride, b, (int)b_stride, keep, c, (int)n);
}
