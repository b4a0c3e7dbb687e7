/* blocks.c - the words cut into blocks that fit the cache. */
#include "index/blocks.h"

#include "index/neighbours.h"
#include "space/kernels/kernels.h"

enum {
    BLOCK_BYTES = 128 * 1024, /* of the codes of a block: an eighth of a usual L2 */
    BLOCK_UNIT = 96,          /* words */
    BLOCK_MAX = 1920
};
_Static_assert(BLOCK_UNIT % TILE_ROWS == 0 && BLOCK_UNIT % TILE_COLUMNS == 0, "whole tiles");

static uint32_t clamp(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

/* All blocks of a part are alike, but for what rounding to whole tiles takes from the last. */
blocks blocks_of(const space *s) {
    const uint32_t row_bytes = s->dimension == 0 ? 1024 : s->dimension;
    const uint32_t most = clamp(BLOCK_BYTES / row_bytes, BLOCK_UNIT, BLOCK_MAX);
    blocks b = {.words = s->count, .part_words = neighbours_part_words(s->count)};
    const uint32_t pieces = (b.part_words + most - 1) / most;
    const uint32_t words = (b.part_words + pieces - 1) / pieces;
    b.capacity = (words + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
    b.per_part = (b.part_words + b.capacity - 1) / b.capacity;
    b.count = b.per_part * NEIGHBOUR_PARTS;
    return b;
}

uint32_t blocks_first(const blocks *b, uint32_t block) {
    const uint64_t first = (uint64_t)blocks_part(b, block) * b->part_words +
                           (uint64_t)(block % b->per_part) * b->capacity;
    return first < b->words ? (uint32_t)first : b->words;
}

uint32_t blocks_size(const blocks *b, uint32_t block) {
    const uint32_t in_part = b->part_words - block % b->per_part * b->capacity;
    const uint32_t in_words = b->words - blocks_first(b, block);
    return clamp(in_part < in_words ? in_part : in_words, 0, b->capacity);
}
