/* compare.c - compares all pairs of words of two blocks. */
#include "index/compare.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

enum {
    PAIRS_MAX = 2048, /* room for pairs before they are offered */
    SETTLE = 256,     /* with this many pairs, offer them after the current tile */
    PREFETCH = 8,     /* how many pairs ahead to prefetch vectors */
    RANGE = 96        /* rows that meet all columns before the next rows do */
};
_Static_assert(RANGE % TILE_ROWS == 0 && RANGE % 2 == 0, "whole strips, pairs of rows");

static tem_status side_init(compared_side *side, uint32_t capacity) {
    *side = (compared_side){.distances = core_alloc_zero(capacity, sizeof *side->distances),
                            .squares = core_alloc_zero(capacity, sizeof *side->squares),
                            .scores = core_alloc_zero(capacity, sizeof *side->scores)};
    const bool failed = side->distances == NULL || side->squares == NULL || side->scores == NULL;
    return failed ? TEM_ERR_MEMORY : TEM_OK;
}

static void side_free(compared_side *side) {
    core_free(side->distances);
    core_free(side->squares);
    core_free(side->scores);
}

tem_status comparer_init(comparer *c, const comparison *shared, tem_error *error) {
    const uint32_t capacity = shared->blocks->capacity;
    *c = (comparer){.shared = shared, .kernels = kernels_active()};
    c->strips = core_alloc(capacity, shared->codes == NULL ? 0 : 4 * shared->codes->quads);
    c->pairs = core_alloc_zero(PAIRS_MAX + PREFETCH, sizeof *c->pairs);
    c->pair_distances = core_alloc(PAIRS_MAX, sizeof *c->pair_distances);
    c->pair_squares = core_alloc(PAIRS_MAX, sizeof *c->pair_squares);
    if (c->strips == NULL || c->pairs == NULL || c->pair_distances == NULL ||
        c->pair_squares == NULL || side_init(&c->rows, capacity) != TEM_OK ||
        side_init(&c->columns, capacity) != TEM_OK)
        return core_fail_memory(error);
    return TEM_OK;
}

void comparer_free(comparer *c) {
    side_free(&c->rows);
    side_free(&c->columns);
    core_free(c->strips);
    core_free(c->pairs);
    core_free(c->pair_distances);
    core_free(c->pair_squares);
    *c = (comparer){0};
}

/* Looks up the cutoffs of the words first to end - 1 of a side: how near a word of the other side
 * must be to change anything. */
static void look_up_cutoffs(const comparison *s, compared_side *side, const compared_side *others,
                            uint32_t first, uint32_t end) {
    const uint32_t range = blocks_range(s->blocks, others->block);
    for (uint32_t i = first; i < end; i++) {
        const tem_dist cutoff = lists_cutoff(s->lists, side->first + i, range);
        /* `squares` always fits `distances`, whatever word they were for. The search for a raw
         * number may be slow, and most cutoffs stay. */
        if (s->codes == NULL && cutoff != side->distances[i])
            side->squares[i] = space_raw_of_distance(s->space, cutoff);
        side->distances[i] = cutoff;
    }
    if (s->codes == NULL)
        return;
    const uint16_t *errors = s->codes->errors + blocks_slot(s->blocks, side->block, 0);
    const uint32_t error = s->error_most[others->block];
    for (uint32_t i = first; i < end; i++) {
        side->squares[i] = space_square_of_distance(s->space->step_log2, side->distances[i]);
        /* (*) of codes.h: the distance, plus the error of this code, plus that of the other. */
        side->scores[i] =
            codes_limit(codes_reach(s->codes, side->distances[i]) + errors[i] + error);
    }
}

static void look_up_rows(comparer *c) {
    const uint32_t end = c->row_end < c->rows.size ? c->row_end : c->rows.size;
    look_up_cutoffs(c->shared, &c->rows, &c->columns, c->row_first, end);
}

