/* test_law.c - the law that is drawn: its table, its exponent, its numbers, its promise.
 *
 * The oracle is MPFR. The law as numbers (law.c) is compared with two others made here: the exact
 * law, from E_j and r computed again, and the ideal law, a_y exp(-s min(d, gamma)) / Z, from which
 * it may differ by a relative 2^-98. Then the test checks every inequality that the mechanism
 * promises, for all triples of words of small vocabularies; planted wrong laws show that the check
 * can fail. */
#include "mech/law.h"
#include "mech/sampler_form.h"
#include "model/model.h"
#include "pseudo.h"
#include "slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 300 }; /* precision of the oracle's numbers */

/* ------------------------------------------------------------- helpers -- */

static int16_t random_value(int largest) {
    return (int16_t)((int)(random64() % (2 * (unsigned)largest + 1)) - largest);
}

typedef struct points {
    space space;
    int16_t *rows;
} points;

static points points_make(uint32_t q, uint32_t dimension, uint32_t count) {
    points p = {.space = {.metric = &metric_euclidean,
                          .count = count,
                          .dimension = dimension,
                          .row_elements = space_row_elements(dimension),
                          .step_log2 = q}};
    const size_t bytes = (size_t)count * p.space.row_elements * sizeof *p.rows;
    p.rows = aligned_alloc(64, bytes);
    assert_non_null(p.rows);
    memset(p.rows, 0, bytes);
    p.space.rows = p.rows;
    return p;
}

static int16_t *point(const points *p, uint32_t id) {
    return p->rows + (size_t)id * p->space.row_elements;
}

static void points_free(points *p) {
    free(p->rows);
}

/* ------------------------------------------------------------ exp_table -- */

static void set_level(mpz_t out, unsigned level) {
    mpz_import(out, 4, -1, sizeof(uint64_t), 0, 0, exp_table[level].limb);
}

/* ceil(2^192 exp(-j/8)), computed from below and from above: if both agree, no rounding crossed an
 * integer. */
static void oracle_level(mpz_t out, unsigned level) {
    mpfr_t below, above;
    mpz_t other;
    mpfr_inits2(400, below, above, (mpfr_ptr)NULL);
    mpz_init(other);
    mpfr_set_si_2exp(below, -(long)level, -3, MPFR_RNDN);
    mpfr_exp(above, below, MPFR_RNDU);
    mpfr_exp(below, below, MPFR_RNDD);
    mpfr_mul_2ui(above, above, 192, MPFR_RNDU);
    mpfr_mul_2ui(below, below, 192, MPFR_RNDD);
    mpfr_get_z(out, above, MPFR_RNDU);
    mpfr_get_z(other, below, MPFR_RNDU);
    assert_int_equal(mpz_cmp(out, other), 0);
    mpz_clear(other);
    mpfr_clears(below, above, (mpfr_ptr)NULL);
}

static void test_table(void **state) {
    (void)state;
    mpz_t expected, found;
    mpz_inits(expected, found, NULL);
    for (unsigned level = 0; level <= EXP_LEVELS; level++) {
        oracle_level(expected, level);
        set_level(found, level);
        assert_int_equal(mpz_cmp(expected, found), 0);
        assert_true(mpz_sizeinbase(found, 2) > 99); /* E_j > 2^99: the factor 1 + 2^-99 */
    }
    mpz_clears(expected, found, NULL);
}

/* ------------------------------------------------------------- exponent -- */

static void test_s(void **state) {
    (void)state;
    static const struct {
        double epsilon;
        uint64_t s;
    } cases[] = {
        {0x1p-18, 1},
        {0x1.7p-18, 1},
        {0x1.8p-18, 2},
        {0x1p-10, 511},
        {0.1, 52427}, /* floor(52428.8) - 1 */
        {0.5, (1 << 18) - 1},
        {1, (1 << 19) - 1},
        {2, (1 << 20) - 1},
        {0x1.fffffffffffffp0, (1 << 20) - 2},
        {3.7, 1939864},
        {64, (1 << 25) - 1},
        {0x1p23, ((uint64_t)1 << 42) - 1},
        {0x1p23 + 0x1p-19, (uint64_t)1 << 42},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t s = 0;
        assert_int_equal(exponent_s(cases[i].epsilon, &s, NULL), TEM_OK);
        assert_true(s == cases[i].s);
    }
}

