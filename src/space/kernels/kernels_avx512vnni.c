/* kernels_avx512vnni.c - the kernels for AVX-512 with VNNI (F, BW, VL, VNNI): Ice Lake, Zen 4 and
 * later. */
#include "space/kernels/kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

static inline __m512i multiply_add(__m512i sum, __m512i a, __m512i b) {
    return _mm512_dpwssd_epi32(sum, a, b);
}

typedef __m512i row_codes;
typedef __m512i column_codes;

static inline row_codes row_load(int32_t quad) {
    return _mm512_set1_epi32(quad);
}

static inline column_codes column_load(const int8_t *columns) {
    return _mm512_loadu_si512(columns);
}

static inline __m512i multiply_add_codes(__m512i sum, row_codes a, column_codes b) {
    return _mm512_dpbusd_epi32(sum, a, b);
}

#include "space/kernels/kernels_avx512.inc"

#define ROOTS_NAME roots_u32_avx512vnni
#include "space/kernels/roots.inc"

const kernels kernels_avx512vnni = {
    .name = "avx512vnni",
    .l2_i16 = l2_i16_avx512,
    .l1_i16 = l1_i16_avx512,
    .linf_i16 = linf_i16_avx512,
    .dot_i16 = dot_i16_avx512,
    .tile_codes = tile_codes_avx512,
    .tile_dots = tile_dots_avx512,
    .roots_u32 = roots_u32_avx512vnni,
};
