/* bench_common.h - shared code of the benchmark programs.
 *
 * Each program does one measurement and prints one JSON object to stdout, which bench/run collects.
 * The programs use only the public tem.h, as a user does. They stop at the first failure: a number
 * from a run with a failure would be worthless. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <tem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_THREADS_MAX = 256 };

static inline double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline _Noreturn void bench_die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static inline void bench_need(tem_status status, const tem_error *error) {
    if (status != TEM_OK)
        bench_die(error->file, error->message);
}

/* Allocates memory, aligned to 64-byte lines, and touches it so that no page fault is timed. */
static inline void *bench_memory(size_t bytes) {
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL)
        bench_die("memory", "not enough");
    memset(memory, 1, bytes);
    return memory;
}

/* A whole number from the command line, from 1 to `most`. */
static inline uint64_t bench_number(const char *text, uint64_t most) {
    char *end = NULL;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > most)
        bench_die(text, "not a number in range");
    return value;
}

static inline double bench_real(const char *text) {
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0))
        bench_die(text, "not a positive number");
    return value;
}

/* A line of /proc/self/status, such as "VmHWM:", in bytes; 0 if it is missing. */
static inline uint64_t bench_memory_line(const char *name) {
    char line[256];
    uint64_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtoull(line + strlen(name), NULL, 10);
    if (status != NULL)
        fclose(status);
    return kilobytes * 1024;
}

/* Reads a whole file of 32-bit numbers; *count receives their number. */
static inline uint32_t *bench_read_u32(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        bench_die(path, "cannot be read");
    const long bytes = ftell(file);
    if (bytes < 4 || fseek(file, 0, SEEK_SET) != 0)
        bench_die(path, "is empty");
    *count = (size_t)bytes / 4;
    uint32_t *numbers = bench_memory(*count * 4);
    if (fread(numbers, 4, *count, file) != *count)
        bench_die(path, "cannot be read");
    fclose(file);
    return numbers;
}

/* Generator for tables and addresses, where any uniform spread will do (xorshift64*). */
static inline uint64_t bench_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

__extension__ typedef unsigned __int128 bench_u128; /* not ISO C, but every compiler used has it */

/* A number below `n` from 64 random bits. */
static inline uint64_t bench_below(uint64_t bits, uint64_t n) {
    return (uint64_t)(((bench_u128)bits * n) >> 64);
}

#endif
