/* test_exposure.c - the most exposed words, and an epsilon for them.
 *
 * The oracle is the law of each word (tem_law_create), and the definition of a quantile by
 * counting. */
#include "audit/accountant.h"
#include "audit/exposure.h"
#include "pseudo.h"
#include "slow.h"
#include "tem_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_account.h"
#include "small_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tem_model *random_model(const char *const *names, uint32_t count, uint32_t dimension) {
    float *values = malloc((size_t)count * dimension * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < (size_t)count * dimension; i++)
        values[i] = 4 * (float)(random64() >> 40) / (1 << 24);
    /* Some words stand apart, as rare words do. */
    for (uint32_t id = 5; id < count; id += 11)
        values[(size_t)id * dimension] += 3 + (float)(id % 7);
    tem_model *model = small_model(names, values, count, dimension, TEM_EUCLIDEAN, 16);
    free(values);
    return model;
}

/* How exposed a word is by its law: larger is more exposed. */
static double exposure_by_law(const tem_mechanism *mechanism, uint32_t word, tem_target by) {
    tem_law *law = NULL;
    assert_int_equal(tem_law_create(mechanism, word, 17, &law, NULL), TEM_OK);
    const double value =
        by == TEM_TARGET_SELF ? tem_law_probability(law, word) : -tem_law_entropy(law);
    tem_law_free(law);
    return value;
}

static void check_near(double found, double truth, double share) {
    if (!(fabs(found - truth) <= share * fabs(truth)))
        fail_msg("%.12g instead of %.12g", found, truth);
}

/* ---- quantiles ---- */

/* Whether at least the share q of the values is not above v; without multiplying, for q = a/b. */
static bool keeps_share(const double *values, int count, double v, int a, int b) {
    int kept = 0;
    for (int i = 0; i < count; i++)
        kept += values[i] <= v;
    return kept * b >= a * count;
}

static void test_quantiles(void **state) {
    (void)state;
    enum { COUNT = 20, PARTS = 20 };
    word_law laws[COUNT + 3] = {{0}};
    uint32_t words[COUNT];
    double selves[COUNT];
    exposure_rank ranks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        words[i] = (uint32_t)(COUNT + 2 - i);
        selves[i] = (double)random_below(12) / 12; /* some are equal */
        laws[words[i]] = (word_law){.self = selves[i], .entropy = -selves[i]};
    }
    laws[0].self = laws[1].self = 2; /* not in the group */
    for (int count = 1; count <= COUNT; count++)
        for (int part = 1; part <= PARTS; part++) {
            const exposure_group group = {words, (uint32_t)count, (double)part / PARTS};
            const uint32_t found = exposure_at(laws, &group, TEM_TARGET_SELF, ranks);
            assert_int_equal(exposure_at(laws, &group, TEM_TARGET_SUPPORT, ranks), found);
            assert_true(keeps_share(selves, count, laws[found].self, part, PARTS));
            assert_false(keeps_share(selves, count, laws[found].self - 0.01, part, PARTS));
        }
    const exposure_group none = {words, 0, 1};
    assert_int_equal(exposure_at(laws, &none, TEM_TARGET_SELF, ranks), TEM_NO_WORD);
}

/* ---- the most exposed words ---- */

/* How exposed every word is, by the formula of the law. */
typedef struct truth {
    double *values[TEM_TARGET_SUPPORT + 1]; /* by target; larger is more exposed */
} truth;

static truth truth_of(const tem_model *model, const tem_mechanism *mechanism, uint32_t count) {
    const uint32_t *output_weights = tem_mechanism_weights(mechanism);
    double *masses = malloc(count * sizeof *masses);
    truth t = {{NULL, malloc(count * sizeof(double)), malloc(count * sizeof(double))}};
    tem_mechanism_info info;
    tem_mechanism_get_info(mechanism, &info);
    for (uint32_t w = 0; w < count; w++) {
        double total = 0, entropy = 0;
        for (uint32_t y = 0; y < count; y++) {
            const double d = (double)tem_model_distance(model, w, y) / TEM_DIST_ONE;
            masses[y] = (output_weights == NULL ? 1 : output_weights[y]) *
                        exp(-info.s * fmin(d, info.gamma));
            total += masses[y];
        }
        for (uint32_t y = 0; y < count; y++)
            entropy -= masses[y] > 0 ? masses[y] / total * log(masses[y] / total) : 0;
        t.values[TEM_TARGET_SELF][w] = masses[w] / total;
        t.values[TEM_TARGET_SUPPORT][w] = -entropy;
    }
    free(masses);
    return t;
}

