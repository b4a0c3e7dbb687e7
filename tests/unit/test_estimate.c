/* test_estimate.c - shares of sets of words from released text, with intervals.
 *
 * The oracles: all corners of the allowed shares for the worst case; the matrix that the law gives
 * for means, biases and variances; simulated texts for the intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/least_squares.h"
#include "learn/worst_case.h"
#include "small_channel.h"

enum { WORDS = 30, INPUTS = WORDS + 1, GROUPS = 4, SETS = 4, RATIO = 4, STEPS = 30 };

static uint32_t own_weights[WORDS]; /* 1 to 3, and 0 for the fifth word */
static small_channel small;
static double members[INPUTS * SETS]; /* a third of the words; one word; two; unknown words */

static int set_up(void **state) {
    (void)state;
    for (uint32_t w = 0; w < WORDS; w++)
        own_weights[w] = w == 4 ? 0 : 1 + w % 3;
    small =
        small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 3, .weights = own_weights});
    for (uint32_t w = 0; w < INPUTS; w++) {
        members[w * SETS] = w % 3 == 0;
        members[w * SETS + 1] = w == 7;
        members[w * SETS + 2] = w == 4 || w == 20;
        members[w * SETS + 3] = w == WORDS;
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    small_channel_free(&small);
    return 0;
}

static tem_estimate_options assume(const small_channel *s, double unknown, double ratio) {
    return (tem_estimate_options){.expected = expect_unknown(s, unknown), .ratio = ratio};
}

static void estimate(const small_channel *s, const tem_estimate_options *options,
                     const double *counts, uint32_t groups, const double *sets, uint32_t set_count,
                     tem_estimate *out) {
    tem_error error;
    if (tem_channel_estimate(s->channel, options, counts, groups, sets, set_count, NULL, out,
                             &error) != TEM_OK)
        fail_msg("%s", error.message);
}

/* ------------------------------------------------------------ worst case -- */

enum { FEW = 8 };

/* The allowed shares are a polytope. At a corner all inputs but one have 0 or ratio * pi. */
static void corners(const double *pi, const double *r, double ratio, double *size, double *square) {
    *size = *square = 0;
    for (uint32_t full = 0; full < 1u << FEW; full++)
        for (uint32_t last = 0; last < FEW; last++) {
            double left = 1, mean = 0, mean_square = 0;
            for (uint32_t w = 0; w < FEW; w++)
                if (w != last && (full >> w & 1) != 0) {
                    left -= ratio * pi[w];
                    mean += ratio * pi[w] * r[w];
                    mean_square += ratio * pi[w] * r[w] * r[w];
                }
            if (left < -1e-15 || left > ratio * pi[last] + 1e-15)
                continue;
            *size = fmax(*size, fabs(mean + left * r[last]));
            *square = fmax(*square, mean_square + left * r[last] * r[last]);
        }
}

static void test_worst_case_is_a_corner(void **state) {
    (void)state;
    for (uint32_t trial = 0; trial < 500; trial++) {
        double pi[FEW], r[2 * FEW], plain[FEW], sum = 0, size, square, true_size, true_square;
        const double ratio = 1 + pow(10, 2 * random_share() - 1);
        for (uint32_t w = 0; w < FEW; w++) {
            sum += pi[w] = random64() % 4 == 0 ? 0 : random_share();
            plain[w] = random64() % 3 == 0 ? 0.5 : 2 * random_share() - 1; /* with ties */
            r[2 * w] = plain[w];
            r[2 * w + 1] = NAN; /* another column */
        }
        if (sum == 0)
            continue;
        for (uint32_t w = 0; w < FEW; w++)
            pi[w] /= sum;
        worst_case worst;
        assert_int_equal(worst_case_init(&worst, pi, FEW, ratio, NULL), TEM_OK);
        worst_case_find(&worst, r, 2, &size, &square);
        worst_case_free(&worst);
        corners(pi, plain, ratio, &true_size, &true_square);
        check_near(size, true_size, 1e-14, "size");
        check_near(square, true_square, 1e-14, "square");
    }
}

