/* near.h - which of several names a mistyped one may mean. */
#ifndef CORE_NEAR_H
#define CORE_NEAR_H

#include <limits.h>
#include <stddef.h>

enum { NEAR_NOT = UINT_MAX >> 1 };

/* Returns how many letters a user got wrong if `typed` was meant to be `name`: one for each letter
 * too many, missing or wrong, and one for two neighbors in the wrong order. The case of ASCII
 * letters does not count, and a beginning of three letters or more counts as one wrong letter.
 * Returns NEAR_NOT if that is too many to suggest the name: more than a third of its length, or
 * more than three. A letter is a byte, and names of more than 64 bytes are never near. */
unsigned near_edits(const char *typed, size_t typed_bytes, const char *name, size_t name_bytes);

#endif
