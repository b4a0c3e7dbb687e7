/* neighbours_lazy.c - an index whose lists and bounds are computed when they are first asked for.
 *
 * A browser has no time to build an index and no room on the wire to ship one, and a text needs the
 * lists of its own words only. The list of one word costs one pass over all words:
 *
 *   1  Compute the raw number of every word (space_raw). Raw numbers order words as distances do,
 *      but words with different raw numbers may be at the same distance.
 *   2  Select the raw number of rank K. Its distance is the last of the list. The words at this
 *      distance or nearer are candidates: the list, and perhaps some ties.
 *   3  Sort the candidates by (distance, id). The first K are the list. The others count for the
 *      bounds, and so do all words that are no candidates.
 *
 * PRIVACY: list and bounds must be those of neighbours_build, bit for bit (test_index compares
 * them for every word). The proof needs the bounds; seeded runs need the lists. */
#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"
#include "index/neighbours.h"

#include <string.h>

struct lazy_lists {
    const space *space;
    tem_neighbour *entries; /* those of the index, and its bounds */
    tem_dist *bounds;
    bool *ready; /* per word: its list and bounds are there */
    uint64_t *raws;
    uint64_t *keys; /* candidates, or raw numbers to select from */
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
    lazy->raws = core_alloc(count, sizeof *lazy->raws);
    lazy->keys = core_alloc(count, sizeof *lazy->keys);
    const bool failed = lazy->entries == NULL || lazy->bounds == NULL || lazy->ready == NULL ||
                        lazy->raws == NULL || lazy->keys == NULL;
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
    core_free(lazy->raws);
    core_free(lazy->keys);
    core_free(lazy);
}

/* Steps 1 and 2: returns the distance of the last word of a list of `length`. */
static tem_dist find_last(lazy_lists *lazy, uint32_t id, uint32_t length) {
    const space *s = lazy->space;
    for (uint32_t y = 0; y < s->count; y++)
        lazy->raws[y] = space_raw(s, id, y);
    memcpy(lazy->keys, lazy->raws, s->count * sizeof *lazy->keys);
    return space_distance_of_raw(s, nearest_select(lazy->keys, s->count, length));
}

/* Collects the candidates, in order, and sets least[range] to the least raw number of the other
 * words; UINT64_MAX if there is none. Returns the number of candidates. */
static uint32_t collect(lazy_lists *lazy, tem_dist last, uint64_t least[NEIGHBOUR_RANGES]) {
    const space *s = lazy->space;
    const uint64_t most = space_raw_of_distance(s, last);
    const uint32_t range_words = neighbours_range_words(s->count);
    uint32_t found = 0, y = 0;
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++) {
        const uint64_t end = (uint64_t)(range + 1) * range_words;
        least[range] = UINT64_MAX;
        for (; y < s->count && y < end; y++) {
            const uint64_t raw = lazy->raws[y];
            if (raw <= most)
                lazy->keys[found++] = nearest_key(y, space_distance_of_raw(s, raw));
            else if (raw < least[range])
                least[range] = raw;
        }
    }
    nearest_sort(lazy->keys, found);
    return found;
}

static tem_dist smaller(tem_dist a, tem_dist b) {
    return a < b ? a : b;
}

/* Step 3. A key is a tem_neighbour (nearest_keys.h). */
static void fill(lazy_lists *lazy, const neighbour_index *index, uint32_t id) {
    const uint32_t length = (uint32_t)(index->starts[id + 1] - index->starts[id]);
    const uint32_t range_words = neighbours_range_words(index->count);
    uint64_t least[NEIGHBOUR_RANGES];
    const uint32_t found = collect(lazy, find_last(lazy, id, length), least);
    memcpy(lazy->entries + index->starts[id], lazy->keys, length * sizeof *lazy->entries);
    tem_dist *bounds = lazy->bounds + (size_t)id * NEIGHBOUR_RANGES;
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++)
        bounds[range] = least[range] == UINT64_MAX
                            ? UINT32_MAX
                            : space_distance_of_raw(lazy->space, least[range]);
    for (uint32_t i = length; i < found; i++) {
        tem_dist *bound = &bounds[(uint32_t)lazy->keys[i] / range_words];
        *bound = smaller(*bound, (tem_dist)(lazy->keys[i] >> 32));
    }
}

void lazy_lists_need(lazy_lists *lazy, const neighbour_index *index, uint32_t id) {
    if (lazy->ready[id])
        return;
    fill(lazy, index, id);
    lazy->ready[id] = true;
}
