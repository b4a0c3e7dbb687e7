/* rank_context.c - rounds over envelopes of lists and blocks. */
#include "mech/rank_context.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

enum { TILE = 64, STAGE_BLOCKS_MOST = 512 };

/* The quickest of those that were tried on reviews with English trigrams, s from 1.2 to 2.4, c from
 * 1 to 20 (bench/bench_context.c). */
static const rank_stage usual_stages[RANK_STAGES] = {
    {6, 48, 0}, {16, UINT32_MAX, 64}, {UINT32_MAX, UINT32_MAX, STAGE_BLOCKS_MOST}};

/* ----------------------------------------------------------------- context -- */

static bool is_base_small(const tem_language *language) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < language->numbered; i++)
        sum += language->base[i];
    return sum <= UINT32_MAX;
}

/* PRIVACY: numbers must be the places of this order: those of another model with the same words
 * would look up the weights of other words. */
bool rank_context_serves(const law_form *form, const tem_language *language) {
    if (form->ranked == NULL || language->ids == NULL)
        return false;
    const rank_order *o = form->ranked->order;
    return SUCCESSOR_CELL % o->shape.block == 0 && language->numbered == o->shape.outputs &&
           memcmp(language->ids, o->sequence, language->numbered * sizeof *language->ids) == 0 &&
           is_base_small(language);
}

/* PRIVACY: the envelope must be nowhere lower than the columns. A word at place p that is not in
 * the list, which has K words, has the rank K + p - (how many places of the list are up to p). So
 * its rank is at least p, and at least K, as p is none of them. Heights never rise. */
static void set_bounds(rank_context *c) {
    const order_shape *s = &c->order->shape;
    for (uint32_t i = 0; i < c->order->blocks; i++) {
        const uint32_t rank = i * s->block > s->list ? i * s->block : s->list;
        c->bounds[i] = rank < s->outputs ? c->heights[rank] : 0;
    }
}

static void set_base_sums(rank_context *c) {
    for (uint32_t n = 0; n < c->order->shape.outputs; n++) {
        const uint32_t block = n / c->order->shape.block;
        if (n % c->order->shape.block == 0)
            c->base_sums[block + 1] = c->base_sums[block];
        c->base_sums[block + 1] += c->language->base[n];
    }
}

static size_t mark_words(const rank_order *o) {
    return (o->shape.outputs - 1) / SUCCESSOR_CELL + 1;
}

tem_status rank_context_init(rank_context *c, const law_form *form, const tem_language *language,
                             tem_error *error) {
    const rank_order *o = form->ranked->order;
    *c = (rank_context){.order = o,
                        .heights = form->ranked->heights,
                        .weights = form->weights,
                        .language = language,
                        .stages = usual_stages,
                        .bounds = core_alloc_zero(o->blocks + 1, sizeof *c->bounds),
                        .base_sums = core_alloc_zero(o->blocks + 1, sizeof *c->base_sums)};
    c->scratch_bytes = o->shape.list * (sizeof(uint64_t) + sizeof(uint32_t)) +
                       (STAGE_BLOCKS_MOST + mark_words(o)) * sizeof(uint64_t) +
                       o->blocks * sizeof(uint16_t);
    const tem_status status = c->bounds == NULL || c->base_sums == NULL
                                  ? core_fail_memory(error)
                                  : successor_maps_init(&c->maps, o->shape.outputs, error);
    if (status != TEM_OK) {
        rank_context_free(c);
        return status;
    }
    set_bounds(c);
    set_base_sums(c);
    return TEM_OK;
}

void rank_context_free(rank_context *c) {
    successor_maps_free(&c->maps);
    core_free(c->bounds);
    core_free(c->base_sums);
    *c = (rank_context){0};
}

/* ------------------------------------------------------------ the weights -- */

/* Adds what a level weighs for the entries of the list from `first` to `end` - 1: by its map.
 * First a loop without branches finds out which entries are successors. */
