/* test_summary.c - priors, and the effect of a mechanism on words drawn from them.
 *
 * The oracle examines every pair of words, with the distances of tem_model_distance and the
 * formulas as defined: probabilities, logarithms, maxima. */
#include "audit/accountant.h"
#include "audit/prior.h"
#include "audit/summary.h"
#include "command/tem_command.h"
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------- helpers -- */

/* A uniform number from 0 to 1. */
static float random_share(void) {
    return (float)(random64() >> 40) / (1 << 24);
}

typedef float value_fn(uint32_t id, uint32_t axis);

static float anywhere(uint32_t id, uint32_t axis) {
    (void)id, (void)axis;
    return 4 * random_share();
}

/* Few distinct points, so that many distances are 0 or equal. */
static float on_a_lattice(uint32_t id, uint32_t axis) {
    (void)id, (void)axis;
    return (float)(random64() % 3);
}

/* Words 0.25 apart, whose distances are all multiples of 0.25, and one so far away that a cell of
 * the profile holds many of them. */
static float on_a_line(uint32_t id, uint32_t axis) {
    return axis > 0 ? 0 : id == 0 ? 1000 : (float)(id % 8) / 4;
}

static tem_model *make_model(uint32_t count, uint32_t dimension, value_fn *value, tem_metric metric,
                             uint32_t neighbours) {
    float *values = malloc((size_t)count * dimension * sizeof *values);
    assert_non_null(values);
    for (uint32_t id = 0; id < count; id++)
        for (uint32_t axis = 0; axis < dimension; axis++)
            values[(size_t)id * dimension + axis] = value(id, axis);
    tem_model *model = small_model(NULL, values, count, dimension, metric, neighbours);
    free(values);
    return model;
}

static uint32_t word_count(const tem_model *model) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    return info.words;
}

static tem_prior *zipf(const tem_model *model, double power) {
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(model, power, &prior, NULL), TEM_OK);
    return prior;
}

/* The whole prior on one word. */
static tem_prior *only(const tem_model *model, uint32_t word) {
    tem_prior *prior = prior_make(model, word_count(model));
    assert_non_null(prior);
    prior->frequencies[word] = 1;
    return prior;
}

static tem_summary summarise(const tem_accountant *accountant, const tem_mechanism *mechanism,
                             const tem_prior *prior) {
    tem_summary summary;
    tem_error error;
    const tem_status status =
        tem_accountant_summarise(accountant, mechanism, prior, 1, NULL, &summary, &error);
    if (status != TEM_OK)
        fail_msg("%s", error.message);
    return summary;
}

/* Checks that `found` is within `share` of the truth. */
static void check_near(double found, double truth, double share, const char *what) {
    if (!(fabs(found - truth) <= share * fabs(truth)))
        fail_msg("%s: %.12g instead of %.12g", what, found, truth);
}

static void check_summary(const tem_summary *found, const tem_summary *truth, double share) {
    check_near(found->self_median, truth->self_median, share, "self_median");
    check_near(found->self_mean, truth->self_mean, share, "self_mean");
    check_near(found->support_median, truth->support_median, share, "support_median");
    check_near(found->entropy_mean, truth->entropy_mean, share, "entropy_mean");
    check_near(found->distance_mean, truth->distance_mean, share, "distance_mean");
    if (!(fabs(found->beyond_mean - truth->beyond_mean) <= 1e-6))
        check_near(found->beyond_mean, truth->beyond_mean, 10 * share, "beyond_mean");
    check_near(found->bayes, truth->bayes, share, "bayes");
}

/* ---------------------------------------------------------- the oracle -- */

typedef struct oracle {
    const tem_model *model;
    const uint32_t *output_weights; /* or NULL */
    const double *frequencies;
    uint32_t count;
    double s;
    tem_dist gamma;
    tem_dist *distances;
    double *probabilities; /* P(y | w) at [w * count + y] */
} oracle;

static double probability(const oracle *o, uint32_t w, uint32_t y) {
    return o->probabilities[(size_t)w * o->count + y];
}