/* --------------------------------------------------------- least squares -- */

static double mean_of(const double *shares, const double *x, uint32_t rows, uint32_t columns,
                      uint32_t column) {
    double sum = 0;
    for (uint32_t k = 0; k < rows; k++)
        sum += shares[k] * x[(size_t)k * columns + column];
    return sum;
}

static double square_of(const double *shares, const double *x, uint32_t rows, uint32_t columns,
                        uint32_t column) {
    double sum = 0;
    for (uint32_t k = 0; k < rows; k++)
        sum += shares[k] * pow(x[(size_t)k * columns + column], 2);
    return sum;
}

/* r = g - P h of set i, less its mean, by the law. */
static void rest_by_law(const double *expected, const double *h, uint32_t i, double *rest) {
    for (uint32_t w = 0; w < INPUTS; w++) {
        rest[w] = members[w * SETS + i];
        for (uint32_t y = 0; y < WORDS; y++)
            rest[w] -= small.law[w * WORDS + y] * h[y * SETS + i];
    }
    const double mean = mean_of(expected, rest, INPUTS, 1, 0);
    for (uint32_t w = 0; w < INPUTS; w++)
        rest[w] -= mean;
}

/* After each step `rest` is what it says, and smaller; h is larger; means are 0. The gradient at
 * the end says that no h is better. */
static void test_conjugate_gradients(void **state) {
    (void)state;
    double expected[INPUTS], rest[INPUTS], rests[SETS], sizes[SETS] = {0};
    expected_shares(&small, 0.1, expected);
    least_squares l;
    assert_int_equal(least_squares_init(&l, small.channel, expected, members, SETS, NULL, NULL),
                     TEM_OK);
    for (uint32_t i = 0; i < SETS; i++)
        rests[i] = square_of(expected, l.rest, INPUTS, SETS, i);
    for (uint32_t step = 0; step < 20; step++) {
        assert_int_equal(least_squares_step(&l, NULL, NULL), TEM_OK);
        for (uint32_t i = 0; i < SETS; i++) {
            rest_by_law(expected, l.h, i, rest);
            for (uint32_t w = 0; w < INPUTS; w++)
                check_near(l.rest[w * SETS + i], rest[w], 1e-9, "rest");
            const double size = least_squares_variance(&l, i);
            check_near(mean_of(expected, l.rest, INPUTS, SETS, i), 0, 1e-13 * size, "mean of rest");
            check_near(mean_of(l.predicted, l.h, WORDS, SETS, i), 0, 1e-13 * size, "mean of h");
            const double square = square_of(expected, l.rest, INPUTS, SETS, i);
            assert_true(square < rests[i] && size > sizes[i]);
            rests[i] = square;
            sizes[i] = size;
        }
    }
    for (uint32_t step = 0; step < 80; step++)
        assert_int_equal(least_squares_step(&l, NULL, NULL), TEM_OK);
    for (uint32_t i = 0; i < SETS; i++)
        assert_true(l.slopes[i] < 1e-12 * rests[i]);
    assert_true(l.h[4 * SETS] == 0); /* a word that is never drawn */
    least_squares_free(&l);
}

/* ------------------------------------------------------------- estimates -- */

/* What an estimate must be if it is made by this h. */
static tem_estimate estimate_by_law(const double *expected, const double *h, uint32_t i,
                                    const double *counts, uint32_t group, double *predicted) {
    double rest[INPUTS], words = 0, theta = mean_of(expected, members, INPUTS, SETS, i);
    double mean = 0, square = 0, noise = 0, bias, worst_square;
    for (uint32_t y = 0; y < WORDS; y++)
        words += counts[y * GROUPS + group];
    for (uint32_t y = 0; y < WORDS; y++) {
        const double c = counts[y * GROUPS + group] / words, x = h[y * SETS + i];
        const double p = mean_of(expected, small.law, INPUTS, WORDS, y);
        theta += x * (c - p);
        mean += c * x;
        square += c * x * x;
        noise += p * x * x;
    }
    rest_by_law(expected, h, i, rest);
    worst_case worst;
    assert_int_equal(worst_case_init(&worst, expected, INPUTS, RATIO, NULL), TEM_OK);
    worst_case_find(&worst, rest, 1, &bias, &worst_square);
    worst_case_free(&worst);
    *predicted = bias + 1.96 * sqrt((noise + worst_square) / words);
    return (tem_estimate){.share = theta,
                          .bias = bias,
                          .deviation =
                              sqrt((fmax(square - mean * mean, noise) + worst_square) / words)};
}

