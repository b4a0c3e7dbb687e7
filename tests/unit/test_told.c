/* test_told.c - what an adapted model gives away: how well an attacker tells numbers of words, and
 * the loss per unit of the distance before the model was adapted.
 *
 * The oracle for the first is the law by MPFR, and sums over all words and outputs. The oracle for
 * the second looks at all pairs of words and all outputs. */
#include "audit/prior.h"
#include "model/model.h"
#include "space/squares.h"
#include "tem_adapt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "promise.h"
#include "small_channel.h"

#include <float.h>
#include <stdio.h>
#include <unistd.h>

/* A callback that asks to stop at its nth question. */
static int stop_later(void *context, const char *stage, uint64_t done, uint64_t total) {
    int *left = context;
    assert_true(stage != NULL && done <= total);
    return (*left)-- <= 0;
}

static uint32_t *random_weights(uint32_t count) {
    uint32_t *values = make_zeros(count, sizeof *values);
    for (uint32_t y = 0; y < count; y++)
        values[y] = y % 5 == 4 ? 0 : 1 + (uint32_t)random_below(1000);
    return values;
}

/* Excludes every third word, from the second on. */
static void exclude_some(tem_model *model) {
    char names[400][8];
    const char *excluded[400];
    uint32_t count = 0;
    for (uint32_t w = 1; w < model->words.count; w += 3, count++) {
        snprintf(names[count], sizeof names[count], "w%u", w);
        excluded[count] = names[count];
    }
    assert_int_equal(model_exclude(model, excluded, count, NULL), TEM_OK);
}

/* ---------------------------------------------- numbers, by brute force -- */

typedef struct brute_told {
    long double side, side_blind, variance;
} brute_told;

/* p: the prior over the known words. x: a number per word, `stride` apart. */
static brute_told brute(const small_channel *s, const long double *p, const double *x,
                        uint32_t stride) {
    long double mean = 0, variance = 0, above = 0, side = 0, explained = 0;
    bool differ = false;
    for (uint32_t w = 0; w < s->words; w++)
        mean += p[w] * x[(size_t)w * stride];
    for (uint32_t w = 0; w < s->words; w++) {
        const long double excess = x[(size_t)w * stride] - mean;
        variance += p[w] * excess * excess;
        above += excess > 0 ? p[w] : 0;
        for (uint32_t v = 0; v < w; v++)
            differ |= p[v] > 0 && p[w] > 0 && x[(size_t)v * stride] != x[(size_t)w * stride];
    }
    if (!differ)
        return (brute_told){1, 1, 0};
    for (uint32_t y = 0; y < s->words; y++) {
        long double all = 0, over = 0, sum = 0;
        for (uint32_t w = 0; w < s->words; w++) {
            const long double joint = p[w] * s->law[(size_t)w * s->words + y];
            all += joint;
            over += x[(size_t)w * stride] > mean ? joint : 0;
            sum += joint * (x[(size_t)w * stride] - mean);
        }
        side += fmaxl(over, all - over);
        explained += all > 0 ? sum / all * sum : 0;
    }
    return (brute_told){side, fmaxl(above, 1 - above), explained / variance};
}

static void check_told(const small_channel *s, const tem_expectation *expected,
                       const double *numbers, uint32_t columns) {
    double *shares = make_numbers(s->words + 1);
    long double *p = make_zeros(s->words, sizeof *p), known = 0;
    tem_told *told = make_zeros(columns, sizeof *told);
    memset(told, 0x55, columns * sizeof *told);
    assert_int_equal(tem_channel_expect(s->channel, expected, shares, NULL), TEM_OK);
    for (uint32_t w = 0; w < s->words; w++)
        known += shares[w];
    for (uint32_t w = 0; w < s->words; w++)
        p[w] = shares[w] / known;
    assert_int_equal(tem_channel_told(s->channel, expected, numbers, columns, NULL, told, NULL),
                     TEM_OK);
    for (uint32_t i = 0; i < columns; i++) {
        const brute_told truth = brute(s, p, numbers + i, columns);
        check_near(told[i].side, (double)truth.side, 1e-10, "side");
        check_near(told[i].side_blind, (double)truth.side_blind, 1e-10, "side_blind");
        check_near(told[i].variance, (double)truth.variance, 1e-10, "variance");
        assert_true(told[i].side >= told[i].side_blind && told[i].side <= 1);
        assert_true(told[i].variance >= 0 && told[i].variance <= 1);
        for (int k = 0; k < 4; k++)
            assert_true(told[i].reserved[k] == 0);
    }
    free(told);
    free(p);
    free(shares);
}

