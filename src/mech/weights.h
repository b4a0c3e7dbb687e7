/* weights.h - how often each word is an output, before distance has its say.
 *
 * PRIVACY: a weight depends on the output word alone and is the same for every input,
 * so it cancels in P(y | w) / P(y | w'). Weights must not be made from the text that is
 * to be protected. */
#ifndef MECH_WEIGHTS_H
#define MECH_WEIGHTS_H

#include "index/neighbours.h"
#include "rng/rng.h"

/* A column of Walker's alias method in integers. The columns of a range hold its sum of
 * units each; `own` of them belong to the column's word and the others to `alias`. A word
 * has its weight times the number of the range's words in units. */
typedef struct weight_column {
    uint64_t own;
    uint32_t alias;
} weight_column;

typedef struct weights {
    uint32_t count;
    uint64_t sum;                          /* A; above 0, below 2^63 */
    uint64_t range_sums[NEIGHBOUR_RANGES]; /* A_p of the index's ranges */
    uint32_t *values;                      /* a copy; NULL: all are 1 */
    weight_column *columns;                /* NULL: all are 1 */
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

/* The same with a_y / A_p from a range whose sum is not 0; and in two steps, since the column
 * may have to come from far away: the first asks for it. */
uint32_t weights_draw_from_range(const weights *w, unsigned range, tem_rng *rng);
uint32_t weights_draw_column(const weights *w, unsigned range, tem_rng *rng);
uint32_t weights_draw_word(const weights *w, unsigned range, uint32_t column, tem_rng *rng);

#endif
