/* order_lazy.c - an order whose paths and lists are computed when they are first asked for.
 *
 * A browser has no time to build an order, and nobody wants to download one: that of the default
 * model has 24 MB. Sequence and groups need all pairs of words, and have 0.3 MB: they are given.
 * The path of a group takes one pass over all words, and so does the list of a word.
 *
 * PRIVACY: the order must be the one that its hash names: that of order_build, bit for bit
 * (test_rank_order compares them). So paths and lists are permutations, as order_check would
 * find. */
#include "core/memory.h"
#include "core/status.h"
#include "order/order_build.h"
#include "order/order_lists.h"

#include <string.h>

struct lazy_order {
    const unit_points *points;
    order_lister lister;
    uint16_t *block_orders;
    int16_t *middles;
    bool *has_path, *has_list; /* per group, per word */
    tem_dist *room;            /* for one word or path at a time */
    uint64_t *keys;
    int32_t *best;
};

void lazy_order_free(lazy_order *z) {
    if (z == NULL)
        return;
    order_lister_free(&z->lister);
    core_free(z->middles);
    core_free(z->has_path);
    core_free(z->has_list);
    core_free(z->room);
    core_free(z->keys);
    core_free(z->best);
    core_free(z);
}

static tem_status allocate(lazy_order *z, const rank_order *o, tem_error *error) {
    z->has_path = core_alloc_zero(o->shape.groups, sizeof *z->has_path);
    z->has_list = core_alloc_zero(o->shape.words, sizeof *z->has_list);
    z->room = core_alloc(o->shape.words, sizeof *z->room);
    z->keys = core_alloc(o->shape.words, sizeof *z->keys);
    z->best = core_alloc(o->blocks, sizeof *z->best);
    return z->has_path == NULL || z->has_list == NULL || z->room == NULL || z->keys == NULL ||
                   z->best == NULL
               ? core_fail_memory(error)
               : TEM_OK;
}

/* Gives an order that is open what it needs to fill itself. */
static tem_status attach(rank_order *o, const unit_points *points, tem_error *error) {
    lazy_order *z = core_alloc_zero(1, sizeof *z);
    if (z == NULL)
        return core_fail_memory(error);
    o->lazy = z;
    z->points = points;
    z->block_orders = (uint16_t *)(uintptr_t)o->block_orders;
    TRY(allocate(z, o, error));
    TRY(order_make_middles(points, o->groups, o->shape.groups, &z->middles, error));
    z->lister = (order_lister){.points = points,
                               .shape = o->shape,
                               .places = o->places,
                               .groups = o->groups,
                               .middles = z->middles,
                               .block_orders = o->block_orders,
                               .lists = (unsigned char *)(uintptr_t)o->lists};
    return order_lister_init(&z->lister, error);
}

tem_status order_build_lazy(const unit_points *points, const order_shape *shape,
                            const uint32_t *sequence, const uint32_t *groups,
                            const uint32_t *excluded, uint32_t excluded_count, rank_order *out,
                            tem_error *error) {
    rank_order made;
    const uint64_t count = order_bytes(shape);
    if (count == 0 || shape->words != points->count || shape->list > ORDER_CANDIDATES)
        return core_fail(error, TEM_ERR_ARGUMENT, "the shape of the order does not fit the points");
    unsigned char *bytes = core_alloc(count, 1); /* not zeroed: most of it is never touched */
    if (bytes == NULL)
        return core_fail_memory(error);
    order_lay_out(&made, shape, bytes);
    memcpy((uint32_t *)(uintptr_t)made.sequence, sequence, shape->outputs * sizeof *sequence);
    memcpy((uint32_t *)(uintptr_t)made.groups, groups, shape->words * sizeof *groups);
    tem_status status =
        order_open(&made, bytes, count, shape->words, excluded, excluded_count, error);
    if (status != TEM_OK) {
        core_free(bytes);
        return status;
    }
    made.owned = true;
    atomic_store(made.is_checked, true); /* lists are not there yet; this process makes them */
    status = attach(&made, points, error);
    if (status == TEM_OK)
        *out = made;
    else
        order_free(&made);
    return status;
}

static void need_path(lazy_order *z, const rank_order *o, uint32_t group) {
    if (z->has_path[group])
        return;
    order_sort_group(z->points, o->sequence, &o->shape,
                     z->middles + (size_t)group * z->points->row_elements, z->best, z->keys,
                     z->block_orders + (size_t)group * o->blocks);
    z->has_path[group] = true;
}

void lazy_order_need(lazy_order *z, const rank_order *o, uint32_t w) {
    uint32_t near[ORDER_CANDIDATES];
    if (z->has_list[w])
        return;
    const space s = order_space(z->points);
    need_path(z, o, o->groups[w]);
    order_find_candidates(&s, o->places, w, z->room, z->keys, near);
    order_make_list(&z->lister, w, near);
    z->has_list[w] = true;
}
