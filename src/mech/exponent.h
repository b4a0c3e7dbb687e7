/* exponent.h - s and gamma as the integers that the sampler knows.
 *
 * The law of the mechanism is P(y | w) proportional to a_y exp(-s min(d(w, y), gamma)).
 * s counts steps of 2^-20, gamma and d steps of 2^-16, so the exponent
 * x = s * min(d, gamma) is one exact product in steps of 2^-36. It never exceeds 64.
 *
 * The functions that turn the user's numbers into these integers are floating point;
 * they see public parameters only, before any text is read, and their result is what is
 * sampled and stated. */
#ifndef MECH_EXPONENT_H
#define MECH_EXPONENT_H

#include "core/u256.h"
#include "tem.h"

#include <math.h>

/* exp(-x) in steps of 1/8: E_j = ceil(2^192 exp(-j/8)), j = 0 to 512, the weight of level j. An
 * exponent x is split into its level j = floor(8x) and the fraction r = x - j/8 < 1/8; the law that
 * is sampled gives x the weight E_j exp(-r), which exceeds 2^192 exp(-x) by a factor below
 * 1 + 2^-99, since E_512 > 2^99. */
enum { EXP_LEVELS = 512, EXP_LEVELS_PER_UNIT_LOG2 = 3 };

extern const u256 exp_table[EXP_LEVELS + 1];

enum {
    EXPONENT_S_BITS = 20,
    EXPONENT_BITS = 36,
    EXPONENT_MAX_UNITS = 64,
    EXPONENT_FRACTION_BITS = EXPONENT_BITS - EXP_LEVELS_PER_UNIT_LOG2
};

typedef struct exponent {
    uint64_t s;     /* steps of 2^-20 */
    tem_dist gamma; /* steps of 2^-16 */
} exponent;

/* s as a number; exact. */
static inline double exponent_s_value(uint64_t s) {
    return ldexp((double)s, -EXPONENT_S_BITS);
}

/* x for a distance, in steps of 2^-36; at most 64 of units. */
static inline uint64_t exponent_at(const exponent *e, tem_dist d) {
    return e->s * (d < e->gamma ? d : e->gamma);
}

/* The level of x, 0 to EXP_LEVELS, and its fraction below the next, in steps of 2^-36: below
 * 1/8. */
static inline unsigned exponent_level(uint64_t x) {
    return (unsigned)(x >> EXPONENT_FRACTION_BITS);
}

static inline uint64_t exponent_fraction(uint64_t x) {
    return x & (((uint64_t)1 << EXPONENT_FRACTION_BITS) - 1);
}

/* s for an epsilon, without calibration: floor(2^19 epsilon) - 1.
 * PRIVACY: 2s <= epsilon - 2^-19. The step taken off pays for the factor 1 + 2^-99 by
 * which a weight may exceed exp(-x) (docs/PRIVACY.md, step 5). TEM_ERR_RANGE if epsilon
 * is not finite or leaves s below 1 or beyond 2^42. */
tem_status exponent_s(double epsilon, uint64_t *s, tem_error *error);

/* gamma as given, or as ln((1 - beta)(count - 1) / beta) / s, rounded up to the grid.
 * TEM_ERR_RANGE if it is not positive, does not fit, or s * gamma exceeds 64. */
tem_status exponent_gamma_given(double gamma, uint64_t s, tem_dist *out, tem_error *error);
tem_status exponent_gamma_from_beta(double beta, uint32_t count, uint64_t s, tem_dist *out,
                                    tem_error *error);

/* gamma of the plain exponential mechanism: the largest with s * gamma <= 64. */
tem_status exponent_gamma_largest(uint64_t s, tem_dist *out, tem_error *error);

#endif
