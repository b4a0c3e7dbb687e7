/* exponent.c - s and gamma as integers. */
#include "mech/exponent.h"

#include "core/status.h"

#include <math.h>

static const uint64_t x_max = (uint64_t)EXPONENT_MAX_UNITS << EXPONENT_BITS;

tem_status exponent_s(double epsilon, uint64_t *s, tem_error *error) {
    if (!isfinite(epsilon) || epsilon <= 0)
        return core_fail(error, TEM_ERR_RANGE, "epsilon must be a positive number");
    const double steps = floor(ldexp(epsilon, EXPONENT_S_BITS - 1)) - 1;
    if (steps < 1)
        return core_fail(error, TEM_ERR_RANGE, "epsilon is too small: the least is 2^-18");
    if (steps > (double)x_max)
        return core_fail(error, TEM_ERR_RANGE, "epsilon is too large: the most is about 2^23");
    *s = (uint64_t)steps;
    return TEM_OK;
}

/* Checks a gamma that is a whole number of steps, and stores it. */
static tem_status take_gamma(double steps, uint64_t s, tem_dist *out, tem_error *error) {
    if (!(steps >= 1 && steps <= UINT32_MAX))
        return core_fail(error, TEM_ERR_RANGE, "gamma must be above 0 and below 65536");
    if ((uint64_t)steps > x_max / s)
        return core_fail(error, TEM_ERR_RANGE,
                         "gamma times epsilon/2 must be at most 64: gamma at most %.6g here",
                         (double)(x_max / s) / TEM_DIST_ONE);
    *out = (tem_dist)steps;
    return TEM_OK;
}

tem_status exponent_gamma_given(double gamma, uint64_t s, tem_dist *out, tem_error *error) {
    return take_gamma(ceil(gamma * TEM_DIST_ONE), s, out, error);
}

tem_status exponent_gamma_from_beta(double beta, uint32_t count, uint64_t s, tem_dist *out,
                                    tem_error *error) {
    if (!(beta > 0 && beta < 1))
        return core_fail(error, TEM_ERR_RANGE, "beta must be between 0 and 1");
    const double bound = log1p(-beta) + log(count - 1.0) - log(beta);
    if (!(bound > 0))
        return core_fail(error, TEM_ERR_RANGE,
                         "beta is too large for %u words: gamma would not be positive", count);
    const double steps = ceil(ldexp(bound, EXPONENT_S_BITS) / (double)s * TEM_DIST_ONE);
    if (steps > UINT32_MAX)
        return core_fail(error, TEM_ERR_RANGE,
                         "epsilon is too small: this beta puts gamma beyond 65536");
    return take_gamma(steps, s, out, error);
}

tem_status exponent_gamma_largest(uint64_t s, tem_dist *out, tem_error *error) {
    const uint64_t steps = x_max / s;
    return take_gamma(steps < UINT32_MAX ? (double)steps : UINT32_MAX, s, out, error);
}
