/* mman.h - the calls of core/memory.c and rng.c that port.c implements. */
#ifndef PORT_SYS_MMAN_H
#define PORT_SYS_MMAN_H

#include <stddef.h>

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32
#define MAP_FAILED ((void *)-1)
#define MREMAP_MAYMOVE 1
#define MADV_WIPEONFORK 18

void *mmap(void *at, size_t bytes, int protection, int flags, int descriptor, long long offset);
void *mremap(void *block, size_t old_bytes, size_t bytes, int flags);
int munmap(void *block, size_t bytes);
int madvise(void *block, size_t bytes, int advice);

#endif
