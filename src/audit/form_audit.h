/* form_audit.h - what a law with one Z for all words promises and realizes on a vocabulary. */
#ifndef AUDIT_FORM_AUDIT_H
#define AUDIT_FORM_AUDIT_H

#include "mech/model_mechanism.h"
#include "tem_account.h"

/* As tem_form_audit_make; the caller has checked the pointers. */
tem_status form_audit(const tem_mechanism *m, const tem_run *run, tem_form_audit *audit,
                      tem_error *error);

#endif
