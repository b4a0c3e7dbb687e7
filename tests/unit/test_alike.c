/* test_alike.c - what rank and coin do to every word alike: N_w, S_w, the best guess and losses of
 * pairs against brute force over all inputs and outputs, and the epsilon for a target. */
#include "audit/form_audit.h"
#include "audit/prior.h"
#include "mech/model_mechanism.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tem_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 150 };

/* Points at random; every 7th is that of the word before. Words whose id is 3 modulo 20 are
 * excluded, if `excludes`. The lists of the order have 12 words. */
static tem_model *make_model(bool excludes) {
    static char names[WORDS][8];
    static const char *words[WORDS], *excluded[WORDS];
    static float values[2 * WORDS];
    tem_vectors *vectors = NULL;
    tem_order_options order = {.list = 12, .block = 5, .group = 4};
    tem_build_options options = {
        .neighbours = 8, .allow_coarse = 1, .exclude = excluded, .order = &order};
    tem_model *model = NULL;
    for (uint32_t i = 0; i < WORDS; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
        if (excludes && i % 20 == 3)
            excluded[options.exclude_count++] = names[i];
        for (uint32_t k = 2 * i; k < 2 * i + 2; k++)
            values[k] = i % 7 == 6 ? values[k - 2] : (float)random_below(1000) / 250;
    }
    assert_int_equal(tem_vectors_create(words, values, WORDS, 2, &vectors, NULL), TEM_OK);
    order.vectors = vectors;
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

/* Zipf's law; or frequencies at random, where half of the words have none. */
static tem_prior *make_prior(const tem_model *model, bool is_zipf) {
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(model, is_zipf ? 1 : 0, &prior, NULL), TEM_OK);
    for (uint32_t w = 0; w < WORDS && !is_zipf; w++)
        prior->frequencies[w] = random_below(2) == 0 ? 0 : (double)random_below(1000);
    assert_true(prior_scale(prior) > 0);
    return prior;
}

static tem_mechanism *make(const tem_model *model, const char *name, double epsilon) {
    const tem_mechanism_options options = {.mechanism = name, .epsilon = epsilon};
    tem_mechanism *m = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &m, NULL), TEM_OK);
    return m;
}

static bool is_near(double x, double y) {
    return fabs(x - y) <= 1e-11 * fabs(y);
}

/* The success of the best guess, and N_w and S_w of all words, from all rows. */
static void check_effects(const tem_mechanism *m, const tem_prior *prior,
                          const tem_form_point *point) {
    double best[WORDS] = {0}, row[WORDS], success = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        double entropy = 0;
        assert_int_equal(mechanism_row(m, w, row, NULL), TEM_OK);
        for (uint32_t y = 0; y < WORDS; y++) {
            best[y] = fmax(best[y], prior->frequencies[w] * row[y]);
            entropy -= row[y] > 0 ? row[y] * log(row[y]) : 0;
        }
        assert_true(is_near(exp(entropy), point->support));
        assert_true(tem_model_is_excluded(m->model, w) ? row[w] <= 0
                                                       : is_near(row[w], point->self));
    }
    for (uint32_t y = 0; y < WORDS; y++)
        success += best[y];
    assert_true(is_near(success, point->bayes));
}

static tem_effects effects_of(const tem_mechanism *m, const tem_prior *prior) {
    tem_accountant *accountant = NULL;
    tem_effects effects;
    assert_int_equal(tem_accountant_create(m->model, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_accountant_effects(accountant, m, prior, NULL, &effects, NULL), TEM_OK);
    tem_accountant_free(accountant);
    return effects;
}

/* Half of the prior's words have at most this N_w: it is 0 where the excluded words have half of
 * the prior. */
static double median_self(const tem_mechanism *m, const tem_prior *prior, double self) {
    double excluded = 0;
    for (uint32_t w = 0; w < WORDS; w++)
        excluded += tem_model_is_excluded(m->model, w) ? prior->frequencies[w] : 0;
    return excluded >= 0.5 ? 0 : self;
}

/* The effects that mechanisms are compared by, with all words equally frequent for one of them. */
static void check_compared(const tem_mechanism *m, const tem_prior *prior,
                           const tem_form_point *point) {
    const tem_effects effects = effects_of(m, prior);
    double best[WORDS] = {0}, row[WORDS], success = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        assert_int_equal(mechanism_row(m, w, row, NULL), TEM_OK);
        for (uint32_t y = 0; y < WORDS; y++)
            best[y] = fmax(best[y], row[y] / WORDS);
    }
    for (uint32_t y = 0; y < WORDS; y++)
        success += best[y];
    assert_true(is_near(effects.guess, point->bayes));
    assert_true(is_near(effects.guess_vocabulary, success));
    assert_true(is_near(effects.self_median, median_self(m, prior, point->self)));
    assert_true(is_near(effects.support_median, point->support));
    assert_true(is_near(effects.self_exposed, point->self));
    assert_true(is_near(effects.support_exposed, point->support));
    assert_false(tem_model_is_excluded(m->model, effects.exposed));
}

