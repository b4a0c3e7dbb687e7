/* memory.h - the only place that allocates.
 *
 * Sizes are given as count * size and checked for overflow. NULL means that the
 * memory is not to be had; the caller reports it with core_fail_memory. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CORE_ALIGNMENT = 64 };

/* Uninitialised memory, aligned to CORE_ALIGNMENT. Never NULL for 0 bytes. */
void *core_alloc(size_t count, size_t size);

/* The same, zeroed. */
void *core_alloc_zero(size_t count, size_t size);

/* A block of core_alloc moved to a new number of bytes, the old content kept up
 * to the lesser of the two; aligned as malloc does. On failure NULL, and the old
 * block is untouched. */
void *core_resize(void *block, size_t bytes);

void core_free(void *block);

/* The same for what must not stay in memory: the block's first `bytes` are erased. */
static inline void core_free_erased(void *block, size_t bytes) {
    if (block != NULL)
        explicit_bzero(block, bytes);
    core_free(block);
}

/* Whole pages, zeroed, for blocks that grow large. core_remap moves the pages to another address
 * and copies no byte: nothing stays where the block was. On failure NULL, and the old block is
 * untouched. */
void *core_map(size_t bytes);
void *core_remap(void *block, size_t old_bytes, size_t bytes);
void core_unmap(void *block, size_t bytes);

/* n rounded up to a multiple of `unit`, a power of two. */
static inline size_t core_round_up(size_t n, size_t unit) {
    return (n + unit - 1) & ~(unit - 1);
}

#endif
