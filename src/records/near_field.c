/* near_field.c - which field of a header or record a mistyped name may mean. */
#include "records/near_field.h"

#include "core/near.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unictype.h>
#include <unistr.h>

near_field near_field_for(const char *wanted) {
    return (near_field){.wanted = wanted, .edits = NEAR_NOT};
}

/* Whether a terminal shows the name as it is. */
static bool is_plain(const char *name, size_t bytes) {
    const uint8_t *at = (const uint8_t *)name, *end = at + bytes;
    while (at < end) {
        ucs4_t c = 0;
        const int length = u8_mbtoucr(&c, at, (size_t)(end - at));
        if (length <= 0 ||
            uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cc | UC_CATEGORY_MASK_Cf |
                                                    UC_CATEGORY_MASK_Zl | UC_CATEGORY_MASK_Zp))
            return false;
        at += length;
    }
    return true;
}

static void list(near_field *n, const char *name, size_t bytes) {
    const size_t used = strlen(n->all);
    if (bytes + sizeof ", \"\"" > sizeof n->all - used) {
        n->left_out++;
        return;
    }
    snprintf(n->all + used, sizeof n->all - used, "%s\"%.*s\"", used == 0 ? "" : ", ", (int)bytes,
             name);
}

void near_field_look(near_field *n, const char *name, size_t bytes) {
    if (bytes >= NEAR_FIELD_BYTES || !is_plain(name, bytes)) {
        n->left_out++;
        return;
    }
    list(n, name, bytes);
    const unsigned edits = near_edits(n->wanted, strlen(n->wanted), name, bytes);
    if (edits > 1 || edits >= n->edits)
        return;
    n->edits = edits;
    memcpy(n->nearest, name, bytes);
    n->nearest[bytes] = '\0';
}

bool near_field_say(const near_field *n, char text[NEAR_FIELD_TEXT_BYTES]) {
    char more[32] = "";
    text[0] = '\0';
    if (n->nearest[0] == '\0')
        return false;
    if (n->left_out > 0)
        snprintf(more, sizeof more, " and %u more", n->left_out);
    if (n->edits == 0)
        snprintf(text, NEAR_FIELD_TEXT_BYTES,
                 "; did you mean \"%s\"? Case matters; the names are %s%s", n->nearest, n->all,
                 more);
    else
        snprintf(text, NEAR_FIELD_TEXT_BYTES, "; did you mean \"%s\"?", n->nearest);
    return true;
}
