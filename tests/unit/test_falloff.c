/* test_falloff.c - the weights of ranks against MPFR, and the alias tables that draw by them: every
 * unit counted, every edge of a column from a tape, and draws. */
#include "mech/falloff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

typedef u256_wide wide;

static void end_of_tape(void *context) {
    (void)context;
    fail_msg("the draw needs more words than the tape has");
}

static tem_rng on_tape(const uint64_t *words, uint64_t count) {
    tem_rng rng;
    rng_init_tape(&rng, words, count, end_of_tape, NULL);
    return rng;
}

/* ---- heights ---- */

/* 2^62 (1 + r/c)^-s, with an error below 2^-60. */
static void set_height(mpfr_t out, const falloff *f, uint32_t r) {
    mpfr_t s;
    mpfr_init2(s, 256);
    mpfr_set_ui_2exp(s, f->s, -FALLOFF_S_BITS, MPFR_RNDN); /* exact */
    mpfr_set_ui_2exp(out, r, FALLOFF_C_BITS, MPFR_RNDN);
    mpfr_div_ui(out, out, f->c, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    mpfr_neg(s, s, MPFR_RNDN);
    mpfr_pow(out, out, s, MPFR_RNDN);
    mpfr_mul_2ui(out, out, FALLOFF_TOP_BITS, MPFR_RNDN);
    mpfr_clear(s);
}

/* Every height is the true value rounded to the nearest integer, or off by one where the true value
 * is within 1/16 of the middle between two integers; heights never rise. */
static void check_heights(double s, double c, uint32_t count) {
    falloff f;
    tem_error error;
    assert_int_equal(falloff_init(&f, (uint64_t)ldexp(s, FALLOFF_S_BITS),
                                  (uint64_t)ldexp(c, FALLOFF_C_BITS), count, 1, &error),
                     TEM_OK);
    assert_true(f.heights[0] == (uint64_t)1 << 62);
    mpfr_t height;
    mpfr_init2(height, 256);
    wide total = 0;
    for (uint32_t r = 0; r < count; r++) {
        total += f.heights[r];
        assert_true(r == 0 || f.heights[r] <= f.heights[r - 1]);
        set_height(height, &f, r);
        mpfr_sub_ui(height, height, f.heights[r], MPFR_RNDN);
        assert_true(fabs(mpfr_get_d(height, MPFR_RNDN)) <= 0.5 + 1 / 16.0);
    }
    assert_true(total == falloff_total(&f));
    set_height(height, &f, count - 1);
    const double bound = (62 * M_LN2) - log(mpfr_get_d(height, MPFR_RNDN));
    assert_true(fabs(falloff_bound(&f) - bound) < 1e-6);
    mpfr_clear(height);
    falloff_free(&f);
}

static void test_heights(void **state) {
    (void)state;
    check_heights(1.05, 1, 33785);
    check_heights(0x1p-20, 1, 1000);
    check_heights(2.4, 20, 33785);
    check_heights(2.79, 1, 33785); /* nearly the largest s */
    check_heights(1.7, 5, 341479);
    check_heights(1.2, 1 / 16.0, 5000);
    check_heights(63.99, 1024, 500);
    check_heights(64, 1, 1);
    check_heights(42, 1, 2); /* the last height is 2^20 */
}

/* PRIVACY: the bound is at least the true logarithm of the ratio, for every table. */
static void test_bound_is_above(void **state) {
    (void)state;
    for (uint32_t count = 2; count < 3000; count += 97) {
        falloff f;
        assert_int_equal(falloff_init(&f, 1 << 20, 1 << 16, count, 1, NULL), TEM_OK);
        mpfr_t ratio, last;
        mpfr_inits2(256, ratio, last, (mpfr_ptr)NULL);
        mpfr_set_ui(ratio, f.heights[0], MPFR_RNDN);
        mpfr_set_ui(last, f.heights[count - 1], MPFR_RNDN);
        mpfr_div(ratio, ratio, last, MPFR_RNDN);
        mpfr_log(ratio, ratio, MPFR_RNDN);
        assert_true(mpfr_cmp_d(ratio, falloff_bound(&f)) <= 0);
        mpfr_sub_d(ratio, ratio, falloff_bound(&f), MPFR_RNDN);
        assert_true(mpfr_cmp_d(ratio, -1e-12) > 0);
        mpfr_clears(ratio, last, (mpfr_ptr)NULL);
        falloff_free(&f);
    }
}

static void test_refusals(void **state) {
    (void)state;
    falloff f;
    tem_error error;
    const uint64_t one = 1 << 20, c = 1 << 16;
    assert_int_equal(falloff_init(&f, 0, c, 10, 1, &error), TEM_ERR_RANGE);
    assert_int_equal(falloff_init(&f, 64 * one + 1, c, 10, 1, &error), TEM_ERR_RANGE);
    assert_int_equal(falloff_init(&f, one, (1 << 12) - 1, 10, 1, &error), TEM_ERR_RANGE);
    assert_int_equal(falloff_init(&f, one, (1 << 26) + 1, 10, 1, &error), TEM_ERR_RANGE);
    assert_int_equal(falloff_init(&f, 42 * one + 1, c, 2, 1, &error), TEM_ERR_RANGE); /* 2^20 - 1 */
    assert_int_equal(falloff_init(&f, 3 * one, c, 33785, 1, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "2.79")); /* 42 ln 2 / ln 33785 = 2.792 */
    assert_int_equal(falloff_init(&f, 3 * one, c, 33785, 2, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "s is at most 2.79, and epsilon at most 5.58"));
}

/* ---- alias tables ---- */

enum { SMALL = 6 };

/* The units of each entry, counted over all columns, are weight times count. */
static void check_units(const uint64_t *values, uint32_t count) {
    alias a;
    assert_int_equal(alias_init(&a, values, count, NULL), TEM_OK);
    wide *units = test_calloc(count, sizeof *units);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(a.owns[i] <= a.total);
        units[i] += a.owns[i];
        units[a.columns[i].other] += a.total - a.owns[i];
    }
    for (uint32_t i = 0; i < count; i++)
        assert_true(units[i] == (wide)values[i] * count);
    test_free(units);
    alias_free(&a);
}

