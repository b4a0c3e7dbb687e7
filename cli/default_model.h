/* default_model.h - which model serves when none is named. */
#ifndef CLI_DEFAULT_MODEL_H
#define CLI_DEFAULT_MODEL_H

#include "tem.h"

#include <stdbool.h>

/* Opens `named`, or, if that is NULL, $TEM_MODEL, else default.tem beside the
 * program, else the installed one. Prints why it cannot; NULL then. A model that the command would
 * write over (outputs.h) is refused, and so is one with such certificates. The model can be looked
 * at; trust.h says who may draw from it. */
tem_model *default_model_open(const char *named);

/* The path that default_model_open opened last. */
const char *default_model_path(void);

/* That path with ".cert" added: where the model's certificates are. */
const char *default_model_certificates(void);

/* Whether that model was found beside the program or as the installed one, named by nobody. */
bool default_model_is_own(void);

/* What a command line needs to take the same model again: " -m MODEL", or "". */
const char *default_model_naming(void);

#endif
