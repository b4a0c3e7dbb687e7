/* near_name.c - "did you mean ...?" for names that a user mistyped. */
#include "near_name.h"

#include "tem_command.h"

#include <stdio.h>

near_name near_name_for(const char *typed, size_t bytes) {
    return (near_name){.typed = typed, .typed_bytes = bytes, .edits = TEM_NOT_NEAR};
}

void near_name_look(near_name *n, const char *dashes, const char *name, size_t bytes) {
    const unsigned edits = tem_edits(n->typed, n->typed_bytes, name, bytes);
    if (edits >= n->edits)
        return;
    n->edits = edits;
    n->dashes = dashes;
    n->name = name;
    n->bytes = bytes;
}

const char *near_name_hint(const near_name *n) {
    static char hint[128];
    if (n->name == NULL)
        return "";
    snprintf(hint, sizeof hint, "; did you mean '%s%.*s'?", n->dashes, (int)n->bytes, n->name);
    return hint;
}