static void test_every_unit(void **state) {
    (void)state;
    const uint64_t one[] = {7}, equal[] = {3, 3, 3}, zeros[] = {0, 0, 5, 0};
    const uint64_t wide_apart[SMALL] = {UINT64_MAX, 1, 0, UINT64_MAX, 2, 12345};
    check_units(one, 1);
    check_units(equal, 3);
    check_units(zeros, 4);
    check_units(wide_apart, SMALL);
    falloff f;
    assert_int_equal(falloff_init(&f, 1 << 20, 1 << 16, 33785, 1, NULL), TEM_OK);
    check_units(f.heights, f.count);
    falloff_free(&f);
    const uint64_t none[] = {0, 0};
    alias a;
    assert_int_equal(alias_init(&a, none, 2, NULL), TEM_ERR_RANGE);
}

/* The entry that a number selects: its column, and its place in it. */
static uint32_t select_by_number(const alias *a, uint64_t word, wide remainder) {
    const wide units = a->total * a->count;
    const wide low = (wide)word * (uint64_t)units + (uint64_t)remainder;
    const wide unit = (wide)word * (uint64_t)(units >> 64) + (low >> 64) + (remainder >> 64);
    const uint32_t column = (uint32_t)(unit / a->total);
    return unit % a->total < a->owns[column] ? column : a->columns[column].other;
}

/* PRIVACY: for every word around every edge of every column, the quick draw gives the entry that
 * the whole number selects, whatever the remainder is; where the remainder matters, it is drawn. */
