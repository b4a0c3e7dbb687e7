/* test_mechanisms_laws.c - permute-and-flip, santext, santext-plus, custext, custext-plus and
 * diffractor: their laws against other formulas, their bounds over all triples of words, and their
 * draws against their laws (tally.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/custext.h"
#include "mech/diffractor.h"
#include "mech/toss.h"
#include "model/model.h"
#include "tally.h"

#include <stdio.h>

enum { WORDS = 24, DIMENSION = 3, LIST = 6, SEED = 20230710 };

static tem_model *plain, *excluding; /* the second never draws words 0, 7, 14 and 21 */
static tem_model *tiny, *tiny_excluding, *large;

static bool is_out(const tem_model *model, uint32_t id) {
    return tem_model_is_excluded(model, id) != 0;
}

/* Pseudo-random points. Word 5 is a copy of word 4: two words at distance 0. */
static tem_model *make_model(uint32_t count, uint32_t excluded_every, float width) {
    char(*names)[8] = calloc(count, sizeof *names);
    const char **words = calloc(count, sizeof *words), **exclude = calloc(count, sizeof *exclude);
    float *values = calloc((size_t)count * DIMENSION, sizeof *values);
    assert_true(names != NULL && words != NULL && exclude != NULL && values != NULL);
    tem_rng rng;
    rng_init_seeded(&rng, SEED, count);
    uint32_t excluded = 0;
    for (uint32_t id = 0; id < count; id++) {
        snprintf(names[id], sizeof names[id], "w%u", id);
        words[id] = names[id];
        for (uint32_t i = 0; i < DIMENSION; i++)
            values[id * DIMENSION + i] = width * (float)rng_unit(&rng);
        if (excluded_every > 0 && id % excluded_every == 0)
            exclude[excluded++] = names[id];
    }
    memcpy(values + 5 * DIMENSION, values + 4 * DIMENSION, DIMENSION * sizeof *values);
    const tem_build_options options = {.neighbours = LIST,
                                       .allow_coarse = 1,
                                       .space = TEM_SPACE_RAW,
                                       .exclude = exclude,
                                       .exclude_count = excluded};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    assert_int_equal(tem_vectors_create(words, values, count, DIMENSION, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    free(values);
    free(exclude);
    free(words);
    free(names);
    return model;
}

static int set_up(void **state) {
    (void)state;
    plain = make_model(WORDS, 0, 2);
    excluding = make_model(WORDS, 7, 2);
    tiny = make_model(7, 0, 2);
    tiny_excluding = make_model(12, 4, 3);
    large = make_model(400, 0, 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_model_free(large);
    tem_model_free(tiny_excluding);
    tem_model_free(tiny);
    tem_model_free(excluding);
    tem_model_free(plain);
    return 0;
}

/* Every third word. */
static const unsigned char *thirds(void) {
    static unsigned char listed[WORDS];
    for (uint32_t id = 0; id < WORDS; id++)
        listed[id] = id % 3 == 1;
    return listed;
}

static tem_mechanism *make_with(const tem_model *model, tem_mechanism_options options) {
    tem_mechanism *m = NULL;
    tem_error error;
    options.allow_no_guarantee = 1;
    if (mechanism_create(model, &options, &m, &error) != TEM_OK)
        fail_msg("%s: %s", options.mechanism, error.message);
    return m;
}

static tem_mechanism *make(const tem_model *model, const char *name, double epsilon,
                           const char *number, double value) {
    const tem_parameter_value numbers[] = {{number, value}, {NULL, 0}};
    const bool takes_list = strstr(name, "-plus") != NULL;
    return make_with(model, (tem_mechanism_options){.mechanism = name,
                                                    .epsilon = epsilon,
                                                    .numbers = number == NULL ? NULL : numbers,
                                                    .listed = takes_list ? thirds() : NULL});
}

/* The rows of all words, then that of an unknown word; each must add up to 1. */
static double *rows_of(const tem_mechanism *m) {
    double *rows = calloc((size_t)(m->count + 1) * m->count, sizeof *rows);
    assert_non_null(rows);
    for (uint32_t w = 0; w <= m->count; w++) {
        double *row = rows + (size_t)w * m->count, sum = 0;
        assert_int_equal(mechanism_row(m, w < m->count ? w : TEM_NO_WORD, row, NULL), TEM_OK);
        for (uint32_t y = 0; y < m->count; y++) {
            sum += row[y];
            assert_true(row[y] >= 0 && !(is_out(m->model, y) && row[y] > 0));
        }
        assert_true(fabs(sum - 1) < 1e-12);
    }
    return rows;
}

static double distance(const tem_model *model, uint32_t a, uint32_t b) {
    return (double)space_distance(&model->space, a, b) / TEM_DIST_ONE;
}

static void assert_near(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g, expected %.17g", value, expected);
}

/* The s of an epsilon, by exponent.h. */
static double s_of(double epsilon) {
    return (floor(epsilon * 0x1p19) - 1) * 0x1p-20;
}

/* ---- properties and refusals ---- */

static void test_properties(void **state) {
    (void)state;
    static const struct {
        const char *name;
        tem_guarantee guarantee;
        int is_exponential;
    } expected[] = {
        {"permute-and-flip", TEM_GUARANTEE_EXACT, 0}, {"santext", TEM_GUARANTEE_EXACT, 1},
        {"santext-plus", TEM_GUARANTEE_OTHER, 0},     {"custext", TEM_GUARANTEE_OTHER, 0},
        {"custext-plus", TEM_GUARANTEE_OTHER, 0},     {"diffractor", TEM_GUARANTEE_OTHER, 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const mechanism_ops *ops = mechanism_find(expected[i].name);
        assert_non_null(ops);
        assert_null(mechanism_fault(ops));
        assert_int_equal(ops->properties.guarantee, expected[i].guarantee);
        assert_int_equal(ops->properties.is_exponential, expected[i].is_exponential);
        assert_int_equal(mechanism_properties(ops)->has_form, ops->form != NULL);
        assert_true(ops->properties.law_digits >= 12);
        assert_int_equal(ops->properties.list != NULL, strstr(expected[i].name, "-plus") != NULL);
    }
}

static void check_refused(tem_status expected, tem_mechanism_options options) {
    tem_mechanism *m = NULL;
    tem_error error;
    assert_int_equal(mechanism_create(excluding, &options, &m, &error), expected);
    assert_null(m);
}

static void refuse_number(const char *name, const char *number, double value) {
    const tem_parameter_value numbers[] = {{number, value}, {NULL, 0}};
    check_refused(TEM_ERR_RANGE,
                  (tem_mechanism_options){.mechanism = name,
                                          .epsilon = 1,
                                          .numbers = numbers,
                                          .allow_no_guarantee = 1,
                                          .listed = strstr(name, "-plus") ? thirds() : NULL});
}

static void test_refusals(void **state) {
    (void)state;
    static const unsigned char none[WORDS], only_excluded[WORDS] = {[7] = 1, [14] = 1};
    refuse_number("custext", "k", 0);
    refuse_number("custext", "k", 2.5);
    refuse_number("custext", "k", 1001);
    refuse_number("custext", "k", NAN);
    refuse_number("custext-plus", "k", 2.5);
    refuse_number("diffractor", "lists", 0);
    refuse_number("diffractor", "lists", 1.5);
    refuse_number("diffractor", "lists", 101);
    refuse_number("santext-plus", "p", 0);
    refuse_number("santext-plus", "p", 1.001);
    const tem_mechanism_options refused[] = {
        {.mechanism = "custext", .epsilon = 129},
        {.mechanism = "custext", .epsilon = 1e-12},
        {.mechanism = "diffractor", .epsilon = 1001},
        {.mechanism = "diffractor", .epsilon = 1e-7},
        {.mechanism = "permute-and-flip", .epsilon = 1e-7},
        {.mechanism = "permute-and-flip", .epsilon = 1, .gamma = 129},
        {.mechanism = "santext-plus", .epsilon = 1, .listed = none},
        {.mechanism = "santext-plus", .epsilon = 1, .listed = only_excluded},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        tem_mechanism_options options = refused[i];
        options.allow_no_guarantee = 1;
        check_refused(TEM_ERR_RANGE, options);
    }
    const tem_mechanism_options wrong[] = {
        {.mechanism = "custext", .epsilon = 1}, /* without leave */
        {.mechanism = "diffractor", .epsilon = 1},
        {.mechanism = "santext-plus", .epsilon = 1, .listed = thirds()},
        {.mechanism = "custext-plus", .epsilon = 1, .listed = thirds()},
        {.mechanism = "custext-plus", .epsilon = 1, .allow_no_guarantee = 1},
        {.mechanism = "custext", .epsilon = 1, .gamma = 1, .allow_no_guarantee = 1},
        {.mechanism = "permute-and-flip", .epsilon = 1, .listed = thirds()},
        {.mechanism = "santext", .epsilon = 1, .gamma = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_refused(TEM_ERR_ARGUMENT, wrong[i]);
}

/* ---- coins ---- */

static void tape_ended(void *context) {
    (void)context;
    fail_msg("the coin uses more random words than expected");
}

/* Tosses the coin of level `level` with these first, second and third 64 bits. */
static bool toss(unsigned level, const uint64_t bits[3], unsigned used) {
    tem_rng rng;
    rng_init_tape(&rng, bits, used, tape_ended, NULL);
    const bool heads = toss_exp((uint64_t)level << EXPONENT_FRACTION_BITS, &rng);
    assert_int_equal(rng.tape_used, used);
    return heads;
}

/* The coin of a whole level shows heads for exactly E_level of the 2^192 numbers. */
static void test_coin_bits(void **state) {
    (void)state;
    for (unsigned level = 1; level <= EXP_LEVELS; level++) {
        const uint64_t *e = exp_table[level].limb;
        if (e[2] > 0)
            assert_true(toss(level, (uint64_t[3]){e[2] - 1}, 1));
        assert_false(toss(level, (uint64_t[3]){e[2] + 1}, 1));
        assert_true(toss(level, (uint64_t[3]){e[2], e[1] - 1}, 2));
        assert_false(toss(level, (uint64_t[3]){e[2], e[1] + 1}, 2));
        assert_true(toss(level, (uint64_t[3]){e[2], e[1], e[0] - 1}, 3));
        assert_false(toss(level, (uint64_t[3]){e[2], e[1], e[0]}, 3));
    }
    assert_true(toss(0, (uint64_t[3]){0}, 0));
}

/* The coin of level 1 and a fraction: heads by its level, then by the least fraction that is not
 * drawn, which a tape of one more word shows exactly. */
static void test_coin_fraction(void **state) {
    (void)state;
    for (uint64_t fraction = 1; fraction >> EXPONENT_FRACTION_BITS == 0; fraction = 3 * fraction) {
        const uint64_t x = ((uint64_t)1 << EXPONENT_FRACTION_BITS) + fraction;
        const uint64_t at = fraction << (64 - EXPONENT_BITS); /* of 2^36 the number `fraction` */
        const uint64_t heads[] = {0, at}, tails[] = {0, at - 1, at};
        tem_rng rng;
        rng_init_tape(&rng, heads, 2, tape_ended, NULL);
        assert_true(toss_exp(x, &rng) && rng.tape_used == 2);
        rng_init_tape(&rng, tails, 3, tape_ended, NULL);
        assert_false(toss_exp(x, &rng));
        assert_int_equal(rng.tape_used, 3);
    }
}

/* The parts that a geometric number is made of, at their ends: the largest part of a unit, the
 * least one, and whole units. */
static void test_geometric_tape(void **state) {
    (void)state;
    static const uint64_t top = UINT64_MAX, low = (uint64_t)1 << 50;
    /* The largest part, kept; no unit. */
    const uint64_t largest[] = {top, top, low, top};
    /* The part 0, kept without a coin; two units. */
    const uint64_t units[] = {0, low, low, top, low, low, top, low, top};
    /* A part that is rejected; then the part 1, kept; no unit. */
    const uint64_t rejected[] = {top, low, top, (uint64_t)1 << 44, top, low, top};
    static const uint32_t steps[] = {1, 2, 3, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        tem_rng rng;
        rng_init_tape(&rng, largest, 4, tape_ended, NULL);
        assert_int_equal(toss_geometric(steps[i], &rng), 0xfffff / steps[i]);
        assert_int_equal(rng.tape_used, 4);
        rng_init_tape(&rng, units, 9, tape_ended, NULL);
        assert_int_equal(toss_geometric(steps[i], &rng), 0x200000 / steps[i]);
        assert_int_equal(rng.tape_used, 9);
        rng_init_tape(&rng, rejected, 7, tape_ended, NULL);
        assert_int_equal(toss_geometric(steps[i], &rng), 1 / steps[i]);
        assert_int_equal(rng.tape_used, 7);
    }
}

/* A tally of numbers instead of words. */
static void check_numbers(double *row, uint32_t bins, uint64_t *counts) {
    tally_check(&(tally){.words = bins, .row = row, .counts = counts});
}

static void test_coin_draws(void **state) {
    (void)state;
    static const double exponents[] = {0.01, 0.125, 0.7, 1, 3.3};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        double row[2] = {exp(-exponents[i]), -expm1(-exponents[i])};
        uint64_t counts[2] = {0};
        tem_rng rng;
        rng_init_seeded(&rng, SEED, i);
        for (int n = 0; n < TALLY_DRAWS; n++)
            counts[!toss_exp((uint64_t)(exponents[i] * 0x1p36), &rng)]++;
        check_numbers(row, 2, counts);
    }
}

static void test_geometric(void **state) {
    (void)state;
    enum { BINS = 40 };
    static const double epsilons[] = {0.05, 0.3, 1, 2.7};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        const uint32_t steps = (uint32_t)(epsilons[i] * 0x1p20);
        const double epsilon = steps * 0x1p-20;
        double row[BINS];
        uint64_t counts[BINS] = {0};
        tem_rng rng;
        rng_init_seeded(&rng, SEED, 100 + i);
        for (int k = 0; k < BINS; k++)
            row[k] = exp(-epsilon * k) * (k < BINS - 1 ? -expm1(-epsilon) : 1);
        for (int n = 0; n < TALLY_DRAWS; n++) {
            const uint64_t k = toss_geometric(steps, &rng);
            counts[k < BINS - 1 ? k : BINS - 1]++;
        }
        check_numbers(row, BINS, counts);
    }
}

/* ---- permute-and-flip ---- */

static tem_mechanism *make_flip(const tem_model *model, double epsilon, double gamma) {
    return make_with(model, (tem_mechanism_options){.mechanism = "permute-and-flip",
                                                    .epsilon = epsilon,
                                                    .gamma = gamma});
}

/* The coins of the paper: exp(-s (min(d, gamma) - d*)) for each output, 0 for the others. */
static void coins_of(const tem_mechanism *m, uint32_t word, long double *coins) {
    tem_mechanism_info info;
    mechanism_get_info(m, &info);
    double nearest = INFINITY;
    for (uint32_t y = 0; y < m->count; y++)
        if (!is_out(m->model, y))
            nearest = fmin(nearest, fmin(distance(m->model, word, y), info.gamma));
    for (uint32_t y = 0; y < m->count; y++) {
        const double d = fmin(distance(m->model, word, y), info.gamma);
        coins[y] = is_out(m->model, y) ? 0 : expl(-(long double)info.s * (d - nearest));
    }
}

/* Adds the law of the outputs in one order: each is released if it is the first with heads. */
static void add_order(const uint32_t *order, uint32_t count, const long double *coins,
                      long double *law) {
    long double tails = 1;
    for (uint32_t i = 0; i < count; i++) {
        law[order[i]] += tails * coins[order[i]];
        tails *= 1 - coins[order[i]];
    }
}

/* All orders of the outputs (Heap's algorithm). */
static void add_orders(uint32_t *order, uint32_t left, uint32_t count, const long double *coins,
                       long double *law) {
    if (left <= 1) {
        add_order(order, count, coins, law);
        return;
    }
    for (uint32_t i = 0; i < left; i++) {
        add_orders(order, left - 1, count, coins, law);
        const uint32_t other = left % 2 == 0 ? i : 0, kept = order[other];
        order[other] = order[left - 1];
        order[left - 1] = kept;
    }
}

/* The mechanism as the paper has it. */
static void test_flip_orders(void **state) {
    (void)state;
    enum { COUNT = 7, ORDERS = 5040 };
    static const double cases[][2] = {{0.5, 0}, {2, 0}, {2, 1}, {9, 0}, {9, 0.7}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tem_mechanism *m = make_flip(tiny, cases[k][0], cases[k][1]);
        double *rows = rows_of(m);
        for (uint32_t w = 0; w < COUNT; w++) {
            long double coins[COUNT], law[COUNT] = {0};
            uint32_t order[COUNT] = {0, 1, 2, 3, 4, 5, 6};
            coins_of(m, w, coins);
            add_orders(order, COUNT, COUNT, coins, law);
            for (uint32_t y = 0; y < COUNT; y++)
                assert_near(rows[w * COUNT + y], (double)(law[y] / ORDERS), 1e-12);
        }
        free(rows);
        mechanism_free(m);
    }
}

/* The mechanism as tem draws: one of the heads, for all sets of heads. Some words are no
 * outputs. */
static void test_flip_subsets(void **state) {
    (void)state;
    enum { COUNT = 12 };
    static const double cases[][2] = {{0.1, 0}, {2, 0}, {2, 1}, {12, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tem_mechanism *m = make_flip(tiny_excluding, cases[k][0], cases[k][1]);
        double *rows = rows_of(m);
        for (uint32_t w = 0; w < COUNT; w++) {
            long double coins[COUNT], law[COUNT] = {0};
            coins_of(m, w, coins);
            for (unsigned heads = 1; heads < 1u << COUNT; heads++) {
                long double probability = 1.0L / __builtin_popcount(heads);
                for (uint32_t y = 0; y < COUNT; y++)
                    probability *= heads >> y & 1 ? coins[y] : 1 - coins[y];
                for (uint32_t y = 0; y < COUNT; y++)
                    law[y] += heads >> y & 1 ? probability : 0;
            }
            for (uint32_t y = 0; y < COUNT; y++)
                assert_near(rows[w * COUNT + y], (double)law[y], 1e-12);
        }
        free(rows);
        mechanism_free(m);
    }
}

/* E[1 / (1 + N)] for N other heads, from the probabilities of all N. */
static long double expected_share(const long double *coins, uint32_t count, uint32_t y,
                                  long double *heads) {
    memset(heads, 0, (count + 1) * sizeof *heads);
    heads[0] = 1;
    for (uint32_t z = 0; z < count; z++)
        for (uint32_t n = z + 1; n-- > 0 && z != y;) {
            heads[n + 1] += heads[n] * coins[z];
            heads[n] *= 1 - coins[z];
        }
    long double share = 0;
    for (uint32_t n = 0; n <= count; n++)
        share += heads[n] / (n + 1);
    return share;
}

/* Many words: from a sum of coins of 400, where only the first panels count, to one of about 1. */
static void test_flip_many_words(void **state) {
    (void)state;
    enum { COUNT = 400 };
    static const double epsilons[] = {0.001, 0.03, 0.1, 0.3, 0.5, 1, 2, 8};
    static long double coins[COUNT], heads[COUNT + 1];
    double row[COUNT];
    for (size_t k = 0; k < sizeof epsilons / sizeof *epsilons; k++) {
        tem_mechanism *m = make_flip(large, epsilons[k], 0);
        for (uint32_t w = 0; w < COUNT; w += 97) {
            double sum = 0;
            assert_int_equal(mechanism_row(m, w, row, NULL), TEM_OK);
            coins_of(m, w, coins);
            for (uint32_t y = 0; y < COUNT; y++) {
                sum += row[y];
                if (y % 13 == 0 || y == w)
                    assert_near(row[y], (double)(coins[y] * expected_share(coins, COUNT, y, heads)),
                                1e-12);
            }
            assert_true(fabs(sum - 1) < 1e-12);
        }
        mechanism_free(m);
    }
}

/* P(y | w) <= exp(epsilon min(d, gamma)) P(y | w') over all triples, unknown words at distance
 * gamma. `most` receives the largest loss, in parts of that bound. */
static void check_flip_bound(const tem_model *model, double epsilon, double gamma, double *most) {
    tem_mechanism *m = make_flip(model, epsilon, gamma);
    tem_mechanism_info info;
    mechanism_get_info(m, &info);
    assert_true(info.epsilon_gamma == epsilon * info.gamma && mechanism_why_unbounded(m) == NULL);
    double *rows = rows_of(m);
    for (uint32_t a = 0; a <= m->count; a++)
        for (uint32_t b = 0; b <= m->count; b++) {
            const double d = a == m->count || b == m->count ? info.gamma : distance(model, a, b);
            const double bound = epsilon * fmin(d, info.gamma);
            for (uint32_t y = 0; y < m->count; y++) {
                const double pa = rows[a * m->count + y], pb = rows[b * m->count + y];
                if (is_out(model, y) || a == b)
                    continue;
                assert_true(pa > 0 && pa <= exp(bound) * pb * (1 + 1e-11));
                *most = bound > 0 ? fmax(*most, log(pa / pb) / bound) : *most;
            }
        }
    free(rows);
    mechanism_free(m);
}

static void test_flip_bound(void **state) {
    (void)state;
    double most = 0;
    static const double epsilons[] = {0.1, 1, 4, 20};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++)
        for (int g = 0; g < 3; g++) {
            const double gamma = g == 0 ? 0 : g == 1 ? 0.6 : 2;
            check_flip_bound(plain, epsilons[i], gamma, &most);
            check_flip_bound(excluding, epsilons[i], gamma, &most);
        }
    assert_true(most > 0.9 && most <= 1); /* so a bound of s instead of 2s would be broken */
}

/* McKenna and Sheldon: never a larger expected distance than tem's with the same s. */
static void test_flip_beside_tem(void **state) {
    (void)state;
    for (double epsilon = 0.25; epsilon < 20; epsilon *= 2) {
        tem_mechanism *flip = make_flip(plain, epsilon, 1.5), *other = NULL;
        other = make_with(plain, (tem_mechanism_options){.epsilon = epsilon, .gamma = 1.5});
        double *rows = rows_of(flip), *others = rows_of(other);
        for (uint32_t w = 0; w < WORDS; w++) {
            double expected = 0, others_expected = 0;
            for (uint32_t y = 0; y < WORDS; y++) {
                expected += rows[w * WORDS + y] * fmin(distance(plain, w, y), 1.5);
                others_expected += others[w * WORDS + y] * fmin(distance(plain, w, y), 1.5);
            }
            assert_true(expected <= others_expected + 1e-12);
            assert_true(rows[w * WORDS + w] > others[w * WORDS + w]);
        }
        free(others);
        free(rows);
        mechanism_free(other);
        mechanism_free(flip);
    }
}

/* ---- santext and santext-plus ---- */

static void test_santext_is_em(void **state) {
    (void)state;
    tem_mechanism *m = make(excluding, "santext", 3, NULL, 0),
                  *em = make(excluding, "em", 3, NULL, 0);
    double *rows = rows_of(m), *em_rows = rows_of(em);
    assert_memory_equal(rows, em_rows, (WORDS + 1) * WORDS * sizeof *rows);
    uint32_t out[WORDS], em_out[WORDS], words[WORDS];
    for (uint32_t id = 0; id < WORDS; id++)
        words[id] = id;
    tem_rng rng, em_rng;
    rng_init_seeded(&rng, SEED, 0);
    rng_init_seeded(&em_rng, SEED, 0);
    for (int turn = 0; turn < 50; turn++) {
        assert_int_equal(mechanism_draw(m, &rng, words, out, WORDS, NULL), TEM_OK);
        assert_int_equal(mechanism_draw(em, &em_rng, words, em_out, WORDS, NULL), TEM_OK);
        assert_memory_equal(out, em_out, sizeof out);
    }
    free(em_rows);
    free(rows);
    mechanism_free(em);
    mechanism_free(m);
}

static bool is_sensitive(const tem_model *model, uint32_t id) {
    return thirds()[id] && !is_out(model, id);
}

/* L(y | w), written down once more; w may be an unknown word. */
static double over_list(const tem_model *model, double s, uint32_t w, uint32_t y) {
    double total = 0;
    for (uint32_t z = 0; z < WORDS; z++)
        if (is_sensitive(model, z))
            total += w == WORDS ? 1 : exp(-s * distance(model, w, z));
    return is_sensitive(model, y) ? (w == WORDS ? 1 : exp(-s * distance(model, w, y))) / total : 0;
}

static void check_plus_law(const tem_model *model, double epsilon, double p) {
    tem_mechanism *m = make(model, "santext-plus", epsilon, "p", p);
    double *rows = rows_of(m);
    for (uint32_t w = 0; w <= WORDS; w++) {
        const bool stays = w < WORDS && !thirds()[w] && !is_out(model, w);
        for (uint32_t y = 0; y < WORDS; y++) {
            const double drawn = over_list(model, s_of(epsilon), w, y);
            const double expected = stays ? p * drawn + (y == w ? 1 - p : 0) : drawn;
            assert_near(rows[w * WORDS + y], expected, 1e-11);
        }
    }
    free(rows);
    mechanism_free(m);
}

static void test_santext_plus_law(void **state) {
    (void)state;
    for (double p = 0.25; p <= 1; p *= 2) {
        check_plus_law(plain, 2, p);
        check_plus_law(excluding, 5, p);
    }
}

/* The bound holds for outputs of the list with the factor 1/p where it is stated, and is needed
 * there; every other output tells its input. */
static void test_santext_plus_bound(void **state) {
    (void)state;
    const double epsilon = 2, p = 0.3;
    bool factor_needed = false;
    tem_mechanism *m = make(plain, "santext-plus", epsilon, NULL, 0);
    double *rows = rows_of(m);
    for (uint32_t a = 0; a < WORDS; a++)
        for (uint32_t b = 0; b < WORDS; b++)
            for (uint32_t y = 0; y < WORDS; y++) {
                const double pa = rows[a * WORDS + y], pb = rows[b * WORDS + y];
                const double bound = exp(epsilon * distance(plain, a, b)) * pb * (1 + 1e-11);
                const bool has_factor = thirds()[a] && !thirds()[b];
                if (thirds()[y])
                    assert_true(pa <= (has_factor ? bound / p : bound));
                else
                    assert_int_equal(pa > 0, a == y);
                factor_needed |= thirds()[y] && pa > bound;
            }
    assert_true(factor_needed);
    free(rows);
    mechanism_free(m);
}

/* The word 0 stays itself, or is drawn, by 53 bits. */
static bool is_drawn_at(const tem_mechanism *m, uint64_t bits) {
    uint64_t tape[200] = {bits << 11};
    uint32_t word = 0, out = TEM_NO_WORD;
    tem_rng rng, others;
    rng_init_seeded(&others, SEED, 0);
    for (size_t i = 1; i < 200; i++)
        tape[i] = rng_word(&others);
    rng_init_tape(&rng, tape, 200, tape_ended, NULL);
    assert_int_equal(mechanism_draw(m, &rng, &word, &out, 1, NULL), TEM_OK);
    assert_int_equal(rng.tape_used == 1, out == 0);
    assert_true(out == 0 || thirds()[out]);
    return out != 0;
}

/* p is rounded up to steps of 2^-53, and exactly so many of 2^53 numbers replace a word. */
static void test_santext_plus_margin(void **state) {
    (void)state;
    const uint64_t whole = (uint64_t)1 << 53;
    const struct {
        double p;
        uint64_t steps;
    } cases[] = {{0.5, whole / 2},
                 {0.25, whole / 4},
                 {0.25 + 0x1p-54, whole / 4 + 1},
                 {0.25 + 0x1p-53, whole / 4 + 1},
                 {nextafter(0.125, 0), whole / 8},
                 {1, whole}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tem_mechanism *m = make(plain, "santext-plus", 2, "p", cases[i].p);
        double *rows = rows_of(m);
        assert_true(rows[0] == (double)(whole - cases[i].steps) * 0x1p-53);
        assert_true(is_drawn_at(m, cases[i].steps - 1));
        if (cases[i].steps < whole)
            assert_false(is_drawn_at(m, cases[i].steps));
        free(rows);
        mechanism_free(m);
    }
}

/* ---- custext and custext-plus ---- */

/* The sets, one word after the other: set[w] is the word that formed the set of w. */
static void form_sets(const tem_model *model, uint32_t k, uint32_t set[WORDS]) {
    for (uint32_t id = 0; id < WORDS; id++)
        set[id] = TEM_NO_WORD;
    for (uint32_t id = 0; id < WORDS; id++)
        for (uint32_t n = 0; n < k && (n > 0 || set[id] == TEM_NO_WORD) && !is_out(model, id);
             n++) {
            uint32_t best = TEM_NO_WORD;
            for (uint32_t y = WORDS; y-- > 0;)
                if (set[y] == TEM_NO_WORD && !is_out(model, y) &&
                    (best == TEM_NO_WORD || distance(model, id, y) <= distance(model, id, best)))
                    best = y;
            if (best != TEM_NO_WORD)
                set[best] = id;
        }
    for (uint32_t id = 0; id < WORDS; id++) {
        uint32_t best = TEM_NO_WORD;
        for (uint32_t y = WORDS; y-- > 0 && is_out(model, id);)
            if (!is_out(model, y) &&
                (best == TEM_NO_WORD || distance(model, id, y) <= distance(model, id, best)))
                best = y;
        if (best != TEM_NO_WORD)
            set[id] = set[best];
    }
}

/* exp(epsilon u / 2) without its sum. */
static double custom_weight(const tem_model *model, const uint32_t set[WORDS], double epsilon,
                            uint32_t w, uint32_t y) {
    double least = INFINITY, most = 0;
    for (uint32_t z = 0; z < WORDS; z++)
        if (set[z] == set[w] && !is_out(model, z)) {
            least = fmin(least, distance(model, w, z));
            most = fmax(most, distance(model, w, z));
        }
    if (set[y] != set[w] || is_out(model, y))
        return 0;
    const double u = most > least ? 1 - (distance(model, w, y) - least) / (most - least) : 1;
    return exp(epsilon * u / 2);
}

static void check_custext(const tem_model *model, uint32_t k, double epsilon) {
    uint32_t set[WORDS];
    form_sets(model, k, set);
    tem_mechanism *m = make(model, "custext", epsilon, "k", k);
    double *rows = rows_of(m);
    for (uint32_t w = 0; w < WORDS; w++) {
        double total = 0;
        for (uint32_t y = 0; y < WORDS; y++)
            total += custom_weight(model, set, epsilon, w, y);
        for (uint32_t y = 0; y < WORDS; y++) {
            const double expected = custom_weight(model, set, epsilon, w, y) / total;
            assert_near(rows[w * WORDS + y], expected, 1e-8); /* epsilon is rounded down */
        }
    }
    for (uint32_t a = 0; a < WORDS; a++)
        for (uint32_t b = 0; b < WORDS; b++)
            for (uint32_t y = 0; y < WORDS; y++) {
                const double pa = rows[a * WORDS + y], pb = rows[b * WORDS + y];
                if (set[a] == set[b])
                    assert_true(pa <= exp(epsilon) * pb);
                else /* nothing between sets */
                    assert_true(pa == 0 || pb == 0);
            }
    free(rows);
    mechanism_free(m);
}

static void test_custext_law(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 5, 7, 20, 24, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_custext(plain, sizes[i], 5);
        check_custext(excluding, sizes[i], 0.5);
        check_custext(excluding, sizes[i], 128);
    }
}

/* Half of epsilon loses one step of 2^-36: also where epsilon is a whole number of steps. */
static void test_custext_margin(void **state) {
    (void)state;
    static const uint64_t steps[] = {2, 3, 1000, (uint64_t)1 << 35, ((uint64_t)1 << 42) - 1};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int more = 0; more < 2; more++) { /* half a step more */
            const double epsilon = ldexp((double)(2 * steps[i] + (uint64_t)more), -36);
            tem_mechanism *m = make(plain, "custext", epsilon, "k", 4);
            const custext *c = m->state;
            assert_int_equal(c->half_epsilon, steps[i] - 1);
            mechanism_free(m);
        }
    tem_mechanism *m = make(plain, "custext", 128, "k", 4);
    assert_int_equal(((const custext *)m->state)->half_epsilon, ((uint64_t)1 << 42) - 1);
    mechanism_free(m);
}

/* The exponents are h (d - dmin) / (dmax - dmin), rounded down, by long division. */
static void check_exponents(const tem_model *model, double epsilon, uint32_t k) {
    tem_mechanism *m = make(model, "custext", epsilon, "k", k);
    const custext *c = m->state;
    for (uint32_t w = 0; w < WORDS; w++) {
        const uint32_t *members = c->members + c->starts[c->set_of[w]];
        uint64_t x[CUSTEXT_K_MAX], least = UINT64_MAX, most = 0;
        const uint32_t count = custext_exponents(c, w, x);
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t d = space_distance(&model->space, w, members[i]);
            least = d < least ? d : least;
            most = d > most ? d : most;
        }
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t above = space_distance(&model->space, w, members[i]) - least;
            uint64_t quotient = 0;
            u256_wide rest = (u256_wide)c->half_epsilon * above;
            for (int bit = 63; bit >= 0 && most > least; bit--)
                if (rest >> bit >= most - least) {
                    rest -= (u256_wide)(most - least) << bit;
                    quotient |= (uint64_t)1 << bit;
                }
            assert_int_equal(x[i], quotient);
        }
    }
    mechanism_free(m);
}

