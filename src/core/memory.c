/* memory.c - the only place that allocates. */
#include "core/memory.h"

#include "core/fault.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

void *core_map(size_t bytes) {
    if (core_fault())
        return NULL;
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

void *core_remap(void *block, size_t old_bytes, size_t bytes) {
    if (core_fault())
        return NULL;
    void *moved = mremap(block, old_bytes, bytes, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
}

void core_unmap(void *block, size_t bytes) {
    munmap(block, bytes);
}
