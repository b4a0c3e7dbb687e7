/* tags.h - removes HTML tags. */
#ifndef TEXT_TAGS_H
#define TEXT_TAGS_H

#include <stddef.h>

/* Copies text to out, and replaces each tag by one space. out has room for `bytes`, or is the text
 * itself. A tag is '<', then an ASCII letter, '/', '!' or '?', then everything up to the next '>'.
 * A '<' that is not closed stays as it is. Returns the number of bytes written. */
size_t tags_strip(const char *text, size_t bytes, char *out);

#endif
