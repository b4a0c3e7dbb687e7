/* test_channel.c - learning from released text: products with the laws of all words, posterior
 * vectors, and vectors from text.
 *
 * The oracle for products is the law by MPFR (mech/law.h), to 20 digits. The oracle for vectors
 * from text is a dense matrix whose eigenvectors Jacobi's rotations find. */
#include "audit/decay.h"
#include "core/cpu.h"
#include "learn/weigh_loops.h"
#include "mech/law.h"
#include "mech/model_mechanism.h"
#include "pseudo.h"
#include "slow.h"
#include "tem_learn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_account.h"
#include "small_model.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------- helpers -- */

/* A uniform number from 0 to 1. */
static double random_share(void) {
    return ldexp((double)(random64() >> 11), -53);
}

static double *numbers(size_t count) {
    double *block = calloc(count, sizeof *block);
    assert_non_null(block);
    return block;
}

static double *random_numbers(size_t count) {
    double *block = numbers(count);
    for (size_t i = 0; i < count; i++)
        block[i] = 2 * random_share() - 1;
    return block;
}

static tem_model *random_model(uint32_t count, tem_metric metric) {
    enum { DIMENSION = 3 };
    float *values = calloc(count, DIMENSION * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < (size_t)count * DIMENSION; i++)
        values[i] = (float)(4 * random_share() - 2);
    tem_model *model = small_model(NULL, values, count, DIMENSION, metric, 16);
    free(values);
    return model;
}

static uint32_t word_count(const tem_model *model) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    return info.words;
}

static tem_channel *channel_of(const tem_mechanism *mechanism) {
    tem_channel *channel = NULL;
    tem_error error;
    if (tem_channel_create(mechanism, NULL, &channel, &error) != TEM_OK)
        fail_msg("%s", error.message);
    return channel;
}

/* P(y | word) for all words y. word TEM_NO_WORD: an unknown word. */
static long double *law_of(const tem_mechanism *mechanism, uint32_t word) {
    tem_law *law = NULL;
    assert_int_equal(
        law_make(mechanism_form(mechanism), &mechanism->model->space, word, 20, &law, NULL),
        TEM_OK);
    long double *out = calloc(law->count, sizeof *out);
    assert_non_null(out);
    for (uint32_t y = 0; y < law->count; y++)
        out[y] = mpfr_get_ld(law->probabilities[y], MPFR_RNDN);
    law_free(law);
    return out;
}

static void check_near(double found, long double truth, long double scale, const char *what) {
    if (!(fabsl(found - truth) <= 1e-12L * scale))
        fail_msg("%s: %.17g instead of %.17Lg", what, found, truth);
}

/* The rows to look at: all, or the first, the last and others; the row of unknown words is one. */
static uint32_t choose_rows(uint32_t inputs, uint32_t *rows, uint32_t most) {
    const uint32_t count = inputs < most ? inputs : most;
    for (uint32_t i = 0; i < count; i++)
        rows[i] = count == inputs ? i : (uint32_t)((uint64_t)i * (inputs - 1) / (count - 1));
    return count;
}

/* ------------------------------------------------------------- products -- */

/* A column with one number that is not 0 gives a multiple of one law: each number of P is right. */
static void check_forward(const tem_mechanism *mechanism, const tem_channel *channel,
                          const uint32_t *rows, uint32_t count) {
    const uint32_t n = tem_channel_outputs(channel);
    double *in = numbers((size_t)(n + 1) * count), *out = random_numbers((size_t)n * count);
    for (uint32_t i = 0; i < count; i++)
        in[(size_t)rows[i] * count + i] = i + 0.75;
    assert_int_equal(tem_channel_forward(channel, in, count, NULL, out, NULL), TEM_OK);
    for (uint32_t i = 0; i < count; i++) {
        long double *law = law_of(mechanism, rows[i] == n ? TEM_NO_WORD : rows[i]);
        for (uint32_t y = 0; y < n; y++) {
            const long double truth = (i + 0.75L) * law[y];
            check_near(out[(size_t)y * count + i], truth, truth, "forward");
        }
        free(law);
    }
    free(out);
    free(in);
}

static void check_backward(const tem_mechanism *mechanism, const tem_channel *channel,
                           const uint32_t *rows, uint32_t count) {
    enum { COLUMNS = 3 };
    const uint32_t n = tem_channel_outputs(channel);
    double *in = random_numbers((size_t)n * COLUMNS),
           *out = random_numbers((size_t)(n + 1) * COLUMNS);
    assert_int_equal(tem_channel_backward(channel, in, COLUMNS, NULL, out, NULL), TEM_OK);
    for (uint32_t i = 0; i < count; i++) {
        long double *law = law_of(mechanism, rows[i] == n ? TEM_NO_WORD : rows[i]);
        for (uint32_t c = 0; c < COLUMNS; c++) {
            long double sum = 0, size = 0;
            for (uint32_t y = 0; y < n; y++) {
                sum += law[y] * in[(size_t)y * COLUMNS + c];
                size += law[y] * fabs(in[(size_t)y * COLUMNS + c]);
            }
            check_near(out[(size_t)rows[i] * COLUMNS + c], sum, size, "backward");
        }
        free(law);
    }
    free(out);
    free(in);
}

