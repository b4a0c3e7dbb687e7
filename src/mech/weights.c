/* weights.c - how often each word is an output. */
#include "mech/weights.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* The words of a part: `count` from `first` on. */
typedef struct part_range {
    uint32_t first, count;
} part_range;

static part_range range_of(const weights *w, unsigned part) {
    const uint32_t size = neighbours_part_words(w->count);
    const uint64_t first = (uint64_t)part * size;
    if (first >= w->count)
        return (part_range){w->count, 0};
    const uint32_t left = w->count - (uint32_t)first;
    return (part_range){(uint32_t)first, left < size ? left : size};
}

/* Vose's filling of the columns: a column that is short of units gets the rest from a
 * word that has too many. All in integers, so the columns come out exactly full. */
static void fill_columns(weights *w, unsigned part, uint32_t *stack) {
    const part_range range = range_of(w, part);
    const uint64_t full = w->part_sums[part];
    uint32_t small = 0, large = range.count; /* two stacks in one array, from both ends */
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        w->columns[i] = (weight_column){(uint64_t)w->values[i] * range.count, i};
        if (w->columns[i].own < full)
            stack[small++] = i;
        else
            stack[--large] = i;
    }
    while (small > 0 && large < range.count) {
        const uint32_t poor = stack[--small], rich = stack[large];
        w->columns[poor].alias = rich;
        w->columns[rich].own -= full - w->columns[poor].own;
        if (w->columns[rich].own < full) {
            large++;
            stack[small++] = rich;
        }
    }
}

static tem_status make_columns(weights *w, tem_error *error) {
    uint32_t *stack = core_alloc(neighbours_part_words(w->count), sizeof *stack);
    w->columns = core_alloc(w->count, sizeof *w->columns);
    if (stack == NULL || w->columns == NULL) {
        core_free(stack);
        return core_fail_memory(error);
    }
    for (unsigned part = 0; part < NEIGHBOUR_PARTS; part++)
        fill_columns(w, part, stack);
    core_free(stack);
    return TEM_OK;
}

static void add_up(weights *w) {
    for (unsigned part = 0; part < NEIGHBOUR_PARTS; part++) {
        const part_range range = range_of(w, part);
        for (uint32_t i = range.first; i < range.first + range.count; i++)
            w->part_sums[part] += weights_at(w, i);
        w->sum += w->part_sums[part]; /* below 2^31 * 2^32 */
    }
}

tem_status weights_init(weights *w, const uint32_t *values, uint32_t count, tem_error *error) {
    *w = (weights){.count = count};
    if (values != NULL) {
        w->values = core_alloc(count, sizeof *w->values);
        if (w->values == NULL)
            return core_fail_memory(error);
        memcpy(w->values, values, count * sizeof *values);
    }
    add_up(w);
    if (values == NULL)
        return TEM_OK;
    tem_status status = w->sum > 0
                            ? make_columns(w, error)
                            : core_fail(error, TEM_ERR_RANGE, "all weights are 0: nothing to draw");
    if (status != TEM_OK)
        weights_free(w);
    return status;
}

void weights_free(weights *w) {
    core_free(w->values);
    core_free(w->columns);
    *w = (weights){0};
}

uint32_t weights_draw_column(const weights *w, unsigned part, tem_rng *rng) {
    const part_range range = range_of(w, part);
    const uint32_t column = range.first + (uint32_t)rng_below(rng, range.count);
    if (w->columns != NULL)
        __builtin_prefetch(&w->columns[column]);
    return column;
}

uint32_t weights_draw_word(const weights *w, unsigned part, uint32_t column, tem_rng *rng) {
    if (w->columns == NULL)
        return column;
    const weight_column *c = &w->columns[column];
    return rng_below(rng, w->part_sums[part]) < c->own ? column : c->alias;
}

uint32_t weights_draw_part(const weights *w, unsigned part, tem_rng *rng) {
    return weights_draw_word(w, part, weights_draw_column(w, part, rng), rng);
}

uint32_t weights_draw(const weights *w, tem_rng *rng) {
    uint64_t unit = rng_below(rng, w->sum);
    if (w->columns == NULL)
        return (uint32_t)unit;
    unsigned part = 0;
    while (unit >= w->part_sums[part])
        unit -= w->part_sums[part++];
    return weights_draw_part(w, part, rng);
}
