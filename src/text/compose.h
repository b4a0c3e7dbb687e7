/* compose.h - a text in NFC. */
#ifndef TEXT_COMPOSE_H
#define TEXT_COMPOSE_H

#include "core/buffer.h"

/* Appends a text, valid UTF-8, to out, in Unicode's normal form C. False if there is no memory. */
bool compose(const char *text, size_t bytes, core_buffer *out);

/* Where a text can be divided, so that its parts are composed apart: the first such place behind
 * `most` bytes, or its end. */
size_t compose_end(const char *text, size_t bytes, size_t most);

#endif
