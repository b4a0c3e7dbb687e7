/* root.c - integer square roots, exact.
 *
 * Newton's iteration on integers, without floating point. From any start that is not
 * below the root, it falls monotonically and stops exactly at the floor of the root.
 * A step from any start lands at or above the floor of the root. So the 64-bit form
 * takes exactly two steps from a good start, and then counts down to the floor. */
#include "space/integer_math.h"

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

/* sqrt((i + 64.5) * 2^24), rounded down: the root of a number by its first 8 bits. */
static const uint16_t first_root[192] = {
    32895, 33149, 33401, 33652, 33900, 34146, 34391, 34634, 34876, 35115, 35353, 35590, 35825,
    36058, 36290, 36521, 36750, 36977, 37203, 37428, 37652, 37874, 38095, 38314, 38532, 38749,
    38965, 39180, 39394, 39606, 39817, 40027, 40236, 40444, 40651, 40857, 41062, 41266, 41468,
    41670, 41871, 42071, 42270, 42468, 42665, 42861, 43056, 43251, 43444, 43637, 43829, 44020,
    44210, 44399, 44588, 44775, 44962, 45148, 45334, 45519, 45702, 45886, 46068, 46250, 46431,
    46611, 46791, 46970, 47148, 47326, 47503, 47679, 47854, 48029, 48204, 48377, 48550, 48723,
    48895, 49066, 49237, 49407, 49576, 49745, 49914, 50081, 50249, 50415, 50581, 50747, 50912,
    51076, 51240, 51404, 51567, 51729, 51891, 52053, 52213, 52374, 52534, 52693, 52852, 53011,
    53169, 53326, 53483, 53640, 53796, 53952, 54107, 54262, 54416, 54570, 54724, 54877, 55029,
    55182, 55333, 55485, 55636, 55786, 55937, 56086, 56236, 56385, 56533, 56681, 56829, 56977,
    57124, 57270, 57417, 57563, 57708, 57853, 57998, 58143, 58287, 58430, 58574, 58717, 58859,
    59002, 59144, 59285, 59427, 59568, 59708, 59849, 59989, 60128, 60268, 60407, 60546, 60684,
    60822, 60960, 61097, 61234, 61371, 61508, 61644, 61780, 61916, 62051, 62186, 62321, 62455,
    62589, 62723, 62857, 62990, 63123, 63256, 63388, 63521, 63652, 63784, 63915, 64047, 64177,
    64308, 64438, 64568, 64698, 64828, 64957, 65086, 65215, 65343, 65471,
};

static uint64_t root_floor64(uint64_t v) {
    if (v == 0)
        return 0;
    /* v = m / 4^shift with m in [2^62, 2^64). The table is off by at most 0.4 %. The first step
     * reduces that to 8e-6, the second to 4e-11, a sixth of a unit. */
    const int shift = __builtin_clzll(v) / 2;
    const uint64_t m = v << (2 * shift);
    uint64_t r = (((uint64_t)first_root[(m >> 56) - 64] << 16) >> shift) + 1;
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
