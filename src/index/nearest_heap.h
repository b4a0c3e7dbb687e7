/* nearest_heap.h - the K best of many candidates, for one word.
 *
 * A candidate is one 64-bit key, distance << 32 | id, so that comparing keys compares
 * (distance, id). In memory a key is exactly a tem_neighbour {id, distance}: the
 * sorted heap IS the word's list. (Little-endian; the model file is too.)
 *
 * Up to its capacity a heap collects in any order; once full it is a binary heap with
 * the largest key first, and a smaller key replaces that. */
#ifndef INDEX_NEAREST_HEAP_H
#define INDEX_NEAREST_HEAP_H

#include <stdint.h>

static inline uint64_t nearest_key(uint32_t id, uint32_t distance) {
    return (uint64_t)distance << 32 | id;
}

/* Offers a key to a heap of *used out of `capacity` keys, all different. Returns the key
 * that is left out: the one offered, the one it replaced, or NEAREST_NONE. */
#define NEAREST_NONE UINT64_MAX
uint64_t nearest_offer(uint64_t *keys, uint32_t *used, uint32_t capacity, uint64_t key);

/* Sorts a full heap, smallest first. */
void nearest_sort(uint64_t *keys, uint32_t capacity);

#endif
