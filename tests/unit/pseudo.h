/* pseudo.h - pseudo-random numbers for tests: the same in every run. */
#ifndef TESTS_PSEUDO_H
#define TESTS_PSEUDO_H

#include <stddef.h>
#include <stdint.h>

static uint64_t random_state = 1;

/* Marsaglia's xorshift64*. */
static inline uint64_t random64(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

static inline size_t random_below(size_t bound) {
    return (size_t)(random64() % bound);
}

#endif
