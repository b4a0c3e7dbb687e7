/* language_option.h - the option --language-model: a public language model, for draws in context.
 *
 * A command that draws in context hands the option to mechanism_choose (mechanism_options.h). One
 * that takes words as independent refuses it with language_option_refuse. */
#ifndef CLI_LANGUAGE_OPTION_H
#define CLI_LANGUAGE_OPTION_H

#include "tem_language.h"

#include <stdbool.h>

/* Whether the value of the option asks for a language model. NULL: the option was not given. */
bool language_option_is_given(const char *named);

/* Opens the language model that the option names: a file, or "english": the file english.temlm
 * beside the model in use, else beside the program. The model must be the one that
 * default_model_open opened last. *language receives NULL if none is asked for; free it with
 * tem_language_free. Refuses one that is not trusted, and one that is for other words. Returns an
 * exit status; prints what went wrong, and what to do. */
int language_option_open(const char *named, const tem_model *model, tem_language **language);

/* " and the language model NAME", for a sentence about a mechanism; "" without one. */
const char *language_option_told(const tem_mechanism *mechanism);

/* Refuses a language model for `what`, which needs words that are drawn independently of each
 * other. remedy: what the user can do. Returns EXIT_USAGE. */
int language_option_refuse(const char *command, const char *what, const char *remedy);

#endif
