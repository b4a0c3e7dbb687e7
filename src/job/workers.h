/* workers.h - the workers of a run: the state of each thread, and how all threads learn that they
 * are to stop.
 *
 * The caller's thread, number 0, asks the run's callback and sets `stop`; the other threads read
 * `stop`. */
#ifndef JOB_WORKERS_H
#define JOB_WORKERS_H

#include "core/threads.h"
#include "job/replacer.h"
#include "rng/rng.h"

#include <stdatomic.h>

typedef struct workers workers;

typedef struct worker {
    workers *all;
    unsigned thread;
    tem_run run; /* for its replacer, which asks whether to go on */
    replacer replacer;
    tem_rng rng;
    core_buffer parts;                  /* record_part: the named fields of the current record */
    core_buffer plain, private, person; /* of the current record */

    /* What the thread works on, for thread 0, which names documents that take long. */
    _Atomic(uint64_t) since; /* nanoseconds of a clock; 0: on nothing */
    _Atomic(uint64_t) document;
    _Atomic(const char *) file; /* NULL: a text of the caller */
    uint64_t first;             /* the number of the first document of `file`, among all */
} worker;

struct workers {
    const tem_job *job;
    const tem_run *run; /* the caller's */
    worker *items;
    unsigned count;
    const char *stage;      /* the name of the current work, for the callback */
    _Atomic(uint64_t) done; /* how much of it is done, in bytes or texts */
    uint64_t total;         /* of how much, in the same unit; 0: not known */
    atomic_bool stop;       /* the callback asked to stop, or a text of a batch failed */
};

/* Makes `threads` workers. TEM_ERR_ARGUMENT for an invalid policy, TEM_ERR_MEMORY. Free with
 * workers_free, also after a failure. */
tem_status workers_init(workers *w, const tem_mechanism *mechanism, const tem_job *job,
                        unsigned threads, const tem_run *run, tem_error *error);
void workers_free(workers *w);

/* Sets whether the workers only count and draw nothing. */
void workers_set_counting(workers *w, bool counting);

/* Reports progress to the run's callback. TEM_ERR_CANCELLED if it asks to stop. Only for the
 * caller's thread. */
tem_status workers_tell(workers *w, tem_error *error);

/* Returns a run for core_parallel, with as many threads as there are workers. Its callback reports
 * progress to the run's own callback while the caller waits for the other threads. It never ends
 * the loop: each task ends by itself, so that whole documents can be written. */
tem_run workers_watch(workers *w);

/* Call before each document. number: its place among all documents of the run, from 0; with a seed,
 * also the number of its random stream. TEM_ERR_CANCELLED if the run is to stop. */
tem_status worker_begin(worker *w, uint64_t number, tem_error *error);

/* Says, before worker_begin, where the documents are that come next: the first of `file`, which
 * stays as it is during the run, has this number among all. NULL, 0: they are texts of the
 * caller. */
void worker_reads(worker *w, const char *file, uint64_t first);

/* Call after the last document of a task: the thread works on none any more. */
void worker_end(worker *w);

#endif