static void look_up_columns(comparer *c) {
    look_up_cutoffs(c->shared, &c->columns, &c->rows, 0, c->columns.size);
    c->offered = 0;
}

/* Keeps only the pairs whose exact square is within a cutoff, and computes their distances. About
 * half of the pairs are kept, in no order. The loop has no branch for that, because the processor
 * would often mispredict it. */
static void refine(comparer *c) {
    const space *s = c->shared->space;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->pair_count; i++) {
        const word_pair pair = c->pairs[i];
        /* Rows stay in the cache while their block meets all other blocks; columns do not. */
        space_prefetch(s, c->columns.first + c->pairs[i + PREFETCH].column);
        const uint64_t square =
            c->kernels->l2_i16(space_row(s, c->rows.first + pair.row),
                               space_row(s, c->columns.first + pair.column), s->row_elements);
        c->pairs[kept] = pair;
        c->pair_squares[kept] = square;
        kept += (square <= c->rows.squares[pair.row]) | (square <= c->columns.squares[pair.column]);
    }
    for (uint32_t i = 0; i < kept; i++)
        c->pair_distances[i] = space_distance_of_square(s->step_log2, c->pair_squares[i]);
    c->pair_count = kept;
}

static void offer_to_rows(comparer *c) {
    lists_lock(c->shared->lists, c->rows.block);
    for (uint32_t i = 0; i < c->pair_count; i++) {
        const word_pair pair = c->pairs[i];
        if (c->pair_distances[i] <= c->rows.distances[pair.row])
            lists_offer(c->shared->lists, c->rows.first + pair.row, c->columns.first + pair.column,
                        c->pair_distances[i]);
    }
    lists_unlock(c->shared->lists, c->rows.block);
}

static void offer_to_columns(comparer *c) {
    const bool same = c->rows.block == c->columns.block;
    lists_lock(c->shared->lists, c->columns.block);
    for (uint32_t i = 0; i < c->pair_count; i++) {
        const word_pair pair = c->pairs[i];
        if (c->pair_distances[i] <= c->columns.distances[pair.column] &&
            !(same && pair.row == pair.column))
            lists_offer(c->shared->lists, c->columns.first + pair.column, c->rows.first + pair.row,
                        c->pair_distances[i]);
    }
    lists_unlock(c->shared->lists, c->columns.block);
}

/* Offers the collected pairs to both sides, and looks up the cutoffs of the current rows again. New
 * cutoffs of the columns would come too late: a column is not compared again before the next RANGE
 * rows. */
static void settle(comparer *c) {
    if (c->shared->codes != NULL)
        refine(c);
    offer_to_rows(c);
    offer_to_columns(c);
    c->offered += c->pair_count;
    c->pair_count = 0;
    look_up_rows(c);
}

static void collect(comparer *c, uint32_t row, uint32_t column) {
    c->pairs[c->pair_count++] = (word_pair){row, column};
    if (c->pair_count == PAIRS_MAX)
        settle(c);
}

/* Within one block each pair appears twice. It is taken where the row is not larger than the
 * column. */
static bool is_first(const comparer *c, uint32_t row, uint32_t column) {
    return c->rows.block != c->columns.block || row <= column;
}

/* Sets `found` to the pairs of neighboring rows in which a row has a hit, each by its first row.
 * Returns their number. The loop has no branch, because the processor would often mispredict it. */
static uint32_t rows_hit(const uint32_t *hits, uint32_t count, uint32_t *found) {
    uint32_t used = 0;
    for (uint32_t r = 0; r < count; r += 2) {
        uint64_t both;
        memcpy(&both, hits + r, sizeof both);
        found[used] = r;
        used += both != 0;
    }
    return used;
}

/* Compares the codes of the rows row_first to end - 1, which are whole strips, with those of
 * TILE_COLUMNS columns, and collects the pairs near enough. */
