/* root.c - integer square roots, exact.
 *
 * Newton's iteration on integers. It falls monotonically from any start that is
 * not below the root, and stops exactly at the floor of the root; no floating
 * point takes part. A step from any start lands at or above the floor of the root,
 * so the 64-bit form may take a fixed three from a good start and then walk down. */
#include "space/root.h"

static int bit_length(uint128 v) {
    uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
    if (high != 0)
        return 128 - __builtin_clzll(high);
    return low == 0 ? 0 : 64 - __builtin_clzll(low);
}

uint64_t root_floor(uint128 v) {
    if (v == 0)
        return 0;
    uint128 r = (uint128)1 << ((bit_length(v) + 1) / 2); /* above the root */
    for (;;) {
        uint128 next = (r + v / r) / 2;
        if (next >= r)
            return (uint64_t)r;
        r = next;
    }
}

uint64_t root_ceil(uint128 v) {
    uint64_t r = root_floor(v);
    return (uint128)r * r == v ? r : r + 1;
}

static uint64_t root_floor64(uint64_t v) {
    if (v == 0)
        return 0;
    /* v = m / 4^shift with m in [2^62, 2^64). The tangent of sqrt(m) at 2^63 is
     * m / 2^32.5 + 2^30.5, above the root by at most 6.1 %; 2 makes up for the
     * bits that are cut. Three steps bring that to 0.2 %, 2e-6, 2e-12. */
    const int shift = __builtin_clzll(v) / 2;
    const uint64_t m = v << (2 * shift);
    uint64_t r = ((m >> 32) * 3037000500u >> 32) + 1518500250u + 2;
    r = (r >> shift) + 1;
    r = (r + v / r) / 2;
    r = (r + v / r) / 2;
    r = (r + v / r) / 2;
    while ((uint128)r * r > v)
        r--;
    return r;
}

uint64_t root_ceil64(uint64_t v) {
    uint64_t r = root_floor64(v);
    return r * r == v ? r : r + 1;
}
