/* nearest_keys.h - selects the K smallest of many keys, for one word.
 *
 * A candidate is one 64-bit key, distance << 32 | id, so that comparing keys compares (distance,
 * id). In memory a key is exactly a tem_neighbour {id, distance}: sorted keys ARE the word's list.
 * (Little-endian, as the model file is.)
 *
 * Callers collect keys in any order. From time to time nearest_select moves the K smallest to the
 * front, and the caller drops the others. */
#ifndef INDEX_NEAREST_KEYS_H
#define INDEX_NEAREST_KEYS_H

#include <stdint.h>

static inline uint64_t nearest_key(uint32_t id, uint32_t distance) {
    return (uint64_t)distance << 32 | id;
}

/* Moves the `least` smallest of `count` different keys to the front, in any order, and returns the
 * largest of them; 1 <= least <= count. */
uint64_t nearest_select(uint64_t *keys, uint32_t count, uint32_t least);

/* Sorts different keys, smallest first. */
void nearest_sort(uint64_t *keys, uint32_t count);

#endif
