/* levels.c - positions, look-ups and draws over the tables of levels.h, and their checks. */
#include "language/levels.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <string.h>

enum { FACTOR_MOST = 1 << LEVELS_SHIFT };

#define TOTAL_MOST ((uint64_t)INT64_MAX)

/* ---------------------------------------------------------------- tables -- */

static void rows_free(const levels_rows *rows) {
    core_free((void *)(uintptr_t)rows->starts);
    core_free((void *)(uintptr_t)rows->factors);
    core_free((void *)(uintptr_t)rows->numbers);
    core_free((void *)(uintptr_t)rows->sums);
}

void levels_free(levels *l) {
    alias_free(&l->e1_draw);
    core_free(l->numbers);
    if (l->is_owner) {
        rows_free(&l->two);
        rows_free(&l->three);
        core_free((void *)(uintptr_t)l->pair_starts);
        core_free((void *)(uintptr_t)l->pair_seconds);
        core_free((void *)(uintptr_t)l->ids);
        core_free((void *)(uintptr_t)l->e1);
    }
    *l = (levels){0};
}

static tem_status refuse(tem_error *error) {
    return core_fail(error, TEM_ERR_DAMAGED, "the tables of the language model are damaged");
}

/* Sets `numbers`. False unless the ids are the outputs of the model, each once. */
static bool number_words(levels *l, const tem_model *model) {
    memset(l->numbers, 0xff, l->words * sizeof *l->numbers);
    for (uint32_t n = 0; n < l->outputs; n++) {
        const uint32_t id = l->ids[n];
        if (id >= l->words || model_is_excluded(model, id) || l->numbers[id] != LEVELS_NONE)
            return false;
        l->numbers[id] = n;
    }
    return true;
}

/* PRIVACY: an output that weighs 0 in one context and more in another would bound no loss, so e1 is
 * at least 1. */
static tem_status attach_words(levels *l, tem_error *error) {
    uint64_t *values = core_alloc(l->outputs, sizeof *values);
    if (values == NULL)
        return core_fail_memory(error);
    bool is_valid = true;
    for (uint32_t n = 0; n < l->outputs; n++) {
        values[n] = l->e1[n];
        l->e1_total += l->e1[n];
        is_valid &= l->e1[n] >= 1;
    }
    is_valid &= l->e1_total <= UINT32_MAX;
    const tem_status status =
        is_valid ? alias_init(&l->e1_draw, values, l->outputs, error) : refuse(error);
    core_free(values);
    return status;
}

tem_status levels_attach(levels *l, const tem_model *model, tem_error *error) {
    l->words = model->words.count;
    l->unknown = l->outputs;
    l->begin = l->outputs + 1;
    l->symbols = l->outputs + 2;
    l->e1_total = 0;
    if (l->outputs != l->words - model->excluded_count)
        return refuse(error);
    l->numbers = core_alloc(l->words, sizeof *l->numbers);
    if (l->numbers == NULL)
        return core_fail_memory(error);
    return number_words(l, model) ? attach_words(l, error) : refuse(error);
}

/* ---------------------------------------------------------------- checks -- */

/* Sets *sum to the sum of the row. */
static bool is_row_valid(const levels *l, const levels_rows *rows, uint32_t row, uint64_t *sum) {
    const uint32_t first = rows->starts[row], end = rows->starts[row + 1];
    *sum = 0;
    if (first > end || end > rows->entries || rows->factors[row] < 1 ||
        rows->factors[row] > FACTOR_MOST)
        return false;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t e = rows->sums[i + 1] - rows->sums[i];
        if (e == 0 || rows->numbers[i] >= l->outputs ||
            (i > first && rows->numbers[i] <= rows->numbers[i - 1]))
            return false;
        *sum += e;
    }
    return *sum <= UINT32_MAX;
}

static uint32_t sum_of(const levels_rows *rows, uint32_t row) {
    return rows->sums[rows->starts[row + 1]] - rows->sums[rows->starts[row]];
}

/* The sum of 2^k e2 + b2 e1 over all outputs. It is below 2^48, and 2^k times it below 2^63: sums
 * are below 2^32, and b2 is at most 2^15. */
static uint64_t two_total(const levels *l, uint32_t h) {
    return h == LEVELS_NONE
               ? l->e1_total << LEVELS_SHIFT
               : ((uint64_t)sum_of(&l->two, h) << LEVELS_SHIFT) + l->two.factors[h] * l->e1_total;
}

