/* lists.c - the lists and bounds of all words, while neighbours_build fills them. */
#include "index/lists.h"

#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"

#include <string.h>

_Static_assert(sizeof(tem_neighbour) == sizeof(uint64_t) &&
                   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "a key is read as a tem_neighbour");

/* The capacity of a list exceeds its length by a spare: a quarter of the length, at least
 * SPARE_MIN. With a smaller spare lists are cut more often; with a larger one cutoffs are older. A
 * quarter and a half of the length differ by less than the noise. */
enum { SPARE_MIN = 16 };

static uint32_t capacity_for(uint32_t length, uint32_t words) {
    const uint32_t spare = length / 4 > SPARE_MIN ? length / 4 : SPARE_MIN;
    return words - length < spare ? words : length + spare;
}

static void fill(_Atomic(tem_dist) *distances, size_t count, tem_dist distance) {
    for (size_t i = 0; i < count; i++)
        atomic_init(&distances[i], distance);
}

tem_status lists_init(lists *l, const blocks *b, uint32_t length, bool is_even, tem_error *error) {
    const size_t words = b->words;
    *l = (lists){
        .words = b->words, .range_words = b->range_words, .length = length, .is_even = is_even};
    l->starts = core_alloc(words + 1, sizeof *l->starts);
    if (l->starts == NULL)
        return core_fail_memory(error);
    l->starts[0] = 0;
    for (uint32_t id = 0; id < b->words; id++)
        l->starts[id + 1] = l->starts[id] + capacity_for(lists_length(l, id), b->words);
    l->keys = core_alloc(l->starts[words], sizeof *l->keys);
    l->used = core_alloc_zero(words, sizeof *l->used);
    l->farthest = core_alloc(words, sizeof *l->farthest);
    l->bounds = core_alloc(words * NEIGHBOUR_RANGES, sizeof *l->bounds);
    l->locks = core_alloc(b->count, sizeof *l->locks);
    if (l->keys == NULL || l->used == NULL || l->farthest == NULL || l->bounds == NULL ||
        l->locks == NULL)
        return core_fail_memory(error);
    fill(l->farthest, words, UINT32_MAX);
    /* No distance lowers a bound of 0, and it raises no cutoff: as if there were no bounds. */
    fill(l->bounds, words * NEIGHBOUR_RANGES, is_even ? 0 : UINT32_MAX);
    for (; l->lock_count < b->count; l->lock_count++)
        if (pthread_mutex_init(&l->locks[l->lock_count], NULL) != 0)
            return core_fail_memory(error);
    return TEM_OK;
}

void lists_free(lists *l) {
    for (uint32_t i = 0; i < l->lock_count; i++)
        pthread_mutex_destroy(&l->locks[i]);
    core_free(l->locks);
    core_free(l->bounds);
    core_free(l->farthest);
    core_free(l->used);
    core_free(l->keys);
    core_free(l->starts);
    *l = (lists){0};
}

void lists_lock(lists *l, uint32_t block) {
    pthread_mutex_lock(&l->locks[block]);
}

void lists_unlock(lists *l, uint32_t block) {
    pthread_mutex_unlock(&l->locks[block]);
}

/* Lowers the bound of `id` for the range of a word that its list leaves out.
 * PRIVACY: every word that a list leaves out passes through here, except words already known to be
 * at or beyond the bound. */
static void leave_out(lists *l, uint32_t id, uint64_t key) {
    const uint32_t range = (uint32_t)key / l->range_words;
    _Atomic(tem_dist) *bound = &l->bounds[(size_t)range * l->words + id];
    if ((tem_dist)(key >> 32) < atomic_load_explicit(bound, memory_order_relaxed))
        atomic_store_explicit(bound, (tem_dist)(key >> 32), memory_order_relaxed);
}

/* Leaves only the nearest words in the list, as many as its length, and lowers `farthest` to the
 * last of them. */
static void cut(lists *l, uint32_t id) {
    uint64_t *keys = l->keys + l->starts[id];
    const uint32_t length = lists_length(l, id);
    const tem_dist last = (tem_dist)(nearest_select(keys, l->used[id], length) >> 32);
    for (uint32_t i = length; i < l->used[id]; i++)
        leave_out(l, id, keys[i]);
    l->used[id] = length;
    if (last < atomic_load_explicit(&l->farthest[id], memory_order_relaxed))
        atomic_store_explicit(&l->farthest[id], last, memory_order_relaxed);
}

void lists_offer(lists *l, uint32_t id, uint32_t other, tem_dist distance) {
    const uint64_t key = nearest_key(other, distance);
    if (distance > atomic_load_explicit(&l->farthest[id], memory_order_relaxed)) {
        leave_out(l, id, key);
        return;
    }
    l->keys[l->starts[id] + l->used[id]++] = key;
    /* When the list first reaches its length, cut removes nothing, but it lowers the cutoff. */
    if (l->used[id] == lists_length(l, id) || l->used[id] == l->starts[id + 1] - l->starts[id])
        cut(l, id);
}

void lists_expect(lists *l, uint32_t id, tem_dist farthest,
                  const tem_dist bounds[NEIGHBOUR_RANGES]) {
    atomic_store_explicit(&l->farthest[id], farthest, memory_order_relaxed);
    for (uint32_t range = 0; range < NEIGHBOUR_RANGES && !l->is_even; range++)
        atomic_store_explicit(&l->bounds[(size_t)range * l->words + id], bounds[range],
                              memory_order_relaxed);
}

void lists_finish(lists *l, uint32_t id) {
    cut(l, id);
    nearest_sort(l->keys + l->starts[id], lists_length(l, id));
}

static void copy_bounds(const lists *l, tem_dist *out) {
    for (size_t id = 0; id < l->words; id++)
        for (size_t range = 0; range < NEIGHBOUR_RANGES; range++)
            *out++ = atomic_load_explicit(&l->bounds[range * l->words + id], memory_order_relaxed);
}

/* Moves the lists together, so that no spare room is left between them. */
static void close_up(lists *l) {
    uint64_t end = 0;
    for (uint32_t id = 0; id < l->words; id++) {
        const uint32_t length = lists_length(l, id);
        memmove(l->keys + end, l->keys + l->starts[id], length * sizeof *l->keys);
        l->starts[id] = end;
        end += length;
    }
    l->starts[l->words] = end;
}

tem_status lists_take(lists *l, neighbour_index *out, tem_error *error) {
    tem_dist *bounds = core_alloc((size_t)l->words * NEIGHBOUR_RANGES, sizeof *bounds);
    if (bounds == NULL)
        return core_fail_memory(error);
    copy_bounds(l, bounds);
    close_up(l);
    *out = (neighbour_index){.count = l->words,
                             .starts = l->starts,
                             .entries = (const tem_neighbour *)(const void *)l->keys,
                             .entry_count = l->starts[l->words],
                             .bounds = bounds};
    l->keys = NULL;
    l->starts = NULL;
    return TEM_OK;
}

tem_neighbour *lists_take_even(lists *l) {
    tem_neighbour *entries = (tem_neighbour *)(void *)l->keys;
    close_up(l);
    l->keys = NULL;
    return entries;
}