static void test_custext_exponents(void **state) {
    (void)state;
    static const double epsilons[] = {0x1p-34, 0.3, 7, 128};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        check_exponents(plain, epsilons[i], 2);
        check_exponents(plain, epsilons[i], WORDS);
        check_exponents(excluding, epsilons[i], 5);
    }
}

/* Listed words stay themselves, unless they are no outputs; all others are as in custext. */
static void test_custext_plus_law(void **state) {
    (void)state;
    tem_mechanism *m = make(excluding, "custext-plus", 3, "k", 5);
    tem_mechanism *base = make(excluding, "custext", 3, "k", 5);
    double *rows = rows_of(m), *base_rows = rows_of(base);
    for (uint32_t w = 0; w <= WORDS; w++)
        for (uint32_t y = 0; y < WORDS; y++) {
            const bool stays = w < WORDS && is_sensitive(excluding, w);
            assert_true(rows[w * WORDS + y] == (stays ? y == w : base_rows[w * WORDS + y]));
        }
    free(base_rows);
    free(rows);
    mechanism_free(base);
    mechanism_free(m);
}

/* ---- diffractor ---- */

static const diffractor *lists_of(const tem_mechanism *m) {
    return m->state;
}

/* The next word of a chain: the first neighbor that is not in it, of the latest word that has
 * one. */