/* The sum of all weights after a pair; below 2^64, since its own part is below 2^62. */
static uint64_t three_total(const levels *l, uint32_t pair, uint32_t h) {
    return ((uint64_t)sum_of(&l->three, pair) << 2 * LEVELS_SHIFT) +
           l->three.factors[pair] * two_total(l, h);
}

static bool are_pairs_valid(const levels *l, uint32_t g) {
    const uint32_t first = l->pair_starts[g], end = l->pair_starts[g + 1];
    if (first > end || end > l->three.count)
        return false;
    for (uint32_t i = first; i < end; i++)
        if (l->pair_seconds[i] >= l->symbols ||
            (i > first && l->pair_seconds[i] <= l->pair_seconds[i - 1]))
            return false;
    return true;
}

bool levels_row_is_valid(const levels *l, enum levels_kind kind, uint32_t row) {
    uint64_t sum = 0;
    if (kind == LEVELS_PAIRS)
        return are_pairs_valid(l, row);
    if (kind == LEVELS_TWO)
        return is_row_valid(l, &l->two, row, &sum);
    return l->pair_seconds[row] < l->symbols && is_row_valid(l, &l->three, row, &sum) &&
           three_total(l, row, l->pair_seconds[row]) <= TOTAL_MOST;
}

static tem_status check_kind(const levels *l, enum levels_kind kind, uint32_t rows,
                             const tem_run *run, tem_error *error) {
    enum { ROWS_A_REPORT = 65536 };
    for (uint32_t row = 0; row < rows; row++) {
        if (row % ROWS_A_REPORT == 0 &&
            core_progress(run, "checking the language model", row, rows, error) != TEM_OK)
            return TEM_ERR_CANCELLED;
        if (!levels_row_is_valid(l, kind, row))
            return refuse(error);
    }
    return TEM_OK;
}

tem_status levels_check(const levels *l, const tem_run *run, tem_error *error) {
    TRY(check_kind(l, LEVELS_TWO, l->two.count, run, error));
    TRY(check_kind(l, LEVELS_PAIRS, l->three.count > 0 ? l->symbols : 0, run, error));
    return check_kind(l, LEVELS_THREE, l->three.count, run, error);
}

/* ------------------------------------------------------------- positions -- */

/* The symbol of a word or kind of a past. Punctuation has none: public texts are counted without
 * it. */
static uint32_t symbol_of(const levels *l, uint32_t word) {
    if (word == RELEASED_LINE_END)
        return l->begin;
    const uint32_t number = word < l->words ? l->numbers[word] : LEVELS_NONE;
    return number == LEVELS_NONE ? l->unknown : number;
}

/* The last symbol, and the one before it; LEVELS_NONE where the past that `position` sees has no
 * more. A document or a line begins with `begin`, and nothing comes before that. */
static void find_history(const levels *l, const released_past *past, uint32_t history[2]) {
    unsigned found = 0;
    size_t i = past->count;
    history[0] = history[1] = LEVELS_NONE;
    while (found < 2 && i > 0) {
        const uint32_t word = past->words[--i];
        if (word == RELEASED_PUNCTUATION)
            continue;
        history[found++] = symbol_of(l, word);
        if (word == RELEASED_LINE_END)
            return;
    }
    if (found < 2 && past->before == 0)
        history[found] = l->begin;
}

static tem_status see_row(const levels *l, enum levels_kind kind, uint32_t row, tem_error *error) {
    return l->source == NULL ? TEM_OK : l->source->check(l->source, kind, row, error);
}