static void test_effects(void **state) {
    (void)state;
    static const double epsilons[] = {0.01, 0.3, 1, 1.7, 3, 5};
    for (unsigned trial = 0; trial < 4; trial++) {
        tem_model *model = make_model(trial % 2 == 1);
        tem_prior *prior = make_prior(model, trial < 2);
        for (unsigned i = 0; i < 2 * sizeof epsilons / sizeof *epsilons; i++) {
            tem_mechanism *m = make(model, i % 2 == 0 ? "rank" : "coin", epsilons[i / 2]);
            tem_mechanism_info info;
            tem_form_point point, without;
            tem_mechanism_get_info(m, &info);
            assert_int_equal(tem_form_measure(m, prior, NULL, &point, NULL), TEM_OK);
            check_effects(m, prior, &point);
            check_compared(m, prior, &point);
            assert_true(is_near(point.s, info.s) && is_near(point.bound, info.bound));
            assert_true(is_near(point.epsilon, epsilons[i / 2]));
            assert_int_equal(tem_form_measure(m, NULL, NULL, &without, NULL), TEM_OK);
            assert_true(isnan(without.bayes) && is_near(without.self, point.self));
            tem_mechanism_free(m);
        }
        tem_prior_free(prior);
        tem_model_free(model);
    }
}

/* The largest |ln P(y | a) - ln P(y | b)| over the outputs y. */
static double loss_of(const tem_mechanism *m, uint32_t a, uint32_t b) {
    double row[WORDS], other[WORDS], largest = 0;
    assert_int_equal(mechanism_row(m, a, row, NULL), TEM_OK);
    assert_int_equal(mechanism_row(m, b, other, NULL), TEM_OK);
    for (uint32_t y = 0; y < WORDS; y++)
        if (!tem_model_is_excluded(m->model, y))
            largest = fmax(largest, fabs(log(row[y] / other[y])));
    return largest;
}

