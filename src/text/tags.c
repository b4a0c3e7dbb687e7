/* tags.c - leaving out HTML tags. */
#include "text/tags.h"

#include <stdbool.h>
#include <string.h>

static bool opens_tag(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '!' || c == '?';
}

size_t tags_strip(const char *text, size_t bytes, char *out) {
    size_t written = 0;
    const char *last_close = memrchr(text, '>', bytes); /* keeps unclosed '<' from O(n^2) */
    for (size_t i = 0; i < bytes;) {
        if (text[i] == '<' && i + 1 < bytes && opens_tag(text[i + 1]) && last_close != NULL &&
            text + i < last_close) {
            const char *close = memchr(text + i, '>', bytes - i);
            out[written++] = ' ';
            i = (size_t)(close - text) + 1;
        } else {
            out[written++] = text[i++];
        }
    }
    return written;
}
