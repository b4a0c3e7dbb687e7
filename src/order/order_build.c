/* order_build.c - makes the order around every word.
 *
 *  1. Candidates: the nearest outputs of each word, by the index's exact search.
 *  2. The sequence and its blocks (order_blocks.c), the groups (order_groups.c).
 *  3. The order of the blocks of each group (order_sort.c).
 *  4. The list of each word: the candidates that are nearest to a mean of the word, its ten nearest
 *     and its group. Near words then have more alike lists. */
#include "order/order_build.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "index/nearest_keys.h"
#include "index/neighbours.h"
#include "order/order_lists.h"

#include <stdlib.h>
#include <string.h>

enum {
    USUAL_LIST = 128,
    USUAL_BLOCK = 16,
    USUAL_GROUP = 12,
    LARGE_GROUP = 32, /* of vocabularies above 2^16 words, whose orders of blocks would be large */
};

typedef struct order_builder {
    const unit_points *points;
    const uint32_t *excluded;
    uint32_t excluded_count;
    order_shape shape;
    uint32_t blocks;
    unsigned char *bytes; /* the section that is made */
    uint32_t *sequence, *groups;
    uint16_t *block_orders;
    unsigned char *lists;
    uint32_t
        *candidates;  /* ORDER_CANDIDATES per word: outputs other than the word, the nearest first,
                           * then ORDER_NONE */
    int16_t *middles; /* a row per group */
    uint32_t *places; /* of each word in the sequence, or ORDER_NONE */
    uint32_t *by_group; /* all words, group after group */
    atomic_bool no_memory;
} order_builder;

static bool is_output(const order_builder *b, uint32_t word) {
    return b->places[word] != ORDER_NONE;
}

/* ---- shape ---- */

static tem_status choose_shape(order_builder *b, const order_wishes *wishes, tem_error *error) {
    order_shape *s = &b->shape;
    s->words = b->points->count;
    s->outputs = s->words - b->excluded_count;
    s->list = wishes->list != 0 ? wishes->list : USUAL_LIST;
    s->block = wishes->block != 0 ? wishes->block : USUAL_BLOCK;
    while (wishes->block == 0 && order_blocks(s) > ORDER_BLOCKS_MAX)
        s->block *= 2;
    s->groups = 1;
    if (order_blocks(s) > ORDER_BLOCKS_MAX)
        return core_fail(error, TEM_ERR_RANGE, "blocks of %u words are too small: at least %u",
                         s->block, (s->outputs - 1) / ORDER_BLOCKS_MAX + 1);
    if (s->list > ORDER_CANDIDATES)
        return core_fail(error, TEM_ERR_RANGE, "lists of an order have at most %d words",
                         ORDER_CANDIDATES);
    if (s->list > s->outputs)
        s->list = s->outputs;
    if (s->words > (uint32_t)1 << 28)
        return core_fail(error, TEM_ERR_UNSUPPORTED, "too many words for an order");
    b->blocks = order_blocks(s);
    return TEM_OK;
}

static uint32_t group_most(const order_builder *b, const order_wishes *wishes) {
    if (wishes->group != 0)
        return wishes->group;
    return b->shape.words <= 1 << 16 ? USUAL_GROUP : LARGE_GROUP;
}

/* ---- candidates ---- */

/* Frequent words have all of their candidates, although excluded words are near: tem looks at all
 * words for those whose list of near words was too short. */
static void complete_candidates(order_builder *b, const space *s, uint32_t word, tem_dist *room,
                                uint64_t *keys) {
    uint32_t *near = b->candidates + (size_t)word * ORDER_CANDIDATES;
    if (near[ORDER_CANDIDATES - 1] == ORDER_NONE)
        order_find_candidates(s, b->places, word, room, keys, near);
}

static tem_status complete_frequent(order_builder *b, const space *s, tem_error *error) {
    const uint32_t frequent = s->count > ORDER_CANDIDATES ? s->count / NEIGHBOUR_FREQUENT : 0;
    tem_dist *room = core_alloc(s->count, sizeof *room);
    uint64_t *keys = core_alloc(s->count, sizeof *keys);
    const tem_status status = room == NULL || keys == NULL ? core_fail_memory(error) : TEM_OK;
    for (uint32_t word = 0; word < frequent && status == TEM_OK; word++)
        complete_candidates(b, s, word, room, keys);
    core_free(room);
    core_free(keys);
    return status;
}

static tem_status find_candidates(order_builder *b, const tem_run *run, tem_error *error) {
    const space s = order_space(b->points);
    tem_neighbour *near = NULL;
    const uint32_t wanted = ORDER_CANDIDATES + 1 < s.count ? ORDER_CANDIDATES + 1 : s.count;
    const tem_status status = neighbours_list(&s, wanted, run, &near, error);
    for (uint32_t word = 0; word < s.count && status == TEM_OK; word++)
        order_take_candidates(b->places, word, near + (size_t)word * wanted, wanted,
                              b->candidates + (size_t)word * ORDER_CANDIDATES);
    core_free(near);
    return status == TEM_OK ? complete_frequent(b, &s, error) : status;
}

