/* lapack.c - eigenvectors of a symmetric matrix, and products of matrices, by OpenBLAS. */
#include "core/lapack.h"

#include "core/memory.h"
#include "core/status.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>

/* LAPACK's DSYEV, as Fortran passes it: pointers, and the lengths of both strings at the end. */
typedef void lapack_dsyev(const char *job, const char *half, const int *size, double *a,
                          const int *stride, double *values, double *work, const int *work_count,
                          int *info, size_t job_length, size_t half_length);

/* One user at a time: the number of OpenBLAS's threads is global. It also guards what follows. */
static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;

/* NULL until they are loaded. */
static lapack_dsyev *dsyev;
static __typeof__(cblas_dgemm) *dgemm;
static int (*get_threads)(void);
static void (*set_threads)(int);

static tem_status fail_missing(tem_error *error) {
    return core_fail(error, TEM_ERR_UNSUPPORTED,
                     "spheres and learning need OpenBLAS, libopenblas.so.0; Debian has it as "
                     "libopenblas0");
}

static int threads_before; /* lapack_products_end gives OpenBLAS these threads again */

static tem_status load(tem_error *error) {
    if (dsyev != NULL && dgemm != NULL)
        return TEM_OK;
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return fail_missing(error);
    /* POSIX allows these conversions, ISO C does not. */
    *(void **)&get_threads = dlsym(library, "openblas_get_num_threads");
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&dsyev = dlsym(library, "dsyev_");
    *(void **)&dgemm = dlsym(library, "cblas_dgemm");
    if (get_threads == NULL || set_threads == NULL || dsyev == NULL || dgemm == NULL)
        return fail_missing(error);
    return TEM_OK;
}

static int run_alone(int size, double *a, double *values, double *work, int work_count) {
    int info = 0;
    const int threads = get_threads();
    set_threads(1);
    /* A symmetric matrix is its own transpose, so the order of rows and columns does not matter;
     * LAPACK leaves each eigenvector in a column of its order, which is a row of ours. */
    dsyev("V", "U", &size, a, &size, values, work, &work_count, &info, 1, 1);
    set_threads(threads);
    return info;
}

static tem_status find_eigenvectors(uint32_t size, double *a, double *values, tem_error *error) {
    enum { BLOCK = 64 }; /* LAPACK works in blocks of columns if it has room for them */
    const tem_status status = load(error);
    if (status != TEM_OK)
        return status;
    const int work_count = (int)size * (BLOCK + 2);
    double *work = core_alloc((size_t)work_count, sizeof *work);
    if (work == NULL)
        return core_fail_memory(error);
    const int info = run_alone((int)size, a, values, work, work_count);
    core_free(work);
    if (info != 0)
        return core_fail(error, TEM_ERR_RANGE, "LAPACK found no components (code %d)", info);
    return TEM_OK;
}

tem_status lapack_eigenvectors(uint32_t size, double *a, double *values, tem_error *error) {
    pthread_mutex_lock(&running);
    const tem_status status = find_eigenvectors(size, a, values, error);
    pthread_mutex_unlock(&running);
    return status;
}

tem_status lapack_products_begin(tem_error *error) {
    pthread_mutex_lock(&running);
    const tem_status status = load(error);
    if (status != TEM_OK) {
        pthread_mutex_unlock(&running);
        return status;
    }
    threads_before = get_threads();
    set_threads(1);
    return TEM_OK;
}

void lapack_products_end(void) {
    set_threads(threads_before);
    pthread_mutex_unlock(&running);
}

void lapack_add_product(uint32_t rows, uint32_t columns, uint32_t depth, const double *a,
                        size_t a_stride, const double *b, size_t b_stride, double *c,
                        size_t c_stride) {
    dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)columns, (int)depth, 1, a,
          (int)a_stride, b, (int)b_stride, 1, c, (int)c_stride);
}

void lapack_add_transposed_product(uint32_t rows, uint32_t columns, uint32_t depth, const double *a,
                                   size_t a_stride, const double *b, size_t b_stride, double *c,
                                   size_t c_stride) {
    dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rows, (int)columns, (int)depth, 1, a,
          (int)a_stride, b, (int)b_stride, 1, c, (int)c_stride);
}