/* Forward and backward are transposes of each other: the sum of h (transpose(P) q) is that of
 * q (P h). It looks at all rows of large vocabularies, of which the other checks see some. */
static void check_duality(const tem_channel *channel) {
    const uint32_t n = tem_channel_outputs(channel);
    double *q = random_numbers(n + 1), *h = random_numbers(n);
    double *forward = numbers(n), *backward = numbers(n + 1);
    assert_int_equal(tem_channel_forward(channel, q, 1, NULL, forward, NULL), TEM_OK);
    assert_int_equal(tem_channel_backward(channel, h, 1, NULL, backward, NULL), TEM_OK);
    long double left = 0, right = 0, size = 0;
    for (uint32_t y = 0; y < n; y++)
        left += (long double)forward[y] * h[y];
    for (uint32_t w = 0; w <= n; w++) {
        right += (long double)backward[w] * q[w];
        size += fabs(q[w]);
    }
    check_near((double)left, right, size, "duality");
    free(backward);
    free(forward);
    free(h);
    free(q);
}

static void check_products(const tem_model *model, tem_mechanism_options options) {
    enum { ROWS_MOST = 24 };
    uint32_t rows[ROWS_MOST];
    tem_mechanism *mechanism = mechanism_of(model, options);
    tem_channel *channel = channel_of(mechanism);
    const uint32_t n = word_count(model);
    assert_int_equal(tem_channel_inputs(channel), n + 1);
    assert_int_equal(tem_channel_outputs(channel), n);
    const uint32_t count = choose_rows(n + 1, rows, ROWS_MOST);
    check_forward(mechanism, channel, rows, count);
    check_backward(mechanism, channel, rows, count);
    check_duality(channel);
    tem_channel_free(channel);
    tem_mechanism_free(mechanism);
}

/* Every metric; equal and unequal weights; both mechanisms; a gamma that cuts most distances. */
static void check_mechanisms(const tem_model *model) {
    const uint32_t n = word_count(model);
    uint32_t *unequal = calloc(n, sizeof *unequal);
    assert_non_null(unequal);
    for (uint32_t y = 0; y < n; y++)
        unequal[y] = y % 5 == 4 ? 0 : 1 + (uint32_t)random_below(1000000);
    check_products(model, (tem_mechanism_options){.epsilon = 3});
    check_products(model, (tem_mechanism_options){.epsilon = 3, .weights = unequal});
    check_products(model, (tem_mechanism_options){.epsilon = 5, .gamma = 0.75});
    check_products(model, (tem_mechanism_options){.epsilon = 2, .mechanism = "em"});
    check_products(model,
                   (tem_mechanism_options){.epsilon = 20, .mechanism = "em", .weights = unequal});
    free(unequal);
}

static void test_metrics(void **state) {
    (void)state;
    for (tem_metric metric = TEM_EUCLIDEAN; metric <= TEM_LINF; metric++) {
        tem_model *model = random_model(40, metric);
        check_mechanisms(model);
        tem_model_free(model);
    }
}

/* The sizes lie around the size of a block and that of a tile. */
static void test_sizes(void **state) {
    (void)state;
    static const uint32_t sizes[] = {2, 3, 95, 96, 97, 193, 1535, 1536, 1537};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes - (SLOW ? 2 : 0); i++) {
        tem_model *model = random_model(sizes[i], TEM_EUCLIDEAN);
        check_products(model, (tem_mechanism_options){.epsilon = 4});
        tem_model_free(model);
    }
}

/* Any numbers between 1 and 2 are a metric. */
static double given_distance(void *context, uint32_t a, uint32_t b) {
    (void)context;
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return 1 + (double)((low * 7919 + high * 104729) % 1000) / 1000;
}

static void test_matrix(void **state) {
    (void)state;
    enum { COUNT = 101 };
    char names[COUNT][8];
    const char *words[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        words[i] = names[i];
    }
    tem_model *model = NULL;
    assert_int_equal(
        tem_model_build_function(words, COUNT, given_distance, NULL, 16, NULL, &model, NULL),
        TEM_OK);
    check_mechanisms(model);
    tem_model_free(model);
}

