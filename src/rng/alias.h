/* alias.h - draws an entry in proportion to integer weights, exactly and with one random word.
 *
 * Walker's alias method in integers. For `count` entries of the weights v_i, with the sum V, there
 * are `count` columns of V units each. Entry i has v_i * count units: some in its own column, the
 * others in columns of entries that have too few. A unit is drawn uniformly from all columns. It
 * selects an entry: the column's own one below `owns`, else the column's `other`.
 *
 * The unit is the upper part of a number that is uniform below 2^64 V count. The number is word * V
 * count + remainder: `word` is a random word, and the remainder is uniform below V count. Nearly
 * always the word alone decides which entry the unit selects. alias_draw draws the remainder only
 * if the word does not decide: once in about 2^31 draws.
 * PRIVACY: with or without the remainder, the entry is the one that the whole number selects
 * (test_alias compares both on every edge of a column). */
#ifndef RNG_ALIAS_H
#define RNG_ALIAS_H

#include "rng/rng.h"

typedef struct alias_column {
    uint32_t own; /* the own part of the column in steps of 2^-32, rounded down; at most 2^32 - 1 */
    uint32_t other; /* the entry of the rest */
} alias_column;

/* Public values that never change: any number of threads may draw, each with its generator. */
typedef struct alias {
    uint32_t count;
    u256_wide total; /* V */
    alias_column *columns;
    u256_wide *owns; /* in units, exactly */
} alias;

/* Makes the columns for `count` weights; 1 to 2^32 - 1 of them. Fails with TEM_ERR_RANGE if all are
 * 0, TEM_ERR_MEMORY. Free with alias_free. */
tem_status alias_init(alias *a, const uint64_t *values, uint32_t count, tem_error *error);
void alias_free(alias *a);

/* Continues a draw whose first word does not decide. */
uint32_t alias_draw_exactly(const alias *a, uint64_t word, tem_rng *rng);

/* Draws entry i with probability v_i / V, exactly. */
static inline uint32_t alias_draw(const alias *a, tem_rng *rng) {
    const uint64_t word = rng_word(rng);
    const u256_wide place =
        (u256_wide)word * a->count; /* the column, and 64 bits of the place in it */
    const uint64_t least = (uint64_t)place, most = least + (a->count - 1);
    const alias_column *column = &a->columns[(uint32_t)(place >> 64)];
    /* Whatever the remainder is, the place is between these two. */
    if (least <= most && (uint32_t)(most >> 32) < column->own)
        return (uint32_t)(place >> 64);
    if (least <= most && (uint32_t)(least >> 32) > column->own)
        return column->other;
    return alias_draw_exactly(a, word, rng);
}

#endif
