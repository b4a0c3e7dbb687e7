/* test_margins.c - the margins of the realized loss, each tested where it decides; and the rounding
 * of the distance of bags.
 *
 * A bound that is a proof must hold for every rounding that the machine may make, not only for
 * those that it happens to make. Most inputs leave so much room that a missing margin would not
 * show. So this program tests each function with a margin alone, against MPFR: on numbers that
 * round the wrong way, on vocabularies where every sum does, and with an exp(-x) as wrong as its
 * contract allows. It also counts the roundings independently.
 *
 * It includes the sources for their static functions. */
#include "audit/decay.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* Factor that gives exp(-x) all of the error that DECAY_ERROR allows, except 4 2^-53, which is more
 * than decay_at's own error. 1: no error; tests set it. */
static double decay_factor = 1;

static void decay_init_wrong(decay *d) {
    decay_init(d);
    for (unsigned level = 0; level <= EXP_LEVELS; level++)
        d->levels[level] *= decay_factor;
}

#define decay_init decay_init_wrong
#include "audit/partition.c"
#undef decay_init
#include "audit/realised.c"
#include "bag/bag.c"

enum { BITS = 300 };

/* ------------------------------------------------------------- helpers -- */

/* A vocabulary given only by its distances. The bounds on Z hold whether they are a metric or
 * not. */
typedef struct words {
    uint32_t *matrix;
    space space;
    profile profile;
} words;

static words words_make(uint32_t count, const uint32_t *weights,
                        tem_dist distance(uint32_t a, uint32_t b)) {
    words w = {.matrix = calloc(space_pair_count(count), sizeof *w.matrix)};
    assert_non_null(w.matrix);
    w.space = (space){.metric = &metric_matrix, .count = count, .matrix = w.matrix};
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++)
            w.matrix[space_pair_index(a, b)] = distance(a, b);
    assert_int_equal(profile_make(&w.space, weights, NULL, &w.profile, NULL), TEM_OK);
    return w;
}

static void words_free(words *w) {
    profile_free(&w->profile);
    free(w->matrix);
}