static uint32_t next_of(const tem_model *model, const uint32_t *chain, uint32_t length) {
    bool has[WORDS] = {false};
    for (uint32_t i = 0; i < length; i++)
        has[chain[i]] = true;
    for (uint32_t i = length; i-- > 0;) {
        tem_neighbours near;
        assert_int_equal(neighbours_get(&model->index, chain[i], &near, NULL), TEM_OK);
        for (uint32_t k = 0; k < near.count; k++)
            if (!has[near.list[k].id])
                return near.list[k].id;
    }
    uint32_t id = 0;
    while (has[id])
        id++;
    return id;
}

static void test_diffractor_lists(void **state) {
    (void)state;
    enum { LISTS = 5 };
    tem_mechanism *m = make(plain, "diffractor", 1, NULL, 0);
    tem_mechanism *less = make(excluding, "diffractor", 1, NULL, 0);
    const diffractor *d = lists_of(m), *e = lists_of(less);
    assert_int_equal(d->lists, LISTS);
    for (uint32_t l = 0; l < LISTS; l++) {
        const uint32_t *words = d->words + l * WORDS;
        assert_int_equal(words[0], l * WORDS / LISTS);
        for (uint32_t i = 1; i < WORDS; i++)
            assert_int_equal(words[i], next_of(plain, words, i));
        uint32_t outputs = 0; /* the same chain without the words that are no outputs */
        for (uint32_t i = 0; i < WORDS; i++) {
            const uint32_t last = e->length - 1, place = outputs < last ? outputs : last;
            assert_int_equal(d->places[l * WORDS + words[i]], i);
            assert_int_equal(e->places[l * WORDS + words[i]], place);
            if (!is_out(excluding, words[i]))
                assert_int_equal(e->words[l * e->length + outputs++], words[i]);
        }
        assert_int_equal(outputs, e->length);
    }
    mechanism_free(less);
    mechanism_free(m);
}

