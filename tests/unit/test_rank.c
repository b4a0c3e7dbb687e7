/* test_rank.c - the mechanisms `rank` and `coin`: their laws against brute force in integers and
 * MPFR, every bound over all inputs and outputs, draws by chi-square, and models with an order as
 * files. */
#include "mech/falloff.h"
#include "mech/law.h"
#include "mech/model_mechanism.h"
#include "model/model_layout.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gamma_upper.h"
#include "slow.h"
#include "tem_account.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 30, MOST_WORDS = 400, PRECISION = 256 };

/* ---- models ---- */

/* Points at random in a square; every 7th is that of the word before. Excluded: each word whose id
 * is 3 modulo `step`; step 0: none. */
static tem_model *make_model(uint32_t count, uint32_t step, const tem_order_options *order) {
    static char names[MOST_WORDS][8];
    static const char *words[MOST_WORDS], *excluded[MOST_WORDS];
    static float values[2 * MOST_WORDS];
    tem_build_options options = {.neighbours = 6, .allow_coarse = 1, .exclude = excluded};
    tem_order_options own = order != NULL ? *order : (tem_order_options){0};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
        if (step > 0 && i % step == 3)
            excluded[options.exclude_count++] = names[i];
        for (uint32_t k = 2 * i; k < 2 * i + 2; k++)
            values[k] = i % 7 == 6 ? values[k - 2] : (float)random_below(1000) / 250;
    }
    assert_int_equal(tem_vectors_create(words, values, count, 2, &vectors, NULL), TEM_OK);
    own.vectors = own.list > 0 ? vectors : NULL; /* lists need vectors */
    options.order = order != NULL ? &own : NULL;
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

static const tem_order_options by_distance = {0}, by_lists = {.list = 5, .block = 4, .group = 4};

static tem_mechanism *make(const tem_model *model, const char *name, double epsilon, double c,
                           const uint32_t *given) {
    const tem_parameter_value numbers[] = {{"c", c}, {NULL, 0}};
    const tem_mechanism_options options = {
        .mechanism = name, .epsilon = epsilon, .weights = given, .numbers = c > 0 ? numbers : NULL};
    tem_mechanism *m = NULL;
    tem_error error;
    if (tem_mechanism_create(model, &options, &m, &error) != TEM_OK)
        fail_msg("%s", error.message);
    return m;
}

static tem_mechanism_info info_of(const tem_mechanism *m) {
    tem_mechanism_info info;
    tem_mechanism_get_info(m, &info);
    return info;
}

/* ---- the law in integers ---- */

/* Integers of a law: P(y | w) = cells[w][y] / totals[w]. Row `count`: unknown. */
typedef struct exact_law {
    uint32_t count;
    uint64_t heights[MOST_WORDS];
    mpfr_t *logs; /* ln P(y | w); -infinity for excluded outputs */
    mpfr_t *probabilities;
} exact_law;

static mpfr_t *logs_at(const exact_law *e, uint32_t w, uint32_t y) {
    return &e->logs[(size_t)w * e->count + y];
}

static mpfr_t *probability_at(const exact_law *e, uint32_t w, uint32_t y) {
    return &e->probabilities[(size_t)w * e->count + y];
}

static void init_law(exact_law *e, uint32_t count) {
    const size_t cells = (size_t)(count + 1) * count;
    e->count = count;
    e->logs = test_calloc(cells, sizeof *e->logs);
    e->probabilities = test_calloc(cells, sizeof *e->probabilities);
    for (size_t i = 0; i < cells; i++)
        mpfr_inits2(PRECISION, e->logs[i], e->probabilities[i], (mpfr_ptr)NULL);
}

static void free_law(exact_law *e) {
    for (size_t i = 0; i < (size_t)(e->count + 1) * e->count; i++)
        mpfr_clears(e->logs[i], e->probabilities[i], (mpfr_ptr)NULL);
    test_free(e->logs);
    test_free(e->probabilities);
}

/* Divides a row of weights, in `probabilities`, by its total. */
static void set_row(exact_law *e, uint32_t w) {
    mpfr_t total;
    mpfr_init2(total, PRECISION);
    mpfr_set_ui(total, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < e->count; y++)
        mpfr_add(total, total, *probability_at(e, w, y), MPFR_RNDN); /* exact: below 2^128 */
    for (uint32_t y = 0; y < e->count; y++) {
        mpfr_div(*probability_at(e, w, y), *probability_at(e, w, y), total, MPFR_RNDN);
        mpfr_log(*logs_at(e, w, y), *probability_at(e, w, y), MPFR_RNDN);
    }
    mpfr_clear(total);
}

static uint32_t weight_of(const tem_model *model, const uint32_t *given, uint32_t y) {
    return tem_model_is_excluded(model, y) ? 0 : given != NULL ? given[y] : 1;
}

