/* verify.h - recomputing a model and the claims of its certificates. */
#ifndef AUDIT_VERIFY_H
#define AUDIT_VERIFY_H

#include "audit/accountant.h"
#include "certificate/certificate.h"

/* As tem_model_verify. A model that holds is trusted from then on; a damaged model is no longer
 * trusted. */
tem_status verify_model(tem_model *model, const tem_run *run, tem_error *error);

/* As tem_certificate_verify. */
tem_status verify_certificate(const tem_certificate *certificate, const tem_accountant *accountant,
                              const tem_run *run, tem_error *error);

/* As tem_trust_verify. how NULL: verify the model alone. unnoted may be NULL. */
tem_status verify_all(tem_model *model, const tem_verification *how, const tem_run *run,
                      tem_error *unnoted, tem_error *error);

#endif