enum { KINDS = 10 };

/* One number of word w, by kind. */
static double number_of(uint32_t w, uint32_t words, unsigned kind) {
    const double x = 2 * random_share() - 1;
    switch (kind) {
    case 0:
        return x;
    case 1:
        return 3.5; /* the same for all words */
    case 2:
        return w == words / 2; /* one word above the mean */
    case 3:
        return w != 0; /* one word below it, and all others equal */
    case 4:
        return w % 2 == 0 ? -0.25 : 8;
    case 5:
        return x * DBL_MAX; /* the difference of two such numbers is infinite */
    case 6:
        return 1 + floor(256 * x) * 0x1p-52; /* nearly equal */
    case 7:
        return floor(256 * x) * 0x1p-1074;
    case 8:
        return w == 1 ? -1e9 : x; /* one word far from the others */
    default:
        return (double)w / words;
    }
}

static double *numbers_of_all_kinds(uint32_t words) {
    double *numbers = make_numbers((size_t)words * KINDS);
    for (uint32_t w = 0; w < words; w++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            numbers[(size_t)w * KINDS + kind] = number_of(w, words, kind);
    return numbers;
}

/* All kinds of numbers, alone and together, with and without unknown words. */
static void check_channel(small_channel s) {
    double *numbers = numbers_of_all_kinds(s.words), *one = make_numbers(s.words);
    const double unknown[] = {0, 0.3, -1};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const tem_expectation expected = expect_unknown(&s, unknown[i]);
        check_told(&s, &expected, numbers, KINDS);
    }
    const tem_expectation expected = expect_unknown(&s, 0);
    for (uint32_t w = 0; w < s.words; w++)
        one[w] = numbers[(size_t)w * KINDS];
    check_told(&s, &expected, one, 1);
    free(one);
    free(numbers);
    small_channel_free(&s);
}

static void test_numbers(void **state) {
    (void)state;
    const uint32_t sizes[] = {2, 3, 41, 150};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t *unequal = random_weights(sizes[i]);
        check_channel(small_channel_make(sizes[i], (tem_mechanism_options){.epsilon = 3}));
        check_channel(small_channel_make(
            sizes[i], (tem_mechanism_options){.epsilon = 8, .weights = unequal}));
        check_channel(
            small_channel_make(sizes[i], (tem_mechanism_options){.epsilon = 0.5, .gamma = 0.75}));
        check_channel(small_channel_make(
            sizes[i], (tem_mechanism_options){.epsilon = 20, .mechanism = "em"}));
        free(unequal);
    }
}

static void test_excluded_words(void **state) {
    (void)state;
    enum { WORDS = 60 };
    float values[2 * WORDS];
    for (int i = 0; i < 2 * WORDS; i++)
        values[i] = (float)(4 * random_share());
    tem_model *model = small_model(NULL, values, WORDS, 2, TEM_EUCLIDEAN, WORDS);
    exclude_some(model);
    small_channel s = small_channel_of(model, WORDS, (tem_mechanism_options){.epsilon = 3});
    for (uint32_t w = 0; w < WORDS; w++)
        assert_true(s.law[(size_t)w * WORDS + 1] == 0);
    check_channel(s);
}

