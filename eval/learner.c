/* learner.c - the list of learners. */
#include "learner.h"

#include <string.h>

static const learner *const all[LEARNERS_MAX] = {&learner_paper, &learner_linear,
                                                 &learner_posterior, &learner_deconvolved};

const learner *learner_at(size_t i) {
    return i < LEARNERS_MAX ? all[i] : NULL;
}

size_t learner_place(const char *name) {
    size_t i = 0;
    while (i < LEARNERS_MAX && strcmp(all[i]->name, name) != 0)
        i++;
    return i;
}