/* The law of `rank` by the order of the model and a table of its own. */
static void set_rank_law(exact_law *e, const tem_model *model, uint64_t s, double c,
                         const uint32_t *given) {
    falloff f;
    init_law(e, model->words.count);
    assert_int_equal(falloff_init(&f, s, (uint64_t)ldexp(c, FALLOFF_C_BITS),
                                  model->order.shape.outputs, 1, NULL),
                     TEM_OK);
    memcpy(e->heights, f.heights, f.count * sizeof *f.heights);
    for (uint32_t w = 0; w <= e->count; w++) {
        for (uint32_t y = 0; y < e->count; y++) {
            const uint32_t rank = w == e->count ? 0 : order_rank(&model->order, w, y);
            const uint64_t height = rank == ORDER_NONE ? 0 : e->heights[rank];
            mpfr_set_uj(*probability_at(e, w, y), height, MPFR_RNDN);
            mpfr_mul_ui(*probability_at(e, w, y), *probability_at(e, w, y),
                        weight_of(model, given, y), MPFR_RNDN);
        }
        set_row(e, w);
    }
    falloff_free(&f);
}

/* Whether a and b are equal up to a relative error of 10^-digits. */
static bool is_near(mpfr_srcptr a, mpfr_srcptr b, int digits) {
    mpfr_t off;
    if (mpfr_zero_p(a) || mpfr_zero_p(b))
        return mpfr_zero_p(a) && mpfr_zero_p(b);
    mpfr_init2(off, PRECISION);
    mpfr_reldiff(off, b, a, MPFR_RNDN);
    const bool is = fabs(mpfr_get_d(off, MPFR_RNDN)) < pow(10, -digits);
    mpfr_clear(off);
    return is;
}

/* The law to 60 digits, its doubles, and its columns are those of `e`. */
static void check_law(const tem_mechanism *m, const exact_law *e) {
    double row[MOST_WORDS], column[MOST_WORDS + 1];
    mpfr_t number;
    mpfr_init2(number, PRECISION);
    for (uint32_t w = 0; w <= e->count; w++) {
        const uint32_t word = w == e->count ? TEM_NO_WORD : w;
        tem_law *law = NULL;
        assert_int_equal(tem_law_create(m, word, 60, &law, NULL), TEM_OK);
        assert_int_equal(mechanism_row(m, word, row, NULL), TEM_OK);
        for (uint32_t y = 0; y < e->count; y++) {
            assert_true(is_near(law->probabilities[y], *probability_at(e, w, y), 60));
            mpfr_set_d(number, row[y], MPFR_RNDN);
            assert_true(is_near(number, *probability_at(e, w, y), 13));
            if (!mechanism_has_columns(m) || mpfr_zero_p(*probability_at(e, w, y)))
                continue;
            mechanism_column(m, y, column);
            mpfr_set_d(number, column[w], MPFR_RNDN);
            assert_true(is_near(number, *probability_at(e, w, y), 13));
        }
        tem_law_free(law);
    }
    mpfr_clear(number);
}

/* ---- bounds ---- */

/* Sets `most` to the largest ln P(y | a) / P(y | b) over all outputs y. */
static void set_loss(mpfr_t most, const exact_law *e, uint32_t a, uint32_t b) {
    mpfr_t loss;
    mpfr_init2(loss, PRECISION);
    mpfr_set_ui(most, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < e->count; y++) {
        assert_int_equal(mpfr_inf_p(*logs_at(e, a, y)), mpfr_inf_p(*logs_at(e, b, y)));
        if (mpfr_inf_p(*logs_at(e, a, y)))
            continue;
        mpfr_sub(loss, *logs_at(e, a, y), *logs_at(e, b, y), MPFR_RNDN);
        mpfr_max(most, most, loss, MPFR_RNDN);
    }
    mpfr_clear(loss);
}

/* Sets the largest loss between known inputs, and between a known and an unknown one. */
static void set_losses(mpfr_t known, mpfr_t unknown, const exact_law *e) {
    mpfr_t loss;
    mpfr_init2(loss, PRECISION);
    mpfr_set_ui(known, 0, MPFR_RNDN);
    mpfr_set_ui(unknown, 0, MPFR_RNDN);
    for (uint32_t a = 0; a <= e->count; a++)
        for (uint32_t b = 0; b <= e->count; b++) {
            set_loss(loss, e, a, b);
            mpfr_ptr most = a == e->count || b == e->count ? unknown : known;
            mpfr_max(most, most, loss, MPFR_RNDN);
        }
    mpfr_clear(loss);
}