/* A prior counted in a file, with its own share of unknown words; and priors of other powers. */
static void test_priors(void **state) {
    (void)state;
    enum { WORDS = 30 };
    small_channel s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 4});
    double *numbers = numbers_of_all_kinds(WORDS);
    char path[64];
    snprintf(path, sizeof path, "/tmp/tem-test-told-%ld", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("w0 w0 w7 w0 w1\nnobody w3 w29 w29 nobody\n", file) >= 0);
    fclose(file);
    tem_prior *counted = NULL, *even = NULL;
    assert_int_equal(tem_prior_load(s.model, path, NULL, &counted, NULL), TEM_OK);
    unlink(path);
    assert_int_equal(tem_prior_create_zipf(s.model, 0, &even, NULL), TEM_OK);
    for (int unknown = -1; unknown <= 0; unknown++) {
        check_told(&s, &(tem_expectation){.prior = counted, .unknown = unknown}, numbers, KINDS);
        check_told(&s, &(tem_expectation){.prior = even, .unknown = unknown}, numbers, KINDS);
    }
    tem_prior_free(even);
    tem_prior_free(counted);
    free(numbers);
    small_channel_free(&s);
}

/* A prior that expects two words. The others do not count, whatever their numbers. */
static void test_words_that_nobody_expects(void **state) {
    (void)state;
    enum { WORDS = 5, COLUMNS = 3 };
    small_channel s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 4});
    static const double frequencies[WORDS] = {0.375, 0.625};
    memcpy(s.prior->frequencies, frequencies, sizeof frequencies);
    static const double numbers[WORDS][COLUMNS] = {
        {2, 1, 1}, {2, 1 + 0x1p-40, 0}, {7, -DBL_MAX, DBL_MAX}, {8, 5, -DBL_MAX}, {1, 1e300, 0.5}};
    const tem_expectation expected = expect_unknown(&s, 0);
    tem_told told[COLUMNS];
    check_told(&s, &expected, numbers[0], COLUMNS);
    assert_int_equal(tem_channel_told(s.channel, &expected, numbers[0], COLUMNS, NULL, told, NULL),
                     TEM_OK);
    assert_true(told[0].side == 1 && told[0].side_blind == 1 && told[0].variance == 0);
    assert_true(told[1].side_blind == 0.625 && told[1].variance > 0.01);
    small_channel_free(&s);
}

/* A number that is the mean is not above it, however the sums are rounded. */
static void test_the_mean_itself(void **state) {
    (void)state;
    enum { MOST = 60 };
    for (uint32_t words = 4; words <= MOST; words++) {
        small_channel s = small_channel_make(words, (tem_mechanism_options){.epsilon = 6});
        tem_prior *even = NULL;
        double numbers[2 * MOST];
        tem_told told[2];
        for (uint32_t w = 0; w < words; w++) {
            numbers[2 * w] = w == 0 ? -2 : w < 3 ? 1 : 0;
            numbers[2 * w + 1] = 0.1 * numbers[2 * w] + 0.7;
        }
        assert_int_equal(tem_prior_create_zipf(s.model, 0, &even, NULL), TEM_OK);
        const tem_expectation expected = {.prior = even};
        assert_int_equal(tem_channel_told(s.channel, &expected, numbers, 2, NULL, told, NULL),
                         TEM_OK);
        for (int i = 0; i < 2; i++)
            check_near(told[i].side_blind, fmax(2, words - 2) / words, 1e-12, "two are above");
        tem_prior_free(even);
        small_channel_free(&s);
    }
}

