/* root.h - integer square roots, exact. */
#ifndef SPACE_ROOT_H
#define SPACE_ROOT_H

#include <stdint.h>

__extension__ typedef unsigned __int128 uint128;

/* The largest r with r * r <= v. */
uint64_t root_floor(uint128 v);

/* The smallest r with r * r >= v, where that is below 2^64. */
uint64_t root_ceil(uint128 v);

/* The same for 64 bits, several times as fast: the inner loops use this one. */
uint64_t root_ceil64(uint64_t v);

#endif
