/* kernels_avx2.c - the kernels for AVX2, 256 bits wide. */
#include "space/kernels/kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

static inline __m256i load(const void *from) {
    return _mm256_loadu_si256(from);
}

/* Adds the 32-bit lanes, as unsigned numbers, to the 64-bit lanes of `sum`. */
static inline __m256i widen_u32(__m256i sum, __m256i lanes) {
    const __m256i low = _mm256_and_si256(lanes, _mm256_set1_epi64x(0xffffffff));
    return _mm256_add_epi64(sum, _mm256_add_epi64(low, _mm256_srli_epi64(lanes, 32)));
}

/* The same for signed numbers. AVX2 has no arithmetic shift of 64-bit lanes. */
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

/* Two multiply-adds of squares are at most 4 * 32766^2 < 2^32, but three may be more.
 * So the sum is widened after every second one. */
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
    /* The only reduction of 16-bit lanes is a minimum, so take the minimum of the complements. */
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

/* A tile consists of blocks of 4 rows and 16 columns. A block needs 8 registers for sums, 4 for
 * columns, 2 for a row and one for the product. */
enum { BLOCK_ROWS = 4, BLOCK_COLUMNS = 16 };
_Static_assert(TILE_ROWS % BLOCK_ROWS == 0 && TILE_COLUMNS % BLOCK_COLUMNS == 0, "whole blocks");

/* The type of the sums; their addition wraps. With __m256i, gcc 12 needs twice the registers and
 * spills them to memory. */
typedef uint32_t u32x8 __attribute__((vector_size(32)));

/* Elements 0 and 2 (even), and elements 1 and 3 (odd), of each quad as int16. The instruction that
 * multiplies 8-bit elements (vpmaddubsw) saturates at 16 bits. Elements widened to int16 avoid
 * that. */
static inline __m256i even_signed(__m256i quads) {
    return _mm256_srai_epi16(_mm256_slli_epi16(quads, 8), 8);
}

static inline __m256i odd_signed(__m256i quads) {
    return _mm256_srai_epi16(quads, 8);
}

static inline __m256i even_unsigned(__m256i quads) {
    return _mm256_and_si256(quads, _mm256_set1_epi16(0xff));
}

static inline __m256i odd_unsigned(__m256i quads) {
    return _mm256_srli_epi16(quads, 8);
}

/* Computes the sums of products of the block that starts at these rows and columns. */
static inline void block_sums(size_t quads, const uint8_t *rows, const int8_t *columns,
                              u32x8 sums[BLOCK_ROWS][2]) {
#pragma GCC unroll 4
    for (size_t r = 0; r < BLOCK_ROWS; r++)
        sums[r][0] = sums[r][1] = (u32x8){0};
    for (size_t q = 0; q < quads; q++, rows += 4 * TILE_ROWS, columns += 4 * TILE_COLUMNS) {
        const __m256i left = load(columns), right = load(columns + 32);
        const __m256i left_even = even_signed(left), left_odd = odd_signed(left);
        const __m256i right_even = even_signed(right), right_odd = odd_signed(right);
#pragma GCC unroll 4
        for (size_t r = 0; r < BLOCK_ROWS; r++) {
            int32_t quad; /* by memcpy: the bytes are not an int32_t object */
            memcpy(&quad, rows + 4 * r, sizeof quad);
            const __m256i row = _mm256_set1_epi32(quad);
            const __m256i even = even_unsigned(row), odd = odd_unsigned(row);
            sums[r][0] += (u32x8)_mm256_madd_epi16(left_even, even);
            sums[r][1] += (u32x8)_mm256_madd_epi16(right_even, even);
            sums[r][0] += (u32x8)_mm256_madd_epi16(left_odd, odd);
            sums[r][1] += (u32x8)_mm256_madd_epi16(right_odd, odd);
        }
    }
}

/* Returns the hits of row r among the 8 columns from `column` on, at their bits. A score is above
 * one of two limits if it is above the smaller one. */
