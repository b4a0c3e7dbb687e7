/* audit_context.h - tem audit --public: how often words stay themselves at the places of a public
 * text, in context or not. */
#ifndef CLI_AUDIT_CONTEXT_H
#define CLI_AUDIT_CONTEXT_H

#include "common_options.h"
#include "mechanism_options.h"

#include <stdbool.h>

/* Prints the audit, as text or as JSON.
 *   text     the public text
 *   places   how many content positions to look at
 * Returns an exit status; prints what went wrong. */
int audit_context(const common_options *common, const mechanism_choice *choice, const char *text,
                  uint64_t places, bool json);

#endif
