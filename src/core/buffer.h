/* buffer.h - bytes that grow at their end. */
#ifndef CORE_BUFFER_H
#define CORE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct core_buffer {
    char *data;
    size_t size, capacity;
} core_buffer;

/* Makes room for `more` bytes after the content; false, and nothing changed, if there is
 * no memory. */
bool core_buffer_reserve(core_buffer *b, size_t more);

/* Appends; false, and nothing changed, if there is no memory. */
bool core_buffer_add(core_buffer *b, const void *bytes, size_t count);

/* Erases the content, which may be private, and frees. */
void core_buffer_free(core_buffer *b);

#endif