static void test_told_threads(void **state) {
    (void)state;
    enum { WORDS = 700 };
    float values[2 * WORDS];
    for (int i = 0; i < 2 * WORDS; i++)
        values[i] = (float)(4 * random_share());
    tem_model *model = small_model(NULL, values, WORDS, 2, TEM_EUCLIDEAN, 16);
    tem_mechanism *mechanism = mechanism_of(model, (tem_mechanism_options){.epsilon = 5});
    tem_channel *channel = NULL;
    tem_prior *prior = NULL;
    double *numbers = numbers_of_all_kinds(WORDS);
    tem_told first[KINDS], other[KINDS];
    assert_int_equal(tem_channel_create(mechanism, NULL, &channel, NULL), TEM_OK);
    assert_int_equal(tem_prior_create_zipf(model, 1, &prior, NULL), TEM_OK);
    const tem_expectation expected = {.prior = prior};
    for (unsigned threads = 1; threads <= 5; threads++) {
        const tem_run run = {.threads = threads};
        tem_told *told = threads == 1 ? first : other;
        assert_int_equal(tem_channel_told(channel, &expected, numbers, KINDS, &run, told, NULL),
                         TEM_OK);
        assert_memory_equal(first, told, sizeof first);
    }
    memset(other, 0x55, sizeof other);
    int stops = 0;
    for (tem_status status = TEM_ERR_CANCELLED; status != TEM_OK; stops++) {
        int left = stops;
        const tem_run run = {.threads = 2, .progress = stop_later, .progress_context = &left};
        tem_told told[KINDS];
        memset(told, 0x55, sizeof told);
        status = tem_channel_told(channel, &expected, numbers, KINDS, &run, told, NULL);
        assert_true(status == TEM_OK || status == TEM_ERR_CANCELLED);
        assert_memory_equal(told, status == TEM_OK ? first : other, sizeof told);
    }
    assert_true(stops > 1);
    free(numbers);
    tem_prior_free(prior);
    tem_channel_free(channel);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

static void test_told_refusals(void **state) {
    (void)state;
    enum { WORDS = 3 };
    small_channel s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 2});
    small_channel foreign = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 2});
    const tem_expectation good = expect_unknown(&s, 0);
    const tem_expectation wrong[] = {expect_unknown(&foreign, 0), expect_unknown(&s, 1),
                                     expect_unknown(&s, NAN)};
    double numbers[WORDS] = {1, 2, 3};
    tem_told told = {.side = 7};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tem_channel_told(s.channel, &wrong[i], numbers, 1, NULL, &told, NULL),
                         TEM_ERR_ARGUMENT);
    numbers[2] = NAN;
    assert_int_equal(tem_channel_told(s.channel, &good, numbers, 1, NULL, &told, NULL),
                     TEM_ERR_ARGUMENT);
    numbers[2] = -INFINITY;
    assert_int_equal(tem_channel_told(s.channel, &good, numbers, 1, NULL, &told, NULL),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_channel_told(s.channel, &good, numbers, UINT32_MAX, NULL, &told, NULL),
                     TEM_ERR_ARGUMENT);
    assert_true(told.side == 7);
    small_channel_free(&foreign);
    small_channel_free(&s);
}

/* --------------------------------------------- the loss, by brute force -- */

/* A model whose last columns are signals. */
static tem_model *adapted_model(const float *values, uint32_t count, uint32_t dimension,
                                uint32_t signals) {
    tem_model *model = small_model(NULL, values, count, dimension, TEM_EUCLIDEAN, 16);
    model->signals.count = signals;
    return model;
}

/* Points at random in a cube of side 3, with signals that are sums of their numbers, times
 * `stretch`. Each word from `same` on is at the point of the word `same` before it. */
static tem_model *random_adapted(uint32_t count, uint32_t columns, uint32_t signals, double stretch,
                                 uint32_t same) {
    const uint32_t dimension = columns + signals;
    float *values = make_zeros((size_t)count * dimension, sizeof *values);
    for (uint32_t w = 0; w < count; w++) {
        float *row = values + (size_t)w * dimension;
        for (uint32_t i = 0; i < columns; i++)
            row[i] = (float)(3 * random_share());
        for (uint32_t i = 0; i < signals; i++)
            row[columns + i] =
                (float)(stretch * tanh(row[i % columns] - 0.5 * row[(i + 1) % columns]));
        if (w >= same)
            memcpy(row, row - (size_t)same * dimension, dimension * sizeof *row);
    }
    tem_model *model = adapted_model(values, count, dimension, signals);
    free(values);
    return model;
}

static uint64_t square_of(const tem_model *m, uint32_t a, uint32_t b, uint32_t columns) {
    uint64_t square = 0;
    for (uint32_t i = 0; i < columns; i++) {
        const int64_t d = space_row(&m->space, a)[i] - space_row(&m->space, b)[i];
        square += (uint64_t)(d * d);
    }
    return square;
}

/* The distance by the first columns, in steps of 2^-16, rounded up. */
static tem_dist distance_by(const tem_model *m, uint32_t a, uint32_t b, uint32_t columns) {
    return space_distance_of_square(m->space.step_log2, square_of(m, a, b, columns));
}

typedef struct brute_loss {
    long double *z;           /* ln Z of each word */
    long double bound, truth; /* the formula, and the largest loss over all outputs */
} brute_loss;

