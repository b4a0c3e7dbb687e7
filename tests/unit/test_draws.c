/* test_draws.c - the draws against the law that they should follow.
 *
 * These are statistical tests with a fixed seed: the same numbers in every run. Their thresholds
 * come from the null distribution, so that a correct program with fresh randomness would fail the
 * whole file with probability at most FALSE_ALARM (Bonferroni: each comparison has an equal share
 * of it). tests/check-planted shows that wrong programs do fail.
 *
 * Chi-square: 10^6 draws per case, in batches of all sizes that matter: one word, as many as are
 * pending at once, one less, one more, very many. The bins come from the law, never from what
 * appeared: a word that is expected BIN_LEAST times or more has a bin of its own, all others of
 * positive probability share one; if that one is expected fewer times, it joins the least likely of
 * the others. Degrees of freedom: bins less one. A word of probability 0 must not appear at all.
 *
 * Kolmogorov-Smirnov: P(D > t) <= 2 exp(-2 N t^2) for every N (Dvoretzky, Kiefer, Wolfowitz;
 * Massart's constant). */
#include "gamma_upper.h"
#include "mech/madlib.h"
#include "mech/sampler.h"
#include "model/model.h"
#include "slow.h"
#include "space/kernels/kernels.h"
#include "tem_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer run looks for memory errors, so it makes fewer draws; some bins of Madlib then have
 * an expected count below BIN_LEAST. */
#if SLOW
enum { DRAWS = 20000, KS_SAMPLES = 5000, NEAREST_POINTS = 50 };
#else
enum { DRAWS = 1000000, KS_SAMPLES = 100000, NEAREST_POINTS = 200 };
#endif

enum { SEED = 20210707, BIN_LEAST = 50, BATCH_MAX = 1000, COMPARISONS_MAX = 128 };

#define FALSE_ALARM 1e-6 /* of the whole file */
static const double ALARM_EACH = FALSE_ALARM / COMPARISONS_MAX;

static unsigned comparisons; /* made so far; checked against COMPARISONS_MAX at the end */

/* ------------------------------------------------------- distributions -- */

static double gamma_lower(double a, double x) {
    return 1 - gamma_upper(a, x);
}

/* The x that a chi-square variable exceeds with probability `alarm`: doubling from the mean and
 * then bisection, since speed does not matter here. */
static double chi_square_quantile(unsigned freedom, double alarm) {
    double low = 0, high = freedom;
    while (gamma_upper(freedom / 2.0, high / 2) > alarm)
        high *= 2;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        if (gamma_upper(freedom / 2.0, middle / 2) > alarm)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* I_x(a, b), the regularized incomplete beta function, by its continued fraction, for x
 * below (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m < 10000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        value *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        value *= c * d;
        if (fabs(c * d - 1) < 1e-16)
            break;
    }
    return value * exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
}

static double beta_lower(double a, double b, double x) {
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    return x < (a + 1) / (a + b + 2) ? beta_fraction(a, b, x) : 1 - beta_fraction(b, a, 1 - x);
}

/* P(u_1 <= u) for a uniform direction in `dimension` > 1: u_1^2 is Beta(1/2, (d-1)/2). */
static double direction_cdf(uint32_t dimension, double u) {
    const double half = beta_lower(0.5, (dimension - 1) / 2.0, u * u) / 2;
    return u < 0 ? 0.5 - half : 0.5 + half;
}