/* The noise of one list, k by k, with places beyond the ends moved to the ends. */
static void add_noise(const diffractor *d, uint32_t l, uint32_t w, double epsilon, double *row) {
    const double a = exp(-epsilon);
    const int end = (int)d->length - 1, most = (int)(40 / epsilon) + WORDS;
    for (int k = -most; k <= most; k++) {
        const int place = (int)d->places[l * WORDS + w] + k;
        const int moved = place < 0 ? 0 : place > end ? end : place;
        row[d->words[l * d->length + (uint32_t)moved]] +=
            (1 - a) / (1 + a) * exp(-epsilon * abs(k)) / d->lists;
    }
}

/* The columns are those of the rows and, for an unknown word, of its own law. */
static void check_columns(const tem_mechanism *m, const double *rows) {
    double unknown[WORDS], column[WORDS + 1];
    assert_int_equal(mechanism_row(m, TEM_NO_WORD, unknown, NULL), TEM_OK);
    for (uint32_t y = 0; y < WORDS; y++)
        if (unknown[y] > 0) {
            m->ops->column(m->state, y, column);
            for (uint32_t w = 0; w < WORDS; w++)
                assert_near(column[w], rows[w * WORDS + y], 1e-14);
            assert_near(column[WORDS], unknown[y], 1e-14);
        }
}