/* Half the width of the interval for a group of `words` words; the members are 0 and 1. */
static double half_width(const tem_estimate *e, double words) {
    return e->bias + 1.96 * e->deviation + 1 / words;
}

static double cut(double x) {
    return fmin(fmax(x, 0), 1);
}

static double width_of(const tem_estimate *e, double words) {
    const double half = half_width(e, words);
    return cut(e->share + half) - cut(e->share - half);
}

static void check_estimate(const tem_estimate *e, const tem_estimate *truth, double words) {
    const double half = half_width(truth, words);
    check_near(e->bias, truth->bias, 1e-9, "bias");
    check_near(e->deviation, truth->deviation, 1e-9, "deviation");
    check_near(e->share, cut(truth->share), 1e-9, "share");
    check_near(e->low, cut(truth->share - half), 1e-9, "low");
    check_near(e->high, cut(truth->share + half), 1e-9, "high");
}

static double total_of(const double *counts, uint32_t group) {
    double sum = 0;
    for (uint32_t y = 0; y < WORDS; y++)
        sum += counts[y * GROUPS + group];
    return sum;
}

/* For each group and set: of all steps the one whose half-width is expected to be the least. */
static void test_estimates_are_of_the_best_step(void **state) {
    (void)state;
    double expected[INPUTS], *counts = random_counts(&small, GROUPS), least[GROUPS][SETS];
    double first[GROUPS][SETS];
    for (uint32_t y = 0; y < WORDS; y++) {
        counts[y * GROUPS + 1] *= 1000;             /* a large group */
        counts[y * GROUPS + 2] = y == 0 ? 2 : 0;    /* a tiny one */
        counts[y * GROUPS + 3] = y == 0 ? 5000 : 0; /* one without any variance */
    }
    tem_estimate out[GROUPS * SETS], best[GROUPS][SETS];
    const tem_estimate_options options = assume(&small, 0.1, 0);
    estimate(&small, &options, counts, GROUPS, members, SETS, out);
    expected_shares(&small, 0.1, expected);
    least_squares l;
    assert_int_equal(least_squares_init(&l, small.channel, expected, members, SETS, NULL, NULL),
                     TEM_OK);
    for (uint32_t step = 0; step <= STEPS; step++) {
        for (uint32_t k = 0; k < GROUPS * SETS; k++) {
            const uint32_t group = k / SETS, i = k % SETS;
            double half;
            const tem_estimate now = estimate_by_law(expected, l.h, i, counts, group, &half);
            if (step == 0)
                first[group][i] = width_of(&now, total_of(counts, group));
            if (step == 0 || half < least[group][i]) {
                least[group][i] = half;
                best[group][i] = now;
            }
        }
        assert_int_equal(least_squares_step(&l, NULL, NULL), TEM_OK);
    }
    least_squares_free(&l);
    for (uint32_t k = 0; k < GROUPS * SETS; k++) {
        const uint32_t group = k / SETS, i = k % SETS;
        const double words = total_of(counts, group);
        check_estimate(&out[k], &best[group][i], words);
        check_near(out[k].expected, mean_of(expected, members, INPUTS, SETS, i), 1e-12, "expected");
        assert_int_equal(out[k].tells, width_of(&best[group][i], words) < 0.9 * first[group][i]);
        assert_true(out[k].reserved[0] == 0 && out[k].reserved[3] == 0);
    }
    assert_true(out[SETS].tells && !out[2 * SETS].tells); /* large and tiny group, first set */
    free(counts);
}

