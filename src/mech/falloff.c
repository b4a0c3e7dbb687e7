/* falloff.c - computes (1 + r/c)^-s in fixed point.
 *
 * ln(1 + r/c) is the sum of the steps ln((c + i + 1) / (c + i)), i < r, each by the series of
 * atanh. exp(-s ln(1 + r/c)) takes out powers of two, and then the series of exp. Numbers have 96
 * bits behind the point. Each product is rounded down and so errs by less than 2^-96. Together that
 * is far below 2^-62 of a result (test_falloff compares every table with MPFR). */
#include "mech/falloff.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>

typedef u256_wide fixed; /* 96 bits behind the point */

enum { FIXED_BITS = 96 };

static fixed fixed_of(uint64_t high, uint64_t low) {
    return (fixed)high << 64 | low;
}

/* The product, rounded down. Both factors are below 2^98, so nothing overflows. */
static fixed times(fixed a, fixed b) {
    const uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
    const uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    const fixed middle = (fixed)a1 * b0 + (fixed)a0 * b1 + ((fixed)a0 * b0 >> 64);
    return ((fixed)a1 * b1 << 32) + (middle >> 32);
}

/* ln((n + d) / n) = 2 atanh(d / (2n + d)); n + d below 2^60. */
static fixed ln_of_step(uint64_t n, uint64_t d) {
    const fixed z = ((fixed)d << FIXED_BITS) / (2 * (fixed)n + d), square = times(z, z);
    fixed sum = 0, power = z;
    for (unsigned odd = 1; power > 0; odd += 2) {
        sum += power / odd;
        power = times(power, square);
    }
    return 2 * sum;
}

/* 2^62 exp(-x), rounded to the nearest integer; x below 64. */
static uint64_t height_at(fixed x) {
    const fixed ln2 = fixed_of(0xb17217f7, 0xd1cf79abc9e3b398); /* 2^96 ln 2, rounded down */
    const unsigned halvings = (unsigned)(x / ln2) + 1;
    const fixed rest = halvings * ln2 - x; /* exp(-x) = exp(rest) / 2^halvings, 0 < rest <= ln 2 */
    fixed sum = 0, term = (fixed)1 << FIXED_BITS;
    for (unsigned i = 1; term > 0; i++) {
        sum += term;
        term = times(term, rest) / i;
    }
    const unsigned shift = FIXED_BITS - FALLOFF_TOP_BITS + halvings;
    return (uint64_t)((sum + ((fixed)1 << (shift - 1))) >> shift);
}

/* s ln(1 + r/c). s is at most 2^6 and the logarithm below 2^5, so the product fits. */
static fixed exponent_of(uint64_t s, fixed logarithm) {
    return (fixed)s * logarithm >> FALLOFF_S_BITS;
}

/* Fills the table. Heights that are too small stay 0. */
static void fill_heights(falloff *f) {
    const uint64_t one = (uint64_t)1 << FALLOFF_C_BITS;
    fixed logarithm = 0;
    for (uint32_t r = 0;; r++) {
        const fixed x = exponent_of(f->s, logarithm);
        f->heights[r] = x >> FIXED_BITS < FALLOFF_TOP_BITS ? height_at(x) : 0;
        if (r + 1 == f->count)
            return;
        logarithm += ln_of_step(f->c + r * one, one);
    }
}

/* The largest s is 42 ln 2 / ln(1 + (count - 1) / c), and at most 64; rounded down to two
 * digits. */
tem_status falloff_refuse(uint64_t c, uint32_t count, unsigned epsilon_of_s, tem_error *error) {
    const double last = log1p(ldexp(count - 1.0, FALLOFF_C_BITS) / (double)c);
    const double most = fmin((FALLOFF_TOP_BITS - FALLOFF_LEAST_BITS) * M_LN2 / last,
                             ldexp(FALLOFF_S_MOST, -FALLOFF_S_BITS));
    return core_fail(
        error, TEM_ERR_RANGE,
        "epsilon is too large: for this number of words and this c, s is at most %.2f, and epsilon "
        "at most %.2f",
        floor(100 * most) / 100,
        fmin(floor(100 * most * epsilon_of_s) / 100, FALLOFF_EPSILON_MOST));
}

static tem_status check_range(uint64_t s, uint64_t c, tem_error *error) {
    if (s < 1 || s > FALLOFF_S_MOST)
        return core_fail(error, TEM_ERR_RANGE, "epsilon must give an s between 2^-20 and 64");
    if (c < FALLOFF_C_LEAST || c > FALLOFF_C_MOST)
        return core_fail(error, TEM_ERR_RANGE, "c must be between 1/16 and 1024");
    return TEM_OK;
}

tem_status falloff_init(falloff *f, uint64_t s, uint64_t c, uint32_t count, unsigned epsilon_of_s,
                        tem_error *error) {
    *f = (falloff){.s = s, .c = c, .count = count};
    tem_status status = check_range(s, c, error);
    if (status != TEM_OK)
        return status;
    f->heights = core_alloc(count, sizeof *f->heights);
    if (f->heights == NULL)
        return core_fail_memory(error);
    fill_heights(f);
    /* PRIVACY: step 6 of the proof of rank: with a smaller s in its place the law would not be the
     * one that was asked for. */
    if (f->heights[count - 1] < (uint64_t)1 << FALLOFF_LEAST_BITS)
        status = falloff_refuse(c, count, epsilon_of_s, error);
    if (status == TEM_OK)
        status = alias_init(&f->ranks, f->heights, count, error);
    if (status != TEM_OK)
        falloff_free(f);
    return status;
}

void falloff_free(falloff *f) {
    alias_free(&f->ranks);
    core_free(f->heights);
    *f = (falloff){0};
}

/* PRIVACY: step 4 of the proof of rank: B is rounded up. Two conversions, a quotient and libm's
 * logarithm of at most 30 err by less than 2^-46 together. */
double falloff_loss(uint64_t high, uint64_t low) {
    return log((double)high / (double)low) + 0x1p-44;
}

double falloff_bound(const falloff *f) {
    return falloff_loss(f->heights[0], f->heights[f->count - 1]);
}

uint64_t falloff_exp(uint64_t s) {
    const fixed x = (fixed)s << (FIXED_BITS - FALLOFF_S_BITS);
    return x >> FIXED_BITS < FALLOFF_TOP_BITS ? height_at(x) : 0;
}
