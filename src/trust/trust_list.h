/* trust_list.h - the hashes of models and certificates that a user trusts, one per line.
 *
 * PRIVACY: a list that others can write says nothing about what this user has built or verified.
 * The list and its directory must belong to the user, nobody else may be able to write them, and
 * they must not be symbolic links. Otherwise tem refuses the list, for reading and for changing. */
#ifndef TRUST_TRUST_LIST_H
#define TRUST_TRUST_LIST_H

#include "tem.h"

#include <stdbool.h>

enum { TRUST_HASH_DIGITS = 64 };

/* As tem_trust_has and tem_trust_ready. `hash` must be a valid hash. */
tem_status trust_list_has(const char *hash, bool *has, tem_error *error);
tem_status trust_list_ready(tem_error *error);

/* As tem_trust_has_place (command/tem_command.h). */
bool trust_list_has_place(void);

/* As tem_trust_add (trusted) and tem_trust_remove (not trusted). */
tem_status trust_list_set(const char *hash, bool trusted, const tem_run *run, tem_error *error);

#endif
