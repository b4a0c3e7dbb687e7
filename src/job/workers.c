/* workers.c - the workers of a run: the state of its threads. */
#include "job/workers.h"

#include "core/memory.h"
#include "core/status.h"

tem_status workers_tell(workers *w, tem_error *error) {
    const uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
    if (done > w->total) /* a pipe, or a file that grows */
        w->total = 0;
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

tem_status worker_begin(worker *w, uint64_t number, tem_error *error) {
    const tem_job *job = w->all->job;
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
