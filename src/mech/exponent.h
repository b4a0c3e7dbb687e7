/* exponent.h - s and gamma as integers, and the exponent of a distance.
 *
 * The law of the mechanism is P(y | w) proportional to a_y exp(-s min(d(w, y), gamma)). s counts
 * steps of 2^-20; gamma and d count steps of 2^-16. So the exponent x = s * min(d, gamma) is one
 * exact product, in steps of 2^-36. It never exceeds 64.
 *
 * The functions that turn the user's numbers into these integers use floating point. They see only
 * public parameters, before tem reads any text. The sampler draws with the resulting integers, and
 * tem states these same integers. */
#ifndef MECH_EXPONENT_H
#define MECH_EXPONENT_H

#include "core/u256.h"
#include "tem.h"

#include <math.h>

/* The table of E_j = ceil(2^192 exp(-j/8)), j = 0 to 512: exp(-x) at every multiple of 1/8. E_j is
 * the weight of level j. An exponent x has the level j = floor(8x) and the fraction r = x - j/8 <
 * 1/8. The law gives x the weight E_j exp(-r). This exceeds 2^192 exp(-x) by a factor below 1 +
 * 2^-99, because E_512 > 2^99 (docs/PRIVACY.md, step 3 of the proof). */
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

/* s as a floating-point number; exact. */
static inline double exponent_s_value(uint64_t s) {
    return ldexp((double)s, -EXPONENT_S_BITS);
}

/* The exponent x of distance d, in steps of 2^-36; at most 64 * 2^36. */
static inline uint64_t exponent_at(const exponent *e, tem_dist d) {
    return e->s * (d < e->gamma ? d : e->gamma);
}

/* The level of x, 0 to EXP_LEVELS; and the fraction of x above its level, in steps of 2^-36, below
 * 1/8. */
static inline unsigned exponent_level(uint64_t x) {
    return (unsigned)(x >> EXPONENT_FRACTION_BITS);
}

static inline uint64_t exponent_fraction(uint64_t x) {
    return x & (((uint64_t)1 << EXPONENT_FRACTION_BITS) - 1);
}

/* Sets *s to the s of the theorem for epsilon: floor(2^19 epsilon) - 1, without calibration. Fails
 * with TEM_ERR_RANGE if epsilon is not finite, or if s would be below 1 or above 2^42.
 * PRIVACY: 2s <= epsilon - 2^-19. The subtracted step pays for the factor 1 + 2^-99 by which a
 * weight may exceed exp(-x) (docs/PRIVACY.md, step 5 of the proof). */
tem_status exponent_s(double epsilon, uint64_t *s, tem_error *error);

/* Set *out to the given gamma, or to ln((1 - beta)(count - 1) / beta) / s, rounded up to steps of
 * 2^-16. Fail with TEM_ERR_RANGE if beta is not between 0 and 1, or if gamma is not positive, does
 * not fit a tem_dist, or makes s * gamma exceed 64. */
tem_status exponent_gamma_given(double gamma, uint64_t s, tem_dist *out, tem_error *error);
tem_status exponent_gamma_from_beta(double beta, uint32_t count, uint64_t s, tem_dist *out,
                                    tem_error *error);

/* Sets *out to the gamma of the exponential mechanism: the largest with s * gamma <= 64 that fits a
 * tem_dist. Fails with TEM_ERR_RANGE if s is above 2^42. */
tem_status exponent_gamma_largest(uint64_t s, tem_dist *out, tem_error *error);

#endif
