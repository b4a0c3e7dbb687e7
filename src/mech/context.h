/* context.h - draws in context: the law of a mechanism, weighed by a public language model.
 *
 *     P(y | w, past)  =  a_y(past) K(w, y) / Z(w, past)         w known
 *     P(y | unknown word, past)  =  a_y(past) / A(past)
 *
 * K is the closeness of the mechanism's form (law_form.h), a_y(past) the weight of the language
 * model (language.h) where the form's own weight is 1, and 0 where that is 0: for excluded words,
 * and for those that this run never releases.
 *
 * PRIVACY: for each past this is a law with public weights, so the mechanism's theorem holds for it
 * as it stands; a document composes adaptively (docs/PRIVACY.md, "Context"). That needs one set of
 * weights per position: context_draw asks the language model once. */
#ifndef MECH_CONTEXT_H
#define MECH_CONTEXT_H

#include "mech/rank_context.h"

typedef struct word_context {
    const law_form *form;
    const tem_language *language;
    rank_context *ranked; /* draws quickly where it can; NULL: it cannot */
} word_context;

/* Form and language model must live as long as the context. Fails with TEM_ERR_MEMORY. Free with
 * context_free. */
tem_status context_init(word_context *c, const law_form *form, const tem_language *language,
                        tem_error *error);
void context_free(word_context *c);

/* The bytes of the state of a document, which the language model's `begin` sets up: what that needs
 * stands first. It is zeroed before, and erased after the document: it tells private words. */
size_t context_document_bytes(const word_context *c);

/* Draws one output after `past`. word: an id, or TEM_NO_WORD. Fails as `position` does, or with
 * TEM_ERR_DAMAGED if the model contradicts itself, or no output has a weight; then nothing of the
 * document may be released. */
tem_status context_draw(const word_context *c, void *document, const released_past *past,
                        uint32_t word, tem_rng *rng, uint32_t *out, tem_error *error);

/* Sets values[y] to a_y(past) for all words y of the model. Fails as `position` does. */
tem_status context_weights(const word_context *c, void *document, const released_past *past,
                           uint64_t *values, tem_error *error);

/* How many rounds may reject before the draw sums all outputs. */
enum { CONTEXT_ROUNDS = 64 };

#endif