/* ---- sequence and groups ---- */

static void mark_outputs(order_builder *b) {
    memset(b->places, 0, b->shape.words * sizeof *b->places);
    for (uint32_t i = 0; i < b->excluded_count; i++)
        b->places[b->excluded[i]] = ORDER_NONE;
}

static tem_status make_sequence(order_builder *b, tem_error *error) {
    uint32_t *ids = core_alloc(b->shape.outputs, sizeof *ids), count = 0;
    if (ids == NULL)
        return core_fail_memory(error);
    for (uint32_t word = 0; word < b->shape.words; word++)
        if (is_output(b, word))
            ids[count++] = word;
    const tem_status status =
        order_make_blocks(b->points, ids, count, b->shape.block, b->sequence, error);
    for (uint32_t place = 0; place < count && status == TEM_OK; place++)
        b->places[b->sequence[place]] = place;
    core_free(ids);
    return status;
}

static tem_status make_groups(order_builder *b, uint32_t most, tem_error *error) {
    uint32_t *near = core_alloc((size_t)b->shape.words * ORDER_JOINED, sizeof *near);
    if (near == NULL)
        return core_fail_memory(error);
    for (size_t word = 0; word < b->shape.words; word++)
        memcpy(near + word * ORDER_JOINED, b->candidates + word * ORDER_CANDIDATES,
               ORDER_JOINED * sizeof *near);
    const tem_status status =
        order_make_groups(b->points, near, most, b->groups, &b->shape.groups, error);
    core_free(near);
    return status;
}

/* ---- lists ---- */

enum { WORDS_AT_ONCE = 256 };

/* Sorts the words by group. Words of one group have one order of the blocks, and many candidates in
 * common, which then are in the cache. */
static tem_status sort_by_group(order_builder *b, tem_error *error) {
    uint32_t *next = core_alloc_zero(b->shape.groups + (size_t)1, sizeof *next);
    b->by_group = core_alloc(b->shape.words, sizeof *b->by_group);
    if (next == NULL || b->by_group == NULL) {
        core_free(next);
        return core_fail_memory(error);
    }
    for (uint32_t word = 0; word < b->shape.words; word++)
        next[b->groups[word] + 1]++;
    for (uint32_t group = 0; group < b->shape.groups; group++)
        next[group + 1] += next[group];
    for (uint32_t word = 0; word < b->shape.words; word++)
        b->by_group[next[b->groups[word]]++] = word;
    core_free(next);
    return TEM_OK;
}

/* A core_task: the lists of WORDS_AT_ONCE words. */
static void make_lists(void *context, uint64_t item, unsigned thread) {
    order_builder *b = context;
    const uint64_t first = item * WORDS_AT_ONCE, end = first + WORDS_AT_ONCE;
    order_lister lister = {.points = b->points,
                           .shape = b->shape,
                           .places = b->places,
                           .groups = b->groups,
                           .middles = b->middles,
                           .block_orders = b->block_orders,
                           .lists = b->lists};
    (void)thread;
    if (order_lister_init(&lister, NULL) != TEM_OK) {
        atomic_store(&b->no_memory, true);
        return;
    }
    for (uint64_t i = first; i < end && i < b->shape.words; i++)
        order_make_list(&lister, b->by_group[i],
                        b->candidates + (size_t)b->by_group[i] * ORDER_CANDIDATES);
    order_lister_free(&lister);
}

/* ---- all of it ---- */

/* Allocates the section, now that its shape is known, and moves what is made into it. */
static tem_status make_section(order_builder *b, rank_order *o, tem_error *error) {
    unsigned char *bytes = core_alloc_zero(order_bytes(&b->shape), 1);
    if (bytes == NULL)
        return core_fail_memory(error);
    order_lay_out(o, &b->shape, bytes);
    memcpy((uint32_t *)(uintptr_t)o->sequence, b->sequence, b->shape.outputs * sizeof *b->sequence);
    memcpy((uint32_t *)(uintptr_t)o->groups, b->groups, b->shape.words * sizeof *b->groups);
    b->block_orders = (uint16_t *)(uintptr_t)o->block_orders;
    b->lists = (unsigned char *)(uintptr_t)o->lists;
    return TEM_OK;
}

static tem_status check_memory(const order_builder *b, tem_error *error) {
    return atomic_load(&b->no_memory) ? core_fail_memory(error) : TEM_OK;
}

static tem_status fill_section(order_builder *b, const tem_run *run, tem_error *error) {
    const uint32_t word_items = (b->shape.words - 1) / WORDS_AT_ONCE + 1;
    TRY(order_sort_blocks(b->points, b->sequence, &b->shape, b->middles, run, b->block_orders,
                          error));
    TRY(sort_by_group(b, error));
    TRY(core_parallel(run, "listing words", word_items, make_lists, b, error));
    return check_memory(b, error);
}