/* The pair (g, h), or LEVELS_NONE. The pairs of g are checked. */
static uint32_t find_pair(const levels *l, uint32_t g, uint32_t h) {
    uint32_t low = l->pair_starts[g], high = l->pair_starts[g + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (l->pair_seconds[middle] < h)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->pair_starts[g + 1] && l->pair_seconds[low] == h ? low : LEVELS_NONE;
}

/* Sets the rows of the history; LEVELS_NONE where it has none. Checks them. */
static tem_status find_rows(const levels *l, const released_past *past, uint32_t *h, uint32_t *pair,
                            tem_error *error) {
    uint32_t history[2];
    find_history(l, past, history);
    *h = l->two.count > 0 ? history[0] : LEVELS_NONE;
    *pair = LEVELS_NONE;
    tem_status status = *h == LEVELS_NONE ? TEM_OK : see_row(l, LEVELS_TWO, *h, error);
    if (status == TEM_OK && *h != LEVELS_NONE && history[1] != LEVELS_NONE && l->three.count > 0) {
        status = see_row(l, LEVELS_PAIRS, history[1], error);
        *pair = status == TEM_OK ? find_pair(l, history[1], *h) : LEVELS_NONE;
    }
    return status == TEM_OK && *pair != LEVELS_NONE ? see_row(l, LEVELS_THREE, *pair, error)
                                                    : status;
}

static void add_level(const levels_rows *rows, uint32_t row, uint64_t factor,
                      position_weights *at) {
    const uint32_t first = rows->starts[row], count = rows->starts[row + 1] - first;
    if (count > 0)
        at->levels[at->level_count++] = (language_level){.factor = factor,
                                                         .count = count,
                                                         .numbers = rows->numbers + first,
                                                         .sums = rows->sums + first};
}

tem_status levels_position(const void *state, void *document, const released_past *past,
                           position_weights *at, tem_error *error) {
    const levels *l = state;
    uint32_t h = 0, pair = 0;
    (void)document;
    TRY(find_rows(l, past, &h, &pair, error));
    const uint64_t b3 = pair == LEVELS_NONE ? FACTOR_MOST : l->three.factors[pair];
    const uint64_t b2 = h == LEVELS_NONE ? FACTOR_MOST : l->two.factors[h];
    at->place[0] = h;
    at->place[1] = pair;
    at->base_factor = b3 * b2;
    at->level_count = 0;
    if (h != LEVELS_NONE)
        add_level(&l->two, h, b3 << LEVELS_SHIFT, at);
    if (pair != LEVELS_NONE)
        add_level(&l->three, pair, (uint64_t)1 << 2 * LEVELS_SHIFT, at);
    at->total = pair == LEVELS_NONE ? two_total(l, h) << LEVELS_SHIFT : three_total(l, pair, h);
    return TEM_OK;
}

/* ---------------------------------------------------------------- look-up -- */

/* The entry with this number, or LEVELS_NONE. */
static uint32_t find_entry(const language_level *level, uint32_t number) {
    uint32_t low = 0, count = level->count;
    while (count > 1) {
        const uint32_t half = count / 2;
        low = level->numbers[low + half] <= number ? low + half : low;
        count -= half;
    }
    return level->numbers[low] == number ? low : LEVELS_NONE;
}

/* PRIVACY: factors alone, as in the total: the weights of all outputs add up to it. */
uint64_t levels_weight(const position_weights *at, uint32_t y) {
    const levels *l = at->state;
    const uint32_t number = l->numbers[y];
    if (number == LEVELS_NONE)
        return 0;
    uint64_t sum = at->base_factor * l->e1[number];
    for (uint32_t i = 0; i < at->level_count; i++) {
        const language_level *level = &at->levels[i];
        const uint32_t entry = find_entry(level, number);
        if (entry != LEVELS_NONE)
            sum += level->factor * (level->sums[entry + 1] - level->sums[entry]);
    }
    return sum;
}

void levels_weights(const position_weights *at, const uint32_t *ids, uint32_t count,
                    uint64_t *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = levels_weight(at, ids[i]);
}

/* ----------------------------------------------------------------- draws -- */

static uint32_t sum_of_level(const language_level *level) {
    return level->sums[level->count] - level->sums[0];
}

/* PRIVACY: exactly e of the values that the target can have lead to each entry. */
static uint32_t draw_from(const language_level *level, tem_rng *rng) {
    const uint32_t target = (uint32_t)rng_below(rng, sum_of_level(level));
    uint32_t low = 0, count = level->count;
    while (count > 1) {
        const uint32_t half = count / 2;
        low = level->sums[low + half] - level->sums[0] <= target ? low + half : low;
        count -= half;
    }
    return level->numbers[low];
}

uint32_t levels_draw_base(const position_weights *at, tem_rng *rng) {
    const levels *l = at->state;
    return alias_draw(&l->e1_draw, rng);
}

/* PRIVACY: each level has its part of the total. Within a level all entries have the same factor,
 * which leaves the draw by e alone. */
static uint32_t draw_number(const position_weights *at, tem_rng *rng) {
    uint64_t target = rng_below(rng, at->total);
    for (uint32_t i = 0; i < at->level_count; i++) {
        const language_level *level = &at->levels[i];
        const uint64_t part = level->factor * sum_of_level(level);
        if (target < part)
            return draw_from(level, rng);
        target -= part;
    }
    return levels_draw_base(at, rng);
}

uint32_t levels_draw(const position_weights *at, tem_rng *rng) {
    const levels *l = at->state;
    return l->ids[draw_number(at, rng)];
}