/* ln Z of each word. */
static long double *logs_of_totals(const tem_mechanism *mechanism) {
    const law_form *law = mechanism_form(mechanism);
    const space *s = &mechanism->model->space;
    long double *logs = make_zeros(s->count, sizeof *logs);
    for (uint32_t w = 0; w < s->count; w++) {
        for (uint32_t y = 0; y < s->count; y++) {
            const uint64_t x = exponent_at(&law->exponent, space_distance(s, w, y));
            logs[w] += weights_at(law->weights, y) * expl(-(long double)x * 0x1p-36L);
        }
        logs[w] = logl(logs[w]);
    }
    return logs;
}

/* The distance by the columns before the signals, cut at gamma. */
static long double unit_of(const tem_mechanism *mechanism, uint32_t a, uint32_t b) {
    const tem_model *m = mechanism->model;
    const tem_dist gamma = mechanism_form(mechanism)->exponent.gamma;
    const tem_dist before = distance_by(m, a, b, m->space.dimension - m->signals.count);
    return (before < gamma ? before : gamma) / 65536.0L;
}

static long double bound_of(const tem_mechanism *mechanism, const long double *z, uint32_t a,
                            uint32_t b) {
    const tem_model *m = mechanism->model;
    const exponent *e = &mechanism_form(mechanism)->exponent;
    const uint64_t x = exponent_at(e, distance_by(m, a, b, m->space.dimension));
    return (x * 0x1p-36L + fabsl(z[a] - z[b])) / unit_of(mechanism, a, b);
}

static long double largest_loss(const long double *logs, uint32_t count, uint32_t a, uint32_t b) {
    long double largest = 0;
    for (uint32_t y = 0; y < count; y++) {
        const long double one = logs[(size_t)a * count + y], other = logs[(size_t)b * count + y];
        if (isfinite(one) || isfinite(other))
            largest = fmaxl(largest, fabsl(one - other));
    }
    return largest;
}

/* MPFR takes its time: the laws of more than 100 words are left out, and `truth` is 0. */
static brute_loss brute_losses(const tem_mechanism *mechanism) {
    const uint32_t count = mechanism->count;
    const bool is_small = count <= 100;
    long double *logs =
        is_small ? promise_log_laws(mechanism_form(mechanism), &mechanism->model->space) : NULL;
    brute_loss found = {.z = logs_of_totals(mechanism)};
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            const long double unit = unit_of(mechanism, a, b);
            if (unit > 0) {
                found.bound = fmaxl(found.bound, bound_of(mechanism, found.z, a, b));
                if (is_small)
                    found.truth = fmaxl(found.truth, largest_loss(logs, count, a, b) / unit);
            }
        }
    free(logs);
    return found;
}

#define EXACT 1e-9

/* `tolerance`: how much the loss may be above the bound, in parts of it. Returns the result. */
static tem_unadapted check_unadapted(const tem_model *m, tem_mechanism_options options,
                                     double tolerance) {
    tem_mechanism *mechanism = mechanism_of(m, options);
    tem_accountant *accountant = accountant_of(m, options.weights);
    const brute_loss truth = brute_losses(mechanism);
    tem_unadapted found;
    memset(&found, 0x55, sizeof found);
    assert_int_equal(tem_accountant_unadapted(accountant, mechanism, NULL, &found, NULL), TEM_OK);
    if (!(found.loss >= (double)truth.truth) || !(found.loss >= truth.bound * (1 - 1e-17L)))
        fail_msg("%.17g is no bound of %.17Lg, %.17Lg", found.loss, truth.truth, truth.bound);
    check_near(found.loss, (double)truth.bound, tolerance * (double)truth.bound, "loss");
    const uint32_t a = found.worst_a, b = found.worst_b;
    assert_true(a < b && b < m->words.count);
    check_near((double)bound_of(mechanism, truth.z, a, b), (double)truth.bound,
               tolerance * (double)truth.bound, "loss of the worst pair");
    assert_true(found.distance * 65536 ==
                distance_by(m, a, b, m->space.dimension - m->signals.count));
    assert_true(found.distance_adapted * 65536 == distance_by(m, a, b, m->space.dimension));
    for (int k = 0; k < 4; k++)
        assert_true(found.reserved[k] == 0);
    free(truth.z);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    return found;
}