/* Opens what was made as if it came from a file, so that it is checked in the same way. */
static tem_status take_section(const order_builder *b, rank_order *made, rank_order *out,
                               tem_error *error) {
    const unsigned char *bytes = made->bytes;
    const tem_status status = order_open(out, bytes, order_bytes(&b->shape), b->shape.words,
                                         b->excluded, b->excluded_count, error);
    if (status != TEM_OK)
        core_free((void *)(uintptr_t)bytes);
    out->owned = status == TEM_OK;
    return status;
}

static tem_status build_all(order_builder *b, const order_wishes *wishes, const tem_run *run,
                            rank_order *out, tem_error *error) {
    rank_order made = {0};
    mark_outputs(b);
    TRY(find_candidates(b, run, error));
    TRY(make_sequence(b, error));
    TRY(make_groups(b, group_most(b, wishes), error));
    TRY(order_make_middles(b->points, b->groups, b->shape.groups, &b->middles, error));
    TRY(make_section(b, &made, error));
    tem_status status = fill_section(b, run, error);
    if (status != TEM_OK) {
        core_free((void *)(uintptr_t)made.bytes);
        return status;
    }
    return take_section(b, &made, out, error);
}

tem_status order_build(const unit_points *points, const uint32_t *excluded, uint32_t excluded_count,
                       const order_wishes *wishes, const tem_run *run, rank_order *out,
                       tem_error *error) {
    order_builder b = {.points = points, .excluded = excluded, .excluded_count = excluded_count};
    tem_status status = choose_shape(&b, wishes, error);
    if (status != TEM_OK)
        return status;
    b.sequence = core_alloc(b.shape.outputs, sizeof *b.sequence);
    b.groups = core_alloc(b.shape.words, sizeof *b.groups);
    b.places = core_alloc(b.shape.words, sizeof *b.places);
    b.candidates = core_alloc((size_t)b.shape.words * ORDER_CANDIDATES, sizeof *b.candidates);
    if (b.sequence == NULL || b.groups == NULL || b.places == NULL || b.candidates == NULL)
        status = core_fail_memory(error);
    else
        status = build_all(&b, wishes, run, out, error);
    core_free(b.sequence);
    core_free(b.groups);
    core_free(b.places);
    core_free(b.candidates);
    core_free(b.by_group);
    core_free(b.middles);
    return status;
}

/* ---- by distances ---- */

/* The list of a word: itself, if it is an output, then all other outputs by distance. At most
 * ORDER_LIST_MAX outputs, so places have 16 bits. */
static void list_by_distance(const space *s, uint32_t word, const rank_order *o, uint64_t *keys) {
    uint16_t *list = (uint16_t *)(uintptr_t)o->lists + (size_t)word * o->shape.list;
    uint32_t own = 0;
    for (uint32_t place = 0; place < o->shape.outputs; place++) {
        const uint32_t y = o->sequence[place];
        if (y == word)
            own = place;
        keys[place] = y == word ? 0 : nearest_key(place + 1, space_distance(s, word, y));
    }
    nearest_sort(keys, o->shape.outputs);
    for (uint32_t i = 0; i < o->shape.outputs; i++)
        list[i] = (uint16_t)(keys[i] == 0 ? own : (uint32_t)keys[i] - 1);
}

/* One group, one block: the path is the sequence of all outputs by id. */
static void fill_plain(const space *s, const rank_order *o, const uint32_t *excluded,
                       uint32_t count, uint64_t *keys) {
    uint32_t *sequence = (uint32_t *)(uintptr_t)o->sequence, place = 0, next = 0;
    for (uint32_t word = 0; word < s->count; word++) {
        if (next < count && excluded[next] == word)
            next++;
        else
            sequence[place++] = word;
    }
    for (uint32_t word = 0; word < s->count; word++)
        list_by_distance(s, word, o, keys);
}

tem_status order_build_by_distance(const space *s, const uint32_t *excluded,
                                   uint32_t excluded_count, rank_order *out, tem_error *error) {
    const uint32_t outputs = s->count - excluded_count;
    order_builder b = {.excluded = excluded, .excluded_count = excluded_count};
    if (outputs > ORDER_LIST_MAX)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "without vectors an order has at most %d words", ORDER_LIST_MAX);
    b.shape = (order_shape){
        .words = s->count, .outputs = outputs, .list = outputs, .block = outputs, .groups = 1};
    rank_order made = {0};
    uint64_t *keys = core_alloc(outputs, sizeof *keys);
    unsigned char *bytes = core_alloc_zero(order_bytes(&b.shape), 1);
    if (keys == NULL || bytes == NULL) {
        core_free(keys);
        core_free(bytes);
        return core_fail_memory(error);
    }
    order_lay_out(&made, &b.shape, bytes);
    fill_plain(s, &made, excluded, excluded_count, keys);
    core_free(keys);
    return take_section(&b, &made, out, error);
}
