/* test_mechanisms_gumbel.c - the mechanism gumbel: its numbers, its draws against the integrated
 * law, and words for which the bound of its paper does not hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/gumbel.h"
#include "model/model.h"
#include "noise_draws.h"
#include "small_model.h"

#include <string.h>

enum { WORDS_MAX = 20, PLANE_WORDS = 6 };

/* On the grid, and with different distances from each word. */
static const float plane_values[PLANE_WORDS * 2] = {0,      0,     1.5f,  0.125f, -1.25f, 0.5,
                                                    -0.25f, -1.5f, 1.75f, 1.375f, -2,     -1};

static tem_model *plane_model(uint32_t neighbours) {
    return small_model(NULL, plane_values, PLANE_WORDS, 2, TEM_EUCLIDEAN, neighbours);
}

static double distance(const space *s, uint32_t a, uint32_t b) {
    return (double)space_distance(s, a, b) / TEM_DIST_ONE;
}

static gumbel make_gumbel(const tem_model *model, double epsilon) {
    gumbel g;
    assert_int_equal(gumbel_init(&g, &model->space, &model->index, NULL, epsilon, NULL), TEM_OK);
    return g;
}

/* The epsilon for which a Dmin is `slope`. */
static double epsilon_of(const tem_model *model, double slope, double least) {
    return (3 * slope + 2 * (1 + log(model->space.count))) / least;
}

/* ---- the law ---- */

/* P(noise <= x) and its density. */
static double noise_cdf(const void *context, double x) {
    const gumbel *g = context;
    const double low = exp(-exp(g->reach / g->scale)), high = exp(-exp(-g->reach / g->scale));
    if (x <= -g->reach || x >= g->reach)
        return x <= -g->reach ? 0 : 1;
    return (exp(-exp(-x / g->scale)) - low) / (high - low);
}

static double noise_density(const gumbel *g, double x) {
    const double low = exp(-exp(g->reach / g->scale)), high = exp(-exp(-g->reach / g->scale));
    const double e = exp(-x / g->scale);
    return e * exp(-e) / g->scale / (high - low);
}

/* P(k): Poisson of mean log n, truncated to 1 to n. */
static void find_k(uint32_t words, double *law) {
    double sum = 0;
    for (uint32_t k = 1; k <= words; k++)
        sum += law[k - 1] = exp(k * log(log(words)) - lgamma(k + 1));
    for (uint32_t k = 1; k <= words; k++)
        law[k - 1] /= sum;
}

/* The words in the order (distance, id) from `word`. */
static void find_order(const space *s, uint32_t word, uint32_t *order) {
    bool used[WORDS_MAX] = {false};
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t best = TEM_NO_WORD;
        for (uint32_t id = 0; id < s->count; id++)
            if (!used[id] && (best == TEM_NO_WORD ||
                              space_distance(s, word, id) < space_distance(s, word, best)))
                best = id;
        used[best] = true;
        order[i] = best;
    }
}

/* The probability that candidate `i` of k has the least distance plus noise: by the rule of the
 * midpoint, over all noise of this candidate. */
static double wins(const gumbel *g, uint32_t word, const uint32_t *order, uint32_t i, uint32_t k) {
    enum { STEPS = 4000 };
    const double width = 2 * g->reach / STEPS;
    double sum = 0;
    for (int step = 0; step < STEPS; step++) {
        const double x = -g->reach + (step + 0.5) * width;
        double others = noise_density(g, x) * width;
        for (uint32_t j = 0; j < k; j++)
            if (j != i)
                others *= 1 - noise_cdf(g, x + distance(g->space, word, order[i]) -
                                               distance(g->space, word, order[j]));
        sum += others;
    }
    return sum;
}

static double probability(const gumbel *g, uint32_t word, uint32_t output) {
    uint32_t order[WORDS_MAX];
    double k_law[WORDS_MAX], sum = 0;
    find_k(g->space->count, k_law);
    find_order(g->space, word, order);
    for (uint32_t i = 0; i < g->space->count; i++)
        for (uint32_t k = i + 1; order[i] == output && k <= g->space->count; k++)
            sum += k_law[k - 1] * wins(g, word, order, i, k);
    return sum;
}

/* ---- the numbers ---- */

static void test_lambert(void **state) {
    (void)state;
    for (double x = 1e-9; x < 1e300; x *= 7) {
        const double w = gumbel_lambert(x);
        assert_true(w > 0 && fabs(log(w) + w - log(x)) < 1e-13 * (1 + fabs(log(x))));
    }
    assert_true(fabs(gumbel_lambert(1) - 0.5671432904097838) < 1e-15); /* the omega constant */
    assert_true(fabs(gumbel_lambert(exp(1)) - 1) < 1e-15);
}

