/* trust.h - which models and certificates this user's programs trust, in the words of the command.
 *
 * The library decides (tem_model_accept, tem_certificate_trust in tem.h). Here the command says
 * which model is meant, and what a user can do about one that is refused: 'tem verify', or
 * --model-hash. */
#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include "tem.h"

#include <stdbool.h>

/* Opens a model as default_model_open does, compares it with its hashes and trusts it.
 *   hash    that --model-hash names, or NULL
 * NULL after saying why not, and what to do. */
tem_model *trust_open_model(const char *named, const char *hash, const tem_run *run);

/* Trusts the model that default_model_open opened last; fails as tem_model_trust does. */
tem_status trust_model(tem_model *model, const char *hash, const tem_run *run, tem_error *error);

/* Notes that this user has built a model, which lies at `path`. False if it was interrupted; where
 * it cannot be noted, that is said, with what to do. */
bool trust_built(const tem_model *model, const char *path, const tem_run *run, bool quiet);

/* Whether the certificate, of the model that default_model_open opened last, is trusted. */
bool trust_has(const tem_certificate_info *certificate, const tem_model *model);

/* The same; says why not, and what to do. */
bool trust_require(const tem_certificate_info *certificate, const tem_model *model);

/* Whether there is a list to note certificates in, or can be; says why not. */
bool trust_ready(void);

/* Trusts it from now on. False, after saying why, if that cannot be written down. */
bool trust_add(const tem_certificate_info *certificate, const tem_run *run);

/* Whether the list could be changed; says why not. Where there is no place for one, what came with
 * the program needs none. */
bool trust_is_noted(tem_status status, const tem_error *error);

#endif