/* Sets out to s d_r(a, b): the sup norm between ln h of their ranks. */
static void set_distance(mpfr_t out, const exact_law *e, const rank_order *o, uint32_t a,
                         uint32_t b) {
    mpfr_t x, y;
    mpfr_inits2(PRECISION, x, y, (mpfr_ptr)NULL);
    mpfr_set_ui(out, 0, MPFR_RNDN);
    for (uint32_t i = 0; i < e->count; i++) {
        const uint32_t of_a = order_rank(o, a, i), of_b = order_rank(o, b, i);
        if (of_a == ORDER_NONE)
            continue;
        mpfr_set_uj(x, e->heights[of_a], MPFR_RNDN);
        mpfr_set_uj(y, e->heights[of_b], MPFR_RNDN);
        mpfr_div(x, x, y, MPFR_RNDN);
        mpfr_log(x, x, MPFR_RNDN);
        mpfr_abs(x, x, MPFR_RNDN);
        mpfr_max(out, out, x, MPFR_RNDN);
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* P(y|a) <= exp(factor s d_r) P(y|b) for all pairs of known words, one way or the other attained if
 * factor is 1; two outputs are ln(h(0)/h(1)) apart at least. Logarithms err by less than 2^-240. */
static void check_distances(const exact_law *e, const tem_model *model, unsigned factor) {
    mpfr_t loss, back, allowed, least;
    mpfr_inits2(PRECISION, loss, back, allowed, least, (mpfr_ptr)NULL);
    mpfr_set_uj(least, e->heights[1], MPFR_RNDN);
    mpfr_div_2ui(least, least, FALLOFF_TOP_BITS, MPFR_RNDN);
    mpfr_log(least, least, MPFR_RNDN);
    mpfr_neg(least, least, MPFR_RNDN);
    for (uint32_t a = 0; a < e->count; a++)
        for (uint32_t b = 0; b < e->count; b++) {
            set_loss(loss, e, a, b);
            set_loss(back, e, b, a);
            mpfr_max(loss, loss, back, MPFR_RNDN);
            set_distance(allowed, e, &model->order, a, b);
            if (a != b && !tem_model_is_excluded(model, a) && !tem_model_is_excluded(model, b))
                assert_true(mpfr_cmp(allowed, least) >= 0);
            mpfr_mul_ui(allowed, allowed, factor, MPFR_RNDN);
            mpfr_sub(loss, loss, allowed, MPFR_RNDN);
            assert_true(mpfr_cmp_d(loss, 0x1p-230) <= 0);
            assert_true(factor > 1 || mpfr_cmp_d(loss, -0x1p-230) >= 0);
        }
    mpfr_clears(loss, back, allowed, least, (mpfr_ptr)NULL);
}

/* All outputs weigh the same: B is the largest loss of all, attained by known inputs, never
 * exceeded with an unknown one; and it is what the mechanism states. */
static void check_equal_bounds(const tem_mechanism *m, const exact_law *e) {
    const tem_mechanism_info info = info_of(m);
    mpfr_t known, unknown;
    mpfr_inits2(PRECISION, known, unknown, (mpfr_ptr)NULL);
    set_losses(known, unknown, e);
    assert_true(mpfr_cmp_d(known, info.bound) <= 0);
    mpfr_sub_d(known, known, info.bound, MPFR_RNDN);
    assert_true(mpfr_cmp_d(known, -1e-12) > 0);
    assert_true(mpfr_cmp_d(unknown, info.bound) <= 0);
    mpfr_clears(known, unknown, (mpfr_ptr)NULL);
}

/* N_w and S_w are the same for all words: every row has the same probabilities. */
static void check_rows_alike(const tem_mechanism *m, const tem_model *model) {
    double self = 0, support = 0;
    for (uint32_t w = 0; w < m->count; w++) {
        tem_law *law = NULL;
        assert_int_equal(tem_law_create(m, w, 60, &law, NULL), TEM_OK);
        self = self == 0 ? tem_law_probability(law, w) : self;
        support = support == 0 ? tem_law_support(law) : support;
        assert_true(tem_law_support(law) == support);
        if (tem_model_is_excluded(model, w))
            assert_true(tem_law_probability(law, w) == 0);
        else
            assert_true(tem_law_probability(law, w) == self);
        tem_law_free(law);
    }
}

static void check_rank(const tem_order_options *order, uint32_t step, double epsilon, double c) {
    tem_model *model = make_model(WORDS, step, order);
    tem_mechanism *m = make(model, "rank", epsilon, c, NULL);
    const uint64_t s = (uint64_t)floor(ldexp(epsilon, 20)) - 1; /* one step below epsilon */
    exact_law e;
    assert_int_equal(info_of(m).s_steps, s);
    set_rank_law(&e, model, s, c, NULL);
    check_law(m, &e);
    check_equal_bounds(m, &e);
    check_distances(&e, model, 1);
    check_rows_alike(m, model);
    free_law(&e);
    tem_mechanism_free(m);
    tem_model_free(model);
}

static void test_rank_laws(void **state) {
    (void)state;
    check_rank(&by_distance, 0, 1.05, 1);
    check_rank(&by_distance, 5, 2, 20);
    check_rank(&by_lists, 0, 0.3, 1 / 16.0);
    check_rank(&by_lists, 4, 1.2, 1);
    check_rank(&by_lists, 5, 9, 1); /* the last heights are near 2^20 */
}

/* d_r is a metric: symmetric by definition; all triples. */
static void test_distance_is_metric(void **state) {
    (void)state;
    tem_model *model = make_model(WORDS, 5, &by_lists);
    exact_law e;
    mpfr_t direct, first, second;
    mpfr_inits2(PRECISION, direct, first, second, (mpfr_ptr)NULL);
    set_rank_law(&e, model, 1 << 20, 1, NULL);
    for (uint32_t a = 0; a < WORDS; a++)
        for (uint32_t b = 0; b < WORDS; b++)
            for (uint32_t c = 0; c < WORDS; c += 3) {
                set_distance(direct, &e, &model->order, a, b);
                set_distance(first, &e, &model->order, a, c);
                set_distance(second, &e, &model->order, c, b);
                mpfr_add(first, first, second, MPFR_RNDN);
                mpfr_sub(direct, direct, first, MPFR_RNDN);
                assert_true(mpfr_cmp_d(direct, 0x1p-230) <= 0);
            }
    mpfr_clears(direct, first, second, (mpfr_ptr)NULL);
    free_law(&e);
    tem_model_free(model);
}

/* With weights that differ: s is half of epsilon, no pair loses more than 2 s d_r or 2B, and none
 * with an unknown word more than B. */
static void test_weighted_laws(void **state) {
    (void)state;
    uint32_t given[WORDS];
    for (uint32_t trial = 0; trial < 4; trial++) {
        tem_model *model = make_model(WORDS, trial % 2 == 0 ? 5 : 0, &by_lists);
        for (uint32_t y = 0; y < WORDS; y++)
            given[y] = tem_model_is_excluded(model, y) ? 0 : 1 + (uint32_t)random_below(50);
        given[trial] = trial == 3 ? given[trial] : 1000;
        tem_mechanism *m = make(model, "rank", 1.7, 1, given);
        const tem_mechanism_info info = info_of(m);
        exact_law e;
        mpfr_t known, unknown;
        mpfr_inits2(PRECISION, known, unknown, (mpfr_ptr)NULL);
        assert_int_equal(info.s_steps, (uint64_t)floor(ldexp(1.7, 19)) - 1);
        set_rank_law(&e, model, info.s_steps, 1, given);
        check_law(m, &e);
        set_losses(known, unknown, &e);
        const double b = falloff_loss(e.heights[0], e.heights[model->order.shape.outputs - 1]);
        assert_true(info.bound == 2 * b);
        assert_true(mpfr_cmp_d(known, info.bound) <= 0 && mpfr_cmp_d(unknown, b) <= 0);
        assert_true(mpfr_cmp_d(known, b) > 0); /* one factor would not do */
        check_distances(&e, model, 2);
        mpfr_clears(known, unknown, (mpfr_ptr)NULL);
        free_law(&e);
        tem_mechanism_free(m);
        tem_model_free(model);
    }
}

/* Weights that are all 5 change nothing: s is that of epsilon, and the law is the same. */
static void test_equal_weights(void **state) {
    (void)state;
    uint32_t given[WORDS];
    tem_model *model = make_model(WORDS, 5, &by_lists);
    exact_law e;
    for (uint32_t y = 0; y < WORDS; y++)
        given[y] = tem_model_is_excluded(model, y) ? 0 : 5;
    tem_mechanism *m = make(model, "rank", 1.7, 1, given);
    assert_int_equal(info_of(m).s_steps, (uint64_t)floor(ldexp(1.7, 20)) - 1);
    set_rank_law(&e, model, info_of(m).s_steps, 1, NULL);
    check_law(m, &e);
    check_equal_bounds(m, &e);
    free_law(&e);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* ---- draws ---- */

enum { DRAWS = SLOW ? 1000000 : 10000000, REGIONS_MOST = 2 * MOST_WORDS };
#define ALARM 1e-9 /* each comparison; fewer than 60 of them: below 10^-7 for the file */

/* Pearson's statistic of bins with these shares; bins that are expected fewer than 20 times are one
 * bin. Degrees of freedom: bins less one. */
static void check_bins(const uint64_t *seen, const double *shares, uint32_t count) {
    double square = 0, rare = 0, rare_seen = 0;
    unsigned bins = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double expected = shares[i] * DRAWS;
        if (expected < 20) {
            assert_true(expected > 0 || seen[i] == 0); /* excluded words are never drawn */
            rare += expected;
            rare_seen += (double)seen[i];
            continue;
        }
        square += pow((double)seen[i] - expected, 2) / expected;
        bins++;
    }
    if (rare >= 20) {
        square += pow(rare_seen - rare, 2) / rare;
        bins++;
    }
    if (bins > 1 && gamma_upper((bins - 1) / 2.0, square / 2) < ALARM)
        fail_msg("chi-square %g with %u degrees of freedom", square, bins - 1);
}

/* Draws for one word: bins by output, then by region: the word itself, the rest of its list, each
 * block of the order without the list. */
static void check_draws(const tem_mechanism *m, const tem_model *model, uint32_t word) {
    static const size_t sizes[] = {1, 7, 63, 64, 65, 300};
    uint32_t drawn[300];
    uint64_t seen[MOST_WORDS] = {0}, in_region[REGIONS_MOST] = {0};
    double row[MOST_WORDS], shares[REGIONS_MOST] = {0};
    tem_rng rng;
    rng_init_seeded(&rng, 11, word);
    for (size_t done = 0, turn = 0, some = 0; done < DRAWS; done += some, turn++) {
        some = sizes[turn % 6] < DRAWS - done ? sizes[turn % 6] : DRAWS - done;
        for (size_t i = 0; i < some; i++)
            drawn[i] = word;
        assert_int_equal(mechanism_draw(m, &rng, drawn, drawn, some, NULL), TEM_OK);
        for (size_t i = 0; i < some; i++)
            seen[drawn[i]]++;
    }
    assert_int_equal(mechanism_row(m, word, row, NULL), TEM_OK);
    check_bins(seen, row, m->count);
    if (word == TEM_NO_WORD || !model_has_order(model))
        return;
    for (uint32_t y = 0; y < m->count; y++) {
        const rank_order *o = &model->order;
        const uint32_t rank = order_rank(o, word, y);
        if (rank == ORDER_NONE)
            continue;
        const uint32_t region = rank == 0              ? 0
                                : rank < o->shape.list ? 1
                                                       : 2 + o->places[y] / o->shape.block;
        in_region[region] += seen[y];
        shares[region] += row[y];
    }
    check_bins(in_region, shares, 2 + model->order.blocks);
}

static const tem_order_options for_draws = {.list = 20, .block = 9};

static void test_rank_draws(void **state) {
    (void)state;
    tem_model *model = make_model(MOST_WORDS, 10, &for_draws);
    tem_mechanism *m = make(model, "rank", 0.9, 1, NULL);
    check_draws(m, model, 0);
    check_draws(m, model, 6); /* the same point as the word before */
    check_draws(m, model, 399);
    check_draws(m, model, 3); /* excluded */
    check_draws(m, model, TEM_NO_WORD);
    tem_mechanism_free(m);
    tem_model_free(model);
}

static void test_weighted_draws(void **state) {
    (void)state;
    uint32_t given[MOST_WORDS];
    tem_model *model = make_model(MOST_WORDS, 10, &for_draws);
    for (uint32_t y = 0; y < MOST_WORDS; y++)
        given[y] = tem_model_is_excluded(model, y) ? 0 : 1 + y % 9;
    tem_mechanism *m = make(model, "rank", 1.8, 2, given);
    check_draws(m, model, 0);
    check_draws(m, model, 14);
    check_draws(m, model, 53); /* excluded */
    check_draws(m, model, TEM_NO_WORD);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* Nearly all draws for a word whose near outputs weigh 2^-31 of the last one are rejected, so tem
 * draws them from the sum of all outputs: in time, and by the same law. 5,000 draws of 4 outputs:
 * chi-square with at most 3 degrees of freedom. */
static void test_summed_draws(void **state) {
    (void)state;
    enum { SOME = 5000, FEW = 4 };
    tem_model *model = make_model(FEW, 0, &by_distance);
    uint32_t given[FEW] = {1, 1, 1, 1};
    uint64_t seen[FEW] = {0};
    double row[FEW], square = 0;
    tem_rng rng;
    given[order_word(&model->order, 0, 3)] = 1U << 31;
    tem_mechanism *m = make(model, "rank", 31.0, 1, given); /* h(3) is 2^-31 of h(0) */
    rng_init_seeded(&rng, 12, 0);
    for (unsigned i = 0; i < SOME; i++) {
        uint32_t drawn = 0;
        assert_int_equal(mechanism_draw(m, &rng, &drawn, &drawn, 1, NULL), TEM_OK);
        seen[drawn]++;
    }
    assert_int_equal(mechanism_row(m, 0, row, NULL), TEM_OK);
    unsigned bins = 0;
    for (uint32_t y = 0; y < FEW; y++)
        if (row[y] * SOME >= 5) {
            square += pow((double)seen[y] - row[y] * SOME, 2) / (row[y] * SOME);
            bins++;
        }
    assert_true(bins >= 2 && gamma_upper((bins - 1) / 2.0, square / 2) >= ALARM);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* ---- refusals and the unit ---- */

static void refuse(const tem_model *model, tem_mechanism_options options, tem_status expected) {
    tem_mechanism *m = NULL;
    tem_error error;
    const tem_status status = tem_mechanism_create(model, &options, &m, &error);
    if (status != expected)
        fail_msg("status %d instead of %d: %s", status, expected, status ? error.message : "");
    assert_null(m);
}

/* However large the epsilon is, the refusal names the largest one for this model, which works. */
static void check_limit(const tem_model *model, const uint32_t *given) {
    static const double wrong[] = {19, 64, 70, 1000, 1e300};
    tem_mechanism_options options = {.mechanism = "rank", .weights = given};
    tem_mechanism *m = NULL;
    tem_error error;
    double limit = 0;
    const double most = 42 * log(2) / log(WORDS - 6) * (given != NULL ? 2 : 1); /* 6 are excluded */
    for (unsigned i = given != NULL ? 1 : 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.epsilon = wrong[i];
        assert_int_equal(tem_mechanism_create(model, &options, &m, &error), TEM_ERR_RANGE);
        assert_non_null(strstr(error.message, "epsilon at most "));
        limit = strtod(strstr(error.message, "epsilon at most ") + 16, NULL);
        assert_true(limit <= most && limit > most - 0.011);
    }
    options.epsilon = limit;
    assert_int_equal(tem_mechanism_create(model, &options, &m, NULL), TEM_OK);
    tem_mechanism_free(m);
}

static void test_refusals(void **state) {
    (void)state;
    uint32_t given[WORDS];
    tem_model *model = make_model(WORDS, 5, &by_lists), *without = make_model(WORDS, 0, NULL);
    for (uint32_t y = 0; y < WORDS; y++)
        given[y] = tem_model_is_excluded(model, y) ? 0 : 1 + y % 2;
    refuse(without, (tem_mechanism_options){.mechanism = "rank", .epsilon = 1},
           TEM_ERR_UNSUPPORTED);
    for (unsigned i = 0; i < 2; i++) {
        const char *name = i == 0 ? "rank" : "coin";
        refuse(model, (tem_mechanism_options){.mechanism = name, .epsilon = 1, .gamma = 2},
               TEM_ERR_ARGUMENT);
        refuse(model, (tem_mechanism_options){.mechanism = name, .epsilon = 1, .beta = 0.1},
               TEM_ERR_ARGUMENT);
        static const double wrong[] = {0, -1, NAN, INFINITY, 1e-300, 1e-9, 0x1p-19, 100, 1e300};
        for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++)
            refuse(model, (tem_mechanism_options){.mechanism = name, .epsilon = wrong[k]},
                   TEM_ERR_RANGE);
    }
    refuse(model, (tem_mechanism_options){.mechanism = "rank", .epsilon = 13}, TEM_ERR_RANGE);
    refuse(model, (tem_mechanism_options){.mechanism = "coin", .epsilon = 29.2}, TEM_ERR_RANGE);
    check_limit(model, NULL);
    check_limit(model, given);
    static const double wrong_c[] = {0, 0.06, -1, 1025, NAN, INFINITY};
    for (unsigned k = 0; k < sizeof wrong_c / sizeof *wrong_c; k++) {
        const tem_parameter_value numbers[] = {{"c", wrong_c[k]}, {NULL, 0}};
        refuse(model,
               (tem_mechanism_options){.mechanism = "rank", .epsilon = 1, .numbers = numbers},
               TEM_ERR_RANGE);
    }
    memset(given, 0, sizeof given);
    given[0] = 1;
    refuse(model, (tem_mechanism_options){.mechanism = "coin", .epsilon = 1, .weights = given},
           TEM_ERR_ARGUMENT);
    tem_model_free(model);
    tem_model_free(without);
}

/* The unit names c as the heights have it, and the hash of the order. */
static void test_unit(void **state) {
    (void)state;
    tem_model *model = make_model(WORDS, 5, &by_lists), *other = make_model(WORDS, 5, &by_lists);
    unsigned char hash[CORE_HASH_BYTES];
    char expected[48], digits[17] = "";
    tem_mechanism *m = make(model, "rank", 1, 0, NULL);
    model_order_hash(model, hash);
    for (unsigned i = 0; i < 8; i++)
        snprintf(digits + 2 * i, 3, "%02x", hash[i]);
    snprintf(expected, sizeof expected, "rank/c=1/%s", digits);
    assert_string_equal(info_of(m).unit, expected);
    tem_mechanism_free(m);
    /* One step of c apart, at its largest; both have all digits of the hash. */
    m = make(model, "rank", 1, 1024, NULL);
    const tem_mechanism_info largest = info_of(m);
    tem_mechanism_free(m);
    m = make(model, "rank", 1, 1024 - 0x1p-16, NULL);
    const tem_mechanism_info next = info_of(m);
    assert_string_not_equal(largest.unit, next.unit);
    assert_non_null(strstr(next.unit, digits));
    tem_mechanism_free(m);
    m = make(other, "rank", 1, 0, NULL);
    assert_string_not_equal(info_of(m).unit, expected);
    tem_mechanism_free(m);
    tem_model_free(model);
    tem_model_free(other);
}

/* ---- the coin ---- */

/* The output that is nearest to w by distance, then by id. */
static uint32_t nearest_output(const tem_model *model, uint32_t w) {
    uint32_t nearest = TEM_NO_WORD;
    for (uint32_t y = 0; y < model->words.count; y++)
        if (!tem_model_is_excluded(model, y) &&
            (y == w || nearest == TEM_NO_WORD ||
             (nearest != w &&
              tem_model_distance(model, w, y) < tem_model_distance(model, w, nearest))))
            nearest = y;
    return nearest;
}

static void set_coin_law(exact_law *e, const tem_model *model, uint64_t s) {
    init_law(e, model->words.count);
    e->heights[0] = (uint64_t)1 << 62;
    mpfr_t q;
    mpfr_init2(q, PRECISION);
    mpfr_set_ui_2exp(q, s, -20, MPFR_RNDN);
    mpfr_neg(q, q, MPFR_RNDN);
    mpfr_exp(q, q, MPFR_RNDN);
    mpfr_mul_2ui(q, q, 62, MPFR_RNDN);
    e->heights[1] = mpfr_get_uj(q, MPFR_RNDN);
    mpfr_clear(q);
    for (uint32_t w = 0; w <= e->count; w++) {
        const uint32_t kept = w < e->count ? nearest_output(model, w) : TEM_NO_WORD;
        for (uint32_t y = 0; y < e->count; y++)
            mpfr_set_uj(*probability_at(e, w, y),
                        tem_model_is_excluded(model, y) ? 0 : e->heights[y != kept], MPFR_RNDN);
        set_row(e, w);
    }
}

/* The bound is attained, and at most epsilon. */
static void test_coin_laws(void **state) {
    (void)state;
    static const double epsilons[] = {0x1p-18, 0.5, 3, 29};
    for (unsigned i = 0; i < 4; i++) {
        tem_model *model = make_model(WORDS, i % 2 == 0 ? 5 : 0, NULL);
        tem_mechanism *m = make(model, "coin", epsilons[i], 0, NULL);
        const tem_mechanism_info info = info_of(m);
        exact_law e;
        assert_int_equal(info.s_steps, (uint64_t)floor(ldexp(epsilons[i], 20)) - 1);
        set_coin_law(&e, model, info.s_steps);
        check_law(m, &e);
        check_equal_bounds(m, &e);
        assert_true(info.bound <= epsilons[i] && info.bound > epsilons[i] - 0x1p-18);
        free_law(&e);
        tem_mechanism_free(m);
        tem_model_free(model);
    }
}

static void test_coin_draws(void **state) {
    (void)state;
    tem_model *model = make_model(MOST_WORDS, 10, NULL);
    tem_mechanism *m = make(model, "coin", 5, 0, NULL);
    check_draws(m, model, 0);
    check_draws(m, model, 13); /* excluded */
    check_draws(m, model, TEM_NO_WORD);
    tem_mechanism_free(m);
    tem_model_free(model);
}

static void end_of_tape(void *context) {
    (void)context;
    fail_msg("the draw needs more words than the tape has");
}

/* PRIVACY: of `total` numbers exactly m h(1) say "any output". On a tape: the number m h(1) - 1
 * still does, and m h(1) keeps the word. */
static void test_coin_edge(void **state) {
    (void)state;
    tem_model *model = make_model(8, 0, NULL);
    tem_mechanism *m = make(model, "coin", 3, 0, NULL);
    exact_law e;
    set_coin_law(&e, model, info_of(m).s_steps);
    const u256_wide any = (u256_wide)8 * e.heights[1];
    for (unsigned keeps = 0; keeps < 2; keeps++) {
        const u256_wide number = any - 1 + keeps;
        /* The total is below 2^64, so the number is one word; then comes output 7 of 8. */
        const uint64_t tape[] = {(uint64_t)number, UINT64_MAX, UINT64_MAX, UINT64_MAX};
        uint32_t word = 2;
        tem_rng rng;
        rng_init_tape(&rng, tape, 4, end_of_tape, NULL);
        assert_int_equal(number >> 64, 0);
        assert_int_equal(mechanism_draw(m, &rng, &word, &word, 1, NULL), TEM_OK);
        assert_int_equal(word, keeps ? 2 : 7);
    }
    free_law(&e);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* ---- files ---- */

static unsigned char *file;
static size_t file_bytes;
static char path[64];

static void read_file(void) {
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    file_bytes = (size_t)ftell(in);
    rewind(in);
    file = test_calloc(file_bytes, 1);
    assert_int_equal(fread(file, 1, file_bytes, in), file_bytes);
    fclose(in);
}

static void write_file(const unsigned char *bytes) {
    unlink(path);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, file_bytes, out), file_bytes);
    fclose(out);
}

/* Writes the file with one byte of the order changed, and with correct hashes. */
static void forge(uint64_t at, unsigned char value) {
    unsigned char *forged = test_calloc(file_bytes, 1);
    memcpy(forged, file, file_bytes);
    model_header *header = (model_header *)(void *)forged;
    model_section *sections = (model_section *)(void *)(forged + sizeof *header);
    for (uint32_t i = 0; i < header->sections; i++) {
        if (sections[i].kind == SECTION_ORDER)
            forged[sections[i].offset + at] = value;
        core_hash256(forged + sections[i].offset, sections[i].bytes, sections[i].hash);
    }
    model_front_hash(header, sections, (unsigned char *)&sections[header->sections]);
    write_file(forged);
    test_free(forged);
}

static void save(const tem_model *model) {
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.40s/tem-rank-XXXXXX", base != NULL ? base : "/tmp");
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    close(handle);
    assert_int_equal(tem_model_save(model, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    read_file();
}

/* A file keeps the order, its hash and the law. */
static void test_saved_and_opened(void **state) {
    (void)state;
    tem_model *model = make_model(WORDS, 5, &by_lists), *opened = NULL;
    unsigned char before[CORE_HASH_BYTES], after[CORE_HASH_BYTES];
    save(model);
    assert_int_equal(tem_model_open(path, &opened, NULL), TEM_OK);
    assert_int_equal(opened->order.byte_count, model->order.byte_count);
    assert_memory_equal(opened->order.bytes, model->order.bytes, model->order.byte_count);
    model_order_hash(model, before);
    model_order_hash(opened, after);
    assert_memory_equal(before, after, sizeof before);
    refuse(opened, (tem_mechanism_options){.mechanism = "rank", .epsilon = 1}, TEM_ERR_UNTRUSTED);
    assert_int_equal(tem_model_verify(opened, NULL, NULL), TEM_OK);
    tem_mechanism *m = make(opened, "rank", 1, 1, NULL);
    exact_law e;
    set_rank_law(&e, model, info_of(m).s_steps, 1, NULL);
    check_law(m, &e);
    free_law(&e);
    tem_mechanism_free(m);
    tem_model_free(opened);
    tem_model_free(model);
    unlink(path);
    test_free(file);
}

/* Damage behind correct hashes: the file does not open, or it opens and verification refuses it,
 * and so does the mechanism, even if the model is trusted. Or only the order is another one. */
static void test_forged(void **state) {
    (void)state;
    tem_model *model = make_model(WORDS, 5, &by_lists);
    unsigned unopened = 0, unverified = 0, other = 0;
    save(model);
    for (uint64_t at = 0; at < model->order.byte_count; at += 2) {
        tem_model *opened = NULL;
        forge(at, (unsigned char)(model->order.bytes[at] ^ 1));
        if (tem_model_open(path, &opened, NULL) != TEM_OK) {
            unopened++;
            continue;
        }
        if (tem_model_verify(opened, NULL, NULL) == TEM_OK) {
            other++;
        } else {
            const tem_mechanism_options options = {.mechanism = "rank", .epsilon = 1};
            tem_mechanism *m = NULL;
            atomic_store(&opened->trusted, true);
            assert_int_equal(mechanism_make(opened, &mechanism_rank, &options, &m, NULL),
                             TEM_ERR_DAMAGED);
            unverified++;
        }
        tem_model_free(opened);
    }
    assert_true(unopened > 0 && unverified > 0 && other > 0);
    tem_model_free(model);
    unlink(path);
    test_free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_laws),
        cmocka_unit_test(test_distance_is_metric),
        cmocka_unit_test(test_weighted_laws),
        cmocka_unit_test(test_equal_weights),
        cmocka_unit_test(test_rank_draws),
        cmocka_unit_test(test_weighted_draws),
        cmocka_unit_test(test_summed_draws),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_unit),
        cmocka_unit_test(test_coin_laws),
        cmocka_unit_test(test_coin_draws),
        cmocka_unit_test(test_coin_edge),
        cmocka_unit_test(test_saved_and_opened),
        cmocka_unit_test(test_forged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
