/* show.h - what several commands show: words, what a certificate does, how coarse a grid is. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "tem_account.h"

#include <jansson.h>

/* ---- words. Whoever made the vectors chose them, and a terminal obeys some characters instead of
 * showing them ---- */

/* Prints a word on stdout. What a terminal would not show as it is (control characters, those that
 * turn the direction of writing, bytes that are not UTF-8) stands as \xNN, a byte each, and a
 * backslash is doubled, so that no two words look the same. */
void words_print(const char *word, size_t length);

/* Prints the two words that lose most and their distance, and ends the line. */
void words_print_worst(const tem_model *model, const tem_audit *audit);

/* {"a", "b", "distance"}; a and b are null if there is no such pair. NULL: no memory, or a word is
 * not UTF-8. */
json_t *words_worst_as_json(const tem_model *model, const tem_audit *audit);

/* ---- what a certified mechanism does, beside the paper's at the same epsilon: a tighter proof is
 * also less noise, and whoever uses it should see both ---- */

/* As a table on stdout; nothing if the certificate does not say. */
void effects_print(const tem_certificate_info *certificate);

/* {"prior", "self", "support", "distance", "bayes", "paper": {the same four}}; null if the
 * certificate does not say. NULL: no memory. */
json_t *effects_as_json(const tem_certificate_info *certificate);

/* ---- the rounding of a model beside the distances of its words ---- */

/* The model's deviation in per cent of the median distance to the nearest word, in three digits,
 * rounded up. *median receives that distance. 0 if there is none, or the lists cannot be read. */
double rounding_percent(const tem_model *model, double *median);

#endif
