/* compose.h - converts a text to NFC. */
#ifndef TEXT_COMPOSE_H
#define TEXT_COMPOSE_H

#include "core/buffer.h"

/* Appends a text, which must be valid UTF-8, to out in Unicode's normal form C (NFC). Returns false
 * if there is no memory. */
bool compose(const char *text, size_t bytes, core_buffer *out);

/* Returns where to divide a text so that its parts can be composed separately: the first such place
 * at `most` bytes or after them, or the end of the text. */
size_t compose_end(const char *text, size_t bytes, size_t most);

#endif
