/* workers.h - the threads of a run: what each has for itself, and how all learn that they are to
 * stop.
 *
 * The caller's thread, number 0, asks the run's callback; the others see what it found. */
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
    tem_run run; /* of its replacer: asks whether to go on */
    replacer replacer;
    tem_rng rng;
    core_buffer plain, private, person; /* of the record at hand */
} worker;

struct workers {
    const tem_job *job;
    const tem_run *run; /* the caller's */
    worker *items;
    unsigned count;
    const char *stage;      /* what is going on, */
    _Atomic(uint64_t) done; /* how far it is, */
    uint64_t total;         /* and of how much; 0: not known */
    atomic_bool stop;       /* the callback asked to stop */
};

/* `threads` of them. Free with workers_free, also after a failure. TEM_ERR_ARGUMENT for a policy
 * that there is not, TEM_ERR_MEMORY. */
tem_status workers_init(workers *w, const tem_mechanism *mechanism, const tem_job *job,
                        unsigned threads, const tem_run *run, tem_error *error);
void workers_free(workers *w);

/* Whether they only count, and draw nothing. */
void workers_set_counting(workers *w, bool counting);

/* Tells the run's callback how far it is. TEM_ERR_CANCELLED. For the caller's thread. */
tem_status workers_tell(workers *w, tem_error *error);

/* For core_parallel: this many threads. While the caller waits for the others the callback is told.
 * It does not end the loop: each task ends by itself, so that what is whole can be written. */
tem_run workers_watch(workers *w);

/* Before each document, `number` being its place among all of the run, from 0. With a seed that is
 * the number of its random stream. TEM_ERR_CANCELLED if the run is to stop. */
tem_status worker_begin(worker *w, uint64_t number, tem_error *error);

#endif
