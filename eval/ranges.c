/* ranges.c - loops of the evaluation on several threads. */
#include "ranges.h"

typedef struct division {
    const workers *workers;
    uint64_t count, ranges;
    ranges_task *task;
    void *context;
} division;

static void handle_range(void *context, uint64_t item, unsigned thread) {
    const division *d = context;
    const uint64_t first = d->count * item / d->ranges, last = d->count * (item + 1) / d->ranges;
    (void)thread;
    if (first < last)
        d->task(d->context, first, last);
}

/* The loop counts ranges; the callback receives the progress of the whole training or drawing. */
static int ask(void *context, const char *stage, uint64_t done, uint64_t total) {
    const workers *w = context;
    (void)stage, (void)done, (void)total;
    return w->run->progress(w->run->progress_context, w->stage, w->done, w->total);
}

tem_status ranges_run(const workers *w, uint64_t count, ranges_task *task, void *context,
                      tem_error *error) {
    division d = {w, count, core_team_threads(w->team), task, context};
    workers told = *w;
    const bool asks = w->run != NULL && w->run->progress != NULL;
    const tem_run run = {.progress = asks ? ask : NULL, .progress_context = &told};
    return core_team_parallel(w->team, &run, w->stage, d.ranges, handle_range, &d, error);
}
