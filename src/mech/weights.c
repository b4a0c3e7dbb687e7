/* weights.c - how often each word is an output. */
#include "mech/weights.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* Vose's filling of the columns: a column that is short of units gets the rest from a
 * word that has too many. All in integers, so the columns come out exactly full. */
static void fill_columns(weights *w, uint32_t *stack) {
    uint32_t small = 0, large = w->count; /* two stacks in one array, from both ends */
    for (uint32_t i = 0; i < w->count; i++) {
        w->thresholds[i] = (uint64_t)w->values[i] * w->count;
        w->aliases[i] = i;
        if (w->thresholds[i] < w->sum)
            stack[small++] = i;
        else
            stack[--large] = i;
    }
    while (small > 0 && large < w->count) {
        const uint32_t poor = stack[--small], rich = stack[large];
        w->aliases[poor] = rich;
        w->thresholds[rich] -= w->sum - w->thresholds[poor];
        if (w->thresholds[rich] < w->sum) {
            large++;
            stack[small++] = rich;
        }
    }
}

static tem_status make_columns(weights *w, tem_error *error) {
    uint32_t *stack = core_alloc(w->count, sizeof *stack);
    w->thresholds = core_alloc(w->count, sizeof *w->thresholds);
    w->aliases = core_alloc(w->count, sizeof *w->aliases);
    if (stack == NULL || w->thresholds == NULL || w->aliases == NULL) {
        core_free(stack);
        return core_fail_memory(error);
    }
    fill_columns(w, stack);
    core_free(stack);
    return TEM_OK;
}

tem_status weights_init(weights *w, const uint32_t *values, uint32_t count, tem_error *error) {
    *w = (weights){.count = count, .sum = count};
    if (values == NULL)
        return TEM_OK;
    w->values = core_alloc(count, sizeof *w->values);
    if (w->values == NULL)
        return core_fail_memory(error);
    memcpy(w->values, values, count * sizeof *values);
    w->sum = 0;
    for (uint32_t i = 0; i < count; i++)
        w->sum += values[i]; /* below 2^31 * 2^32 */
    tem_status status = w->sum > 0
                            ? make_columns(w, error)
                            : core_fail(error, TEM_ERR_RANGE, "all weights are 0: nothing to draw");
    if (status != TEM_OK)
        weights_free(w);
    return status;
}

void weights_free(weights *w) {
    core_free(w->values);
    core_free(w->thresholds);
    core_free(w->aliases);
    *w = (weights){0};
}

uint32_t weights_draw(const weights *w, tem_rng *rng) {
    const uint32_t column = (uint32_t)rng_below(rng, w->count);
    if (w->values == NULL)
        return column;
    return rng_below(rng, w->sum) < w->thresholds[column] ? column : w->aliases[column];
}