/* Other numbers than 0 and 1: the estimate is a mean, and follows a change of scale. */
static void test_estimates_follow_the_scale(void **state) {
    (void)state;
    double scaled[INPUTS * SETS], *counts = random_counts(&small, GROUPS);
    tem_estimate plain[GROUPS * SETS], out[GROUPS * SETS];
    const tem_estimate_options options = assume(&small, 0.1, 3);
    for (uint32_t k = 0; k < INPUTS * SETS; k++)
        scaled[k] = 5 - 10 * members[k];
    estimate(&small, &options, counts, GROUPS, members, SETS, plain);
    estimate(&small, &options, counts, GROUPS, scaled, SETS, out);
    for (uint32_t k = 0; k < GROUPS * SETS; k++) {
        check_near(out[k].share, 5 - 10 * plain[k].share, 1e-9, "share");
        check_near(out[k].low, 5 - 10 * plain[k].high, 1e-9, "low");
        check_near(out[k].high, 5 - 10 * plain[k].low, 1e-9, "high");
        check_near(out[k].bias, 10 * plain[k].bias, 1e-9, "bias");
        check_near(out[k].deviation, 10 * plain[k].deviation, 1e-9, "deviation");
        assert_int_equal(out[k].tells, plain[k].tells);
    }
    free(counts);
}

static void test_sets_without_a_question(void **state) {
    (void)state;
    double constant[INPUTS * 2], *counts = random_counts(&small, GROUPS);
    tem_estimate out[GROUPS * 2];
    const tem_estimate_options options = assume(&small, 0.1, 0);
    for (uint32_t w = 0; w < INPUTS; w++) {
        constant[2 * w] = 0;     /* no word */
        constant[2 * w + 1] = 1; /* all words */
    }
    estimate(&small, &options, counts, GROUPS, constant, 2, out);
    for (uint32_t k = 0; k < GROUPS * 2; k++) {
        check_near(out[k].share, k % 2, 1e-12, "share");
        check_near(out[k].low, k % 2, 1e-12, "low");
        check_near(out[k].high, k % 2, 1e-12, "high");
        assert_false(out[k].tells);
    }
    free(counts);
}

/* Almost no noise: the share in the released words. Almost nothing but noise: the prior, and all
 * that the ratio allows. */
static void test_extreme_epsilons(void **state) {
    (void)state;
    double set[FEW + 1] = {0, 1, 0, 1}, expected[FEW + 1], sum = 0;
    tem_estimate out;
    small_channel clear =
        small_channel_make(FEW, (tem_mechanism_options){.epsilon = 1000, .gamma = 0.1});
    double *counts = random_counts(&clear, 1);
    for (uint32_t y = 0; y < FEW; y++)
        sum += counts[y] = 1000 * (counts[y] + 1);
    tem_estimate_options options = assume(&clear, 0, 0);
    estimate(&clear, &options, counts, 1, set, 1, &out);
    const double truth = (counts[1] + counts[3]) / sum;
    check_near(out.share, truth, 1e-9, "share without noise");
    assert_true(out.bias < 1e-9 && out.tells && out.high - out.low < 4 / sqrt(sum));
    small_channel_free(&clear);
    small_channel dark =
        small_channel_make(FEW, (tem_mechanism_options){.epsilon = 2e-5, .gamma = 6});
    options = assume(&dark, 0, 1.5);
    expected_shares(&dark, 0, expected);
    estimate(&dark, &options, counts, 1, set, 1, &out);
    check_near(out.share, expected[1] + expected[3], 1e-3, "share without signal");
    check_near(out.bias, expected[1] + expected[3], 1e-3, "bias without signal"); /* down to 0 */
    assert_false(out.tells);
    small_channel_free(&dark);
    free(counts);
}

/* --------------------------------------------------------------- coverage -- */