static void test_scale(void **state) {
    (void)state;
    /* n = e^4 words, Dmin = 2, epsilon = 5 + 3 e / 2: then a = e / 2 and log(a Dmin) = 1. */
    const double words = exp(4), epsilon = 5 + 1.5 * exp(1);
    /* 2 a Dmax = 2 e^2 with Dmax = 2 e: W is 2. The logarithm is less. */
    assert_true(fabs(gumbel_scale(epsilon, words, 2, 2 * exp(1)) - 4 * exp(1)) < 1e-12);
    /* Where W is less: a Dmin = e^3, Dmax = Dmin = 2, so b = 4 / W(2 e^3). */
    const double far = 5 + 1.5 * exp(3);
    assert_true(gumbel_lambert(2 * exp(3)) < 3);
    assert_true(fabs(gumbel_scale(far, words, 2, 2) - 4 / gumbel_lambert(2 * exp(3))) < 1e-12);
    /* a Dmin = 1: the logarithm is 0, below 1 it is negative. */
    assert_true(gumbel_scale(5 + 1.5, words, 2, 4) == 0);
    assert_true(gumbel_scale(5, words, 2, 4) == 0);
    assert_true(gumbel_scale(1, words, 2, 4) == 0);
    assert_true(gumbel_scale(5 + 1.5001, words, 2, 4) > 0);
    /* More noise for a larger Dmax and for a smaller Dmin. */
    for (double reach = 2; reach < 100; reach *= 1.1)
        assert_true(gumbel_scale(far, words, 2, reach * 1.1) > gumbel_scale(far, words, 2, reach));
    for (double least = 1; least < 2; least += 0.1)
        assert_true(gumbel_scale(far, words, least, 9) > gumbel_scale(far, words, least + 0.1, 9));
}

/* Dmin is exact for lists of all lengths; the bound above Dmax is above it. */
static void test_distances(void **state) {
    (void)state;
    for (uint32_t neighbours = 1; neighbours <= PLANE_WORDS; neighbours++) {
        tem_model *model = plane_model(neighbours);
        double least = INFINITY, most = 0;
        for (uint32_t a = 0; a < PLANE_WORDS; a++)
            for (uint32_t b = 0; b < a; b++) {
                least = fmin(least, distance(&model->space, a, b));
                most = fmax(most, distance(&model->space, a, b));
            }
        gumbel g = make_gumbel(model, 1000);
        assert_true(g.least == least);
        assert_true(g.reach >= most && g.reach <= 2 * most);
        assert_true(g.scale == gumbel_scale(1000, PLANE_WORDS, g.least, g.reach));
        gumbel_free(&g);
        tem_model_free(model);
    }
}

static void test_k_and_noise(void **state) {
    (void)state;
    tem_model *model = plane_model(0);
    const double slopes[] = {1.01, 3, 1000};
    double *samples = calloc(SAMPLES, sizeof *samples), law[PLANE_WORDS];
    assert_non_null(samples);
    find_k(PLANE_WORDS, law);
    for (size_t i = 0; i < 3; i++) {
        const double least = distance(&model->space, 1, 4);
        gumbel g = make_gumbel(model, epsilon_of(model, slopes[i], least));
        uint64_t counts[PLANE_WORDS] = {0};
        tem_rng rng;
        rng_init_seeded(&rng, SEED, i);
        for (int n = 0; n < DRAWS; n++)
            counts[gumbel_draw_k(&g, &rng) - 1]++;
        compare_counts(counts, law, PLANE_WORDS, DRAWS);
        for (int n = 0; n < SAMPLES; n++) {
            samples[n] = gumbel_draw_noise(&g, &rng);
            assert_true(fabs(samples[n]) <= g.reach);
        }
        compare_samples(samples, noise_cdf, &g);
        gumbel_free(&g);
    }
    free(samples);
    tem_model_free(model);
}

/* ---- the draws ---- */

/* With whole lists, and with lists so short that most draws compute all distances. */
static void test_draws(void **state) {
    (void)state;
    const uint32_t lengths[] = {PLANE_WORDS, 2};
    for (size_t i = 0; i < 2; i++) {
        tem_model *model = plane_model(lengths[i]);
        const double epsilon = epsilon_of(model, 20, distance(&model->space, 1, 4));
        gumbel g = make_gumbel(model, epsilon);
        tem_mechanism *m = make_mechanism(model, "gumbel", epsilon, NULL, 0);
        for (uint32_t word = 0; word < PLANE_WORDS; word++) {
            uint64_t counts[PLANE_WORDS] = {0};
            double law[PLANE_WORDS], sum = 0;
            for (uint32_t y = 0; y < PLANE_WORDS; y++)
                sum += law[y] = probability(&g, word, y);
            assert_true(fabs(sum - 1) < 1e-5);
            count_draws(m, word, word, counts);
            compare_counts(counts, law, PLANE_WORDS, DRAWS);
        }
        check_unknown(m, model, PLANE_WORDS);
        tem_mechanism_free(m);
        gumbel_free(&g);
        tem_model_free(model);
    }
}

