/* nearest_distance.c - how far away the nearest words are. */
#include "index/nearest_distance.h"

#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"

/* The nearest word at another point is in the list, or it is the nearest of those that are not. 0
 * if these are at the same point, too; UINT32_MAX if there are none. */
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
        const tem_status status = neighbours_get(index, id, &n, error);
        if (status != TEM_OK)
            return status;
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
