/* wrap.h - text within the 80 columns of a terminal. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Prints a text and a line end. Fills its paragraphs anew. Lines that begin with a blank or with
 * "usage:" stay as they are; they and empty lines end a paragraph. */
void wrap(const char *text);

/* Prints the words of `text`, a UTF-8 text of `length` bytes, and a line end. The first line
 * continues a line that has `column` columns already; the others begin with `indent` blanks. A word
 * that is too long for a line has a line of its own. */
void wrap_words(FILE *out, const char *text, size_t length, size_t column, size_t indent);

#endif