static void add_list_by_map(const rank_draw *d, const language_level *level,
                            const successor_cell *cells, uint32_t first, uint32_t end) {
    uint32_t there[TILE];
    while (first < end) {
        uint32_t count = 0;
        for (uint32_t tile = 0; tile < TILE && first < end; tile++, first++) {
            there[count] = first;
            count += successor_is_there(cells, d->numbers[first]);
        }
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t entry = successor_entry(cells, d->numbers[there[k]]);
            d->values[there[k]] += level->factor * (level->sums[entry + 1] - level->sums[entry]);
        }
    }
}

/* Where the list has a number, and 1; 0: nowhere. A loop for vector instructions. */
static uint32_t find_listed(const rank_draw *d, uint32_t number) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < d->c->order->shape.list; i++)
        found |= d->numbers[i] == number ? i + 1 : 0;
    return found;
}

/* The same by a pass over the successors. `listed` has the entries from `first` on. */
static void add_list_by_pass(const rank_draw *d, const language_level *level) {
    uint32_t there[TILE];
    for (uint32_t entry = 0; entry < level->count;) {
        uint32_t count = 0;
        for (uint32_t tile = 0; tile < TILE && entry < level->count; tile++, entry++) {
            const uint32_t number = level->numbers[entry];
            there[count] = entry;
            count += d->listed[number / SUCCESSOR_CELL] >> number % SUCCESSOR_CELL & 1;
        }
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t i = find_listed(d, level->numbers[there[k]]) - 1;
            d->values[i] += level->factor * (level->sums[there[k] + 1] - level->sums[there[k]]);
        }
    }
}

static void mark_list(const rank_draw *d, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++)
        d->listed[d->numbers[i] / SUCCESSOR_CELL] |= (uint64_t)1 << d->numbers[i] % SUCCESSOR_CELL;
}

static void unmark_list(const rank_draw *d, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++)
        d->listed[d->numbers[i] / SUCCESSOR_CELL] = 0;
}

static bool is_never(const rank_draw *d, uint32_t number) {
    return weights_at(d->c->weights, d->c->order->sequence[number]) == 0;
}

/* PRIVACY: factors alone, the same integers as those of language_ops.weight; and 0 for what this
 * run never releases. */
static void weigh_list(rank_draw *d, uint32_t end) {
    const uint32_t first = d->known;
    for (uint32_t i = first; i < end; i++)
        d->values[i] = d->at->base_factor * d->c->language->base[d->numbers[i]];
    mark_list(d, first, end);
    for (uint32_t k = 0; k < d->at->level_count; k++) {
        const language_level *level = &d->at->levels[k];
        const successor_cell *cells = successor_maps_find(&d->c->maps, level);
        if (cells != NULL)
            add_list_by_map(d, level, cells, first, end);
        else
            add_list_by_pass(d, level);
    }
    unmark_list(d, first, end);
    for (uint32_t i = first; d->c->weights->values != NULL && i < end; i++)
        if (is_never(d, d->numbers[i]))
            d->values[i] = 0;
    d->known = end;
}

/* What a level weighs for the blocks: by its map. */
static void add_blocks_by_map(const rank_draw *d, const language_level *level,
                              const successor_cell *cells) {
    const uint32_t size = d->c->order->shape.block;
    const uint64_t whole = UINT64_MAX >> (SUCCESSOR_CELL - size);
    for (uint32_t i = 0; i < d->blocks; i++) {
        const uint32_t number = d->path[i] * size;
        const uint64_t has = cells[number / SUCCESSOR_CELL].has >> number % SUCCESSOR_CELL & whole;
        if (has == 0)
            continue;
        const uint32_t entry = successor_entry(cells, number);
        const uint32_t end = entry + successor_bits(has);
        d->block_values[i] += level->factor * (level->sums[end] - level->sums[entry]);
    }
}

/* And by a pass over the successors. */
static void add_blocks_by_pass(const rank_draw *d, const language_level *level) {
    for (uint32_t i = 0; i < d->blocks; i++)
        d->block_order[d->path[i]] = (uint16_t)(i + 1);
    for (uint32_t entry = 0; entry < level->count; entry++) {
        const uint32_t i = d->block_order[level->numbers[entry] / d->c->order->shape.block];
        if (i > 0)
            d->block_values[i - 1] += level->factor * (level->sums[entry + 1] - level->sums[entry]);
    }
    for (uint32_t i = 0; i < d->blocks; i++)
        d->block_order[d->path[i]] = 0;
}

