/* squares.c - the exact distances between whole blocks of words. */
#include "space/squares.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

_Static_assert(SQUARES_BLOCK % TILE_ROWS == 0 && SQUARES_BLOCK % TILE_COLUMNS == 0,
               "whole strips and tiles");

enum { STRIPS = SQUARES_BLOCK / TILE_ROWS, SQUARE_BITS = 32 };

/* Returns element i of word `id`, or 0 after the last element or the last word. */
static int16_t element(const space *s, uint32_t id, size_t i) {
    return id < s->count && i < s->dimension ? space_row(s, id)[i] : 0;
}

static void pack_columns(squares *q) {
    int16_t *to = q->columns;
    for (uint32_t tile = 0; tile < q->blocks * SQUARES_BLOCK; tile += TILE_COLUMNS)
        for (size_t pair = 0; pair < q->pairs; pair++)
            for (uint32_t c = 0; c < TILE_COLUMNS; c++, to += 2) {
                to[0] = element(q->space, tile + c, 2 * pair);
                to[1] = element(q->space, tile + c, 2 * pair + 1);
            }
}

bool squares_fit(const space *s, tem_dist reach) {
    return s->metric->is_euclidean &&
           space_square_of_distance(s->step_log2, reach) >> SQUARE_BITS == 0;
}

tem_status squares_init(squares *q, const space *s, tem_dist reach, tem_error *error) {
    *q = (squares){.space = s,
                   .pairs = (s->dimension + (size_t)1) / 2,
                   .blocks = (s->count + SQUARES_BLOCK - 1) / SQUARES_BLOCK};
    if (!squares_fit(s, reach))
        return TEM_OK;
    const size_t words = (size_t)q->blocks * SQUARES_BLOCK;
    q->columns = core_alloc(words, q->pairs * 2 * sizeof *q->columns);
    q->norms = core_alloc_zero(words, sizeof *q->norms);
    if (q->columns == NULL || q->norms == NULL) {
        squares_free(q);
        return core_fail_memory(error);
    }
    pack_columns(q);
    for (uint32_t id = 0; id < s->count; id++) {
        const int16_t *row = space_row(s, id);
        q->norms[id] = (uint32_t)(uint64_t)kernels_active()->dot_i16(row, row, s->row_elements);
    }
    return TEM_OK;
}

void squares_free(squares *q) {
    core_free(q->columns);
    core_free(q->norms);
    q->columns = NULL;
    q->norms = NULL;
}

tem_status squares_room_init(squares_room *room, const squares *q, unsigned threads,
                             tem_error *error) {
    room->strip_elements = SQUARES_BLOCK * q->pairs * 2;
    room->strips = core_alloc(threads, room->strip_elements * sizeof *room->strips);
    room->tiles = core_alloc((size_t)threads * SQUARES_BLOCK * SQUARES_BLOCK, sizeof *room->tiles);
    return room->strips == NULL || room->tiles == NULL ? core_fail_memory(error) : TEM_OK;
}

void squares_room_free(squares_room *room) {
    core_free(room->strips);
    core_free(room->tiles);
}

void squares_set_rows(const squares *q, squares_room *room, unsigned thread, uint32_t block) {
    int16_t *strips = room->strips + thread * room->strip_elements;
    if (q->columns == NULL)
        return;
    for (uint32_t strip = 0; strip < STRIPS; strip++)
        for (size_t pair = 0; pair < q->pairs; pair++)
            for (uint32_t r = 0; r < TILE_ROWS; r++, strips += 2) {
                const uint32_t id = block * SQUARES_BLOCK + strip * TILE_ROWS + r;
                strips[0] = element(q->space, id, 2 * pair);
                strips[1] = element(q->space, id, 2 * pair + 1);
            }
}

static void one_by_one(const squares *q, uint32_t rows, uint32_t columns, tem_dist *out) {
    for (uint32_t r = 0; r < squares_block_size(q, rows); r++)
        space_distances(q->space, rows * SQUARES_BLOCK + r, columns * SQUARES_BLOCK,
                        squares_block_size(q, columns), out + (size_t)r * SQUARES_BLOCK);
}

const uint32_t *squares_meet_squares(const squares *q, squares_room *room, unsigned thread,
                                     uint32_t rows, uint32_t columns) {
    uint32_t dots[SQUARES_BLOCK * TILE_COLUMNS];
    uint32_t *out = room->tiles + (size_t)thread * SQUARES_BLOCK * SQUARES_BLOCK;
    const uint32_t *row_norms = q->norms + (size_t)rows * SQUARES_BLOCK;
    for (uint32_t tile = 0; tile < SQUARES_BLOCK; tile += TILE_COLUMNS) {
        const size_t first = (size_t)columns * SQUARES_BLOCK + tile;
        const tile_vectors vectors = {.rows = room->strips + thread * room->strip_elements,
                                      .columns = q->columns + first * q->pairs * 2,
                                      .strips = STRIPS,
                                      .pairs = q->pairs};
        kernels_active()->tile_dots(&vectors, dots);
        for (uint32_t r = 0; r < SQUARES_BLOCK; r++)
            for (uint32_t c = 0; c < TILE_COLUMNS; c++)
                out[(size_t)r * SQUARES_BLOCK + tile + c] =
                    row_norms[r] + q->norms[first + c] - 2 * dots[r * TILE_COLUMNS + c];
    }
    return out;
}

const tem_dist *squares_meet(const squares *q, squares_room *room, unsigned thread, uint32_t rows,
                             uint32_t columns) {
    tem_dist *out = room->tiles + (size_t)thread * SQUARES_BLOCK * SQUARES_BLOCK;
    if (squares_have_products(q))
        space_distances_of_squares(q->space, squares_meet_squares(q, room, thread, rows, columns),
                                   SQUARES_BLOCK * SQUARES_BLOCK, out);
    else
        one_by_one(q, rows, columns, out);
    return out;
}
