/* codes.h - the vectors of a euclidean space in 8 bits per element. They show for most pairs
 * of words that the pair is far apart, without computing its distance.
 *
 * The code of a row x is, element by element, (x - center) / step, clamped to -128 .. 127 and
 * rounded to an integer. Let p(x) be x - center with every element clamped to -128 step ..
 * 127 step, c(x) the code, and e(x) = |p(x) - step c(x)| its error. Then for all rows
 *
 *     step |c(x) - c(y)|  <=  |x - y| + e(x) + e(y)                                (*)
 *
 * Proof. p(x) is the point of a box nearest to x - center. Such a projection moves no two
 * points apart: |p(x) - p(y)| <= |x - y|. By the triangle inequality
 * step |c(x) - c(y)| <= |p(x) - p(y)| + e(x) + e(y). QED
 *
 * So if the codes of a pair are farther apart than a distance plus both errors, the pair is
 * farther apart than that distance. The rounding of the codes may be arbitrary. Only e(x)
 * must be the real error; it is stored for every row, rounded up.
 *
 * PRIVACY: the lists and bounds of the index are exact only because (*) holds for the results
 * of codes_reach and codes_limit; both round every value to the larger side. */
#ifndef SPACE_CODES_H
#define SPACE_CODES_H

#include "space/kernels/kernels.h"
#include "space/space.h"

enum { CODES_FRACTION_BITS = 8, CODES_REACH_MAX = 1 << 22 };

/* The codes of some words of a space, in an order that the caller chooses. A slot holds one
 * word or is empty. */
typedef struct codes {
    const space *space;
    size_t quads;                /* groups of 4 elements in a row */
    uint32_t step;               /* in units of a row */
    uint32_t scale, scale_shift; /* see set_scale in codes.c */
    int16_t *centre;
    int8_t *packed; /* as tile_codes.columns, tile after tile of TILE_COLUMNS slots */
    int32_t *row_base, *column_base;
    uint16_t *errors; /* e(x) in steps of 2^-CODES_FRACTION_BITS of a code's unit, rounded up */
} codes;

/* Allocates `slots` empty slots, a multiple of TILE_COLUMNS, and chooses the center and step for
 * the space. Fails with TEM_ERR_MEMORY only. The caller frees it with codes_free. */
tem_status codes_init(codes *c, const space *s, size_t slots, tem_error *error);
void codes_free(codes *c);

/* Puts the word `id` into a slot. */
void codes_put(codes *c, size_t slot, uint32_t id);

/* The squares of |x - center| (whole), of step |c(x)| (code), and of |x - center - step c(x)|
 * (residual). */
typedef struct code_split {
    uint64_t whole, code, residual;
} code_split;

/* Computes these squares for the word `id`, which is in `slot`. */
code_split codes_split(const codes *c, size_t slot, uint32_t id);

/* Copies `count` slots from slot `first` on into the form of tile_codes.rows. Both numbers are
 * multiples of TILE_COLUMNS. */
void codes_rows(const codes *c, size_t first, size_t count, uint8_t *rows);

/* Returns how far apart the codes of two words may be if the words' distance is at most d. The
 * result is in steps of 2^-CODES_FRACTION_BITS of a code's unit, without the errors of the two
 * words, and at most CODES_REACH_MAX. No two codes are as far apart as CODES_REACH_MAX. */
static inline uint32_t codes_reach(const codes *c, tem_dist d) {
    const uint64_t reach = ((uint64_t)d * c->scale >> c->scale_shift) + 1;
    return reach < CODES_REACH_MAX ? (uint32_t)reach : CODES_REACH_MAX;
}

/* Returns a limit for scores (tile_codes). All pairs of codes that are at most `reach` apart, and
 * few others, have a score above the limit. `reach` includes the errors of both words.
 *
 * A score is at least minus half the square of the distance between the codes. */
static inline int32_t codes_limit(uint32_t reach) {
    const uint64_t cut = reach < CODES_REACH_MAX ? reach : CODES_REACH_MAX;
    return -(int32_t)((cut * cut >> (2 * CODES_FRACTION_BITS + 1)) + 1);
}

#endif
