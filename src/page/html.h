/* html.h - sentences, tables and sections of a page.
 *
 * A sentence is a list of parts: literals of this program, escaped text, counts, shares, numbers.
 *
 *     SAY(m, LIT("<p>tem replaced "), COUNT(words), LIT(" words.</p>\n"));
 *
 * Each part says what it is, so that a text of others cannot be taken for markup. */
#ifndef PAGE_HTML_H
#define PAGE_HTML_H

#include "picture/markup.h"

#include <stdint.h>

typedef enum html_kind {
    HTML_END,
    HTML_LITERAL,
    HTML_TEXT,
    HTML_COUNT,
    HTML_SHARE,
    HTML_PRECISE,
    HTML_NUMBER,
    HTML_AT_MOST,
    HTML_FACTOR
} html_kind;

typedef struct html_part {
    html_kind kind;
    const char *text;
    size_t bytes;
    uint64_t count;
    double number;
} html_part;

#define LIT(literal) ((html_part){.kind = HTML_LITERAL, .text = "" literal})
/* One of several literals, chosen at run time. */
#define ONE_OF(literal) ((html_part){.kind = HTML_LITERAL, .text = (literal)})
#define TEXT(string) ((html_part){.kind = HTML_TEXT, .text = (string), .bytes = strlen(string)})
#define BYTES(start, length) ((html_part){.kind = HTML_TEXT, .text = (start), .bytes = (length)})
#define COUNT(value) ((html_part){.kind = HTML_COUNT, .count = (value)})
#define SHARE(value) ((html_part){.kind = HTML_SHARE, .number = (value)})     /* as a percentage */
#define PRECISE(value) ((html_part){.kind = HTML_PRECISE, .number = (value)}) /* 12.3 % */
#define NUMBER(value) ((html_part){.kind = HTML_NUMBER, .number = (value)})   /* 5 digits */
/* A bound, rounded up to 5 digits; "no bound" if it is not finite. */
#define AT_MOST(value) ((html_part){.kind = HTML_AT_MOST, .number = (value)})
/* exp(value) as a bound, rounded up: "7.4" or a power of ten; "no bound" if it is not finite. */
#define FACTOR(value) ((html_part){.kind = HTML_FACTOR, .number = (value)})

#define SAY(m, ...) html_say(m, (const html_part[]){__VA_ARGS__, {.kind = HTML_END}})

/* Appends the parts up to HTML_END. */
void html_say(markup *m, const html_part *parts);

/* A section with a heading of the second level. Its id makes a link target; ids must differ. */
void html_begin_section(markup *m, const char *id, const char *heading);
void html_end_section(markup *m);

/* A row of a table with two columns: name and value, the value as parts. */
#define ROW(m, name, ...)                                                                          \
    do {                                                                                           \
        html_begin_row(m, name);                                                                   \
        SAY(m, __VA_ARGS__);                                                                       \
        html_end_row(m);                                                                           \
    } while (0)
void html_begin_row(markup *m, const char *name);
void html_end_row(markup *m);

#endif
