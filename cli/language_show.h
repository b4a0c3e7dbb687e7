/* language_show.h - files of language models: which one is meant, and what 'tem info' and 'tem
 * verify' say of one. */
#ifndef CLI_LANGUAGE_SHOW_H
#define CLI_LANGUAGE_SHOW_H

#include "tem_language.h"

#include <stdbool.h>

/* Whether the name of a file ends as those of language models do. */
bool language_show_is_named(const char *path);

/* Whether an operand means a language model: a file NAME.temlm, or "english". */
bool language_show_is_meant(const char *named);

/* The file that is meant: for "english" the one that comes with tem, which fits the model that
 * default_model_open opened last; else `named`. *is_own: it came with tem, and nobody named it.
 * NULL, after printing why, if there is none. The name lives until the next call. */
const char *language_show_path(const char *named, bool *is_own);

/* The functions of the commands, for the operand `named`; they return an exit status. */
int language_show_info(const char *named, const char *model, bool json);
int language_show_verify(const char *named, const char *model, unsigned threads, bool quiet);

#endif
