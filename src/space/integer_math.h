/* integer_math.h - square roots and angles in integer arithmetic. */
#ifndef SPACE_INTEGER_MATH_H
#define SPACE_INTEGER_MATH_H

#include <stdint.h>

/* ---- square roots, exact ---- */

__extension__ typedef unsigned __int128 uint128;

/* Returns the largest r with r * r <= v. */
uint64_t root_floor(uint128 v);

/* Returns the smallest r with r * r >= v, which must be below 2^64. */
uint64_t root_ceil(uint128 v);

/* As root_ceil, for 64 bits and several times as fast. The inner loops use it. */
uint64_t root_ceil64(uint64_t v);

/* ---- the angle of two vectors ---- */

/* Bits after the binary point in the result of angle_between. */
enum { ANGLE_FRACTION_BITS = 48 };

/* Returns the angle in [0, pi] of two nonzero vectors, in units of 2^-48, from their
 * scalar products: aa = a.a, bb = b.b (1 to 2^62), ab = a.b. The error is below 2^-40
 * radians, far less than the 2^-16/3 that metric_angular.c allows. A damaged file can
 * give products that no two vectors have (ab * ab > aa * bb, or aa or bb 0); the
 * result is then 0. */
uint64_t angle_between(uint64_t aa, uint64_t bb, int64_t ab);

#endif