static tem_model *model_with_excluded(void) {
    enum { COUNT = 30 };
    char names[COUNT][8];
    const char *words[COUNT];
    float values[COUNT];
    static const char *const excluded[] = {"w3", "w4", "w29"};
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        words[i] = names[i];
        values[i] = (float)(8 * random_share());
    }
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    const tem_build_options options = {.neighbours = 8,
                                       .allow_coarse = 1,
                                       .space = TEM_SPACE_RAW,
                                       .exclude = excluded,
                                       .exclude_count = 3};
    assert_int_equal(tem_vectors_create(words, values, COUNT, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

static void test_excluded(void **state) {
    (void)state;
    tem_model *model = model_with_excluded();
    check_mechanisms(model);
    tem_model_free(model);
}

/* ------------------------------------------------------------ posterior -- */

static tem_prior *zipf(const tem_model *model) {
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(model, 1, &prior, NULL), TEM_OK);
    return prior;
}

/* m(y) by the definition, with the laws as P, for the words that are outputs. */
static void check_posterior(const tem_model *model, const tem_mechanism *mechanism,
                            const tem_expectation *expected) {
    enum { COLUMNS = 4 };
    const uint32_t n = word_count(model);
    tem_channel *channel = channel_of(mechanism);
    double *x = random_numbers((size_t)n * COLUMNS), *m = numbers((size_t)n * COLUMNS);
    double *shares = numbers(n + 1);
    long double *sums = calloc(n, (COLUMNS + 1) * sizeof *sums), mean[COLUMNS] = {0}, known = 0;
    assert_non_null(sums);
    assert_int_equal(tem_channel_expect(channel, expected, shares, NULL), TEM_OK);
    assert_int_equal(tem_channel_posterior(channel, expected, x, COLUMNS, NULL, m, NULL), TEM_OK);
    for (uint32_t w = 0; w < n; w++) {
        known += shares[w];
        for (uint32_t c = 0; c < COLUMNS; c++)
            mean[c] += (long double)shares[w] * x[(size_t)w * COLUMNS + c];
    }
    check_near((double)(known + shares[n]), 1, 1, "the sum of the shares");
    for (uint32_t w = 0; w <= n; w++) {
        long double *law = law_of(mechanism, w == n ? TEM_NO_WORD : w);
        for (uint32_t y = 0; y < n; y++) {
            const long double weight = shares[w] * law[y];
            sums[(size_t)y * (COLUMNS + 1) + COLUMNS] += weight;
            for (uint32_t c = 0; c < COLUMNS; c++)
                sums[(size_t)y * (COLUMNS + 1) + c] +=
                    weight * (w == n ? mean[c] / known : x[(size_t)w * COLUMNS + c]);
        }
        free(law);
    }
    for (uint32_t y = 0; y < n; y++)
        for (uint32_t c = 0; c < COLUMNS && !tem_model_is_excluded(model, y); c++)
            check_near(m[(size_t)y * COLUMNS + c],
                       sums[(size_t)y * (COLUMNS + 1) + c] /
                           sums[(size_t)y * (COLUMNS + 1) + COLUMNS],
                       1, "posterior");
    free(sums);
    free(shares);
    free(m);
    free(x);
    tem_channel_free(channel);
}

static void test_posterior(void **state) {
    (void)state;
    static const double unknown[] = {0, 0.3, 0.99, -1};
    tem_model *models[] = {random_model(97, TEM_EUCLIDEAN), random_model(20, TEM_L1),
                           model_with_excluded()};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tem_mechanism *mechanism =
            mechanism_of(models[i], (tem_mechanism_options){.epsilon = 4, .gamma = 2});
        tem_prior *prior = zipf(models[i]);
        for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
            check_posterior(models[i], mechanism,
                            &(tem_expectation){.prior = prior, .unknown = unknown[k]});
        tem_prior_free(prior);
        tem_mechanism_free(mechanism);
        tem_model_free(models[i]);
    }
}

static tem_model *line_model(uint32_t count) {
    float *values = calloc(count, sizeof *values);
    assert_non_null(values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = (float)i;
    tem_model *model = small_model(NULL, values, count, 1, TEM_EUCLIDEAN, 8);
    free(values);
    return model;
}

/* At a very large epsilon nobody but the word itself is behind a word; at a very small one the
 * released word tells nothing. An excluded word counts as if it were an output. */
static void test_extremes(void **state) {
    (void)state;
    enum { COUNT = 50 };
    tem_model *model = line_model(COUNT);
    tem_prior *prior = zipf(model);
    double x[COUNT], m[COUNT], shares[COUNT + 1], mean = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = random_share();
    const tem_expectation expected = {.prior = prior};
    tem_mechanism *sure = mechanism_of(model, (tem_mechanism_options){.epsilon = 120, .gamma = 1});
    tem_mechanism *blind =
        mechanism_of(model, (tem_mechanism_options){.epsilon = 1e-5, .gamma = 1});
    tem_channel *first = channel_of(sure), *second = channel_of(blind);
    assert_int_equal(tem_channel_posterior(first, &expected, x, 1, NULL, m, NULL), TEM_OK);
    for (int i = 0; i < COUNT; i++)
        check_near(m[i], x[i], 1, "at a large epsilon");
    assert_int_equal(tem_channel_expect(second, &expected, shares, NULL), TEM_OK);
    for (int i = 0; i < COUNT; i++)
        mean += shares[i] * x[i];
    assert_int_equal(tem_channel_posterior(second, &expected, x, 1, NULL, m, NULL), TEM_OK);
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs(m[i] - mean) < 1e-5);
    tem_channel_free(second);
    tem_channel_free(first);
    tem_mechanism_free(blind);
    tem_mechanism_free(sure);
    tem_prior_free(prior);
    tem_model_free(model);
}