static void assert_near(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void test_distributions(void **state) {
    (void)state;
    /* Tables of the chi-square distribution; for two degrees there is the closed form -2 ln p. */
    assert_near(chi_square_quantile(1, 0.05), 3.841458820694124, 1e-12);
    assert_near(chi_square_quantile(10, 0.01), 23.209251158954356, 1e-12);
    assert_near(chi_square_quantile(100, 0.001), 149.44925277903886, 1e-12);
    assert_near(chi_square_quantile(2, 1e-8), 36.841361487904734, 1e-12);
    assert_near(gamma_upper(2, 30), 31 * exp(-30), 1e-12);
    assert_near(gamma_lower(1, 0.3), 1 - exp(-0.3), 1e-12);
    assert_near(gamma_lower(0.5, 2), erf(sqrt(2)), 1e-12);
    for (double u = -0.95; u < 1; u += 0.1) {
        assert_near(direction_cdf(2, u), 1 - acos(u) / acos(-1), 1e-12);
        assert_near(direction_cdf(3, u), (1 + u) / 2, 1e-12);
        assert_near(direction_cdf(5, u), (2 + 3 * u - u * u * u) / 4, 1e-12);
    }
}

/* ---------------------------------------------------------- chi-square -- */

/* Compares counts with expectations. Expectations are at least BIN_LEAST, or there is only one
 * bin. */
static void chi_square(const uint64_t *counts, const double *expected, unsigned bins) {
    comparisons++;
    double statistic = 0;
    uint64_t draws = 0;
    for (unsigned i = 0; i < bins; i++) {
        draws += counts[i];
        const double off = (double)counts[i] - expected[i];
        statistic += off * off / expected[i];
    }
    if (bins < 2)
        return; /* one certain outcome: nothing to compare */
    const double threshold = chi_square_quantile(bins - 1, ALARM_EACH);
    if (!(statistic <= threshold))
        fail_msg("chi-square %.1f with %u degrees of freedom from %llu draws; above %.1f with "
                 "probability %.1e",
                 statistic, bins - 1, (unsigned long long)draws, threshold, ALARM_EACH);
}

/* The bins of a law: bin_of[y] for each of `words` words, UINT32_MAX for probability 0. */
typedef struct binning {
    uint32_t words, bins;
    uint32_t *bin_of;
    double *expected;
} binning;

static void merge_rare(binning *b, double rare) {
    uint32_t target = b->bins;
    if (rare >= BIN_LEAST || b->bins == 0)
        b->bins++;
    else
        target = 0;
    for (uint32_t i = 0; i < b->bins && rare < BIN_LEAST; i++)
        if (b->expected[i] < b->expected[target])
            target = i;
    b->expected[target] += rare;
    for (uint32_t y = 0; y < b->words; y++)
        if (b->bin_of[y] == b->words)
            b->bin_of[y] = target;
}

static binning make_bins(const tem_law *law, uint32_t words) {
    binning b = {.words = words};
    b.bin_of = calloc(words, sizeof *b.bin_of);
    b.expected = calloc((size_t)words + 1, sizeof *b.expected);
    assert_true(b.bin_of != NULL && b.expected != NULL);
    double rare = 0;
    for (uint32_t y = 0; y < words; y++) {
        const double expected = tem_law_probability(law, y) * DRAWS;
        b.bin_of[y] = expected >= BIN_LEAST ? b.bins : expected > 0 ? words : UINT32_MAX;
        if (expected >= BIN_LEAST)
            b.expected[b.bins++] = expected;
        else
            rare += expected;
    }
    if (rare > 0)
        merge_rare(&b, rare);
    return b;
}

/* The batch sizes in turn. */
static int batch_size(int batch, int most) {
    static const int sizes[] = {1, 2, 15, BATCH_MAX, 16, 17};
    const int size = sizes[batch % 6];
    return size < most ? size : most;
}

static void draw_batch(const tem_mechanism *mechanism, tem_rng *rng, uint32_t *words, int count) {
    tem_error error;
    if (tem_mechanism_draw_many(mechanism, rng, words, words, (size_t)count, &error) != TEM_OK)
        fail_msg("no draw: %s", error.message);
}

/* DRAWS outputs to compare with a law. */
typedef struct tally {
    binning bins;
    uint64_t *counts;
} tally;

static tally tally_make(const tem_mechanism *mechanism, uint32_t word, uint32_t words) {
    tem_law *law = NULL;
    assert_int_equal(tem_law_create(mechanism, word, 17, &law, NULL), TEM_OK);
    tally t = {.bins = make_bins(law, words)};
    tem_law_free(law);
    t.counts = calloc(t.bins.bins, sizeof *t.counts);
    assert_non_null(t.counts);
    return t;
}

static void tally_add(tally *t, uint32_t drawn) {
    assert_true(drawn < t->bins.words);
    const uint32_t bin = t->bins.bin_of[drawn];
    if (bin == UINT32_MAX)
        fail_msg("word %u was drawn, but its probability is 0", drawn);
    t->counts[bin]++;
}

static void tally_end(tally *t) {
    chi_square(t->counts, t->bins.expected, t->bins.bins);
    free(t->counts);
    free(t->bins.bin_of);
    free(t->bins.expected);
}

/* Compares DRAWS outputs for `word` with its law. */
static void check_draws(const tem_mechanism *mechanism, tem_rng *rng, uint32_t word,
                        uint32_t words) {
    tally t = tally_make(mechanism, word, words);
    for (int drawn = 0, batch = 0, size = 0; drawn < DRAWS; drawn += size, batch++) {
        uint32_t out[BATCH_MAX];
        size = batch_size(batch, DRAWS - drawn);
        for (int i = 0; i < size; i++)
            out[i] = word;
        draw_batch(mechanism, rng, out, size);
        for (int i = 0; i < size; i++)
            tally_add(&t, out[i]);
    }
    tally_end(&t);
}

/* -------------------------------------------------------------- models -- */

typedef enum source {
    FORTY,    /* the first words of the raw vectors */
    HUNDREDS, /* 300 of them */
    LINE,     /* 24 equally spaced words on a line: ties left and right of a word */
    TWINS,    /* 10 points with three words each: words at distance 0 */
    LATTICE,  /* 7 x 7 words on a lattice: dozens of ties */
    ANGLES    /* 40 directions in the plane, under the angular metric */
} source;

static tem_vectors *load_default(uint32_t limit) {
    tem_vectors *vectors = NULL;
    tem_error error;
    const char *path = getenv("TEM_RAW_VECTORS");
    assert_non_null(path);
    if (tem_vectors_load(path, limit, NULL, &vectors, &error) != TEM_OK)
        fail_msg("%s: %s", path, error.message);
    return vectors;
}

enum { PLANE_WORDS_MAX = 49 };

/* Words in the plane. All coordinates are on the grid, so that ties are exact. */
static tem_vectors *plane(uint32_t count, void (*place)(uint32_t id, float point[2])) {
    char names[PLANE_WORDS_MAX][8];
    const char *words[PLANE_WORDS_MAX];
    float values[PLANE_WORDS_MAX * 2];
    assert_true(count <= PLANE_WORDS_MAX);
    for (uint32_t id = 0; id < count; id++) {
        snprintf(names[id], sizeof names[id], "w%u", id);
        words[id] = names[id];
        place(id, values + (size_t)id * 2);
    }
    tem_vectors *vectors = NULL;
    assert_int_equal(tem_vectors_create(words, values, count, 2, &vectors, NULL), TEM_OK);
    return vectors;
}

static void place_on_line(uint32_t id, float point[2]) {
    point[0] = (float)(3 * id) / 16;
    point[1] = (float)(4 * id) / 16;
}

static void place_twins(uint32_t id, float point[2]) {
    const uint32_t at = id % 10;
    point[0] = (float)(at * at) / 16;
    point[1] = (float)at / 4;
}

static void place_on_lattice(uint32_t id, float point[2]) {
    point[0] = (float)(id % 7) / 2;
    point[1] = (float)(id / 7) / 2;
}

static void place_around(uint32_t id, float point[2]) {
    point[0] = (float)cos(0.07 * id);
    point[1] = (float)sin(0.07 * id);
}

static tem_vectors *make_vectors(source from) {
    switch (from) {
    case LINE:
        return plane(24, place_on_line);
    case TWINS:
        return plane(30, place_twins);
    case LATTICE:
        return plane(49, place_on_lattice);
    case ANGLES:
        return plane(40, place_around);
    default:
        return load_default(from == HUNDREDS ? 300 : 40);
    }
}

static tem_model *make_model(source from, uint32_t neighbours) {
    tem_vectors *vectors = make_vectors(from);
    const tem_build_options options = {.metric = from == ANGLES ? TEM_ANGULAR : TEM_EUCLIDEAN,
                                       .neighbours = neighbours};
    tem_model *model = NULL;
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

/* --------------------------------------------------------------- cases -- */

typedef enum weighting {
    EQUAL,  /* NULL */
    UNEVEN, /* 1 to 7 */
    HOLES,  /* every third is 0 */
    HUGE32, /* anything up to 2^32 - 1 */
    SPREAD, /* powers of two from 1 to 2^31 */
    ONE     /* a single word has all the weight */
} weighting;

/* The weight of each word; returns NULL for EQUAL. */
static uint32_t *make_weights(weighting kind, uint32_t words) {
    if (kind == EQUAL)
        return NULL;
    uint32_t *values = calloc(words, sizeof *values);
    assert_non_null(values);
    for (uint32_t id = 0; id < words; id++) {
        const uint32_t any[] = {[UNEVEN] = id * 5 % 7 + 1,
                                [HOLES] = id % 3 == 1 ? 0 : id % 5 + 1,
                                [HUGE32] = UINT32_MAX - id * 2654435761u,
                                [SPREAD] = (uint32_t)1 << id * 11 % 32,
                                [ONE] = id == 3 ? 17 : 0};
        values[id] = any[kind];
    }
    return values;
}

typedef struct draw_case {
    const char *name;
    source from;
    uint32_t neighbours, word;
    const char *mechanism;
    double epsilon;
    double gamma; /* 0: from the default beta */
    weighting weights;
} draw_case;

enum { UNKNOWN = -1 };

#define TEM_CASE(from, k, word, epsilon, gamma, weights)                                           \
    {                                                                                              \
        "draws " #from " k=" #k " word=" #word " tem epsilon=" #epsilon " gamma=" #gamma           \
        " " #weights,                                                                              \
            from, k, (uint32_t)(word), "tem", epsilon, gamma, weights                              \
    }
#define EM_CASE(from, k, word, epsilon, weights)                                                   \
    {                                                                                              \
        "draws " #from " k=" #k " word=" #word " em epsilon=" #epsilon " " #weights, from, k,      \
            (uint32_t)(word), "em", epsilon, 0, weights                                            \
    }

/* K from 1 to all words; gammas below, among and beyond the distances. */
static const draw_case cases[] = {
    TEM_CASE(FORTY, 1, 0, 1, 0, EQUAL),
    TEM_CASE(FORTY, 4, 0, 2, 0, EQUAL),
    TEM_CASE(FORTY, 20, 0, 1, 0, EQUAL),
    TEM_CASE(FORTY, 20, 7, 3, 0, UNEVEN),
    TEM_CASE(FORTY, 40, 7, 2, 0, EQUAL),
    TEM_CASE(FORTY, 39, 12, 2, 0, HUGE32),
    TEM_CASE(FORTY, 8, 39, 4, 5, EQUAL),
    TEM_CASE(FORTY, 8, 39, 4, 0.5, EQUAL),
    TEM_CASE(FORTY, 8, 10, 2, 4, HOLES),
    TEM_CASE(FORTY, 8, 5, 1.5, 0, SPREAD),
    TEM_CASE(FORTY, 8, 5, 2, 0, ONE),
    TEM_CASE(FORTY, 8, UNKNOWN, 2, 0, EQUAL),
    TEM_CASE(FORTY, 8, UNKNOWN, 2, 0, UNEVEN),
    TEM_CASE(FORTY, 8, UNKNOWN, 0.5, 3, HOLES),
    TEM_CASE(FORTY, 1, UNKNOWN, 8, 0, HUGE32),
    TEM_CASE(FORTY, 8, UNKNOWN, 8, 0, SPREAD),
    EM_CASE(FORTY, 8, 3, 1, EQUAL),
    EM_CASE(FORTY, 1, 3, 0.25, UNEVEN),
    EM_CASE(FORTY, 16, 20, 3, HUGE32),
    EM_CASE(FORTY, 8, UNKNOWN, 3, HOLES),
    TEM_CASE(ANGLES, 10, 2, 8, 0, EQUAL),
    TEM_CASE(ANGLES, 2, 30, 4, 1, UNEVEN),
    EM_CASE(ANGLES, 10, 2, 10, HOLES),
    TEM_CASE(HUNDREDS, 1, 100, 1, 0, EQUAL),
    TEM_CASE(HUNDREDS, 8, 100, 2, 0, EQUAL),
    TEM_CASE(HUNDREDS, 64, 100, 3, 0, EQUAL),
    TEM_CASE(HUNDREDS, 64, 250, 3, 5, UNEVEN),
    TEM_CASE(HUNDREDS, 1, 17, 3, 0, EQUAL),
    TEM_CASE(HUNDREDS, 128, 299, 2, 0, SPREAD),
    TEM_CASE(HUNDREDS, 299, 60, 2, 4, HOLES),
    TEM_CASE(HUNDREDS, 300, 250, 3, 0, EQUAL),
    TEM_CASE(HUNDREDS, 16, 0, 1, 0, HUGE32),
    TEM_CASE(HUNDREDS, 64, UNKNOWN, 3, 0, UNEVEN),
    EM_CASE(HUNDREDS, 32, 17, 1.5, HOLES),
    EM_CASE(HUNDREDS, 8, 200, 2.5, EQUAL),
    EM_CASE(HUNDREDS, 100, 3, 2, HUGE32),
    TEM_CASE(LINE, 1, 0, 1, 0, EQUAL),
    TEM_CASE(LINE, 2, 12, 2, 0, EQUAL),
    TEM_CASE(LINE, 5, 12, 2, 1.1, EQUAL),
    TEM_CASE(LINE, 12, 3, 0.5, 0, UNEVEN),
    TEM_CASE(LINE, 24, 12, 3, 0, HOLES),
    TEM_CASE(LINE, 12, 23, 0.001, 0, EQUAL),
    TEM_CASE(LINE, 6, 11, 6, 0, HUGE32),
    EM_CASE(LINE, 4, 12, 1, EQUAL),
    EM_CASE(LINE, 6, 4, 2, SPREAD),
    TEM_CASE(TWINS, 1, 0, 8, 0, EQUAL),
    TEM_CASE(TWINS, 2, 25, 2, 0, EQUAL),
    TEM_CASE(TWINS, 4, 15, 4, 0, UNEVEN),
    TEM_CASE(TWINS, 10, 6, 1, 2, HOLES),
    EM_CASE(TWINS, 5, 22, 3, EQUAL),
    TEM_CASE(LATTICE, 3, 24, 2, 0, EQUAL),
    TEM_CASE(LATTICE, 7, 24, 3, 1.2, UNEVEN),
    TEM_CASE(LATTICE, 49, 0, 1, 0, EQUAL),
    EM_CASE(LATTICE, 11, 48, 4, HOLES),
};

enum { CASES = sizeof cases / sizeof *cases };

static tem_mechanism *make_mechanism(const draw_case *c, const tem_model *model) {
    uint32_t *values = make_weights(c->weights, model->words.count);
    const tem_mechanism_options options = {
        .mechanism = c->mechanism, .epsilon = c->epsilon, .gamma = c->gamma, .weights = values};
    tem_mechanism *mechanism = NULL;
    tem_error error;
    if (tem_mechanism_create(model, &options, &mechanism, &error) != TEM_OK)
        fail_msg("%s: %s", c->name, error.message);
    free(values);
    return mechanism;
}

static void test_draws(void **state) {
    const draw_case *c = *state;
    tem_model *model = make_model(c->from, c->neighbours);
    tem_mechanism *mechanism = make_mechanism(c, model);
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create_insecure(SEED, (uint64_t)(c - cases), &rng, NULL), TEM_OK);
    check_draws(mechanism, rng, c->word, model->words.count);
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

/* The only test here whose numbers differ from run to run: with the probability stated at the top
 * it fails although nothing is wrong. */
static void test_draws_with_secure_generator(void **state) {
    (void)state;
    const draw_case c = TEM_CASE(FORTY, 8, 7, 2, 0, UNEVEN);
    tem_model *model = make_model(c.from, c.neighbours);
    tem_mechanism *mechanism = make_mechanism(&c, model);
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    check_draws(mechanism, rng, c.word, model->words.count);
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

/* Words that are drawn for together: each follows its own law, at any position. */
static void test_mixed_draws(void **state) {
    (void)state;
    enum { WORDS = 4 };
    static const uint32_t words[WORDS] = {100, TEM_NO_WORD, 7, 250};
    const draw_case c = TEM_CASE(HUNDREDS, 8, 0, 2, 0, UNEVEN);
    tem_model *model = make_model(c.from, c.neighbours);
    tem_mechanism *mechanism = make_mechanism(&c, model);
    tem_rng *rng = NULL;
    tally tallies[WORDS];
    int drawn[WORDS] = {0};
    assert_int_equal(tem_rng_create_insecure(SEED, 1000, &rng, NULL), TEM_OK);
    for (int k = 0; k < WORDS; k++)
        tallies[k] = tally_make(mechanism, words[k], model->words.count);
    for (int batch = 0;
         drawn[0] < DRAWS || drawn[1] < DRAWS || drawn[2] < DRAWS || drawn[3] < DRAWS; batch++) {
        uint32_t out[BATCH_MAX];
        const int size = batch_size(batch, BATCH_MAX);
        for (int i = 0; i < size; i++)
            out[i] = words[(batch + i * i) % WORDS];
        draw_batch(mechanism, rng, out, size);
        for (int i = 0; i < size; i++) {
            const int k = (batch + i * i) % WORDS;
            if (drawn[k]++ < DRAWS)
                tally_add(&tallies[k], out[i]);
        }
    }
    for (int k = 0; k < WORDS; k++)
        tally_end(&tallies[k]);
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

/* With an epsilon so large that every word stays unchanged, except in one draw of 10^25. */
static void test_places(void **state) {
    (void)state;
    enum { MOST = 200 };
    tem_model *model = make_model(LINE, 4);
    const tem_mechanism_options options = {.epsilon = 399, .gamma = 0.32};
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(SEED, 1001, &rng, NULL), TEM_OK);
    for (uint32_t count = 0; count <= MOST; count++) {
        uint32_t words[MOST + 1], out[MOST + 1], same[MOST + 1];
        for (uint32_t i = 0; i <= MOST; i++) {
            words[i] = i % 7 == 3 ? TEM_NO_WORD : (i * i + count) % 24;
            out[i] = same[i] = i < count ? words[i] : 77;
        }
        draw_batch(mechanism, rng, same, (int)count);
        assert_int_equal(tem_mechanism_draw_many(mechanism, rng, words, out, count, NULL), TEM_OK);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(words[i] == TEM_NO_WORD ? out[i] < 24 : out[i] == words[i]);
            assert_true(words[i] == TEM_NO_WORD ? same[i] < 24 : same[i] == words[i]);
        }
        assert_true(out[count] == 77 || count > MOST);
        assert_true(same[count] == 77 || count > MOST);
    }
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

/* ------------------------------------------------------------- threads -- */

enum { THREADS = 5, THREAD_DRAWS = 900 };

typedef struct drawer {
    pthread_t thread;
    pthread_barrier_t *start;
    const tem_mechanism *mechanism;
    uint64_t stream;
    uint32_t out[THREAD_DRAWS];
    tem_status status;
} drawer;

/* Draws for all words, twice, a line at a time. */
static void *draw_lines(void *argument) {
    drawer *d = argument;
    tem_rng *rng = NULL;
    d->status = tem_rng_create_insecure(SEED, d->stream, &rng, NULL);
    for (uint32_t i = 0; i < THREAD_DRAWS; i++)
        d->out[i] = i % 300;
    if (d->start != NULL)
        pthread_barrier_wait(d->start);
    for (uint32_t i = 0; i < THREAD_DRAWS && d->status == TEM_OK; i += 30)
        d->status = tem_mechanism_draw_many(d->mechanism, rng, d->out + i, d->out + i, 30, NULL);
    tem_rng_free(rng);
    return NULL;
}

/* Starts from a mechanism that has drawn nothing yet, which all threads need at the same time. */
static void draw_together(const draw_case *c, const tem_model *model, unsigned threads,
                          drawer *drawers) {
    tem_mechanism *mechanism = make_mechanism(c, model);
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, threads), 0);
    for (unsigned i = 0; i < threads; i++) {
        drawers[i] = (drawer){.start = &start, .mechanism = mechanism, .stream = i};
        assert_int_equal(pthread_create(&drawers[i].thread, NULL, draw_lines, &drawers[i]), 0);
    }
    for (unsigned i = 0; i < threads; i++)
        assert_int_equal(pthread_join(drawers[i].thread, NULL), 0);
    pthread_barrier_destroy(&start);
    tem_mechanism_free(mechanism);
}

/* A seed gives the same words whether or not other threads draw for the same words. */
static void test_threads(void **state) {
    (void)state;
    const draw_case c = TEM_CASE(HUNDREDS, 100, 0, 1, 0, UNEVEN);
    tem_model *model = make_model(c.from, c.neighbours);
    static drawer alone[THREADS], together[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        tem_mechanism *mechanism = make_mechanism(&c, model);
        alone[i] = (drawer){.mechanism = mechanism, .stream = i};
        draw_lines(&alone[i]);
        assert_int_equal(alone[i].status, TEM_OK);
        tem_mechanism_free(mechanism);
    }
    for (unsigned round = 0; round < 20; round++) {
        const unsigned threads = round % 2 == 0 ? 2 : THREADS;
        draw_together(&c, model, threads, together);
        for (unsigned i = 0; i < threads; i++) {
            assert_int_equal(together[i].status, TEM_OK);
            assert_memory_equal(together[i].out, alone[i].out, sizeof alone[i].out);
        }
    }
    tem_model_free(model);
}

/* ---------------------------------------------------------------- laws -- */

/* The exponent of tem.h in double precision: -s min(d, gamma). */
static double exponent_in_words(const draw_case *c, const tem_model *model, uint32_t y) {
    const uint32_t words = model->words.count;
    const double s = (floor(c->epsilon * 0x1p19) - 1) * 0x1p-20;
    const double wanted = strcmp(c->mechanism, "em") == 0 ? floor(64 / s * 65536)
                          : c->gamma > 0                  ? ceil(c->gamma * 65536)
                                         : ceil(log(0.999 * (words - 1) / 0.001) / s * 65536);
    const double gamma = fmin(wanted, UINT32_MAX) / 65536;
    const double distance =
        c->word == TEM_NO_WORD ? gamma : tem_model_distance(model, c->word, y) / 65536.0;
    return -s * fmin(distance, gamma);
}

/* The law that the draws are compared with is the law that tem.h promises. */
static void check_law(const draw_case *c) {
    tem_model *model = make_model(c->from, c->neighbours);
    tem_mechanism *mechanism = make_mechanism(c, model);
    const uint32_t words = model->words.count;
    uint32_t *values = make_weights(c->weights, words);
    double total = 0;
    for (uint32_t y = 0; y < words; y++)
        total += (values == NULL ? 1.0 : values[y]) * exp(exponent_in_words(c, model, y));
    tem_law *law = NULL;
    assert_int_equal(tem_law_create(mechanism, c->word, 17, &law, NULL), TEM_OK);
    for (uint32_t y = 0; y < words; y++) {
        const double weight = values == NULL ? 1 : values[y];
        const double expected = weight * exp(exponent_in_words(c, model, y)) / total;
        assert_near(tem_law_probability(law, y), expected, 1e-11);
    }
    tem_law_free(law);
    free(values);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

static void test_laws(void **state) {
    (void)state;
    for (unsigned i = 0; i < CASES; i++)
        check_law(&cases[i]);
}

/* ------------------------------------------------------------ refusals -- */

static void check_refused(const tem_model *model, const tem_mechanism_options *options) {
    tem_mechanism *mechanism = NULL;
    assert_int_equal(tem_mechanism_create(model, options, &mechanism, NULL), TEM_ERR_RANGE);
    assert_null(mechanism);
}

/* Values out of range are refused, never moved to the nearest valid value. */
static void test_refusals(void **state) {
    (void)state;
    tem_model *model = make_model(LINE, 4);
    const uint32_t no_weight[24] = {0};
    const tem_mechanism_options refused[] = {
        {.epsilon = 0x1p-18 - 0x1p-40, .gamma = 1},
        {.epsilon = 0x1p-18 - 0x1p-40, .mechanism = "em"},
        {.epsilon = -1},
        {.epsilon = NAN},
        {.epsilon = INFINITY},
        {.epsilon = 0x1p30},
        {.epsilon = 2, .gamma = 65},
        {.epsilon = 2, .gamma = -1},
        {.epsilon = 2, .gamma = NAN},
        {.epsilon = 0x1p-17, .gamma = 70000},
        {.epsilon = 2, .beta = 0.99},
        {.epsilon = 2, .beta = -0.1},
        {.epsilon = 2, .weights = no_weight},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        check_refused(model, &refused[i]);
    /* The range of the parameter would catch these too: the exponent refuses them by itself. */
    uint64_t steps = 7;
    assert_int_equal(exponent_s(0x1p-18 - 0x1p-40, &steps, NULL), TEM_ERR_RANGE);
    assert_int_equal(exponent_s(0x1p30, &steps, NULL), TEM_ERR_RANGE);
    assert_int_equal(exponent_s(NAN, &steps, NULL), TEM_ERR_RANGE);
    assert_int_equal(steps, 7);
    tem_model_free(model);
}

/* exp(-rest / 2^36), up to the largest rest that is promised. */
static void test_bernoulli(void **state) {
    (void)state;
    const uint64_t one = (uint64_t)1 << EXPONENT_BITS;
    const uint64_t rests[] = {one / 1000, one / 8 - 1, one / 3, one - 1, one};
    tem_rng rng;
    rng_init_seeded(&rng, SEED, 0);
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        const double yes = exp(-(double)rests[i] / (double)one) * DRAWS;
        const double expected[2] = {DRAWS - yes, yes};
        uint64_t counts[2] = {0};
        for (int drawn = 0; drawn < DRAWS; drawn++)
            counts[sampler_bernoulli_exp(rests[i], &rng)]++;
        chi_square(counts, expected, 2);
    }
    for (int drawn = 0; drawn < 1000; drawn++)
        assert_true(sampler_bernoulli_exp(0, &rng));
}

/* -------------------------------------------------------- broken models -- */

enum { LINE_WORDS = 24, LINE_BOUNDS = LINE_WORDS * NEIGHBOUR_RANGES };

/* A sampler for the modified index of LINE. */
static sampler make_line_sampler(const tem_model *model, const neighbour_index *index,
                                 const uint32_t *values) {
    sampler m;
    const exponent x = {1 << 20, 8 * TEM_DIST_ONE};
    assert_int_equal(sampler_init(&m, &model->space, index, x, values, NULL), TEM_OK);
    return m;
}

/* Draws for a word until a draw fails, at most 10000 times. */
static tem_status draw_until_it_fails(const sampler *m, uint32_t word) {
    tem_rng rng;
    rng_init_seeded(&rng, SEED, 0);
    tem_status status = TEM_OK;
    uint32_t out = 77;
    for (int i = 0; i < 10000 && status == TEM_OK; i++) {
        out = 77;
        status = sampler_draw(m, &word, 1, &rng, &out, NULL);
    }
    assert_true(status == TEM_OK || out == 77);
    return status;
}

/* A word outside the list is nearer than the bound of its range, for each range: no draw may
 * return. */
static void test_broken_bound(void **state) {
    (void)state;
    const uint32_t word = 12;
    tem_model *model = make_model(LINE, 4);
    tem_dist bounds[LINE_BOUNDS];
    neighbour_index index = model->index;
    index.bounds = bounds;
    unsigned broken = 0;
    for (unsigned part = 0; part < NEIGHBOUR_RANGES; part++) {
        memcpy(bounds, model->index.bounds, sizeof bounds);
        tem_dist *bound = &bounds[word * NEIGHBOUR_RANGES + part];
        if (*bound == UINT32_MAX)
            continue;
        ++*bound;
        broken++;
        sampler m = make_line_sampler(model, &index, NULL);
        assert_int_equal(draw_until_it_fails(&m, word), TEM_ERR_DAMAGED);
        assert_int_equal(draw_until_it_fails(&m, word + 3), TEM_OK);
        sampler_free(&m);
    }
    assert_int_equal(broken, 10); /* of 12: words 10 to 13, two ranges, are in the list */
    tem_model_free(model);
}

/* A range has words outside the list but no bound: these words would never come out. */
static void test_missing_bound(void **state) {
    (void)state;
    static const uint32_t word = 12;
    tem_model *model = make_model(LINE, 4);
    tem_dist bounds[LINE_BOUNDS];
    neighbour_index index = model->index;
    index.bounds = bounds;
    for (unsigned part = 0; part < NEIGHBOUR_RANGES; part++) {
        memcpy(bounds, model->index.bounds, sizeof bounds);
        bounds[word * NEIGHBOUR_RANGES + part] = UINT32_MAX;
        const bool broken = model->index.bounds[word * NEIGHBOUR_RANGES + part] != UINT32_MAX;
        sampler m = make_line_sampler(model, &index, NULL);
        assert_int_equal(draw_until_it_fails(&m, word), broken ? TEM_ERR_DAMAGED : TEM_OK);
        assert_int_equal(draw_until_it_fails(&m, word), broken ? TEM_ERR_DAMAGED : TEM_OK);
        sampler_free(&m);
    }
    tem_model_free(model);
}

/* A list that names a word twice weighs more than its range. Without a check the total may
 * overflow, and the word may come out more often than it should. */
static void check_doubled_list(const tem_model *model, uint32_t doubled) {
    tem_neighbour entries[LINE_WORDS];
    uint64_t starts[LINE_WORDS + 1] = {0};
    tem_dist bounds[LINE_BOUNDS];
    uint32_t values[LINE_WORDS];
    tem_neighbours right;
    assert_int_equal(neighbours_get(&model->index, 0, &right, NULL), TEM_OK);
    memcpy(entries, right.list, sizeof entries);
    entries[LINE_WORDS - 1].id = doubled; /* and the last word is missing */
    for (uint32_t i = 0; i < LINE_WORDS; i++) {
        starts[i + 1] = LINE_WORDS;
        values[i] = i == doubled;
    }
    memset(bounds, 0xff, sizeof bounds);
    const neighbour_index index = {.count = LINE_WORDS,
                                   .starts = starts,
                                   .entries = entries,
                                   .entry_count = LINE_WORDS,
                                   .bounds = bounds};
    sampler m = make_line_sampler(model, &index, values);
    assert_int_equal(draw_until_it_fails(&m, 0), TEM_ERR_DAMAGED);
    sampler_free(&m);
    for (uint32_t i = 0; i < LINE_WORDS; i++) /* others outweigh it, in other ranges */
        values[i] = i == doubled ? 2 : i / 2 == doubled / 2 ? 1 : 1000;
    m = make_line_sampler(model, &index, values);
    assert_int_equal(draw_until_it_fails(&m, 0), TEM_ERR_DAMAGED);
    sampler_free(&m);
}

static void test_doubled_list(void **state) {
    (void)state;
    tem_model *model = make_model(LINE, LINE_WORDS);
    for (uint32_t doubled = 0; doubled < LINE_WORDS - 1; doubled++)
        check_doubled_list(model, doubled);
    tem_model_free(model);
}

/* Overlapping lists: the thresholds of one would overwrite those of another. */
static void test_overlapping_lists(void **state) {
    (void)state;
    tem_model *model = make_model(LINE, 4);
    uint64_t starts[LINE_WORDS + 1];
    neighbour_index index = model->index;
    index.starts = starts;
    const exponent x = {1 << 20, 8 * TEM_DIST_ONE};
    for (uint32_t id = 0; id <= LINE_WORDS; id++) {
        memcpy(starts, model->index.starts, sizeof starts);
        sampler m;
        tem_error error = {0};
        starts[id] += 5; /* past the next, or past the end */
        assert_int_equal(sampler_init(&m, &model->space, &index, x, NULL, &error), TEM_ERR_DAMAGED);
        assert_int_equal(error.status, TEM_ERR_DAMAGED);
        sampler_free(&m);
    }
    tem_model_free(model);
}

/* -------------------------------------------------------------- Madlib -- */

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef double cdf_fn(uint32_t dimension, double x);

/* Compares KS_SAMPLES numbers with a distribution. */
static void kolmogorov_smirnov(double *samples, cdf_fn *cdf, uint32_t dimension) {
    comparisons++;
    qsort(samples, KS_SAMPLES, sizeof *samples, compare_doubles);
    double largest = 0;
    for (int i = 0; i < KS_SAMPLES; i++) {
        const double f = cdf(dimension, samples[i]);
        largest = fmax(largest, fmax(f - (double)i / KS_SAMPLES, (i + 1.0) / KS_SAMPLES - f));
    }
    const double threshold = sqrt(log(2 / ALARM_EACH) / (2.0 * KS_SAMPLES));
    if (!(largest <= threshold))
        fail_msg("dimension %u: distance %.5f of %d samples; above %.5f with probability %.1e",
                 dimension, largest, KS_SAMPLES, threshold, ALARM_EACH);
}

static const double madlib_epsilon = 2.5;

static double radius_cdf(uint32_t dimension, double radius) {
    return gamma_lower(dimension, radius * madlib_epsilon);
}

/* Counts the quadrant of the first two values, all equally likely; in one dimension, the half. */
static void count_quadrant(uint64_t counts[4], const double *noise, uint32_t dimension) {
    counts[(noise[0] < 0) + 2 * (dimension > 1 && noise[1] < 0)]++;
}

static void check_quadrants(const uint64_t counts[4], uint32_t dimension) {
    const unsigned bins = dimension > 1 ? 4 : 2;
    const double each = (double)KS_SAMPLES / bins;
    const double expected[4] = {each, each, each, each};
    chi_square(counts, expected, bins);
}

static void check_noise(uint32_t dimension) {
    double *radius = calloc(KS_SAMPLES, sizeof *radius), *first = calloc(KS_SAMPLES, sizeof *first),
           *last = calloc(KS_SAMPLES, sizeof *last), noise[TEM_DIMENSION_MAX];
    uint64_t quadrants[4] = {0};
    assert_true(radius != NULL && first != NULL && last != NULL);
    tem_rng rng;
    rng_init_seeded(&rng, SEED, dimension);
    for (int i = 0; i < KS_SAMPLES; i++) {
        madlib_noise(madlib_epsilon, dimension, &rng, noise);
        double square = 0;
        for (uint32_t k = 0; k < dimension; k++)
            square += noise[k] * noise[k];
        radius[i] = sqrt(square);
        first[i] = noise[0] / radius[i];
        last[i] = noise[dimension - 1] / radius[i];
        count_quadrant(quadrants, noise, dimension);
    }
    kolmogorov_smirnov(radius, radius_cdf, dimension);
    if (dimension > 1) {
        kolmogorov_smirnov(first, direction_cdf, dimension);
        kolmogorov_smirnov(last, direction_cdf, dimension);
    }
    check_quadrants(quadrants, dimension);
    free(radius);
    free(first);
    free(last);
}

static void test_madlib_noise(void **state) {
    (void)state;
    const uint32_t dimensions[] = {1, 2, 3, 50, 300};
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        check_noise(dimensions[i]);
}

/* Words at -4096, 2049 and 8192 steps of 2^-12. Neighbors have an odd sum, so the border between
 * their cells is midway between two grid points. Rounding the noisy point to the grid therefore
 * never moves it to another cell, and the probabilities are those of the line. */
static const double line_words[3] = {-1, 2049.0 / 4096, 2};
static const double line_borders[2] = {-2047.0 / 8192, 10241.0 / 8192};

static double laplace_cdf(double epsilon, double z) {
    return z < 0 ? exp(epsilon * z) / 2 : 1 - exp(-epsilon * z) / 2;
}

/* Makes DRAWS draws, in batches of several sizes. */
static void count_madlib(const madlib *m, uint32_t word, tem_rng *rng, uint64_t counts[3]) {
    const size_t sizes[] = {1, 7, 192, 193, 2000};
    uint32_t drawn[2000];
    size_t done = 0;
    for (size_t turn = 0; done < DRAWS; turn++) {
        size_t some = sizes[turn % 5];
        some = some < DRAWS - done ? some : DRAWS - done;
        for (size_t i = 0; i < some; i++)
            drawn[i] = word;
        assert_int_equal(madlib_draw(m, drawn, some, rng, drawn, NULL), TEM_OK);
        for (size_t i = 0; i < some; i++)
            counts[drawn[i]]++;
        done += some;
    }
}

static void check_line_draws(const madlib *m, uint32_t word) {
    const double low = laplace_cdf(m->epsilon, line_borders[0] - line_words[word]);
    const double high = laplace_cdf(m->epsilon, line_borders[1] - line_words[word]);
    const double expected[3] = {low * DRAWS, (high - low) * DRAWS, (1 - high) * DRAWS};
    uint64_t counts[3] = {0};
    tem_rng rng;
    rng_init_seeded(&rng, SEED, word);
    count_madlib(m, word, &rng, counts);
    chi_square(counts, expected, 3);
}

/* An unknown word: uniform. */
static void check_line_unknown(const madlib *m) {
    const double expected[3] = {DRAWS / 3.0, DRAWS / 3.0, DRAWS / 3.0};
    uint64_t counts[3] = {0};
    tem_rng rng;
    rng_init_seeded(&rng, SEED, 3);
    count_madlib(m, TEM_NO_WORD, &rng, counts);
    chi_square(counts, expected, 3);
}

static void test_madlib_draws(void **state) {
    (void)state;
    const char *const words[] = {"a", "b", "c"};
    const float values[] = {(float)line_words[0], (float)line_words[1], (float)line_words[2]};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    assert_int_equal(tem_vectors_create(words, values, 3, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
    assert_int_equal(model->space.step_log2, 12);
    const double epsilons[] = {0.5, 1, 4};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        madlib m;
        assert_int_equal(madlib_init(&m, &model->space, NULL, epsilons[i], NULL), TEM_OK);
        for (uint32_t word = 0; word < 3; word++)
            check_line_draws(&m, word);
        if (i == 0)
            check_line_unknown(&m);
        madlib_free(&m);
    }
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* Words at -1, 2 and 5 steps of a grid as coarse as the noise is wide. Borders are again midway
 * between two points. So rounding to the nearest point changes nothing, while rounding down or
 * towards 0 would change as much as half a step. */
static void test_madlib_rounding(void **state) {
    (void)state;
    enum { ELEMENTS = 32 };
    static const double borders[] = {0.5, 3.5};
    _Alignas(64) int16_t rows[3 * ELEMENTS] = {0};
    space s = {.metric = &metric_euclidean,
               .count = 3,
               .dimension = 1,
               .row_elements = space_row_elements(1),
               .rows = rows};
    assert_true(s.row_elements <= ELEMENTS);
    madlib m;
    for (uint32_t word = 0; word < 3; word++)
        rows[word * s.row_elements] = (int16_t)(3 * (int)word - 1);
    assert_int_equal(madlib_init(&m, &s, NULL, 1, NULL), TEM_OK);
    for (uint32_t word = 0; word < 3; word++) {
        const double at = 3.0 * word - 1;
        const double low = laplace_cdf(1, borders[0] - at), high = laplace_cdf(1, borders[1] - at);
        const double expected[3] = {low * DRAWS, (high - low) * DRAWS, (1 - high) * DRAWS};
        uint64_t counts[3] = {0};
        tem_rng rng;
        rng_init_seeded(&rng, SEED, 100 + word);
        count_madlib(&m, word, &rng, counts);
        chi_square(counts, expected, 3);
    }
    madlib_free(&m);
}

static void tape_ended(void *context) {
    (void)context;
    fail_msg("the noise uses more random words than expected");
}

/* The smallest allowed epsilon: even with the largest possible noise, from units of 2^-53, points
 * stay where point_search_run can find them; a slightly smaller epsilon would not do. */
static void test_madlib_least_epsilon(void **state) {
    (void)state;
    static const uint32_t dimensions[] = {1, 2, 17, 300, TEM_DIMENSION_MAX};
    static const uint64_t zeros[3 * TEM_DIMENSION_MAX];
    static double noise[TEM_DIMENSION_MAX];
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        for (uint32_t step = 4; step <= 30; step += 13) {
            const uint32_t dimension = dimensions[i];
            int16_t *rows = calloc(2, space_row_elements(dimension) * sizeof *rows);
            assert_non_null(rows);
            const space s = {.metric = &metric_euclidean,
                             .count = 2,
                             .dimension = dimension,
                             .row_elements = space_row_elements(dimension),
                             .step_log2 = step,
                             .rows = rows};
            double taken = 1e9, refused = 0;
            while (nextafter(refused, taken) < taken) {
                const double middle = refused + (taken - refused) / 2;
                madlib m;
                const tem_status status = madlib_init(&m, &s, NULL, middle, NULL);
                assert_true(status == TEM_OK || status == TEM_ERR_RANGE);
                if (status == TEM_OK) {
                    taken = middle;
                    madlib_free(&m);
                } else {
                    refused = middle;
                }
            }
            tem_rng rng;
            rng_init_tape(&rng, zeros, sizeof zeros / sizeof *zeros, tape_ended, NULL);
            madlib_noise(taken, dimension, &rng, noise);
            double square = 0;
            for (uint32_t k = 0; k < dimension; k++)
                square += noise[k] * noise[k];
            const double farthest = ldexp(sqrt(square), (int)step) + 16383;
            assert_true(farthest < 0x1p50 && farthest > 0.99 * 0x1p50);
            free(rows);
        }
}

/* ---------------------------------------------------- the nearest word -- */

__extension__ typedef __int128 wide;

static uint32_t nearest_by_brute_force(const space *s, const int64_t *point) {
    uint32_t nearest = 0;
    wide best = 0;
    for (uint32_t id = 0; id < s->count; id++) {
        wide square = 0;
        for (uint32_t i = 0; i < s->dimension; i++) {
            const wide off = (wide)point[i] - space_row(s, id)[i];
            square += off * off;
        }
        if (id == 0 || square < best) {
            best = square;
            nearest = id;
        }
    }
    return nearest;
}

/* Uniform within +-largest. */
static int64_t around_zero(tem_rng *rng, uint64_t largest) {
    return (int64_t)rng_below(rng, 2 * largest + 1) - (int64_t)largest;
}

/* Even values, so that points midway between two words are on the grid; the last words are copies
 * of the first. */
static void fill_rows(space *s, int16_t *rows, bool outliers, tem_rng *rng) {
    for (uint32_t id = 0; id < s->count; id++)
        for (uint32_t i = 0; i < s->dimension; i++)
            rows[(size_t)id * s->row_elements + i] =
                (int16_t)(2 * around_zero(rng, outliers && id % 50 != 9 ? 30 : 8191));
    const size_t row_bytes = s->row_elements * sizeof *rows;
    memcpy(rows + (size_t)(s->count - 3) * s->row_elements, rows, 3 * row_bytes);
    s->rows = rows;
}

/* By turns: anywhere up to 2^50 away, near the words, midway between two of them, on one, near
 * 0. */
static void make_point(const space *s, int turn, tem_rng *rng, int64_t *point) {
    const uint64_t largest = ((uint64_t)1 << (rng_below(rng, 49) + 1)) - 1;
    const int16_t *a = space_row(s, (uint32_t)rng_below(rng, s->count));
    const int16_t *b = space_row(s, (uint32_t)rng_below(rng, s->count));
    for (uint32_t i = 0; i < s->dimension; i++) {
        const int64_t kinds[] = {around_zero(rng, largest), around_zero(rng, 16383),
                                 (a[i] + b[i]) / 2, a[i], around_zero(rng, 20)};
        point[i] = kinds[turn % 5];
    }
}

/* Points of all kinds together, for which no codes fit well, and points of one kind, for which the
 * codes rule out most words. */
static void check_points(const space *s, const point_search *n, int kind, tem_rng *rng) {
    int64_t *points = malloc((size_t)NEAREST_POINTS * s->dimension * sizeof *points);
    uint32_t found[NEAREST_POINTS];
    assert_non_null(points);
    for (int i = 0; i < NEAREST_POINTS; i++)
        make_point(s, kind < 5 ? kind : i, rng, points + (size_t)i * s->dimension);
    assert_int_equal(point_search_run(n, points, NEAREST_POINTS, found, NULL), TEM_OK);
    for (int i = 0; i < NEAREST_POINTS; i++) {
        const int64_t *point = points + (size_t)i * s->dimension;
        uint32_t alone = 0;
        assert_int_equal(found[i], nearest_by_brute_force(s, point));
        assert_int_equal(point_search_run(n, point, 1, &alone, NULL), TEM_OK);
        assert_int_equal(alone, found[i]);
    }
    free(points);
}

/* With outliers most words are short, and the outliers' codes clip nearly all of them: then bounds
 * exceed what the kernel adds up. */
static void check_nearest_in(uint32_t dimension, uint32_t words, bool outliers, tem_rng *rng) {
    space s = {.metric = &metric_euclidean,
               .count = words,
               .dimension = dimension,
               .row_elements = space_row_elements(dimension),
               .step_log2 = 10};
    const size_t bytes = (size_t)s.count * s.row_elements * sizeof(int16_t);
    int16_t *rows = aligned_alloc(64, bytes);
    assert_non_null(rows);
    memset(rows, 0, bytes);
    fill_rows(&s, rows, outliers, rng);
    point_search n;
    assert_int_equal(point_search_init(&n, &s, NULL, NULL), TEM_OK);
    for (int kind = 0; kind <= 5; kind++)
        check_points(&s, &n, kind, rng);
    point_search_free(&n);
    free(rows);
}

static void test_madlib_nearest(void **state) {
    (void)state;
    const uint32_t dimensions[] = {1, 2, 3, 31, 32, 33, 50, 300};
    const kernels *active = kernels_active();
    bool available = false;
    for (unsigned k = 0; kernels_at(k, &available) != NULL; k++) {
        if (!available)
            continue;
        kernels_use(kernels_at(k, &available));
        tem_rng rng;
        rng_init_seeded(&rng, SEED, k);
        for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
            for (int large = 0; large < 2; large++)
                check_nearest_in(dimensions[i], large ? 700 : 37, large && k % 2 == 0, &rng);
    }
    kernels_use(active);
}

/* ------------------------------------------------------------------------ */

/* Each comparison's share of FALSE_ALARM is right only if there are no more comparisons than
 * that. */
static void test_number_of_comparisons(void **state) {
    (void)state;
    assert_true(comparisons <= COMPARISONS_MAX);
}

int main(void) {
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_draws_with_secure_generator),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_broken_bound),
        cmocka_unit_test(test_missing_bound),
        cmocka_unit_test(test_doubled_list),
        cmocka_unit_test(test_overlapping_lists),
        cmocka_unit_test(test_mixed_draws),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bernoulli),
        cmocka_unit_test(test_madlib_noise),
        cmocka_unit_test(test_madlib_draws),
        cmocka_unit_test(test_madlib_rounding),
        cmocka_unit_test(test_madlib_least_epsilon),
        cmocka_unit_test(test_madlib_nearest),
    };
    enum { OTHERS = sizeof others / sizeof *others };
    struct CMUnitTest tests[OTHERS + CASES + 1];
    memcpy(tests, others, sizeof others);
    for (unsigned i = 0; i < CASES; i++)
        tests[OTHERS + i] = (struct CMUnitTest){cases[i].name, test_draws, NULL, NULL,
                                                (void *)(uintptr_t)&cases[i]};
    tests[OTHERS + CASES] = (struct CMUnitTest)cmocka_unit_test(test_number_of_comparisons);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
