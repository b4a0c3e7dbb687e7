/* order.c - follows orders that may be damaged. */
#include "order/order.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

/* The section: a head of 64 bytes, then four arrays, each at a multiple of 64. */
typedef struct order_head {
    order_shape shape;
    uint32_t zero[11];
} order_head;

_Static_assert(sizeof(order_head) == 64, "the head of the section has 64 bytes");

typedef struct order_layout {
    uint64_t sequence, groups, block_orders, lists, end;
} order_layout;

/* Places have 16 bits as long as all of them fit. */
static bool is_wide(const order_shape *s) {
    return s->outputs > 1 << 16;
}

static bool is_valid(const order_shape *s) {
    return s->outputs >= 1 && s->outputs <= s->words && s->words < (uint32_t)1 << 31 &&
           s->list >= 1 && s->list <= s->outputs && s->list <= ORDER_LIST_MAX && s->block >= 1 &&
           order_blocks(s) <= ORDER_BLOCKS_MAX && s->groups >= 1 && s->groups <= s->words;
}

static uint64_t aligned(uint64_t n) {
    return (n + 63) & ~(uint64_t)63;
}

/* Sizes are below 2^31 * 2^12 * 4, so nothing overflows. */
static order_layout layout_of(const order_shape *s) {
    order_layout at;
    at.sequence = sizeof(order_head);
    at.groups = at.sequence + aligned((uint64_t)s->outputs * sizeof(uint32_t));
    at.block_orders = at.groups + aligned((uint64_t)s->words * sizeof(uint32_t));
    at.lists = at.block_orders + aligned((uint64_t)s->groups * order_blocks(s) * sizeof(uint16_t));
    at.end = at.lists + aligned((uint64_t)s->words * s->list * (is_wide(s) ? 4 : 2));
    return at;
}

uint64_t order_bytes(const order_shape *shape) {
    return is_valid(shape) ? layout_of(shape).end : 0;
}

/* ---- opening ---- */

static tem_status refuse(tem_error *error) {
    return core_fail(error, TEM_ERR_DAMAGED, "the section with the order of the words is damaged");
}

/* Fills o->places. Every word of the sequence must be an output, and be there once; then all m
 * outputs are there. */
static bool find_places(rank_order *o, const uint32_t *excluded, uint32_t excluded_count) {
    memset(o->places, 0xff, o->shape.words * sizeof *o->places);
    for (uint32_t i = 0; i < excluded_count; i++)
        o->places[excluded[i]] = 0; /* taken */
    for (uint32_t place = 0; place < o->shape.outputs; place++) {
        const uint32_t word = o->sequence[place];
        if (word >= o->shape.words || o->places[word] != ORDER_NONE)
            return false;
        o->places[word] = place;
    }
    for (uint32_t i = 0; i < excluded_count; i++)
        o->places[excluded[i]] = ORDER_NONE;
    return true;
}

static bool are_groups_valid(const rank_order *o) {
    for (uint32_t w = 0; w < o->shape.words; w++)
        if (o->groups[w] >= o->shape.groups)
            return false;
    return true;
}

static void set_views(rank_order *o, const unsigned char *bytes) {
    const order_layout at = layout_of(&o->shape);
    o->sequence = (const uint32_t *)(const void *)(bytes + at.sequence);
    o->groups = (const uint32_t *)(const void *)(bytes + at.groups);
    o->block_orders = (const uint16_t *)(const void *)(bytes + at.block_orders);
    o->lists = bytes + at.lists;
    o->wide = is_wide(&o->shape);
    o->blocks = order_blocks(&o->shape);
}

void order_lay_out(rank_order *o, const order_shape *shape, unsigned char *bytes) {
    const order_head head = {.shape = *shape};
    memcpy(bytes, &head, sizeof head);
    *o = (rank_order){.shape = *shape, .bytes = bytes, .byte_count = order_bytes(shape)};
    set_views(o, bytes);
}

tem_status order_open(rank_order *o, const unsigned char *bytes, uint64_t count, uint32_t words,
                      const uint32_t *excluded, uint32_t excluded_count, tem_error *error) {
    static const uint32_t zero[11];
    order_head head;
    *o = (rank_order){0};
    if (count < sizeof head)
        return refuse(error);
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.zero, zero, sizeof zero) != 0 || head.shape.words != words ||
        head.shape.outputs != words - excluded_count || order_bytes(&head.shape) != count)
        return refuse(error);
    *o = (rank_order){.shape = head.shape, .bytes = bytes, .byte_count = count};
    set_views(o, bytes);
    o->places = core_alloc(words, sizeof *o->places);
    o->is_checked = core_alloc_zero(1, sizeof *o->is_checked);
    if (o->places == NULL || o->is_checked == NULL) {
        order_free(o);
        return core_fail_memory(error);
    }
    if (find_places(o, excluded, excluded_count) && are_groups_valid(o))
        return TEM_OK;
    order_free(o);
    return refuse(error);
}