/* PRIVACY: 2s <= epsilon - 2^-19, and s is not smaller than needed, for many values of epsilon. */
static void test_s_leaves_room(void **state) {
    (void)state;
    for (int i = 0; i < 100000; i++) {
        const double epsilon = ldexp((double)(random64() >> 11) + 1, (int)(random64() % 40) - 70);
        uint64_t s = 0;
        if (exponent_s(epsilon, &s, NULL) != TEM_OK)
            continue;
        const long double slack = (long double)epsilon - ldexpl((long double)s, -19);
        assert_true(slack >= 0x1p-19L && slack < 0x1p-18L);
    }
}

static void test_s_refusals(void **state) {
    (void)state;
    static const double refused[] = {
        0,         -0.0,          -1,     NAN,       INFINITY,
        -INFINITY, 1e308,         -1e308, 5e-324,    1e-300,
        1e-6,      0x1.fffffp-19, 0x1p24, 0x1.01p23, 0x1.fffffffffffffp-19};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        uint64_t s = 77;
        tem_error error = {0};
        assert_int_equal(exponent_s(refused[i], &s, &error), TEM_ERR_RANGE);
        assert_true(s == 77);
        assert_int_equal(error.status, TEM_ERR_RANGE);
    }
}

static void test_gamma_given(void **state) {
    (void)state;
    tem_dist gamma = 0;
    static const struct {
        double gamma;
        tem_dist steps;
    } cases[] = {{1, 65536},         {5e-324, 1}, {0x1p-16, 1},     {0x1.1p-16, 2},
                 {1.0000001, 65537}, {0.1, 6554}, {63.99, 4193649}, {64, 4194304}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(exponent_gamma_given(cases[i].gamma, 1 << 20, &gamma, NULL), TEM_OK);
        assert_true(gamma == cases[i].steps);
    }
    assert_int_equal(exponent_gamma_given(65535.99998, 1, &gamma, NULL), TEM_OK);
    assert_true(gamma == UINT32_MAX);
    assert_int_equal(exponent_gamma_given(0x1p-16, (uint64_t)1 << 42, &gamma, NULL), TEM_OK);
    assert_true(gamma == 1);
}

