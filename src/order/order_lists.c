/* order_lists.c - the list of one word, and what it is made of: candidates, the middles of groups.
 *
 * The list has the candidates that are nearest to a mean of the word, its ten nearest and its
 * group. Near words then have more alike lists. */
#include "order/order_lists.h"

#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"
#include "index/neighbours.h"
#include "space/kernels/kernels.h"

#include <string.h>

enum {
    AVERAGED = 10, /* nearest words that the query of a list takes the mean of */
    PREFETCH = 6,  /* how many candidates ahead to prefetch vectors */
    STEP_LOG2 = 13
};

/* ---- candidates ---- */

space order_space(const unit_points *points) {
    return (space){.metric = &metric_euclidean,
                   .count = points->count,
                   .dimension = points->dimension,
                   .row_elements = points->row_elements,
                   .step_log2 = STEP_LOG2,
                   .rows = points->rows};
}

void order_take_candidates(const uint32_t *places, uint32_t word, const tem_neighbour *near,
                           uint32_t near_count, uint32_t *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < near_count && count < ORDER_CANDIDATES; i++)
        if (near[i].id != word && places[near[i].id] != ORDER_NONE)
            out[count++] = near[i].id;
    while (count < ORDER_CANDIDATES)
        out[count++] = ORDER_NONE;
}

void order_find_candidates(const space *s, const uint32_t *places, uint32_t word, tem_dist *room,
                           uint64_t *keys, uint32_t *out) {
    const uint32_t wanted = neighbours_length(s->count, ORDER_CANDIDATES + 1, word);
    const uint32_t most = wanted < s->count ? wanted : s->count;
    space_distances(s, word, 0, s->count, room);
    for (uint32_t id = 0; id < s->count; id++)
        keys[id] = nearest_key(id, room[id]);
    nearest_select(keys, s->count, most);
    nearest_sort(keys, most);
    /* A key is a tem_neighbour (nearest_keys.h). */
    order_take_candidates(places, word, (const tem_neighbour *)(const void *)keys, most, out);
}

/* ---- middles ---- */

tem_status order_make_middles(const unit_points *p, const uint32_t *groups, uint32_t group_count,
                              int16_t **middles, tem_error *error) {
    const uint32_t elements = p->row_elements, dimension = p->dimension;
    int64_t *sums = core_alloc_zero((size_t)group_count * dimension, sizeof *sums);
    int16_t *made = core_alloc_zero((size_t)group_count * elements, sizeof *made);
    if (sums == NULL || made == NULL) {
        core_free(sums);
        core_free(made);
        return core_fail_memory(error);
    }
    for (uint32_t word = 0; word < p->count; word++)
        unit_add(sums + (size_t)groups[word] * dimension, unit_row(p, word), dimension);
    for (size_t group = 0; group < group_count; group++)
        unit_scale(sums + group * dimension, dimension, made + group * elements);
    core_free(sums);
    *middles = made;
    return TEM_OK;
}

/* ---- lists ---- */

tem_status order_lister_init(order_lister *l, tem_error *error) {
    l->group = ORDER_NONE;
    l->sum = core_alloc(l->points->dimension, sizeof *l->sum);
    l->query = core_alloc_zero(l->points->row_elements, sizeof *l->query);
    if (l->sum != NULL && l->query != NULL)
        return TEM_OK;
    order_lister_free(l);
    return core_fail_memory(error);
}

void order_lister_free(order_lister *l) {
    core_free(l->sum);
    core_free(l->query);
    l->sum = NULL;
    l->query = NULL;
}

static bool is_output(const order_lister *l, uint32_t word) {
    return l->places[word] != ORDER_NONE;
}

/* The query of a list: 2/5 of the word, 2/5 of the mean of its nearest, 1/5 of its group. */
static void make_query(const order_lister *l, uint32_t word, const uint32_t *near) {
    const uint32_t elements = l->points->row_elements, dimension = l->points->dimension;
    const int16_t *own = unit_row(l->points, word);
    const int16_t *middle = l->middles + (size_t)l->groups[word] * elements;
    memset(l->sum, 0, dimension * sizeof *l->sum);
    for (uint32_t i = 0; i < AVERAGED && near[i] != ORDER_NONE; i++)
        unit_add(l->sum, unit_row(l->points, near[i]), dimension);
    unit_scale(l->sum, dimension, l->query);
    for (uint32_t i = 0; i < dimension; i++)
        l->query[i] = (int16_t)((2 * own[i] + 2 * l->query[i] + middle[i]) / 5);
}