static void truth_free(truth *t) {
    free(t->values[TEM_TARGET_SELF]);
    free(t->values[TEM_TARGET_SUPPORT]);
}

/* Compares the most exposed of some words with the truth. */
static void check_exposed(const tem_accountant *accountant, const tem_mechanism *mechanism,
                          const truth *t, tem_target by, const uint32_t *words, uint32_t count) {
    enum { MAX = 20 };
    tem_exposure most[MAX];
    uint32_t found = 0;
    assert_int_equal(tem_accountant_exposed(accountant, mechanism, by, words, count, NULL, most,
                                            MAX, &found, NULL),
                     TEM_OK);
    assert_int_equal(found, count < MAX ? count : MAX);
    double least = INFINITY;
    for (uint32_t i = 0; i < found; i++) {
        const double value = t->values[by][most[i].word];
        check_near(most[i].self, t->values[TEM_TARGET_SELF][most[i].word], 1e-9);
        check_near(log(most[i].support), -t->values[TEM_TARGET_SUPPORT][most[i].word], 1e-9);
        assert_true(value <= least + 1e-12);
        least = value;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool listed = false;
        for (uint32_t k = 0; k < found; k++)
            listed = listed || most[k].word == words[i];
        if (!listed && t->values[by][words[i]] > least + 1e-3 * fabs(least))
            fail_msg("word %u is missing", words[i]);
    }
}

