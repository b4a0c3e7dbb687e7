/* metric_hyperbolic.c - the hyperbolic distance of points of the Poincare ball, plus one step
 * between unequal points.
 *
 * arcosh(1 + 2 u) = 2 arsinh(sqrt(u)) = 2 ln(sqrt(u) + sqrt(1 + u)),
 * u = |x - y|^2 / ((1 - |x|^2)(1 - |y|^2)). In steps of 2^-30 the three numbers of u are exact
 * integers (ball.h): u = N 2^60 / (A B), N = |X - Y|^2, A = 2^60 - |X|^2, B = 2^60 - |Y|^2.
 *
 * The computed distance t has an error below 1/64 step, in either direction (below). So
 * t(x,z) <= t(x,y) + t(y,z) + 3/64, and d = ceil(t) + 1 between unequal points, 0 between equal
 * ones, is a metric: ceil(t(x,z)) + 1 <= (ceil(t(x,y)) + 1) + (ceil(t(y,z)) + 1). d is symmetric,
 * because N and A B are. d is not below the real distance, which the mechanism `hyperbolic` needs.
 *
 * The raw number is u as a binary floating-point number with 26 bits after the leading one. It
 * orders pairs as the distances do, because each step from it to the distance never decreases. It
 * needs one division; the logarithm is for the few pairs that are near. Integers only: libm's acosh
 * may differ between two machines, and one would refuse the lists that the other has sorted.
 *
 * Error of t, in radians; a step is 2^-16.
 *   1  The raw number cuts N and A B to 32 bits, their quotient to an integer of 32 bits or more,
 *      and that to 27 bits. u is off by a factor within 1 +- 2^-25. d 2 arsinh(sqrt(u)) / d ln u =
 *      sqrt(u / (1 + u)) <= 1, so t is off by less than 2^-24.9.
 *   2  Below 2^36, both roots are off by at most one unit of 2^(j-31), with 2^j <= 2 sqrt(u) if u
 *      >= 1, and j = 0 otherwise. Their sum is at least 2 sqrt(u), and at least 1: it is off by a
 *      factor within 1 +- 2^-30, and t by less than 2^-28.9. From 2^36 on, t = ln(4 u) is off by
 *      less than 1/(2 u), 2^-37.
 *   3  The logarithm is off by less than 2^-30 (log_of), and t by at most twice that.
 * The sum is below 2^-24, and 2^-22 is 1/64 step. test_hyperbolic compares with MPFR. */
#include "space/ball.h"
#include "space/integer_math.h"

enum {
    MANTISSA_BITS = 26, /* of a raw number, without its leading one */
    EXPONENT_BIAS = 64, /* u is at least 2^-60 between unequal points */
    EXPONENT_MAX = 122, /* u is below 2^62 2^60 / 1 */
    LARGE_EXPONENT = 36,
    LOG_BITS = 48, /* after the point of a logarithm */
    DIST_BITS = 16
};

/* Of a pair with a point outside the ball, which only a damaged file has. */
#define RAW_OUTSIDE UINT64_MAX
#define RAW_MAX (((uint64_t)(EXPONENT_MAX + EXPONENT_BIAS + 1) << MANTISSA_BITS) - 1)

/* ---- the raw number ---- */

/* The first 32 bits of v, which is not 0: v is *bits times 2^(the result), or a bit more. */
static int first_bits(uint128 v, uint64_t *bits) {
    const uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
    const int zeros = high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
    *bits = (uint64_t)(v << zeros >> 96);
    return 96 - zeros;
}

/* The raw number of u = n 2^60 / (a b). */
static uint64_t raw_of(uint64_t n, uint64_t a, uint64_t b) {
    uint64_t above = 0, below = 0;
    const int up = first_bits(n, &above), down = first_bits((uint128)a * b, &below);
    const uint64_t quotient = (above << 32) / below; /* 2^31 to 2^33 */
    const int last = 63 - __builtin_clzll(quotient);
    const int exponent = last - 32 + up - down + 2 * BALL_STEP_LOG2;
    const uint64_t mantissa = quotient >> (last - MANTISSA_BITS); /* with its leading one */
    return ((uint64_t)(exponent + EXPONENT_BIAS - 1) << MANTISSA_BITS) + mantissa;
}

static uint64_t raw(const space *s, uint32_t a, uint32_t b) {
    const int32_t *x = space_point(s, a), *y = space_point(s, b);
    const uint64_t between = ball_square_between(x, y, s->dimension);
    if (between == 0)
        return 0;
    const uint64_t xx = ball_square(x, s->dimension), yy = ball_square(y, s->dimension);
    if (xx >= BALL_SQUARE || yy >= BALL_SQUARE || between >= 4 * BALL_SQUARE)
        return RAW_OUTSIDE;
    return raw_of(between, BALL_SQUARE - xx, BALL_SQUARE - yy);
}

