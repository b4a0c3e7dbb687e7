/* codes.c - the vectors of a euclidean space in 8 bits. */
#include "space/codes.h"

#include "core/memory.h"
#include "core/status.h"
#include "space/integer_math.h"

#include <stdlib.h>
#include <string.h>

enum {
    CODE_MAX = 127,
    CODE_MIN = -128,
    CODE_OFFSET = 128,       /* added to a code to make it unsigned */
    EMPTY_BASE = -(1 << 29), /* far below the score of any two words */
    SAMPLE_ROWS = 4096,
    CUT = 2048,
    MAGNITUDES = 2 * KERNEL_VALUE_MAX + 2
};

/* Returns k, where every k-th row belongs to the sample of at most SAMPLE_ROWS rows. The sample is
 * enough to see where the elements lie. */
static uint32_t sample_stride(const space *s) {
    return s->count / SAMPLE_ROWS + 1;
}

/* Sets the center to the mean of the sample. Codes are shortest around the mean, and a center costs
 * nothing. */
static tem_status find_centre(codes *c, tem_error *error) {
    const space *s = c->space;
    int32_t *sums = core_alloc_zero(s->dimension, sizeof *sums), rows = 0;
    if (sums == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < s->count; id += sample_stride(s), rows++)
        for (uint32_t i = 0; i < s->dimension; i++)
            sums[i] += space_row(s, id)[i];
    for (uint32_t i = 0; i < s->dimension; i++)
        c->centre[i] = (int16_t)(sums[i] / rows);
    core_free(sums);
    return TEM_OK;
}

/* Chooses the smallest step that clamps at most one in CUT elements of the sample. A smaller
 * step clamps more elements and makes far words look near. A larger step has larger errors.
 * Both leave more pairs to examine again. Measured with 33,860 words, once cutoffs exist
 * (index/lists.h): 593 pairs per word for a CUT of 256, 362 for 1024, 355 for 4096 and 414
 * for 65536. */
static tem_status find_step(codes *c, tem_error *error) {
    const space *s = c->space;
    uint32_t *counts = core_alloc_zero(MAGNITUDES, sizeof *counts);
    if (counts == NULL)
        return core_fail_memory(error);
    uint64_t elements = 0;
    for (uint32_t id = 0; id < s->count; id += sample_stride(s), elements += s->dimension)
        for (uint32_t i = 0; i < s->dimension; i++)
            counts[(uint16_t)abs(space_row(s, id)[i] - c->centre[i]) % MAGNITUDES]++;
    uint64_t beyond = 0;
    uint32_t largest = MAGNITUDES - 1;
    while (largest > CODE_MAX && (beyond + counts[largest]) * CUT <= elements)
        beyond += counts[largest--];
    c->step = (largest + CODE_MAX - 1) / CODE_MAX;
    core_free(counts);
    return TEM_OK;
}

/* Sets scale and scale_shift, which turn a tem_dist into steps of codes_reach: scale *
 * 2^-scale_shift is 2^(q + CODES_FRACTION_BITS - 16) / step, rounded up to about 31 bits. */
static void set_scale(codes *c) {
    const uint32_t step_bits = 31 - (uint32_t)__builtin_clz(c->step);
    const uint32_t up = 31 + step_bits; /* 2^up / step is 2^30 to 2^31 */
    c->scale = (uint32_t)((((uint64_t)1 << up) + c->step - 1) / c->step);
    c->scale_shift = up + 16 - CODES_FRACTION_BITS - c->space->step_log2;
}

tem_status codes_init(codes *c, const space *s, size_t slots, tem_error *error) {
    *c = (codes){.space = s, .quads = (s->dimension + (size_t)3) / 4};
    c->centre = core_alloc_zero(4 * c->quads, sizeof *c->centre);
    c->packed = core_alloc_zero(slots, 4 * c->quads);
    c->row_base = core_alloc(slots, sizeof *c->row_base);
    c->column_base = core_alloc(slots, sizeof *c->column_base);
    c->errors = core_alloc_zero(slots, sizeof *c->errors);
    if (c->centre == NULL || c->packed == NULL || c->row_base == NULL || c->column_base == NULL ||
        c->errors == NULL) {
        codes_free(c);
        return core_fail_memory(error);
    }
    for (size_t slot = 0; slot < slots; slot++)
        c->row_base[slot] = c->column_base[slot] = EMPTY_BASE;
    tem_status status = find_centre(c, error);
    if (status == TEM_OK)
        status = find_step(c, error);
    if (status != TEM_OK)
        codes_free(c);
    else
        set_scale(c);
    return status;
}