static void check_diffractor_law(const tem_model *model, double epsilon, uint32_t lists) {
    tem_mechanism *m = make(model, "diffractor", epsilon, "lists", lists);
    double *rows = rows_of(m);
    for (uint32_t w = 0; w < WORDS; w++) {
        double expected[WORDS] = {0};
        for (uint32_t l = 0; l < lists; l++)
            add_noise(lists_of(m), l, w, epsilon, expected);
        for (uint32_t y = 0; y < WORDS; y++)
            assert_near(rows[w * WORDS + y], expected[y], 1e-11);
    }
    check_columns(m, rows);
    free(rows);
    mechanism_free(m);
}

static void test_diffractor_law(void **state) {
    (void)state;
    check_diffractor_law(plain, 0.125, 5);
    check_diffractor_law(plain, 1, 1);
    check_diffractor_law(excluding, 2, 3);
}

/* Epsilon is rounded down to steps of 2^-20. */
static void test_diffractor_margin(void **state) {
    (void)state;
    static const uint32_t steps[] = {1, 2, 1 << 20, 1000u << 20};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int quarter = -1; quarter <= 3; quarter++) {
            const double epsilon = ldexp(4.0 * steps[i] + quarter, -22);
            if (epsilon < 0x1p-20 || epsilon > 1000)
                continue;
            tem_mechanism *m = make(plain, "diffractor", epsilon, "lists", 1);
            assert_int_equal(lists_of(m)->steps, quarter < 0 ? steps[i] - 1 : steps[i]);
            mechanism_free(m);
        }
}