static void exact_exp(mpfr_t out, uint64_t x) {
    mpfr_set_uj_2exp(out, x, -36, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
}

/* ln Z of a word. */
static void exact_log_z(mpfr_t out, const words *w, const uint32_t *weights, exponent e,
                        uint32_t id) {
    mpfr_t term;
    mpfr_init2(term, BITS);
    mpfr_set_ui(out, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < w->space.count; y++) {
        exact_exp(term, exponent_at(&e, space_distance(&w->space, id, y)));
        mpfr_mul_ui(term, term, weights == NULL ? 1 : weights[y], MPFR_RNDN);
        mpfr_add(out, out, term, MPFR_RNDN);
    }
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_clear(term);
}

/* Checks that ln Z of word 0 is between its bounds: by the profile, then by the sum. */
static void check_bounds(const words *w, const uint32_t *weights, exponent e) {
    partition z = {0};
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    exact_log_z(truth, w, weights, e, 0);
    assert_int_equal(partition_make(&w->profile, weights, e, NULL, &z, NULL), TEM_OK);
    assert_true(mpfr_cmp_d(truth, z.least[0]) >= 0 && mpfr_cmp_d(truth, z.most[0]) <= 0);
    partition_refine(&z, &w->space, 0);
    assert_true(mpfr_cmp_d(truth, z.least[0]) >= 0 && mpfr_cmp_d(truth, z.most[0]) <= 0);
    mpfr_clear(truth);
    partition_free(&z);
}

/* ------------------------------------------------------- roundings of Z -- */

enum { LOST = 400 };

/* Word 0 is 37 units from all others, which are near each other. */
static tem_dist far_words(uint32_t a, uint32_t b) {
    return a == 0 && b > 0 ? 37 * TEM_DIST_ONE : 1;
}

/* 1 plus hundreds of terms, each just below half of its last bit: every sum rounds to 1. */
static void test_lost_terms(void **state) {
    (void)state;
    words w = words_make(LOST, NULL, far_words);
    const double s = 53 * log(2) / 37 * (1 + 1e-6);
    const exponent e = {(uint64_t)(s * 0x1p20) + 1, 40 * TEM_DIST_ONE};
    decay d;
    decay_init(&d);
    const double term = decay_at(&d, exponent_at(&e, 37 * TEM_DIST_ONE));
    assert_true(1 + term == 1 && term > 0.999 * 0x1p-53);
    check_bounds(&w, NULL, e);
    words_free(&w);
}

enum { STEP = 1 << 23 };

/* Word 1 is at the first point of the profile. All later words are two units before the second
 * point, so they add 2 to the first point. Two words far apart determine the step. */
static tem_dist words_of_a_cell(uint32_t a, uint32_t b) {
    if (a > 0)
        return a == 2 && b == 3 ? (tem_dist)(STEP - 1) * (PROFILE_POINTS - 1) + 5 : STEP;
    return b == 1 ? STEP : 2 * STEP - 2;
}

/* A large weight gives a point the value 2^54. Each added 2 is half of its last bit, and rounds to
 * nothing. */
static void test_lost_weights(void **state) {
    (void)state;
    uint32_t weights[LOST];
    for (uint32_t id = 0; id < LOST; id++)
        weights[id] = id == 1 ? (uint32_t)1 << 31 : 1;
    words w = words_make(LOST, weights, words_of_a_cell);
    assert_int_equal(w.profile.step, STEP);
    assert_true(profile_of(&w.profile, 0)[1] == 0x1p54);
    const exponent e = {1024, 10 * STEP}; /* x = 0.125 per step: the chord is near */
    check_bounds(&w, weights, e);
    words_free(&w);
}

/* From word 0 all are at gamma or beyond it, and none as far as the next point of the profile. */
static tem_dist words_beyond_gamma(uint32_t a, uint32_t b) {
    if (a > 0)
        return a == 2 && b == 3 ? (tem_dist)(STEP - 1) * (PROFILE_POINTS - 1) + 5 : STEP;
    return b == 1 ? STEP + STEP / 2 : STEP + STEP / 4 * 3;
}

/* f bends between two points, and all of these words are where it is flat: a line from the first of
 * the two points is above it, unless it begins as low as it ends. */
static void test_gamma_between_points(void **state) {
    (void)state;
    words w = words_make(8, NULL, words_beyond_gamma);
    assert_int_equal(w.profile.step, STEP);
    for (uint64_t s = 1; s <= 1 << 18; s *= 4) { /* to 49 at gamma */
        const exponent e = {s, STEP + STEP / 2};
        check_bounds(&w, NULL, e);
    }
    words_free(&w);
}

/* 2 words, so that nothing but exp(-x) is wrong; too large, then too small. */
static tem_dist two_words(uint32_t a, uint32_t b) {
    (void)a;
    (void)b;
    return TEM_DIST_ONE / 64;
}

static void test_wrong_decay(void **state) {
    (void)state;
    words w = words_make(2, NULL, two_words);
    const exponent e = {1 << 20, 40 * TEM_DIST_ONE};
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (int sign = -1; sign <= 1; sign += 2) {
        decay d;
        decay_factor = 1 + sign * (DECAY_ERROR - 4 * 0x1p-53);
        decay_init_wrong(&d);
        static const tem_dist used[] = {0, TEM_DIST_ONE / 64};
        for (unsigned i = 0; i < 2; i++) { /* within the contract, and using nearly all of it */
            exact_exp(truth, exponent_at(&e, used[i]));
            const double found = decay_at(&d, exponent_at(&e, used[i]));
            mpfr_d_div(truth, found, truth, MPFR_RNDN);
            mpfr_sub_ui(truth, truth, 1, MPFR_RNDN);
            const double error = sign * mpfr_get_d(truth, MPFR_RNDN);
            assert_true(error <= DECAY_ERROR && error >= 0.5 * DECAY_ERROR);
        }
        check_bounds(&w, NULL, e);
    }
    decay_factor = 1;
    mpfr_clear(truth);
    words_free(&w);
}

/* (1 + sign 2^-53)^roundings (1 + sign DECAY_ERROR)^decays (1 - sign share). */
static void product_of_errors(mpfr_t out, int sign, uint32_t roundings, uint32_t decays,
                              double share) {
    const double errors[] = {sign * 0x1p-53, sign * DECAY_ERROR, -sign * share};
    const uint32_t times[] = {roundings, decays, 1};
    mpfr_t factor;
    mpfr_init2(factor, BITS);
    mpfr_set_ui(out, 1, MPFR_RNDN);
    for (unsigned i = 0; i < 3; i++) {
        mpfr_set_d(factor, errors[i], MPFR_RNDN);
        mpfr_add_ui(factor, factor, 1, MPFR_RNDN);
        mpfr_pow_ui(factor, factor, times[i], MPFR_RNDN);
        mpfr_mul(out, out, factor, MPFR_RNDN);
    }
    mpfr_clear(factor);
}

/* Checks that `share` covers these errors and the two roundings of set_bounds, and nothing more, so
 * that an omission shows. */
static void check_share(double share, uint32_t roundings, uint32_t decays) {
    mpfr_t all;
    mpfr_init2(all, BITS);
    product_of_errors(all, 1, roundings + 2, decays, share);
    assert_true(mpfr_cmp_ui(all, 1) <= 0); /* the lower bound is not above Z */
    product_of_errors(all, -1, roundings + 2, decays, share);
    assert_true(mpfr_cmp_ui(all, 1) >= 0); /* the upper bound is not below Z */
    const double sum = (roundings + 2.0) * 0x1p-53 + decays * DECAY_ERROR;
    assert_true(share <= sum * (1 + 2 * sum));
    mpfr_clear(all);
}

/* The largest number of roundings of one term, counted along the loops of the sources. */
static void test_slack(void **state) {
    (void)state;
    static const uint32_t counts[] = {2, 3, 100, 33860, 341479, 1 << 24, TEM_WORDS_MAX};
    for (unsigned i = 0; i < 7; i++) {
        uint32_t by_profile = 0, by_sum = 0;
        by_profile += 1;                 /* weight * (step - past) */
        by_profile += counts[i] - 1 - 1; /* values[point] +=, all but w; the first adds to 0 */
        by_profile += 1 + 1;             /* value * below; / step */
        by_profile += 1;                 /* a[k] * b[k] */
        by_profile += 512 / 8 - 1;       /* sums[lane] += */
        by_profile += 8 - 1;             /* sum += */
        by_profile += 1;                 /* own + */
        by_sum += 1;                     /* weight * decay_at */
        by_sum += counts[i] - 1;         /* sum +=; the first adds to 0 */
        assert_true(PROFILE_POINTS == 512 && LANES == 8);
        check_share(slack_of_profile(counts[i]), by_profile, 2);
        check_share(slack_of_sum(counts[i]), by_sum, 1);
    }
}

/* ------------------------------------------------------ Hoeffding's factor -- */

/* The factor must not be above exp(-x^2/8), except for the error of exp: for small x, where
 * rounding the wrong way would be a large part of the result, and for all other x. */
static void test_hoeffding(void **state) {
    (void)state;
    decay d;
    decay_init(&d);
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t x = random64() >> (22 + i % 30); /* below 64, in steps of 2^-36 */
        mpfr_set_uj_2exp(truth, x, -36, MPFR_RNDN);
        mpfr_sqr(truth, truth, MPFR_RNDN);
        mpfr_div_si(truth, truth, -8, MPFR_RNDN);
        mpfr_exp(truth, truth, MPFR_RNDN);
        mpfr_mul_d(truth, truth, 1 + DECAY_ERROR, MPFR_RNDN);
        assert_true(mpfr_cmp_d(truth, hoeffding(&d, x)) >= 0);
    }
    mpfr_clear(truth);
}

