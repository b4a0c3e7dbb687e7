/* lapack.c - eigenvectors of a symmetric matrix, by LAPACK in OpenBLAS. */
#include "core/lapack.h"

#include "core/memory.h"
#include "core/status.h"

#include <dlfcn.h>
#include <pthread.h>

/* LAPACK's DSYEV, as Fortran passes it: pointers, and the lengths of both strings at the end. */
typedef void lapack_dsyev(const char *job, const char *half, const int *size, double *a,
                          const int *stride, double *values, double *work, const int *work_count,
                          int *info, size_t job_length, size_t half_length);

/* One call at a time: the number of OpenBLAS's threads is global. It also guards the pointers. */
static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;

/* NULL until they are loaded. */
static lapack_dsyev *dsyev;
static int (*get_threads)(void);
static void (*set_threads)(int);

static void load(void) {
    if (dsyev != NULL)
        return;
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    /* POSIX allows these conversions, ISO C does not. */
    *(void **)&get_threads = dlsym(library, "openblas_get_num_threads");
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    if (get_threads != NULL && set_threads != NULL)
        *(void **)&dsyev = dlsym(library, "dsyev_");
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
    load();
    if (dsyev == NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the components of a sphere need OpenBLAS, libopenblas.so.0; Debian has "
                         "it as libopenblas0");
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
