/* near_name.h - "did you mean ...?" for names that a user mistyped. */
#ifndef CLI_NEAR_NAME_H
#define CLI_NEAR_NAME_H

#include <stddef.h>

/* The nearest of the names that near_name_look saw. */
typedef struct near_name {
    const char *typed;
    size_t typed_bytes;
    const char *name; /* NULL: none is near */
    size_t bytes;
    const char *dashes; /* that belong before the name */
    unsigned edits;
} near_name;

near_name near_name_for(const char *typed, size_t bytes);

/* Keeps the name if it is nearer than all names before it. The name must live as long as *n. */
void near_name_look(near_name *n, const char *dashes, const char *name, size_t bytes);

/* Returns "; did you mean 'NAME'?", or "" if no name is near. The static buffer is overwritten by
 * the next call. */
const char *near_name_hint(const near_name *n);

#endif
