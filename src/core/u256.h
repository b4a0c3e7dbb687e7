/* u256.h - unsigned integers of 256 bits, with the operations that the sampler needs. */
#ifndef CORE_U256_H
#define CORE_U256_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 u256_wide;

typedef struct u256 {
    uint64_t limb[4]; /* least significant first */
} u256;

static inline bool u256_less(const u256 *a, const u256 *b) {
    for (int i = 3; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i];
    return false;
}

/* The number of bits of a; a > 0. */
static inline unsigned u256_bits(const u256 *a) {
    unsigned top = 3;
    while (top > 0 && a->limb[top] == 0)
        top--;
    return 64 * top + 64 - (unsigned)__builtin_clzll(a->limb[top]);
}

/* The lowest 64 bits of a >> by; by < 256. */
static inline uint64_t u256_shifted(const u256 *a, unsigned by) {
    const unsigned limb = by / 64, bit = by % 64;
    const uint64_t high = limb < 3 && bit > 0 ? a->limb[limb + 1] << (64 - bit) : 0;
    return a->limb[limb] >> bit | high;
}

/* Whether factor * a + added < 2^64 * b; requires added < a. */
static inline bool u256_product_less(uint64_t factor, const u256 *a, const u256 *added,
                                     const u256 *b) {
    uint64_t left[5], carry = 0;
    for (int i = 0; i < 4; i++) {
        const u256_wide t = (u256_wide)a->limb[i] * factor + added->limb[i] + carry;
        left[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    left[4] = carry;
    for (int i = 4; i > 0; i--)
        if (left[i] != b->limb[i - 1])
            return left[i] < b->limb[i - 1];
    return false; /* the lowest limb of 2^64 * b is 0 */
}

/* sum += a * factor. The result must be below 2^256. */
static inline void u256_add_product(u256 *sum, const u256 *a, uint64_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        const u256_wide t = (u256_wide)a->limb[i] * factor + sum->limb[i] + carry;
        sum->limb[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

#endif