/* ---- its distance ---- */

/* ln(2), and ln(1 + (2 i + 1) / 32), in units of 2^-48, rounded to nearest. */
static const int64_t ln_2 = 195103586505167;
static const int64_t ln_middle[16] = {
    8661451906573,   25223580280171,  40865102839786,  55682996496557,
    69759678463100,  83165782443125,  95962303127591,  108202273998089,
    119932095246910, 131192595875603, 142019891375752, 152446082459311,
    162499828927881, 172206824534353, 181590192652790, 190670818094329};

/* ln(v), v from 1 to 2^33 - 1, in units of 2^-48. v = 2^e f, and c is the middle of the sixteenth
 * of 1 to 2 that f is in. With r = (f - c) / (f + c), ln(f / c) = 2 (r + r^3/3 + r^5/5 + ...).
 *
 * Error: |r| < 1/64, so the terms after r^3 are below 2^-31.3. r is cut to units of 2^-35, so 2 r
 * is off by less than 2^-34; the cube by less. The table is off by 2^-49, and 32 ln(2) by 2^-44.
 * The sum is below 2^-30.
 *
 * Larger v give larger or equal results. Within a sixteenth each step below never decreases. From
 * one sixteenth to the next: above c, the result is not above ln(v), because r and the series are
 * cut towards 0, and below c it is not below ln(v). The error of the table is less than ln(v) grows
 * from one integer v to the next. */
static int64_t log_of(uint64_t v) {
    enum { F_BITS = 32, R_BITS = 35 };
    const int e = 63 - __builtin_clzll(v);
    const int64_t f = (int64_t)(v << (F_BITS - e));
    const int64_t sixteenth = (f >> (F_BITS - 4)) & 15;
    const int64_t c = ((int64_t)1 << F_BITS) + (2 * sixteenth + 1) * ((int64_t)1 << (F_BITS - 5));
    const int64_t r = (f - c) * ((int64_t)1 << R_BITS) / (f + c);
    const int64_t third = r * r / ((int64_t)1 << 26) * r / ((int64_t)3 << 31); /* r^3 / 3 */
    return e * ln_2 + ln_middle[sixteenth] + 2 * (r * ((int64_t)1 << (LOG_BITS - R_BITS)) + third);
}

/* 2 ln(sqrt(u) + sqrt(1 + u)) in units of 2^-48, for u = mantissa 2^exponent / 2^26. */
static int64_t arsinh_doubled(uint64_t mantissa, int exponent) {
    if (exponent >= LARGE_EXPONENT)
        return log_of(mantissa) + (2 + exponent - MANTISSA_BITS) * ln_2;
    /* u and 1 + u in units of 2^(2j-62), so that u is below 2^62 units; roots in 2^(j-31). */
    const int j = exponent < 0 ? 0 : exponent / 2 + 1, up = exponent - MANTISSA_BITS + 62 - 2 * j;
    const uint64_t u = up >= 0 ? mantissa << up : mantissa >> -up;
    const uint64_t sum = root_ceil64(u) + root_ceil64(u + ((uint64_t)1 << (62 - 2 * j)));
    return 2 * (log_of(sum) - (31 - j) * ln_2);
}

static tem_dist distance_of_raw(const space *s, uint64_t raw) {
    (void)s;
    if (raw == 0 || raw > RAW_MAX)
        return raw == 0 ? 0 : UINT32_MAX;
    const int exponent = (int)(raw >> MANTISSA_BITS) - EXPONENT_BIAS;
    const uint64_t leading = (uint64_t)1 << MANTISSA_BITS;
    const uint64_t t = (uint64_t)arsinh_doubled(leading | (raw & (leading - 1)), exponent);
    const unsigned down = LOG_BITS - DIST_BITS;
    /* PRIVACY: rounding up and adding one step between unequal points makes this a metric, although
     * the logarithm is inexact (the inequality at the top of this file). */
    return (tem_dist)((t + ((uint64_t)1 << down) - 1) >> down) + 1;
}

static uint64_t raw_of_distance(const space *s, tem_dist d) {
    if (d == UINT32_MAX)
        return RAW_OUTSIDE;
    uint64_t low = 0, high = RAW_MAX + 1; /* the distance of `low` is at most d, of `high` above */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (distance_of_raw(s, middle) <= d)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const metric_ops metric_hyperbolic = {.id = TEM_HYPERBOLIC,
                                      .name = "hyperbolic",
                                      .meaning = "the Poincare ball's; vectors shorter than 1",
                                      .has_vectors = true,
                                      .is_ball = true,
                                      .raw = raw,
                                      .distance_of_raw = distance_of_raw,
                                      .raw_of_distance = raw_of_distance};
