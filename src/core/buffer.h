/* buffer.h - bytes that grow at their end.
 *
 * A buffer may hold private text, so it erases memory that it no longer needs. A large buffer has
 * pages of its own, which the kernel moves when the buffer grows. So growing needs no second copy
 * of a document that may fill most of the memory, and leaves no copy behind. */
#ifndef CORE_BUFFER_H
#define CORE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct core_buffer {
    char *data;
    size_t size, capacity;
    size_t touched; /* the most bytes reserved since the block was clean: what to erase */
} core_buffer;

/* Makes room for `more` bytes after the content; false, and nothing changed, if there is no memory.
 * The caller must not write beyond that room. */
bool core_buffer_reserve(core_buffer *b, size_t more);

/* Appends bytes; false, and nothing changed, if there is no memory. */
bool core_buffer_add(core_buffer *b, const void *bytes, size_t count);

/* Makes the buffer empty and erases its content. Frees a large block, because the next document may
 * be small. */
void core_buffer_clear(core_buffer *b);

/* Returns the content as a block for core_free and leaves the buffer empty; NULL, and nothing
 * changed, if there is no memory. */
char *core_buffer_take(core_buffer *b);

/* Erases the content, which may be private, and frees the buffer. */
void core_buffer_free(core_buffer *b);

#endif
