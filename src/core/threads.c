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
#include <time.h>

enum { WAIT_NS = 100000000 }; /* between two questions whether to go on */

typedef struct loop {
    core_task *task;
    void *context;
    const tem_run *run;
    const char *stage;
    uint64_t count;
    atomic_uint_fast64_t next; /* the next item to hand out */
    atomic_uint_fast64_t done;
    atomic_bool stop;
} loop;

typedef struct loop_worker {
    loop *loop;
    unsigned thread;
    pthread_t handle;
} loop_worker;

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

/* What this thread handles an item of, and whether it is the one that may ask the callback. */
static _Thread_local struct {
    loop *loop;
    bool is_caller;
} here;

/* Asks the callback, and tells all threads if it wants to stop. It is not asked again after
 * that. */
static void ask(loop *l) {
    if (!atomic_load(&l->stop) &&
        core_progress(l->run, l->stage, atomic_load(&l->done), l->count, NULL) != TEM_OK)
        atomic_store(&l->stop, true);
}

bool core_task_stopped(void) {
    if (here.is_caller)
        ask(here.loop);
    return here.loop != NULL && atomic_load_explicit(&here.loop->stop, memory_order_relaxed);
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
    loop_worker *w = argument;
    here.loop = w->loop;
    while (step(w->loop, w->thread)) {
    }
    return NULL;
}

/* The caller's share. A task may have a loop of its own. */
static void work_as_caller(loop *l) {
    loop *outer = here.loop;
    const bool was_caller = here.is_caller;
    here.loop = l;
    here.is_caller = true;
    for (ask(l); step(l, 0);)
        ask(l);
    here.loop = outer;
    here.is_caller = was_caller;
}

/* Waits for a worker, and asks meanwhile whether to go on: the last item may take long. */
static void join(const loop_worker *w) {
    for (;;) {
        struct timespec end;
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_nsec += WAIT_NS;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
        if (pthread_clockjoin_np(w->handle, NULL, CLOCK_MONOTONIC, &end) == 0)
            return;
        ask(w->loop);
    }
}

tem_status core_parallel(const tem_run *run, const char *stage, uint64_t count, core_task *task,
                         void *context, tem_error *error) {
    loop l = {.task = task, .context = context, .run = run, .stage = stage, .count = count};
    loop_worker workers[CORE_THREADS_MAX];
    unsigned wanted = core_thread_count(run);
    if (wanted > count)
        wanted = count == 0 ? 1 : (unsigned)count;

    unsigned started = 1; /* the caller is worker 0 */
    for (; started < wanted; started++) {
        workers[started] = (loop_worker){.loop = &l, .thread = started};
        if (pthread_create(&workers[started].handle, NULL, work, &workers[started]) != 0)
            break;
    }
    work_as_caller(&l);
    for (unsigned i = 1; i < started; i++)
        join(&workers[i]);
    /* What once was asked for holds, whatever the callback says now: items are missing. */
    if (atomic_load(&l.stop))
        return core_fail(error, TEM_ERR_CANCELLED, "stopped while %s", stage);
    return core_progress(run, stage, count, count, error);
}
