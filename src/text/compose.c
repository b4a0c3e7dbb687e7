/* compose.c - converts a text to NFC. No ASCII character composes with the character before it, and
 * none changes its place (pieces.c). So only characters beyond ASCII, with the character before
 * them, go to libunistring. */
#include "text/compose.h"

#include "core/memory.h"
#include "text/ascii.h"
#include "text/pieces.h"

#include <string.h>
#include <uninorm.h>
#include <unistr.h>

/* Appends a part in NFC. Erases the memory that libunistring allocates for it. */
static bool add_composed(const char *part, size_t bytes, core_buffer *out) {
    size_t composed_bytes = 0;
    uint8_t *composed =
        u8_normalize(UNINORM_NFC, (const uint8_t *)part, bytes, NULL, &composed_bytes);
    const bool done = composed != NULL && core_buffer_add(out, composed, composed_bytes);
    if (composed != NULL)
        explicit_bzero(composed, composed_bytes);
    core_free(composed);
    return done;
}

bool compose(const char *text, size_t bytes, core_buffer *out) {
    if (!core_buffer_reserve(out, bytes)) /* enough for most texts, at once */
        return false;
    for (size_t at = 0; at < bytes;) {
        size_t ascii = ascii_length(text + at, bytes - at), end = at + ascii;
        while (end < bytes && (unsigned char)text[end] >= 0x80)
            end++;
        ascii -= ascii > 0 && at + ascii < end; /* the last may compose with what follows */
        if (!core_buffer_add(out, text + at, ascii))
            return false;
        at += ascii;
        if (at < end && !add_composed(text + at, end - at, out))
            return false;
        at = end;
    }
    return true;
}

/* Whether the first character composes with no character before it. */
static bool begins_apart(const char *text, size_t bytes) {
    ucs4_t c = 0;
    if ((unsigned char)text[0] < 0x80)
        return true;
    return u8_mbtoucr(&c, (const uint8_t *)text, bytes) > 0 && text_folds_apart(c);
}

size_t compose_end(const char *text, size_t bytes, size_t most) {
    size_t end = most;
    while (end < bytes && !begins_apart(text + end, bytes - end))
        end++;
    return end < bytes ? end : bytes;
}
