/* test_remap.c - the map of released words to better ones, against the formula, and its use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "small_channel.h"

enum { WORDS = 30 };

static double row_value(const small_channel *s, uint32_t word, uint32_t i) {
    return space_row(&s->model->space, word)[i];
}

/* The mean square of the distance of `z` from the words behind `y`, times a constant of y. */
static double cost(const small_channel *s, const double *shares, uint32_t y, uint32_t z) {
    double sum = 0, mean[2] = {0, 0}, known = 0;
    for (uint32_t w = 0; w < s->words; w++) {
        known += shares[w];
        for (uint32_t i = 0; i < 2; i++)
            mean[i] += shares[w] * row_value(s, w, i);
    }
    for (uint32_t w = 0; w <= s->words; w++)
        for (uint32_t i = 0; i < 2; i++) {
            const double x = w < s->words ? row_value(s, w, i) : mean[i] / known;
            const double gap = x - row_value(s, z, i);
            sum += shares[w] * s->law[(size_t)w * s->words + y] * gap * gap;
        }
    return sum;
}

static double square_gap(const small_channel *s, uint32_t a, uint32_t b) {
    double sum = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const double gap = row_value(s, a, i) - row_value(s, b, i);
        sum += gap * gap;
    }
    return sum;
}

static void make_map(const small_channel *s, const tem_mechanism *mechanism, uint32_t *map) {
    const tem_expectation expected = expect_unknown(s, 0.05);
    assert_int_equal(tem_remap_make(mechanism, &expected, NULL, map, NULL), TEM_OK);
}

/* A channel of this mechanism over points at random, with an order by distance. The first
 * `excluded` words are never drawn. */
static small_channel make_channel(const char *mechanism, uint32_t excluded) {
    static const tem_order_options by_distance = {0};
    tem_build_options options = {.neighbours = WORDS, .allow_coarse = 1, .order = &by_distance};
    static char names[WORDS][8];
    const char *words[WORDS];
    float values[2 * WORDS];
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    for (uint32_t i = 0; i < WORDS; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
        values[2 * i] = (float)(4 * random_share());
        values[2 * i + 1] = (float)(4 * random_share());
    }
    options.exclude = words;
    options.exclude_count = excluded;
    assert_int_equal(tem_vectors_create(words, values, WORDS, 2, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return small_channel_of(model, WORDS,
                            (tem_mechanism_options){.mechanism = mechanism, .epsilon = 2});
}

/* No word has a lower cost than the one to which an output is mapped, except by the rounding of the
 * mean to the grid. That holds for every law with a form: 64 draws per word would miss it. At this
 * epsilon the map is not the identity. */
static void test_map_has_the_least_cost(void **state) {
    (void)state;
    static const char *const mechanisms[] = {"tem", "em", "rank", "coin"};
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
        small_channel s = make_channel(mechanisms[i], 0);
        double shares[WORDS + 1];
        uint32_t map[WORDS], moved = 0;
        expected_shares(&s, 0.05, shares);
        make_map(&s, s.mechanism, map);
        for (uint32_t y = 0; y < WORDS; y++) {
            const double least = cost(&s, shares, y, map[y]);
            for (uint32_t z = 0; z < WORDS; z++)
                assert_true(least <= cost(&s, shares, y, z) * (1 + 1e-3));
            moved += map[y] != y;
        }
        assert_true(moved > 0);
        small_channel_free(&s);
    }
}

/* Words that are never drawn have no word behind them where none is unknown, and keep their own
 * vector: the map takes each to the nearest output. All others have the least cost among the
 * outputs. */
static void test_excluded_words_keep_their_vector(void **state) {
    (void)state;
    enum { EXCLUDED = 3 };
    small_channel s = make_channel("rank", EXCLUDED);
    const tem_expectation expected = expect_unknown(&s, 0);
    double shares[WORDS + 1];
    uint32_t map[WORDS];
    expected_shares(&s, 0, shares);
    assert_int_equal(tem_remap_make(s.mechanism, &expected, NULL, map, NULL), TEM_OK);
    for (uint32_t y = 0; y < WORDS; y++) {
        assert_true(map[y] >= EXCLUDED && map[y] < WORDS);
        for (uint32_t z = EXCLUDED; z < WORDS; z++)
            if (y < EXCLUDED)
                assert_true(square_gap(&s, y, map[y]) <= square_gap(&s, y, z));
            else
                assert_true(cost(&s, shares, y, map[y]) <= cost(&s, shares, y, z) * (1 + 1e-3));
    }
    small_channel_free(&s);
}

/* The map that draws teach costs at most 5 % more than the best one. */
static void test_map_from_draws(void **state) {
    (void)state;
    small_channel s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 2});
    mechanism_ops unknown_law = *s.mechanism->ops;
    const mechanism_ops *ops = s.mechanism->ops;
    uint32_t best[WORDS], learned[WORDS], again[WORDS];
    double shares[WORDS + 1], best_cost = 0, learned_cost = 0;
    make_map(&s, s.mechanism, best);
    unknown_law.form = NULL;
    s.mechanism->ops = &unknown_law;
    make_map(&s, s.mechanism, learned);
    make_map(&s, s.mechanism, again);
    s.mechanism->ops = ops;
    assert_memory_equal(learned, again, sizeof learned);
    expected_shares(&s, 0.05, shares);
    for (uint32_t y = 0; y < WORDS; y++) {
        best_cost += cost(&s, shares, y, best[y]);
        learned_cost += cost(&s, shares, y, learned[y]);
    }
    assert_true(learned_cost < 1.05 * best_cost);
    small_channel_free(&s);
}