/* In the middle of a cell of the profile. */
static tem_dist middles_of_cells(uint32_t a, uint32_t b) {
    return a == 0 && b > 0 ? 300 * 1024 + 512 : 511 * 1023 + 5; /* the step is 1024 */
}

/* There the chord exceeds f by exp(x^2/8) but for x^4, which is nothing here. The exponents are
 * such that x^2/8 is just below a step of 2^-36, so that rounding it down would be a whole step. */
static void test_middles(void **state) {
    (void)state;
    words w = words_make(60, NULL, middles_of_cells);
    assert_int_equal(w.profile.step, 1024);
    unsigned tried = 0;
    for (uint64_t s = 1 << 13; s < 1 << 14; s++) {
        const uint64_t square = (s * 1024) * (s * 1024); /* in steps of 2^-72 */
        if ((square >> 39 << 39) + ((uint64_t)1 << 39) - square > (uint64_t)1 << 33)
            continue;
        check_bounds(&w, NULL, (exponent){s, 511 * 1024});
        tried++;
    }
    assert_true(tried > 10);
    words_free(&w);
}

/* ------------------------------------------------------- the realized loss -- */

/* A number below 1 with 53 random bits, at one of `range` scales. */
static double random_double(unsigned range) {
    return ldexp((double)(random64() >> 11), -53 - (int)random_below(range));
}

