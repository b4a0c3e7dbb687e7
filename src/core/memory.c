/* memory.c - the only place that allocates. */
#include "core/memory.h"

#include "core/fault.h"

#include <stdlib.h>
#include <string.h>

void *core_alloc(size_t count, size_t size) {
    size_t bytes = 0;
    if (core_fault() || __builtin_mul_overflow(count, size, &bytes) ||
        bytes > PTRDIFF_MAX - CORE_ALIGNMENT)
        return NULL;
    if (bytes == 0)
        bytes = 1;
    return aligned_alloc(CORE_ALIGNMENT, core_round_up(bytes, CORE_ALIGNMENT));
}

void *core_alloc_zero(size_t count, size_t size) {
    void *block = core_alloc(count, size);
    if (block != NULL)
        memset(block, 0, count * size);
    return block;
}

void *core_resize(void *block, size_t bytes) {
    if (core_fault() || bytes > PTRDIFF_MAX)
        return NULL;
    return realloc(block, bytes == 0 ? 1 : bytes);
}

void core_free(void *block) {
    free(block);
}