static void put_place(const order_lister *l, uint32_t word, uint32_t i, uint32_t place) {
    const size_t at = (size_t)word * l->shape.list + i;
    if (l->shape.outputs > 1 << 16)
        ((uint32_t *)(void *)l->lists)[at] = place;
    else
        ((uint16_t *)(void *)l->lists)[at] = (uint16_t)place;
}

static void prefetch_row(const order_lister *l, uint32_t word) {
    const char *row = (const char *)unit_row(l->points, word);
    for (size_t byte = 0; byte < l->points->row_elements * sizeof *l->points->rows; byte += 64)
        __builtin_prefetch(row + byte);
}

/* Fills `listed` with the words of a list, and returns how many there are: the word itself, or the
 * nearest output if the word is none; then the candidates by their product with the query. Fewer
 * than asked for if most words are excluded. */
static uint32_t choose_listed(const order_lister *l, uint32_t word, const uint32_t *near,
                              uint64_t *keys, uint32_t *listed) {
    const kernels *k = kernels_active();
    uint32_t found = 0, count = 0;
    for (; found < ORDER_CANDIDATES && near[found] != ORDER_NONE; found++) {
        const uint32_t ahead =
            found + PREFETCH < ORDER_CANDIDATES ? near[found + PREFETCH] : ORDER_NONE;
        if (ahead != ORDER_NONE)
            prefetch_row(l, ahead);
        const int64_t product =
            k->dot_i16(l->query, unit_row(l->points, near[found]), l->points->row_elements);
        keys[found] = nearest_key(near[found], (uint32_t)(((int64_t)1 << 31) - product));
    }
    if (found > l->shape.list)
        nearest_select(keys, found, l->shape.list); /* one more than is taken: the first word */
    found = found < l->shape.list ? found : l->shape.list;
    nearest_sort(keys, found);
    if (is_output(l, word) || found > 0)
        listed[count++] = is_output(l, word) ? word : near[0];
    for (uint32_t i = 0; i < found && count < l->shape.list; i++)
        if ((uint32_t)keys[i] != listed[0])
            listed[count++] = (uint32_t)keys[i];
    return count;
}

/* Sets block_places to those of the group of this word. */
static void take_group(order_lister *l, uint32_t word) {
    const uint32_t blocks = order_blocks(&l->shape), group = l->groups[word];
    const uint16_t *path = l->block_orders + (size_t)group * blocks;
    if (group == l->group)
        return;
    for (uint32_t i = 0; i < blocks; i++)
        l->block_places[path[i]] = (uint16_t)i;
    l->group = group;
}

/* Writes a list as places on the path of the group. A list that is too short goes on with the first
 * places of the path that it does not have. */
static void put_list(const order_lister *l, uint32_t word, const uint32_t *listed, uint32_t count) {
    uint32_t taken[ORDER_CANDIDATES + 1];
    const uint32_t size = l->shape.block;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = l->places[listed[i]];
        taken[i] = l->block_places[at / size] * size + at % size;
        put_place(l, word, i, taken[i]);
    }
    for (uint32_t place = 0; count < l->shape.list; place++) {
        bool is_new = true;
        for (uint32_t i = 0; i < count; i++)
            is_new &= taken[i] != place;
        if (!is_new)
            continue;
        taken[count] = place;
        put_place(l, word, count++, place);
    }
}

void order_make_list(order_lister *l, uint32_t word, const uint32_t *near) {
    uint64_t keys[ORDER_CANDIDATES];
    uint32_t listed[ORDER_CANDIDATES + 1];
    make_query(l, word, near);
    take_group(l, word);
    put_list(l, word, listed, choose_listed(l, word, near, keys, listed));
}