void codes_free(codes *c) {
    core_free(c->centre);
    core_free(c->packed);
    core_free(c->row_base);
    core_free(c->column_base);
    core_free(c->errors);
    *c = (codes){0};
}

static int8_t *packed_at(const codes *c, size_t slot) {
    return c->packed + slot / TILE_COLUMNS * TILE_COLUMNS * 4 * c->quads + slot % TILE_COLUMNS * 4;
}

static int32_t clamp(int32_t value, int32_t least, int32_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Computes e(x) from its square, in steps of 2^-CODES_FRACTION_BITS of a code's unit, rounded
 * up. The result is about 2^13 at most: half a unit in each of 4096 elements. */
static uint16_t error_of(const codes *c, uint64_t square) {
    const uint64_t length = root_ceil64(square << 2 * CODES_FRACTION_BITS);
    return (uint16_t)((length + c->step - 1) / c->step);
}

void codes_put(codes *c, size_t slot, uint32_t id) {
    const int16_t *row = space_row(c->space, id);
    const int32_t step = (int32_t)c->step;
    /* For value / step as a product, which is at most 2^30. A quotient near a half may round
     * either way. */
    const int32_t inverse = (1 << 23) / step;
    int8_t *out = packed_at(c, slot);
    int32_t norm = 0, sum = 0;
    uint64_t square = 0;
    for (uint32_t i = 0; i < c->space->dimension; i++) {
        const int32_t value = clamp(row[i] - c->centre[i], CODE_MIN * step, CODE_MAX * step);
        const int32_t code = clamp((value * inverse + (1 << 22)) >> 23, CODE_MIN, CODE_MAX);
        const int32_t error = value - code * step;
        norm += code * code;
        sum += code;
        square += (uint64_t)((int64_t)error * error);
        out[i / 4 * 4 * TILE_COLUMNS + i % 4] = (int8_t)code;
    }
    c->errors[slot] = error_of(c, square); /* PRIVACY: (*) of codes.h */
    /* |a - b|^2 = |a|^2 + |b|^2 - 2ab. The score is minus half of that, where ab is
     * (a + CODE_OFFSET) b - CODE_OFFSET sum(b). norm / 2 is rounded down, so the score is never
     * below its exact value. */
    c->row_base[slot] = -(norm / 2);
    c->column_base[slot] = -(norm / 2) - CODE_OFFSET * sum;
}

code_split codes_split(const codes *c, size_t slot, uint32_t id) {
    const int16_t *row = space_row(c->space, id);
    const int8_t *code = packed_at(c, slot);
    code_split squares = {0, 0, 0};
    for (uint32_t i = 0; i < c->space->dimension; i++) {
        const int64_t whole = row[i] - c->centre[i];
        const int64_t coded = (int64_t)code[i / 4 * 4 * TILE_COLUMNS + i % 4] * c->step;
        squares.whole += (uint64_t)(whole * whole);
        squares.code += (uint64_t)(coded * coded);
        squares.residual += (uint64_t)((whole - coded) * (whole - coded));
    }
    return squares;
}

void codes_rows(const codes *c, size_t first, size_t count, uint8_t *rows) {
    const size_t strip = 4 * c->quads * TILE_ROWS;
    for (size_t i = 0; i < count; i++) {
        const int8_t *from = packed_at(c, first + i);
        uint8_t *to = rows + i / TILE_ROWS * strip + i % TILE_ROWS * 4;
        for (size_t q = 0; q < c->quads; q++, from += 4 * TILE_COLUMNS, to += 4 * TILE_ROWS) {
            uint32_t quad;
            memcpy(&quad, from, sizeof quad);
            quad ^= 0x80808080; /* adds CODE_OFFSET to each code */
            memcpy(to, &quad, sizeof quad);
        }
    }
}
