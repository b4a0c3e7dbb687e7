/* trust_list.h - the hashes of certificates that a user believes, one a line.
 *
 * PRIVACY: what others can write says nothing about what this user has seen. A list that is not the
 * user's own, or that somebody else can write, is refused, for reading and for adding. */
#ifndef IO_TRUST_LIST_H
#define IO_TRUST_LIST_H

#include "tem.h"

#include <stdbool.h>

enum { TRUST_HASH_DIGITS = 64 };

/* As tem_trust_has, tem_trust_ready and tem_trust_add. The hash is one. */
tem_status trust_list_has(const char *hash, bool *has, tem_error *error);
tem_status trust_list_ready(tem_error *error);
tem_status trust_list_add(const char *hash, tem_error *error);

#endif
