/* threads.c - loops that run on several threads.
 *
 * Threads live for one loop. The loops of tem take milliseconds at least, against
 * which starting a thread (tens of microseconds) does not show; a pool would add
 * state between calls for nothing. */
#include "core/threads.h"

#include "core/status.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct loop {
    core_task *task;
    void *context;
    uint64_t count;
    atomic_uint_fast64_t next; /* the next item to hand out */
    atomic_uint_fast64_t done;
    atomic_bool stop;
} loop;

typedef struct worker {
    loop *loop;
    unsigned thread;
    pthread_t handle;
} worker;

unsigned core_thread_count(const tem_run *run) {
    unsigned count = run == NULL ? 0 : run->threads;
    if (count == 0) {
        cpu_set_t set;
        count = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    }
    return count > CORE_THREADS_MAX ? CORE_THREADS_MAX : count;
}

tem_status core_progress(const tem_run *run, const char *stage, uint64_t done, uint64_t total,
                         tem_error *error) {
    if (run == NULL || run->progress == NULL ||
        run->progress(run->progress_context, stage, done, total) == 0)
        return TEM_OK;
    return core_fail(error, TEM_ERR_CANCELLED, "stopped while %s", stage);
}

/* Takes one item; false when there is none left. */
static bool step(loop *l, unsigned thread) {
    if (atomic_load_explicit(&l->stop, memory_order_relaxed))
        return false;
    uint_fast64_t item = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    if (item >= l->count)
        return false;
    l->task(l->context, item, thread);
    atomic_fetch_add_explicit(&l->done, 1, memory_order_relaxed);
    return true;
}

static void *work(void *argument) {
    worker *w = argument;
    while (step(w->loop, w->thread)) {
    }
    return NULL;
}

tem_status core_parallel(const tem_run *run, const char *stage, uint64_t count, core_task *task,
                         void *context, tem_error *error) {
    loop l = {.task = task, .context = context, .count = count};
    worker workers[CORE_THREADS_MAX];
    unsigned wanted = core_thread_count(run);
    if (wanted > count)
        wanted = count == 0 ? 1 : (unsigned)count;

    unsigned started = 1; /* the caller is worker 0 */
    for (; started < wanted; started++) {
        workers[started] = (worker){.loop = &l, .thread = started};
        if (pthread_create(&workers[started].handle, NULL, work, &workers[started]) != 0)
            break;
    }

    tem_status status = core_progress(run, stage, 0, count, error);
    while (status == TEM_OK && step(&l, 0))
        status = core_progress(run, stage, atomic_load(&l.done), count, error);
    if (status != TEM_OK)
        atomic_store(&l.stop, true);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].handle, NULL);
    if (status == TEM_OK)
        status = core_progress(run, stage, count, count, error);
    return status;
}