static void test_gamma_refusals(void **state) {
    (void)state;
    static const struct {
        double gamma;
        uint64_t s;
    } cases[] = {{0, 1},
                 {-0.0, 1},
                 {-1, 1},
                 {-5e-324, 1},
                 {NAN, 1},
                 {INFINITY, 1},
                 {-INFINITY, 1},
                 {1e308, 1},
                 {65536, 1},
                 {65535.999999, 1},
                 {64.0001, 1 << 20},
                 {64 + 0x1p-16, 1 << 20},
                 {128, 1 << 20},
                 {0x1.1p-16, (uint64_t)1 << 42},
                 {64, (1 << 20) + 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tem_dist gamma = 77;
        assert_int_equal(exponent_gamma_given(cases[i].gamma, cases[i].s, &gamma, NULL),
                         TEM_ERR_RANGE);
        assert_true(gamma == 77);
    }
}

/* For many s, the largest gamma is accepted and one step more is refused; the exponent at any
 * distance is then within the table. */
static void test_gamma_largest(void **state) {
    (void)state;
    const uint64_t limit = (uint64_t)64 << 36;
    for (int i = 0; i < 2000; i++) {
        const uint64_t s = i < 50 ? (uint64_t)i + 1 : (random64() >> (22 + random64() % 42)) + 1;
        tem_dist gamma = 0, ignored = 0;
        assert_int_equal(exponent_gamma_largest(s, &gamma, NULL), TEM_OK);
        const uint64_t expected = limit / s;
        assert_true(gamma == (expected < UINT32_MAX ? expected : UINT32_MAX));
        const exponent e = {s, gamma};
        assert_true(exponent_at(&e, UINT32_MAX) <= limit);
        assert_true(exponent_level(exponent_at(&e, UINT32_MAX)) <= EXP_LEVELS);
        assert_int_equal(exponent_gamma_given(gamma / 65536.0, s, &ignored, NULL), TEM_OK);
        assert_true(ignored == gamma);
        assert_int_equal(exponent_gamma_given((gamma + 1.0) / 65536, s, &ignored, NULL),
                         TEM_ERR_RANGE);
    }
}

/* gamma is ln((1 - beta)(n - 1) / beta) / s rounded up. Near an integer floating point decides,
 * with a relative error below 2^-45; gamma is public and reported, so either side is right
 * there. */
static void check_gamma_from_beta(double beta, uint32_t count, uint64_t s) {
    tem_dist gamma = 0;
    assert_int_equal(exponent_gamma_from_beta(beta, count, s, &gamma, NULL), TEM_OK);
    mpfr_t exact, b;
    mpfr_inits2(BITS, exact, b, (mpfr_ptr)NULL);
    mpfr_set_d(b, beta, MPFR_RNDN);
    mpfr_ui_sub(exact, 1, b, MPFR_RNDN);
    mpfr_mul_ui(exact, exact, count - 1, MPFR_RNDN);
    mpfr_div(exact, exact, b, MPFR_RNDN);
    mpfr_log(exact, exact, MPFR_RNDN);
    mpfr_mul_2ui(exact, exact, 36, MPFR_RNDN);
    mpfr_div_ui(exact, exact, s, MPFR_RNDN);
    const long double steps = mpfr_get_ld(exact, MPFR_RNDN);
    assert_true((long double)gamma >= steps * (1 - 0x1p-45L));
    assert_true((long double)gamma < steps * (1 + 0x1p-45L) + 1);
    mpfr_clears(exact, b, (mpfr_ptr)NULL);
}

static void test_gamma_from_beta(void **state) {
    (void)state;
    static const double betas[] = {0.001, 0.5, 0.3, 1e-9, 1e-15, 0.9};
    static const uint32_t counts[] = {12, 500, 33000, 400000, 0x7fffffff};
    for (size_t b = 0; b < 6; b++)
        for (size_t c = 0; c < 5; c++)
            for (uint64_t s = 511; s < (uint64_t)1 << 40; s = s * 3 + 1)
                if (s > 60000)
                    check_gamma_from_beta(betas[b], counts[c], s);
}

static void test_gamma_from_beta_refusals(void **state) {
    (void)state;
    static const struct {
        double beta;
        uint32_t count;
        uint64_t s;
    } cases[] = {{0, 100, 1 << 20},     {1, 100, 1 << 20},        {-0.1, 100, 1 << 20},
                 {NAN, 100, 1 << 20},   {INFINITY, 100, 1 << 20}, {0.5, 2, 1 << 20},
                 {0.995, 100, 1 << 20},                         /* ln 1 = 0, then below 0 */
                 {0.5, 1, 1 << 20},     {0.001, 0x7fffffff, 1}, /* 2^15 * 28 units */
                 {1e-30, 100, 1 << 20}};                        /* s gamma = 73 */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tem_dist gamma = 77;
        assert_int_equal(
            exponent_gamma_from_beta(cases[i].beta, cases[i].count, cases[i].s, &gamma, NULL),
            TEM_ERR_RANGE);
        assert_true(gamma == 77);
    }
}

static void test_levels(void **state) {
    (void)state;
    for (uint64_t level = 0; level <= EXP_LEVELS; level++) {
        const uint64_t x = level << 33;
        assert_true(exponent_level(x) == level && exponent_fraction(x) == 0);
        if (level > 0)
            assert_true(exponent_level(x - 1) == level - 1 &&
                        exponent_fraction(x - 1) == ((uint64_t)1 << 33) - 1);
    }
    const exponent e = {3, 1000};
    assert_true(exponent_at(&e, 0) == 0 && exponent_at(&e, 999) == 2997);
    assert_true(exponent_at(&e, 1000) == 3000 && exponent_at(&e, 1001) == 3000);
    assert_true(exponent_at(&e, UINT32_MAX) == 3000);
}

/* ----------------------------------------------- the law against oracles -- */

enum { LAW_WORDS = 24 };

