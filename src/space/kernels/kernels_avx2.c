/* kernels_avx2.c - 256 bits. */
#include "space/kernels/kernels.h"

#include <immintrin.h>
#include <string.h>

static inline __m256i load(const void *from) {
    return _mm256_loadu_si256(from);
}

/* The 32-bit lanes, taken as unsigned, added to the 64-bit lanes of `sum`. */
static inline __m256i widen_u32(__m256i sum, __m256i lanes) {
    const __m256i low = _mm256_and_si256(lanes, _mm256_set1_epi64x(0xffffffff));
    return _mm256_add_epi64(sum, _mm256_add_epi64(low, _mm256_srli_epi64(lanes, 32)));
}

/* The same, taken as signed. AVX2 has no arithmetic shift of 64-bit lanes. */
static inline __m256i widen_i32(__m256i sum, __m256i lanes) {
    const __m256i low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(lanes));
    const __m256i high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(lanes, 1));
    return _mm256_add_epi64(sum, _mm256_add_epi64(low, high));
}

static inline int64_t reduce_add_i64(__m256i lanes) {
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}

static inline __m256i difference(const int16_t *a, const int16_t *b) {
    return _mm256_sub_epi16(load(a), load(b));
}

/* Two multiply-adds of squares are at most 4 * 32766^2 < 2^32, three are not: the
 * sum is widened after every second one. */
static uint64_t l2_i16_avx2(const int16_t *a, const int16_t *b, size_t elements) {
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < elements; i += 32) {
        const __m256i first = difference(a + i, b + i);
        const __m256i second = difference(a + i + 16, b + i + 16);
        sum = widen_u32(sum, _mm256_add_epi32(_mm256_madd_epi16(first, first),
                                              _mm256_madd_epi16(second, second)));
    }
    return (uint64_t)reduce_add_i64(sum);
}

/* A lane gains at most 2 * 32766 per step, 2^24 in a row of 4096. */
static uint64_t l1_i16_avx2(const int16_t *a, const int16_t *b, size_t elements) {
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < elements; i += 16) {
        const __m256i absolute = _mm256_abs_epi16(difference(a + i, b + i));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(absolute, ones));
    }
    return (uint64_t)reduce_add_i64(widen_u32(_mm256_setzero_si256(), sum));
}

static uint32_t linf_i16_avx2(const int16_t *a, const int16_t *b, size_t elements) {
    __m256i largest = _mm256_setzero_si256();
    for (size_t i = 0; i < elements; i += 16)
        largest = _mm256_max_epu16(largest, _mm256_abs_epi16(difference(a + i, b + i)));
    const __m128i eight =
        _mm_max_epu16(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    /* The one reduction of 16-bit lanes is a minimum: of the complements. */
    const __m128i complement = _mm_xor_si128(eight, _mm_set1_epi16(-1));
    return 0xffff - (uint32_t)_mm_extract_epi16(_mm_minpos_epu16(complement), 0);
}

/* One multiply-add is at most 2 * 16383^2 < 2^29, so two stay far inside int32. */
static int64_t dot_i16_avx2(const int16_t *a, const int16_t *b, size_t elements) {
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < elements; i += 32) {
        const __m256i first = _mm256_madd_epi16(load(a + i), load(b + i));
        const __m256i second = _mm256_madd_epi16(load(a + i + 16), load(b + i + 16));
        sum = widen_i32(sum, _mm256_add_epi32(first, second));
    }
    return reduce_add_i64(sum);
}

/* A tile is made of blocks of 6 rows and 16 columns: 12 sums, 2 registers of columns, one of a row
 * and one for the product are all 16 registers. Blocks of 4 rows are 4 % slower with clang 14. */
enum { BLOCK_ROWS = 6, BLOCK_COLUMNS = 16 };
_Static_assert(TILE_ROWS % BLOCK_ROWS == 0 && TILE_COLUMNS % BLOCK_COLUMNS == 0, "whole blocks");

/* The type of what is added to a sum, wrapping: with __m256i, gcc 12 needs twice the registers, and
 * spills (15 multiplications a cycle on Zen 4, 24 so). */
