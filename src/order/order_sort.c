/* order_sort.c - sorts the blocks for each group: by the member of the block that is nearest to the
 * middle of the group.
 *
 * By the middle of the block instead, nearest neighbors lose 6.3 instead of 5.4: it says little
 * about the nearest member (docs/RANK.md).
 *
 * That takes the scalar product of each word with the middle of each group, 119 million for the
 * default model: the inner loop of a matrix product (tile_dots). The words are columns, packed once
 * in the order of the sequence; groups are rows. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "index/nearest_keys.h"
#include "order/order_build.h"
#include "space/kernels/kernels.h"

#include <stdatomic.h>

enum {
    GROUPS_AT_ONCE = 48, /* their rows stay in the cache while all words pass by */
    STRIPS = GROUPS_AT_ONCE / TILE_ROWS
};
_Static_assert(GROUPS_AT_ONCE % TILE_ROWS == 0, "whole strips");

typedef struct block_sorter {
    const unit_points *points;
    const uint32_t *sequence;
    const order_shape *shape;
    const int16_t *middles;
    const kernels *kernels;
    uint32_t blocks;
    size_t pairs;     /* of elements */
    int16_t *columns; /* as tile_vectors.columns, tile after tile */
    uint16_t *orders;
    atomic_bool no_memory;
} block_sorter;

static uint32_t tiles_of(const block_sorter *b) {
    return (b->shape->outputs + TILE_COLUMNS - 1) / TILE_COLUMNS;
}

/* A core_task: packs the words of one tile; after the last word zeros. */
static void pack_tile(void *context, uint64_t tile, unsigned thread) {
    const block_sorter *b = context;
    int16_t *to = b->columns + tile * TILE_COLUMNS * b->pairs * 2;
    (void)thread;
    for (uint32_t c = 0; c < TILE_COLUMNS; c++) {
        const uint64_t place = tile * TILE_COLUMNS + c;
        const int16_t *row =
            place < b->shape->outputs ? unit_row(b->points, b->sequence[place]) : NULL;
        for (size_t e = 0; e < b->pairs * 2; e++)
            to[(e / 2 * TILE_COLUMNS + c) * 2 + e % 2] = row != NULL ? row[e] : 0;
    }
}

/* Rows are padded with zeros, so an odd dimension needs no care. */
static void pack_middles(const block_sorter *b, uint32_t first, uint32_t count, int16_t *strips) {
    for (uint32_t g = 0; g < GROUPS_AT_ONCE; g++) {
        const int16_t *row =
            g < count ? b->middles + (size_t)(first + g) * b->points->row_elements : NULL;
        int16_t *to = strips + (size_t)(g / TILE_ROWS) * TILE_ROWS * b->pairs * 2;
        for (size_t e = 0; e < b->pairs * 2; e++)
            to[(e / 2 * TILE_ROWS + g % TILE_ROWS) * 2 + e % 2] = row != NULL ? row[e] : 0;
    }
}

/* Raises the best product of each block of one tile. Products fit int32. */
static void raise_best(const block_sorter *b, uint32_t tile, uint32_t count, const uint32_t *dots,
                       int32_t *best) {
    const uint32_t first = tile * TILE_COLUMNS, size = b->shape->block;
    const uint32_t left = b->shape->outputs - first;
    const uint32_t words = left < TILE_COLUMNS ? left : TILE_COLUMNS;
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t c = 0; c < words;) {
            const uint32_t block = (first + c) / size, after = (block + 1) * size - first;
            const uint32_t end = after < words ? after : words;
            int32_t most = best[(size_t)g * b->blocks + block];
            for (; c < end; c++) {
                const int32_t product = (int32_t)dots[g * TILE_COLUMNS + c];
                most = product > most ? product : most;
            }
            best[(size_t)g * b->blocks + block] = most;
        }
}

/* Sorts the blocks of one group: the largest product first, ties by number, the last block last. */
static void sort_blocks(const block_sorter *b, const int32_t *best, uint64_t *keys, uint16_t *out) {
    const uint32_t last = b->blocks - 1;
    for (uint32_t block = 0; block < last; block++)
        keys[block] = nearest_key(block, (uint32_t)(((int64_t)1 << 31) - best[block]));
    if (last > 0)
        nearest_sort(keys, last);
    for (uint32_t i = 0; i < last; i++)
        out[i] = (uint16_t)keys[i];
    out[last] = (uint16_t)last;
}

