/* lapack.c - eigenvectors of a symmetric matrix, and products of matrices, by OpenBLAS. */
#include "core/lapack.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* DSYEV of LAPACK and DGEMM of BLAS, as Fortran passes them: pointers, and the lengths of
 * strings at the end. cblas.h is not used: where Debian puts it depends on the machine. */
typedef void lapack_dsyev(const char *job, const char *half, const int *size, double *a,
                          const int *stride, double *values, double *work, const int *work_count,
                          int *info, size_t job_length, size_t half_length);
typedef void blas_dgemm(const char *a_turned, const char *b_turned, const int *m, const int *n,
                        const int *k, const double *factor, const double *a, const int *a_stride,
                        const double *b, const int *b_stride, const double *keep, double *c,
                        const int *c_stride, size_t a_length, size_t b_length);

/* One user at a time: the number of OpenBLAS's threads is global. The lock guards what follows. */
static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;

static bool loaded; /* the pointers are set */
static lapack_dsyev *dsyev;
static blas_dgemm *dgemm;
static int (*get_threads)(void);
static void (*set_threads)(int);
static int threads_before; /* give_back restores this number of OpenBLAS's threads */

static _Thread_local bool is_user; /* this thread holds the lock */

/* --------------------------------------------------------------- library -- */

static bool find_functions(void *library) {
    /* POSIX allows these conversions, ISO C does not. */
    *(void **)&get_threads = dlsym(library, "openblas_get_num_threads");
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&dsyev = dlsym(library, "dsyev_");
    *(void **)&dgemm = dlsym(library, "dgemm_");
    return get_threads != NULL && set_threads != NULL && dsyev != NULL && dgemm != NULL;
}

static tem_status load(tem_error *error) {
    if (loaded)
        return TEM_OK;
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    loaded = library != NULL && find_functions(library);
    if (loaded)
        return TEM_OK;
    if (library != NULL)
        dlclose(library);
    return core_fail(error, TEM_ERR_UNSUPPORTED,
                     "spheres and learning need OpenBLAS, libopenblas.so.0; Debian has it as "
                     "libopenblas0");
}

/* ------------------------------------------------------------------ lock -- */

/* The thread that held the lock does not exist in a child of fork. */
static void free_lock_in_child(void) {
    running = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    is_user = false;
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, free_lock_in_child);
}

/* Waits for the lock, and asks the run's callback ten times a second. */
static tem_status wait_for_lock(const tem_run *run, tem_error *error) {
    enum { NANOSECONDS = 1000000000, SLICE = NANOSECONDS / 10 };
    for (;;) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec += SLICE;
        end.tv_sec += end.tv_nsec / NANOSECONDS;
        end.tv_nsec %= NANOSECONDS;
        if (pthread_mutex_timedlock(&running, &end) != ETIMEDOUT)
            return TEM_OK;
        TRY(core_progress(run, "waiting for another call", 0, 0, error));
    }
}

/* Takes OpenBLAS for this thread, with one thread of its own. */
static tem_status take(const tem_run *run, tem_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (is_user)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a progress callback called a function that waits for the end of the call "
                         "that it reports on");
    TRY(wait_for_lock(run, error));
    tem_status status = load(error);
    if (status != TEM_OK) {
        pthread_mutex_unlock(&running);
        return status;
    }
    is_user = true;
    threads_before = get_threads();
    set_threads(1);
    return TEM_OK;
}

static void give_back(void) {
    set_threads(threads_before);
    is_user = false;
    pthread_mutex_unlock(&running);
}

/* ---------------------------------------------------------- eigenvectors -- */

static tem_status find_eigenvectors(int size, double *a, double *values, tem_error *error) {
    enum { BLOCK = 64 }; /* LAPACK works in blocks of columns if it has room for them */
    const int work_count = size * (BLOCK + 2);
    double *work = core_alloc((size_t)work_count, sizeof *work);
    int info = 0;
    if (work == NULL)
        return core_fail_memory(error);
    /* A symmetric matrix is its own transpose, so the order of rows and columns does not matter;
     * LAPACK leaves each eigenvector in a column of its order, which is a row of ours. */
    dsyev("V", "U", &size, a, &size, values, work, &work_count, &info, 1, 1);
    core_free(work);
    if (info != 0)
        return core_fail(error, TEM_ERR_RANGE, "LAPACK found no components (code %d)", info);
    return TEM_OK;
}

tem_status lapack_eigenvectors(uint32_t size, double *a, double *values, const tem_run *run,
                               tem_error *error) {
    TRY(take(run, error));
    tem_status status = find_eigenvectors((int)size, a, values, error);
    give_back();
    return status;
}

/* -------------------------------------------------------------- products -- */

tem_status lapack_products_begin(const tem_run *run, tem_error *error) {
    return take(run, error);
}

void lapack_products_end(void) {
    give_back();
}

/* c += a b by rows is c += b a by columns, which is Fortran's order. */
static void add(const char *a_turned, uint32_t rows, uint32_t columns, uint32_t depth,
                const double *a, size_t a_stride, const double *b, size_t b_stride, double *c,
                size_t c_stride) {
    const int m = (int)columns, n = (int)rows, k = (int)depth;
    const int b_apart = (int)b_stride, a_apart = (int)a_stride, c_apart = (int)c_stride;
    const double one = 1;
    dgemm("N", a_turned, &m, &n, &k, &one, b, &b_apart, a, &a_apart, &one, c, &c_apart, 1, 1);
}

void lapack_add_product(uint32_t rows, uint32_t columns, uint32_t depth, const double *a,
                        size_t a_stride, const double *b, size_t b_stride, double *c,
                        size_t c_stride) {
    add("N", rows, columns, depth, a, a_stride, b, b_stride, c, c_stride);
}

void lapack_add_transposed_product(uint32_t rows, uint32_t columns, uint32_t depth, const double *a,
                                   size_t a_stride, const double *b, size_t b_stride, double *c,
                                   size_t c_stride) {
    add("T", rows, columns, depth, a, a_stride, b, b_stride, c, c_stride);
}
