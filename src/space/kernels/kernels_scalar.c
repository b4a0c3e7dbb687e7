/* kernels_scalar.c - the reference: what every other set must return, bit by bit.
 *
 * Compiled without auto-vectorisation, so that a test of another set against this
 * one never compares the vectoriser with itself. Sums are unsigned or 64 bits
 * wide: values from a damaged file give other numbers, not undefined behaviour. */
#include "space/kernels/kernels.h"

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

/* The scalar product of row r and column c, modulo 2^32. */
static uint32_t tile_dot(const tile_l2 *tile, size_t r, size_t c) {
    const int16_t *row = tile->rows + r * tile->row_stride;
    uint32_t sum = 0;
    for (size_t p = 0; p < tile->pairs; p++) {
        const int16_t *column = tile->packed + (p * TILE_COLUMNS + c) * 2;
        sum += (uint32_t)(row[2 * p] * column[0]);
        sum += (uint32_t)(row[2 * p + 1] * column[1]);
    }
    return sum;
}

static bool tile_l2_i16_scalar(const tile_l2 *tile, uint32_t squares[TILE_ROWS][TILE_COLUMNS],
                               uint32_t hits[TILE_ROWS]) {
    uint32_t any = 0;
    for (size_t r = 0; r < TILE_ROWS; r++) {
        hits[r] = 0;
        for (size_t c = 0; c < TILE_COLUMNS; c++) {
            const uint32_t square =
                tile->row_norms[r] + tile->column_norms[c] - 2 * tile_dot(tile, r, c);
            const bool hit = square < tile->row_limits[r] || square < tile->column_limits[c];
            squares[r][c] = square;
            hits[r] |= (uint32_t)hit << c;
        }
        any |= hits[r];
    }
    return any != 0;
}

const kernels kernels_scalar = {
    .name = "scalar",
    .l2_i16 = l2_i16_scalar,
    .l1_i16 = l1_i16_scalar,
    .linf_i16 = linf_i16_scalar,
    .dot_i16 = dot_i16_scalar,
    .tile_l2_i16 = tile_l2_i16_scalar,
};
