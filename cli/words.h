/* words.h - words of a vocabulary, shown to people. Whoever made the vectors chose them, and a
 * terminal obeys some characters instead of showing them. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "tem_account.h"

#include <jansson.h>

/* Prints a word on stdout. What a terminal would not show as it is (control characters, those that
 * turn the direction of writing, bytes that are not UTF-8) stands as \xNN, a byte each, and a
 * backslash is doubled, so that no two words look the same. */
void words_print(const char *word, size_t length);

/* Prints the two words that lose most and their distance, and ends the line. */
void words_print_worst(const tem_model *model, const tem_audit *audit);

/* {"a", "b", "distance"}; a and b are null if there is no such pair. NULL: no memory, or a word is
 * not UTF-8. */
json_t *words_worst_as_json(const tem_model *model, const tem_audit *audit);

#endif