/* a_y exp(-x): the ideal weight, or, with `exact`, a_y ceil(2^192 e^(-j/8)) e^(-r). */
static void oracle_weight(mpfr_t out, const sampler *m, uint32_t word, uint32_t y, bool exact) {
    const tem_dist far = m->envelopes.exponent.gamma;
    const tem_dist d = word == TEM_NO_WORD ? far : space_distance(m->space, word, y);
    const uint64_t x = m->envelopes.exponent.s * (d < far ? d : far);
    const uint64_t level = x / ((uint64_t)1 << 33), rest = x % ((uint64_t)1 << 33);
    mpfr_set_uj_2exp(out, exact ? rest : x, -36, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    if (exact) {
        mpz_t e;
        mpz_init(e);
        oracle_level(e, (unsigned)level);
        mpfr_mul_z(out, out, e, MPFR_RNDN);
        mpz_clear(e);
    }
    mpfr_mul_ui(out, out, m->envelopes.weights.values == NULL ? 1 : m->envelopes.weights.values[y],
                MPFR_RNDN);
}

/* Computes the law by the oracle, and its entropy. */
static void oracle_law(mpfr_t *p, mpfr_t entropy, const sampler *m, uint32_t word, bool exact) {
    mpfr_t total, t;
    mpfr_inits2(BITS, total, t, (mpfr_ptr)NULL);
    mpfr_set_ui(total, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < LAW_WORDS; y++) {
        oracle_weight(p[y], m, word, y, exact);
        mpfr_add(total, total, p[y], MPFR_RNDN);
    }
    mpfr_set_ui(entropy, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < LAW_WORDS; y++) {
        mpfr_div(p[y], p[y], total, MPFR_RNDN);
        if (mpfr_zero_p(p[y]))
            continue;
        mpfr_log(t, p[y], MPFR_RNDN);
        mpfr_mul(t, t, p[y], MPFR_RNDN);
        mpfr_sub(entropy, entropy, t, MPFR_RNDN);
    }
    mpfr_clears(total, t, (mpfr_ptr)NULL);
}

/* |a - b| < 2^bits b, or both 0. */
static bool within(const mpfr_t a, const mpfr_t b, long bits) {
    if (mpfr_zero_p(b))
        return mpfr_zero_p(a);
    mpfr_t difference, allowed;
    mpfr_inits2(BITS, difference, allowed, (mpfr_ptr)NULL);
    mpfr_sub(difference, a, b, MPFR_RNDN);
    mpfr_abs(difference, difference, MPFR_RNDN);
    mpfr_abs(allowed, b, MPFR_RNDN);
    mpfr_mul_2si(allowed, allowed, bits, MPFR_RNDN);
    const bool result = mpfr_less_p(difference, allowed);
    mpfr_clears(difference, allowed, (mpfr_ptr)NULL);
    return result;
}

/* Entropy and support as returned: rounded to the nearest double from a value that is right to 60
 * digits, so equal to the oracle's except in one case of 2^140. */
static void check_summary(const tem_law *law, const mpfr_t entropy) {
    mpfr_t support;
    mpfr_init2(support, BITS);
    mpfr_exp(support, entropy, MPFR_RNDN);
    char expected[80], found[80];
    mpfr_snprintf(expected, sizeof expected, "%.39Re", support);
    assert_int_equal(tem_law_support_decimal(law, 40, found, sizeof found, NULL), TEM_OK);
    assert_string_equal(found, expected);
    assert_true(tem_law_support(law) == mpfr_get_d(support, MPFR_RNDN));
    assert_true(tem_law_entropy(law) == mpfr_get_d(entropy, MPFR_RNDN));
    mpfr_clear(support);
}

static void check_sum(const tem_law *law) {
    mpfr_t sum;
    mpfr_init2(sum, BITS);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < law->count; y++)
        mpfr_add(sum, sum, law->probabilities[y], MPFR_RNDN);
    mpfr_sub_ui(sum, sum, 1, MPFR_RNDN);
    mpfr_abs(sum, sum, MPFR_RNDN);
    assert_true(mpfr_cmp_d(sum, 1e-55) < 0);
    mpfr_clear(sum);
}

static void check_law(const sampler *m, uint32_t word) {
    mpfr_t ideal[LAW_WORDS], exact[LAW_WORDS], entropy, ignored;
    mpfr_inits2(BITS, entropy, ignored, (mpfr_ptr)NULL);
    for (uint32_t y = 0; y < LAW_WORDS; y++)
        mpfr_inits2(BITS, ideal[y], exact[y], (mpfr_ptr)NULL);
    oracle_law(ideal, ignored, m, word, false);
    oracle_law(exact, entropy, m, word, true);
    tem_law *law = NULL;
    const law_form form = sampler_form(m);
    assert_int_equal(law_make(&form, m->space, word, 60, &law, NULL), TEM_OK);
    assert_int_equal(law->count, LAW_WORDS);
    for (uint32_t y = 0; y < LAW_WORDS; y++) {
        assert_true(within(law->probabilities[y], ideal[y], -98));
        assert_true(within(law->probabilities[y], exact[y], -200));
        /* among them N_w, the probability that w stays unchanged */
        assert_true(tem_law_probability(law, y) == mpfr_get_d(exact[y], MPFR_RNDN));
        assert_true(tem_law_distance(law, y) == (word == TEM_NO_WORD
                                                     ? m->envelopes.exponent.gamma
                                                     : space_distance(m->space, word, y)));
    }
    check_sum(law);
    check_summary(law, entropy);
    law_free(law);
    for (uint32_t y = 0; y < LAW_WORDS; y++)
        mpfr_clears(ideal[y], exact[y], (mpfr_ptr)NULL);
    mpfr_clears(entropy, ignored, (mpfr_ptr)NULL);
}

