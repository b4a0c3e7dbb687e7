/* sentence_ends.h - where the sentences of released words end, by a public language model.
 *
 * Words are drawn in context one after the other, without ends of sentences. This puts them where
 * the n-grams of the language model make it likely that a sentence begins: at a word, and the word
 * after it, that follow the beginning of a sentence far more often than the two words before them.
 *
 * PRIVACY: post-processing, a function of the released words and of public tables alone. */
#ifndef JOB_SENTENCE_ENDS_H
#define JOB_SENTENCE_ENDS_H

#include "core/buffer.h"
#include "mech/language.h"
#include "text/pieces.h"

/* For one thread. Keeps its memory between lines. All zeros: new. */
typedef struct sentence_ends {
    core_buffer line;   /* the words as they were */
    core_buffer words;  /* ends_word: where each begins */
    core_buffer pieces; /* uint32_t: the outputs that they are, or RELEASED_KEPT_WORD */
} sentence_ends;

void sentence_ends_free(sentence_ends *s);

/* Whether a language model can say where sentences end: it is made of n-grams. */
bool sentence_ends_are_known(const tem_language *language);

/* Writes the words of `text` from `start` on, which spaces separate, as sentences
 * (text/sentence.h). TEM_ERR_MEMORY; also fails as the language model does. */
tem_status sentence_ends_write(sentence_ends *s, const tem_language *language, text_pieces *cutter,
                               core_buffer *text, size_t start, tem_error *error);

#endif
