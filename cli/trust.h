/* trust.h - which models and certificates the command trusts.
 *
 * The library decides (tem_model_accept, tem_certificate_trust in tem.h). This file tells it which
 * model is meant, and tells the user what to do about a refused one: 'tem verify', or
 * --model-hash. */
#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include "tem.h"

#include <stdbool.h>

/* Opens a model as default_model_open does, compares it with its hashes and trusts it.
 *   hash    the value of --model-hash, or NULL
 * Returns NULL on failure, after printing the reason and what to do. */
tem_model *trust_open_model(const char *named, const char *hash, const tem_run *run);

/* Trusts the model that default_model_open opened last; fails as tem_model_trust does. */
tem_status trust_model(tem_model *model, const char *hash, const tem_run *run, tem_error *error);

/* Notes in the user's list that this user has built a model, whose file is `path`. If the list
 * cannot be changed, prints why and what to do, and unnoted_hash receives the hash with which the
 * model can be used; otherwise unnoted_hash receives "". Returns false if it was interrupted. */
bool trust_built(const tem_model *model, const char *path, const tem_run *run, bool quiet,
                 char unnoted_hash[65]);

/* Whether this certificate of the model that default_model_open opened last is trusted. */
bool trust_has(const tem_certificate_info *certificate, const tem_model *model);

/* The same; prints why not, and what to do. */
bool trust_require(const tem_certificate_info *certificate, const tem_model *model);

/* Whether certificates can be added to the user's list: makes the list if it does not exist. Prints
 * why not. */
bool trust_ready(void);

/* Notes in the user's list that the certificate is trusted. Returns false, after printing why, if
 * that fails. */
bool trust_add(const tem_certificate_info *certificate, const tem_run *run);

/* Whether a change of the list succeeded, given its status and error. Prints why not. Counts as
 * success where there is no place for a list and the model came with tem: such a model needs no
 * list. */
bool trust_is_noted(tem_status status, const tem_error *error);

#endif
