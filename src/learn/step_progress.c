/* step_progress.c - one progress bar for a call that makes many products. */
#include "learn/step_progress.h"

static int report(void *context, const char *stage, uint64_t done, uint64_t total) {
    enum { PARTS = 1000 }; /* of a product */
    step_progress *p = context;
    (void)stage;
    p->over += done < p->last;
    p->last = done;
    const uint64_t most = p->products * PARTS;
    const uint64_t now = p->over * PARTS + (total == 0 ? 0 : done * PARTS / total);
    return p->outer->progress(p->outer->progress_context, p->stage, now < most ? now : most, most);
}

void step_progress_init(step_progress *p, const tem_run *outer, const char *stage,
                        uint64_t products) {
    *p = (step_progress){.outer = outer, .stage = stage, .products = products};
    if (outer == NULL)
        return;
    p->run = *outer;
    if (outer->progress != NULL) {
        p->run.progress = report;
        p->run.progress_context = p;
    }
}
