/* test_pair_loss.c - the loss of every pair of inputs of small vocabularies: against brute force
 * over the laws, at the output that is named, and within what is proved. */
#include "mech/law.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tem_account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 24, INPUTS = WORDS + 1, DIGITS = 40 };

/* Points at random in a square; every 7th is that of the word before, and words 3 and 11 are
 * excluded. */
static tem_model *make_model(void) {
    static char names[WORDS][8];
    static const char *words[WORDS], *excluded[] = {"w3", "w11"};
    static float values[2 * WORDS];
    const tem_order_options by_distance = {0};
    const tem_build_options options = {.neighbours = 6,
                                       .allow_coarse = 1,
                                       .exclude = excluded,
                                       .exclude_count = 2,
                                       .order = &by_distance};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    for (uint32_t i = 0; i < WORDS; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
        for (uint32_t k = 2 * i; k < 2 * i + 2; k++)
            values[k] = i % 7 == 6 ? values[k - 2] : (float)random_below(1000) / 250;
    }
    assert_int_equal(tem_vectors_create(words, values, WORDS, 2, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

static tem_mechanism *make(const tem_model *model, tem_mechanism_options options) {
    tem_mechanism *m = NULL;
    tem_error error;
    if (tem_mechanism_create(model, &options, &m, &error) != TEM_OK)
        fail_msg("%s", error.message);
    return m;
}

static uint32_t input_at(uint32_t i) {
    return i == WORDS ? TEM_NO_WORD : i;
}

/* ln P(y | w) of all inputs, to DIGITS digits; the last one is the unknown word. */
typedef struct log_laws {
    mpfr_t logs[INPUTS][WORDS];
} log_laws;

static void set_laws(log_laws *l, const tem_mechanism *m, unsigned digits) {
    for (uint32_t w = 0; w < INPUTS; w++) {
        tem_law *law = NULL;
        assert_int_equal(tem_law_create(m, input_at(w), digits, &law, NULL), TEM_OK);
        for (uint32_t y = 0; y < WORDS; y++) {
            mpfr_init2(l->logs[w][y], 256);
            mpfr_log(l->logs[w][y], law->probabilities[y], MPFR_RNDN);
        }
        tem_law_free(law);
    }
}

static void free_laws(log_laws *l) {
    for (uint32_t w = 0; w < INPUTS; w++)
        for (uint32_t y = 0; y < WORDS; y++)
            mpfr_clear(l->logs[w][y]);
}

/* |ln P(y|a) - ln P(y|b)|; 0 if neither can become y. */
static double loss_at(const log_laws *l, uint32_t a, uint32_t b, uint32_t y) {
    mpfr_t loss;
    if (mpfr_inf_p(l->logs[a][y]) && mpfr_inf_p(l->logs[b][y]))
        return 0;
    mpfr_init2(loss, 256);
    mpfr_sub(loss, l->logs[a][y], l->logs[b][y], MPFR_RNDN);
    const double rounded = fabs(mpfr_get_d(loss, MPFR_RNDN));
    mpfr_clear(loss);
    return rounded;
}

static double largest_loss(const log_laws *l, uint32_t a, uint32_t b) {
    double largest = 0;
    for (uint32_t y = 0; y < WORDS; y++)
        largest = fmax(largest, loss_at(l, a, b, y));
    return largest;
}

/* Within `relative` of each other, or both within 2^-40 of 0: the law of an equal point is summed
 * with other rounding. */
static bool is_near(double x, double y, double relative) {
    return fabs(x - y) <= relative * fabs(y) || (fabs(x) < 0x1p-40 && fabs(y) < 0x1p-40) ||
           (isinf(x) && isinf(y));
}

/* What the output says: the loss at it is the largest, and the probabilities are those there. */
static void check_output(const tem_pair_loss *found, const log_laws *l, uint32_t a, uint32_t b,
                         double relative) {
    if (found->output == TEM_NO_WORD) {
        assert_true(isnan(found->probability_a) && found->loss <= 0);
        return;
    }
    assert_true(found->output < WORDS);
    assert_true(is_near(loss_at(l, a, b, found->output), found->loss, relative));
    const double p = exp(mpfr_get_d(l->logs[a][found->output], MPFR_RNDN));
    const double q = exp(mpfr_get_d(l->logs[b][found->output], MPFR_RNDN));
    assert_true(is_near(found->probability_a, p, 1e-12));
    assert_true(is_near(found->probability_b, q, 1e-12));
}

/* Every pair: the loss, its output, and that what is proved holds. Returns the largest loss. */
static double check_pairs(const tem_mechanism *m, unsigned digits, double relative) {
    static log_laws l;
    double largest = 0;
    set_laws(&l, m, digits);
    for (uint32_t a = 0; a < INPUTS; a++)
        for (uint32_t b = 0; b < INPUTS; b++) {
            tem_pair_loss found;
            assert_int_equal(tem_pair_loss_make(m, input_at(a), input_at(b), &found, NULL), TEM_OK);
            assert_true(is_near(found.loss, largest_loss(&l, a, b), relative));
            check_output(&found, &l, a, b, relative);
            assert_true(found.loss <= found.proved && found.proved <= found.bound);
            assert_true(a != b || !isfinite(found.bound) || found.proved <= 0);
            largest = fmax(largest, found.loss);
        }
    free_laws(&l);
    return largest;
}

/* tem and em: epsilon min(d, gamma) for two words, epsilon gamma with an unknown one. */
static void test_distance_laws(void **state) {
    (void)state;
    uint32_t given[WORDS];
    tem_model *model = make_model();
    for (uint32_t y = 0; y < WORDS; y++)
        given[y] = y == 3 || y == 11 ? 0 : 1 + y % 5;
    const tem_mechanism_options some[] = {{.epsilon = 1.5},
                                          {.epsilon = 3, .gamma = 1.5},
                                          {.epsilon = 40},
                                          {.epsilon = 2, .weights = given},
                                          {.mechanism = "em", .epsilon = 2.5},
                                          {.mechanism = "permute-and-flip", .epsilon = 1.5}};
    for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
        tem_mechanism *m = make(model, some[i]);
        tem_mechanism_info info;
        tem_mechanism_get_info(m, &info);
        check_pairs(m, i == 5 ? 12 : DIGITS, i == 5 ? 1e-9 : 1e-14);
        for (uint32_t a = 0; a < INPUTS; a++)
            for (uint32_t b = 0; b < INPUTS; b++) {
                tem_pair_loss found;
                assert_int_equal(tem_pair_loss_make(m, input_at(a), input_at(b), &found, NULL),
                                 TEM_OK);
                const double d = a == b ? 0
                                 : a == WORDS || b == WORDS
                                     ? info.gamma
                                     : tem_model_distance(model, a, b) / (double)TEM_DIST_ONE;
                assert_true(is_near(found.distance, fmin(d, info.gamma), 1e-15));
                assert_true(is_near(found.proved, some[i].epsilon * found.distance, 1e-15));
                assert_true(is_near(found.bound, some[i].epsilon * info.gamma, 1e-15));
            }
        tem_mechanism_free(m);
    }
    tem_model_free(model);
}

/* rank: the loss of two words is s d_r, and of some pair it is the bound, which is rounded up. With
 * weights epsilon is 2s per unit of the same d_r. */
static void test_rank(void **state) {
    (void)state;
    uint32_t given[WORDS];
    tem_model *model = make_model();
    for (uint32_t y = 0; y < WORDS; y++)
        given[y] = 1 + y % 5;
    tem_mechanism *even = make(model, (tem_mechanism_options){.mechanism = "rank", .epsilon = 1});
    tem_mechanism *weighted =
        make(model, (tem_mechanism_options){.mechanism = "rank", .epsilon = 2, .weights = given});
    tem_mechanism_info info, of_weighted;
    tem_mechanism_get_info(even, &info);
    tem_mechanism_get_info(weighted, &of_weighted);
    assert_true(info.s_steps == of_weighted.s_steps);
    assert_true(is_near(check_pairs(even, DIGITS, 1e-14), info.bound, 1e-12));
    check_pairs(weighted, DIGITS, 1e-14);
    for (uint32_t a = 0; a < INPUTS; a++)
        for (uint32_t b = 0; b < INPUTS; b++) {
            tem_pair_loss one, other;
            assert_int_equal(tem_pair_loss_make(even, input_at(a), input_at(b), &one, NULL),
                             TEM_OK);
            assert_int_equal(tem_pair_loss_make(weighted, input_at(a), input_at(b), &other, NULL),
                             TEM_OK);
            if (a != b && (a == WORDS || b == WORDS)) {
                assert_true(isnan(one.distance) && isnan(other.distance));
                assert_true(is_near(one.proved, info.bound, 1e-15));
                assert_true(is_near(other.proved, info.bound, 1e-15)); /* B, not 2B */
                continue;
            }
            assert_true(is_near(one.distance * info.s, one.loss, 1e-13));
            assert_true(is_near(one.proved, fmin(one.distance, info.bound), 1e-13));
            assert_true(is_near(other.distance, one.distance, 1e-13));
            assert_true(is_near(other.proved, fmin(2 * one.distance, 2 * info.bound), 1e-13));
            assert_true(is_near(other.bound, 2 * info.bound, 1e-15));
        }
    tem_mechanism_free(even);
    tem_mechanism_free(weighted);
    tem_model_free(model);
}

/* coin: the same loss for all words that are kept, none for an excluded word and the word that it
 * stays. */
static void test_coin(void **state) {
    (void)state;
    tem_model *model = make_model();
    tem_mechanism *m = make(model, (tem_mechanism_options){.mechanism = "coin", .epsilon = 3});
    tem_mechanism_info info;
    tem_mechanism_get_info(m, &info);
    check_pairs(m, DIGITS, 1e-14);
    unsigned without = 0;
    for (uint32_t a = 0; a < WORDS; a++)
        for (uint32_t b = 0; b < a; b++) {
            tem_pair_loss found;
            assert_int_equal(tem_pair_loss_make(m, a, b, &found, NULL), TEM_OK);
            without += found.loss <= 0;
            assert_true(found.loss <= 0 || is_near(found.loss, info.bound, 1e-12));
            assert_true(found.loss <= 0 ? found.proved <= 0 : is_near(found.proved, 3, 1e-5));
        }
    assert_int_equal(without, 2); /* of each excluded word and its nearest output */
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* A mechanism that states no bound has a loss, and nothing is proved; one whose law cannot be
 * computed is refused. After a map of the outputs the bounds stay. */
static void test_others(void **state) {
    (void)state;
    uint32_t map[WORDS];
    tem_model *model = make_model();
    tem_pair_loss found;
    tem_error error;
    tem_mechanism *m = make(
        model,
        (tem_mechanism_options){.mechanism = "diffractor", .epsilon = 2, .allow_no_guarantee = 1});
    assert_int_equal(tem_pair_loss_make(m, 0, 1, &found, &error), TEM_OK);
    assert_true(found.loss > 0 && isinf(found.proved) && isinf(found.bound));
    assert_true(isnan(found.distance));
    tem_mechanism_free(m);
    m = make(model, (tem_mechanism_options){.mechanism = "madlib", .epsilon = 2});
    assert_int_equal(tem_pair_loss_make(m, 0, 1, &found, &error), TEM_ERR_UNSUPPORTED);
    tem_mechanism_free(m);
    for (uint32_t y = 0; y < WORDS; y++)
        map[y] = y / 5 == 3 ? 4 : y / 5; /* word 3 is excluded */
    m = make(model, (tem_mechanism_options){.mechanism = "rank", .epsilon = 1, .remap = map});
    check_pairs(m, 12, 1e-9);
    tem_mechanism_free(m);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance_laws),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_coin),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
