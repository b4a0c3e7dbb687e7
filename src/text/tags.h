/* tags.h - leaving out HTML tags. */
#ifndef TEXT_TAGS_H
#define TEXT_TAGS_H

#include <stddef.h>

/* Copies text to out, which has room for `bytes` or is the text itself, with each tag replaced
 * by one space. A tag is '<', a letter, '/', '!' or '?', and all up to the next '>'; a '<' that
 * is not closed stays as it is. Returns the bytes written. */
size_t tags_strip(const char *text, size_t bytes, char *out);

#endif
