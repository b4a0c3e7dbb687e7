/* order_build.h - makes orders from vectors, or from distances.
 *
 * Integers decide everything, and ties go to the lower id. So every machine makes the same
 * order. */
#ifndef ORDER_ORDER_BUILD_H
#define ORDER_ORDER_BUILD_H

#include "order/order.h"
#include "order/unit_points.h"

/* Numbers of the user's; 0: chosen by the number of words. */
typedef struct order_wishes {
    uint32_t list;  /* words in a list */
    uint32_t block; /* words in a block */
    uint32_t group; /* the most words in a group */
} order_wishes;

/* Makes an order by closeness of points: the largest scalar product is the nearest. `excluded` has
 * the ids of words that are never outputs, ascending; not all words. Fails with TEM_ERR_RANGE
 * (wishes that make more than ORDER_BLOCKS_MAX blocks or lists that are too long), TEM_ERR_MEMORY
 * or TEM_ERR_CANCELLED. Free with order_free. */
tem_status order_build(const unit_points *points, const uint32_t *excluded, uint32_t excluded_count,
                       const order_wishes *wishes, const tem_run *run, rank_order *out,
                       tem_error *error);

/* Makes an order of which sequence and groups are known, both from order_build: of the same points,
 * words and wishes. Path and list of a word are computed when they are first needed. The order and
 * everything that follows it belong to one thread at a time. The points must live as long. Memory
 * for all lists is allocated, and written only where lists are computed: the bytes of the section
 * are not all there, so nobody can hash or save them; the caller sets known_hash. Fails with
 * TEM_ERR_ARGUMENT (shape), TEM_ERR_DAMAGED (sequence, groups) or TEM_ERR_MEMORY. Free with
 * order_free. */
tem_status order_build_lazy(const unit_points *points, const order_shape *shape,
                            const uint32_t *sequence, const uint32_t *groups,
                            const uint32_t *excluded, uint32_t excluded_count, rank_order *out,
                            tem_error *error);

/* Makes the order of a space without vectors, by its distances: every list has all outputs. At most
 * ORDER_LIST_MAX outputs, else TEM_ERR_UNSUPPORTED; TEM_ERR_MEMORY. Some seconds at most. */
tem_status order_build_by_distance(const space *s, const uint32_t *excluded,
                                   uint32_t excluded_count, rank_order *out, tem_error *error);

/* ---- the parts of order_build ---- */

/* Sets `sequence` to all outputs, such that every `block` words are near one another
 * (order_blocks.c). ids: the outputs, ascending. TEM_ERR_MEMORY. */
tem_status order_make_blocks(const unit_points *p, const uint32_t *ids, uint32_t count,
                             uint32_t block, uint32_t *sequence, tem_error *error);

/* Sets groups[w] to the group of each word, 0 to *group_count - 1 (order_groups.c). Words join
 * their nearest words, the closest pairs first, as long as a group has at most `most` words.
 * near: for each word its ORDER_JOINED nearest other words, or ORDER_NONE. TEM_ERR_MEMORY. */
enum { ORDER_JOINED = 5 };
tem_status order_make_groups(const unit_points *p, const uint32_t *near, uint32_t most,
                             uint32_t *groups, uint32_t *group_count, tem_error *error);

/* Sets the order of the blocks of each group (order_sort.c): the block whose nearest word to the
 * middle of the group is nearest comes first, ties by number; the last block is the last. middles:
 * a row of points->row_elements per group. orders: a row of blocks per group. TEM_ERR_MEMORY or
 * TEM_ERR_CANCELLED. */
tem_status order_sort_blocks(const unit_points *p, const uint32_t *sequence,
                             const order_shape *shape, const int16_t *middles, const tem_run *run,
                             uint16_t *orders, tem_error *error);

/* The same for the group with this middle. best: one per block; keys: one per block. */
void order_sort_group(const unit_points *p, const uint32_t *sequence, const order_shape *shape,
                      const int16_t *middle, int32_t *best, uint64_t *keys, uint16_t *order);

#endif