/* value >= a + b + 2^-60, exactly. */
static bool covers(double value, double a, double b) {
    mpfr_t sum;
    mpfr_init2(sum, BITS);
    mpfr_set_d(sum, a, MPFR_RNDN);
    mpfr_add_d(sum, sum, b, MPFR_RNDN);
    mpfr_add_d(sum, sum, 0x1p-60, MPFR_RNDN);
    const bool is_covered = mpfr_cmp_d(sum, value) <= 0;
    mpfr_clear(sum);
    return is_covered;
}

/* s of all sizes, with slopes up to s: zero, just below s, and in between. */
static void test_loss_up(void **state) {
    (void)state;
    for (unsigned i = 0; i < 300000; i++) {
        const exponent e = {1 + (random64() >> (22 + random_below(42))), 1};
        const double s = ldexp((double)e.s, -20);
        const double extra = i % 8 == 0 ? 0 : s * random_double(1 + i % 40);
        assert_true(covers(loss_up(&e, extra), s, extra));
        assert_true(loss_up(&e, extra) <= (s + extra) * (1 + 0x1p-49) + 0x1p-59);
    }
}

/* The bounds of a vocabulary in which only the first and the last word matter. */
static void test_local_bound(void **state) {
    (void)state;
    double least[2], most[2];
    partition z = {.count = 2, .least = least, .most = most};
    for (unsigned i = 0; i < 300000; i++) {
        z.exponent.s = 1 + (random64() >> (38 + random_below(26)));
        z.exponent.gamma = 1 + (uint32_t)(random64() >> (32 + random_below(32)));
        if (z.exponent.s > ((uint64_t)64 << 36) / z.exponent.gamma)
            continue;
        const double single = ldexp((double)(z.exponent.s * z.exponent.gamma), -36);
        least[i % 2] = random_double(3) * 20;
        most[i % 2] = least[i % 2] + random_double(30);
        least[1 - i % 2] = least[i % 2] + random_double(30);
        most[1 - i % 2] = most[i % 2] + 2 * single * random_double(30);
        const double top = most[1 - i % 2], bottom = least[i % 2];
        const double bound = local_bound(&z);
        mpfr_t exact;
        mpfr_init2(exact, BITS);
        mpfr_set_d(exact, top, MPFR_RNDN);
        mpfr_sub_d(exact, exact, bottom, MPFR_RNDN);
        if (mpfr_cmp_d(exact, single) > 0)
            mpfr_set_d(exact, single, MPFR_RNDN);
        mpfr_add_d(exact, exact, single, MPFR_RNDN);
        mpfr_add_d(exact, exact, 0x1p-60, MPFR_RNDN);
        assert_true(mpfr_cmp_d(exact, bound) <= 0);
        mpfr_clear(exact);
    }
}

