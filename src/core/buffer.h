/* buffer.h - bytes that grow at their end.
 *
 * A buffer may hold private text: what it no longer needs is erased. A large one has pages of its
 * own, which move when it grows. So growing needs no second copy of a document that is most of the
 * memory there is, and leaves none behind. */
#ifndef CORE_BUFFER_H
#define CORE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct core_buffer {
    char *data;
    size_t size, capacity;
    size_t touched; /* the most that was ever reserved: all that may have to be erased */
} core_buffer;

/* Makes room for `more` bytes after the content; false, and nothing changed, if there is
 * no memory. Nobody writes beyond the room that was made. */
bool core_buffer_reserve(core_buffer *b, size_t more);

/* Appends; false, and nothing changed, if there is no memory. */
bool core_buffer_add(core_buffer *b, const void *bytes, size_t count);

/* Forgets the content. A large block is freed: the next document may be a small one. */
void core_buffer_clear(core_buffer *b);

/* Hands the content out as a block for core_free, and leaves the buffer empty; NULL, and nothing
 * changed, if there is no memory. */
char *core_buffer_take(core_buffer *b);

/* Erases the content, which may be private, and frees. */
void core_buffer_free(core_buffer *b);

#endif