static uint32_t nearest_to(const tem_model *model, uint32_t word) {
    uint32_t nearest = word == 0;
    for (uint32_t w = 0; w < WORDS; w++)
        if (w != word &&
            tem_model_distance(model, word, w) < tem_model_distance(model, word, nearest))
            nearest = w;
    return nearest;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* `sorted`: the losses of all words and their nearest ones. Of WORDS losses the number
 * ceil(part * WORDS) is the quantile. */
static void check_all(const tem_losses *l, const double *sorted) {
    static const double parts[TEM_LOSS_QUANTILES] = {0.05, 0.5, 0.95};
    double sum = 0;
    for (uint32_t w = 0; w < WORDS; w++)
        sum += sorted[w];
    assert_int_equal(l->pairs, WORDS);
    assert_true(is_near(l->mean, sum / WORDS));
    assert_true(is_near(l->worst, sorted[WORDS - 1]));
    for (int i = 0; i < TEM_LOSS_QUANTILES; i++) {
        assert_true(is_near(l->quantiles[i], sorted[(uint32_t)ceil(parts[i] * WORDS) - 1]));
        assert_true(l->low[i] <= l->quantiles[i] && l->low[i] >= l->quantiles[i]);
        assert_true(l->high[i] <= l->quantiles[i] && l->high[i] >= l->quantiles[i]);
    }
}

/* A sample of 60 of the words: its intervals have the quantiles of all words, and where the losses
 * differ that of the median has some extent. */
static void check_sample(const tem_mechanism *m, const double *sorted) {
    static const double parts[TEM_LOSS_QUANTILES] = {0.05, 0.5, 0.95};
    enum { SOME = 60 };
    tem_form_audit audit;
    assert_int_equal(form_audit(m, SOME * WORDS, NULL, &audit, NULL), TEM_OK);
    const tem_losses *l = &audit.nearest;
    assert_int_equal(l->pairs, SOME);
    assert_true(is_near(l->worst, loss_of(m, l->worst_a, l->worst_b)));
    assert_int_equal(l->worst_b, nearest_to(m->model, l->worst_a));
    for (int i = 0; i < TEM_LOSS_QUANTILES; i++) {
        const double of_all = sorted[(uint32_t)ceil(parts[i] * WORDS) - 1];
        assert_true(l->low[i] <= of_all * (1 + 1e-11) && of_all <= l->high[i] * (1 + 1e-11));
    }
    assert_true(sorted[WORDS / 3] >= sorted[WORDS - WORDS / 3] || l->low[1] < l->high[1]);
}

static void test_audit(void **state) {
    (void)state;
    for (unsigned trial = 0; trial < 4; trial++) {
        tem_model *model = make_model(trial % 2 == 1);
        tem_mechanism *m = make(model, trial < 2 ? "rank" : "coin", 1.7);
        double losses[WORDS];
        tem_form_audit audit;
        assert_int_equal(tem_form_audit_make(m, NULL, &audit, NULL), TEM_OK);
        for (uint32_t w = 0; w < WORDS; w++)
            losses[w] = loss_of(m, w, nearest_to(model, w));
        qsort(losses, WORDS, sizeof *losses, compare_doubles);
        check_all(&audit.nearest, losses);
        check_sample(m, losses);
        assert_true(audit.random.worst <= audit.bound * (1 + 1e-11));
        assert_true(
            is_near(audit.random.worst, loss_of(m, audit.random.worst_a, audit.random.worst_b)));
        tem_mechanism_free(m);
        tem_model_free(model);
    }
}

/* The answer keeps the target, and an epsilon larger by 0.1 % does not. */
static void test_choice(void **state) {
    (void)state;
    static const double wanted[] = {
        [TEM_TARGET_SELF] = 0.3, [TEM_TARGET_SUPPORT] = 20, [TEM_TARGET_BAYES] = 0.45};
    tem_model *model = make_model(true);
    tem_prior *prior = make_prior(model, true);
    for (unsigned i = 0; i < 2; i++)
        for (tem_target target = TEM_TARGET_SELF; target <= TEM_TARGET_BAYES; target++) {
            const tem_mechanism_options options = {.mechanism = i == 0 ? "rank" : "coin"};
            const tem_wish wish = {.target = target, .wanted = wanted[target], .prior = prior};
            tem_form_point answer, beyond;
            assert_int_equal(tem_form_choose(model, &options, &wish, NULL, &answer, NULL), TEM_OK);
            tem_mechanism *m = make(model, options.mechanism, answer.epsilon * 1.001);
            assert_int_equal(tem_form_measure(m, prior, NULL, &beyond, NULL), TEM_OK);
            const double kept[] = {0, answer.self, -answer.support, answer.bayes};
            const double broken[] = {0, beyond.self, -beyond.support, beyond.bayes};
            const double limit = target == TEM_TARGET_SUPPORT ? -wanted[target] : wanted[target];
            assert_true(kept[target] <= limit && broken[target] > limit);
            tem_mechanism_free(m);
        }
    tem_prior_free(prior);
    tem_model_free(model);
}

static void refuse(const tem_model *model, const char *name, tem_wish wish, tem_status expected) {
    const tem_mechanism_options options = {.mechanism = name};
    tem_form_point answer = {.epsilon = -1};
    assert_int_equal(tem_form_choose(model, &options, &wish, NULL, &answer, NULL), expected);
    assert_true(answer.epsilon <= -1);
}

static void test_refusals(void **state) {
    (void)state;
    const uint32_t some = 0;
    uint32_t given[WORDS];
    tem_model *model = make_model(false), *other = make_model(false);
    tem_prior *prior = make_prior(other, true);
    const tem_wish half = {.target = TEM_TARGET_SELF, .wanted = 0.5};
    tem_form_point point;
    tem_wish wish = half;
    refuse(model, "tem", half, TEM_ERR_UNSUPPORTED);
    refuse(model, "madlib", half, TEM_ERR_UNSUPPORTED);
    wish.wanted = 1e-9;
    refuse(model, "coin", wish, TEM_ERR_RANGE); /* less than uniformly */
    wish.wanted = 2;
    refuse(model, "coin", wish, TEM_ERR_ARGUMENT);
    wish = half;
    wish.quantile = 0.5;
    refuse(model, "coin", wish, TEM_ERR_ARGUMENT);
    wish = half;
    wish.words = &some;
    wish.word_count = 1;
    refuse(model, "coin", wish, TEM_ERR_ARGUMENT);
    wish = half;
    wish.calibrated = 1;
    refuse(model, "coin", wish, TEM_ERR_ARGUMENT);
    wish = half;
    wish.gamma = 1;
    refuse(model, "coin", wish, TEM_ERR_ARGUMENT);
    wish = (tem_wish){.target = TEM_TARGET_BAYES, .wanted = 0.5};
    refuse(model, "coin", wish, TEM_ERR_ARGUMENT); /* no prior */
    wish.prior = prior;                            /* of another model */
    refuse(model, "coin", wish, TEM_ERR_ARGUMENT);
    for (uint32_t y = 0; y < WORDS; y++)
        given[y] = 1 + y % 2;
    const tem_mechanism_options weighted = {.mechanism = "rank", .epsilon = 1, .weights = given};
    tem_mechanism *m = NULL;
    assert_int_equal(tem_mechanism_create(model, &weighted, &m, NULL), TEM_OK);
    assert_int_equal(tem_form_measure(m, NULL, NULL, &point, NULL), TEM_ERR_UNSUPPORTED);
    tem_mechanism_free(m);
    tem_prior_free(prior);
    tem_model_free(model);
    tem_model_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effects),
        cmocka_unit_test(test_audit),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
