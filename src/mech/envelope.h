/* envelope.h - what a draw for one word is made from, exactly.
 *
 * The law's total cannot be had without looking at every word. The envelope is above the
 * law and needs the list of near words and the bounds only. It is a row of shares, each a
 * weight times an E_j of exp_table.h:
 *
 *     share p, of a part of the vocabulary:  A_p E_(j_p), j_p the level at the part's bound
 *     share NEIGHBOUR_PARTS + i, of entry i of the list:  a_i E_(j_i)
 *
 * A_p is the weight of all words of part p, those in the list included; a part that has
 * no word outside the list has no share.
 *
 * With Z the total, a share is chosen by a number uniform below 2^64 Z, made of a first
 * digit, 64 uniform bits, and a rest uniform below Z: digit * Z + rest. The ends of the
 * shares, times 2^64, say which it falls on. Nearly always the digit alone decides; the
 * rest is drawn only if the digit is next to an end, about once in 2^22 draws (2^18 where the list is long). The ends,
 * as fractions of Z in 32 bits, are worked out when a word is first drawn for.
 * PRIVACY: either way the share is the one that the number falls on (test_tapes). The bits
 * drawn are the same too, whichever thread worked out the ends. */
#ifndef MECH_ENVELOPE_H
#define MECH_ENVELOPE_H

#include "index/neighbours.h"
#include "mech/exponent.h"
#include "mech/weights.h"
#include "rng/rng.h"

#include <stdatomic.h>

/* The envelopes of all words. What is public and frozen, and the ends of shares worked out
 * so far.
 * PRIVACY: which ends are there tells which words were drawn for; envelopes_free erases that. */
typedef struct envelopes {
    const neighbour_index *index;
    exponent exponent;
    weights weights;

    /* For each word, ends_state of its ends. NULL: none are kept, and the rest of the
     * number is always drawn, for tests. */
    _Atomic(uint8_t) *states;
    /* Of word w from index->starts[w] + w * NEIGHBOUR_PARTS on, one for each share. */
    uint32_t *ends;
} envelopes;

typedef enum ends_state { ENDS_NONE = 0, ENDS_BEGUN, ENDS_READY } ends_state;

/* Copies the weights `values` (NULL: all 1). TEM_ERR_RANGE if they are all 0, TEM_ERR_DAMAGED
 * if lists overlap, TEM_ERR_MEMORY. Free with envelopes_free. */
tem_status envelopes_init(envelopes *e, const neighbour_index *index, exponent x,
                          const uint32_t *values, tem_error *error);
void envelopes_free(envelopes *e);

/* Draws a share of the envelope of `word`, with the probability of its size: below
 * NEIGHBOUR_PARTS it is that part, else an entry of the list. TEM_ERR_DAMAGED if the list
 * cannot be right. */
tem_status envelopes_draw(const envelopes *e, uint32_t word, tem_rng *rng, uint32_t *share,
                          tem_error *error);

/* The entry of the word's list that a drawn share names. */
tem_neighbour envelopes_entry(const envelopes *e, uint32_t word, uint32_t share);

/* Has the memory ready that a draw for `word` will want. */
void envelopes_prefetch(const envelopes *e, uint32_t word);

#endif