static void compare_tile(comparer *c, uint32_t end, uint32_t column) {
    const uint32_t first = c->row_first;
    const codes *k = c->shared->codes;
    const blocks *b = c->shared->blocks;
    const size_t row_slot = blocks_slot(b, c->rows.block, first);
    const size_t column_slot = blocks_slot(b, c->columns.block, column);
    const tile_codes tile = {
        .rows = c->strips + (size_t)first * 4 * k->quads,
        .columns = k->packed + column_slot * 4 * k->quads,
        .strips = (end - first) / TILE_ROWS,
        .quads = k->quads,
        .row_base = k->row_base + row_slot,
        .row_limit = c->rows.scores + first,
        .column_base = k->column_base + column_slot,
        .column_limit = c->columns.scores + column,
    };
    uint32_t hits[RANGE], found[RANGE / 2];
    c->kernels->tile_codes(&tile, hits);
    const uint32_t count = rows_hit(hits, end - first, found);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t both;
        memcpy(&both, hits + found[i], sizeof both);
        for (; both != 0; both &= both - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(both);
            const uint32_t row = first + found[i] + bit / 32, hit = column + bit % 32;
            if (is_first(c, row, hit))
                collect(c, row, hit);
        }
    }
    if (c->pair_count >= SETTLE)
        settle(c);
}

static uint32_t whole_strips(uint32_t rows) {
    return (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
}

static void compare_range(comparer *c) {
    const bool same = c->rows.block == c->columns.block;
    for (uint32_t column = 0; column < c->columns.size; column += TILE_COLUMNS) {
        const uint32_t diagonal = whole_strips(column + TILE_COLUMNS);
        const uint32_t end = same && diagonal < c->row_end ? diagonal : c->row_end;
        if (c->row_first < end)
            compare_tile(c, end, column);
    }
}

/* Looks up the cutoffs of the columns again where that pays: words that meet a range of the
 * vocabulary for the first time have cutoffs that are too large. With one look-up per block the
 * search found 1040 pairs per word instead of 616 (80,000 words, RANGE = 192). */
static void compare_codes(comparer *c) {
    const uint32_t end = whole_strips(c->rows.size);
    for (c->row_first = 0; c->row_first < end; c->row_first = c->row_end) {
        c->row_end = c->row_first + RANGE < end ? c->row_first + RANGE : end;
        look_up_rows(c);
        if (c->row_first == 0 || c->offered > c->columns.size / 2)
            look_up_columns(c);
        compare_range(c);
    }
    settle(c);
}

static void compare_distances(comparer *c) {
    c->row_first = 0;
    c->row_end = c->rows.size;
    look_up_rows(c);
    look_up_columns(c);
    for (uint32_t row = 0; row < c->rows.size; row++)
        for (uint32_t column = 0; column < c->columns.size; column++) {
            if (!is_first(c, row, column))
                continue;
            const uint64_t raw =
                space_raw(c->shared->space, c->rows.first + row, c->columns.first + column);
            if (raw > c->rows.squares[row] && raw > c->columns.squares[column])
                continue;
            c->pair_distances[c->pair_count] = space_distance_of_raw(c->shared->space, raw);
            collect(c, row, column);
        }
    settle(c);
}

void comparer_set_rows(comparer *c, uint32_t block) {
    const comparison *s = c->shared;
    c->rows.block = block;
    c->rows.first = blocks_first(s->blocks, block);
    c->rows.size = blocks_size(s->blocks, block);
    if (s->codes != NULL)
        codes_rows(s->codes, blocks_slot(s->blocks, block, 0), s->blocks->capacity, c->strips);
}

void comparer_run(comparer *c, uint32_t block) {
    c->columns.block = block;
    c->columns.first = blocks_first(c->shared->blocks, block);
    c->columns.size = blocks_size(c->shared->blocks, block);
    if (c->rows.size == 0 || c->columns.size == 0)
        return;
    if (c->shared->codes == NULL)
        compare_distances(c);
    else
        compare_codes(c);
}
