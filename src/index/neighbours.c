/* neighbours.c - reads an index that may be damaged, and verifies it. */
#include "index/neighbours.h"

#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"

#include <string.h>

void neighbours_free(neighbour_index *index) {
    core_free((void *)(uintptr_t)index->starts);
    core_free((void *)(uintptr_t)index->entries);
    core_free((void *)(uintptr_t)index->bounds);
    lazy_lists_free(index->lazy);
    *index = (neighbour_index){0};
}

static uint64_t key_of(const tem_neighbour *entry) {
    return nearest_key(entry->id, entry->distance);
}

static bool list_in_order(const neighbour_index *index, const tem_neighbours *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->list[i].id >= index->count)
            return false;
        if (i > 0 && key_of(&n->list[i - 1]) >= key_of(&n->list[i]))
            return false;
    }
    return n->list[n->count - 1].distance <= n->bound &&
           (n->count < index->count || n->bound == UINT32_MAX);
}

static tem_dist least_of(const tem_dist bounds[NEIGHBOUR_RANGES]) {
    tem_dist least = UINT32_MAX;
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++)
        least = bounds[range] < least ? bounds[range] : least;
    return least;
}

tem_status neighbours_get(const neighbour_index *index, uint32_t id, tem_neighbours *out,
                          tem_error *error) {
    const uint64_t start = index->starts[id], end = index->starts[id + 1];
    if (start >= end || end > index->entry_count || end - start > index->count)
        return core_fail(error, TEM_ERR_DAMAGED, "the list of word %u lies outside its section",
                         id + 1);
    if (index->lazy != NULL)
        lazy_lists_need(index->lazy, index, id);
    const tem_neighbours n = {.list = index->entries + start,
                              .count = (uint32_t)(end - start),
                              .bound = least_of(neighbours_bounds(index, id))};
    if (index->checked != NULL) {
        const uint64_t bit = (uint64_t)1 << id % 64;
        if ((atomic_load_explicit(&index->checked[id / 64], memory_order_relaxed) & bit) == 0) {
            if (!list_in_order(index, &n))
                return core_fail(error, TEM_ERR_DAMAGED, "the list of word %u is out of order",
                                 id + 1);
            atomic_fetch_or_explicit(&index->checked[id / 64], bit, memory_order_relaxed);
        }
    }
    *out = n;
    return TEM_OK;
}

static tem_status compare_list(const neighbour_index *index, const neighbour_index *again,
                               uint32_t id, tem_error *error) {
    tem_neighbours stored = {0}, right = {0};
    TRY(neighbours_get(index, id, &stored, error));
    TRY(neighbours_get(again, id, &right, error));
    if (stored.count != right.count ||
        memcmp(neighbours_bounds(index, id), neighbours_bounds(again, id),
               NEIGHBOUR_RANGES * sizeof(tem_dist)) != 0 ||
        memcmp(stored.list, right.list, stored.count * sizeof *stored.list) != 0)
        return core_fail(error, TEM_ERR_DAMAGED, "the list of word %u is not its nearest words",
                         id + 1);
    return TEM_OK;
}

tem_status neighbours_verify(const neighbour_index *index, const space *s, uint32_t length,
                             const tem_run *run, tem_error *error) {
    /* Check before the build: the stated length decides how much memory the build takes. */
    uint64_t entries = 0;
    for (uint32_t id = 0; id < index->count; id++)
        entries += neighbours_length(index->count, length, id);
    if (index->starts[0] != 0 || index->starts[index->count] != entries ||
        index->entry_count != entries)
        return core_fail(error, TEM_ERR_DAMAGED, "the lists do not fill their section");
    tem_status status = TEM_OK;
    neighbour_index again = {0};
    status = neighbours_build(s, length, run, &again, error);
    for (uint32_t id = 0; id < index->count && status == TEM_OK; id++)
        status = compare_list(index, &again, id, error);
    neighbours_free(&again);
    return status;
}

/* ---- how far away the nearest words are ---- */

/* The distance of the nearest word at another point: that word is in the list, or it is the nearest
 * word outside the list. 0 if the latter is at the same point too, UINT32_MAX if no word is outside
 * the list. */
static tem_dist beyond_own_point(const tem_neighbours *n) {
    for (uint32_t i = 0; i < n->count; i++)
        if (n->list[i].distance > 0)
            return n->list[i].distance;
    return n->bound;
}

static tem_status collect(const neighbour_index *index, const unsigned char *merged, uint64_t *keys,
                          uint32_t *count, tem_error *error) {
    for (uint32_t id = 0; id < index->count; id++) {
        tem_neighbours n = {0};
        TRY(neighbours_get(index, id, &n, error));
        const tem_dist nearest = beyond_own_point(&n);
        if (merged != NULL && merged[id])
            keys[(*count)++] = nearest_key(id, 0);
        else if (nearest > 0 && nearest < UINT32_MAX)
            keys[(*count)++] = nearest_key(id, nearest);
    }
    return TEM_OK;
}

tem_status nearest_distance_find(const neighbour_index *index, const unsigned char *merged,
                                 nearest_distance *out, tem_error *error) {
    uint32_t count = 0;
    uint64_t *keys = core_alloc(index->count, sizeof *keys);
    if (keys == NULL)
        return core_fail_memory(error);
    const tem_status status = collect(index, merged, keys, &count, error);
    if (status == TEM_OK)
        *out = (nearest_distance){
            count, count == 0 ? 0 : (tem_dist)(nearest_select(keys, count, (count + 1) / 2) >> 32)};
    core_free(keys);
    return status;
}