/* The slope of two words, from bounds on their ln Z. */
static void test_slope_of(void **state) {
    (void)state;
    double least[2], most[2];
    partition z = {.count = 2, .least = least, .most = most, .exponent = {.gamma = 1 << 30}};
    mpfr_t exact;
    mpfr_init2(exact, BITS);
    for (unsigned i = 0; i < 100000; i++) {
        const tem_dist distance = 1 + (uint32_t)(random64() >> (34 + random_below(30)));
        z.exponent.s = (uint64_t)1 << 50; /* no slope is capped at s */
        least[i % 2] = random_double(3) * 20;
        most[i % 2] = least[i % 2] + random_double(50);
        least[1 - i % 2] = most[i % 2] + random_double(50);
        most[1 - i % 2] = least[1 - i % 2] + random_double(50);
        const slope found = slope_of(&z, 0, 1, distance);
        for (unsigned side = 0; side < 2; side++) {
            mpfr_set_d(exact, side == 0 ? most[1 - i % 2] : least[1 - i % 2], MPFR_RNDN);
            mpfr_sub_d(exact, exact, side == 0 ? least[i % 2] : most[i % 2], MPFR_RNDN);
            mpfr_mul_ui(exact, exact, TEM_DIST_ONE, MPFR_RNDN);
            mpfr_div_ui(exact, exact, distance, MPFR_RNDN);
            assert_true(side == 0 ? mpfr_cmp_d(exact, found.most) <= 0
                                  : mpfr_cmp_d(exact, found.least) >= 0);
        }
    }
    mpfr_clear(exact);
}

/* ------------------------------------- the distance of bags, as a number -- */

/* cost / denominator / 2^16, rounded once. */
static double rounded(u256_wide cost, uint64_t denominator) {
    const uint64_t limbs[] = {(uint64_t)cost, (uint64_t)(cost >> 64)};
    mpz_t numerator, divisor;
    mpq_t quotient;
    mpfr_t number;
    mpz_inits(numerator, divisor, NULL);
    mpq_init(quotient);
    mpfr_init2(number, 53);
    mpz_import(numerator, 2, -1, sizeof *limbs, 0, 0, limbs);
    mpz_import(divisor, 1, -1, sizeof denominator, 0, 0, &denominator);
    mpq_set_num(quotient, numerator);
    mpq_set_den(quotient, divisor);
    mpq_canonicalize(quotient);
    mpfr_set_q(number, quotient, MPFR_RNDN);
    const double value = ldexp(mpfr_get_d(number, MPFR_RNDN), -16);
    mpfr_clear(number);
    mpq_clear(quotient);
    mpz_clears(numerator, divisor, NULL);
    return value;
}

static uint64_t random_bits(unsigned bits) {
    return ((uint64_t)1 << (bits - 1)) + random_below((uint64_t)1 << (bits - 1));
}

/* Quotients half-way between two doubles, and one unit beside that, which only the last bit can
 * tell: a unit of the numerator, which is in the remainder, or of a whole quotient of more than 64
 * bits, which is in the bits that are shifted out. */
static void test_number_is_rounded_once(void **state) {
    (void)state;
    assert_true(as_number(0, 7) == 0);
    for (unsigned bits = 2; bits <= 62; bits++)
        for (int again = 0; again < 200; again++) {
            const uint64_t denominator = random_bits(bits) | 1;
            const u256_wide half_way = (u256_wide)(random_bits(54) | 1) * denominator;
            for (unsigned units = 0; units <= 2; units++) {
                const u256_wide cost = half_way + units - 1;
                assert_true(as_number(cost, denominator) == rounded(cost, denominator));
            }
            const uint64_t divisor = random_bits(2 + bits / 2);
            const u256_wide quotient = (u256_wide)(random_bits(54) | 1) << (bits / 2);
            for (unsigned units = 0; units <= 2; units++) {
                const u256_wide cost = (quotient + units - 1) * divisor;
                assert_true(as_number(cost, divisor) == rounded(cost, divisor));
            }
            const u256_wide cost = (u256_wide)random_bits(60) * random_bits(bits);
            assert_true(as_number(cost, denominator) == rounded(cost, denominator));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_terms),
        cmocka_unit_test(test_lost_weights),
        cmocka_unit_test(test_wrong_decay),
        cmocka_unit_test(test_slack),
        cmocka_unit_test(test_hoeffding),
        cmocka_unit_test(test_middles),
        cmocka_unit_test(test_loss_up),
        cmocka_unit_test(test_local_bound),
        cmocka_unit_test(test_slope_of),
        cmocka_unit_test(test_gamma_between_points),
        cmocka_unit_test(test_number_is_rounded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