/* The allowed shares under which the estimate of set 0 is farthest off, towards `sign`. */
static void worst_shares(const double *expected, const double *rest, double sign, double *q) {
    bool given[INPUTS] = {0};
    double left = 1;
    for (uint32_t k = 0; k < INPUTS; k++) {
        uint32_t best = INPUTS;
        for (uint32_t w = 0; w < INPUTS; w++)
            if (!given[w] && (best == INPUTS || sign * rest[w] > sign * rest[best]))
                best = w;
        given[best] = true;
        q[best] = fmin(RATIO * expected[best], left);
        left -= q[best];
    }
}

/* Counts how many of `texts` texts of `words` words, whose words come from q, have their share of
 * the set outside the interval. */
static uint32_t count_misses(tem_rng *rng, const double *q, const double *set, uint32_t texts,
                             uint32_t words) {
    double *counts = make_numbers((size_t)WORDS * texts);
    double *inputs = make_numbers((size_t)INPUTS * texts);
    tem_estimate *out = make_zeros(texts, sizeof *out);
    for (uint32_t i = 0; i < texts; i++)
        release_words(&small, rng, q, words, texts, inputs + i, counts + i);
    const tem_estimate_options options = assume(&small, 0.1, RATIO);
    estimate(&small, &options, counts, texts, set, 1, out);
    uint32_t misses = 0;
    for (uint32_t i = 0; i < texts; i++) {
        const double truth = mean_of(set, inputs + i, INPUTS, texts, 0) / words;
        misses += truth < out[i].low || truth > out[i].high;
    }
    free(out);
    free(inputs);
    free(counts);
    return misses;
}

/* The worst case: the words of a text come from the allowed shares for which the bias is as large
 * as the interval says, at some step. Then the interval misses by the noise to one side, at most
 * 2.5 %. Of 1000 texts at most 50 may miss. If 2.5 % miss on average, more than 50 do with
 * probability 2.4 * 10^-6 (binomial), and in any of the 30 cases with 7 * 10^-5. With this seed
 * every run is the same. */
static void test_intervals_hold_the_truth(void **state) {
    (void)state;
    enum { TEXTS = 1000 };
    static const uint32_t sizes[] = {20, 200, 1000};
    double expected[INPUTS], rest[INPUTS], q[INPUTS], set[INPUTS];
    tem_rng *rng = repeatable_rng(3);
    for (uint32_t w = 0; w < INPUTS; w++)
        set[w] = members[w * SETS];
    expected_shares(&small, 0.1, expected);
    least_squares l;
    assert_int_equal(least_squares_init(&l, small.channel, expected, members, SETS, NULL, NULL),
                     TEM_OK);
    for (uint32_t step = 0; step <= 4; step++) {
        rest_by_law(expected, l.h, 0, rest);
        for (int sign = -1; sign <= 1; sign += 2)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                worst_shares(expected, rest, sign, q);
                const uint32_t misses = count_misses(rng, q, set, TEXTS, sizes[k]);
                if (misses > TEXTS / 20)
                    fail_msg("%u of %d texts of %u words: step %u, sign %d", misses, TEXTS,
                             sizes[k], step, sign);
            }
        assert_int_equal(least_squares_step(&l, NULL, NULL), TEM_OK);
    }
    least_squares_free(&l);
    tem_rng_free(rng);
}

/* A rare word, RATIO times as frequent as expected, in texts so short that it occurs in about
 * one of seven. Where it occurs once, its share is 1 / words, far above its mean. It occurs
 * twice or more in 1 % of the texts. Of 1000 texts at most 50 may miss; more than 50 do with
 * probability below 10^-15 if 1 % miss. Without the width of one word 14 % miss. */
