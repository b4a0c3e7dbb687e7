/* step_progress.h - one progress bar for a call that makes many products.
 *
 * A product reports its own progress from 0 to the end. step_progress turns this into the progress
 * of the whole call. It takes a report that falls back as the beginning of the next product. */
#ifndef LEARN_STEP_PROGRESS_H
#define LEARN_STEP_PROGRESS_H

#include "tem.h"

typedef struct step_progress {
    const tem_run *outer; /* or NULL */
    const char *stage;
    uint64_t products;   /* how many there will be, at most */
    uint64_t over, last; /* how many are over; the last report of the current one */
    tem_run run;         /* for the calls that make the products */
} step_progress;

/* Prepares *p, which must not move afterwards: p->run points to it. */
void step_progress_init(step_progress *p, const tem_run *outer, const char *stage,
                        uint64_t products);

#endif