void order_sort_group(const unit_points *p, const uint32_t *sequence, const order_shape *shape,
                      const int16_t *middle, int32_t *best, uint64_t *keys, uint16_t *order) {
    const block_sorter b = {.blocks = order_blocks(shape)};
    const kernels *k = kernels_active();
    for (uint32_t block = 0; block < b.blocks; block++)
        best[block] = INT32_MIN;
    for (uint32_t place = 0; place < shape->outputs; place++) {
        const int32_t product =
            (int32_t)k->dot_i16(middle, unit_row(p, sequence[place]), p->row_elements);
        int32_t *most = &best[place / shape->block];
        *most = product > *most ? product : *most;
    }
    sort_blocks(&b, best, keys, order);
}

static void sort_for(const block_sorter *b, uint32_t first, int16_t *strips, int32_t *best,
                     uint64_t *keys) {
    uint32_t dots[GROUPS_AT_ONCE * TILE_COLUMNS];
    const uint32_t left = b->shape->groups - first;
    const uint32_t count = left < GROUPS_AT_ONCE ? left : GROUPS_AT_ONCE;
    pack_middles(b, first, count, strips);
    for (size_t i = 0; i < (size_t)count * b->blocks; i++)
        best[i] = INT32_MIN;
    for (uint32_t tile = 0; tile < tiles_of(b); tile++) {
        const tile_vectors vectors = {.rows = strips,
                                      .columns =
                                          b->columns + (size_t)tile * TILE_COLUMNS * b->pairs * 2,
                                      .strips = STRIPS,
                                      .pairs = b->pairs};
        b->kernels->tile_dots(&vectors, dots);
        raise_best(b, tile, count, dots, best);
    }
    for (uint32_t g = 0; g < count; g++)
        sort_blocks(b, best + (size_t)g * b->blocks, keys,
                    b->orders + (size_t)(first + g) * b->blocks);
}

/* A core_task: the orders of GROUPS_AT_ONCE groups. */
static void sort_for_groups(void *context, uint64_t item, unsigned thread) {
    block_sorter *b = context;
    int16_t *strips = core_alloc((size_t)GROUPS_AT_ONCE * b->pairs * 2, sizeof *strips);
    int32_t *best = core_alloc((size_t)GROUPS_AT_ONCE * b->blocks, sizeof *best);
    uint64_t *keys = core_alloc(b->blocks, sizeof *keys);
    (void)thread;
    if (strips == NULL || best == NULL || keys == NULL)
        atomic_store(&b->no_memory, true);
    else
        sort_for(b, (uint32_t)item * GROUPS_AT_ONCE, strips, best, keys);
    core_free(strips);
    core_free(best);
    core_free(keys);
}

tem_status order_sort_blocks(const unit_points *p, const uint32_t *sequence,
                             const order_shape *shape, const int16_t *middles, const tem_run *run,
                             uint16_t *orders, tem_error *error) {
    block_sorter b = {.points = p,
                      .sequence = sequence,
                      .shape = shape,
                      .middles = middles,
                      .kernels = kernels_active(),
                      .blocks = order_blocks(shape),
                      .pairs = (p->dimension + (size_t)1) / 2,
                      .orders = orders};
    const uint32_t items = (shape->groups - 1) / GROUPS_AT_ONCE + 1;
    b.columns = core_alloc((size_t)tiles_of(&b) * TILE_COLUMNS, b.pairs * 2 * sizeof *b.columns);
    if (b.columns == NULL)
        return core_fail_memory(error);
    tem_status status = core_parallel(run, "packing", tiles_of(&b), pack_tile, &b, error);
    if (status == TEM_OK)
        status = core_parallel(run, "ordering blocks", items, sort_for_groups, &b, error);
    core_free(b.columns);
    return status == TEM_OK && atomic_load(&b.no_memory) ? core_fail_memory(error) : status;
}
