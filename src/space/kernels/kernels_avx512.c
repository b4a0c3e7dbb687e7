/* kernels_avx512.c - 512 bits without VNNI (F, BW, VL): Skylake-X and its kind. */
#include "space/kernels/kernels.h"

#include <immintrin.h>
#include <string.h>

static inline __m512i multiply_add(__m512i sum, __m512i a, __m512i b) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}

#include "space/kernels/kernels_avx512.inc"

const kernels kernels_avx512 = {
    .name = "avx512",
    .l2_i16 = l2_i16_avx512,
    .l1_i16 = l1_i16_avx512,
    .linf_i16 = linf_i16_avx512,
    .dot_i16 = dot_i16_avx512,
    .tile_l2_i16 = tile_l2_i16_avx512,
};
