/* buffer.c - bytes that grow at their end. */
#include "core/buffer.h"

#include "core/memory.h"

#include <string.h>

bool core_buffer_reserve(core_buffer *b, size_t more) {
    size_t wanted = 0;
    if (__builtin_add_overflow(b->size, more, &wanted))
        return false;
    if (wanted <= b->capacity)
        return true;
    const size_t capacity = wanted + wanted / 2 + 256;
    char *grown = core_alloc(capacity, 1);
    if (grown == NULL)
        return false;
    if (b->data != NULL) { /* not realloc: the old block may hold private text */
        memcpy(grown, b->data, b->size);
        explicit_bzero(b->data, b->capacity);
        core_free(b->data);
    }
    b->data = grown;
    b->capacity = capacity;
    return true;
}

bool core_buffer_add(core_buffer *b, const void *bytes, size_t count) {
    if (!core_buffer_reserve(b, count))
        return false;
    if (count > 0)
        memcpy(b->data + b->size, bytes, count);
    b->size += count;
    return true;
}

void core_buffer_free(core_buffer *b) {
    if (b->data != NULL)
        explicit_bzero(b->data, b->capacity);
    core_free(b->data);
    *b = (core_buffer){0};
}
