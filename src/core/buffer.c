/* buffer.c - bytes that grow at their end. */
#include "core/buffer.h"

#include "core/memory.h"

#include <string.h>

/* A buffer of OWN_PAGES_BYTES or more has pages of its own, in multiples of PAGES_UNIT. */
enum { OWN_PAGES_BYTES = 1 << 20, PAGES_UNIT = 1 << 16 };

static bool has_own_pages(const core_buffer *b) {
    return b->capacity >= OWN_PAGES_BYTES;
}

/* Erases only the bytes that were touched: the rest of a large block takes no memory yet, and
 * writing to it would take memory. */
static void release(const core_buffer *b) {
    if (b->data == NULL)
        return;
    explicit_bzero(b->data, b->touched);
    if (has_own_pages(b))
        core_unmap(b->data, b->capacity);
    else
        core_free(b->data);
}

/* Moves the content to a block of this capacity and returns the block; NULL, and nothing changed,
 * if there is no memory. */
static char *grow(core_buffer *b, size_t capacity) {
    if (has_own_pages(b))
        return core_remap(b->data, b->capacity, capacity);
    char *grown = capacity >= OWN_PAGES_BYTES ? core_map(capacity) : core_alloc(capacity, 1);
    if (grown == NULL)
        return NULL;
    if (b->data != NULL) /* not realloc: the old block may hold private text */
        memcpy(grown, b->data, b->size);
    release(b);
    return grown;
}

/* Half as much more than needed, so that repeated growth costs little. */
static size_t capacity_for(size_t wanted) {
    const size_t capacity = wanted + wanted / 2 + 256;
    return capacity < OWN_PAGES_BYTES ? capacity : core_round_up(capacity, PAGES_UNIT);
}

bool core_buffer_reserve(core_buffer *b, size_t more) {
    size_t wanted = 0;
    if (__builtin_add_overflow(b->size, more, &wanted) || wanted > PTRDIFF_MAX)
        return false;
    if (wanted > b->capacity) {
        const size_t capacity = capacity_for(wanted);
        char *grown = grow(b, capacity);
        if (grown == NULL)
            return false;
        b->data = grown;
        b->capacity = capacity;
    }
    b->touched = wanted > b->touched ? wanted : b->touched;
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

void core_buffer_clear(core_buffer *b) {
    if (has_own_pages(b)) {
        core_buffer_free(b);
    } else if (b->data != NULL) {
        explicit_bzero(b->data, b->touched);
        b->size = b->touched = 0;
    }
}

char *core_buffer_take(core_buffer *b) {
    char *block = b->data;
    if (block == NULL || has_own_pages(b)) {
        block = core_alloc(b->size, 1);
        if (block == NULL)
            return NULL;
        if (b->size > 0)
            memcpy(block, b->data, b->size);
        release(b);
    }
    *b = (core_buffer){0};
    return block;
}

void core_buffer_free(core_buffer *b) {
    release(b);
    *b = (core_buffer){0};
}
