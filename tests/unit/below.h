/* below.h - which random words rng_below makes into a number, worked out here from its
 * description. test_rng asks rng_below whether that is so. */
#ifndef TESTS_BELOW_H
#define TESTS_BELOW_H

#include <stdint.h>

__extension__ typedef unsigned __int128 below_wide;

/* All words from first to last. */
typedef struct below_words {
    uint64_t first, last;
} below_words;

/* The words that give `value`, less than bound. word * bound is value * 2^64 or above, and
 * below (value + 1) * 2^64; one more word than the others have is passed over, the first,
 * where what is above value * 2^64 is less than 2^64 mod bound. */
static inline below_words below_words_of(uint64_t value, uint64_t bound) {
    const below_wide one = (below_wide)1 << 64, low = value * one;
    below_words w = {(uint64_t)((low + bound - 1) / bound),
                     (uint64_t)((low + one + bound - 1) / bound - 1)};
    if (w.first * (below_wide)bound - low < one % bound)
        w.first++;
    return w;
}

#endif
