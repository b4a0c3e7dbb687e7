/* ranges.h - loops of the evaluation on several threads.
 *
 * A training has thousands of short loops. Their items (a word's row, a document) take
 * microseconds. So each thread gets one range of items, and the threads stay between loops
 * (core/threads.h). */
#ifndef EVAL_RANGES_H
#define EVAL_RANGES_H

#include "core/threads.h"

/* The threads, and the progress that a loop reports to the run's callback: that of the training or
 * drawing to which the loop belongs. */
typedef struct workers {
    core_team *team;    /* NULL: the caller does it all */
    const tem_run *run; /* or NULL: no progress reports */
    const char *stage;
    uint64_t done, total;
} workers;

/* Handles the items first to last - 1, on one thread. */
typedef void ranges_task(void *context, uint64_t first, uint64_t last);

/* Calls the task for the items 0 to count - 1. The result of the task for an item must not depend
 * on the range: then the number of threads changes no result. TEM_ERR_CANCELLED: some items were
 * not handled. */
tem_status ranges_run(const workers *w, uint64_t count, ranges_task *task, void *context,
                      tem_error *error);

#endif
