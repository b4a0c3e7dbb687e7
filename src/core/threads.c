/* threads.c - loops that run on several threads.
 *
 * Threads live for one loop. The loops of the library take at least milliseconds; starting a thread
 * takes tens of microseconds, which does not matter. Between two loops nothing is left that a
 * fork() could break. The evaluation has thousands of shorter loops, so it keeps a team. */
#include "core/threads.h"

#include "core/memory.h"
#include "core/status.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { WAIT_NS = 100000000 }; /* between two calls of the progress callback */

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

/* The loop that this thread works on, and whether it is the thread that may call the callback. */
static _Thread_local struct {
    loop *loop;
    bool is_caller;
} here;

/* Asks the callback, and tells all threads to stop if the callback says so. The callback is not
 * asked again after that. */
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

/* Handles one item; false if there is none left or the loop has stopped. */
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

/* Works as the caller's thread. A task may start a loop of its own, so `here` is restored. */
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

/* The time at which a wait that begins now asks the callback again. */
static struct timespec next_question(void) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += WAIT_NS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return end;
}

/* Waits for a worker, and meanwhile asks the callback whether to continue: the last item may take
 * long. */
static void join(const loop_worker *w) {
    for (;;) {
        const struct timespec end = next_question();
        if (pthread_clockjoin_np(w->handle, NULL, CLOCK_MONOTONIC, &end) == 0)
            return;
        ask(w->loop);
    }
}

/* The result of a loop, once no thread works on it any more. If the callback has ever asked to
 * stop, the loop fails, whatever the callback says now: items are missing. */
static tem_status finish(const loop *l, tem_error *error) {
    if (atomic_load(&l->stop))
        return core_fail(error, TEM_ERR_CANCELLED, "stopped while %s", l->stage);
    return core_progress(l->run, l->stage, l->count, l->count, error);
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
    return finish(&l, error);
}

void core_atomic_least(atomic_uint_fast64_t *least, uint64_t value) {
    uint_fast64_t now = atomic_load(least);
    while (value < now && !atomic_compare_exchange_weak(least, &now, value)) {
    }
}

/* ---- teams ---- */

typedef struct member {
    core_team *team;
    unsigned thread;
    pthread_t handle;
} member;

/* A member waits until `round` changes, works on `loop`, and then decrements `busy`. */
struct core_team {
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    loop *loop;
    uint64_t round;
    unsigned busy; /* members that have not finished this round */
    bool ending;
    unsigned count; /* number of members, without the caller */
    member members[];
};

static void *serve(void *argument) {
    const member *m = argument;
    core_team *t = m->team;
    uint64_t seen = 0;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->round == seen && !t->ending)
            pthread_cond_wait(&t->start, &t->lock);
        if (t->ending)
            break;
        seen = t->round;
        loop *l = here.loop = t->loop;
        pthread_mutex_unlock(&t->lock);
        while (step(l, m->thread)) {
        }
        here.loop = NULL;
        pthread_mutex_lock(&t->lock);
        if (--t->busy == 0)
            pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

tem_status core_team_create(const tem_run *run, core_team **team, tem_error *error) {
    const unsigned members = core_thread_count(run) - 1;
    core_team *t = core_alloc_zero(1, sizeof *t + members * sizeof *t->members);
    pthread_condattr_t monotonic;
    if (t == NULL)
        return core_fail_memory(error);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->start, NULL);
    pthread_cond_init(&t->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (; t->count < members; t->count++) {
        member *m = &t->members[t->count];
        *m = (member){.team = t, .thread = t->count + 1};
        if (pthread_create(&m->handle, NULL, serve, m) != 0)
            break;
    }
    *team = t;
    return TEM_OK;
}

void core_team_free(core_team *t) {
    if (t == NULL)
        return;
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_broadcast(&t->start);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 0; i < t->count; i++)
        pthread_join(t->members[i].handle, NULL);
    pthread_cond_destroy(&t->done);
    pthread_cond_destroy(&t->start);
    pthread_mutex_destroy(&t->lock);
    core_free(t);
}

unsigned core_team_threads(const core_team *t) {
    return t == NULL ? 1 : t->count + 1;
}

static void begin_round(core_team *t, loop *l) {
    pthread_mutex_lock(&t->lock);
    t->loop = l;
    t->busy = t->count;
    t->round++;
    pthread_cond_broadcast(&t->start);
    pthread_mutex_unlock(&t->lock);
}

/* Waits for the members, and meanwhile asks the callback whether to continue. */
static void end_round(core_team *t, loop *l) {
    pthread_mutex_lock(&t->lock);
    while (t->busy > 0) {
        const struct timespec end = next_question();
        if (pthread_cond_timedwait(&t->done, &t->lock, &end) == 0)
            continue;
        pthread_mutex_unlock(&t->lock);
        ask(l);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

tem_status core_team_parallel(core_team *t, const tem_run *run, const char *stage, uint64_t count,
                              core_task *task, void *context, tem_error *error) {
    loop l = {.task = task, .context = context, .run = run, .stage = stage, .count = count};
    if (t != NULL && t->count > 0)
        begin_round(t, &l);
    work_as_caller(&l);
    if (t != NULL && t->count > 0)
        end_round(t, &l);
    return finish(&l, error);
}
