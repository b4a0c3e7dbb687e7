/* tiles.c - distances of all pairs, a tile at a time. */
#include "space/tiles.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* Squares fit 32 bits, UINT32_MAX excluded, if every vector is shorter than 2^15
 * units: (|x| + |y|)^2 < 2^32. */
enum { SQUARED_LENGTH_LIMIT = 1 << 30 };

tem_status tiles_init(tiles *t, const space *s, tem_error *error) {
    *t = (tiles){.space = s, .kernels = kernels_active()};
    if (s->metric != TEM_EUCLIDEAN)
        return TEM_OK;
    t->norms = core_alloc(s->count, sizeof *t->norms);
    if (t->norms == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < s->count; id++) {
        const int16_t *x = space_row(s, id);
        const int64_t norm = t->kernels->dot_i16(x, x, s->row_elements);
        if (norm >= SQUARED_LENGTH_LIMIT) {
            tiles_free(t);
            break;
        }
        t->norms[id] = (uint32_t)norm;
    }
    return TEM_OK;
}

void tiles_free(tiles *t) {
    core_free(t->norms);
    t->norms = NULL;
}

tem_dist tiles_distance(const tiles *t, uint32_t raw) {
    return t->norms == NULL ? raw : space_distance_of_square(t->space->step_log2, raw);
}

uint32_t tiles_limit(const tiles *t, tem_dist d) {
    const uint64_t last = t->norms == NULL ? d : space_square_of_distance(t->space->step_log2, d);
    return last >= UINT32_MAX ? UINT32_MAX : (uint32_t)last + 1;
}

static size_t element_pairs(const space *s) {
    return (s->dimension + (size_t)1) / 2;
}

tem_status tile_side_init(tile_side *side, const tiles *t, uint32_t capacity, tem_error *error) {
    const size_t rounded = core_round_up(capacity, TILE_COLUMNS) + TILE_COLUMNS;
    *side = (tile_side){.capacity = capacity};
    side->limits = core_alloc_zero(rounded, sizeof *side->limits);
    bool failed = side->limits == NULL;
    if (t->norms != NULL) {
        const size_t packed = element_pairs(t->space) * 2;
        side->norms = core_alloc_zero(rounded, sizeof *side->norms);
        side->rows = core_alloc_zero((size_t)TILE_ROWS * t->space->row_elements, sizeof(int16_t));
        side->packed = core_alloc_zero(rounded, packed * sizeof(int16_t));
        failed |= side->norms == NULL || side->rows == NULL || side->packed == NULL;
    }
    if (!failed)
        return TEM_OK;
    tile_side_free(side);
    return core_fail_memory(error);
}

void tile_side_free(tile_side *side) {
    core_free(side->limits);
    core_free(side->norms);
    core_free(side->rows);
    core_free(side->packed);
    *side = (tile_side){0};
}

static void set_span(tile_side *side, const tiles *t, uint32_t first, uint32_t count) {
    side->first = first;
    side->count = count;
    if (t->norms != NULL)
        memcpy(side->norms, t->norms + first, count * sizeof *side->norms);
}

void tile_side_set_rows(tile_side *side, const tiles *t, uint32_t first, uint32_t count) {
    set_span(side, t, first, count);
    if (t->norms == NULL)
        return;
    const size_t row_elements = t->space->row_elements;
    const uint32_t left = count % TILE_ROWS;
    memcpy(side->rows, space_row(t->space, first + count - left),
           left * row_elements * sizeof *side->rows);
    memset(side->rows + left * row_elements, 0,
           (TILE_ROWS - left) * row_elements * sizeof *side->rows);
}

/* The layout of tile_l2.packed, tile after tile of TILE_COLUMNS words. */
void tile_side_set_columns(tile_side *side, const tiles *t, uint32_t first, uint32_t count) {
    set_span(side, t, first, count);
    if (t->norms == NULL)
        return;
    const size_t pairs = element_pairs(t->space);
    for (uint32_t i = 0; i < core_round_up(count, TILE_COLUMNS); i++) {
        int16_t *column = side->packed + i / TILE_COLUMNS * pairs * TILE_COLUMNS * 2 +
                          i % TILE_COLUMNS * (size_t)2;
        const int16_t *row = i < count ? space_row(t->space, first + i) : NULL;
        for (size_t p = 0; p < pairs; p++) {
            column[p * TILE_COLUMNS * 2] = row == NULL ? 0 : row[2 * p];
            column[p * TILE_COLUMNS * 2 + 1] = row == NULL ? 0 : row[2 * p + 1];
        }
    }
}

static bool compute_squares(const tiles *t, const tile_side *rows, uint32_t row,
                            const tile_side *columns, uint32_t column, tile *out) {
    const bool whole = row + TILE_ROWS <= rows->count;
    const size_t pairs = element_pairs(t->space);
    const tile_l2 request = {
        .rows = whole ? space_row(t->space, rows->first + row) : rows->rows,
        .row_stride = t->space->row_elements,
        .packed = columns->packed + column / TILE_COLUMNS * pairs * TILE_COLUMNS * 2,
        .pairs = pairs,
        .row_norms = rows->norms + row,
        .column_norms = columns->norms + column,
        .row_limits = rows->limits + row,
        .column_limits = columns->limits + column,
    };
    return t->kernels->tile_l2_i16(&request, out->raw, out->hits);
}

static bool compute_distances(const tiles *t, const tile_side *rows, uint32_t row,
                              const tile_side *columns, uint32_t column, tile *out) {
    uint32_t any = 0;
    for (uint32_t r = 0; r < TILE_ROWS && row + r < rows->count; r++) {
        out->hits[r] = 0;
        for (uint32_t c = 0; c < TILE_COLUMNS && column + c < columns->count; c++) {
            const uint32_t raw =
                space_distance(t->space, rows->first + row + r, columns->first + column + c);
            const bool hit = raw < rows->limits[row + r] || raw < columns->limits[column + c];
            out->raw[r][c] = raw;
            out->hits[r] |= (uint32_t)hit << c;
        }
        any |= out->hits[r];
    }
    return any != 0;
}

/* Clears the hits of rows and columns that only pad the tile. */
static bool clear_padding(tile *out, uint32_t rows_left, uint32_t columns_left) {
    const uint32_t columns =
        columns_left >= TILE_COLUMNS ? UINT32_MAX : ((uint32_t)1 << columns_left) - 1;
    uint32_t any = 0;
    for (uint32_t r = 0; r < TILE_ROWS; r++) {
        out->hits[r] &= r < rows_left ? columns : 0;
        any |= out->hits[r];
    }
    return any != 0;
}

bool tiles_compute(const tiles *t, const tile_side *rows, uint32_t row, const tile_side *columns,
                   uint32_t column, tile *out) {
    bool any = t->norms != NULL ? compute_squares(t, rows, row, columns, column, out)
                                : compute_distances(t, rows, row, columns, column, out);
    return any && clear_padding(out, rows->count - row, columns->count - column);
}
