/* u256.h - unsigned integers of 256 bits: just what sampling needs. */
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

static inline bool u256_is_zero(const u256 *a) {
    return (a->limb[0] | a->limb[1] | a->limb[2] | a->limb[3]) == 0;
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

/* a -= b, where b <= a. */
static inline void u256_subtract(u256 *a, const u256 *b) {
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        const u256_wide t = (u256_wide)a->limb[i] - b->limb[i] - borrow;
        a->limb[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
}

#endif