static void measure(oracle *o) {
    const size_t pairs = (size_t)o->count * o->count;
    o->distances = malloc(pairs * sizeof *o->distances);
    o->probabilities = malloc(pairs * sizeof *o->probabilities);
    for (uint32_t w = 0; w < o->count; w++) {
        tem_dist *distances = o->distances + (size_t)w * o->count;
        double *row = o->probabilities + (size_t)w * o->count, total = 0;
        for (uint32_t y = 0; y < o->count; y++) {
            distances[y] = tem_model_distance(o->model, w, y);
            const tem_dist m = distances[y] < o->gamma ? distances[y] : o->gamma;
            row[y] = (o->output_weights == NULL ? 1 : o->output_weights[y]) *
                     exp(-o->s * m / TEM_DIST_ONE);
            total += row[y];
        }
        for (uint32_t y = 0; y < o->count; y++)
            row[y] /= total;
    }
}

/* The smallest v such that words with values of at most v have half of the prior. Quadratic, and so
 * independent of sorting. */
static double oracle_median(const oracle *o, const double *values) {
    double least = INFINITY;
    for (uint32_t i = 0; i < o->count; i++) {
        double below = 0;
        for (uint32_t k = 0; k < o->count; k++)
            below += values[k] <= values[i] ? o->frequencies[k] : 0;
        if (below >= 0.5 - 1e-9 && values[i] < least)
            least = values[i];
    }
    return least;
}

static double oracle_bayes(const oracle *o) {
    double success = 0, *best = calloc(o->count, sizeof *best);
    for (uint32_t w = 0; w < o->count; w++)
        for (uint32_t y = 0; y < o->count; y++) {
            const double joint = o->frequencies[w] * probability(o, w, y);
            best[y] = joint > best[y] ? joint : best[y];
        }
    for (uint32_t y = 0; y < o->count; y++)
        success += best[y];
    free(best);
    return success;
}

static tem_summary oracle_summary(const tem_model *model, const tem_mechanism *mechanism,
                                  const uint32_t *output_weights, const tem_prior *prior) {
    tem_mechanism_info info;
    tem_mechanism_get_info(mechanism, &info);
    oracle o = {.model = model,
                .output_weights = output_weights,
                .frequencies = prior->frequencies,
                .count = word_count(model),
                .s = info.s,
                .gamma = info.gamma_steps};
    measure(&o);
    double *selves = malloc(o.count * sizeof *selves), *entropies = calloc(o.count, sizeof *selves);
    tem_summary truth = {.bayes = oracle_bayes(&o)};
    for (uint32_t w = 0; w < o.count; w++) {
        for (uint32_t y = 0; y < o.count; y++) {
            const double p = probability(&o, w, y);
            const tem_dist d = o.distances[(size_t)w * o.count + y];
            entropies[w] -= p > 0 ? p * log(p) : 0;
            truth.distance_mean +=
                o.frequencies[w] * p * (d < o.gamma ? d : o.gamma) / (double)TEM_DIST_ONE;
            truth.beyond_mean += d > o.gamma ? o.frequencies[w] * p : 0;
        }
        selves[w] = probability(&o, w, w);
        truth.self_mean += o.frequencies[w] * selves[w];
        truth.entropy_mean += o.frequencies[w] * entropies[w];
    }
    truth.self_median = oracle_median(&o, selves);
    truth.support_median = exp(oracle_median(&o, entropies));
    free(entropies);
    free(selves);
    free(o.distances);
    free(o.probabilities);
    return truth;
}

/* Compares a mechanism under several priors. */
static void compare(const tem_model *model, const tem_accountant *accountant,
                    const uint32_t *output_weights, tem_mechanism_options options, double share) {
    static const double powers[] = {0, 1, 2.5};
    options.weights = output_weights;
    tem_mechanism *mechanism = mechanism_of(model, options);
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        tem_prior *prior = zipf(model, powers[i]);
        if (i == 2) { /* words that are never used */
            for (uint32_t id = 0; id < prior->count; id += 3)
                prior->frequencies[id] = 0;
            prior_scale(prior);
        }
        const tem_summary found = summarise(accountant, mechanism, prior);
        tem_summary once = {0};
        assert_int_equal(tem_summarise_once(mechanism, prior, NULL, &once, NULL), TEM_OK);
        assert_memory_equal(&once, &found, sizeof once);
        const tem_summary truth = oracle_summary(model, mechanism, output_weights, prior);
        check_summary(&found, &truth, share);
        tem_prior_free(prior);
    }
    tem_mechanism_free(mechanism);
}

/* -------------------------------------------------------------- priors -- */

