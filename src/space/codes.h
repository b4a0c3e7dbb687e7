/* codes.h - the vectors of a euclidean space in 8 bits, by which most pairs of words are
 * known to be far apart without their distance.
 *
 * The code of a row x is, element by element, (x - centre) / step, cut to -128 .. 127 and
 * rounded to an integer. Let p(x) be x - centre with every element cut to -128 step ..
 * 127 step, c(x) the code, and e(x) = |p(x) - step c(x)| its error. Then for all rows
 *
 *     step |c(x) - c(y)|  <=  |x - y| + e(x) + e(y)                                (*)
 *
 * Proof. p is the nearest point of a box, and moves no two points apart: |p(x) - p(y)| <=
 * |x - y|. By the triangle inequality step |c(x) - c(y)| <= |p(x) - p(y)| + e(x) + e(y). QED
 *
 * So a pair whose codes are farther apart than a distance plus both errors allows is farther
 * apart than that distance. Nothing is asked of the rounding but that e(x), which is kept
 * for every row and rounded up, is its real error.
 *
 * PRIVACY: the lists and bounds of the index are exact only because (*) holds for what
 * codes_reach and codes_limit compute; every rounding in them is to the larger side. */
#ifndef SPACE_CODES_H
#define SPACE_CODES_H

#include "space/kernels/kernels.h"
#include "space/space.h"

enum { CODES_FRACTION_BITS = 8, CODES_REACH_MAX = 1 << 22 };

/* The codes of some words of a space in an order of their own. A slot is the place of a
 * word in it, or of none. */
typedef struct codes {
    const space *space;
    size_t quads;  /* of elements */
    uint32_t step; /* in units of a row */
    uint32_t scale, scale_shift;
    int16_t *centre;
    int8_t *packed; /* tile_codes.columns, tile after tile of TILE_COLUMNS slots */
    int32_t *row_base, *column_base;
    uint16_t *errors; /* in steps of 2^-CODES_FRACTION_BITS of a code's unit, rounded up */
} codes;

/* Memory for `slots` of them, a multiple of TILE_COLUMNS, all of them empty, and the centre and
 * step that suit the space. TEM_ERR_MEMORY only. Free with codes_free. */
tem_status codes_init(codes *c, const space *s, size_t slots, tem_error *error);
void codes_free(codes *c);

/* Puts the word `id` into a slot. */
void codes_put(codes *c, size_t slot, uint32_t id);

/* The squares of |x - centre|, of step |c(x)|, and of what is left, |x - centre - step c(x)|,
 * of the word `id` in a slot. */
typedef struct code_split {
    uint64_t whole, code, residual;
} code_split;

code_split codes_split(const codes *c, size_t slot, uint32_t id);

/* Copies `count` slots, a multiple of TILE_COLUMNS of them from a multiple of it on, into
 * the form of tile_codes.rows. */
void codes_rows(const codes *c, size_t first, size_t count, uint8_t *rows);

/* How far apart, in steps of 2^-CODES_FRACTION_BITS, the codes of two words may be whose
 * distance is at most d, their errors aside; CODES_REACH_MAX at most, which is farther than any
 * two codes are. */
static inline uint32_t codes_reach(const codes *c, tem_dist d) {
    const uint64_t reach = ((uint64_t)d * c->scale >> c->scale_shift) + 1;
    return reach < CODES_REACH_MAX ? (uint32_t)reach : CODES_REACH_MAX;
}

/* The limit of scores (tile_codes) for pairs of codes that are up to `reach` apart, both errors
 * being included: all of them, and few others, have a score above it.
 *
 * A score is at least minus half the square of the distance. */
static inline int32_t codes_limit(uint32_t reach) {
    const uint64_t cut = reach < CODES_REACH_MAX ? reach : CODES_REACH_MAX;
    return -(int32_t)((cut * cut >> (2 * CODES_FRACTION_BITS + 1)) + 1);
}

#endif
