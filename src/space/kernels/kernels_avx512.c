/* kernels_avx512.c - the kernels for AVX-512 without VNNI (F, BW, VL): Skylake-X and similar. */
#include "space/kernels/kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

static inline __m512i multiply_add(__m512i sum, __m512i a, __m512i b) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}

/* Elements 0 and 2 (even), and elements 1 and 3 (odd), of each quad as int16. The instruction that
 * multiplies 8-bit elements (vpmaddubsw) saturates at 16 bits. Elements widened to int16 avoid
 * that. */
typedef struct wide_codes {
    __m512i even, odd;
} row_codes, column_codes;

static inline row_codes row_load(int32_t quad) {
    const __m512i row = _mm512_set1_epi32(quad);
    return (row_codes){_mm512_and_si512(row, _mm512_set1_epi16(0xff)), _mm512_srli_epi16(row, 8)};
}

static inline column_codes column_load(const int8_t *columns) {
    const __m512i quads = _mm512_loadu_si512(columns);
    return (column_codes){_mm512_srai_epi16(_mm512_slli_epi16(quads, 8), 8),
                          _mm512_srai_epi16(quads, 8)};
}

static inline __m512i multiply_add_codes(__m512i sum, row_codes a, column_codes b) {
    return multiply_add(multiply_add(sum, a.even, b.even), a.odd, b.odd);
}

#include "space/kernels/kernels_avx512.inc"

#define ROOTS_NAME roots_u32_avx512
#include "space/kernels/roots.inc"

const kernels kernels_avx512 = {
    .name = "avx512",
    .l2_i16 = l2_i16_avx512,
    .l1_i16 = l1_i16_avx512,
    .linf_i16 = linf_i16_avx512,
    .dot_i16 = dot_i16_avx512,
    .tile_codes = tile_codes_avx512,
    .tile_dots = tile_dots_avx512,
    .roots_u32 = roots_u32_avx512,
};