/* The bound holds in the distance of the lists, and is reached. In the model's distance it does not
 * hold: words 4 and 5 are at distance 0. */
static void test_diffractor_bound(void **state) {
    (void)state;
    const double epsilon = 0.5;
    tem_mechanism *m = make(plain, "diffractor", epsilon, NULL, 0);
    const diffractor *d = lists_of(m);
    double *rows = rows_of(m), most = 0;
    bool is_broken = false;
    for (uint32_t a = 0; a < WORDS; a++)
        for (uint32_t b = 0; b < WORDS; b++) {
            int apart = 0;
            for (uint32_t l = 0; l < d->lists; l++) {
                const int off = (int)d->places[l * WORDS + a] - (int)d->places[l * WORDS + b];
                apart = abs(off) > apart ? abs(off) : apart;
            }
            for (uint32_t y = 0; y < WORDS; y++) {
                const double loss = log(rows[a * WORDS + y] / rows[b * WORDS + y]);
                assert_true(loss <= epsilon * apart + 1e-11);
                most = apart > 0 ? fmax(most, loss / apart) : most;
                is_broken |= loss > epsilon * distance(plain, a, b) + 0.01;
            }
        }
    assert_true(is_broken && most > 0.9 * epsilon);
    free(rows);
    mechanism_free(m);
}

