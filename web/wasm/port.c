/* port.c - what libtem's core takes from the operating system, for WebAssembly: memory, random
 * bytes, one thread, and no files. */
#include "port.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "io/file.h"
#include "model/vectors.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- random bytes ---- */

unsigned char entropy_pool[ENTROPY_BYTES];
size_t entropy_left;

ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    (void)flags;
    if (count > entropy_left) {
        errno = EIO;
        return -1;
    }
    unsigned char *from = entropy_pool + entropy_left - count;
    if (count > 0) {
        memcpy(bytes, from, count);
        explicit_bzero(from, count);
    }
    entropy_left -= count;
    return (ssize_t)count;
}

/* libsodium's own would look for the best code for this machine, and for a random source. Here is
 * one machine, and the pool is the only source. */
int sodium_init(void) {
    return 0;
}

/* The two functions that libtem needs of a file of libsodium that wants signals and guard pages. */
void sodium_memzero(void *bytes, size_t count) {
    explicit_bzero(bytes, count);
}

_Noreturn void sodium_misuse(void) {
    abort();
}

/* ---- memory ---- */

/* Pages are ordinary memory here: for large buffers, and for the page in which rng.c counts
 * forks. */
void *mmap(void *at, size_t bytes, int protection, int flags, int descriptor, long long offset) {
    (void)at, (void)protection, (void)flags, (void)descriptor, (void)offset;
    void *block = core_alloc_zero(1, bytes);
    return block == NULL ? MAP_FAILED : block;
}

/* PRIVACY: core_remap promises that nothing stays at the old address. */
void *mremap(void *block, size_t old_bytes, size_t bytes, int flags) {
    (void)flags;
    void *moved = core_alloc_zero(1, bytes);
    if (moved == NULL)
        return MAP_FAILED;
    memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
    core_free_erased(block, old_bytes);
    return moved;
}

int munmap(void *block, size_t bytes) {
    (void)bytes;
    core_free(block);
    return 0;
}

int madvise(void *block, size_t bytes, int advice) {
    (void)block, (void)bytes, (void)advice;
    return 0;
}

/* ---- the system ---- */

long sysconf(int name) {
    (void)name;
    return 65536; /* rng.c asks for the size of a page */
}

/* rng.c would print here before it ends the program. There is nowhere to print to. */
ssize_t write(int descriptor, const void *bytes, size_t count) {
    (void)descriptor, (void)bytes;
    return (ssize_t)count;
}

_Noreturn void abort(void) {
    __builtin_trap();
}

/* libc's streams: vsnprintf would write to stderr before it ends the program. */
size_t __stdio_write(FILE *file, const unsigned char *bytes, size_t count);
size_t __stdio_write(FILE *file, const unsigned char *bytes, size_t count) {
    (void)file, (void)bytes, (void)count;
    abort();
}

int __stdio_close(FILE *file);
int __stdio_close(FILE *file) {
    (void)file;
    return 0;
}

off_t __stdio_seek(FILE *file, off_t offset, int from);
off_t __stdio_seek(FILE *file, off_t offset, int from) {
    (void)file, (void)offset, (void)from;
    return -1;
}

/* Of libc's allocator. libc's own function would print. */
_Noreturn void __assert_fail(const char *what, const char *file, int line, const char *function);
_Noreturn void __assert_fail(const char *what, const char *file, int line, const char *function) {
    (void)what, (void)file, (void)line, (void)function;
    abort();
}

/* ---- files: there are none ---- */

/* Of a language model that was made in memory. */
void file_close(file_view *view) {
    core_free((void *)(uintptr_t)view->data);
    *view = (file_view){0};
}

/* Vectors come as .temv alone. The readers of text and word2vec files would bring in libc's numbers
 * and locales. */
static tem_status fail_format(tem_error *error) {
    return core_fail(error, TEM_ERR_UNSUPPORTED, "this build reads vectors on the grid alone");
}

tem_status vectors_read_text(const vectors_source *source, vectors_raw *raw, tem_error *error) {
    (void)source, (void)raw;
    return fail_format(error);
}

tem_status vectors_read_binary(const vectors_source *source, vectors_raw *raw, tem_error *error) {
    (void)source, (void)raw;
    return fail_format(error);
}

vectors_line vectors_text_line(const char *start, const char *end, uint64_t dimension) {
    (void)start, (void)end, (void)dimension;
    return (vectors_line){0};
}

/* ---- threads: there is one ---- */

unsigned core_thread_count(const tem_run *run) {
    (void)run;
    return 1;
}

tem_status core_parallel(const tem_run *run, const char *stage, uint64_t count, core_task *task,
                         void *context, tem_error *error) {
    for (uint64_t item = 0; item < count; item++) {
        const tem_status status = core_progress(run, stage, item, count, error);
        if (status != TEM_OK)
            return status;
        task(context, item, 0);
    }
    return TEM_OK;
}

tem_status core_progress(const tem_run *run, const char *stage, uint64_t done, uint64_t total,
                         tem_error *error) {
    if (run == NULL || run->progress == NULL ||
        run->progress(run->progress_context, stage, done, total) == 0)
        return TEM_OK;
    return core_fail(error, TEM_ERR_CANCELLED, "cancelled");
}

void core_atomic_least(atomic_uint_fast64_t *least, uint64_t value) {
    if (value < *least)
        *least = value;
}
