/* envelope.h - the envelope of a word's law, and exact draws from it.
 *
 * The total of the law is the sum over all words. The sampler avoids this sum: it proposes words
 * from the envelope, a simpler law that is nowhere below the law. The envelope needs only the
 * word's list and bounds. It is a sum of components, each a weight times an E_j of exponent.h:
 *
 *     component p, for range p of ids (neighbours.h):    A_p E_(j_p), j_p the level at its bound
 *     component NEIGHBOUR_RANGES + i, for list entry i:  a_i E_(j_i)
 *
 * A_p is the weight of all words of range p, including those in the list. A range without a word
 * outside the list has a component of size 0.
 *
 * Z is the sum of the components. A number that is uniform below 2^64 Z selects a component. The
 * number is first_bits * Z + remainder: first_bits are 64 random bits, and the remainder is uniform
 * below Z. The threshold of a component is the sum of the components up to and including it. The
 * number selects the first component whose threshold, times 2^64, is above the number
 * (docs/PRIVACY.md, "The draw has this law", step 1).
 *
 * Nearly always first_bits alone decide. envelopes_draw draws the remainder only if first_bits are
 * next to a threshold: about once in 2^22 draws, or once in 2^18 draws where the list is long (step
 * 2). It computes the thresholds of a word, as fractions of Z in 32 bits, at the first draw for
 * that word.
 * PRIVACY: with or without the remainder, the selected component is the one on which the number
 * falls (test_tapes). The random bits used are the same too, whichever thread computed the
 * thresholds. */
#ifndef MECH_ENVELOPE_H
#define MECH_ENVELOPE_H

#include "index/neighbours.h"
#include "mech/exponent.h"
#include "mech/weights.h"
#include "rng/rng.h"

#include <stdatomic.h>

/* The envelopes of all words: public values that never change, and the thresholds computed so far.
 * PRIVACY: the thresholds that exist reveal for which words tem has drawn; envelopes_free erases
 * them. */
typedef struct envelopes {
    const neighbour_index *index;
    exponent exponent;
    weights weights;

    /* The thresholds_state of each word. NULL, for tests: no thresholds are kept, and every draw
     * draws the remainder. */
    _Atomic(uint8_t) *states;
    /* A block per word, which begins at index->starts[w] + w * ENVELOPE_HEAD: some thresholds of
     * the list once more, as pivots of a search; then one threshold per component. */
    uint32_t *thresholds;
} envelopes;

/* The pivots of a word fill one cache line, and so do the thresholds of its ranges. */
enum { ENVELOPE_PIVOTS = 16, ENVELOPE_HEAD = ENVELOPE_PIVOTS + NEIGHBOUR_RANGES };

typedef enum thresholds_state {
    THRESHOLDS_NONE = 0,
    THRESHOLDS_BEGUN,
    THRESHOLDS_READY
} thresholds_state;

/* Makes the envelopes of all words, and copies the weights `values` (NULL: all weights are 1).
 * Fails with TEM_ERR_RANGE if all weights are 0, TEM_ERR_DAMAGED if lists overlap, TEM_ERR_MEMORY.
 * Free with envelopes_free. */
tem_status envelopes_init(envelopes *e, const neighbour_index *index, exponent x,
                          const uint32_t *values, tem_error *error);
void envelopes_free(envelopes *e);

/* Draws a component of the envelope of `word`, with the probability of its size divided by Z. A
 * component below NEIGHBOUR_RANGES is a range, any other an entry of the list. Fails with
 * TEM_ERR_DAMAGED if the list cannot be right. */
tem_status envelopes_draw(const envelopes *e, uint32_t word, tem_rng *rng, uint32_t *component,
                          tem_error *error);

/* The list entry for a component that envelopes_draw returned, NEIGHBOUR_RANGES or above. */
tem_neighbour envelopes_entry(const envelopes *e, uint32_t word, uint32_t component);

/* Prefetch the memory that a draw for `word` needs: first what tells where the rest is, and some
 * draws later the rest. */
void envelopes_prefetch_early(const envelopes *e, uint32_t word);
void envelopes_prefetch(const envelopes *e, uint32_t word);

#endif
