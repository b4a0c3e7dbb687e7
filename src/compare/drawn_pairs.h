/* drawn_pairs.h - pairs of a word, drawn by its share, and its output. */
#ifndef COMPARE_DRAWN_PAIRS_H
#define COMPARE_DRAWN_PAIRS_H

#include "mech/model_mechanism.h"

typedef struct drawn_pair {
    uint32_t word, output;
} drawn_pair;

/* What the pairs are for. The same seed gives independent pairs for each purpose: an attacker who
 * is tested on the pairs that it learned from looks better than it is. */
typedef enum pairs_purpose { PAIRS_TO_LEARN = 0, PAIRS_TO_TEST = 1 } pairs_purpose;

/* Draws `count` pairs.
 *   shares    how often each word is drawn: one number per word of the mechanism or, with
 *             `unknown`, one more, that of the unknown word TEM_NO_WORD; with any sum
 * For a seed and a purpose the words are the same for every mechanism and epsilon, and so are the
 * random numbers behind each block of outputs: two epsilons differ by less noise than with fresh
 * numbers. The result does not depend on the number of threads. Fails with
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or as mechanism_draw does. */
tem_status drawn_pairs_make(const tem_mechanism *mechanism, const double *shares, bool unknown,
                            pairs_purpose purpose, uint64_t seed, uint64_t count,
                            const tem_run *run, drawn_pair *pairs, tem_error *error);

#endif
