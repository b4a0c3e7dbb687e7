/* nearest_keys.h - the K least of many keys, for one word.
 *
 * A candidate is one 64-bit key, distance << 32 | id, so that comparing keys compares
 * (distance, id). In memory a key is exactly a tem_neighbour {id, distance}: sorted keys ARE
 * the word's list. (Little-endian; the model file is too.)
 *
 * Keys are collected in any order; now and then nearest_select throws out all but the K
 * least. */
#ifndef INDEX_NEAREST_KEYS_H
#define INDEX_NEAREST_KEYS_H

#include <stdint.h>

static inline uint64_t nearest_key(uint32_t id, uint32_t distance) {
    return (uint64_t)distance << 32 | id;
}

/* Moves the `least` least of `count` different keys to the front and returns the largest of
 * them; 1 <= least <= count. */
uint64_t nearest_select(uint64_t *keys, uint32_t count, uint32_t least);

/* Sorts, smallest first. */
void nearest_sort(uint64_t *keys, uint32_t count);

#endif