void order_free(rank_order *o) {
    core_free(o->places);
    core_free(o->is_checked);
    lazy_order_free(o->lazy);
    if (o->owned)
        core_free((void *)(uintptr_t)o->bytes);
    *o = (rank_order){0};
}

/* ---- checking ---- */

static const uint16_t *blocks_of_group(const rank_order *o, uint32_t group) {
    return o->block_orders + (size_t)group * o->blocks;
}

static uint32_t listed_place(const rank_order *o, uint32_t w, uint32_t i) {
    const size_t at = (size_t)w * o->shape.list + i;
    return o->wide ? ((const uint32_t *)o->lists)[at] : ((const uint16_t *)o->lists)[at];
}

/* PRIVACY: step 1 of the proof: an order of blocks has each block once, and the last one last. */
static bool is_block_order(const rank_order *o, uint32_t group) {
    const uint16_t *blocks = blocks_of_group(o, group);
    bool seen[ORDER_BLOCKS_MAX] = {false};
    for (uint32_t i = 0; i < o->blocks; i++) {
        if (blocks[i] >= o->blocks || seen[blocks[i]])
            return false;
        seen[blocks[i]] = true;
    }
    return blocks[o->blocks - 1] == o->blocks - 1;
}

/* The word at a place of the path of a group. */
static uint32_t word_on_path(const rank_order *o, uint32_t group, uint32_t place) {
    const uint32_t block = blocks_of_group(o, group)[place / o->shape.block];
    return o->sequence[block * o->shape.block + place % o->shape.block];
}

/* PRIVACY: step 1 of the proof: a list has different places, so no word has two ranks; and an
 * output has rank 0 around itself. taken: a bit per place, all 0 before and after. */
static bool is_list(const rank_order *o, uint32_t w, uint64_t *taken) {
    bool is_right = true;
    uint32_t i = 0;
    for (; i < o->shape.list && is_right; i++) {
        const uint32_t p = listed_place(o, w, i);
        is_right = p < o->shape.outputs && (taken[p / 64] >> p % 64 & 1) == 0;
        if (is_right)
            taken[p / 64] |= (uint64_t)1 << p % 64;
    }
    while (i-- > 0)
        if (listed_place(o, w, i) < o->shape.outputs)
            taken[listed_place(o, w, i) / 64] = 0;
    return is_right && (o->places[w] == ORDER_NONE ||
                        word_on_path(o, o->groups[w], listed_place(o, w, 0)) == w);
}

tem_status order_check(const rank_order *o, tem_error *error) {
    if (atomic_load(o->is_checked))
        return TEM_OK;
    uint64_t *taken = core_alloc_zero(o->shape.outputs / 64 + 1, sizeof *taken);
    if (taken == NULL)
        return core_fail_memory(error);
    bool is_right = true;
    for (uint32_t group = 0; group < o->shape.groups && is_right; group++)
        is_right = is_block_order(o, group);
    for (uint32_t w = 0; w < o->shape.words && is_right; w++)
        is_right = is_list(o, w, taken);
    core_free(taken);
    if (!is_right)
        return refuse(error);
    atomic_store(o->is_checked, true);
    return TEM_OK;
}

/* ---- from ranks to words ---- */

/* Whoever follows the order around w calls this first. */
static inline void need(const rank_order *o, uint32_t w) {
    if (o->lazy != NULL)
        lazy_order_need(o->lazy, o, w);
}

/* How many places of a list are at most p. Loops that a compiler turns into vector instructions. */
static uint32_t count_narrow(const uint16_t *list, uint32_t count, uint16_t p) {
    uint16_t sum = 0; /* lists are shorter than 2^16 */
    for (uint32_t i = 0; i < count; i++)
        sum = (uint16_t)(sum + (list[i] <= p));
    return sum;
}

static uint32_t count_wide(const uint32_t *list, uint32_t count, uint32_t p) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += list[i] <= p;
    return sum;
}

static uint32_t listed_up_to(const rank_order *o, uint32_t w, uint32_t p) {
    const uint32_t count = o->shape.list;
    return o->wide
               ? count_wide((const uint32_t *)o->lists + (size_t)w * count, count, p)
               : count_narrow((const uint16_t *)o->lists + (size_t)w * count, count, (uint16_t)p);
}

