/* test_levels.c - the weights of a language model: look-up, total and draw speak of the same
 * integers, over all words and histories of small models; and the tables that must be refused.
 *
 * The reference takes the tables apart by the definition in levels.h, in 128 bits. Draws are
 * followed by tapes: each value that a bounded draw can have at the edge of an entry is forced, so
 * that the number of values that lead to each entry is known exactly. */
#include "language/levels_build.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gamma_upper.h"
#include "random_ngram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 7, OUTPUTS = WORDS - 2, SYMBOLS = OUTPUTS + 2 };
static const char *const names[WORDS] = {"v0", "v1", "v2", "v3", "v4", "v5", "v6"};
static const char *const never[] = {"v2", "v5"};
static tem_model *model;

static bool is_excluded(uint32_t id) {
    return id == 2 || id == 5;
}

static int build_model(void **state) {
    (void)state;
    static const float values[WORDS] = {3, 1, 4, 1.5F, 9, 2, 6};
    tem_vectors *vectors = NULL;
    const tem_build_options options = {.metric = TEM_EUCLIDEAN,
                                       .neighbours = 3,
                                       .allow_coarse = 1,
                                       .space = TEM_SPACE_RAW,
                                       .exclude = never,
                                       .exclude_count = 2};
    assert_int_equal(tem_vectors_create(names, values, WORDS, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return 0;
}

static int free_model(void **state) {
    (void)state;
    tem_model_free(model);
    return 0;
}

/* ---------------------------------------------------------------- reference -- */

/* e of an output in a row of a table. */
static uint32_t listed(const levels_rows *rows, uint32_t row, uint32_t number) {
    for (uint32_t i = rows->starts[row]; i < rows->starts[row + 1]; i++)
        if (rows->numbers[i] == number)
            return rows->sums[i + 1] - rows->sums[i];
    return 0;
}

static uint32_t pair_of(const levels *l, uint32_t g, uint32_t h) {
    for (uint32_t i = l->pair_starts[g]; i < l->pair_starts[g + 1]; i++)
        if (l->pair_seconds[i] == h)
            return i;
    return LEVELS_NONE;
}

/* a_y(g, h) by the definition. LEVELS_NONE: there is no such word before. */
static u256_wide defined(const levels *l, uint32_t g, uint32_t h, uint32_t id) {
    const uint32_t k = LEVELS_SHIFT, number = l->numbers[id];
    if (is_excluded(id))
        return 0;
    const bool two = h != LEVELS_NONE && l->two.count > 0;
    const uint32_t pair =
        two && g != LEVELS_NONE && l->three.count > 0 ? pair_of(l, g, h) : LEVELS_NONE;
    const uint64_t b2 = two ? l->two.factors[h] : 1u << k,
                   e2 = two ? listed(&l->two, h, number) : 0;
    const uint64_t b3 = pair != LEVELS_NONE ? l->three.factors[pair] : 1u << k;
    const uint64_t e3 = pair != LEVELS_NONE ? listed(&l->three, pair, number) : 0;
    return ((u256_wide)e3 << 2 * k) + b3 * (((u256_wide)e2 << k) + (u256_wide)b2 * l->e1[number]);
}

/* ---------------------------------------------------------------- histories -- */

/* The word or kind of a past that has this symbol. */
static uint32_t word_of(const levels *l, uint32_t symbol) {
    static const uint32_t unknowns[] = {RELEASED_KEPT_WORD, RELEASED_MASK, WORDS, 2};
    return symbol == l->unknown ? unknowns[random_below(4)] : l->ids[symbol];
}

/* Sets up the position after (g, h), with punctuation here and there. */
static position_weights after(const levels *l, uint32_t g, uint32_t h) {
    uint32_t words[LEVELS_PAST], count = 0;
    released_past past = {.words = words};
    position_weights at = {.state = l};
    const uint32_t symbols[] = {g, h};
    for (int i = 0; i < 2; i++) {
        if (symbols[i] == LEVELS_NONE)
            past.before = symbols[1] == l->begin ? 0 : 9;
        else if (symbols[i] != l->begin)
            words[count++] = word_of(l, symbols[i]);
        else if (random_below(2) == 0)
            words[count++] = RELEASED_LINE_END;
        while (random_below(3) == 0 && count < 6)
            words[count++] = RELEASED_PUNCTUATION;
    }
    past.count = count;
    assert_int_equal(levels_position(l, NULL, &past, &at, NULL), TEM_OK);
    return at;
}

/* ------------------------------------------------------------------- tapes -- */

static jmp_buf tape_is_short;

static void end_of_tape(void *context) {
    (void)context;
    longjmp(tape_is_short, 1);
}

/* The first word that gives a bounded draw this value, and is not rejected. */
static uint64_t word_for(uint64_t value, uint64_t bound) {
    const uint64_t rejected = -bound % bound;
    return (uint64_t)((((u256_wide)value << 64) + rejected + bound - 1) / bound);
}

static uint32_t draw_by(const position_weights *at, uint64_t first, uint64_t second) {
    const uint64_t words[] = {first, second, second, second};
    tem_rng rng;
    rng_init_tape(&rng, words, 4, end_of_tape, NULL);
    return levels_draw(at, &rng);
}

/* Both edges of every entry lead to it, so e values of the sum do. `start`: a value of the first
 * draw that leads to this level. */
static void check_entries(const position_weights *at, const language_level *level, uint64_t start) {
    const levels *l = at->state;
    const uint32_t sum = level->sums[level->count] - level->sums[0];
    uint64_t before = 0;
    for (uint32_t i = 0; i < level->count; i++) {
        const uint32_t e = level->sums[i + 1] - level->sums[i];
        const uint64_t first = word_for(start, at->total);
        assert_int_equal(draw_by(at, first, word_for(before, sum)), l->ids[level->numbers[i]]);
        assert_int_equal(draw_by(at, first, word_for(before + e - 1, sum)),
                         l->ids[level->numbers[i]]);
        before += e;
    }
    assert_int_equal(before, sum);
}

/* The draw goes to a level by that level's part of the total. */
static void check_levels(const position_weights *at) {
    const levels *l = at->state;
    uint64_t start = 0;
    for (uint32_t i = 0; i < at->level_count; i++) {
        const language_level *level = &at->levels[i];
        const uint64_t end = start + level->factor * (level->sums[level->count] - level->sums[0]);
        check_entries(at, level, start);
        check_entries(at, level, end - 1);
        start = end;
    }
    assert_int_equal(start + l->e1_total * at->base_factor, at->total);
    const uint64_t zeros[4] = {0};
    tem_rng rng;
    rng_init_tape(&rng, zeros, 4, end_of_tape, NULL);
    const uint32_t alone = l->ids[levels_draw_base(at, &rng)];
    assert_int_equal(draw_by(at, word_for(start, at->total), 0), alone);
    assert_int_equal(draw_by(at, word_for(at->total - 1, at->total), 0), alone);
}

/* Look-up, total and draw of one position, against the definition. */
static void check_position(const levels *l, uint32_t g, uint32_t h) {
    const position_weights at = after(l, g, h);
    uint32_t ids[WORDS];
    uint64_t many[WORDS];
    u256_wide sum = 0;
    if (setjmp(tape_is_short) != 0)
        fail_msg("the draw took more random words than it needs");
    for (uint32_t y = 0; y < WORDS; y++)
        ids[y] = WORDS - 1 - y;
    levels_weights(&at, ids, WORDS, many);
    for (uint32_t y = 0; y < WORDS; y++) {
        const uint64_t weight = levels_weight(&at, y);
        assert_true(weight == defined(l, g, h, y));
        assert_int_equal(many[WORDS - 1 - y], weight);
        assert_int_equal(weight == 0, is_excluded(y));
        sum += weight;
    }
    assert_true(sum == at.total && at.total <= INT64_MAX);
    check_levels(&at);
}

static void test_look_up_total_and_draw_agree(void **state) {
    (void)state;
    static const levels_settings settings[] = {{1, INFINITY}, {0.6, INFINITY}, {1, 10}, {0.8, 3}};
    random_state = 41;
    for (unsigned i = 0; i < 60; i++) {
        tem_ngram *g = random_ngram(model, 1 + i % 3, 40);
        levels l;
        assert_int_equal(levels_make(g, &settings[i % 4], NULL, &l, NULL), TEM_OK);
        assert_int_equal(l.symbols, SYMBOLS);
        check_position(&l, LEVELS_NONE, LEVELS_NONE);
        check_position(&l, LEVELS_NONE, l.begin);
        for (uint32_t h = 0; h < l.begin; h++) {
            check_position(&l, LEVELS_NONE, h);
            for (uint32_t before = 0; before < SYMBOLS; before++)
                check_position(&l, before, h);
        }
        levels_free(&l);
        ngram_free(g);
    }
}

/* 100,000 draws at each of 20 positions. A right program with fresh randomness fails one comparison
 * with probability 1e-8. */
static void test_draws_follow_the_weights(void **state) {
    (void)state;
    enum { DRAWS = 100000 };
    const levels_settings settings = {1, INFINITY};
    tem_rng rng;
    random_state = 43;
    rng_init_seeded(&rng, 5, 0);
    for (unsigned i = 0; i < 20; i++) {
        tem_ngram *g = random_ngram(model, 3, 40);
        levels l;
        assert_int_equal(levels_make(g, &settings, NULL, &l, NULL), TEM_OK);
        const position_weights at = after(&l, i % SYMBOLS, (uint32_t)random_below(OUTPUTS));
        uint64_t counts[WORDS] = {0};
        double square = 0;
        unsigned bins = 0;
        for (int d = 0; d < DRAWS; d++)
            counts[levels_draw(&at, &rng)]++;
        for (uint32_t y = 0; y < WORDS; y++) {
            const double p = (double)levels_weight(&at, y) / (double)at.total;
            const double expected = p * DRAWS, off = (double)counts[y] - expected;
            bins += expected >= 20;
            square += expected >= 20 ? off * off / expected : 0;
        }
        if (bins > 1)
            assert_true(gamma_upper((bins - 1) / 2.0, square / 2) > 1e-8);
        levels_free(&l);
        ngram_free(g);
    }
}

/* ------------------------------------------------------------- conversion -- */

/* What a back-off model wants an output to weigh, by the definition of temper and lift. */
static double wanted(const tem_ngram *g, const levels_settings *s, uint32_t u, uint32_t v,
                     uint32_t w) {
    const uint64_t bigram = u == LEVELS_NONE ? NGRAM_NONE : ngram_find(&g->two, u, v);
    const double most = s->lift * g->p[w];
    if (bigram != NGRAM_NONE && ngram_find(&g->three, bigram, w) != NGRAM_NONE)
        return pow(fmin(ngram_three(g, bigram, v, w), most), s->temper);
    const double bow3 = bigram == NGRAM_NONE ? 1 : g->three.bow[bigram];
    if (ngram_find(&g->two, v, w) != NGRAM_NONE)
        return pow(bow3 * fmin(ngram_two(g, v, w), most), s->temper);
    return pow(bow3 * g->two.bow[v] * g->p[w], s->temper);
}

static uint32_t in_ngram(const levels *l, const tem_ngram *g, uint32_t symbol) {
    return symbol == l->begin ? g->edge : symbol == l->unknown ? g->unknown : l->ids[symbol];
}

static void check_wanted(const levels *l, const tem_ngram *g, const levels_settings *settings,
                         uint32_t before, uint32_t h) {
    const position_weights at = after(l, before, h);
    const uint32_t u = in_ngram(l, g, before), v = in_ngram(l, g, h);
    double sum = 0;
    for (uint32_t y = 0; y < WORDS; y++)
        sum += is_excluded(y) ? 0 : wanted(g, settings, u, v, y);
    for (uint32_t y = 0; y < WORDS; y++) {
        const double p = is_excluded(y) ? 0 : wanted(g, settings, u, v, y) / sum;
        const double q = (double)levels_weight(&at, y) / (double)at.total;
        if (!(fabs(q - p) <= 0.01 * p))
            fail_msg("%g instead of %g", q, p);
    }
}

/* Where listed probabilities exceed what the lower order gives, weights are proportional to what is
 * wanted, but for rounding: b has 15 bits, and is above 1/100 of them here. */
static void test_weights_are_the_wanted_ones(void **state) {
    (void)state;
    static const levels_settings settings[] = {{1, INFINITY}, {0.7, INFINITY}, {1, 1e3}};
    random_state = 47;
    for (unsigned i = 0; i < 30; i++) {
        tem_ngram *g = random_ngram(model, 3, 40);
        levels l;
        for (uint32_t s = 0; s < g->symbols; s++) {
            g->p[s] = (1 + 0.1 * s) / 20;
            g->two.bow[s] = 0.1 + 0.8 * random_part();
        }
        for (uint64_t e = 0; e < g->two.starts[g->symbols]; e++) {
            g->two.extra[e] = 0.2 + random_part();
            g->three.bow[e] = 0.1 + 0.8 * random_part();
        }
        for (uint64_t e = 0; e < g->three.starts[g->two.starts[g->symbols]]; e++)
            g->three.extra[e] = 0.4 + random_part();
        assert_int_equal(levels_make(g, &settings[i % 3], NULL, &l, NULL), TEM_OK);
        for (uint32_t h = 0; h < l.begin; h++)
            for (uint32_t before = 0; before < SYMBOLS; before++)
                check_wanted(&l, g, &settings[i % 3], before, h);
        levels_free(&l);
        ngram_free(g);
    }
}

/* ------------------------------------------------------------------- pasts -- */

static uint32_t row_after(const levels *l, const uint32_t *words, size_t count, uint64_t before,
                          uint32_t *pair) {
    const released_past past = {.words = words, .count = count, .before = before};
    position_weights at = {.state = l};
    assert_int_equal(levels_position(l, NULL, &past, &at, NULL), TEM_OK);
    *pair = (uint32_t)at.place[1];
    return (uint32_t)at.place[0];
}

static void test_pasts(void **state) {
    (void)state;
    const uint32_t dot = RELEASED_PUNCTUATION, line_end = RELEASED_LINE_END;
    const levels_settings settings = {1, INFINITY};
    random_state = 53;
    tem_ngram *g = random_ngram(model, 3, 40);
    levels l;
    uint32_t pair = 0;
    assert_int_equal(levels_make(g, &settings, NULL, &l, NULL), TEM_OK);
    /* Without an order the outputs 0, 1, 3, 4, 6 have the numbers 0 to 4. */
    assert_int_equal(row_after(&l, NULL, 0, 0, &pair), l.begin);
    assert_int_equal(pair, LEVELS_NONE);
    assert_int_equal(row_after(&l, (uint32_t[]){4}, 1, 0, &pair), 3);
    assert_int_equal(pair, pair_of(&l, l.begin, 3));
    assert_int_equal(row_after(&l, (uint32_t[]){1, dot, 6, dot}, 4, 50, &pair), 4);
    assert_int_equal(pair, pair_of(&l, 1, 4));
    assert_int_equal(row_after(&l, (uint32_t[]){1, line_end, dot, 6}, 4, 50, &pair), 4);
    assert_int_equal(pair, pair_of(&l, l.begin, 4));
    assert_int_equal(row_after(&l, (uint32_t[]){1, 3, line_end}, 3, 0, &pair), l.begin);
    assert_int_equal(pair, LEVELS_NONE);
    assert_int_equal(row_after(&l, (uint32_t[]){1, RELEASED_MASK}, 2, 0, &pair), l.unknown);
    assert_int_equal(pair, pair_of(&l, 1, l.unknown));
    assert_int_equal(row_after(&l, (uint32_t[]){RELEASED_KEPT_WORD, 0}, 2, 0, &pair), 0);
    assert_int_equal(pair, pair_of(&l, l.unknown, 0));
    /* What came before is more than the language model sees, and is not the begin. */
    assert_int_equal(row_after(&l, (uint32_t[]){dot, dot}, 2, 7, &pair), LEVELS_NONE);
    assert_int_equal(row_after(&l, (uint32_t[]){dot, 3}, 2, 7, &pair), 2);
    assert_int_equal(pair, LEVELS_NONE);
    levels_free(&l);
    ngram_free(g);
}

/* ------------------------------------------------------------------ damage -- */

/* Changes a number of the tables, looks whether they are refused, and changes it back. */
static void refuse(const levels *l, const uint32_t *place, uint32_t value) {
    uint32_t *at = (uint32_t *)(uintptr_t)place;
    const uint32_t kept = *at;
    tem_error error;
    *at = value;
    assert_int_equal(levels_check(l, NULL, &error), TEM_ERR_DAMAGED);
    *at = kept;
    assert_int_equal(levels_check(l, NULL, NULL), TEM_OK);
}

static void test_damaged_tables_are_refused(void **state) {
    (void)state;
    const levels_settings settings = {1, INFINITY};
    random_state = 59;
    tem_ngram *g = random_ngram(model, 3, 40);
    levels l;
    assert_int_equal(levels_make(g, &settings, NULL, &l, NULL), TEM_OK);
    const levels_rows *const tables[] = {&l.two, &l.three};
    for (int t = 0; t < 2; t++) {
        const levels_rows *r = tables[t];
        uint32_t row = 0;
        while (r->starts[row + 1] < r->starts[row] + 2)
            row++;
        const uint32_t first = r->starts[row], last = r->starts[row + 1] - 1;
        refuse(&l, &r->factors[row], 0);
        refuse(&l, &r->factors[row], (1 << LEVELS_SHIFT) + 1);
        refuse(&l, &r->starts[row + 1], r->entries + 1);
        refuse(&l, &r->starts[row + 1], UINT32_MAX);
        refuse(&l, &r->numbers[last], OUTPUTS);
        refuse(&l, &r->numbers[last], r->numbers[last - 1]);
        refuse(&l, &r->sums[last], r->sums[first]);
        refuse(&l, &r->sums[last + 1], r->sums[first]);
    }
    refuse(&l, &l.pair_starts[1], l.three.count + 1);
    refuse(&l, &l.pair_seconds[0], SYMBOLS);
    levels_free(&l);
    ngram_free(g);
}

/* ids that are no outputs, or are there twice; e1 of 0, and a sum of 2^32. */
static void test_damaged_words_are_refused(void **state) {
    (void)state;
    static const uint32_t ids[][OUTPUTS] = {
        {0, 1, 3, 4, 6}, {6, 4, 3, 1, 0}, {0, 1, 2, 4, 6}, {0, 1, 1, 4, 6}, {0, 1, 3, 4, 7}};
    static const uint32_t e1[][OUTPUTS] = {{1, 1, 1, 1, 1},
                                           {1, 1, 1, 1, UINT32_MAX - 4},
                                           {1, 1, 1, 1, 0},
                                           {1, 1, 1, 1, UINT32_MAX - 3}};
    for (size_t i = 0; i < 5; i++)
        for (size_t e = 0; e < 4; e++) {
            levels l = {.outputs = OUTPUTS, .ids = ids[i], .e1 = e1[e]};
            const bool is_right = i < 2 && e < 2;
            assert_int_equal(levels_attach(&l, model, NULL), is_right ? TEM_OK : TEM_ERR_DAMAGED);
            levels_free(&l);
        }
    levels l = {.outputs = OUTPUTS - 1, .ids = ids[0], .e1 = e1[0]};
    assert_int_equal(levels_attach(&l, model, NULL), TEM_ERR_DAMAGED);
    levels_free(&l);
}

/* Totals of 2^63 and more. The largest total after one word is 2^48 - 2^16, which leaves 2^31 for
 * the third level where b3 is 2^15. */
static void test_large_totals_are_refused(void **state) {
    (void)state;
    static const uint32_t ids[] = {0, 1, 3, 4, 6}, e1[] = {1, 1, 1, 1, UINT32_MAX - 4};
    static const uint32_t starts[] = {0, 0, 0, 0, 1, 1, 1, 1}, numbers[] = {2};
    static const uint32_t pairs[] = {0, 1, 1, 1, 1, 1, 1, 1}, seconds[] = {3};
    static const uint32_t pair_starts[] = {0, 1};
    const uint32_t most = 1 << LEVELS_SHIFT;
    const uint32_t factors[] = {1, 1, 1, most, 1, 1, 1};
    uint32_t sums[] = {7, 6}, sums3[] = {7, 9}, factor3 = most;
    levels l = {.outputs = OUTPUTS,
                .ids = ids,
                .e1 = e1,
                .two = {SYMBOLS, 1, starts, factors, numbers, sums},
                .three = {1, 1, pair_starts, &factor3, numbers, sums3},
                .pair_starts = pairs,
                .pair_seconds = seconds};
    assert_int_equal(levels_attach(&l, model, NULL), TEM_OK);
    assert_int_equal(levels_check(&l, NULL, NULL), TEM_ERR_DAMAGED); /* 2^63 */
    sums3[1] = 8;
    assert_int_equal(levels_check(&l, NULL, NULL), TEM_OK); /* 2^63 - 2^30 */
    refuse(&l, &sums3[1], 9);
    refuse(&l, &sums3[1], 6);
    levels_free(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look_up_total_and_draw_agree),
        cmocka_unit_test(test_draws_follow_the_weights),
        cmocka_unit_test(test_weights_are_the_wanted_ones),
        cmocka_unit_test(test_pasts),
        cmocka_unit_test(test_damaged_tables_are_refused),
        cmocka_unit_test(test_damaged_words_are_refused),
        cmocka_unit_test(test_large_totals_are_refused),
    };
    return cmocka_run_group_tests(tests, build_model, free_model);
}