/* equal, random, with zeros, with the largest weight beside the smallest */
enum { WEIGHT_KINDS = 4 };

static void make_weights(weights *w, unsigned kind, uint32_t count) {
    uint32_t *values = calloc(count, sizeof *values);
    assert_non_null(values);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (uint32_t)(random64() % 100000) + 1;
        if (kind == 2 && i % 3 != 1)
            values[i] = 0;
        if (kind == 3)
            values[i] = i % 7 == 0 ? UINT32_MAX : 1;
    }
    assert_int_equal(weights_init(w, kind == 0 ? NULL : values, count, NULL), TEM_OK);
    free(values);
}

/* Points on a line, some equal, or random points in space; the unit is 2^-11, so up to 16 across
 * each axis. */
static points law_points(bool collinear) {
    points p = points_make(11, collinear ? 1 : 5, LAW_WORDS);
    for (uint32_t id = 0; id < LAW_WORDS; id++)
        for (uint32_t i = 0; i < p.space.dimension; i++)
            point(&p, id)[i] =
                collinear ? (int16_t)(1300 * (int)(id / 2) - 8000) : random_value(16383);
    return p;
}

static void check_laws(const points *p, double epsilon) {
    sampler m = {.space = &p->space};
    assert_int_equal(exponent_s(epsilon, &m.envelopes.exponent.s, NULL), TEM_OK);
    tem_dist largest = 0;
    assert_int_equal(exponent_gamma_largest(m.envelopes.exponent.s, &largest, NULL), TEM_OK);
    const tem_dist gammas[] = {1, largest < 300000 ? largest / 2 + 1 : 300000, largest};
    for (unsigned kind = 0; kind < WEIGHT_KINDS; kind++) {
        make_weights(&m.envelopes.weights, kind, p->space.count);
        for (int g = 0; g < 3; g++) {
            m.envelopes.exponent.gamma = gammas[g];
            check_law(&m, (uint32_t)(random64() % LAW_WORDS));
            if (g == 1)
                check_law(&m, TEM_NO_WORD);
        }
        weights_free(&m.envelopes.weights);
    }
}

static void check_laws_of_points(bool collinear) {
    points p = law_points(collinear);
    for (int power = -10; power <= 6; power += SLOW ? 4 : 1)
        check_laws(&p, ldexp(1, power));
    static const double odd[] = {0.00123, 0.1, 0.7, 1.1, 3.3, 7.77, 31.4, 63.99};
    for (size_t i = 0; i < 8; i += SLOW ? 3 : 1)
        check_laws(&p, odd[i]);
    points_free(&p);
}

static void test_law_random(void **state) {
    (void)state;
    check_laws_of_points(false);
}

static void test_law_collinear(void **state) {
    (void)state;
    check_laws_of_points(true);
}

/* ------------------------------------------------- all the inequalities -- */

/* Logarithms as integers, in units of 2^-54. An entry of `logs` is ln(omega(x) / Z(w)) =
 * ln P(y | w) - ln a_y, and off by less than 4 units:
 *   ln E_j from MPFR, rounded                                   1/2
 *   r                                                           exact
 *   Z in long double: each of 501 positive terms off by a relative 4 * 2^-63 at most (E_j
 *     and exp rounded, two products), the sum by 501 * 2^-64: ln Z by 2^-54   1
 *   logl: 1 ulp of a number below 128, and the rounding         1/2 + 1/8
 * so a difference of two entries is off by less than 8 units. ALLOWANCE is twice that,
 * 2^-50; the law's margin is 2^-19 min(d, gamma) >= 2^-35. */
enum { LOG_BITS = 54, ALLOWANCE = 16 };

/* Rows and columns 0 to count - 1 are words; row `count` is an unknown word. */
typedef struct promise {
    uint32_t count;
    tem_dist *distances; /* count * count */
    uint32_t *weights;   /* or NULL */
    double epsilon;
    exponent exponent;
    tem_dist unknown; /* promised distance between an unknown word and any other: gamma */
    int64_t *logs;    /* (count + 1) * count */
} promise;

static int64_t level_logs[EXP_LEVELS + 1];
static long double level_values[EXP_LEVELS + 1];

