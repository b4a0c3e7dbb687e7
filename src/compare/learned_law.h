/* learned_law.h - the law of a mechanism as somebody learns it from pairs of a word and its output.
 *
 *     P^(y | w) = (count(w,y) + k g(y | w)) / (count(w) + k)
 *
 * g is a law of the distance (distance_law.h), and for an unknown word each output is equally
 * likely under g. k is the power of sqrt(10) that predicts each pair best from all others. So the
 * pairs decide how much the distance counts. Nobody needs to know the mechanism itself. */
#ifndef COMPARE_LEARNED_LAW_H
#define COMPARE_LEARNED_LAW_H

#include "compare/distance_law.h"

/* How often a word gave an output among the pairs. */
typedef struct seen_pair {
    uint32_t word, output, count; /* word: that of learned_law_input */
} seen_pair;

typedef struct learned_law {
    const space *space;
    distance_law distance;
    double smoothing; /* k */
    double *totals;   /* per input: Z(w), the sum that divides g */
    uint32_t *drawn;  /* per input: count(w) */
    seen_pair *seen;  /* by output, then by word */
    uint64_t seen_count;
    uint64_t *starts; /* the pairs of the output y begin at starts[y]; count + 1 of them */
} learned_law;

/* Learns from `count` pairs, at least 1, and sorts them.
 *   known      the profile of the space, with the weights `outputs`
 *   outputs    0: the word is never an output; else 1. NULL: all 1
 *   pairs      each with an output; the word may be TEM_NO_WORD, an unknown word
 *   smoothing  k; 0: tem chooses it
 * Fails with TEM_ERR_MEMORY; free with learned_law_free, also after a failure. */
tem_status learned_law_make(const space *s, const profile *known, const uint32_t *outputs,
                            drawn_pair *pairs, uint64_t count, double smoothing, learned_law *out,
                            tem_error *error);
void learned_law_free(learned_law *l);

/* The number of an input: that of the word or, for an unknown word, the number of words. */
static inline uint32_t learned_law_input(const learned_law *l, uint32_t word) {
    return word == TEM_NO_WORD ? l->space->count : word;
}

static inline bool learned_law_is_output(const learned_law *l, uint32_t y) {
    return l->distance.outputs == NULL || l->distance.outputs[y] > 0;
}

/* P^(y | word) if the pair was seen `count` times, and whatever the count is. */
double learned_law_with_count(const learned_law *l, uint32_t word, uint32_t y, uint32_t count);
double learned_law_probability(const learned_law *l, uint32_t word, uint32_t y);

/* Writes P^(y | w) of all inputs, words + 1 numbers. distances: those of all words from y. */
void learned_law_column(const learned_law *l, uint32_t y, const tem_dist *distances, double *out);

/* f of a word of the model and an output; g is f / Z(w). */
double learned_law_weight(const learned_law *l, uint32_t word, uint32_t y);

#endif
