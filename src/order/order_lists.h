/* order_lists.h - the parts of an order that are made word by word. */
#ifndef ORDER_ORDER_LISTS_H
#define ORDER_ORDER_LISTS_H

#include "order/order.h"
#include "order/unit_points.h"

enum { ORDER_CANDIDATES = 384 };

/* The points as a space, in which candidates are near. Lives as long as the points. */
space order_space(const unit_points *points);

/* Sets out[0] to out[ORDER_CANDIDATES - 1] to the first outputs among `near`, without the word
 * itself; then ORDER_NONE. places: of each word in the sequence; ORDER_NONE: it is no output. */
void order_take_candidates(const uint32_t *places, uint32_t word, const tem_neighbour *near,
                           uint32_t near_count, uint32_t *out);

/* The same from the distances of all words. Of frequent words it looks at more near words
 * (neighbours_length). room, keys: one per word. */
void order_find_candidates(const space *s, const uint32_t *places, uint32_t word, tem_dist *room,
                           uint64_t *keys, uint32_t *out);

/* Sets *middles to a row of points->row_elements per group: the sum of its words, scaled.
 * TEM_ERR_MEMORY. Free with core_free. */
tem_status order_make_middles(const unit_points *p, const uint32_t *groups, uint32_t group_count,
                              int16_t **middles, tem_error *error);

/* Makes lists. One for each thread. */
typedef struct order_lister {
    const unit_points *points;
    order_shape shape;
    const uint32_t *places, *groups;
    const int16_t *middles;
    const uint16_t *block_orders; /* those of the words' groups are there */
    unsigned char *lists;         /* written */
    int64_t *sum;                 /* scratch */
    int16_t *query;
    uint32_t group;                          /* of the last word; ORDER_NONE: none yet */
    uint16_t block_places[ORDER_BLOCKS_MAX]; /* of each block in the order of that group */
} order_lister;

/* Allocates the scratch. TEM_ERR_MEMORY. Free with order_lister_free. */
tem_status order_lister_init(order_lister *l, tem_error *error);
void order_lister_free(order_lister *l);

/* Writes the list of a word. near: its candidates. Faster if the last word is of the same group. */
void order_make_list(order_lister *l, uint32_t word, const uint32_t *near);

#endif
