/* trust_list.h - the hashes of models and certificates that a user trusts, one a line.
 *
 * PRIVACY: what others can write says nothing about what this user has built or verified. The list
 * and its folder must be the user's own, nobody else may be able to write them, and no symbolic
 * link leads to them; otherwise the list is refused, for reading and for changing. */
#ifndef TRUST_TRUST_LIST_H
#define TRUST_TRUST_LIST_H

#include "tem.h"

#include <stdbool.h>

enum { TRUST_HASH_DIGITS = 64 };

/* As tem_trust_has and tem_trust_ready. `hash` is a hash. */
tem_status trust_list_has(const char *hash, bool *has, tem_error *error);
tem_status trust_list_ready(tem_error *error);

/* As tem_trust_add and tem_trust_remove: the list has the hash, or has it no longer. */
tem_status trust_list_set(const char *hash, bool trusted, const tem_run *run, tem_error *error);

#endif