/* Both mechanisms, weights, a gamma that cuts most distances, and s from small to large. */
static void check_mechanisms(tem_model *m) {
    uint32_t *unequal = random_weights(m->words.count);
    check_unadapted(m, (tem_mechanism_options){.epsilon = 0.25}, EXACT);
    check_unadapted(m, (tem_mechanism_options){.epsilon = 3}, EXACT);
    check_unadapted(m, (tem_mechanism_options){.epsilon = 3, .weights = unequal}, EXACT);
    check_unadapted(m, (tem_mechanism_options){.epsilon = 6, .gamma = 0.75}, EXACT);
    check_unadapted(m, (tem_mechanism_options){.epsilon = 6, .gamma = 0.01}, EXACT);
    check_unadapted(m, (tem_mechanism_options){.epsilon = 12, .mechanism = "em"}, EXACT);
    free(unequal);
    tem_model_free(m);
}

static void test_losses(void **state) {
    (void)state;
    check_mechanisms(random_adapted(2, 1, 1, 1, UINT32_MAX));
    check_mechanisms(random_adapted(30, 1, 1, 2, UINT32_MAX));
    check_mechanisms(random_adapted(97, 3, 1, 1.5, UINT32_MAX));
    check_mechanisms(random_adapted(210, 17, 1, 1, UINT32_MAX));
    check_mechanisms(random_adapted(110, 2, 40, 0.5, UINT32_MAX));
    check_mechanisms(random_adapted(60, 4, 3, 0, UINT32_MAX));
}

static void test_losses_of_excluded_words(void **state) {
    (void)state;
    tem_model *m = random_adapted(100, 3, 1, 1.5, UINT32_MAX);
    exclude_some(m);
    check_mechanisms(m);
}

/* Words at the same point: pairs of them do not count, and of pairs that lose the same the
 * first is named. 100 words per point are more ties than tem keeps. If their weights differ, so do
 * the bounds of the profile, and tem does not get to the end of them: the result is a bound still,
 * but not the least. */
static void test_losses_of_duplicates(void **state) {
    (void)state;
    check_mechanisms(random_adapted(90, 3, 1, 1.5, 45));
    for (uint32_t points = 2; points <= 4; points++) {
        tem_model *m = random_adapted(200, 2, 1, 1, points);
        uint32_t *unequal = random_weights(200);
        for (double epsilon = 0.5; epsilon < 10; epsilon *= 4)
            assert_true(
                check_unadapted(m, (tem_mechanism_options){.epsilon = epsilon}, EXACT).worst_b <
                points);
        check_unadapted(m, (tem_mechanism_options){.epsilon = 3, .weights = unequal}, 1e-3);
        free(unequal);
        tem_model_free(m);
    }
}

/* A word far from all others makes the points of the profile so sparse that its bounds say next to
 * nothing. The signal stretches all other pairs nearly alike. So tem must drop pairs that may lose
 * most, and look again. */
static void test_losses_with_loose_bounds(void **state) {
    (void)state;
    enum { WORDS = 250, DIMENSION = 3 };
    for (int repeat = 0; repeat < 3; repeat++) {
        float values[WORDS * DIMENSION];
        for (int w = 0; w < WORDS; w++) {
            /* Whole steps of the grid, which the far word makes coarse: no pair is merged. */
            const double u = random_share(), x = round(128 * u * u * u) / 16,
                         y = round(32 * random_share()) / 16;
            values[w * DIMENSION] = (float)x;
            values[w * DIMENSION + 1] = (float)y;
            values[w * DIMENSION + 2] = (float)(x + 2 * y);
        }
        values[WORDS / 2 * DIMENSION + 1] = 1000;
        tem_model *m = adapted_model(values, WORDS, DIMENSION, 1);
        check_unadapted(m, (tem_mechanism_options){.epsilon = 2}, EXACT);
        check_unadapted(m, (tem_mechanism_options){.epsilon = 8}, EXACT);
        tem_model_free(m);
    }
}

