/* below.h - which random words rng_below maps to a number, derived here from its description.
 * test_rng checks that rng_below agrees. */
#ifndef TESTS_BELOW_H
#define TESTS_BELOW_H

#include <stdint.h>

__extension__ typedef unsigned __int128 below_wide;

/* A range of random words, first to last. */
typedef struct below_words {
    uint64_t first, last;
} below_words;

/* The random words that give `value`, which is below bound: those with value * 2^64 <= word * bound
 * < (value + 1) * 2^64. Some values have one word more than others; there rng_below skips the first
 * word, whose distance above value * 2^64 is less than 2^64 mod bound. */
static inline below_words below_words_of(uint64_t value, uint64_t bound) {
    const below_wide one = (below_wide)1 << 64, low = value * one;
    below_words w = {(uint64_t)((low + bound - 1) / bound),
                     (uint64_t)((low + one + bound - 1) / bound - 1)};
    if (w.first * (below_wide)bound - low < one % bound)
        w.first++;
    return w;
}

#endif
