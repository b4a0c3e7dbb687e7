/* integer_math.h - square roots and angles in integers. */
#ifndef SPACE_INTEGER_MATH_H
#define SPACE_INTEGER_MATH_H

#include <stdint.h>

/* ---- square roots, exact ---- */

__extension__ typedef unsigned __int128 uint128;

/* The largest r with r * r <= v. */
uint64_t root_floor(uint128 v);

/* The smallest r with r * r >= v, where that is below 2^64. */
uint64_t root_ceil(uint128 v);

/* The same for 64 bits, several times as fast: the inner loops use this one. */
uint64_t root_ceil64(uint64_t v);

/* ---- the angle of two vectors ---- */

/* Bits after the point in what angle_between returns. */
enum { ANGLE_FRACTION_BITS = 48 };

/* The angle in [0, pi] of two vectors other than zero, in units of 2^-48, from
 * their scalar products: aa = a.a, bb = b.b (1 to 2^62), ab = a.b. The error is
 * below 2^-40, far from the 2^-16/3 that space.h allows. For numbers that no two
 * vectors have (ab * ab > aa * bb, from a damaged file) some number below 2^51. */
uint64_t angle_between(uint64_t aa, uint64_t bb, int64_t ab);

#endif
