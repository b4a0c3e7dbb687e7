/* angle.c - the angle of two vectors, in integer arithmetic.
 *
 * The point (ab, sqrt(aa bb - ab^2)) has radius |a||b| and the angle of the vectors.
 * CORDIC (Volder 1959) rotates the point to the x axis by angles whose tangents are
 * powers of two, and adds up these angles. It needs only shifts and additions.
 * libm's acos or atan2 would be faster, but two machines may disagree in the last bit.
 * One machine would then refuse a neighbor list that the other has sorted.
 *
 * Error, in radians. The point is scaled so that its radius is 2^56 to 2^57. The
 * square root and the two scalings are off by less than 2 units: 2^-55. Each of the
 * 44 rotations rounds both coordinates down to an integer, by at most 1 unit each: 44 *
 * 2^-55 < 2^-49. Each table entry is off by at most 2^-49: 44 * 2^-49 < 2^-43. The
 * angle that remains after the last rotation is below atan(2^-43). The sum is below
 * 2^-41. tests/unit/test_metric.c compares the result with MPFR. */
#include "space/integer_math.h"

enum { ROTATIONS = 44, RADIUS_BITS = 57 };

/* atan(2^-i) in units of 2^-48, rounded to nearest. */
static const int64_t rotation_angle[ROTATIONS] = {
    221069929750889,
    130505199945453,
    68955363498242,
    35002819193903,
    17569333089919,
    8793231387230,
    4397688649582,
    2198978517948,
    1099506035422,
    549755114839,
    274877819563,
    137438942549,
    68719475371,
    34359738197,
    17179869163,
    8589934589,
    4294967296,
    2147483648,
    1073741824,
    536870912,
    268435456,
    134217728,
    67108864,
    33554432,
    16777216,
    8388608,
    4194304,
    2097152,
    1048576,
    524288,
    262144,
    131072,
    65536,
    32768,
    16384,
    8192,
    4096,
    2048,
    1024,
    512,
    256,
    128,
    64,
    32,
};

static const int64_t half_turn = 884279719003555; /* pi */

static int bit_length(uint128 v) {
    int bits = 0;
    for (; v != 0; v >>= 1)
        bits++;
    return bits;
}

/* Returns the angle of (x, y), x >= 0, y >= 0, not both 0. */
static int64_t first_quadrant(int64_t x, int64_t y) {
    int64_t angle = 0;
    for (int i = 0; i < ROTATIONS; i++) {
        int64_t dx = x >> i, dy = y >> i; /* arithmetic shifts: towards minus infinity */
        if (y > 0) {
            x += dy;
            y -= dx;
            angle += rotation_angle[i];
        } else {
            x -= dy;
            y += dx;
            angle -= rotation_angle[i];
        }
    }
    return angle < 0 ? 0 : angle;
}

uint64_t angle_between(uint64_t aa, uint64_t bb, int64_t ab) {
    const uint64_t ab_size = ab < 0 ? 0 - (uint64_t)ab : (uint64_t)ab;
    const uint128 radius2 = (uint128)aa * bb, cos2 = (uint128)ab_size * ab_size;
    if (radius2 == 0 || cos2 > radius2) /* no two vectors have such products */
        return 0;
    const uint128 sin2 = radius2 - cos2;

    /* radius * 2^shift is within 2^56 to 2^57. sin2 is shifted before the root, so that
     * short vectors lose no precision. */
    const int shift = RADIUS_BITS - (bit_length(radius2) + 1) / 2;
    int64_t x = 0, y = 0;
    if (shift >= 0) {
        x = (int64_t)(ab_size << shift);
        y = (int64_t)root_floor(sin2 << (2 * shift));
    } else {
        x = (int64_t)(ab_size >> -shift);
        y = (int64_t)(root_floor(sin2) >> -shift);
    }
    int64_t angle = first_quadrant(x, y);
    return (uint64_t)(ab < 0 ? half_turn - angle : angle);
}