static void check_edges(const alias *a) {
    const wide units = a->total * a->count;
    for (uint32_t i = 0; i < a->count; i++)
        for (int edge = 0; edge < 2; edge++) {
            const wide unit = i * a->total + (edge == 0 ? 0 : a->owns[i]);
            const long double at = ldexpl((long double)unit / (long double)units, 64);
            for (int step = -3; step <= 3; step++) {
                if (at + step < 0 || at + step >= 0x1p64L)
                    continue;
                const uint64_t word = (uint64_t)(at + step);
                const uint32_t least = select_by_number(a, word, 0);
                const uint32_t most = select_by_number(a, word, units - 1);
                uint64_t tape[8] = {word}; /* a remainder of 0 */
                tem_rng rng = on_tape(tape, 8);
                assert_int_equal(alias_draw(a, &rng), least);
                if (rng.tape_used == 1)
                    assert_int_equal(least, most);
            }
        }
}

static void test_edges(void **state) {
    (void)state;
    const uint64_t values[SMALL] = {1000000007, 1, 0, 5, (uint64_t)1 << 62, 77777777777};
    alias a;
    assert_int_equal(alias_init(&a, values, SMALL, NULL), TEM_OK);
    check_edges(&a);
    alias_free(&a);
    falloff f;
    assert_int_equal(falloff_init(&f, 1 << 20, 1 << 16, 3001, 1, NULL), TEM_OK);
    check_edges(&f.ranks);
    falloff_free(&f);
}

/* A word on an edge is decided by the remainder: with remainders in equal steps over all of them,
 * the draw changes its answer where the unit does. */
static void test_remainder_decides(void **state) {
    (void)state;
    const uint64_t values[3] = {3, 5, 8}; /* 16 units per column, 48 in all */
    alias a;
    assert_int_equal(alias_init(&a, values, 3, NULL), TEM_OK);
    unsigned undecided = 0;
    for (uint64_t unit = 1; unit < 48; unit++) {
        const uint64_t word = (uint64_t)(((wide)unit << 64) / 48);
        for (uint64_t remainder = 0; remainder < 48; remainder++) {
            /* rng_below256 takes the lowest 6 bits of the word and repeats if they are 48 or
             * more */
            const uint64_t tape[2] = {word, remainder};
            tem_rng rng = on_tape(tape, 2);
            assert_int_equal(alias_draw(&a, &rng), select_by_number(&a, word, remainder));
            undecided += rng.tape_used == 2;
        }
    }
    assert_true(undecided >= 48); /* some words leave it to the remainder */
    alias_free(&a);
}

/* 10^7 draws of the 6 entries and of 200 ranks. Chi-square with 4 and 199 degrees of freedom; a
 * false alarm has the probability 10^-9 each: limits 47.9 and 342.9. The seed is fixed. */
static double chi_square(const uint64_t *values, uint32_t count, uint64_t draws) {
    alias a;
    tem_rng rng;
    double sum = 0;
    uint64_t *seen = test_calloc(count, sizeof *seen);
    assert_int_equal(alias_init(&a, values, count, NULL), TEM_OK);
    rng_init_seeded(&rng, 5, count);
    for (uint64_t i = 0; i < draws; i++)
        seen[alias_draw(&a, &rng)]++;
    for (uint32_t i = 0; i < count; i++) {
        const double expected = (double)draws * (double)values[i] / (double)a.total;
        assert_true(values[i] > 0 || seen[i] == 0);
        sum += values[i] == 0 ? 0 : pow((double)seen[i] - expected, 2) / expected;
    }
    alias_free(&a);
    test_free(seen);
    return sum;
}

static void test_draws(void **state) {
    (void)state;
    const uint64_t values[SMALL] = {1000, 30, 0, 500, 70000, 7};
    assert_true(chi_square(values, SMALL, 10000000) < 47.9);
    falloff f;
    assert_int_equal(falloff_init(&f, 1 << 20, 1 << 16, 200, 1, NULL), TEM_OK);
    assert_true(chi_square(f.heights, 200, 10000000) < 342.9);
    falloff_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heights),  cmocka_unit_test(test_bound_is_above),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_every_unit),
        cmocka_unit_test(test_edges),    cmocka_unit_test(test_remainder_decides),
        cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