static void check_model(uint32_t count, const uint32_t *output_weights, double epsilon) {
    tem_model *model = random_model(NULL, count, 6);
    tem_accountant *accountant = accountant_of(model, output_weights);
    tem_mechanism *mechanism =
        mechanism_of(model, (tem_mechanism_options){.epsilon = epsilon, .weights = output_weights});
    uint32_t *words = malloc(count * sizeof *words);
    truth t = truth_of(model, mechanism, count);
    assert_non_null(words);
    for (uint32_t id = 0; id < count; id++)
        words[id] = count - 1 - id;
    for (tem_target by = TEM_TARGET_SELF; by <= TEM_TARGET_SUPPORT; by++) {
        check_near(t.values[by][count - 1], exposure_by_law(mechanism, count - 1, by), 1e-9);
        check_exposed(accountant, mechanism, &t, by, words, count);
        check_exposed(accountant, mechanism, &t, by, words, count / 3);
        check_exposed(accountant, mechanism, &t, by, words, 3);
    }
    truth_free(&t);
    free(words);
    tem_mechanism_free(mechanism);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

/* Few words are computed one output at a time, many by the profile or in one pass. */
static void test_exposed(void **state) {
    (void)state;
    enum { FEW = 90, MANY = 2100 };
    uint32_t *output_weights = malloc(MANY * sizeof *output_weights);
    assert_non_null(output_weights);
    for (uint32_t i = 0; i < MANY; i++)
        output_weights[i] = i % 9 == 0 ? 0 : 1 + (uint32_t)random_below(1000);
    check_model(FEW, NULL, 1);
    check_model(FEW, NULL, 6);
    check_model(FEW, output_weights, 3);
    if (!SLOW) {
        check_model(MANY, NULL, 3);
        check_model(MANY, output_weights, 3);
    }
    free(output_weights);
}

/* Words that no text contains are left out, unless they are asked for. A word with the weight 0
 * never stays itself. */
static void test_unreachable(void **state) {
    (void)state;
    enum { COUNT = 6 };
    static const char *const names[COUNT] = {"near", "nearer", "Far", "far", "gone", "a b"};
    static const float values[COUNT] = {0, 0.5F, 300, 100, 200, 400};
    static const uint32_t output_weights[COUNT] = {1, 1, 1, 1, 0, 1};
    static const uint32_t upper = 2;
    tem_model *model = small_model(names, values, COUNT, 1, TEM_EUCLIDEAN, 2);
    tem_accountant *accountant = accountant_of(model, output_weights);
    tem_mechanism *mechanism = mechanism_of(
        model, (tem_mechanism_options){.epsilon = 1, .gamma = 20, .weights = output_weights});
    tem_exposure most[COUNT];
    uint32_t count = 0;
    assert_int_equal(tem_accountant_exposed(accountant, mechanism, TEM_TARGET_SELF, NULL, 0, NULL,
                                            most, COUNT, &count, NULL),
                     TEM_OK);
    assert_int_equal(count, 4);
    assert_int_equal(most[0].word, 3);
    assert_int_equal(most[3].word, 4);
    assert_true(most[3].self <= 0 && most[3].support > 4.9);
    assert_int_equal(tem_accountant_exposed(accountant, mechanism, TEM_TARGET_SELF, &upper, 1, NULL,
                                            most, COUNT, &count, NULL),
                     TEM_OK);
    assert_true(count == 1 && most[0].word == upper && most[0].self > 0.99);
    tem_mechanism_free(mechanism);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

/* ---- an epsilon for the exposed words ---- */

/* The number of words whose law keeps the wish. */
static uint32_t count_kept(const tem_model *model, const tem_mechanism_options *options,
                           const tem_wish *wish, const uint32_t *words, uint32_t count) {
    tem_mechanism *mechanism = mechanism_of(model, *options);
    const double most = wish->target == TEM_TARGET_SELF ? wish->wanted : -log(wish->wanted);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        kept += exposure_by_law(mechanism, words[i], wish->target) <= most;
    tem_mechanism_free(mechanism);
    return kept;
}

/* The answer keeps the wish for enough of the words; a slightly larger epsilon does not. The s of a
 * certificate comes from a bisection, which may end up to 1 % below the largest s. */
static void check_wish(const tem_accountant *accountant, tem_wish wish, const uint32_t *words,
                       uint32_t count, uint32_t wanted) {
    tem_point answer;
    tem_error error;
    tem_mechanism_options options;
    if (tem_accountant_choose(accountant, &wish, NULL, &answer, &error) != TEM_OK)
        fail_msg("%s", error.message);
    assert_true(tem_wish_is_kept(&wish, &answer.summary));
    tem_point_get_options(&answer, &options);
    assert_true(count_kept(accountant->model, &options, &wish, words, count) >= wanted);
    const double more = wish.calibrated ? 1.01 : 1.003;
    options.epsilon *= more;
    options.gamma /= more;
    assert_true(count_kept(accountant->model, &options, &wish, words, count) < wanted);
}

static void test_choose_for_words(void **state) {
    (void)state;
    enum { COUNT = 100 };
    uint32_t all[COUNT], some[] = {16, 3, 38, 3};
    for (uint32_t i = 0; i < COUNT; i++)
        all[i] = i;
    tem_model *model = random_model(NULL, COUNT, 4);
    tem_accountant *accountant = accountant_of(model, NULL);
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(model, 1, &prior, NULL), TEM_OK);
    for (int calibrated = 0; calibrated < 2; calibrated++)
        for (tem_target by = TEM_TARGET_SELF; by <= TEM_TARGET_SUPPORT; by++) {
            tem_wish wish = {.target = by,
                             .wanted = by == TEM_TARGET_SELF ? 0.4 : 6,
                             .prior = prior,
                             .calibrated = calibrated};
            wish.quantile = 0.95;
            check_wish(accountant, wish, all, COUNT, 95);
            wish.quantile = 1;
            check_wish(accountant, wish, all, COUNT, COUNT);
            wish.words = some;
            wish.word_count = 4;
            check_wish(accountant, wish, some, 4, 4);
            wish.quantile = 0;
            check_wish(accountant, wish, some, 4, 4);
            wish.quantile = 0.5;
            check_wish(accountant, wish, some, 4, 2);
        }
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

/* The options of a point give back its s and gamma, bit for bit. */
static void test_point_options(void **state) {
    (void)state;
    tem_model *model = random_model(NULL, 50, 3);
    for (int i = 0; i < 1000; i++) {
        tem_mechanism_info info, again;
        tem_mechanism_options options;
        const double epsilon = 0.001 + (double)random_below(1000000) / 50000;
        tem_mechanism *mechanism = mechanism_of(model, (tem_mechanism_options){.epsilon = epsilon});
        tem_mechanism_get_info(mechanism, &info);
        tem_mechanism_free(mechanism);
        tem_point_get_options(&(tem_point){.s = info.s, .gamma = info.gamma}, &options);
        mechanism = mechanism_of(model, options);
        tem_mechanism_get_info(mechanism, &again);
        assert_true(again.s_steps == info.s_steps && again.gamma_steps == info.gamma_steps);
        tem_mechanism_free(mechanism);
    }
    tem_model_free(model);
}

static void check_refused(const tem_accountant *accountant, tem_wish wish, const char *message) {
    tem_point answer = {.epsilon = 77};
    tem_error error;
    assert_int_equal(tem_accountant_choose(accountant, &wish, NULL, &answer, &error),
                     TEM_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, message));
    assert_true(answer.epsilon >= 77);
}

static void test_refused_wishes(void **state) {
    (void)state;
    static const char *const odd[] = {"A", "B"};
    static const float values[] = {0, 1};
    static const uint32_t word = 1, beyond = 2;
    tem_model *model = small_model(odd, values, 2, 1, TEM_EUCLIDEAN, 2);
    tem_accountant *accountant = accountant_of(model, NULL);
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(model, 1, &prior, NULL), TEM_OK);
    tem_wish wish = {.target = TEM_TARGET_SELF, .wanted = 0.6, .prior = prior, .quantile = 0.5};
    check_refused(accountant, wish, "no text can contain a word");
    wish.words = &word;
    wish.word_count = 1;
    wish.quantile = -0.5;
    check_refused(accountant, wish, "quantile must be above 0 and at most 1");
    wish.quantile = 1.01;
    check_refused(accountant, wish, "quantile must be above 0 and at most 1");
    wish.quantile = NAN;
    check_refused(accountant, wish, "quantile must be above 0 and at most 1");
    wish.word_count = 0;
    check_refused(accountant, wish, "quantile must be above 0 and at most 1");
    wish.word_count = 1;
    wish.quantile = 0;
    wish.target = TEM_TARGET_BAYES;
    check_refused(accountant, wish, "bayes is one number for all words");
    wish.target = TEM_TARGET_SELF;
    wish.words = &beyond;
    check_refused(accountant, wish, "the id must be below the number of words");
    wish.words = NULL;
    check_refused(accountant, wish, "the id must be below the number of words");
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

/* ---- the estimate for a warning ---- */

static void test_self_quantile(void **state) {
    (void)state;
    static const uint32_t counts[] = {2, 39, 40, 400};
    for (int i = 0; i < 4; i++) {
        tem_model *model = random_model(NULL, counts[i], 3);
        tem_mechanism *mechanism = mechanism_of(model, (tem_mechanism_options){.epsilon = 3});
        const uint32_t sampled = counts[i] < 40 ? counts[i] : 40;
        double selves[40], found = 0;
        for (uint32_t k = 0; k < sampled; k++) {
            const uint32_t word = (uint32_t)((k + 0.5) * counts[i] / sampled);
            selves[k] = exposure_by_law(mechanism, word, TEM_TARGET_SELF);
        }
        for (int part = 1; part <= 20; part++) {
            assert_int_equal(tem_mechanism_self_quantile(mechanism, part / 20.0, &found, NULL),
                             TEM_OK);
            assert_true(keeps_share(selves, (int)sampled, found * (1 + 1e-9), part, 20));
            assert_false(keeps_share(selves, (int)sampled, found * (1 - 1e-9), part, 20));
        }
        tem_mechanism_free(mechanism);
        tem_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),     cmocka_unit_test(test_exposed),
        cmocka_unit_test(test_unreachable),   cmocka_unit_test(test_choose_for_words),
        cmocka_unit_test(test_point_options), cmocka_unit_test(test_refused_wishes),
        cmocka_unit_test(test_self_quantile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