static void test_zipf(void **state) {
    (void)state;
    tem_model *model = make_model(50, 2, anywhere, TEM_EUCLIDEAN, 4);
    static const double powers[] = {0, 0.5, 1, 3};
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        tem_prior *prior = zipf(model, powers[i]);
        double sum = 0;
        for (uint32_t id = 0; id < 50; id++) {
            sum += prior->frequencies[id];
            check_near(prior->frequencies[id] / prior->frequencies[0], pow(id + 1, -powers[i]),
                       1e-12, "share");
        }
        check_near(sum, 1, 1e-12, "sum");
        tem_prior_free(prior);
    }
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(model, -1, &prior, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_prior_create_zipf(model, NAN, &prior, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_prior_create_zipf(model, INFINITY, &prior, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_prior_create_zipf(NULL, 1, &prior, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_prior_create_zipf(model, 1, NULL, NULL), TEM_ERR_ARGUMENT);
    assert_null(prior);
    tem_prior_free(NULL);
    tem_model_free(model);
}

static tem_model *four_words(void) {
    static const char *const words[] = {"the", "movie", "do", "n't"};
    static const float values[] = {1, 2, 3, 4};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    assert_int_equal(tem_vectors_create(words, values, 4, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

/* Loads a prior from a file with this content. */
static tem_status load(const tem_model *model, const char *content, size_t bytes, tem_prior **prior,
                       tem_error *error) {
    char path[] = "/tmp/tem-prior-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, content, bytes), bytes);
    close(descriptor);
    const tem_status status = tem_prior_load(model, path, NULL, prior, error);
    if (status != TEM_OK)
        assert_string_equal(error->file, path);
    unlink(path);
    return status;
}

static void test_files(void **state) {
    (void)state;
    static const struct {
        const char *content;
        double frequencies[4];
    } cases[] = {
        {"the\t3\nmovie\t1\n", {0.75, 0.25, 0, 0}},
        {"the\t3\r\nmovie\t1", {0.75, 0.25, 0, 0}},
        {"movie\t1\nxyzzy\t96\nthe\t2\nmovie\t1\n", {0.5, 0.5, 0, 0}}, /* unknown; twice */
        {"The\t2\ndon't\t1\n", {0.5, 0, 0.25, 0.25}},                  /* as in a text */
        {"the\t0\nmovie\t18446744073709551615\n", {0, 1, 0, 0}},
        {"the movie\t2\n", {0.5, 0.5, 0, 0}},
        {"The movie, the MOVIE! xyzzy\n\ndon't", {1 / 3.0, 1 / 3.0, 1 / 6.0, 1 / 6.0}},
        {"the\nmovie\t7", {0.5, 0.5, 0, 0}}, /* no tab in line 1: a text; 7 is not a word */
    };
    tem_model *model = four_words();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tem_prior *prior = NULL;
        tem_error error;
        assert_int_equal(load(model, cases[i].content, strlen(cases[i].content), &prior, &error),
                         TEM_OK);
        for (int id = 0; id < 4; id++)
            if (fabs(prior->frequencies[id] - cases[i].frequencies[id]) > 1e-12)
                fail_msg("case %zu, word %d: %g", i, id, prior->frequencies[id]);
        tem_prior_free(prior);
    }
    tem_model_free(model);
}

static void test_files_refused(void **state) {
    (void)state;
    static const struct {
        const char *content;
        uint64_t line;
    } cases[] = {
        {"word\tcount\nthe\t7\n", 1}, /* a header */
        {"\tthe\nthe\t1", 1},
        {"the\t1.5", 1},
        {"the\t-5", 1},
        {"the\t99999999999999999999999", 1},
        {"", 0},
        {"xyzzy\n", 0},                      /* no known word */
        {"the\t0\nxyzzy\t5\n", 0},           /* none with a count above 0 */
        {"the\t1\nmovie\n", 2},              /* no count */
        {"the\t1\nmovie\t2\n\nthe\t1\n", 3}, /* an empty line */
        {"the\t1\nmovie\t-2\n", 2},
        {"the\t1\nmovie\t1.5\n", 2},
        {"the\t1\nmovie\t\n", 2},
        {"the\t1\n\t5\n", 2},
        {"the\t1\nmovie\t1\t1\n", 2},
        {"the\t1\nmovie\t18446744073709551616\n", 2},
        {"the\nmo\xffvie\n", 2},
        {"the\t1\nmo\xffvie\t1\n", 2},
    };
    tem_model *model = four_words();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tem_prior *prior = NULL;
        tem_error error;
        assert_int_equal(load(model, cases[i].content, strlen(cases[i].content), &prior, &error),
                         TEM_ERR_FORMAT);
        assert_int_equal(error.line, cases[i].line);
        assert_null(strstr(error.message, "movie"));
        assert_null(strstr(error.message, "xyzzy"));
        assert_null(prior);
    }
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_load(model, "/nowhere/at/all", NULL, &prior, NULL), TEM_ERR_FILE);
    assert_int_equal(tem_prior_load(NULL, "x", NULL, &prior, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_prior_load(model, NULL, NULL, &prior, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_prior_load(model, "x", NULL, NULL, NULL), TEM_ERR_ARGUMENT);
    tem_model_free(model);
}

/* ----------------------------------------------------------- summaries -- */

static const tem_mechanism_options mechanisms[] = {
    {.epsilon = 0.1},
    {.epsilon = 1},
    {.epsilon = 4},
    {.epsilon = 30},
    {.epsilon = 2, .gamma = 1.5},
    {.epsilon = 1, .gamma = 0.25},
    {.epsilon = 3, .gamma = 1}, /* on a lattice, some words are exactly at gamma */
    {.epsilon = 6, .beta = 0.2},
    {.mechanism = "em", .epsilon = 2},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

/* Few words, each examined: exact up to rounding. */
static void test_few_words(void **state) {
    (void)state;
    static const uint32_t counts[] = {2, 17, 150};
    for (int i = 0; i < 3; i++)
        for (uint32_t neighbours = 1; neighbours <= 16; neighbours *= 4)
            for (int lattice = 0; lattice < 2; lattice++) {
                tem_model *model = make_model(counts[i], 4, lattice ? on_a_lattice : anywhere,
                                              TEM_EUCLIDEAN, neighbours);
                tem_accountant *accountant = accountant_of(model, NULL);
                for (int k = 0; k < MECHANISMS; k++)
                    compare(model, accountant, NULL, mechanisms[k], 1e-9);
                tem_accountant_free(accountant);
                tem_model_free(model);
            }
}

/* Weights, some of them 0. */
static void test_weights(void **state) {
    (void)state;
    enum { COUNT = 120 };
    uint32_t output_weights[COUNT];
    for (int i = 0; i < COUNT; i++)
        output_weights[i] = (uint32_t)random_below(6) * 1000;
    output_weights[7] = 1;
    tem_model *model = make_model(COUNT, 3, anywhere, TEM_L1, 8);
    tem_accountant *accountant = accountant_of(model, output_weights);
    for (int k = 0; k < MECHANISMS; k++)
        compare(model, accountant, output_weights, mechanisms[k], 1e-9);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

enum { MANY = 2100 }; /* more than are examined one by one */

/* Words beyond the lists come from the profile, or are examined one by one if the profile is not
 * accurate enough. tem.h promises 1e-3; the limit here is the measured error. */
static void test_many_words(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_L1, TEM_EUCLIDEAN};
    for (int i = 0; i < (SLOW ? 1 : 2); i++) {
        tem_model *model = make_model(MANY, 6, anywhere, metrics[i], 32);
        tem_accountant *accountant = accountant_of(model, NULL);
        for (int k = 0; k < MECHANISMS; k += SLOW ? 4 : 2)
            compare(model, accountant, NULL, mechanisms[k], 1e-4);
        tem_accountant_free(accountant);
        tem_model_free(model);
    }
}

/* What the sums of single words take; no frequencies. */
static summary_source source_of(const tem_accountant *accountant, const tem_mechanism *mechanism) {
    const law_form *law = mechanism_form(mechanism);
    return (summary_source){.space = &accountant->model->space,
                            .index = &accountant->model->index,
                            .exponent = &law->exponent,
                            .weights = law->weights,
                            .profile = &accountant->profile,
                            .reach = accountant->profile.reach};
}

/* The profile itself, over all words: so accurate that no word needs its own examination. */
static void test_profile(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, 6, anywhere, TEM_EUCLIDEAN, 32);
    tem_accountant *accountant = accountant_of(model, NULL);
    summary_factors *factors = malloc(sizeof *factors);
    for (int k = 0; k < MECHANISMS; k++) {
        tem_mechanism *mechanism = mechanism_of(model, mechanisms[k]);
        const summary_source source = source_of(accountant, mechanism);
        double off_total = 0, off_moment = 0, beyond = 0, beyond_truth = 0;
        summary_set_factors(&source, factors);
        for (uint32_t word = 0; word < MANY; word++) {
            const summary_sums found = summary_sum_by_profile(&source, factors, word);
            const summary_sums truth = summary_sum_exactly(&source, word);
            off_total = fmax(off_total, fabs(found.total / truth.total - 1));
            off_moment = fmax(off_moment, fabs(found.moment / truth.moment - 1));
            beyond += found.beyond / found.total;
            beyond_truth += truth.beyond / truth.total;
        }
        if (off_total > 2e-5 || off_moment > 2e-5)
            fail_msg("mechanism %d: off by %g, %g", k, off_total, off_moment);
        if (fabs(beyond - beyond_truth) > 1e-4 * beyond_truth + 1e-8 * MANY)
            fail_msg("mechanism %d: beyond %g, not %g", k, beyond / MANY, beyond_truth / MANY);
        tem_mechanism_free(mechanism);
    }
    free(factors);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

/* With weights, some of them 0, and nearly none far from 1. */
static void check_pass(tem_metric metric, uint32_t least) {
    uint32_t *output_weights = malloc(MANY * sizeof *output_weights);
    summary_sums *found = malloc(MANY * sizeof *found);
    assert_true(output_weights != NULL && found != NULL);
    for (uint32_t i = 0; i < MANY; i++)
        output_weights[i] = i % 50 == 0 ? 0 : least + (uint32_t)random_below(UINT32_MAX - least);
    tem_model *model = make_model(MANY, 6, anywhere, metric, 32);
    tem_accountant *accountant = accountant_of(model, output_weights);
    for (int k = 0; k < MECHANISMS; k += SLOW ? 4 : 1) {
        tem_mechanism_options options = mechanisms[k];
        options.weights = output_weights;
        tem_mechanism *mechanism = mechanism_of(model, options);
        const summary_source source = source_of(accountant, mechanism);
        assert_int_equal(summary_sum_all(&source, NULL, found, NULL), TEM_OK);
        double beyond = 0, beyond_truth = 0;
        for (uint32_t word = 0; word < MANY; word += 7) {
            const summary_sums truth = summary_sum_exactly(&source, word);
            const double own = output_weights[word], log_own = own > 0 ? log(own) : 0;
            check_near(found[word].total, truth.total, 2e-4, "total");
            check_near(found[word].moment, truth.moment, 2.5e-4, "moment");
            beyond += found[word].beyond / found[word].total;
            beyond_truth += truth.beyond / truth.total;
            /* of the others, relative to the word's own weight: a part of the entropy */
            check_near(found[word].logs - log_own * found[word].total + truth.total,
                       truth.logs - log_own * truth.total + truth.total, 2e-3, "logs");
        }
        if (fabs(beyond - beyond_truth) > 1e-4 * beyond_truth)
            fail_msg("mechanism %d: beyond %g, not %g", k, beyond, beyond_truth);
        tem_mechanism_free(mechanism);
    }
    free(found);
    free(output_weights);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

static void test_pass(void **state) {
    (void)state;
    check_pass(TEM_EUCLIDEAN, 1);
    check_pass(TEM_L1, UINT32_MAX / 2);
}

/* The whole summary with weights. */
static void test_many_weights(void **state) {
    (void)state;
    uint32_t *output_weights = malloc(MANY * sizeof *output_weights);
    assert_non_null(output_weights);
    for (uint32_t i = 0; i < MANY; i++)
        output_weights[i] = 1 + (uint32_t)random_below(1000000);
    tem_model *model = make_model(MANY, 6, anywhere, TEM_EUCLIDEAN, 32);
    tem_accountant *accountant = accountant_of(model, output_weights);
    for (int k = 0; k < MECHANISMS; k += SLOW ? 6 : 2)
        compare(model, accountant, output_weights, mechanisms[k], 1e-3);
    free(output_weights);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

/* Where the profile misleads, tem examines words one by one. */
static void test_misleading_profile(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, 1, on_a_line, TEM_EUCLIDEAN, 4);
    tem_accountant *accountant = accountant_of(model, NULL);
    compare(model, accountant, NULL, (tem_mechanism_options){.epsilon = 3, .gamma = 20}, 1e-9);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

/* Word by word against the exact law, on real vectors. */
static void test_real_words(void **state) {
    (void)state;
    const char *path = getenv("TEM_RAW_VECTORS");
    const uint32_t count = SLOW ? 1000 : 3000;
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    if (path == NULL)
        path = "data/glove-840b-33k-300d.temv";
    assert_int_equal(tem_vectors_load(path, count, NULL, &vectors, NULL), TEM_OK);
    const tem_build_options build = {.neighbours = 64};
    assert_int_equal(tem_model_build(vectors, &build, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    tem_accountant *accountant = accountant_of(model, NULL);
    static const double epsilons[] = {0.1, 1, 2, 3, 5, 10, 50};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        tem_mechanism *mechanism =
            mechanism_of(model, (tem_mechanism_options){.epsilon = epsilons[i]});
        for (uint32_t word = 1; word < count; word = word * 7 + 3) {
            tem_law *law = NULL;
            tem_prior *prior = only(model, word);
            const tem_summary found = summarise(accountant, mechanism, prior);
            assert_int_equal(tem_law_create(mechanism, word, 17, &law, NULL), TEM_OK);
            const double self = tem_law_probability(law, word);
            check_near(found.self_median, self, 1e-4, "self_median");
            check_near(found.self_mean, self, 1e-4, "self_mean");
            check_near(found.support_median, tem_law_support(law), 1e-4, "support_median");
            check_near(found.entropy_mean, tem_law_entropy(law), 1e-4, "entropy_mean");
            check_near(found.bayes, 1, 1e-4, "bayes"); /* only one word is ever used */
            tem_law_free(law);
            tem_prior_free(prior);
        }
        tem_mechanism_free(mechanism);
    }
    tem_accountant_free(accountant);
    tem_model_free(model);
}

/* The same bits for any number of threads, and `bayes` only if asked for. */
static void test_threads(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, 5, anywhere, TEM_EUCLIDEAN, 16);
    tem_accountant *accountant = accountant_of(model, NULL);
    tem_mechanism *mechanism = mechanism_of(model, (tem_mechanism_options){.epsilon = 3});
    tem_prior *prior = zipf(model, 1);
    tem_summary first = {0};
    static const unsigned threads[] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        tem_summary summary;
        const tem_run run = {.threads = threads[i]};
        assert_int_equal(
            tem_accountant_summarise(accountant, mechanism, prior, 1, &run, &summary, NULL),
            TEM_OK);
        if (i == 0)
            first = summary;
        assert_memory_equal(&summary, &first, sizeof first);
        assert_int_equal(
            tem_accountant_summarise(accountant, mechanism, prior, 0, &run, &summary, NULL),
            TEM_OK);
        assert_true(isnan(summary.bayes));
        summary.bayes = first.bayes;
        assert_memory_equal(&summary, &first, sizeof first);
    }
    tem_prior_free(prior);
    tem_mechanism_free(mechanism);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context, (void)stage, (void)done, (void)total;
    return 1;
}

/* ------------------------------------------------------------ choosing -- */

static void test_rounding(void **state) {
    (void)state;
    static const struct {
        double x;
        int digits;
        double up, down;
    } cases[] = {{0.99996, 4, 1, 0.9999},
                 {1.0004, 4, 1.001, 1},
                 {2.815, 4, 2.815, 2.815},
                 {123456, 2, 130000, 120000},
                 {9.99, 2, 10, 9.9},
                 {1e-9, 1, 1e-9, 1e-9},
                 {0.1 + 0.2, 15, 0.300000000000001, 0.3},
                 {5, 1, 5, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double x = cases[i].x;
        assert_true(tem_round_up(x, cases[i].digits) == cases[i].up);
        assert_true(tem_round_down(x, cases[i].digits) == cases[i].down);
    }
}

static double value_of(tem_target target, const tem_summary *summary) {
    return target == TEM_TARGET_SELF      ? summary->self_median
           : target == TEM_TARGET_SUPPORT ? summary->support_median
                                          : summary->bayes;
}

static tem_summary at_epsilon(const tem_accountant *accountant, const tem_wish *wish,
                              double epsilon) {
    tem_mechanism *mechanism = mechanism_of(
        accountant->model,
        (tem_mechanism_options){.epsilon = epsilon, .beta = wish->beta, .gamma = wish->gamma});
    const tem_summary summary = summarise(accountant, mechanism, wish->prior);
    tem_mechanism_free(mechanism);
    return summary;
}

/* The answer keeps the wish. An epsilon that is 0.04 % larger, or larger by one digit, does not. */
static void check_answer(const tem_accountant *accountant, const tem_wish *wish,
                         const tem_point *answer) {
    const double sign = wish->target == TEM_TARGET_SUPPORT ? -1 : 1;
    const double next = tem_round_up(answer->epsilon * (1 + 4e-4), 4);
    const tem_summary here = at_epsilon(accountant, wish, answer->epsilon);
    const tem_summary there = at_epsilon(accountant, wish, next);
    assert_true(tem_round_down(answer->epsilon, 4) == answer->epsilon);
    assert_true(answer->epsilon_paper == answer->epsilon && answer->s > 0 && answer->gamma > 0);
    assert_true(value_of(wish->target, &here) == value_of(wish->target, &answer->summary));
    assert_true(sign * value_of(wish->target, &here) <= sign * wish->wanted);
    assert_true(sign * value_of(wish->target, &there) > sign * wish->wanted);
}

/* The answer's certificate can be made again, and keeps the wish. */
static void check_certified(const tem_accountant *accountant, const tem_wish *wish,
                            const tem_point *answer) {
    const tem_calibration wanted = {
        .epsilon = answer->epsilon, .beta = wish->beta, .gamma = wish->gamma};
    tem_certificate *certificate = NULL;
    tem_certificate_info info;
    assert_int_equal(tem_accountant_calibrate(accountant, &wanted, NULL, &certificate, NULL, NULL),
                     TEM_OK);
    tem_certificate_get_info(certificate, &info);
    assert_true(info.s == answer->s && 2 * info.s < answer->epsilon_paper);
    assert_true(answer->epsilon < answer->epsilon_paper);
    assert_true(value_of(wish->target, &answer->summary) <= wish->wanted);
    tem_certificate_free(certificate);
}

static void check_curve(const tem_accountant *accountant, const tem_wish *wish,
                        const tem_point *answer) {
    tem_point points[TEM_CURVE_MAX];
    uint32_t count = 0, chosen = 0;
    assert_int_equal(tem_accountant_curve(accountant, wish, answer, NULL, points, &count, NULL),
                     TEM_OK);
    assert_in_range(count, 5, TEM_CURVE_MAX);
    for (uint32_t i = 0; i < count; i++) {
        chosen += memcmp(&points[i], answer, sizeof *answer) == 0;
        assert_true(i == 0 || points[i].epsilon_paper > points[i - 1].epsilon_paper);
        assert_true(points[i].summary.bayes > 0);
    }
    assert_int_equal(chosen, 1);
}

static void test_choose(void **state) {
    (void)state;
    static const tem_wish wishes[] = {{.target = TEM_TARGET_SELF, .wanted = 0.5},
                                      {.target = TEM_TARGET_SUPPORT, .wanted = 5, .beta = 0.01},
                                      {.target = TEM_TARGET_BAYES, .wanted = 0.3, .gamma = 1},
                                      {.target = TEM_TARGET_SUPPORT, .wanted = 149.9},
                                      {.target = TEM_TARGET_SELF, .wanted = 0.5, .calibrated = 1}};
    tem_model *model = make_model(150, 4, anywhere, TEM_EUCLIDEAN, 16);
    tem_accountant *accountant = accountant_of(model, NULL);
    tem_prior *prior = zipf(model, 1);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        tem_wish wish = wishes[i];
        tem_point answer = {.epsilon = 0};
        wish.prior = prior;
        assert_int_equal(tem_accountant_choose(accountant, &wish, NULL, &answer, NULL), TEM_OK);
        (wish.calibrated ? check_certified : check_answer)(accountant, &wish, &answer);
        check_curve(accountant, &wish, &answer);
    }
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

static void test_choose_refuses(void **state) {
    (void)state;
    tem_model *model = make_model(20, 4, anywhere, TEM_EUCLIDEAN, 16);
    tem_accountant *accountant = accountant_of(model, NULL);
    tem_prior *prior = zipf(model, 1);
    const struct {
        tem_wish wish;
        tem_status status;
    } refused[] = {
        {{.target = TEM_TARGET_SELF, .wanted = 0, .prior = prior}, TEM_ERR_ARGUMENT},
        {{.target = TEM_TARGET_SELF, .wanted = 1, .prior = prior}, TEM_ERR_ARGUMENT},
        {{.target = TEM_TARGET_BAYES, .wanted = NAN, .prior = prior}, TEM_ERR_ARGUMENT},
        {{.target = TEM_TARGET_SUPPORT, .wanted = 1, .prior = prior}, TEM_ERR_ARGUMENT},
        {{.target = TEM_TARGET_SUPPORT, .wanted = INFINITY, .prior = prior}, TEM_ERR_ARGUMENT},
        {{.wanted = 0.5, .prior = prior}, TEM_ERR_ARGUMENT},
        {{.target = TEM_TARGET_SELF, .wanted = 0.5}, TEM_ERR_ARGUMENT},
        {{.target = TEM_TARGET_SELF, .wanted = 0.5, .beta = 0.01, .gamma = 2, .prior = prior},
         TEM_ERR_ARGUMENT},
        {{.target = TEM_TARGET_SUPPORT, .wanted = 21, .prior = prior}, TEM_ERR_RANGE},
        {{.target = TEM_TARGET_BAYES, .wanted = 0.01, .prior = prior}, TEM_ERR_RANGE}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        tem_point answer = {.epsilon = -1};
        assert_int_equal(tem_accountant_choose(accountant, &refused[i].wish, NULL, &answer, NULL),
                         refused[i].status);
        assert_true(answer.epsilon == -1);
    }
    tem_wish wish = refused[0].wish;
    tem_point points[TEM_CURVE_MAX], answer = {.epsilon_paper = 1};
    uint32_t count = 77;
    assert_int_equal(tem_accountant_curve(accountant, &wish, &answer, NULL, points, &count, NULL),
                     TEM_ERR_ARGUMENT);
    wish.wanted = 0.5;
    assert_int_equal(tem_accountant_curve(accountant, &wish, NULL, NULL, points, &count, NULL),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(count, 77);
    tem_target target = TEM_TARGET_BAYES;
    assert_int_equal(tem_target_parse("support", &target, NULL), TEM_OK);
    assert_string_equal(tem_target_name(target), "support");
    assert_int_equal(tem_target_parse("selves", &target, NULL), TEM_ERR_ARGUMENT);
    assert_string_equal(tem_target_name(0), "unknown");
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

static void test_refusals(void **state) {
    (void)state;
    tem_model *model = make_model(30, 2, anywhere, TEM_EUCLIDEAN, 4);
    tem_model *other = make_model(30, 2, anywhere, TEM_EUCLIDEAN, 4);
    tem_accountant *a = accountant_of(model, NULL);
    tem_mechanism *m = mechanism_of(model, (tem_mechanism_options){.epsilon = 3});
    tem_mechanism *strange = mechanism_of(other, (tem_mechanism_options){.epsilon = 3});
    tem_mechanism *other_kind =
        mechanism_of(model, (tem_mechanism_options){.mechanism = "madlib", .epsilon = 3});
    tem_prior *p = zipf(model, 1), *strange_prior = zipf(other, 1);
    tem_summary s = {.bayes = 7};
    const tem_run stopped = {.progress = stop};
    assert_int_equal(tem_accountant_summarise(a, strange, p, 1, NULL, &s, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_accountant_summarise(a, m, strange_prior, 1, NULL, &s, NULL),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_accountant_summarise(a, other_kind, p, 1, NULL, &s, NULL),
                     TEM_ERR_UNSUPPORTED);
    assert_int_equal(tem_accountant_summarise(a, m, NULL, 1, NULL, &s, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_accountant_summarise(a, NULL, p, 1, NULL, &s, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_accountant_summarise(NULL, m, p, 1, NULL, &s, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_accountant_summarise(a, m, p, 1, NULL, NULL, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_accountant_summarise(a, m, p, 1, &stopped, &s, NULL), TEM_ERR_CANCELLED);
    assert_true(s.bayes >= 7 && s.bayes <= 7); /* untouched */
    tem_prior_free(strange_prior);
    tem_prior_free(p);
    tem_mechanism_free(other_kind);
    tem_mechanism_free(strange);
    tem_mechanism_free(m);
    tem_accountant_free(a);
    tem_model_free(other);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zipf),          cmocka_unit_test(test_files),
        cmocka_unit_test(test_files_refused), cmocka_unit_test(test_few_words),
        cmocka_unit_test(test_weights),       cmocka_unit_test(test_many_words),
        cmocka_unit_test(test_pass),          cmocka_unit_test(test_many_weights),
        cmocka_unit_test(test_profile),       cmocka_unit_test(test_misleading_profile),
        cmocka_unit_test(test_real_words),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_choose),        cmocka_unit_test(test_choose_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
