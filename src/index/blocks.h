/* blocks.h - the words cut into blocks that fit the cache.
 *
 * A block is a run of ids within one range (neighbours.h), so that all of
 * its words share a bound of any other word. Every block has the same number of slots; the
 * last ones of a range may fill fewer of them, or none. */
#ifndef INDEX_BLOCKS_H
#define INDEX_BLOCKS_H

#include "space/space.h"

typedef struct blocks {
    uint32_t words;
    uint32_t range_words; /* neighbours_range_words */
    uint32_t per_range;
    uint32_t capacity; /* slots of a block: whole tiles of rows and of columns */
    uint32_t count;
} blocks;

blocks blocks_of(const space *s);

static inline uint32_t blocks_range(const blocks *b, uint32_t block) {
    return block / b->per_range;
}

/* The first word of the block, and how many there are. */
uint32_t blocks_first(const blocks *b, uint32_t block);
uint32_t blocks_size(const blocks *b, uint32_t block);

static inline size_t blocks_slots(const blocks *b) {
    return (size_t)b->count * b->capacity;
}

static inline size_t blocks_slot(const blocks *b, uint32_t block, uint32_t index) {
    return (size_t)block * b->capacity + index;
}

#endif