/* The worst pair is among those that tem drops at first. The words 0 and 2 are the only outputs.
 * ln Z differs little between the words from 3 on, which the signal stretches by 2.2; but word 2,
 * far away, makes the bounds loose, so each pair of them may lose twice that. ln Z differs by
 * nearly s d between the words 0 and 1, which the signal stretches by 1.8. */
static void test_loss_of_a_dropped_pair(void **state) {
    (void)state;
    enum { WORDS = 96 };
    float values[WORDS][3] = {{0.5f, 5, 2}, {1.5f, 5, 3.5f}, {0, 1000, 0}};
    uint32_t outputs[WORDS] = {1, 0, 1};
    for (int w = 3; w < WORDS; w++) {
        values[w][0] = (float)(w % 16) / 16;
        values[w][2] = 2 * values[w][0];
    }
    tem_model *m = adapted_model(values[0], WORDS, 3, 1);
    const tem_unadapted found = check_unadapted(
        m, (tem_mechanism_options){.epsilon = 2, .gamma = 20, .weights = outputs}, EXACT);
    assert_true(found.worst_a == 0 && found.worst_b == 1);
    tem_model_free(m);
}

/* One of two words is no output. So ln Z differs by exactly s d, the loss is 2 s d / d0, and
 * nothing but the rounding of the last steps is between the result and the truth. */
static void test_losses_are_rounded_up(void **state) {
    (void)state;
    const uint32_t one_output[] = {1, 0};
    for (int repeat = 0; repeat < 100; repeat++) {
        tem_model *m = random_adapted(2, 1, 1, 1 + random_share(), UINT32_MAX);
        check_unadapted(
            m, (tem_mechanism_options){.epsilon = 3, .gamma = 10, .weights = one_output}, 1e-14);
        tem_model_free(m);
    }
}

/* Words so far apart on the grid that squares do not fit 32 bits. */
static void test_losses_without_products(void **state) {
    (void)state;
    enum { WORDS = 100, DIMENSION = 9 };
    float values[WORDS * DIMENSION];
    for (int i = 0; i < WORDS * DIMENSION; i++)
        values[i] = random64() % 8 == 0 ? (float)random_share() : random64() % 2 == 0 ? -1 : 1;
    for (int w = 0; w < WORDS; w++) { /* words at one point have the same signals */
        float *x = values + w * DIMENSION;
        x[7] = (x[0] + x[1]) / 2;
        x[8] = (x[2] - x[3]) / 2;
    }
    tem_model *m = adapted_model(values, WORDS, DIMENSION, 2);
    squares q;
    assert_int_equal(squares_init(&q, &m->space, space_reach(&m->space), NULL), TEM_OK);
    assert_false(squares_have_products(&q));
    squares_free(&q);
    check_unadapted(m, (tem_mechanism_options){.epsilon = 3}, EXACT);
    tem_model_free(m);
}

/* Words at one point but for the signal have no bound: a coarse grid may have merged them. */
static void test_losses_at_one_point(void **state) {
    (void)state;
    const float values[] = {2, 0, 2, 1, 2, 1, 2, 5};
    tem_model *m = adapted_model(values, 4, 2, 1);
    tem_mechanism *mechanism = mechanism_of(m, (tem_mechanism_options){.epsilon = 3});
    tem_accountant *accountant = accountant_of(m, NULL);
    tem_unadapted found;
    memset(&found, 0x55, sizeof found);
    assert_int_equal(tem_accountant_unadapted(accountant, mechanism, NULL, &found, NULL), TEM_OK);
    assert_true(isinf(found.loss) && found.distance == 0 && found.distance_adapted == 1);
    assert_true(found.worst_a == 0 && found.worst_b == 1);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    tem_model_free(m);
    const float same[] = {2, 1, 2, 1, 2, 1, 2, 1};
    m = adapted_model(same, 4, 2, 1);
    mechanism = mechanism_of(m, (tem_mechanism_options){.epsilon = 3});
    accountant = accountant_of(m, NULL);
    assert_int_equal(tem_accountant_unadapted(accountant, mechanism, NULL, &found, NULL), TEM_OK);
    assert_true(found.loss == 0 && found.distance == 0 && found.distance_adapted == 0);
    assert_true(found.worst_a == TEM_NO_WORD && found.worst_b == TEM_NO_WORD);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    tem_model_free(m);
}