static int make_level_logs(void **state) {
    (void)state;
    mpz_t e;
    mpfr_t v;
    mpz_init(e);
    mpfr_init2(v, BITS);
    for (unsigned level = 0; level <= EXP_LEVELS; level++) {
        set_level(e, level);
        mpfr_set_z(v, e, MPFR_RNDN);
        mpfr_div_2ui(v, v, 192, MPFR_RNDN);
        level_values[level] = mpfr_get_ld(v, MPFR_RNDN);
        mpfr_log(v, v, MPFR_RNDN);
        mpfr_mul_2ui(v, v, LOG_BITS, MPFR_RNDN);
        level_logs[level] = mpfr_get_sj(v, MPFR_RNDN);
    }
    mpfr_clear(v);
    mpz_clear(e);
    return 0;
}

static tem_dist distance_in(const promise *p, uint32_t w, uint32_t y) {
    return w == p->count ? p->exponent.gamma : p->distances[(size_t)w * p->count + y];
}

static void fill_row(promise *p, uint32_t w) {
    int64_t *logs = p->logs + (size_t)w * p->count;
    long double total = 0;
    for (uint32_t y = 0; y < p->count; y++) {
        const uint64_t x = exponent_at(&p->exponent, distance_in(p, w, y));
        const uint64_t rest = exponent_fraction(x);
        const uint32_t weight = p->weights == NULL ? 1 : p->weights[y];
        total += level_values[exponent_level(x)] * weight * expl(-ldexpl((long double)rest, -36));
        logs[y] = level_logs[exponent_level(x)] - (int64_t)(rest << (LOG_BITS - 36));
    }
    const int64_t log_total = (int64_t)llrintl(ldexpl(logl(total), LOG_BITS));
    for (uint32_t y = 0; y < p->count; y++) /* a word of weight 0: P = 0 for every input */
        logs[y] = p->weights != NULL && p->weights[y] == 0 ? 0 : logs[y] - log_total;
}

static void fill_logs(promise *p) {
    for (uint32_t w = 0; w <= p->count; w++)
        fill_row(p, w);
}

/* epsilon min(d, gamma), which must be a whole number of units. */
static int64_t allowed_loss(const promise *p, uint32_t w, uint32_t other) {
    tem_dist d = w == other                           ? 0
                 : w == p->count || other == p->count ? p->unknown
                                                      : p->distances[(size_t)w * p->count + other];
    d = d < p->exponent.gamma ? d : p->exponent.gamma;
    const double units = ldexp(p->epsilon * d, LOG_BITS - 16);
    assert_true(units < 0x1p62 && units == floor(units));
    return (int64_t)units;
}

typedef struct verdict {
    uint64_t violations;
    uint64_t triples;
    double tightest; /* largest share of the allowed loss that a triple uses */
} verdict;

/* Checks every triple (w, other, y). Where no loss is allowed, the laws must be equal. */
static verdict check_promise(const promise *p) {
    verdict v = {0};
    for (uint32_t w = 0; w <= p->count; w++)
        for (uint32_t other = 0; other <= p->count; other++) {
            const int64_t allowed = allowed_loss(p, w, other);
            const int64_t limit = allowed == 0 ? 0 : allowed - ALLOWANCE;
            const int64_t *a = p->logs + (size_t)w * p->count;
            const int64_t *b = p->logs + (size_t)other * p->count;
            int64_t largest = INT64_MIN;
            for (uint32_t y = 0; y < p->count; y++) {
                const int64_t loss = a[y] - b[y];
                v.violations += loss > limit;
                largest = loss > largest ? loss : largest;
            }
            v.triples += p->count;
            if (allowed > 0 && (double)largest / (double)allowed > v.tightest)
                v.tightest = (double)largest / (double)allowed;
        }
    return v;
}

static promise promise_make(const space *s) {
    promise p = {.count = s->count};
    p.distances = calloc((size_t)s->count * s->count, sizeof *p.distances);
    p.logs = calloc(((size_t)s->count + 1) * s->count, sizeof *p.logs);
    assert_non_null(p.distances);
    assert_non_null(p.logs);
    for (uint32_t a = 0; a < s->count; a++)
        for (uint32_t b = 0; b < s->count; b++)
            p.distances[(size_t)a * s->count + b] = space_distance(s, a, b);
    return p;
}

static void promise_free(promise *p) {
    free(p->distances);
    free(p->logs);
}

static void set_epsilon(promise *p, double epsilon) {
    p->epsilon = epsilon;
    assert_int_equal(exponent_s(epsilon, &p->exponent.s, NULL), TEM_OK);
    assert_int_equal(
        exponent_gamma_from_beta(0.001, p->count, p->exponent.s, &p->exponent.gamma, NULL), TEM_OK);
    p->unknown = p->exponent.gamma;
}

