/* wrap.c - text within the 80 columns of a terminal. */
#include "wrap.h"

#include <stdbool.h>
#include <string.h>

enum { COLUMNS = 80 };

static const char blanks[] = " \n";

/* Columns of a word: its characters. Help has no wide ones. */
static size_t columns_of(const char *word, size_t bytes) {
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)word[i] & 0xc0) != 0x80; /* not a byte inside a character */
    return columns;
}

void wrap_words(FILE *out, const char *text, size_t length, size_t column, size_t indent) {
    const char *end = text + length;
    bool fresh = true; /* no word on this line yet */
    for (;;) {
        text += strspn(text, blanks);
        if (text >= end)
            break;
        size_t bytes = strcspn(text, blanks);
        if (bytes > (size_t)(end - text))
            bytes = (size_t)(end - text);
        const size_t columns = columns_of(text, bytes);
        if (!fresh && column + 1 + columns > COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        fprintf(out, "%s%.*s", fresh ? "" : " ", (int)bytes, text);
        column += columns + !fresh;
        fresh = false;
        text += bytes;
    }
    fputc('\n', out);
}

/* Whether a line stays as it is. */
static bool is_fixed(const char *line) {
    return *line == ' ' || *line == '\n' || *line == '\0' || strncmp(line, "usage:", 6) == 0;
}

void wrap(const char *text) {
    for (;;) {
        const char *end = text + strcspn(text, "\n");
        const bool fixed = is_fixed(text);
        while (!fixed && *end == '\n' && !is_fixed(end + 1))
            end += 1 + strcspn(end + 1, "\n");
        if (fixed)
            printf("%.*s\n", (int)(end - text), text);
        else
            wrap_words(stdout, text, (size_t)(end - text), 0, 0);
        if (*end == '\0')
            return;
        text = end + 1;
    }
}
