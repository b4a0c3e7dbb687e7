/* certificate_proof.h - whether a certificate holds, computed anew. */
#ifndef AUDIT_CERTIFICATE_PROOF_H
#define AUDIT_CERTIFICATE_PROOF_H

#include "audit/accountant.h"
#include "certificate/certificate.h"

/* As tem_certificate_verify. */
tem_status certificate_prove(const tem_certificate *certificate, const tem_accountant *accountant,
                             const tem_run *run, tem_error *error);

#endif
