/* explain_after.h - tem explain in context: the law of a word after the words that a document shows
 * before it. */
#ifndef CLI_EXPLAIN_AFTER_H
#define CLI_EXPLAIN_AFTER_H

#include "mechanism_options.h"
#include "tem_account.h"
#include "tem_language.h"

#include <stdbool.h>

/* The words before, and what the same mechanism does without a language model. */
typedef struct explain_after {
    const tem_model *model;
    const tem_mechanism *mechanism; /* with a language model; NULL: explain nothing in context */
    tem_mechanism *alone;           /* without, at the same s */
    uint32_t *ids;                  /* what stands before; NULL: the document begins */
    size_t count;
} explain_after;

/* Prepares to explain. text: the value of --after, or NULL. Notes on stderr which of its words the
 * model does not have. Returns an exit status; prints what went wrong. Close with
 * explain_after_close, also after a failure. */
int explain_after_open(const char *text, const tem_model *model, const tem_mechanism *mechanism,
                       const mechanism_choice *choice, explain_after *out);
void explain_after_close(explain_after *after);

/* Print what stands before the word: a line of text; and how often a word stays here, by its law,
 * beside the language model alone and the mechanism alone. id: a word of the model. Returns false
 * on failure, after printing why. */
void explain_after_print(const explain_after *after);
bool explain_after_print_share(const explain_after *after, uint32_t id);

/* Prints the same as a JSON object; null where nothing is explained in context. id: TEM_NO_WORD for
 * an unknown word. Returns false on failure. */
bool explain_after_print_json(const explain_after *after, uint32_t id);

#endif
