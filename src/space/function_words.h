/* function_words.h - which words of a vocabulary are English function words: articles, pronouns,
 * prepositions, conjunctions, auxiliaries. About every second word of an English text is one. */
#ifndef SPACE_FUNCTION_WORDS_H
#define SPACE_FUNCTION_WORDS_H

#include "space/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUNCTION_WORDS = 182 };

extern const char *const function_words_list[FUNCTION_WORDS];

typedef struct function_words {
    uint64_t *bits; /* a bit per word of the vocabulary */
    uint32_t words; /* of the vocabulary */
    uint32_t count; /* function words among them */
} function_words;

/* Finds the function words of a vocabulary. Fails with TEM_ERR_MEMORY. The caller frees *found with
 * function_words_free, also after a failure. */
tem_status function_words_find(const vocab *words, function_words *found, tem_error *error);
void function_words_free(function_words *found);

/* Whether the list has a word, as it is folded. */
bool function_words_list_has(const char *word, size_t length);

/* id: any number; those that are no ids are no function words. */
static inline bool function_words_have(const function_words *found, uint32_t id) {
    return id < found->words && (found->bits[id / 64] >> id % 64 & 1) != 0;
}

#endif