/* Place number `number` of those that are not in the list, from 0. Of the places up to p as many
 * are not in the list as p + 1 less the listed ones. Steps up from below reach the least p for
 * which this is number + 1. */
static uint32_t unlisted_place(const rank_order *o, uint32_t w, uint32_t number) {
    uint32_t p = number;
    for (;;) {
        const uint32_t next = number + listed_up_to(o, w, p);
        if (next == p)
            return p;
        p = next;
    }
}

static uint32_t place_of_rank(const rank_order *o, uint32_t w, uint32_t rank) {
    return rank < o->shape.list ? listed_place(o, w, rank)
                                : unlisted_place(o, w, rank - o->shape.list);
}

uint32_t order_word(const rank_order *o, uint32_t w, uint32_t rank) {
    need(o, w);
    return word_on_path(o, o->groups[w], place_of_rank(o, w, rank));
}

static size_t list_bytes(const rank_order *o) {
    return (size_t)o->shape.list * (o->wide ? sizeof(uint32_t) : sizeof(uint16_t));
}

const void *order_list_start(const rank_order *o, uint32_t w) {
    need(o, w);
    return (const unsigned char *)o->lists + w * list_bytes(o);
}

uint32_t order_list_word(const rank_order *o, const void *start) {
    return (uint32_t)((size_t)((const unsigned char *)start - (const unsigned char *)o->lists) /
                      list_bytes(o));
}

const uint16_t *order_path(const rank_order *o, uint32_t w) {
    need(o, w);
    return blocks_of_group(o, o->groups[w]);
}

static inline void list_places(const rank_order *o, uint32_t w, uint32_t size, uint32_t *places) {
    const uint16_t *path = order_path(o, w);
    for (uint32_t i = 0; i < o->shape.list; i++) {
        const uint32_t p = listed_place(o, w, i);
        places[i] = path[p / size] * size + p % size;
    }
}

/* With a size that the compiler knows it needs no division. */
void order_list_places(const rank_order *o, uint32_t w, uint32_t *places) {
    if (o->shape.block == 16)
        list_places(o, w, 16, places);
    else
        list_places(o, w, o->shape.block, places);
}

/* Begins to load the part of a list that a rank needs. */
static void prefetch_list(const rank_order *o, uint32_t w, uint32_t rank) {
    const char *start = order_list_start(o, w);
    const size_t bytes = list_bytes(o);
    if (rank < o->shape.list)
        __builtin_prefetch(start + bytes / o->shape.list * rank);
    for (size_t at = 0; at < bytes && rank >= o->shape.list; at += 64)
        __builtin_prefetch(start + at);
}

