/* weights.h - how often each word is an output, before distance has its say.
 *
 * PRIVACY: a weight depends on the output word alone and is the same for every input,
 * so it cancels in P(y | w) / P(y | w'). Weights must not be made from the text that is
 * to be protected. */
#ifndef MECH_WEIGHTS_H
#define MECH_WEIGHTS_H

#include "rng/rng.h"
#include "tem.h"

typedef struct weights {
    uint32_t count;
    uint64_t sum;     /* A; above 0, below 2^63 */
    uint32_t *values; /* a copy; NULL: all are 1 */

    /* Walker's alias method in integers: column c holds `sum` units, thresholds[c] of
     * them belong to word c and the rest to word aliases[c]; word i has values[i] *
     * count units in all. NULL if all weights are 1. */
    uint64_t *thresholds;
    uint32_t *aliases;
} weights;

/* Copies the weights of `count` words; values NULL: all 1. TEM_ERR_RANGE if they are
 * all 0; TEM_ERR_MEMORY. Free with weights_free. */
tem_status weights_init(weights *w, const uint32_t *values, uint32_t count, tem_error *error);
void weights_free(weights *w);

static inline uint32_t weights_at(const weights *w, uint32_t id) {
    return w->values == NULL ? 1 : w->values[id];
}

/* A word drawn with probability a_y / A, exactly. O(1). */
uint32_t weights_draw(const weights *w, tem_rng *rng);

#endif
