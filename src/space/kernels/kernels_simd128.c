/* kernels_simd128.c - the kernels for WebAssembly, 128 bits wide. */
#include "space/kernels/kernels.h"

#include <math.h>
#include <string.h>
#include <wasm_simd128.h>

/* Adds the 32-bit lanes, as unsigned numbers, to the 64-bit lanes of `sum`. */
static inline v128_t widen_u32(v128_t sum, v128_t lanes) {
    return wasm_i64x2_add(sum, wasm_i64x2_add(wasm_u64x2_extend_low_u32x4(lanes),
                                              wasm_u64x2_extend_high_u32x4(lanes)));
}

/* The same for signed numbers. */
static inline v128_t widen_i32(v128_t sum, v128_t lanes) {
    return wasm_i64x2_add(sum, wasm_i64x2_add(wasm_i64x2_extend_low_i32x4(lanes),
                                              wasm_i64x2_extend_high_i32x4(lanes)));
}

static inline uint64_t reduce_add_i64(v128_t lanes) {
    return (uint64_t)wasm_i64x2_extract_lane(lanes, 0) +
           (uint64_t)wasm_i64x2_extract_lane(lanes, 1);
}

static inline v128_t difference(const int16_t *a, const int16_t *b) {
    return wasm_i16x8_sub(wasm_v128_load(a), wasm_v128_load(b));
}

/* Two multiply-adds of squares are at most 4 * 32766^2 < 2^32, but three may be more.
 * So the sum is widened after every second one. */
static uint64_t l2_i16_simd128(const int16_t *a, const int16_t *b, size_t elements) {
    v128_t sum = wasm_i64x2_const(0, 0);
    for (size_t i = 0; i < elements; i += 16) {
        const v128_t first = difference(a + i, b + i), second = difference(a + i + 8, b + i + 8);
        sum = widen_u32(sum, wasm_i32x4_add(wasm_i32x4_dot_i16x8(first, first),
                                            wasm_i32x4_dot_i16x8(second, second)));
    }
    return reduce_add_i64(sum);
}

/* A lane gains at most 2 * 32766 per step, 2^25 in a row of 4096. */
static uint64_t l1_i16_simd128(const int16_t *a, const int16_t *b, size_t elements) {
    const v128_t zero = wasm_i64x2_const(0, 0);
    v128_t sum = zero;
    for (size_t i = 0; i < elements; i += 8) {
        const v128_t absolute = wasm_i16x8_abs(difference(a + i, b + i));
        sum = wasm_i32x4_add(sum, wasm_u32x4_extadd_pairwise_u16x8(absolute));
    }
    return reduce_add_i64(widen_u32(zero, sum));
}

static uint32_t linf_i16_simd128(const int16_t *a, const int16_t *b, size_t elements) {
    v128_t largest = wasm_i64x2_const(0, 0);
    for (size_t i = 0; i < elements; i += 8)
        largest = wasm_u16x8_max(largest, wasm_i16x8_abs(difference(a + i, b + i)));
    uint16_t lanes[8];
    uint32_t found = 0;
    wasm_v128_store(lanes, largest);
    for (unsigned i = 0; i < 8; i++)
        found = lanes[i] > found ? lanes[i] : found;
    return found;
}

/* One multiply-add is at most 2 * 16383^2 < 2^29, so two stay far inside int32. */
static int64_t dot_i16_simd128(const int16_t *a, const int16_t *b, size_t elements) {
    v128_t sum = wasm_i64x2_const(0, 0);
    for (size_t i = 0; i < elements; i += 16) {
        const v128_t first = wasm_i32x4_dot_i16x8(wasm_v128_load(a + i), wasm_v128_load(b + i));
        const v128_t second =
            wasm_i32x4_dot_i16x8(wasm_v128_load(a + i + 8), wasm_v128_load(b + i + 8));
        sum = widen_i32(sum, wasm_i32x4_add(first, second));
    }
    return (int64_t)reduce_add_i64(sum);
}