/* Checks that the logarithms used here are those of the library's law. */
static void check_logs(const promise *p, const space *s, uint32_t word) {
    sampler m = {.space = s, .envelopes = {.exponent = p->exponent}};
    assert_int_equal(weights_init(&m.envelopes.weights, p->weights, s->count, NULL), TEM_OK);
    tem_law *law = NULL;
    const uint32_t id = word == p->count ? TEM_NO_WORD : word;
    const law_form form = sampler_form(&m);
    assert_int_equal(law_make(&form, s, id, 60, &law, NULL), TEM_OK);
    mpfr_t v;
    mpfr_init2(v, BITS);
    for (uint32_t y = 0; y < s->count; y++) {
        if (weights_at(&m.envelopes.weights, y) == 0)
            continue;
        mpfr_div_ui(v, law->probabilities[y], weights_at(&m.envelopes.weights, y), MPFR_RNDN);
        mpfr_log(v, v, MPFR_RNDN);
        mpfr_mul_2ui(v, v, LOG_BITS, MPFR_RNDN);
        const int64_t off = mpfr_get_sj(v, MPFR_RNDN) - p->logs[(size_t)word * p->count + y];
        assert_true(off >= -4 && off <= 4);
    }
    mpfr_clear(v);
    law_free(law);
    weights_free(&m.envelopes.weights);
}