static void test_intervals_hold_for_a_rare_word(void **state) {
    (void)state;
    enum { TEXTS = 1000 };
    double expected[INPUTS], q[INPUTS], set[INPUTS] = {0};
    uint32_t rare = 0;
    expected_shares(&small, 0.1, expected);
    for (uint32_t w = 0; w < WORDS; w++)
        rare = expected[w] < expected[rare] ? w : rare;
    set[rare] = 1;
    for (uint32_t w = 0; w < INPUTS; w++)
        q[w] = w == rare ? RATIO * expected[w]
                         : expected[w] * (1 - RATIO * expected[rare]) / (1 - expected[rare]);
    tem_rng *rng = repeatable_rng(4);
    const uint32_t words = (uint32_t)ceil(0.15 / q[rare]);
    const uint32_t misses = count_misses(rng, q, set, TEXTS, words);
    if (misses > TEXTS / 20)
        fail_msg("%u of %d texts of %u words", misses, TEXTS, words);
    tem_rng_free(rng);
}

/* The option `steps` is obeyed: with no more than one step an estimate differs. */
static void test_steps_are_counted(void **state) {
    (void)state;
    double *counts = random_counts(&small, GROUPS);
    tem_estimate one[GROUPS * SETS], all[GROUPS * SETS];
    tem_estimate_options options = assume(&small, 0.1, 0);
    for (uint32_t y = 0; y < WORDS; y++)
        counts[y * GROUPS] *= 100000;
    estimate(&small, &options, counts, GROUPS, members, SETS, all);
    options.steps = 1;
    estimate(&small, &options, counts, GROUPS, members, SETS, one);
    assert_true(one[0].bias > 1.1 * all[0].bias);
    free(counts);
}

/* --------------------------------------------------------------- refusals -- */

static void check_refused(const tem_estimate_options *options, const double *counts,
                          const double *sets, const tem_run *run, tem_status status) {
    tem_estimate out[GROUPS * SETS], before[GROUPS * SETS];
    tem_error error;
    memset(out, 0x55, sizeof out);
    memcpy(before, out, sizeof out);
    assert_int_equal(
        tem_channel_estimate(small.channel, options, counts, GROUPS, sets, SETS, run, out, &error),
        status);
    assert_int_equal(error.status, status);
    assert_memory_equal(out, before, sizeof out);
}

static void test_bad_input_is_refused(void **state) {
    (void)state;
    static const double ratios[] = {1, 0.5, -4, NAN, INFINITY};
    double sets[INPUTS * SETS], *counts = random_counts(&small, GROUPS);
    for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
        const tem_estimate_options options = assume(&small, 0, ratios[k]);
        check_refused(&options, counts, members, NULL, TEM_ERR_ARGUMENT);
    }
    const tem_estimate_options options = assume(&small, 0, 0);
    memcpy(sets, members, sizeof sets);
    sets[5] = NAN;
    check_refused(&options, counts, sets, NULL, TEM_ERR_ARGUMENT);
    const double kept = counts[7];
    counts[7] = 0.5;
    check_refused(&options, counts, members, NULL, TEM_ERR_ARGUMENT);
    counts[7] = -1;
    check_refused(&options, counts, members, NULL, TEM_ERR_ARGUMENT);
    counts[7] = kept;
    counts[4 * GROUPS] = 1; /* a word that is never drawn */
    check_refused(&options, counts, members, NULL, TEM_ERR_FORMAT);
    counts[4 * GROUPS] = 0;
    const tem_run run = {.progress = stop_at_once};
    check_refused(&options, counts, members, &run, TEM_ERR_CANCELLED);
    const tem_estimate_options unknown = assume(&small, 1, 0);
    check_refused(&unknown, counts, members, NULL, TEM_ERR_ARGUMENT);
    free(counts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worst_case_is_a_corner),
        cmocka_unit_test(test_conjugate_gradients),
        cmocka_unit_test(test_estimates_are_of_the_best_step),
        cmocka_unit_test(test_estimates_follow_the_scale),
        cmocka_unit_test(test_sets_without_a_question),
        cmocka_unit_test(test_extreme_epsilons),
        cmocka_unit_test(test_intervals_hold_the_truth),
        cmocka_unit_test(test_intervals_hold_for_a_rare_word),
        cmocka_unit_test(test_steps_are_counted),
        cmocka_unit_test(test_bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
