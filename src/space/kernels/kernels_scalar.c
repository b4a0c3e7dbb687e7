/* kernels_scalar.c - the reference: every other set must return the same bits.
 *
 * The build compiles it without auto-vectorization, so that a test of another set
 * against this one never compares the vectorizer with itself. Sums are unsigned or 64
 * bits wide, so values from a damaged file give wrong numbers, not undefined behavior. */
#include "space/kernels/kernels.h"

#include <math.h>
#include <stdlib.h>

static uint64_t l2_i16_scalar(const int16_t *a, const int16_t *b, size_t elements) {
    uint64_t sum = 0;
    for (size_t i = 0; i < elements; i++) {
        const int64_t difference = (int64_t)a[i] - b[i];
        sum += (uint64_t)(difference * difference);
    }
    return sum;
}

static uint64_t l1_i16_scalar(const int16_t *a, const int16_t *b, size_t elements) {
    uint64_t sum = 0;
    for (size_t i = 0; i < elements; i++)
        sum += (uint64_t)abs(a[i] - b[i]);
    return sum;
}

static uint32_t linf_i16_scalar(const int16_t *a, const int16_t *b, size_t elements) {
    uint32_t largest = 0;
    for (size_t i = 0; i < elements; i++) {
        const uint32_t difference = (uint32_t)abs(a[i] - b[i]);
        if (difference > largest)
            largest = difference;
    }
    return largest;
}

static int64_t dot_i16_scalar(const int16_t *a, const int16_t *b, size_t elements) {
    int64_t sum = 0;
    for (size_t i = 0; i < elements; i++)
        sum += (int64_t)a[i] * b[i];
    return sum;
}

static int32_t score(const tile_codes *tile, size_t row, size_t column) {
    const uint8_t *a =
        tile->rows + (row / TILE_ROWS * tile->quads * TILE_ROWS + row % TILE_ROWS) * 4;
    const int8_t *b = tile->columns + column * 4;
    int32_t sum = tile->row_base[row] + tile->column_base[column];
    for (size_t q = 0; q < tile->quads; q++, a += 4 * TILE_ROWS, b += 4 * TILE_COLUMNS)
        for (size_t e = 0; e < 4; e++)
            sum += a[e] * b[e];
    return sum;
}

static void tile_codes_scalar(const tile_codes *tile, uint32_t *hits) {
    for (size_t r = 0; r < tile->strips * TILE_ROWS; r++) {
        hits[r] = 0;
        for (size_t c = 0; c < TILE_COLUMNS; c++) {
            const int32_t found = score(tile, r, c);
            const bool hit = found > tile->row_limit[r] || found > tile->column_limit[c];
            hits[r] |= (uint32_t)hit << c;
        }
    }
}

static uint32_t dot_in_tile(const tile_vectors *tile, size_t row, size_t column) {
    const int16_t *a =
        tile->rows + (row / TILE_ROWS * tile->pairs * TILE_ROWS + row % TILE_ROWS) * 2;
    const int16_t *b = tile->columns + column * 2;
    uint32_t sum = 0;
    for (size_t p = 0; p < tile->pairs; p++, a += 2 * TILE_ROWS, b += 2 * TILE_COLUMNS)
        sum += (uint32_t)(a[0] * b[0]) + (uint32_t)(a[1] * b[1]);
    return sum;
}

static void tile_dots_scalar(const tile_vectors *tile, uint32_t *dots) {
    for (size_t r = 0; r < tile->strips * TILE_ROWS; r++)
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            dots[r * TILE_COLUMNS + c] = dot_in_tile(tile, r, c);
}

#define ROOTS_NAME roots_u32_scalar
#include "space/kernels/roots.inc"

const kernels kernels_scalar = {
    .name = "scalar",
    .l2_i16 = l2_i16_scalar,
    .l1_i16 = l1_i16_scalar,
    .linf_i16 = linf_i16_scalar,
    .dot_i16 = dot_i16_scalar,
    .tile_codes = tile_codes_scalar,
    .tile_dots = tile_dots_scalar,
    .roots_u32 = roots_u32_scalar,
};