static void weigh_blocks(const rank_draw *d) {
    const uint32_t *sums = d->c->base_sums;
    for (uint32_t i = 0; i < d->blocks; i++)
        d->block_values[i] = d->at->base_factor * (sums[d->path[i] + 1] - sums[d->path[i]]);
    for (uint32_t k = 0; d->blocks > 0 && k < d->at->level_count; k++) {
        const language_level *level = &d->at->levels[k];
        const successor_cell *cells = successor_maps_find(&d->c->maps, level);
        if (cells != NULL)
            add_blocks_by_map(d, level, cells);
        else
            add_blocks_by_pass(d, level);
    }
}

/* ------------------------------------------------------------ the envelope -- */

void rank_draw_begin(rank_draw *d, const rank_context *c, void *scratch, const position_weights *at,
                     uint32_t word) {
    *d = (rank_draw){.c = c, .at = at, .word = word, .path = order_path(c->order, word)};
    d->values = scratch;
    d->block_values = d->values + c->order->shape.list;
    d->listed = d->block_values + STAGE_BLOCKS_MOST;
    d->numbers = (uint32_t *)(d->listed + mark_words(c->order));
    d->block_order = (uint16_t *)(d->numbers + c->order->shape.list);
    order_list_places(c->order, word, d->numbers);
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* The height below which `all` proposes: no column is higher, but those of the list and of the
 * blocks. */
static uint64_t floor_of(const rank_draw *d) {
    if (d->blocks > 0)
        return d->c->bounds[d->blocks];
    return d->list < d->c->order->shape.outputs ? d->c->heights[d->list] : 0;
}

void rank_draw_set_stage(rank_draw *d, const rank_stage *stage) {
    const rank_context *c = d->c;
    const uint32_t all = c->order->shape.list;
    d->blocks = smaller(stage->blocks, smaller(c->order->blocks, STAGE_BLOCKS_MOST));
    d->list = d->blocks > 0 ? all : smaller(stage->list, all);
    d->floor = floor_of(d);
    if (d->known < d->list)
        weigh_list(d, d->list);
    weigh_blocks(d);
    d->near = d->middle = 0;
    for (uint32_t i = 0; i < d->list; i++)
        d->near += (u256_wide)d->values[i] * (c->heights[i] - d->floor);
    for (uint32_t i = 0; i < d->blocks; i++)
        d->middle += (u256_wide)d->block_values[i] * (c->bounds[i] - d->floor);
    /* PRIVACY: the total of this position, since the language model draws by it. */
    d->far = (u256_wide)d->at->total * d->floor;
}

/* ------------------------------------------------------------- the columns -- */

/* How many blocks of a path have a bound above this height. */
static uint32_t blocks_above(const rank_context *c, uint64_t height) {
    uint32_t low = 0, step = TILE;
    while (low + step < c->order->blocks && c->bounds[low + step] > height) {
        low += step;
        step *= 2;
    }
    uint32_t high = smaller(low + step, c->order->blocks);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (c->bounds[middle] > height)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where a block is among the first of the path, and 1; 0: nowhere. A loop for vector
 * instructions. */
static uint32_t find_block(const uint16_t *path, uint32_t count, uint16_t block) {
    uint16_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found = (uint16_t)(found | (path[i] == block ? i + 1 : 0));
    return found;
}

/* Most points are so high that only few blocks have words with such a column: then most words are
 * rejected without their ranks. */
bool rank_draw_keeps(const rank_draw *d, uint32_t number, uint64_t height) {
    const rank_context *c = d->c;
    const uint32_t size = c->order->shape.block;
    const uint32_t i = find_block(d->path, blocks_above(c, height), (uint16_t)(number / size));
    if (i > 0) {
        const uint32_t place = (i - 1) * size + number % size;
        return c->heights[order_rank_on_path(c->order, d->word, place)] > height &&
               !is_never(d, number);
    }
    const uint32_t listed = find_listed(d, number);
    return listed > 0 && c->heights[listed - 1] > height && !is_never(d, number);
}

/* PRIVACY: what the part `list` has above the floor, no block may propose a second time. */
bool rank_draw_keeps_in_block(const rank_draw *d, uint32_t i, uint32_t offset, uint64_t height) {
    const rank_order *o = d->c->order;
    const uint32_t rank = order_rank_on_path(o, d->word, i * o->shape.block + offset);
    return rank >= d->list && d->c->heights[rank] > height &&
           !is_never(d, d->path[i] * o->shape.block + offset);
}

/* ------------------------------------------------------------------ rounds -- */

/* Uniform below `bound`, which is above 0. */
static u256_wide below(u256_wide bound, tem_rng *rng) {
    const u256 limit = {{(uint64_t)bound, (uint64_t)(bound >> 64), 0, 0}};
    const u256 drawn = rng_below256(rng, &limit);
    return (u256_wide)drawn.limb[1] << 64 | drawn.limb[0];
}

/* The entry on which `left` falls, which is below d->near. */
static uint32_t find_entry(const rank_draw *d, u256_wide left) {
    for (uint32_t i = 0;; i++) {
        const u256_wide size = (u256_wide)d->values[i] * (d->c->heights[i] - d->floor);
        if (left < size)
            return d->numbers[i];
        left -= size;
    }
}

/* The block on which `left` falls, which is below d->middle. */
static uint32_t find_block_of(const rank_draw *d, u256_wide left) {
    for (uint32_t i = 0;; i++) {
        const u256_wide size = (u256_wide)d->block_values[i] * (d->c->bounds[i] - d->floor);
        if (left < size)
            return i;
        left -= size;
    }
}

/* The word of a block, by weight. */
static uint32_t draw_in_block(const rank_draw *d, uint32_t i, tem_rng *rng) {
    const language_ops *ops = d->c->language->ops;
    const uint32_t *word = d->c->order->sequence + d->path[i] * d->c->order->shape.block;
    uint64_t left = rng_below(rng, d->block_values[i]);
    for (uint32_t offset = 0;; offset++) {
        const uint64_t weight = ops->weight(d->at, word[offset]);
        if (left < weight)
            return offset;
        left -= weight;
    }
}

static bool try_block(const rank_draw *d, u256_wide left, tem_rng *rng, uint32_t *number) {
    const uint32_t i = find_block_of(d, left), offset = draw_in_block(d, i, rng);
    const uint64_t height = d->floor + rng_below(rng, d->c->bounds[i] - d->floor);
    *number = d->path[i] * d->c->order->shape.block + offset;
    return rank_draw_keeps_in_block(d, i, offset, height);
}

static bool try_all(const rank_draw *d, tem_rng *rng, uint32_t *number) {
    *number = d->c->order->places[d->c->language->ops->draw(d->at, rng)];
    return rank_draw_keeps(d, *number, rng_below(rng, d->floor));
}

/* PRIVACY: a point that is in no column ends the round, and the next one draws its part anew. To
 * try the same part again would change the odds between the parts by an amount that depends on the
 * input word. */
static bool try_round(const rank_draw *d, tem_rng *rng, uint32_t *number) {
    const u256_wide drawn = below(d->near + d->middle + d->far, rng);
    if (drawn < d->near) {
        *number = find_entry(d, drawn);
        return true;
    }
    return drawn - d->near < d->middle ? try_block(d, drawn - d->near, rng, number)
                                       : try_all(d, rng, number);
}

void rank_draw_run(rank_draw *d, unsigned rounds, tem_rng *rng, uint32_t *out, bool *over) {
    const rank_stage *stage = d->c->stages;
    uint32_t number = 0;
    *over = false;
    for (unsigned round = 0; round < rounds && !*over; round++) {
        if (round == 0)
            rank_draw_set_stage(d, stage);
        else if (round == stage->rounds)
            rank_draw_set_stage(d, ++stage);
        if (d->near + d->middle + d->far == 0)
            return; /* nothing to draw: the caller finds that out */
        *over = try_round(d, rng, &number);
    }
    if (*over)
        *out = d->c->order->sequence[number];
}
