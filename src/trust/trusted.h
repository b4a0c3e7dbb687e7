/* trusted.h - whether a model is trusted, for the rest of the library. */
#ifndef TRUST_TRUSTED_H
#define TRUST_TRUSTED_H

#include "model/model.h"

/* Fails with TEM_ERR_UNTRUSTED unless the model is trusted. Code that draws or proves calls this
 * function first. */
tem_status trusted_or_refused(const tem_model *model, tem_error *error);

/* Records whether the model is trusted, as tem_model_verify found. If the model could not be read,
 * do not call this: the model stays as it was. */
void trusted_set(tem_model *model, bool trusted);

#endif