/* Elements 0 and 2 (even), and elements 1 and 3 (odd), of each quad as int16. */
static inline v128_t even_signed(v128_t quads) {
    return wasm_i16x8_shr(wasm_i16x8_shl(quads, 8), 8);
}

static inline v128_t odd_signed(v128_t quads) {
    return wasm_i16x8_shr(quads, 8);
}

static inline v128_t even_unsigned(v128_t quads) {
    return wasm_v128_and(quads, wasm_i16x8_const_splat(0xff));
}

static inline v128_t odd_unsigned(v128_t quads) {
    return wasm_u16x8_shr(quads, 8);
}

enum { LANES = 4 }; /* columns at a time */

/* The hits of row r among the LANES columns from `column` on, at their bits. A score is above one
 * of two limits if it is above the smaller one. */
static inline uint32_t hits_at(const tile_codes *tile, size_t r, size_t column, v128_t sums) {
    const v128_t base = wasm_i32x4_add(wasm_i32x4_splat(tile->row_base[r]),
                                       wasm_v128_load(tile->column_base + column));
    const v128_t limit = wasm_i32x4_min(wasm_i32x4_splat(tile->row_limit[r]),
                                        wasm_v128_load(tile->column_limit + column));
    return (uint32_t)wasm_i32x4_bitmask(wasm_i32x4_gt(wasm_i32x4_add(base, sums), limit)) << column;
}

static uint32_t row_hits(const tile_codes *tile, size_t r, size_t column) {
    const uint8_t *row = tile->rows + (r / TILE_ROWS * tile->quads * TILE_ROWS + r % TILE_ROWS) * 4;
    const int8_t *columns = tile->columns + 4 * column;
    v128_t sums = wasm_i32x4_const(0, 0, 0, 0);
    for (size_t q = 0; q < tile->quads; q++, row += 4 * TILE_ROWS, columns += 4 * TILE_COLUMNS) {
        const v128_t codes = wasm_v128_load32_splat(row), quads = wasm_v128_load(columns);
        sums = wasm_i32x4_add(
            sums, wasm_i32x4_add(wasm_i32x4_dot_i16x8(even_signed(quads), even_unsigned(codes)),
                                 wasm_i32x4_dot_i16x8(odd_signed(quads), odd_unsigned(codes))));
    }
    return hits_at(tile, r, column, sums);
}

static void tile_codes_simd128(const tile_codes *tile, uint32_t *hits) {
    for (size_t r = 0; r < tile->strips * TILE_ROWS; r++) {
        hits[r] = 0;
        for (size_t column = 0; column < TILE_COLUMNS; column += LANES)
            hits[r] |= row_hits(tile, r, column);
    }
}

static void tile_dots_simd128(const tile_vectors *tile, uint32_t *dots) {
    for (size_t r = 0; r < tile->strips * TILE_ROWS; r++)
        for (size_t column = 0; column < TILE_COLUMNS; column += LANES, dots += LANES) {
            const int16_t *row =
                tile->rows + (r / TILE_ROWS * tile->pairs * TILE_ROWS + r % TILE_ROWS) * 2;
            const int16_t *columns = tile->columns + 2 * column;
            v128_t sums = wasm_i32x4_const(0, 0, 0, 0);
            for (size_t p = 0; p < tile->pairs;
                 p++, row += 2 * TILE_ROWS, columns += 2 * TILE_COLUMNS)
                sums = wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(wasm_v128_load32_splat(row),
                                                                 wasm_v128_load(columns)));
            wasm_v128_store(dots, sums);
        }
}

#define ROOTS_NAME roots_u32_simd128
#include "space/kernels/roots.inc"

const kernels kernels_simd128 = {
    .name = "simd128",
    .l2_i16 = l2_i16_simd128,
    .l1_i16 = l1_i16_simd128,
    .linf_i16 = linf_i16_simd128,
    .dot_i16 = dot_i16_simd128,
    .tile_codes = tile_codes_simd128,
    .tile_dots = tile_dots_simd128,
    .roots_u32 = roots_u32_simd128,
};
