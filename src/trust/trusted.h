/* trusted.h - what the rest of the library asks about trust. */
#ifndef TRUST_TRUSTED_H
#define TRUST_TRUSTED_H

#include "model/model.h"

/* TEM_ERR_UNTRUSTED unless the model is trusted: what draws, or proves, asks first. */
tem_status trusted_or_refused(const tem_model *model, tem_error *error);

/* What tem_model_verify found. It stays as it was where the model could not be looked at. */
void trusted_set(tem_model *model, bool trusted);

#endif