/* The nearest words are those that may be outputs. */
static void test_excluded_words(void **state) {
    (void)state;
    static const char *const words[] = {"a", "b", "c", "d", "e", "f"}, *const out[] = {"a", "d"};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    assert_int_equal(tem_vectors_create(words, plane_values, PLANE_WORDS, 2, &vectors, NULL),
                     TEM_OK);
    for (uint32_t neighbours = 2; neighbours <= PLANE_WORDS; neighbours += 4) {
        const tem_build_options options = {.allow_coarse = 1,
                                           .space = TEM_SPACE_RAW,
                                           .neighbours = neighbours,
                                           .exclude = out,
                                           .exclude_count = 2};
        assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
        const double epsilon = epsilon_of(model, 3, distance(&model->space, 1, 4));
        tem_mechanism *m = make_mechanism(model, "gumbel", epsilon, NULL, 0);
        for (uint32_t word = 0; word < PLANE_WORDS; word++) {
            uint64_t counts[PLANE_WORDS] = {0};
            count_draws(m, word, word, counts);
            for (uint32_t y = 0; y < PLANE_WORDS; y++)
                assert_true((counts[y] == 0) == (y == 0 || y == 3));
        }
        check_unknown(m, model, PLANE_WORDS);
        tem_mechanism_free(m);
        tem_model_free(model);
    }
    tem_vectors_free(vectors);
}

/* ---- the bound that does not hold ---- */

enum { CORNERS = 20 };

/* The corners of a simplex: all are 1 apart, only the last one is farther from all others. */
static tem_model *simplex(void) {
    static float values[CORNERS * CORNERS];
    for (uint32_t id = 0; id < CORNERS; id++)
        values[id * CORNERS + id] = id + 1 < CORNERS ? 0.70710678f : 0.725f;
    return small_model(NULL, values, CORNERS, CORNERS, TEM_EUCLIDEAN, 0);
}

/* P(y | y) > exp(epsilon d(y,w)) P(y | w), by a factor of 1000. The last word y is a candidate for
 * w only if k is the number of words. */
static void test_counterexample(void **state) {
    (void)state;
    tem_model *model = simplex();
    const double epsilon = epsilon_of(model, 1.5, distance(&model->space, 0, 1));
    gumbel g = make_gumbel(model, epsilon);
    const uint32_t y = CORNERS - 1, w = 0;
    const double itself = probability(&g, y, y), from_w = probability(&g, w, y);
    const double bound = exp(epsilon * distance(&model->space, y, w));
    double k_law[CORNERS];
    find_k(CORNERS, k_law);
    assert_true(itself > k_law[0] && from_w > 0 && from_w < k_law[CORNERS - 1]);
    assert_true(itself / from_w > 2e9 && bound < 4e5);
    gumbel_free(&g);
    tem_model_free(model);
}

/* ---- refusals ---- */

static void assert_refused(const tem_model *model, double epsilon, const char *part) {
    tem_mechanism *m = NULL;
    tem_error error = {0};
    assert_int_equal(try_mechanism(model, "gumbel", epsilon, NULL, 0, &m, &error), TEM_ERR_RANGE);
    assert_null(m);
    assert_non_null(strstr(error.message, part));
}

/* The number in the message is one that the mechanism takes, and about the least. */
static void test_least_epsilon(void **state) {
    (void)state;
    tem_model *model = plane_model(0);
    const double least = epsilon_of(model, 1, distance(&model->space, 1, 4));
    tem_mechanism *m = NULL;
    tem_error error = {0};
    assert_refused(model, least * 0.99, "at least");
    assert_refused(model, 0.01, "at least");
    assert_int_equal(try_mechanism(model, "gumbel", least, NULL, 0, &m, &error), TEM_ERR_RANGE);
    const double named = strtod(strstr(error.message, "at least ") + 9, NULL);
    assert_true(named >= least && named < least * 1.0001);
    tem_mechanism_free(make_mechanism(model, "gumbel", named, NULL, 0));
    tem_model_free(model);
}

static void test_refusals(void **state) {
    (void)state;
    const float twins[] = {0, 0, 1, 1, 1, 1};
    tem_model *model = small_model(NULL, twins, 3, 2, TEM_EUCLIDEAN, 0), *plane = plane_model(0);
    const tem_mechanism_options silent = {.mechanism = "gumbel", .epsilon = 1000};
    tem_mechanism *m = NULL;
    assert_refused(model, 1000, "one point");
    assert_int_equal(tem_mechanism_create(plane, &silent, &m, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(try_mechanism(plane, "gumbel", 1000, "t", 0.5, &m, NULL), TEM_ERR_ARGUMENT);
    tem_model_free(plane);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lambert),        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_distances),      cmocka_unit_test(test_k_and_noise),
        cmocka_unit_test(test_draws),          cmocka_unit_test(test_excluded_words),
        cmocka_unit_test(test_counterexample), cmocka_unit_test(test_least_epsilon),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("gumbel", tests, NULL, NULL);
}
