/* angle.h - the angle of two vectors, in integers. */
#ifndef SPACE_ANGLE_H
#define SPACE_ANGLE_H

#include <stdint.h>

/* Bits after the point in what angle_between returns. */
enum { ANGLE_FRACTION_BITS = 48 };

/* The angle in [0, pi] of two vectors other than zero, in units of 2^-48, from
 * their scalar products: aa = a.a, bb = b.b (1 to 2^62), ab = a.b. The error is
 * below 2^-40, far from the 2^-16/3 that space.h allows. For numbers that no two
 * vectors have (ab * ab > aa * bb, from a damaged file) some number below 2^51. */
uint64_t angle_between(uint64_t aa, uint64_t bb, int64_t ab);

#endif
