/* memory.h - the only place that allocates.
 *
 * Sizes are given as count * size and checked for overflow. NULL means that there is no memory; the
 * caller reports it with core_fail_memory. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CORE_ALIGNMENT = 64 };

/* Uninitialized memory, aligned to CORE_ALIGNMENT. Never NULL for 0 bytes. */
void *core_alloc(size_t count, size_t size);

/* The same, zeroed. */
void *core_alloc_zero(size_t count, size_t size);

/* Changes the size of a block of core_alloc and returns its new address. Keeps the content, up to
 * the smaller of both sizes. Aligned as malloc does. On failure returns NULL, and the old block is
 * untouched. */
void *core_resize(void *block, size_t bytes);

void core_free(void *block);

/* The same for content that must not stay in memory: erases the first `bytes` bytes before it frees
 * the block. */
static inline void core_free_erased(void *block, size_t bytes) {
    if (block != NULL)
        explicit_bzero(block, bytes);
    core_free(block);
}

/* Whole pages, zeroed, for blocks that grow large. core_remap may move the pages to another address
 * and copies no byte: nothing stays at the old address. On failure it returns NULL, and the old
 * block is untouched. */
void *core_map(size_t bytes);
void *core_remap(void *block, size_t old_bytes, size_t bytes);
void core_unmap(void *block, size_t bytes);

/* n rounded up to a multiple of `unit`, a power of two. */
static inline size_t core_round_up(size_t n, size_t unit) {
    return (n + unit - 1) & ~(unit - 1);
}

#endif
