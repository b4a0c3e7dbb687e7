/* neighbours_lazy.c - an index whose lists and bounds are computed when they are first asked for.
 *
 * A browser has no time to build an index, and nobody wants to download one. A text needs the lists
 * of its own words only. The list of one word costs one pass over all words: compute the distances,
 * select the K least keys (distance, id), sort them. The other keys give the bounds.
 *
 * PRIVACY: list and bounds must be those of neighbours_build, bit for bit (test_index compares
 * both with brute force). The proof needs the bounds; seeded runs need the lists. */
#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"
#include "index/neighbours.h"

#include <string.h>

struct lazy_lists {
    const space *space;
    tem_neighbour *entries; /* those of the index, and its bounds */
    tem_dist *bounds;
    bool *ready;         /* per word: its list and bounds are there */
    tem_dist *distances; /* of one word from all words, and the same as keys */
    uint64_t *keys;
};

static tem_status allocate(neighbour_index *index, uint64_t *starts, tem_error *error) {
    const uint32_t count = index->count;
    lazy_lists *lazy = core_alloc_zero(1, sizeof *lazy);
    index->starts = starts;
    if (lazy == NULL)
        return core_fail_memory(error);
    index->lazy = lazy;
    index->entries = lazy->entries = core_alloc(index->entry_count, sizeof *lazy->entries);
    index->bounds = lazy->bounds = core_alloc((size_t)count * NEIGHBOUR_RANGES, sizeof(tem_dist));
    lazy->ready = core_alloc_zero(count, sizeof *lazy->ready);
    lazy->distances = core_alloc(count, sizeof *lazy->distances);
    lazy->keys = core_alloc(count, sizeof *lazy->keys);
    const bool failed = lazy->entries == NULL || lazy->bounds == NULL || lazy->ready == NULL ||
                        lazy->distances == NULL || lazy->keys == NULL;
    return failed ? core_fail_memory(error) : TEM_OK;
}

tem_status neighbours_build_lazy(const space *s, uint32_t length, neighbour_index *out,
                                 tem_error *error) {
    uint64_t *starts = core_alloc(s->count + (size_t)1, sizeof *starts);
    if (starts == NULL)
        return core_fail_memory(error);
    starts[0] = 0;
    for (uint32_t id = 0; id < s->count; id++)
        starts[id + 1] = starts[id] + neighbours_length(s->count, length, id);
    neighbour_index made = {.count = s->count, .entry_count = starts[s->count]};
    const tem_status status = allocate(&made, starts, error);
    if (status != TEM_OK) {
        neighbours_free(&made);
        return status;
    }
    made.lazy->space = s;
    *out = made;
    return TEM_OK;
}

void lazy_lists_free(lazy_lists *lazy) {
    if (lazy == NULL)
        return;
    core_free(lazy->ready);
    core_free(lazy->distances);
    core_free(lazy->keys);
    core_free(lazy);
}

/* The bound of each range: the least distance among `count` keys. */
static void set_bounds(const uint64_t *keys, uint32_t count, uint32_t range_words,
                       tem_dist bounds[NEIGHBOUR_RANGES]) {
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++)
        bounds[range] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        tem_dist *bound = &bounds[(uint32_t)keys[i] / range_words];
        const tem_dist distance = (tem_dist)(keys[i] >> 32);
        *bound = distance < *bound ? distance : *bound;
    }
}

static void fill(lazy_lists *lazy, const neighbour_index *index, uint32_t id) {
    const uint32_t count = index->count;
    const uint32_t length = (uint32_t)(index->starts[id + 1] - index->starts[id]);
    uint64_t *keys = lazy->keys;
    space_distances(lazy->space, id, 0, count, lazy->distances);
    for (uint32_t y = 0; y < count; y++)
        keys[y] = nearest_key(y, lazy->distances[y]);
    nearest_select(keys, count, length);
    nearest_sort(keys, length);
    /* A key is a tem_neighbour (nearest_keys.h). */
    memcpy(lazy->entries + index->starts[id], keys, length * sizeof *lazy->entries);
    set_bounds(keys + length, count - length, neighbours_range_words(count),
               lazy->bounds + (size_t)id * NEIGHBOUR_RANGES);
}

void lazy_lists_need(lazy_lists *lazy, const neighbour_index *index, uint32_t id) {
    if (lazy->ready[id])
        return;
    fill(lazy, index, id);
    lazy->ready[id] = true;
}
