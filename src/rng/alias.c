/* alias.c - makes the columns, and draws where one random word does not decide. */
#include "rng/alias.h"

#include "core/memory.h"
#include "core/status.h"

/* Fills the columns as Vose does: a column that lacks units gets them from an entry that has too
 * many. All numbers are integers, so every column is exactly full in the end. */
static void fill_columns(alias *a, const uint64_t *values, uint32_t *stack) {
    uint32_t small = 0, large = a->count; /* two stacks in one array, growing from both ends */
    for (uint32_t i = 0; i < a->count; i++) {
        a->owns[i] = (u256_wide)values[i] * a->count;
        a->columns[i].other = i;
        if (a->owns[i] < a->total)
            stack[small++] = i;
        else
            stack[--large] = i;
    }
    while (small > 0 && large < a->count) {
        const uint32_t poor = stack[--small], rich = stack[large];
        a->columns[poor].other = rich;
        a->owns[rich] -= a->total - a->owns[poor];
        if (a->owns[rich] < a->total) {
            large++;
            stack[small++] = rich;
        }
    }
}

/* floor(2^32 part / whole) for part < whole < 2^96, and 2^32 - 1 for part = whole. */
static uint32_t fraction_of(u256_wide part, u256_wide whole) {
    return part == whole ? UINT32_MAX : (uint32_t)((part << 32) / whole);
}

tem_status alias_init(alias *a, const uint64_t *values, uint32_t count, tem_error *error) {
    *a = (alias){.count = count};
    for (uint32_t i = 0; i < count; i++)
        a->total += values[i];
    if (a->total == 0)
        return core_fail(error, TEM_ERR_RANGE, "all weights are 0: nothing to draw");
    uint32_t *stack = core_alloc(count, sizeof *stack);
    a->columns = core_alloc(count, sizeof *a->columns);
    a->owns = core_alloc(count, sizeof *a->owns);
    if (stack == NULL || a->columns == NULL || a->owns == NULL) {
        core_free(stack);
        alias_free(a);
        return core_fail_memory(error);
    }
    fill_columns(a, values, stack);
    for (uint32_t i = 0; i < count; i++)
        a->columns[i].own = fraction_of(a->owns[i], a->total);
    core_free(stack);
    return TEM_OK;
}

void alias_free(alias *a) {
    core_free(a->columns);
    core_free(a->owns);
    *a = (alias){0};
}

/* PRIVACY: the unit is uniform below V count, so each entry has the probability of its units. */
uint32_t alias_draw_exactly(const alias *a, uint64_t word, tem_rng *rng) {
    const u256_wide units = a->total * a->count; /* below 2^128 */
    const u256 bound = {{(uint64_t)units, (uint64_t)(units >> 64), 0, 0}};
    const u256 remainder = rng_below256(rng, &bound);
    const u256_wide low = (u256_wide)word * bound.limb[0] + remainder.limb[0];
    const u256_wide unit = (u256_wide)word * bound.limb[1] + (low >> 64) + remainder.limb[1];
    const uint32_t column = (uint32_t)(unit / a->total);
    return unit % a->total < a->owns[column] ? column : a->columns[column].other;
}
