/* show.h - output that several commands share: words, the effects of a certificate, rounding. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "tem_account.h"

#include <jansson.h>
#include <stdbool.h>

/* Prints a JSON object on stdout, indented, with a line end, and frees it. Returns false, after
 * printing why, if it is NULL or cannot be written. */
bool print_as_json(json_t *all);

/* ---- words. They come from whoever made the vectors, and may contain characters that a terminal
 * obeys instead of showing ---- */

/* Prints a word on stdout. Writes each byte of a character that a terminal would not show unchanged
 * (control characters, characters that change the direction of writing, bytes that are not UTF-8)
 * as \xNN, and doubles a backslash, so that no two words look the same. */
void words_print(const char *word, size_t length);

/* Returns what words_print prints, which the caller frees, or NULL if memory is short. */
char *words_escape(const char *word, size_t length);

/* The word with this id, on stdout and as JSON: null for TEM_NO_WORD. The second returns NULL if
 * memory is short or the word is not UTF-8. */
void words_print_id(const tem_model *model, uint32_t id);
json_t *words_id_as_json(const tem_model *model, uint32_t id);

/* Prints the worst pair of words and their distance, and ends the line. */
void words_print_worst(const tem_model *model, const tem_audit *audit);

/* Returns {"a", "b", "distance"}; a and b are null if there is no such pair. Returns NULL if memory
 * is short or a word is not UTF-8. */
json_t *words_worst_as_json(const tem_model *model, const tem_audit *audit);

/* Prints words with N_w and S_w as a table. */
void exposed_print(const tem_model *model, const tem_exposure *words, uint32_t count);

/* Returns [{"word", "self", "support"}, ...], or NULL if memory is short or a word is not UTF-8. */
json_t *exposed_as_json(const tem_model *model, const tem_exposure *words, uint32_t count);

/* ---- the effects of a certified mechanism, beside those of the paper's at the same epsilon: a
 * tighter proof also allows less noise, and users should see both effects ---- */

/* Prints the effects as a table on stdout. Prints nothing if the certificate states no effects. */
void effects_print(const tem_certificate_info *certificate);

/* Returns {"prior", "self", "support", "distance", "bayes", "paper": {the same four}}, or JSON's
 * null if the certificate states no effects. Returns NULL if memory is short. */
json_t *effects_as_json(const tem_certificate_info *certificate);

/* ---- the rounding of a model compared with the distances of its words ---- */

/* Returns the model's deviation in percent of the median distance to the nearest word, with three
 * digits, rounded up. *median receives that distance. Returns 0 if that distance is 0 or the lists
 * cannot be read. */
double rounding_percent(const tem_model *model, double *median);

#endif
