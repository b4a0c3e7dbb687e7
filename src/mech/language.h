/* language.h - a public language model: how much each output weighs, given what the document shows.
 *
 * In context a mechanism draws by
 *
 *     P(y | w, past)  =  a_y(past) K(w, y) / Z(w, past)
 *
 * K is the mechanism's own (law_form.h), a_y(past) comes from here: integers, computed from public
 * data and from what is released already (mechanism.h, released_past). The room `language` has the
 * models; context.h draws.
 *
 * PRIVACY: for each past the weights are constants, the same for every input word, so they cancel
 * in the proof like any output weights (docs/PRIVACY.md, "Context"). That holds whatever the
 * weights are, but only if there is one set of them per position: total, weight, levels and draw
 * must speak of the same integers. Whoever draws calls `position` once per position, and never
 * again after a rejection. A weight of 0 is one for every input; excluded words always weigh 0. */
#ifndef MECH_LANGUAGE_H
#define MECH_LANGUAGE_H

#include "core/hash.h"
#include "mech/mechanism.h"
#include "mech/text_sources.h"

enum { LANGUAGE_LEVELS_MAX = 4 };

/* Some outputs, and what they weigh in addition: factor * (sums[i + 1] - sums[i]) for the output
 * with the number numbers[i]. The sums wrap: their differences count, in 32 bits, and that of the
 * last and the first is below 2^32. A view of tables that stay as they are as long as the language
 * model lives. */
typedef struct language_level {
    uint64_t factor;
    uint32_t count;
    const uint32_t *numbers; /* ascending */
    const uint32_t *sums;    /* count + 1 of them */
} language_level;

/* The weights at one position. A language model whose weights come in levels has, for the output
 * with the number i,
 *
 *     a  =  base_factor * base[i]  +  the sum over all levels of what i weighs there
 *
 * and sets the fields of that. */
typedef struct position_weights {
    const void *state; /* the language model's */
    void *document;    /* what `begin` has set up */
    uint64_t total;    /* A: the sum of all weights, from 1 to 2^63 - 1 */
    uint64_t place[4]; /* for ops: what it likes to keep */

    uint64_t base_factor;
    uint32_t level_count;
    language_level levels[LANGUAGE_LEVELS_MAX];
} position_weights;

typedef struct language_ops {
    size_t past_words; /* `position` sees so many of the words before */

    void (*free)(void *state);

    /* Fails where nothing may be drawn by the model, as with TEM_ERR_UNTRUSTED. Called for each
     * mechanism that is made. NULL: there is nothing to check. */
    tem_status (*check)(const void *state, tem_error *error);

    size_t
        slow_draws; /* as that of a mechanism: 0, or how many positions take tens of milliseconds */

    /* A state for each document, as that of a mechanism (mechanism_ops.begin). */
    size_t document_bytes;
    tem_status (*begin)(const void *state, void *document, tem_error *error);
    void (*end)(const void *state, void *document);

    /* Sets *at to the weights after this past; `document` and `state` are set already, all else is
     * zeroed. On failure nothing of the document is released. */
    tem_status (*position)(const void *state, void *document, const released_past *past,
                           position_weights *at, tem_error *error);

    /* a_y, and those of `count` outputs. */
    uint64_t (*weight)(const position_weights *at, uint32_t y);
    void (*weights)(const position_weights *at, const uint32_t *ids, uint32_t count, uint64_t *out);

    /* Draws y with probability a_y / total, exactly. */
    uint32_t (*draw)(const position_weights *at, tem_rng *rng);

    /* With levels: draws a number i with probability base[i] / (sum of all base), exactly. */
    uint32_t (*draw_base)(const position_weights *at, tem_rng *rng);

    /* Sets *out to a view of the public texts that it was made of. NULL: nobody knows them. */
    tem_status (*sources)(const void *state, text_sources *out, tem_error *error);
} language_ops;

/* A language model as users have it. It never changes: any number of threads may use it. */
struct tem_language {
    const language_ops *ops;
    void *state;
    char name[64]; /* for reports; or "" */
    char hash[65]; /* of its content, in hex; "": nobody knows the content */
    unsigned char outputs[CORE_HASH_BYTES]; /* model_outputs_hash of the models that it is for */

    /* The numbers of the levels: the id of each of the `numbered` outputs; and what each weighs at
     * every position. NULL: its weights do not come in levels. Where the model has an order, they
     * are numbered as its sequence has them (order.h). */
    uint32_t numbered;
    const uint32_t *ids, *base;

    const char *caveat; /* NULL; else why no bound holds, as in tem_job_why_not_private: a condition
                         * that tem cannot check, as for a model of the user's own */
};

#endif
