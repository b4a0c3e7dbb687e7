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
 *   3  The logarithm to the base 2 is cut to 26 bits after the point: t is off by less than 2 ln(2)
 *      2^-26 < 2^-25.5.
 *   4  ln(2) is rounded to 2^-30, and t is at most 128 ln(2): off by less than 128 2^-31 = 2^-24.
 * The sum is below 2^-22.8, and 2^-22 is 1/64 step. test_hyperbolic compares with MPFR. */
#include "space/ball.h"
#include "space/integer_math.h"

enum {
    MANTISSA_BITS = 26, /* of a raw number, without its leading one */
    EXPONENT_BIAS = 64, /* u is at least 2^-60 between unequal points */
    EXPONENT_MAX = 122, /* u is below 2^62 2^60 / 1 */
    LARGE_EXPONENT = 36,
    LOG_BITS = 26,
    DIST_BITS = 16
};

#define LN_2 744261118u /* ln(2) in units of 2^-30, rounded to nearest */
#define LN_2_BITS 30

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

/* log2(v), v > 0, in units of 2^-LOG_BITS, rounded down. Squaring a number doubles its logarithm:
 * each round shows the next bit. The squares are cut, by a factor of 1 - 2^-63 in each round, and
 * the rounds that follow count for half as much: all cuts together lower the logarithm by less than
 * 2^-61. Larger v give larger or equal results: if two numbers part at a bit, the larger has it. */
static uint64_t log2_of(uint64_t v) {
    const int zeros = __builtin_clzll(v);
    uint64_t f = v << zeros; /* 1 to 2, in units of 2^-63 */
    uint64_t result = (uint64_t)(63 - zeros);
    for (int i = 0; i < LOG_BITS; i++) {
        const uint64_t square = (uint64_t)((uint128)f * f >> 64); /* 1 to 4, in units of 2^-62 */
        const uint64_t bit = square >> 63;
        f = square << (1 - bit);
        result = result << 1 | bit;
    }
    return result;
}

/* log2 of (sqrt(u) + sqrt(1 + u))^2 in units of 2^-LOG_BITS, for u = mantissa 2^exponent / 2^26. */
static uint64_t log2_of_square(uint64_t mantissa, int exponent) {
    if (exponent >= LARGE_EXPONENT)
        return log2_of(mantissa) + ((uint64_t)(2 + exponent - MANTISSA_BITS) << LOG_BITS);
    /* u and 1 + u in units of 2^(2j-62), so that u is below 2^62 units; roots in 2^(j-31). */
    const int j = exponent < 0 ? 0 : exponent / 2 + 1, up = exponent - MANTISSA_BITS + 62 - 2 * j;
    const uint64_t u = up >= 0 ? mantissa << up : mantissa >> -up;
    const uint64_t sum = root_ceil64(u) + root_ceil64(u + ((uint64_t)1 << (62 - 2 * j)));
    return 2 * (log2_of(sum) - ((uint64_t)(31 - j) << LOG_BITS));
}

static tem_dist distance_of_raw(const space *s, uint64_t raw) {
    (void)s;
    if (raw == 0 || raw > RAW_MAX)
        return raw == 0 ? 0 : UINT32_MAX;
    const int exponent = (int)(raw >> MANTISSA_BITS) - EXPONENT_BIAS;
    const uint64_t leading = (uint64_t)1 << MANTISSA_BITS;
    const uint64_t doubled = log2_of_square(leading | (raw & (leading - 1)), exponent);
    const unsigned down = LOG_BITS + LN_2_BITS - DIST_BITS;
    /* PRIVACY: rounding up and adding one step between unequal points makes this a metric, although
     * the logarithm is inexact (the inequality at the top of this file). */
    return (tem_dist)((doubled * LN_2 + ((uint64_t)1 << down) - 1) >> down) + 1;
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
