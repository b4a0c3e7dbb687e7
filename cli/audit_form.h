/* audit_form.h - tem audit for mechanisms that protect all words alike: rank and coin. */
#ifndef CLI_AUDIT_FORM_H
#define CLI_AUDIT_FORM_H

#include "common_options.h"
#include "mechanism_options.h"

#include <stdbool.h>

/* Prints the audit, as text or as JSON. Returns an exit status; prints what went wrong. */
int audit_form(const common_options *common, const mechanism_choice *choice, bool json);

#endif