typedef uint32_t u32x8 __attribute__((vector_size(32)));

/* The scalar products, modulo 2^32, of the block whose first row and packed column these are. */
static inline void block_dots(const tile_l2 *tile, const int16_t *rows, const int16_t *packed,
                              u32x8 dots[BLOCK_ROWS][2]) {
#pragma GCC unroll 6
    for (size_t r = 0; r < BLOCK_ROWS; r++)
        dots[r][0] = dots[r][1] = (u32x8){0};
    for (size_t p = 0; p < tile->pairs; p++, rows += 2, packed += 2 * TILE_COLUMNS) {
        const __m256i left = load(packed);
        const __m256i right = load(packed + BLOCK_COLUMNS);
#pragma GCC unroll 6
        for (size_t r = 0; r < BLOCK_ROWS; r++) {
            int32_t pair; /* by memcpy, for there is no int32_t object to read */
            memcpy(&pair, rows + r * tile->row_stride, sizeof pair);
            const __m256i row = _mm256_set1_epi32(pair);
            dots[r][0] += (u32x8)_mm256_madd_epi16(left, row);
            dots[r][1] += (u32x8)_mm256_madd_epi16(right, row);
        }
    }
}

/* Stores the squares of row r and the 8 columns from `column` on; returns their hits, in their
 * places. Below one limit or the other is below the larger, and AVX2 compares no unsigned numbers:
 * a square is not below a limit if it is the larger of the two. */
static inline uint32_t store_squares(const tile_l2 *tile, size_t r, size_t column, __m256i dots,
                                     uint32_t squares[TILE_COLUMNS]) {
    const __m256i norms = _mm256_add_epi32(_mm256_set1_epi32((int32_t)tile->row_norms[r]),
                                           load(tile->column_norms + column));
    const __m256i limits = _mm256_max_epu32(_mm256_set1_epi32((int32_t)tile->row_limits[r]),
                                            load(tile->column_limits + column));
    const __m256i square = _mm256_sub_epi32(norms, _mm256_slli_epi32(dots, 1));
    const __m256i missed = _mm256_cmpeq_epi32(_mm256_max_epu32(square, limits), square);
    _mm256_storeu_si256((__m256i *)(squares + column), square);
    return (~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(missed)) & 0xff) << column;
}

/* Stores are made whether or not anything is hit: no registers are left to keep a block in. */
static uint32_t tile_block(const tile_l2 *tile, size_t first_row, size_t first_column,
                           uint32_t squares[TILE_ROWS][TILE_COLUMNS], uint32_t hits[TILE_ROWS]) {
    u32x8 dots[BLOCK_ROWS][2];
    block_dots(tile, tile->rows + first_row * tile->row_stride, tile->packed + 2 * first_column,
               dots);
    uint32_t any = 0;
#pragma GCC unroll 6
    for (size_t i = 0; i < BLOCK_ROWS; i++) {
        const size_t r = first_row + i;
        const uint32_t hit =
            store_squares(tile, r, first_column, (__m256i)dots[i][0], squares[r]) |
            store_squares(tile, r, first_column + 8, (__m256i)dots[i][1], squares[r]);
        hits[r] |= hit;
        any |= hit;
    }
    return any;
}

static bool tile_l2_i16_avx2(const tile_l2 *tile, uint32_t squares[TILE_ROWS][TILE_COLUMNS],
                             uint32_t hits[TILE_ROWS]) {
    uint32_t any = 0;
    memset(hits, 0, TILE_ROWS * sizeof *hits);
    for (size_t r = 0; r < TILE_ROWS; r += BLOCK_ROWS)
        for (size_t c = 0; c < TILE_COLUMNS; c += BLOCK_COLUMNS)
            any |= tile_block(tile, r, c, squares, hits);
    return any != 0;
}

const kernels kernels_avx2 = {
    .name = "avx2",
    .l2_i16 = l2_i16_avx2,
    .l1_i16 = l1_i16_avx2,
    .linf_i16 = linf_i16_avx2,
    .dot_i16 = dot_i16_avx2,
    .tile_l2_i16 = tile_l2_i16_avx2,
};
