/* workers.c - the workers of a run: the state of its threads. */
#include "job/workers.h"

#include "core/memory.h"
#include "core/status.h"

#include <time.h>

static uint64_t clock_ns(void) {
    enum { PER_SECOND = 1000000000 };
    struct timespec now = {.tv_sec = 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Names the document that takes longest, if it takes long. Another thread may go on to its next
 * document meanwhile: then its `since` has changed, and nothing is said. */
static void name_slow_document(const workers *w) {
    static const uint64_t long_ns = 10000000000;
    const worker *slowest = NULL;
    uint64_t first = UINT64_MAX;
    if (w->run == NULL || w->run->slow_document == NULL)
        return;
    for (unsigned i = 0; i < w->count; i++) {
        const uint64_t since = atomic_load(&w->items[i].since);
        if (since > 0 && since < first) {
            first = since;
            slowest = &w->items[i];
        }
    }
    const uint64_t now = clock_ns();
    if (slowest == NULL || now < first || now - first <= long_ns)
        return;
    const uint64_t document = atomic_load(&slowest->document);
    const char *file = atomic_load(&slowest->file);
    if (atomic_load(&slowest->since) == first)
        w->run->slow_document(w->run->progress_context, document, file,
                              (double)(now - first) / 1e9);
}

tem_status workers_tell(workers *w, tem_error *error) {
    const uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
    if (done > w->total) /* a pipe, or a file that grows */
        w->total = 0;
    name_slow_document(w);
    return core_progress(w->run, w->stage, done, w->total, error);
}

/* Whether the run is to stop. Called for each document, and within large ones. */
static bool is_stopped(workers *w, unsigned thread) {
    if (thread == 0 && workers_tell(w, NULL) != TEM_OK)
        atomic_store_explicit(&w->stop, true, memory_order_relaxed);
    return atomic_load_explicit(&w->stop, memory_order_relaxed);
}

/* The progress callback of a replacer. */
static int ask_worker(void *context, const char *stage, uint64_t done, uint64_t total) {
    const worker *w = context;
    (void)stage, (void)done, (void)total;
    return is_stopped(w->all, w->thread);
}

/* The progress callback of workers_watch. */
static int ask_while_waiting(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage, (void)done, (void)total;
    is_stopped(context, 0);
    return 0;
}

tem_run workers_watch(workers *w) {
    return (tem_run){.threads = w->count, .progress = ask_while_waiting, .progress_context = w};
}

void worker_reads(worker *w, const char *file, uint64_t first) {
    atomic_store(&w->since, 0);
    atomic_store(&w->file, file);
    w->first = first;
}

void worker_end(worker *w) {
    atomic_store(&w->since, 0);
}

tem_status worker_begin(worker *w, uint64_t number, tem_error *error) {
    const tem_job *job = w->all->job;
    atomic_store(&w->since, 0);
    atomic_store(&w->document, number - w->first + 1);
    atomic_store(&w->since, clock_ns());
    if (job->insecure_seeded)
        rng_init_seeded(&w->rng, job->insecure_seed, number);
    return is_stopped(w->all, w->thread)
               ? core_fail(error, TEM_ERR_CANCELLED, "stopped while privatizing")
               : TEM_OK;
}

void workers_set_counting(workers *w, bool counting) {
    w->stage = counting ? "counting" : "privatizing";
    for (unsigned i = 0; i < w->count; i++)
        w->items[i].replacer.dry_run = counting;
}

tem_status workers_init(workers *all, const tem_mechanism *mechanism, const tem_job *job,
                        unsigned threads, const tem_run *run, tem_error *error) {
    *all = (workers){.job = job, .run = run, .stage = "privatizing"};
    all->items = core_alloc_zero(threads, sizeof *all->items);
    if (all->items == NULL)
        return core_fail_memory(error);
    for (; all->count < threads; all->count++) {
        worker *w = &all->items[all->count];
        TRY(replacer_init(&w->replacer, mechanism, &job->text, error));
        w->all = all;
        w->thread = all->count;
        w->run = (tem_run){.progress = ask_worker, .progress_context = w};
        w->replacer.run = &w->run;
        if (!job->insecure_seeded)
            rng_init_secure(&w->rng);
    }
    return TEM_OK;
}

void workers_free(workers *all) {
    for (unsigned i = 0; i < all->count; i++) {
        worker *w = &all->items[i];
        replacer_free(&w->replacer);
        rng_wipe(&w->rng);
        core_buffer_free(&w->plain);
        core_buffer_free(&w->private);
        core_buffer_free(&w->person);
        core_buffer_free(&w->parts);
    }
    core_free(all->items);
    all->items = NULL;
    all->count = 0;
}
