/* form_audit.h - what a law with one Z for all words promises and realizes on a vocabulary. */
#ifndef AUDIT_FORM_AUDIT_H
#define AUDIT_FORM_AUDIT_H

#include "mech/model_mechanism.h"
#include "tem_account.h"

/* All words of up to 46,340 of them: some seconds of CPU time. */
#define FORM_AUDIT_NUMBERS ((uint64_t)1 << 31)

/* As tem_form_audit_make; the caller has checked the pointers. numbers_most: if the rows of all
 * words have more numbers, `nearest` is a sample whose rows have at most so many. */
tem_status form_audit(const tem_mechanism *m, uint64_t numbers_most, const tem_run *run,
                      tem_form_audit *audit, tem_error *error);

#endif
