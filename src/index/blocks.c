/* blocks.c - the vocabulary divided into blocks that fit the cache. */
#include "index/blocks.h"

#include "index/neighbours.h"
#include "space/kernels/kernels.h"

enum {
    BLOCK_BYTES = 128 * 1024, /* codes of a block; an eighth of a usual L2 cache */
    BLOCK_UNIT = 96,          /* words */
    BLOCK_MAX = 1920
};
_Static_assert(BLOCK_UNIT % TILE_ROWS == 0 && BLOCK_UNIT % TILE_COLUMNS == 0, "whole tiles");

static uint32_t clamp(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

/* All blocks of a range have the same size, except the last: rounding the others up to whole tiles
 * leaves fewer words for it. */
blocks blocks_of(const space *s) {
    const uint32_t row_bytes = s->dimension == 0 ? 1024 : s->dimension;
    const uint32_t most = clamp(BLOCK_BYTES / row_bytes, BLOCK_UNIT, BLOCK_MAX);
    blocks b = {.words = s->count, .range_words = neighbours_range_words(s->count)};
    const uint32_t pieces = (b.range_words + most - 1) / most;
    const uint32_t words = (b.range_words + pieces - 1) / pieces;
    b.capacity = (words + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
    b.per_range = (b.range_words + b.capacity - 1) / b.capacity;
    b.count = b.per_range * NEIGHBOUR_RANGES;
    return b;
}

uint32_t blocks_first(const blocks *b, uint32_t block) {
    const uint64_t first = (uint64_t)blocks_range(b, block) * b->range_words +
                           (uint64_t)(block % b->per_range) * b->capacity;
    return first < b->words ? (uint32_t)first : b->words;
}

uint32_t blocks_size(const blocks *b, uint32_t block) {
    const uint32_t in_range = b->range_words - block % b->per_range * b->capacity;
    const uint32_t in_words = b->words - blocks_first(b, block);
    return clamp(in_range < in_words ? in_range : in_words, 0, b->capacity);
}