static tem_mechanism *mapped(const small_channel *s, const uint32_t *map) {
    return mechanism_of(s->model, (tem_mechanism_options){.epsilon = 2, .remap = map});
}

/* The draws with a map are those without, mapped; the law follows; the bound and its price stay. */
static void test_draws_are_mapped(void **state) {
    (void)state;
    small_channel s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 2});
    uint32_t map[WORDS];
    for (uint32_t y = 0; y < WORDS; y++)
        map[y] = y / 3;
    tem_mechanism *with = mapped(&s, map);
    tem_rng *a = repeatable_rng(5), *b = repeatable_rng(5);
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t plain = 0, other = 0;
        const uint32_t word = i % 31 == 30 ? TEM_NO_WORD : i % WORDS;
        assert_int_equal(tem_mechanism_draw(s.mechanism, a, word, &plain, NULL), TEM_OK);
        assert_int_equal(tem_mechanism_draw(with, b, word, &other, NULL), TEM_OK);
        assert_int_equal(other, map[plain]);
    }
    tem_law *law = NULL;
    assert_int_equal(tem_law_create(with, 4, 12, &law, NULL), TEM_OK);
    for (uint32_t z = 0; z < WORDS; z++) {
        double sum = 0;
        for (uint32_t y = 0; y < WORDS; y++)
            sum += map[y] == z ? s.law[4 * WORDS + y] : 0;
        assert_true(fabs(tem_law_probability(law, z) - sum) < 1e-12);
    }
    tem_mechanism_info plain, info;
    tem_mechanism_get_info(s.mechanism, &plain);
    tem_mechanism_get_info(with, &info);
    assert_true(info.s_steps == plain.s_steps && info.epsilon_gamma == plain.epsilon_gamma);
    assert_true(strlen(info.remap) == 64 && plain.remap[0] == '\0');
    assert_null(tem_job_why_not_private(with, &(tem_job){0}));
    tem_law_free(law);
    tem_rng_free(b);
    tem_rng_free(a);
    tem_mechanism_free(with);
    small_channel_free(&s);
}

/* A law with a map is not exponential: it is neither inverted nor audited as if it were. A map must
 * lead to outputs, and a mechanism takes one map. */
static void test_refusals(void **state) {
    (void)state;
    small_channel s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 2});
    uint32_t map[WORDS] = {0};
    tem_mechanism *with = mapped(&s, map), *none = NULL;
    tem_channel *channel = NULL;
    const tem_expectation expected = expect_unknown(&s, 0);
    assert_int_equal(tem_channel_create(with, NULL, &channel, NULL), TEM_ERR_UNSUPPORTED);
    assert_int_equal(tem_remap_make(with, &expected, NULL, map, NULL), TEM_ERR_ARGUMENT);
    map[7] = WORDS;
    const tem_mechanism_options beyond = {.epsilon = 2, .remap = map};
    assert_int_equal(tem_mechanism_create(s.model, &beyond, &none, NULL), TEM_ERR_ARGUMENT);
    assert_null(none);
    tem_mechanism_free(with);
    small_channel_free(&s);
    const float values[] = {0, 1, 2};
    tem_model *l1 = small_model(NULL, values, 3, 1, TEM_L1, 3);
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(l1, 1, &prior, NULL), TEM_OK);
    const tem_expectation zipf = {.prior = prior};
    tem_mechanism *other = mechanism_of(l1, (tem_mechanism_options){.epsilon = 2});
    assert_int_equal(tem_remap_make(other, &zipf, NULL, map, NULL), TEM_ERR_UNSUPPORTED);
    tem_mechanism_free(other);
    tem_prior_free(prior);
    tem_model_free(l1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_has_the_least_cost),
        cmocka_unit_test(test_map_from_draws),
        cmocka_unit_test(test_draws_are_mapped),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_excluded_words_keep_their_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
