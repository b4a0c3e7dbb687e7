/* tags.c - removes HTML tags. */
#include "text/tags.h"

#include <stdbool.h>
#include <string.h>

static bool opens_tag(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '!' || c == '?';
}

/* Returns the first tag that begins in text, or `end`. last_close: the last '>' before the end. */
static const char *find_tag(const char *text, const char *end, const char *last_close) {
    while (text < last_close) {
        const char *open = memchr(text, '<', (size_t)(last_close - text));
        if (open == NULL)
            break;
        if (opens_tag(open[1]))
            return open;
        text = open + 1;
    }
    return end;
}

/* memchr and memmove do the work between tags. No '<' after the last '>' is closed, so the code
 * does not search for the end of such a '<' again and again. */
size_t tags_strip(const char *text, size_t bytes, char *out) {
    const char *end = text + bytes, *last_close = memrchr(text, '>', bytes);
    char *put = out;
    for (;;) {
        const char *tag = last_close == NULL ? end : find_tag(text, end, last_close);
        memmove(put, text, (size_t)(tag - text)); /* if out is the text, bytes never move right */
        put += tag - text;
        if (tag == end)
            return (size_t)(put - out);
        *put++ = ' ';
        text = (const char *)memchr(tag, '>', (size_t)(end - tag)) + 1;
    }
}
