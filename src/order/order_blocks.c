/* order_blocks.c - cuts the outputs into blocks of near words: halves of halves.
 *
 * A part of several blocks is cut into two sides of whole blocks. The cut is along a direction: the
 * words with the least scalar products are on one side. The direction begins at the word that is
 * farthest from the mean of the part. Some times it becomes that from the mean of one side to the
 * mean of the other. */
#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"
#include "order/order_build.h"
#include "space/kernels/kernels.h"

#include <string.h>

enum { CUTS = 8 }; /* times that a direction is improved */

typedef struct cutter {
    const unit_points *points;
    const kernels *kernels;
    uint64_t *keys;   /* a word each of the part, by place: its product with the direction */
    uint64_t *sorted; /* the same, to select from */
    uint32_t *upper;  /* ids of the upper side, while they are moved */
    int64_t *lower_sum, *upper_sum;
    int64_t *sum; /* of all words of the part */
    int16_t *direction;
} cutter;

static void free_cutter(cutter *c) {
    core_free(c->keys);
    core_free(c->sorted);
    core_free(c->upper);
    core_free(c->lower_sum);
    core_free(c->upper_sum);
    core_free(c->sum);
    core_free(c->direction);
}

static tem_status init_cutter(cutter *c, const unit_points *p, uint32_t count, tem_error *error) {
    *c = (cutter){.points = p, .kernels = kernels_active()};
    c->keys = core_alloc(count, sizeof *c->keys);
    c->sorted = core_alloc(count, sizeof *c->sorted);
    c->upper = core_alloc(count, sizeof *c->upper);
    c->lower_sum = core_alloc(p->row_elements, sizeof *c->lower_sum);
    c->upper_sum = core_alloc(p->row_elements, sizeof *c->upper_sum);
    c->sum = core_alloc(p->row_elements, sizeof *c->sum);
    c->direction = core_alloc_zero(p->row_elements, sizeof *c->direction);
    if (c->keys != NULL && c->sorted != NULL && c->upper != NULL && c->lower_sum != NULL &&
        c->upper_sum != NULL && c->sum != NULL && c->direction != NULL)
        return TEM_OK;
    free_cutter(c);
    return core_fail_memory(error);
}

/* Sets the direction to b / b_count - a / a_count, scaled. */
static void set_direction(cutter *c, const int64_t *a, uint32_t a_count, const int64_t *b,
                          uint32_t b_count) {
    int64_t *difference = c->lower_sum; /* may be `a` */
    for (uint32_t i = 0; i < c->points->dimension; i++)
        difference[i] = b[i] * a_count - a[i] * b_count;
    unit_scale(difference, c->points->dimension, c->direction);
}

static void clear(const cutter *c, int64_t *sum) {
    memset(sum, 0, c->points->row_elements * sizeof *sum);
}

/* From the mean of the part to the word that is farthest from it. All words are at nearly the same
 * distance from the middle of the sphere, so that is the one with the least product with the
 * mean. */
static void begin_direction(cutter *c, const uint32_t *ids, uint32_t count) {
    const uint32_t dimension = c->points->dimension;
    clear(c, c->lower_sum);
    for (uint32_t i = 0; i < count; i++)
        unit_add(c->lower_sum, unit_row(c->points, ids[i]), dimension);
    memcpy(c->sum, c->lower_sum, dimension * sizeof *c->sum);
    unit_scale(c->lower_sum, dimension, c->direction);
    uint32_t farthest = ids[0];
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t product =
            c->kernels->dot_i16(c->direction, unit_row(c->points, ids[i]), c->points->row_elements);
        if (product < least) {
            least = product;
            farthest = ids[i];
        }
    }
    clear(c, c->upper_sum);
    unit_add(c->upper_sum, unit_row(c->points, farthest), dimension);
    set_direction(c, c->lower_sum, count, c->upper_sum, 1);
}

/* Fills the keys, and returns the largest one of the lower side. */
static uint64_t find_cut(cutter *c, const uint32_t *ids, uint32_t count, uint32_t lower) {
    const int64_t least = -((int64_t)1 << 31);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t product =
            c->kernels->dot_i16(c->direction, unit_row(c->points, ids[i]), c->points->row_elements);
        c->keys[i] = nearest_key(i, (uint32_t)(product - least)); /* |product| < 2^30 */
    }
    memcpy(c->sorted, c->keys, count * sizeof *c->keys);
    return nearest_select(c->sorted, count, lower);
}

static void improve_direction(cutter *c, const uint32_t *ids, uint32_t count, uint32_t lower,
                              uint64_t cut) {
    clear(c, c->lower_sum);
    for (uint32_t i = 0; i < count; i++)
        if (c->keys[i] <= cut)
            unit_add(c->lower_sum, unit_row(c->points, ids[i]), c->points->dimension);
    for (uint32_t i = 0; i < c->points->dimension; i++)
        c->upper_sum[i] = c->sum[i] - c->lower_sum[i];
    set_direction(c, c->lower_sum, lower, c->upper_sum, count - lower);
}

/* Moves `lower` words of a part to its front. Both sides stay in order of their ids. */
static void cut_part(cutter *c, uint32_t *ids, uint32_t count, uint32_t lower) {
    begin_direction(c, ids, count);
    uint64_t cut = find_cut(c, ids, count, lower);
    for (int i = 0; i < CUTS; i++) {
        improve_direction(c, ids, count, lower, cut);
        cut = find_cut(c, ids, count, lower);
    }
    uint32_t kept = 0, moved = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (c->keys[i] <= cut)
            ids[kept++] = ids[i];
        else
            c->upper[moved++] = ids[i];
    }
    memcpy(ids + kept, c->upper, moved * sizeof *ids);
}

/* The depth is at most 12: each side has half of the blocks, of which there are at most 4096. */
static void cut_into_blocks(cutter *c, uint32_t *ids, uint32_t count, uint32_t block) {
    const uint32_t blocks = (count - 1) / block + 1;
    if (blocks == 1)
        return;
    const uint32_t lower = blocks / 2 * block;
    cut_part(c, ids, count, lower);
    cut_into_blocks(c, ids, lower, block);
    cut_into_blocks(c, ids + lower, count - lower, block);
}

tem_status order_make_blocks(const unit_points *p, const uint32_t *ids, uint32_t count,
                             uint32_t block, uint32_t *sequence, tem_error *error) {
    cutter c;
    TRY(init_cutter(&c, p, count, error));
    memcpy(sequence, ids, count * sizeof *sequence);
    cut_into_blocks(&c, sequence, count, block);
    free_cutter(&c);
    return TEM_OK;
}