/* Word 0 outweighs all others together, and some words are never an output. */
static uint32_t *unequal_weights(uint32_t count) {
    uint32_t *values = calloc(count, sizeof *values);
    assert_non_null(values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = i == 0 ? UINT32_MAX : i % 5 == 3 ? 0 : i % 5 == 4 ? 1 + i * i : 1;
    return values;
}

/* Three epsilons, equal and unequal weights; returns the tightest triple. */
static double check_inequalities(const space *s) {
    static const double epsilons[] = {0.5, 2, 8};
    promise p = promise_make(s);
    uint32_t *unequal = unequal_weights(s->count);
    double tightest = 0;
    for (int i = 0; i < 6; i++) {
        p.weights = i < 3 ? NULL : unequal;
        set_epsilon(&p, epsilons[i % 3]);
        fill_logs(&p);
        for (uint32_t w = 0; w <= s->count; w += s->count / 4)
            check_logs(&p, s, w);
        const verdict v = check_promise(&p);
        assert_true(v.triples == (uint64_t)(s->count + 1) * (s->count + 1) * s->count);
        assert_true(v.violations == 0);
        tightest = v.tightest > tightest ? v.tightest : tightest;
    }
    free(unequal);
    promise_free(&p);
    return tightest;
}

static void test_inequalities_default(void **state) {
    (void)state;
    const char *path = getenv("TEM_RAW_VECTORS");
    if (path == NULL)
        skip();
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    const tem_build_options options = {.neighbours = 1};
    assert_int_equal(tem_vectors_load(path, SLOW ? 100 : 500, NULL, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    const double tightest = check_inequalities(&model->space);
    print_message("# tightest triple: %.9f of the allowed loss\n", tightest);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* Angles, for which no sum of squares works: points in few directions, some equal. */
static void test_inequalities_angular(void **state) {
    (void)state;
    points p = points_make(14, 3, SLOW ? 100 : 500);
    p.space.metric = &metric_angular;
    for (uint32_t id = 0; id < p.space.count; id++) {
        for (int i = 0; i < 3; i++)
            point(&p, id)[i] = random_value(id % 4 == 0 ? 2 : 16000);
        point(&p, id)[id % 3] = (int16_t)(point(&p, id)[id % 3] | 1); /* not zero */
    }
    check_inequalities(&p.space);
    points_free(&p);
}

/* Most words are one point, the others are on a line through it at distances from 2^-11 to 8: the
 * crowd has by far the largest Z, and the step away from it costs nearly the whole allowed loss. */
static points crowd_on_a_line(void) {
    const uint32_t count = SLOW ? 100 : 500;
    points p = points_make(11, 1, count);
    const uint32_t crowd = count * 4 / 5;
    for (uint32_t id = crowd; id < count; id++)
        point(&p, id)[0] = (int16_t)lround(exp2((id - crowd) * 13.99 / (count - crowd)));
    return p;
}

static void test_inequalities_collinear(void **state) {
    (void)state;
    points p = crowd_on_a_line();
    const double tightest = check_inequalities(&p.space);
    print_message("# tightest triple: %.9f of the allowed loss\n", tightest);
    assert_true(tightest > 0.999);
    points_free(&p);
}

/* ------------------------------------------------------- planted faults -- */

/* The promise for these points at epsilon 2. */
static promise crowd_promise(const points *p, uint32_t *output_weights) {
    promise q = promise_make(&p->space);
    q.weights = output_weights;
    set_epsilon(&q, 2);
    return q;
}

static uint64_t violations(promise *p) {
    fill_logs(p);
    return check_promise(p).violations;
}

static void test_planted_exponent(void **state) {
    (void)state;
    points p = crowd_on_a_line();
    promise q = crowd_promise(&p, NULL);
    assert_true(violations(&q) == 0);
    q.exponent.s = (uint64_t)(0.525 * 0x1p20 * q.epsilon);
    assert_true(violations(&q) > 0);
    promise_free(&q);
    points_free(&p);
}

/* With one heavy word the triples are so tight that a single step of s beyond epsilon/2 shows. s =
 * epsilon/2 itself breaks no inequality by more than 2^-98, which is too small to see here: test_s
 * guards against it. */
static void test_planted_step_of_s(void **state) {
    (void)state;
    points p = crowd_on_a_line();
    uint32_t *heavy = calloc(p.space.count, sizeof *heavy);
    assert_non_null(heavy);
    for (uint32_t i = 0; i < p.space.count; i++)
        heavy[i] = i == 0 ? UINT32_MAX : 1;
    promise q = crowd_promise(&p, heavy);
    assert_true(violations(&q) == 0);
    q.exponent.s += 2; /* epsilon/2 + 2^-20 */
    assert_true(violations(&q) > 0);
    promise_free(&q);
    free(heavy);
    points_free(&p);
}

/* Points half a step apart. Rounded up, their distances are a metric. Rounded down they are not,
 * and neighbors at distance 0 have different laws. */
static void test_planted_floor(void **state) {
    (void)state;
    points p = points_make(17, 1, 100);
    for (uint32_t id = 0; id < 100; id++)
        point(&p, id)[0] = (int16_t)id;
    promise q = crowd_promise(&p, NULL);
    assert_true(violations(&q) == 0);
    for (uint32_t a = 0; a < 100; a++)
        for (uint32_t b = 0; b < 100; b++)
            q.distances[(size_t)a * 100 + b] = (a > b ? a - b : b - a) / 2;
    assert_true(violations(&q) > 0);
    promise_free(&q);
    points_free(&p);
}

/* An unknown word costs gamma, not 0. */
static void test_planted_unknown(void **state) {
    (void)state;
    points p = crowd_on_a_line();
    promise q = crowd_promise(&p, NULL);
    q.unknown = 0;
    assert_true(violations(&q) > 0);
    promise_free(&q);
    points_free(&p);
}

/* A law that keeps falling beyond gamma, where the promise stops. */
static void test_planted_gamma(void **state) {
    (void)state;
    points p = crowd_on_a_line();
    promise q = crowd_promise(&p, NULL);
    const tem_dist gamma = TEM_DIST_ONE;
    q.exponent.gamma = gamma;
    q.unknown = gamma;
    assert_true(violations(&q) == 0);
    q.exponent.gamma = (tem_dist)(((uint64_t)64 << 36) / q.exponent.s);
    fill_logs(&q);
    q.exponent.gamma = gamma;
    assert_true(check_promise(&q).violations > 0);
    promise_free(&q);
    points_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_s),
        cmocka_unit_test(test_s_leaves_room),
        cmocka_unit_test(test_s_refusals),
        cmocka_unit_test(test_gamma_given),
        cmocka_unit_test(test_gamma_refusals),
        cmocka_unit_test(test_gamma_largest),
        cmocka_unit_test(test_gamma_from_beta),
        cmocka_unit_test(test_gamma_from_beta_refusals),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_law_random),
        cmocka_unit_test(test_law_collinear),
        cmocka_unit_test(test_inequalities_default),
        cmocka_unit_test(test_inequalities_angular),
        cmocka_unit_test(test_inequalities_collinear),
        cmocka_unit_test(test_planted_exponent),
        cmocka_unit_test(test_planted_step_of_s),
        cmocka_unit_test(test_planted_floor),
        cmocka_unit_test(test_planted_unknown),
        cmocka_unit_test(test_planted_gamma),
    };
    return cmocka_run_group_tests(tests, make_level_logs, NULL);
}
