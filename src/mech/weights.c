/* weights.c - draws by weight alone, with alias tables in integers. */
#include "mech/weights.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* The words of a range: `count` ids, starting with `first`. */
typedef struct id_range {
    uint32_t first, count;
} id_range;

static id_range range_of(const weights *w, unsigned range) {
    const uint32_t size = neighbours_range_words(w->count);
    const uint64_t first = (uint64_t)range * size;
    if (first >= w->count)
        return (id_range){w->count, 0};
    const uint32_t left = w->count - (uint32_t)first;
    return (id_range){(uint32_t)first, left < size ? left : size};
}

/* Fills the columns of a range as Vose does: a column that lacks units gets them from a word that
 * has too many. All numbers are integers, so every column is exactly full in the end. */
static void fill_columns(weights *w, unsigned range, uint32_t *stack) {
    const id_range ids = range_of(w, range);
    const uint64_t full = w->range_sums[range];
    uint32_t small = 0, large = ids.count; /* two stacks in one array, growing from both ends */
    for (uint32_t i = ids.first; i < ids.first + ids.count; i++) {
        w->columns[i] = (weight_column){(uint64_t)w->values[i] * ids.count, i};
        if (w->columns[i].own < full)
            stack[small++] = i;
        else
            stack[--large] = i;
    }
    while (small > 0 && large < ids.count) {
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
    uint32_t *stack = core_alloc(neighbours_range_words(w->count), sizeof *stack);
    w->columns = core_alloc(w->count, sizeof *w->columns);
    if (stack == NULL || w->columns == NULL) {
        core_free(stack);
        return core_fail_memory(error);
    }
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++)
        fill_columns(w, range, stack);
    core_free(stack);
    return TEM_OK;
}

/* Whether a uniform draw from a range that is repeated on words of weight 0 is exact and quick: no
 * weight is above 1, and each range that is drawn from has at least as many ones as zeros. */
static bool is_repeating_quick(const weights *w) {
    if (!weights_are_equal(w))
        return false;
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++)
        if (w->range_sums[range] > 0 && 2 * w->range_sums[range] < range_of(w, range).count)
            return false;
    return true;
}

static tem_status note_zeros(weights *w, tem_error *error) {
    w->zeros = core_alloc_zero(w->count / 64 + 1, sizeof *w->zeros);
    if (w->zeros == NULL)
        return core_fail_memory(error);
    for (uint32_t i = 0; i < w->count; i++)
        w->zeros[i / 64] |= (uint64_t)(w->values[i] == 0) << i % 64;
    return TEM_OK;
}

static void add_up(weights *w) {
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++) {
        const id_range ids = range_of(w, range);
        for (uint32_t i = ids.first; i < ids.first + ids.count; i++)
            w->range_sums[range] += weights_at(w, i);
        w->sum += w->range_sums[range]; /* below 2^31 * 2^32 */
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
    tem_status status = w->sum == 0
                            ? core_fail(error, TEM_ERR_RANGE, "all weights are 0: nothing to draw")
                        : is_repeating_quick(w) ? note_zeros(w, error)
                                                : make_columns(w, error);
    if (status != TEM_OK)
        weights_free(w);
    return status;
}

void weights_free(weights *w) {
    core_free(w->values);
    core_free(w->columns);
    core_free(w->zeros);
    *w = (weights){0};
}

bool weights_are_equal(const weights *w) {
    bool equal = true;
    for (uint32_t i = 0; w->values != NULL && i < w->count; i++)
        equal &= w->values[i] <= 1;
    return equal;
}

uint32_t weights_draw_column(const weights *w, unsigned range, tem_rng *rng) {
    const id_range ids = range_of(w, range);
    uint32_t column = ids.first + (uint32_t)rng_below(rng, ids.count);
    /* PRIVACY: the last of these draws is uniform over the words of weight 1. */
    while (w->zeros != NULL && (w->zeros[column / 64] >> column % 64 & 1) != 0)
        column = ids.first + (uint32_t)rng_below(rng, ids.count);
    if (w->columns != NULL)
        __builtin_prefetch(&w->columns[column]);
    return column;
}

uint32_t weights_draw_word(const weights *w, unsigned range, uint32_t column, tem_rng *rng) {
    if (w->columns == NULL)
        return column;
    const weight_column *c = &w->columns[column];
    return rng_below(rng, w->range_sums[range]) < c->own ? column : c->alias;
}

uint32_t weights_draw_from_range(const weights *w, unsigned range, tem_rng *rng) {
    return weights_draw_word(w, range, weights_draw_column(w, range, rng), rng);
}

uint32_t weights_draw(const weights *w, tem_rng *rng) {
    uint64_t unit = rng_below(rng, w->sum);
    if (w->values == NULL)
        return (uint32_t)unit;
    unsigned range = 0;
    while (unit >= w->range_sums[range])
        unit -= w->range_sums[range++];
    return weights_draw_from_range(w, range, rng);
}
