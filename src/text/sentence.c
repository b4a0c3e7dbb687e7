/* sentence.c - words that read like a sentence. */
#include "text/sentence.h"

#include <string.h>
#include <unicase.h>
#include <unistr.h>

/* Puts other bytes in the place of `old` bytes at `at`. */
static bool replace(core_buffer *text, size_t at, size_t old, const uint8_t *bytes, size_t count) {
    if (!core_buffer_reserve(text, count))
        return false;
    memmove(text->data + at + count, text->data + at + old, text->size - at - old);
    memcpy(text->data + at, bytes, count);
    text->size += count - old;
    return true;
}

/* Makes the first character a capital, if it has one that folds back to it. */
static bool capitalise(core_buffer *text, size_t start) {
    ucs4_t first = 0;
    uint8_t capital[6];
    const uint8_t *at = (const uint8_t *)text->data + start;
    const int old = u8_mbtoucr(&first, at, text->size - start);
    if (old <= 0)
        return true;
    const ucs4_t title = uc_totitle(first);
    if (title == first || uc_tolower(title) != first)
        return true;
    const int count = u8_uctomb(capital, title, sizeof capital);
    return count <= 0 || replace(text, start, (size_t)old, capital, (size_t)count);
}

bool sentence_write(core_buffer *text, size_t start) {
    for (size_t at = start; at < text->size;) {
        const char *space = memchr(text->data + at, ' ', text->size - at);
        const size_t end = space == NULL ? text->size : (size_t)(space - text->data);
        if (text->data[at] == 'i' && (end - at == 1 || (end > at && text->data[at + 1] == '\'')))
            text->data[at] = 'I';
        at = end + 1;
    }
    return capitalise(text, start) && core_buffer_add(text, ".", 1);
}