/* ---- draws ---- */

static void check_draws(const char *name, double epsilon, const char *number, double value) {
    tem_mechanism *m = make(excluding, name, epsilon, number, value);
    static const uint32_t words[] = {0, 1, 3, 4, 14, 23, TEM_NO_WORD};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        tally_draws(m, words[i], SEED);
    mechanism_free(m);
}

static void test_draws(void **state) {
    (void)state;
    check_draws("permute-and-flip", 1, NULL, 0);
    check_draws("permute-and-flip", 6, NULL, 0);
    check_draws("santext", 2, NULL, 0);
    check_draws("santext-plus", 2, "p", 0.3);
    check_draws("custext", 4, "k", 6);
    check_draws("custext-plus", 4, "k", 6);
    check_draws("diffractor", 0.7, "lists", 3);
}

/* A batch of different words draws for each of them by its own law, also in place. */
static void test_batches(void **state) {
    (void)state;
    tem_mechanism *m = make(excluding, "santext-plus", 3, "p", 0.5);
    double *rows = rows_of(m);
    uint32_t words[600], out[600];
    tem_rng rng;
    rng_init_seeded(&rng, SEED, 1);
    for (uint32_t i = 0; i < 600; i++)
        words[i] = i % (WORDS + 1) == WORDS ? TEM_NO_WORD : i % (WORDS + 1);
    for (int turn = 0; turn < 20; turn++) {
        assert_int_equal(mechanism_draw(m, &rng, words, out, 600, NULL), TEM_OK);
        for (uint32_t i = 0; i < 600; i++)
            assert_true(rows[i % (WORDS + 1) * WORDS + out[i]] > 0);
    }
    free(rows);
    mechanism_free(m);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_coin_bits),
        cmocka_unit_test(test_coin_fraction),
        cmocka_unit_test(test_geometric_tape),
        cmocka_unit_test(test_coin_draws),
        cmocka_unit_test(test_geometric),
        cmocka_unit_test(test_flip_orders),
        cmocka_unit_test(test_flip_subsets),
        cmocka_unit_test(test_flip_many_words),
        cmocka_unit_test(test_flip_bound),
        cmocka_unit_test(test_flip_beside_tem),
        cmocka_unit_test(test_santext_is_em),
        cmocka_unit_test(test_santext_plus_law),
        cmocka_unit_test(test_santext_plus_bound),
        cmocka_unit_test(test_santext_plus_margin),
        cmocka_unit_test(test_custext_law),
        cmocka_unit_test(test_custext_margin),
        cmocka_unit_test(test_custext_exponents),
        cmocka_unit_test(test_custext_plus_law),
        cmocka_unit_test(test_diffractor_lists),
        cmocka_unit_test(test_diffractor_law),
        cmocka_unit_test(test_diffractor_margin),
        cmocka_unit_test(test_diffractor_bound),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
