/* envelope.h - what a draw for one word is made from, exactly.
 *
 * The law's total cannot be had without looking at every word. The envelope is above the
 * law and needs the list of near words and the bounds only. It is a sum of components, each a
 * weight times an E_j of exponent.h:
 *
 *     component p, for a range of ids (neighbours.h):  A_p E_(j_p), j_p the level at its bound
 *     component NEIGHBOUR_RANGES + i, for entry i of the list:  a_i E_(j_i)
 *
 * A_p is the weight of all words of range p, those in the list included. A range that has
 * no word outside the list has a component of size 0.
 *
 * Z is the total. A number uniform below 2^64 Z chooses a component. It is first_bits * Z +
 * remainder: first_bits are 64 random bits, the remainder is uniform below Z. The threshold of a
 * component is the sum of the components up to it; the chosen one is the first whose threshold,
 * times 2^64, is above the number. Nearly always the first bits alone decide. The remainder is
 * drawn only if they are next to a threshold: about once in 2^22 draws, or in 2^18 where the list
 * is long. Thresholds, as fractions of Z in 32 bits, are computed when a word is first drawn for.
 * PRIVACY: either way the component is the one that the number falls on (test_tapes). The bits
 * drawn are the same too, whichever thread computed the thresholds. */
#ifndef MECH_ENVELOPE_H
#define MECH_ENVELOPE_H

#include "index/neighbours.h"
#include "mech/exponent.h"
#include "mech/weights.h"
#include "rng/rng.h"

#include <stdatomic.h>

/* The envelopes of all words: what is public and frozen, and the thresholds computed so far.
 * PRIVACY: which thresholds exist tells which words were drawn for; envelopes_free erases that. */
typedef struct envelopes {
    const neighbour_index *index;
    exponent exponent;
    weights weights;

    /* For each word, the thresholds_state of its thresholds. NULL: none are kept, and the remainder
     * is always drawn, for tests. */
    _Atomic(uint8_t) *states;
    /* Of word w from index->starts[w] + w * NEIGHBOUR_RANGES on, one for each component. */
    uint32_t *thresholds;
} envelopes;

typedef enum thresholds_state {
    THRESHOLDS_NONE = 0,
    THRESHOLDS_BEGUN,
    THRESHOLDS_READY
} thresholds_state;

/* Copies the weights `values` (NULL: all 1). TEM_ERR_RANGE if they are all 0, TEM_ERR_DAMAGED
 * if lists overlap, TEM_ERR_MEMORY. Free with envelopes_free. */
tem_status envelopes_init(envelopes *e, const neighbour_index *index, exponent x,
                          const uint32_t *values, tem_error *error);
void envelopes_free(envelopes *e);

/* Draws a component of the envelope of `word`, with the probability of its size: below
 * NEIGHBOUR_RANGES it is that range, else an entry of the list. TEM_ERR_DAMAGED if the list
 * cannot be right. */
tem_status envelopes_draw(const envelopes *e, uint32_t word, tem_rng *rng, uint32_t *component,
                          tem_error *error);

/* The entry of the word's list that a drawn component names. */
tem_neighbour envelopes_entry(const envelopes *e, uint32_t word, uint32_t component);

/* Has the memory ready that a draw for `word` will want. */
void envelopes_prefetch(const envelopes *e, uint32_t word);

#endif
