/* weights.h - the weights of the output words, and draws by weight alone.
 *
 * A word with twice the weight is twice as likely an output, everything else equal.
 *
 * PRIVACY: a weight depends on the output word alone and is the same for every input, so it cancels
 * in P(y | w) / P(y | w'). Weights must not be made from the text that is to be protected. */
#ifndef MECH_WEIGHTS_H
#define MECH_WEIGHTS_H

#include "index/neighbours.h"
#include "rng/rng.h"

/* A column of Walker's alias method, in integers. A range of n words has n columns, one per word,
 * of A_p units each; A_p is the sum of the range's weights. Word y has a_y n units. `own` units of
 * a column belong to the column's own word, the others to the word `alias`. */
typedef struct weight_column {
    uint64_t own;
    uint32_t alias;
} weight_column;

typedef struct weights {
    uint32_t count;
    uint64_t sum;                          /* A; above 0, below 2^63 */
    uint64_t range_sums[NEIGHBOUR_RANGES]; /* A_p of each range of the index */
    uint32_t *values;                      /* a copy; NULL: all weights are 1 */
    weight_column *columns;                /* NULL: no weight is above 1, and few are 0 */
    uint64_t *zeros;                       /* a bit per word of weight 0; NULL: there are columns,
                                            * or all weights are 1 */
} weights;

/* Copies the weights of `count` words and fills the columns; values NULL: all weights are 1. Fails
 * with TEM_ERR_RANGE if all weights are 0, TEM_ERR_MEMORY. Free with weights_free. */
tem_status weights_init(weights *w, const uint32_t *values, uint32_t count, tem_error *error);
void weights_free(weights *w);

static inline uint32_t weights_at(const weights *w, uint32_t id) {
    return w->values == NULL ? 1 : w->values[id];
}

/* Whether no weight is above 1. O(count). */
bool weights_are_equal(const weights *w);

/* Draws a word y with probability a_y / A, exactly. O(1). */
uint32_t weights_draw(const weights *w, tem_rng *rng);

/* weights_draw_from_range draws a word y of a range with probability a_y / A_p, exactly; A_p must
 * not be 0. The other two do the same in two steps, because the column may be far away in memory:
 * weights_draw_column draws the column and prefetches it, weights_draw_word draws the word by
 * it. Without columns the first step draws the word itself: it repeats a uniform draw until the
 * weight is not 0. */
uint32_t weights_draw_from_range(const weights *w, unsigned range, tem_rng *rng);
uint32_t weights_draw_column(const weights *w, unsigned range, tem_rng *rng);
uint32_t weights_draw_word(const weights *w, unsigned range, uint32_t column, tem_rng *rng);

#endif
