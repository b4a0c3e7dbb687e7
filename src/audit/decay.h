/* decay.h - exp(-x) as a double, with a proved error.
 *
 * libm promises nothing about its last bits, so tem computes exp(-x) itself:
 *
 *     decay_at(x) = exp(-x) (1 + e),   |e| <= DECAY_ERROR = 2^-49.
 *
 * x is an integer in steps of 2^-36 and at most 64 (mech/exponent.h); x = j/8 + r with r < 1/8.
 * The error counts 12 roundings of 2^-53 each:
 *   - E_j (mech/exp_table.c) becomes a double by at most eight roundings;
 *   - exp(-r) is the sum of its series up to r^10, by Horner's rule. Each step multiplies the error
 *     of the step before by at most r and adds two roundings: three roundings in all. The terms
 *     that are left out are below 2^-58;
 *   - the product of both is one rounding. */
#ifndef AUDIT_DECAY_H
#define AUDIT_DECAY_H

#include "mech/exponent.h"

#define DECAY_ERROR 0x1p-49

typedef struct decay {
    double levels[EXP_LEVELS + 1]; /* E_j / 2^192 */
} decay;

static inline void decay_init(decay *d) {
    for (unsigned level = 0; level <= EXP_LEVELS; level++) {
        double value = 0;
        for (int i = 0; i < 4; i++) /* the least limb first: each sum rounds once */
            value = value * 0x1p-64 + (double)exp_table[level].limb[i];
        d->levels[level] = value; /* E_j / 2^192: limb 3 counts 2^192 */
    }
}

static inline double decay_at(const decay *d, uint64_t x) {
    static const double inverse[] = {0.0,     1.0,     1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5,
                                     1.0 / 6, 1.0 / 7, 1.0 / 8, 1.0 / 9, 1.0 / 10};
    const double r = (double)exponent_fraction(x) * 0x1p-36;
    double sum = 1;
    for (int k = 10; k > 0; k--)
        sum = 1 - r * inverse[k] * sum;
    return d->levels[exponent_level(x)] * sum;
}

#endif
