/* toss.c - exact coins and integers. */
#include "mech/toss.h"

#include "mech/sampler.h"

/* Returns true with probability E_level / 2^192: if 192 random bits are below E_level. Nearly
 * always the first 64 of them decide, and only these are drawn. */
static bool is_below_level(unsigned level, tem_rng *rng) {
    if (level == 0)
        return true; /* E_0 is 2^192 */
    for (int i = 2; i >= 0; i--) {
        const uint64_t bits = rng_word(rng), limit = exp_table[level].limb[i];
        if (bits != limit)
            return bits < limit;
    }
    return false;
}

bool toss_exp(uint64_t x, tem_rng *rng) {
    return is_below_level(exponent_level(x), rng) &&
           sampler_bernoulli_exp(exponent_fraction(x), rng);
}

/* The whole part of an exponential number: k with probability (1 - 1/e) e^-k. */
static uint64_t whole_units(tem_rng *rng) {
    uint64_t units = 0;
    while (sampler_bernoulli_exp((uint64_t)1 << EXPONENT_BITS, rng))
        units++;
    return units;
}

uint64_t toss_geometric(uint32_t steps, tem_rng *rng) {
    enum { STEP_BITS = EXPONENT_S_BITS };
    uint64_t part = 0; /* below one unit, in steps of 2^-20: u with weight exp(-u / 2^20) */
    do
        part = rng_below(rng, (uint64_t)1 << STEP_BITS);
    while (!sampler_bernoulli_exp(part << (EXPONENT_BITS - STEP_BITS), rng));
    /* The sum has the weight exp(-sum / 2^20), so each run of `steps` sums has a times the weight
     * of the run before. */
    return ((whole_units(rng) << STEP_BITS) + part) / steps;
}