static inline uint32_t block_hits(const tile_codes *tile, size_t r, size_t column, __m256i sums) {
    const __m256i base =
        _mm256_add_epi32(_mm256_set1_epi32(tile->row_base[r]), load(tile->column_base + column));
    const __m256i limit =
        _mm256_min_epi32(_mm256_set1_epi32(tile->row_limit[r]), load(tile->column_limit + column));
    const __m256i above = _mm256_cmpgt_epi32(_mm256_add_epi32(base, sums), limit);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above)) << column;
}

static void tile_block(const tile_codes *tile, const uint8_t *strip, size_t first_row,
                       size_t row_in_strip, size_t column, uint32_t *hits) {
    u32x8 sums[BLOCK_ROWS][2];
    block_sums(tile->quads, strip + 4 * row_in_strip, tile->columns + 4 * column, sums);
#pragma GCC unroll 4
    for (size_t i = 0; i < BLOCK_ROWS; i++) {
        const size_t r = first_row + row_in_strip + i;
        hits[r] |= block_hits(tile, r, column, (__m256i)sums[i][0]) |
                   block_hits(tile, r, column + 8, (__m256i)sums[i][1]);
    }
}

static void tile_codes_avx2(const tile_codes *tile, uint32_t *hits) {
    memset(hits, 0, tile->strips * TILE_ROWS * sizeof *hits);
    for (size_t s = 0; s < tile->strips; s++)
        for (size_t r = 0; r < TILE_ROWS; r += BLOCK_ROWS)
            for (size_t c = 0; c < TILE_COLUMNS; c += BLOCK_COLUMNS)
                tile_block(tile, tile->rows + s * tile->quads * 4 * TILE_ROWS, s * TILE_ROWS, r, c,
                           hits);
}

/* Computes the scalar products of BLOCK_ROWS rows and BLOCK_COLUMNS columns. */
static inline void block_dots(size_t pairs, const int16_t *rows, const int16_t *columns,
                              u32x8 sums[BLOCK_ROWS][2]) {
#pragma GCC unroll 4
    for (size_t r = 0; r < BLOCK_ROWS; r++)
        sums[r][0] = sums[r][1] = (u32x8){0};
    for (size_t p = 0; p < pairs; p++, rows += 2 * TILE_ROWS, columns += 2 * TILE_COLUMNS) {
        const __m256i left = load(columns), right = load(columns + BLOCK_COLUMNS);
#pragma GCC unroll 4
        for (size_t r = 0; r < BLOCK_ROWS; r++) {
            int32_t pair; /* by memcpy: the bytes are not an int32_t object */
            memcpy(&pair, rows + 2 * r, sizeof pair);
            const __m256i row = _mm256_set1_epi32(pair);
            sums[r][0] += (u32x8)_mm256_madd_epi16(left, row);
            sums[r][1] += (u32x8)_mm256_madd_epi16(right, row);
        }
    }
}

static void tile_dots_avx2(const tile_vectors *tile, uint32_t *dots) {
    for (size_t s = 0; s < tile->strips; s++)
        for (size_t r = 0; r < TILE_ROWS; r += BLOCK_ROWS)
            for (size_t c = 0; c < TILE_COLUMNS; c += BLOCK_COLUMNS) {
                u32x8 sums[BLOCK_ROWS][2];
                block_dots(tile->pairs, tile->rows + (s * tile->pairs * TILE_ROWS + r) * 2,
                           tile->columns + 2 * c, sums);
                uint32_t *out = dots + (s * TILE_ROWS + r) * TILE_COLUMNS + c;
#pragma GCC unroll 4
                for (size_t i = 0; i < BLOCK_ROWS; i++, out += TILE_COLUMNS) {
                    memcpy(out, &sums[i][0], sizeof sums[i][0]);
                    memcpy(out + 8, &sums[i][1], sizeof sums[i][1]);
                }
            }
}

#define ROOTS_NAME roots_u32_avx2
#include "space/kernels/roots.inc"

const kernels kernels_avx2 = {
    .name = "avx2",
    .l2_i16 = l2_i16_avx2,
    .l1_i16 = l1_i16_avx2,
    .linf_i16 = linf_i16_avx2,
    .dot_i16 = dot_i16_avx2,
    .tile_codes = tile_codes_avx2,
    .tile_dots = tile_dots_avx2,
    .roots_u32 = roots_u32_avx2,
};