static void test_loss_threads(void **state) {
    (void)state;
    tem_model *m = random_adapted(1500, 6, 1, 1, 700);
    tem_mechanism *mechanism = mechanism_of(m, (tem_mechanism_options){.epsilon = 5});
    tem_accountant *accountant = accountant_of(m, NULL);
    tem_unadapted first, untouched;
    memset(&untouched, 0x55, sizeof untouched);
    for (unsigned threads = 1; threads <= 5; threads++) {
        const tem_run run = {.threads = threads};
        tem_unadapted found;
        assert_int_equal(tem_accountant_unadapted(accountant, mechanism, &run, &found, NULL),
                         TEM_OK);
        if (threads == 1)
            first = found;
        assert_memory_equal(&first, &found, sizeof found);
    }
    int stops = 0;
    for (tem_status status = TEM_ERR_CANCELLED; status != TEM_OK; stops++) {
        int left = stops;
        const tem_run run = {.threads = 2, .progress = stop_later, .progress_context = &left};
        tem_unadapted found = untouched;
        status = tem_accountant_unadapted(accountant, mechanism, &run, &found, NULL);
        assert_true(status == TEM_OK || status == TEM_ERR_CANCELLED);
        assert_memory_equal(&found, status == TEM_OK ? &first : &untouched, sizeof found);
    }
    assert_true(stops > 3);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    tem_model_free(m);
}

static tem_status unadapted_status(const tem_model *m, const tem_mechanism *mechanism) {
    tem_accountant *accountant = accountant_of(m, NULL);
    tem_unadapted found = {.loss = 7};
    const tem_status status = tem_accountant_unadapted(accountant, mechanism, NULL, &found, NULL);
    assert_true(found.loss == 7);
    tem_accountant_free(accountant);
    return status;
}

static void test_loss_refusals(void **state) {
    (void)state;
    tem_model *m = random_adapted(5, 2, 1, 1, UINT32_MAX);
    tem_model *other = random_adapted(5, 2, 1, 1, UINT32_MAX);
    const uint32_t values[] = {1, 2, 3, 4, 5};
    const tem_mechanism_options options = {.epsilon = 2},
                                weighed = {.epsilon = 2, .weights = values},
                                madlib = {.epsilon = 2, .mechanism = "madlib"};
    tem_mechanism *good = mechanism_of(m, options), *foreign = mechanism_of(other, options),
                  *unequal = mechanism_of(m, weighed), *noise = mechanism_of(m, madlib);
    assert_int_equal(unadapted_status(m, foreign), TEM_ERR_ARGUMENT);
    assert_int_equal(unadapted_status(m, unequal), TEM_ERR_ARGUMENT);
    assert_int_equal(unadapted_status(m, noise), TEM_ERR_UNSUPPORTED);
    const uint32_t signals[] = {0, 3, UINT32_MAX};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        m->signals.count = signals[i];
        assert_int_equal(unadapted_status(m, good), TEM_ERR_ARGUMENT);
    }
    tem_mechanism_free(noise);
    tem_mechanism_free(unequal);
    tem_mechanism_free(foreign);
    tem_mechanism_free(good);
    tem_model_free(other);
    tem_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_excluded_words),
        cmocka_unit_test(test_priors),
        cmocka_unit_test(test_words_that_nobody_expects),
        cmocka_unit_test(test_the_mean_itself),
        cmocka_unit_test(test_told_threads),
        cmocka_unit_test(test_told_refusals),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_losses_of_excluded_words),
        cmocka_unit_test(test_losses_of_duplicates),
        cmocka_unit_test(test_losses_with_loose_bounds),
        cmocka_unit_test(test_loss_of_a_dropped_pair),
        cmocka_unit_test(test_losses_are_rounded_up),
        cmocka_unit_test(test_losses_without_products),
        cmocka_unit_test(test_losses_at_one_point),
        cmocka_unit_test(test_loss_threads),
        cmocka_unit_test(test_loss_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
