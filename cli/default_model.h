/* default_model.h - finds and opens the model that a command uses. */
#ifndef CLI_DEFAULT_MODEL_H
#define CLI_DEFAULT_MODEL_H

#include "tem.h"

#include <limits.h>
#include <stdbool.h>

/* Opens `named`, or, if that is NULL, $TEM_MODEL, else default.tem beside the program, else the
 * installed one. Refuses a model if the command is going to overwrite it or its certificates
 * (outputs.h). The model is not trusted yet: trust.h decides who may draw from it. Returns NULL on
 * failure, after printing why. */
tem_model *default_model_open(const char *named);

/* The path of raw.tem beside the program, the model of the paper's experiment, which 'make raw'
 * builds. It is a model like any other: whoever runs 'make raw' trusts it from then on. Returns
 * NULL if there is none, after printing so. */
const char *default_model_raw(void);

/* Finds the directory of this program. Returns false if the system does not say. */
bool default_model_folder(char directory[PATH_MAX]);

/* The path that default_model_open opened last. */
const char *default_model_path(void);

/* The path of that model's certificates: the model's path with ".cert" added. */
const char *default_model_certificates(void);

/* The path of that model's vectors to learn with: the model's path with .temv instead of .tem. */
const char *default_model_vectors(void);

/* Whether that model was found beside the program or as the installed one, and was named neither by
 * the user nor by $TEM_MODEL. */
bool default_model_is_own(void);

/* The option with which another command uses the same model: " -m MODEL", or "". */
const char *default_model_naming(void);

#endif
