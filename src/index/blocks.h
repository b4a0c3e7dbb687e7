/* blocks.h - the vocabulary divided into blocks that fit the cache.
 *
 * A block is a sequence of ids within one range (neighbours.h). So a word has one bound for all
 * words of a block. Every block has the same number of slots. The last blocks of a range may have
 * words in fewer of them, or in none. */
#ifndef INDEX_BLOCKS_H
#define INDEX_BLOCKS_H

#include "space/space.h"

typedef struct blocks {
    uint32_t words;
    uint32_t range_words; /* neighbours_range_words */
    uint32_t per_range;
    uint32_t capacity; /* slots per block: whole tiles of rows and of columns */
    uint32_t count;
} blocks;

blocks blocks_of(const space *s);

static inline uint32_t blocks_range(const blocks *b, uint32_t block) {
    return block / b->per_range;
}

/* The first word of the block, and how many words it has. */
uint32_t blocks_first(const blocks *b, uint32_t block);
uint32_t blocks_size(const blocks *b, uint32_t block);

static inline size_t blocks_slots(const blocks *b) {
    return (size_t)b->count * b->capacity;
}

static inline size_t blocks_slot(const blocks *b, uint32_t block, uint32_t index) {
    return (size_t)block * b->capacity + index;
}

#endif