/* Each pass loads what the next one needs: lists, orders of blocks, the sequence. */
void order_words_of(const rank_order *o, const uint32_t *inputs, uint32_t *outputs, size_t count) {
    const uint16_t *blocks[ORDER_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        if (inputs[i] != TEM_NO_WORD)
            prefetch_list(o, inputs[i], outputs[i]);
    for (size_t i = 0; i < count; i++)
        if (inputs[i] != TEM_NO_WORD) {
            outputs[i] = place_of_rank(o, inputs[i], outputs[i]);
            blocks[i] = blocks_of_group(o, o->groups[inputs[i]]) + outputs[i] / o->shape.block;
            __builtin_prefetch(blocks[i]);
        }
    for (size_t i = 0; i < count; i++)
        if (inputs[i] != TEM_NO_WORD) {
            outputs[i] = *blocks[i] * o->shape.block + outputs[i] % o->shape.block;
            __builtin_prefetch(&o->sequence[outputs[i]]);
        }
    for (size_t i = 0; i < count; i++)
        if (inputs[i] != TEM_NO_WORD)
            outputs[i] = o->sequence[outputs[i]];
    explicit_bzero(blocks, sizeof blocks); /* they tell the groups of the inputs */
}

/* ---- from words to ranks ---- */

/* Whether a place is in a list. As count_narrow. */
static bool has_narrow(const uint16_t *list, uint32_t count, uint16_t p) {
    uint16_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found |= list[i] == p;
    return found != 0;
}

uint32_t order_rank_on_path(const rank_order *o, uint32_t w, uint32_t p) {
    const uint32_t listed = listed_up_to(o, w, p), count = o->shape.list;
    if (o->wide ? listed > 0
                : has_narrow((const uint16_t *)o->lists + (size_t)w * count, count, (uint16_t)p))
        for (uint32_t i = 0; i < o->shape.list; i++)
            if (listed_place(o, w, i) == p)
                return i;
    return o->shape.list + p - listed;
}

/* Where a block stands in the order of a group. The group has been checked, so it stands there. */
static uint32_t place_of_block(const rank_order *o, uint32_t group, uint32_t block) {
    const uint16_t *blocks = blocks_of_group(o, group);
    uint32_t place = 0;
    for (uint32_t i = 0; i < o->blocks; i++)
        place |= blocks[i] == block ? i : 0;
    return place;
}

uint32_t order_rank(const rank_order *o, uint32_t w, uint32_t y) {
    const uint32_t at = o->places[y], size = o->shape.block;
    if (at == ORDER_NONE)
        return ORDER_NONE;
    need(o, w);
    return order_rank_on_path(o, w, place_of_block(o, o->groups[w], at / size) * size + at % size);
}

void order_ranks_of(const rank_order *o, uint32_t y, uint32_t first, uint32_t count,
                    uint32_t *ranks) {
    enum { GROUPS_MOST = 1 << 14 };
    for (uint32_t w = 0; o->lazy != NULL && w < o->shape.words; w++)
        lazy_order_need(o->lazy, o, w); /* all groups have their paths */
    const uint32_t at = o->places[y], size = o->shape.block, groups = o->shape.groups;
    uint16_t places[GROUPS_MOST]; /* of the block of y */
    const bool by_group = at != ORDER_NONE && groups <= GROUPS_MOST && groups <= count;
    for (uint32_t g = 0; g < groups && by_group; g++)
        places[g] = (uint16_t)place_of_block(o, g, at / size);
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = by_group ? order_rank_on_path(o, first + i,
                                                 places[o->groups[first + i]] * size + at % size)
                            : order_rank(o, first + i, y);
}

/* A list by place: the place, and the rank. */
typedef struct listed_word {
    uint32_t place, rank;
} listed_word;

static int compare_listed(const void *a, const void *b) {
    const listed_word *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The rank of the place p, by a list that is sorted by place. */
static uint32_t find_rank(const listed_word *listed, uint32_t count, uint32_t p) {
    uint32_t below = 0, above = count; /* listed places before `below` are less than p */
    while (below < above) {
        const uint32_t middle = below + (above - below) / 2;
        if (listed[middle].place < p)
            below = middle + 1;
        else
            above = middle;
    }
    return below < count && listed[below].place == p ? listed[below].rank : count + p - below;
}

/* Sorts the list of w by place. */
static void sort_list(const rank_order *o, uint32_t w, listed_word *listed) {
    for (uint32_t i = 0; i < o->shape.list; i++)
        listed[i] = (listed_word){listed_place(o, w, i), i};
    qsort(listed, o->shape.list, sizeof *listed, compare_listed);
}

void order_spread(const rank_order *o, uint32_t w, const double *values, double *out) {
    need(o, w);
    const uint32_t size = o->shape.block, length = o->shape.list;
    const uint16_t *blocks = blocks_of_group(o, o->groups[w]);
    listed_word listed[ORDER_LIST_MAX + 1];
    uint32_t next = 0, place = 0;
    const double *unlisted = values + length;
    sort_list(o, w, listed);
    listed[length].place = ORDER_NONE;
    memset(out, 0, o->shape.words * sizeof *out);
    for (uint32_t i = 0; i < o->blocks; i++) {
        const uint32_t first = blocks[i] * size, left = o->shape.outputs - first;
        const uint32_t count = left < size ? left : size;
        for (uint32_t k = 0; k < count; k++, place++)
            out[o->sequence[first + k]] =
                place == listed[next].place ? values[listed[next++].rank] : *unlisted++;
    }
}

void order_ranks(const rank_order *o, uint32_t w, uint32_t first, uint32_t count, uint32_t *ranks) {
    need(o, w);
    const uint32_t size = o->shape.block, length = o->shape.list;
    const uint16_t *blocks = blocks_of_group(o, o->groups[w]);
    listed_word listed[ORDER_LIST_MAX];
    uint16_t places[ORDER_BLOCKS_MAX]; /* of the blocks */
    sort_list(o, w, listed);
    for (uint32_t i = 0; i < o->blocks; i++)
        places[blocks[i]] = (uint16_t)i;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = o->places[first + i];
        ranks[i] = at == ORDER_NONE
                       ? ORDER_NONE
                       : find_rank(listed, length, places[at / size] * size + at % size);
    }
}
