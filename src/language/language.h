/* language.h - a public language model: how much each output weighs, given what the document shows.
 *
 * In context a mechanism draws by
 *
 *     P(y | w, past)  =  a_y(past) K(w, y) / Z(w, past)
 *
 * K is the mechanism's own (mech/law_form.h), a_y(past) comes from here: integers, computed from
 * public data and from words that are released already (mech/mechanism.h, released_past).
 *
 * PRIVACY: for each past the weights are constants, the same for every input word, so they cancel
 * in the proof like any output weights (docs/PRIVACY.md, "Context"). That holds whatever the
 * weights are, but only if there is one set of them per position: `total`, `weight` and `draw`
 * must speak of the same integers. Whoever draws calls `position` once per position, and never
 * again after a rejection. Every output weighs at least 1, or 0 whatever the past is: excluded
 * words weigh 0. */
#ifndef LANGUAGE_LANGUAGE_H
#define LANGUAGE_LANGUAGE_H

#include "mech/mechanism.h"

/* The weights at one position. */
typedef struct position_weights {
    const void *state; /* the language model's */
    uint64_t total;    /* A: the sum of all weights, from 1 to 2^63 - 1 */
    uint64_t place[8]; /* for ops: where this position is in its tables */
    void *document;    /* what `begin` has set up */
} position_weights;

typedef struct language_ops {
    size_t past_words; /* `position` sees so many of the words before */

    /* A state for each document, as that of a mechanism (mechanism_ops.begin). */
    size_t document_bytes;
    tem_status (*begin)(const void *state, void *document, tem_error *error);
    void (*end)(const void *state, void *document);

    /* Sets *at to the weights after this past. On failure nothing of the document is released. */
    tem_status (*position)(const void *state, void *document, const released_past *past,
                           position_weights *at, tem_error *error);

    /* a_y, and those of `count` outputs. */
    uint64_t (*weight)(const position_weights *at, uint32_t y);
    void (*weights)(const position_weights *at, const uint32_t *ids, uint32_t count, uint64_t *out);

    /* Draws y with probability a_y / total, exactly. */
    uint32_t (*draw)(const position_weights *at, tem_rng *rng);
} language_ops;

#endif