/* ---------------------------------------------------------------- files -- */

static char path[64];

static void write_text(const char *text) {
    snprintf(path, sizeof path, "/tmp/tem-test-channel-%ld", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A prior of a file counts each word half an occurrence more, and knows the unknown words. */
static void test_counted_prior(void **state) {
    (void)state;
    tem_model *model = line_model(4);
    tem_mechanism *mechanism = mechanism_of(model, (tem_mechanism_options){.epsilon = 2});
    tem_channel *channel = channel_of(mechanism);
    tem_prior *prior = NULL;
    double shares[5];
    write_text("w0 w0 w0 w1\nnobody w0 w0\n");
    assert_int_equal(tem_prior_load(model, path, NULL, &prior, NULL), TEM_OK);
    assert_int_equal(tem_channel_expect(channel, &(tem_expectation){.prior = prior, .unknown = -1},
                                        shares, NULL),
                     TEM_OK);
    static const double counts[] = {5.5, 1.5, 0.5, 0.5};
    for (int i = 0; i < 4; i++)
        check_near(shares[i], counts[i] / 8.0L * 6 / 7, 1, "a share");
    check_near(shares[4], 1 / 7.0L, 1, "the share of unknown words");
    assert_int_equal(
        tem_channel_expect(channel, &(tem_expectation){.prior = prior, .unknown = 0}, shares, NULL),
        TEM_OK);
    check_near(shares[0], 5.5L / 8, 1, "a share");
    assert_true(shares[4] == 0);
    check_posterior(model, mechanism, &(tem_expectation){.prior = prior, .unknown = -1});
    unlink(path);
    tem_prior_free(prior);
    tem_channel_free(channel);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

static void test_align(void **state) {
    (void)state;
    static const char *const words[] = {"w2", "other", "w0"};
    static const float values[] = {1, 2, 50, 60, 3, 5};
    tem_model *model = line_model(4);
    tem_vectors *vectors = NULL;
    double out[8] = {0};
    uint32_t missing = 77;
    assert_int_equal(tem_vectors_create(words, values, 3, 2, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_align_vectors(model, vectors, out, &missing, NULL), TEM_OK);
    static const double expected[] = {3, 5, 2, 3.5, 1, 2, 2, 3.5};
    assert_int_equal(missing, 2);
    assert_memory_equal(out, expected, sizeof out);
    tem_vectors_free(vectors);
    static const char *const others[] = {"x", "y"};
    vectors = NULL;
    assert_int_equal(tem_vectors_create(others, values, 2, 2, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_align_vectors(model, vectors, out, &missing, NULL), TEM_ERR_FORMAT);
    assert_memory_equal(out, expected, sizeof out);
    assert_int_equal(missing, 2);
    tem_vectors_free(vectors);
    tem_model_free(model);
}

/* --------------------------------------------------- vectors from text -- */

/* Turns the symmetric matrix a (n by n) by Jacobi's rotations until it is diagonal. The columns of
 * v receive the eigenvectors. */
static void jacobi(double *a, double *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            v[i * n + k] = i == k;
    for (int sweep = 0; sweep < 30; sweep++)
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = p + 1; q < n; q++) {
                if (fabs(a[p * n + q]) < 1e-300)
                    continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (uint32_t k = 0; k < n; k++) {
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (uint32_t k = 0; k < n; k++) {
                    const double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                    const double left = v[k * n + p], right = v[k * n + q];
                    v[k * n + p] = c * left - s * right;
                    v[k * n + q] = s * left + c * right;
                }
            }
}

/* More documents than the sums over them have parts, of 128 rows each. The last words never
 * occur. */
enum { DOCUMENTS = 2200, WORDS = 60, KNOWN = 58, TEXT_BYTES = 1 << 19 };

/* Fills a text whose words come in groups, with unknown words, empty lines and punctuation in
 * between, and the counts of its words. */
static void fill_text(char *text, size_t bytes, double (*counts)[WORDS]) {
    size_t at = 0;
    for (int d = 0; d < DOCUMENTS; d++) {
        const size_t length = 1 + random_below(30), group = random_below(6);
        for (size_t i = 0; i < length; i++) {
            const size_t word =
                random_below(3) == 0 ? random_below(KNOWN) : (group * 9 + random_below(10)) % KNOWN;
            counts[d][word]++;
            at += (size_t)snprintf(text + at, bytes - at, i % 7 == 3 ? "W%zu, unknown " : "w%zu ",
                                   word);
        }
        at += (size_t)snprintf(text + at, bytes - at, d % 10 == 4 ? "\n\nunknown\n" : "\n");
        assert_true(at < bytes);
    }
}

/* The logarithm in the score of a word. */
static double rarity_of(double (*counts)[WORDS], int word) {
    double with = 0;
    for (int d = 0; d < DOCUMENTS; d++)
        with += counts[d][word] > 0;
    return fmax(log(DOCUMENTS / (with + 1)), 0.1);
}

/* products = transpose(X) X, with X the scores. */
static void fill_products(double (*counts)[WORDS], double *products) {
    static double x[DOCUMENTS][WORDS];
    double rarities[WORDS];
    for (int w = 0; w < WORDS; w++)
        rarities[w] = rarity_of(counts, w);
    for (int d = 0; d < DOCUMENTS; d++) {
        double length = 0;
        for (int w = 0; w < WORDS; w++)
            length += counts[d][w];
        for (int w = 0; w < WORDS; w++)
            x[d][w] = sqrt(counts[d][w] / length) * rarities[w];
    }
    for (int a = 0; a < WORDS; a++)
        for (int b = 0; b < WORDS; b++) {
            products[a * WORDS + b] = 0;
            for (int d = 0; d < DOCUMENTS; d++)
                products[a * WORDS + b] += x[d][a] * x[d][b];
        }
}

/* The order of the eigenvalues, the largest first. */
static void sort_values(const double *a, int *order) {
    for (int i = 0; i < WORDS; i++)
        order[i] = i;
    for (int i = 0; i < WORDS; i++)
        for (int k = i + 1; k < WORDS; k++)
            if (a[order[k] * WORDS + order[k]] > a[order[i] * WORDS + order[i]]) {
                const int kept = order[i];
                order[i] = order[k];
                order[k] = kept;
            }
}

/* Compares `columns` columns with eigenvectors. An iteration that stops at a distance of 10^-4
 * leaves an error of that, times the value, divided by its distance to the next value. */
static void check_columns(const double *out, int columns, double (*counts)[WORDS]) {
    static double a[WORDS * WORDS], v[WORDS * WORDS];
    int order[WORDS];
    fill_products(counts, a);
    jacobi(a, v, WORDS);
    sort_values(a, order);
    for (int i = 0; i < columns; i++) {
        const double value = a[order[i] * WORDS + order[i]];
        double gap = value - a[order[i + 1] * WORDS + order[i + 1]], sign = 1, largest = 0;
        if (i > 0)
            gap = fmin(gap, a[order[i - 1] * WORDS + order[i - 1]] - value);
        for (int w = 0; w < WORDS; w++) {
            const double x = v[w * WORDS + order[i]] * rarity_of(counts, w);
            if (fabs(x) > largest) {
                largest = fabs(x);
                sign = x < 0 ? -1 : 1;
            }
        }
        for (int w = 0; w < WORDS; w++) {
            const double truth = sign * v[w * WORDS + order[i]] * rarity_of(counts, w);
            const double error = fabs(out[w * columns + i] - truth);
            if (!(error <= 4e-4 * value / gap))
                fail_msg("column %d, word %d: off by %g, gap %g", i, w, error, gap / value);
            if (w >= KNOWN)
                assert_true(out[w * columns + i] == 0);
        }
    }
}

static void test_text_vectors(void **state) {
    (void)state;
    static char text[TEXT_BYTES];
    static double counts[DOCUMENTS][WORDS];
    tem_model *model = line_model(WORDS);
    double out[WORDS * 50];
    fill_text(text, sizeof text, counts);
    write_text(text);
    static const uint32_t columns[] = {1, 4, 12, 50};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        assert_int_equal(tem_text_vectors(model, path, columns[i], NULL, out, NULL), TEM_OK);
        check_columns(out, (int)columns[i], counts);
    }
    unlink(path);
    tem_model_free(model);
}

/* Two documents: one column is all there is, and the second is 0. */
static void test_text_rank(void **state) {
    (void)state;
    tem_model *model = line_model(5);
    double out[10];
    write_text("w0 w0 w1\nw0 w1 w0\r\n");
    assert_int_equal(tem_text_vectors(model, path, 2, NULL, out, NULL), TEM_OK);
    check_near(out[0], 0.1L * sqrtl(2 / 3.0L), 1, "the first word");
    check_near(out[2], 0.1L * sqrtl(1 / 3.0L), 1, "the second word");
    for (int w = 0; w < 5; w++)
        assert_true(out[2 * w + 1] == 0 && (w < 2 || out[2 * w] == 0));
    unlink(path);
    tem_model_free(model);
}

static void test_text_refused(void **state) {
    (void)state;
    tem_model *model = line_model(5);
    double out[5] = {7, 7, 7, 7, 7};
    tem_error error;
    static const struct {
        const char *text;
        uint32_t columns;
        tem_status status;
        uint64_t line;
    } cases[] = {{"", 1, TEM_ERR_FORMAT, 0},          {"nobody\n", 1, TEM_ERR_FORMAT, 0},
                 {"w0 w1\n\n", 2, TEM_ERR_FORMAT, 0}, {"w0\nw1\nw\xff\n", 1, TEM_ERR_FORMAT, 3},
                 {"w0\n", 0, TEM_ERR_ARGUMENT, 0},    {"w0\n", 6, TEM_ERR_ARGUMENT, 0},
                 {"w0\n", 1025, TEM_ERR_ARGUMENT, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(cases[i].text);
        assert_int_equal(tem_text_vectors(model, path, cases[i].columns, NULL, out, &error),
                         cases[i].status);
        assert_true(error.line == cases[i].line);
    }
    unlink(path);
    assert_int_equal(tem_text_vectors(model, path, 1, NULL, out, NULL), TEM_ERR_FILE);
    for (int i = 0; i < 5; i++)
        assert_true(out[i] == 7);
    tem_model_free(model);
}

/* ------------------------------------------------- threads, and stopping -- */

static void test_threads(void **state) {
    (void)state;
    enum { COUNT = 700, COLUMNS = 5, TEXT_COLUMNS = 20 };
    static const unsigned threads[] = {1, 2, 8};
    static char text[TEXT_BYTES];
    static double counts[DOCUMENTS][WORDS];
    static double first[3][(COUNT + 1) * TEXT_COLUMNS], found[3][(COUNT + 1) * TEXT_COLUMNS];
    tem_model *model = random_model(COUNT, TEM_EUCLIDEAN);
    tem_mechanism *mechanism = mechanism_of(model, (tem_mechanism_options){.epsilon = 4});
    double *in = random_numbers((COUNT + 1) * COLUMNS);
    fill_text(text, sizeof text, counts);
    write_text(text);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        const tem_run run = {.threads = threads[i]};
        tem_channel *channel = NULL;
        assert_int_equal(tem_channel_create(mechanism, &run, &channel, NULL), TEM_OK);
        assert_int_equal(tem_channel_forward(channel, in, COLUMNS, &run, found[0], NULL), TEM_OK);
        assert_int_equal(tem_channel_backward(channel, in, COLUMNS, &run, found[1], NULL), TEM_OK);
        assert_int_equal(tem_text_vectors(model, path, TEXT_COLUMNS, &run, found[2], NULL), TEM_OK);
        if (i == 0)
            memcpy(first, found, sizeof first);
        assert_memory_equal(first, found, sizeof first);
        tem_channel_free(channel);
    }
    unlink(path);
    free(in);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

typedef struct patience {
    int left; /* calls of the callback before it asks to stop */
} patience;

static int lose_patience(void *context, const char *stage, uint64_t done, uint64_t total) {
    patience *p = context;
    assert_true(stage != NULL && done <= total);
    return p->left-- <= 0;
}

/* The calls that can be stopped, by number. */
typedef struct stoppable {
    tem_model *model;
    tem_mechanism *mechanism;
    tem_prior *prior;
    tem_channel *channel;
    double *in;
} stoppable;

enum { STOP_WORDS = 700, STOP_COLUMNS = 2, STOP_CALLS = 5 };

static tem_status call(const stoppable *s, int number, const tem_run *run, double *out) {
    const tem_expectation expected = {.prior = s->prior};
    tem_channel *other = NULL;
    tem_status status = TEM_OK;
    switch (number) {
    case 0:
        status = tem_channel_create(s->mechanism, run, &other, NULL);
        assert_true((other != NULL) == (status == TEM_OK));
        tem_channel_free(other);
        return status;
    case 1:
        return tem_channel_forward(s->channel, s->in, STOP_COLUMNS, run, out, NULL);
    case 2:
        return tem_channel_backward(s->channel, s->in, STOP_COLUMNS, run, out, NULL);
    case 3:
        return tem_channel_posterior(s->channel, &expected, s->in, STOP_COLUMNS, run, out, NULL);
    default:
        return tem_text_vectors(s->model, path, STOP_COLUMNS, run, out, NULL);
    }
}

/* A call that is stopped, after however many questions, leaves its result as it was. */
static void test_stopping(void **state) {
    (void)state;
    enum { NUMBERS = (STOP_WORDS + 1) * STOP_COLUMNS };
    static char text[TEXT_BYTES];
    static double counts[DOCUMENTS][WORDS];
    stoppable s = {.model = random_model(STOP_WORDS, TEM_EUCLIDEAN), .in = random_numbers(NUMBERS)};
    s.mechanism = mechanism_of(s.model, (tem_mechanism_options){.epsilon = 4});
    s.channel = channel_of(s.mechanism);
    s.prior = zipf(s.model);
    fill_text(text, sizeof text, counts);
    write_text(text);
    for (int number = 0; number < STOP_CALLS; number++) {
        double *out = numbers(NUMBERS);
        int calls = 0;
        for (tem_status status = TEM_ERR_CANCELLED; status != TEM_OK; calls++) {
            patience p = {calls};
            const tem_run run = {.threads = 2, .progress = lose_patience, .progress_context = &p};
            status = call(&s, number, &run, out);
            assert_true(status == TEM_OK || status == TEM_ERR_CANCELLED);
            for (size_t i = 0; status != TEM_OK && i < NUMBERS; i++)
                assert_true(out[i] == 0);
        }
        assert_true(calls > 1);
        free(out);
    }
    unlink(path);
    tem_channel_free(s.channel);
    tem_prior_free(s.prior);
    tem_mechanism_free(s.mechanism);
    tem_model_free(s.model);
    free(s.in);
}

/* ----------------------------------------------------------- refusals -- */

static void test_refusals(void **state) {
    (void)state;
    tem_model *model = line_model(3), *other = line_model(3);
    tem_mechanism *mechanism = mechanism_of(model, (tem_mechanism_options){.epsilon = 2});
    tem_mechanism *madlib =
        mechanism_of(model, (tem_mechanism_options){.epsilon = 2, .mechanism = "madlib"});
    tem_channel *channel = channel_of(mechanism), *none = NULL;
    tem_prior *prior = zipf(model), *foreign = zipf(other);
    double x[] = {1, 2, 3}, out[4] = {7, 7, 7, 7};
    assert_int_equal(tem_channel_create(madlib, NULL, &none, NULL), TEM_ERR_UNSUPPORTED);
    assert_null(none);
    const tem_expectation wrong[] = {{.prior = foreign},
                                     {.prior = prior, .unknown = 1},
                                     {.prior = prior, .unknown = NAN},
                                     {.prior = prior, .unknown = INFINITY}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(tem_channel_expect(channel, &wrong[i], out, NULL), TEM_ERR_ARGUMENT);
        assert_int_equal(tem_channel_posterior(channel, &wrong[i], x, 1, NULL, out, NULL),
                         TEM_ERR_ARGUMENT);
    }
    x[2] = INFINITY;
    assert_int_equal(
        tem_channel_posterior(channel, &(tem_expectation){.prior = prior}, x, 1, NULL, out, NULL),
        TEM_ERR_ARGUMENT);
    for (int i = 0; i < 4; i++)
        assert_true(out[i] == 7);
    tem_prior_free(foreign);
    tem_prior_free(prior);
    tem_channel_free(channel);
    tem_mechanism_free(madlib);
    tem_mechanism_free(mechanism);
    tem_model_free(other);
    tem_model_free(model);
}

/* -------------------------------------------------------- weigh_loops -- */

/* Whether `found` is within 2^-49 of exp(-s d / 2^36), by MPFR. */
static bool is_decay(double found, uint64_t s, tem_dist d) {
    mpfr_t truth;
    mpfr_init2(truth, 200);
    mpfr_set_ui(truth, d, MPFR_RNDN);
    mpfr_mul_ui(truth, truth, s, MPFR_RNDN);
    mpfr_div_2ui(truth, truth, EXPONENT_BITS, MPFR_RNDN);
    mpfr_neg(truth, truth, MPFR_RNDN);
    mpfr_exp(truth, truth, MPFR_RNDN);
    mpfr_d_div(truth, found, truth, MPFR_RNDN);
    mpfr_sub_ui(truth, truth, 1, MPFR_RNDN);
    const bool near = fabs(mpfr_get_d(truth, MPFR_RNDA)) <= DECAY_ERROR;
    mpfr_clear(truth);
    return near;
}

static void check_loops(uint64_t s, tem_dist gamma, const decay *table) {
    enum { COUNT = 203 };
    const weighing w = {.levels = table->levels, .s = (double)s, .gamma = gamma};
    tem_dist distances[COUNT];
    double plain[COUNT], other[COUNT];
    for (int i = 0; i < COUNT; i++)
        distances[i] = (tem_dist)random_below((uint64_t)gamma + gamma / 4 + 2);
    distances[0] = 0;
    distances[1] = gamma;
    distances[2] = UINT32_MAX;
    weigh_plain(&w, distances, COUNT, plain);
    for (int i = 0; i < COUNT; i++)
        assert_true(is_decay(plain[i], s, distances[i] < gamma ? distances[i] : gamma));
    (void)other;
#if defined(__x86_64__)
    const core_cpu cpu = core_cpu_detect();
    for (uint32_t count = COUNT - 20; count <= COUNT; count++) {
        if (cpu.avx2) {
            weigh_avx2(&w, distances, count, other);
            assert_memory_equal(plain, other, count * sizeof *plain);
        }
        if (cpu.avx512) {
            weigh_avx512(&w, distances, count, other);
            assert_memory_equal(plain, other, count * sizeof *plain);
        }
    }
#endif
}

static void test_loops(void **state) {
    (void)state;
    static decay table;
    decay_init(&table);
    check_loops(1, UINT32_MAX, &table);
    check_loops((uint64_t)1 << 42, 1, &table); /* x = 64 */
    check_loops(1 << 20, 1 << 22, &table);     /* x = 64 */
    check_loops((1 << 13) - 1, 1 << 29, &table);
    for (int i = 0; i < 50; i++) {
        const uint64_t s = 1 + random64() % ((uint64_t)1 << (1 + random_below(30)));
        const uint64_t most = ((uint64_t)1 << 42) / s;
        check_loops(s, (tem_dist)(most < UINT32_MAX ? most : UINT32_MAX), &table);
    }
}

/* ------------------------------------------------------ one call at a time -- */

enum { NESTED_WORDS = 300 };

/* A product to repeat while another one has OpenBLAS. */
typedef struct nested {
    const tem_channel *channel;
    const double *in;
    double *out;
    tem_status status;
    int child; /* exit status of a child process that makes the product; -1: none was made */
} nested;

static tem_status multiply(nested *n) {
    return tem_channel_forward(n->channel, n->in, 1, NULL, n->out, NULL);
}

/* Calls `check` with a product over NESTED_WORDS words. */
static void with_a_product(void (*check)(nested *n)) {
    tem_model *model = random_model(NESTED_WORDS, TEM_EUCLIDEAN);
    tem_mechanism *mechanism = mechanism_of(model, (tem_mechanism_options){.epsilon = 2});
    tem_channel *channel = channel_of(mechanism);
    double *in = random_numbers(NESTED_WORDS + 1), *out = numbers(NESTED_WORDS);
    nested n = {.channel = channel, .in = in, .out = out, .status = TEM_OK, .child = -1};
    check(&n);
    free(out);
    free(in);
    tem_channel_free(channel);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

static int multiply_in_a_callback(void *context, const char *stage, uint64_t done, uint64_t total) {
    nested *n = context;
    (void)stage, (void)done, (void)total;
    n->status = multiply(n);
    return 0;
}

static void check_callback(nested *n) {
    double out[NESTED_WORDS];
    const tem_run run = {.progress = multiply_in_a_callback, .progress_context = n};
    assert_int_equal(tem_channel_forward(n->channel, n->in, 1, &run, out, NULL), TEM_OK);
    assert_int_equal(n->status, TEM_ERR_ARGUMENT);
    assert_int_equal(multiply(n), TEM_OK); /* OpenBLAS is free again */
    assert_memory_equal(out, n->out, sizeof out);
}

/* A callback that makes a product gets an error: the product would wait for the call that waits for
 * the callback. */
static void test_product_in_a_callback(void **state) {
    (void)state;
    with_a_product(check_callback);
}

static int multiply_in_a_child(void *context, const char *stage, uint64_t done, uint64_t total) {
    nested *n = context;
    (void)stage, (void)done, (void)total;
    if (n->child != -1)
        return 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(10);
        _exit(multiply(n) == TEM_OK ? 7 : 8);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    n->child = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return 0;
}

static void check_child(nested *n) {
    double out[NESTED_WORDS];
    const tem_run run = {.threads = 1, .progress = multiply_in_a_child, .progress_context = n};
    assert_int_equal(tem_channel_forward(n->channel, n->in, 1, &run, out, NULL), TEM_OK);
    assert_int_equal(n->child, 7);
}

/* A child of fork makes products, even if its parent was in the middle of one. */
static void test_product_in_a_child(void **state) {
    (void)state;
    with_a_product(check_child);
}

static void *multiply_often(void *context) {
    nested *n = context;
    for (int i = 0; i < 20 && n->status == TEM_OK; i++)
        n->status = multiply(n);
    return NULL;
}

static void check_two_threads(nested *n) {
    double out[NESTED_WORDS];
    nested other = {.channel = n->channel, .in = n->in, .out = out, .status = TEM_OK};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, multiply_often, &other), 0);
    multiply_often(n);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(n->status == TEM_OK && other.status == TEM_OK);
    assert_memory_equal(out, n->out, sizeof out);
}

/* Threads that make products at the same time wait for each other. */
static void test_products_of_two_threads(void **state) {
    (void)state;
    with_a_product(check_two_threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_excluded),
        cmocka_unit_test(test_posterior),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_counted_prior),
        cmocka_unit_test(test_align),
        cmocka_unit_test(test_text_vectors),
        cmocka_unit_test(test_text_rank),
        cmocka_unit_test(test_text_refused),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_product_in_a_callback),
        cmocka_unit_test(test_product_in_a_child),
        cmocka_unit_test(test_products_of_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
