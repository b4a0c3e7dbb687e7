/* test_context.c - draws in context: the law of every word after every past against MPFR, and all
 * bounds of it, whatever the language model says; whole documents; draws by chi-square; what the
 * language model is shown; seeds, threads and the order of documents; and what is refused. */
#include "job/replacer.h"
#include "mech/falloff.h"
#include "mech/law.h"
#include "mech/model_mechanism.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_language.h"
#include "gamma_upper.h"
#include "small_model.h"
#include "tem_language.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <unistd.h>

enum { PRECISION = 256, FEW = 9, DOCUMENT_WORDS = 4 };

/* ---- models and mechanisms ---- */

/* Points at random in a square; word 4 stands where word 3 is. excluded: word 2 is no output. */
static tem_model *make_model(uint32_t count, bool excludes) {
    static char names[ARRAY_WORDS_MAX][8];
    static const char *words[ARRAY_WORDS_MAX];
    float values[2 * ARRAY_WORDS_MAX];
    const char *const excluded[] = {"w2"};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
        for (uint32_t k = 2 * i; k < 2 * i + 2; k++)
            values[k] = i == 4 ? values[k - 2] : (float)random_below(1000) / 250;
    }
    assert_int_equal(tem_vectors_create(words, values, count, 2, &vectors, NULL), TEM_OK);
    const tem_order_options order = {.list = 3, .block = 2, .group = 3, .vectors = vectors};
    const tem_build_options options = {.neighbours = 3,
                                       .allow_coarse = 1,
                                       .exclude = excluded,
                                       .exclude_count = excludes ? 1 : 0,
                                       .order = &order};
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

static const char *const names[] = {"tem", "em", "rank", "coin"};
static const double epsilons[] = {1.5, 1.1, 2.2, 3.0};
enum { MECHANISMS = 4 };

static tem_mechanism *make_with(const tem_model *model, tem_mechanism_options options) {
    tem_mechanism *m = NULL;
    tem_error error;
    if (tem_mechanism_create(model, &options, &m, &error) != TEM_OK)
        fail_msg("%s", error.message);
    return m;
}

static tem_mechanism *make(const tem_model *model, int which, const tem_language *language) {
    return make_with(model, (tem_mechanism_options){.mechanism = names[which],
                                                    .epsilon = epsilons[which],
                                                    .gamma = which == 0 ? 2.5 : 0,
                                                    .language = language});
}

/* ---- language models ---- */

static uint64_t mixed(const released_past *past, uint32_t y) {
    uint64_t sum = 77 + y;
    for (size_t i = 0; i < past->count; i++)
        sum = (sum ^ past->words[i]) * 0x9e3779b97f4a7c15 + (sum >> 29);
    return sum >> 20;
}

static void rule_mixed(uint32_t words, const released_past *past, uint64_t *values) {
    for (uint32_t y = 0; y < words; y++)
        values[y] = 1 + mixed(past, y) % 1000;
}

/* All weight on one word. */
static void rule_one(uint32_t words, const released_past *past, uint64_t *values) {
    for (uint32_t y = 0; y < words; y++)
        values[y] = 1;
    values[mixed(past, 0) % words] = (uint64_t)1 << 61;
}

/* Weights that differ by as much as they can, in another order after each past. */
static void rule_steep(uint32_t words, const released_past *past, uint64_t *values) {
    for (uint32_t y = 0; y < words; y++)
        values[y] = (uint64_t)1 << mixed(past, y) % 55;
}

/* Nothing for some words. */
static void rule_zeros(uint32_t words, const released_past *past, uint64_t *values) {
    for (uint32_t y = 0; y < words; y++)
        values[y] = mixed(past, y) % 3;
    values[0]++;
}

static array_rule *const rules[] = {rule_mixed, rule_one, rule_steep, rule_zeros};
enum { RULES = 4 };

/* ---- laws after a past ---- */

typedef struct laws {
    uint32_t words;
    mpfr_t logs[FEW + 1][FEW]; /* ln P(y | w); the last row: an unknown word */
} laws;

static void init_laws(laws *l, uint32_t words) {
    l->words = words;
    for (uint32_t w = 0; w <= words; w++)
        for (uint32_t y = 0; y < words; y++)
            mpfr_init2(l->logs[w][y], PRECISION);
}

static void free_laws(laws *l) {
    for (uint32_t w = 0; w <= l->words; w++)
        for (uint32_t y = 0; y < l->words; y++)
            mpfr_clear(l->logs[w][y]);
}

static uint32_t input(const laws *l, uint32_t w) {
    return w == l->words ? TEM_NO_WORD : w;
}

static void set_laws(laws *l, const tem_mechanism *m, const uint32_t *past, size_t count) {
    for (uint32_t w = 0; w <= l->words; w++) {
        tem_law *law = NULL;
        assert_int_equal(tem_law_create_after(m, past, count, input(l, w), 60, &law, NULL), TEM_OK);
        for (uint32_t y = 0; y < l->words; y++)
            mpfr_log(l->logs[w][y], law->probabilities[y], MPFR_RNDN);
        tem_law_free(law);
    }
}

/* ln K(w, y) by the definition of the mechanism, with s for epsilon = 2s. */
static void set_closeness(mpfr_t out, const tem_model *model, int which, uint32_t w, uint32_t y) {
    const uint64_t s = (uint64_t)floor(ldexp(epsilons[which], 19)) - 1;
    if (which < 2) {
        const tem_dist gamma = which == 0 ? (tem_dist)(2.5 * TEM_DIST_ONE) : UINT32_MAX;
        const tem_dist d = space_distance(&model->space, w, y);
        mpfr_set_uj(out, s * (uint64_t)(d < gamma ? d : gamma), MPFR_RNDN);
        mpfr_div_2ui(out, out, 36, MPFR_RNDN);
        mpfr_neg(out, out, MPFR_RNDN);
    } else if (which == 2) {
        falloff f;
        assert_int_equal(falloff_init(&f, s, 1 << 16, model->order.shape.outputs, 1, NULL), TEM_OK);
        mpfr_set_uj(out, f.heights[order_rank(&model->order, w, y)], MPFR_RNDN);
        mpfr_log(out, out, MPFR_RNDN);
        falloff_free(&f);
    } else {
        mpfr_set_uj(out, order_rank(&model->order, w, y) == 0 ? (uint64_t)1 << 62 : falloff_exp(s),
                    MPFR_RNDN);
        mpfr_log(out, out, MPFR_RNDN);
    }
}

/* The law of one word is a_y K(w, y) / Z, to 25 digits. */
static void check_law(const laws *l, const tem_model *model, int which, uint32_t w,
                      const uint64_t *values) {
    mpfr_t terms[FEW], sum, off;
    mpfr_inits2(PRECISION, sum, off, (mpfr_ptr)NULL);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < l->words; y++) {
        mpfr_init2(terms[y], PRECISION);
        mpfr_set_ui(terms[y], 0, MPFR_RNDN);
        if (values[y] > 0 && w < l->words)
            set_closeness(terms[y], model, which, w, y);
        mpfr_exp(terms[y], terms[y], MPFR_RNDN);
        mpfr_set_uj(off, values[y], MPFR_RNDN);
        mpfr_mul(terms[y], terms[y], off, MPFR_RNDN);
        mpfr_add(sum, sum, terms[y], MPFR_RNDN);
    }
    for (uint32_t y = 0; y < l->words; y++) {
        mpfr_div(terms[y], terms[y], sum, MPFR_RNDN);
        mpfr_exp(off, l->logs[w][y], MPFR_RNDN);
        mpfr_sub(off, off, terms[y], MPFR_RNDN);
        assert_true(mpfr_cmp_d(off, 1e-25) < 0 && mpfr_cmp_d(off, -1e-25) > 0);
        assert_int_equal(mpfr_inf_p(l->logs[w][y]), values[y] == 0);
        mpfr_clear(terms[y]);
    }
    mpfr_clears(sum, off, (mpfr_ptr)NULL);
}

/* ---- bounds ---- */

/* The largest ln P(y | a) - ln P(y | b) over all outputs. */
static void set_loss(mpfr_t most, const laws *l, uint32_t a, uint32_t b) {
    mpfr_t loss;
    mpfr_init2(loss, PRECISION);
    mpfr_set_ui(most, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < l->words; y++) {
        assert_int_equal(mpfr_inf_p(l->logs[a][y]), mpfr_inf_p(l->logs[b][y]));
        if (mpfr_inf_p(l->logs[a][y]))
            continue;
        mpfr_sub(loss, l->logs[a][y], l->logs[b][y], MPFR_RNDN);
        mpfr_max(most, most, loss, MPFR_RNDN);
    }
    mpfr_clear(loss);
}

/* What the theorem allows between two inputs: epsilon times their distance, or a bound. */
static void set_allowed(mpfr_t out, const tem_mechanism *m, int which, uint32_t a, uint32_t b) {
    const uint32_t words = m->count;
    tem_mechanism_info info;
    tem_mechanism_get_info(m, &info);
    mpfr_set_d(out, info.bound, MPFR_RNDN);
    if (which < 2 && a < words && b < words) {
        const tem_dist d = space_distance(&m->model->space, a, b);
        mpfr_set_d(out, m->epsilon, MPFR_RNDN);
        mpfr_mul_ui(out, out, d < info.gamma_steps ? d : info.gamma_steps, MPFR_RNDN);
        mpfr_div_2ui(out, out, 16, MPFR_RNDN);
    } else if (which == 2 && a < words && b < words) {
        mpfr_t x, y;
        mpfr_inits2(PRECISION, x, y, (mpfr_ptr)NULL);
        mpfr_set_ui(out, 0, MPFR_RNDN);
        for (uint32_t i = 0; i < words; i++) {
            if (tem_model_is_excluded(m->model, i))
                continue;
            set_closeness(x, m->model, which, a, i);
            set_closeness(y, m->model, which, b, i);
            mpfr_sub(x, x, y, MPFR_RNDN);
            mpfr_abs(x, x, MPFR_RNDN);
            mpfr_max(out, out, x, MPFR_RNDN);
        }
        mpfr_mul_ui(out, out, 2, MPFR_RNDN); /* 2 s d_r */
        mpfr_add_d(out, out, 0x1p-200, MPFR_RNDN);
        mpfr_clears(x, y, (mpfr_ptr)NULL);
    } else if (which > 1 && (a == words) != (b == words)) {
        mpfr_div_2ui(out, out, 1, MPFR_RNDN); /* B with an unknown word, 2B elsewhere */
    }
}

typedef struct allowed_losses {
    mpfr_t between[FEW + 1][FEW + 1];
} allowed_losses;

static void check_bounds(const laws *l, const allowed_losses *allowed) {
    mpfr_t loss;
    mpfr_init2(loss, PRECISION);
    for (uint32_t a = 0; a <= l->words; a++)
        for (uint32_t b = 0; b <= l->words; b++) {
            set_loss(loss, l, a, b);
            assert_true(mpfr_cmp(loss, allowed->between[a][b]) <= 0);
        }
    mpfr_clear(loss);
}

/* After the empty past, each word, each pair of a word and a kind or a word: the law of every
 * input, and all bounds between inputs. */
static void check_mechanism(const tem_model *model, int which, array_rule *rule) {
    array_language *language = array_language_make(model, rule);
    tem_mechanism *m = make(model, which, &language->language);
    laws l;
    allowed_losses allowed;
    init_laws(&l, FEW);
    for (uint32_t a = 0; a <= FEW; a++)
        for (uint32_t b = 0; b <= FEW; b++) {
            mpfr_init2(allowed.between[a][b], PRECISION);
            set_allowed(allowed.between[a][b], m, which, a, b);
        }
    for (uint32_t first = 0; first <= FEW; first++)
        for (uint32_t second = 0; second <= (first < FEW ? FEW : 0); second++) {
            const uint32_t past[] = {first, second};
            const size_t count = first == FEW ? 0 : second == FEW ? 1 : 2;
            const released_past shown = {.words = past, .count = count};
            uint64_t values[FEW];
            rule(FEW, &shown, values);
            for (uint32_t y = 0; y < FEW; y++)
                values[y] = tem_model_is_excluded(model, y) ? 0 : values[y];
            set_laws(&l, m, past, count);
            for (uint32_t w = 0; w <= FEW; w++)
                check_law(&l, model, which, w, values);
            check_bounds(&l, &allowed);
        }
    for (uint32_t a = 0; a <= FEW; a++)
        for (uint32_t b = 0; b <= FEW; b++)
            mpfr_clear(allowed.between[a][b]);
    free_laws(&l);
    tem_mechanism_free(m);
    free(language);
}

static void test_laws(void **state) {
    (void)state;
    for (int excludes = 0; excludes < 2; excludes++) {
        tem_model *model = make_model(FEW, excludes);
        for (int which = 0; which < MECHANISMS; which++)
            for (int rule = 0; rule < RULES; rule++)
                /* The coin keeps the nearest output of an excluded word, which is another law. */
                if (which < 3 || !excludes)
                    check_mechanism(model, which, rules[rule]);
        tem_model_free(model);
    }
}

/* ---- documents ---- */

/* All documents of three words, unknown ones included, are within the sum of the bounds of their
 * positions for every output. In doubles: logarithms err by less than 1e-12 each. */
static void check_documents(int which, array_rule *rule) {
    enum { N = DOCUMENT_WORDS, INPUTS = N + 1, PASTS = 1 + N + N * N };
    static double logs[PASTS][INPUTS][N], allowed[INPUTS][INPUTS];
    tem_model *model = make_model(N, false);
    array_language *language = array_language_make(model, rule);
    tem_mechanism *m = make(model, which, &language->language);
    laws l;
    mpfr_t bound;
    init_laws(&l, N);
    mpfr_init2(bound, PRECISION);
    for (uint32_t p = 0; p < PASTS; p++) {
        const uint32_t one[] = {p - 1}, two[] = {(p - 1 - N) / N, (p - 1 - N) % N};
        set_laws(&l, m, p <= N ? one : two, p == 0 ? 0 : p <= N ? 1 : 2);
        for (uint32_t w = 0; w < INPUTS; w++)
            for (uint32_t y = 0; y < N; y++)
                logs[p][w][y] = mpfr_get_d(l.logs[w][y], MPFR_RNDN);
    }
    for (uint32_t a = 0; a < INPUTS; a++)
        for (uint32_t b = 0; b < INPUTS; b++) {
            set_allowed(bound, m, which, a, b);
            allowed[a][b] = a == b ? 0 : mpfr_get_d(bound, MPFR_RNDU);
        }
    for (uint32_t pair = 0; pair < INPUTS * INPUTS * INPUTS * INPUTS * INPUTS * INPUTS; pair++) {
        uint32_t in[6];
        for (uint32_t i = 0, left = pair; i < 6; i++, left /= INPUTS)
            in[i] = left % INPUTS;
        const double most =
            allowed[in[0]][in[3]] + allowed[in[1]][in[4]] + allowed[in[2]][in[5]] + 1e-9;
        for (uint32_t out = 0; out < N * N * N; out++) {
            const uint32_t y[] = {out / N / N, out / N % N, out % N};
            const uint32_t past[] = {0, 1 + y[0], 1 + N + y[0] * N + y[1]};
            double loss = 0;
            for (int i = 0; i < 3; i++)
                loss += logs[past[i]][in[i]][y[i]] - logs[past[i]][in[3 + i]][y[i]];
            assert_true(loss <= most || isnan(loss)); /* never drawn by either */
        }
    }
    mpfr_clear(bound);
    free_laws(&l);
    tem_mechanism_free(m);
    free(language);
    tem_model_free(model);
}

static void test_documents(void **state) {
    (void)state;
    for (int which = 0; which < MECHANISMS; which++)
        check_documents(which, rules[which]);
    check_documents(2, rule_steep);
}

/* ---- draws ---- */

enum { MANY = 40, DRAWS = 20000 };
#define ALARM 1e-9 /* each comparison; fewer than 200 of them: below 10^-6 for the file */

/* Pearson's statistic; outputs that are expected fewer than 20 times are one bin. Degrees of
 * freedom: bins less one. */
static void check_bins(const uint64_t *seen, const double *shares, uint32_t count) {
    double square = 0, rare = 0, rare_seen = 0;
    unsigned bins = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double expected = shares[i] * DRAWS;
        assert_true(expected > 0 || seen[i] == 0);
        if (expected < 20) {
            rare += expected;
            rare_seen += (double)seen[i];
        } else {
            square += pow((double)seen[i] - expected, 2) / expected;
            bins++;
        }
    }
    if (rare >= 20) {
        square += pow(rare_seen - rare, 2) / rare;
        bins++;
    }
    if (bins > 1 && gamma_upper((bins - 1) / 2.0, square / 2) < ALARM)
        fail_msg("chi-square %g with %u degrees of freedom", square, bins - 1);
}

static void check_draws(const tem_mechanism *m, const released_past *past, uint32_t word) {
    double row[MANY];
    uint64_t seen[MANY] = {0};
    array_document *document = calloc(1, sizeof *document);
    tem_rng rng;
    rng_init_seeded(&rng, 39, word);
    assert_int_equal(mechanism_begin(m, document, NULL), TEM_OK);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t drawn = word;
        assert_int_equal(mechanism_draw_next(m, document, past, &rng, &drawn, NULL), TEM_OK);
        seen[drawn]++;
    }
    assert_int_equal(mechanism_row_after(m, document, past, word, row, NULL), TEM_OK);
    check_bins(seen, row, m->count);
    mechanism_end(m, document);
    free(document);
}

static void test_draws(void **state) {
    (void)state;
    static const uint32_t words[] = {7, RELEASED_PUNCTUATION};
    tem_model *model = make_model(MANY, true);
    for (int which = 0; which < MECHANISMS; which++)
        for (int rule = 0; rule < RULES; rule++) {
            array_language *language = array_language_make(model, rules[rule]);
            tem_mechanism *m = make(model, which, &language->language);
            for (size_t count = 0; count <= 2; count += 2) {
                const released_past past = {.words = words, .count = count};
                check_draws(m, &past, 0);
                check_draws(m, &past, 2); /* excluded */
                check_draws(m, &past, 11);
                check_draws(m, &past, TEM_NO_WORD);
            }
            tem_mechanism_free(m);
            free(language);
        }
    tem_model_free(model);
}

/* One word weighs so much that nearly every round proposes it, and it is so far that nearly every
 * proposal is rejected: the draw sums all outputs. Exponents of `tem` are 0, 0.12, 1.2 and 14.4, so
 * that their fractions count; the heights of `rank` fall by 64,000. */
static void rule_heavy_last(uint32_t words, const released_past *past, uint64_t *values) {
    (void)past;
    for (uint32_t y = 0; y < words; y++)
        values[y] = 1;
    values[words - 1] = words == 4 ? 1800000 : 64000;
}

/* All words weigh the same, and the far ones draw hardly ever: rounds accept or reject by fractions
 * alone. */
static void rule_flat(uint32_t words, const released_past *past, uint64_t *values) {
    (void)past;
    for (uint32_t y = 0; y < words; y++)
        values[y] = 1;
}

static void test_fractions(void **state) {
    (void)state;
    const float points[] = {0, 1, 400, 401};
    const released_past past = {0};
    tem_model *model = small_model(NULL, points, 4, 1, TEM_EUCLIDEAN, 2);
    array_language *language = array_language_make(model, rule_flat);
    const tem_mechanism_options options = {
        .epsilon = 0.24, .gamma = 200, .language = &language->language};
    tem_mechanism *m = make_with(model, options);
    check_draws(m, &past, 0);
    check_draws(m, &past, 3);
    tem_mechanism_free(m);
    free(language);
    tem_model_free(model);
}

static void test_many_rejections(void **state) {
    (void)state;
    const float points[] = {0, 1, 10, 120};
    const released_past past = {0};
    for (int which = 0; which < 3; which += 2) {
        tem_model *model = which == 0 ? small_model(NULL, points, 4, 1, TEM_EUCLIDEAN, 2)
                                      : make_model(MANY, false);
        array_language *language = array_language_make(model, rule_heavy_last);
        const tem_mechanism_options options = {.mechanism = names[which],
                                               .epsilon = which == 0 ? 0.24 : 6,
                                               .gamma = which == 0 ? 200 : 0,
                                               .language = &language->language};
        tem_mechanism *m = make_with(model, options);
        for (uint32_t w = 0; w < 3; w++)
            check_draws(m, &past,
                        which == 0 ? w : order_word(&model->order, MANY - 1, MANY - 1 - w));
        tem_mechanism_free(m);
        free(language);
        tem_model_free(model);
    }
}

/* Words that are never released: not even if the language model wants nothing else. */
static void test_never(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, true);
    const released_past past = {0};
    uint8_t never[MANY] = {0};
    uint64_t wanted[MANY];
    rule_one(MANY, &past, wanted);
    for (uint32_t y = 0; y < MANY; y++)
        never[y] = wanted[y] > 1 || y % 3 == 1;
    for (int which = 0; which < MECHANISMS; which++)
        for (int rule = 0; rule < 2; rule++) {
            array_language *language = array_language_make(model, rules[rule]);
            const tem_mechanism_options options = {.mechanism = names[which],
                                                   .epsilon = epsilons[which],
                                                   .language = &language->language,
                                                   .never = never};
            tem_mechanism *m = make_with(model, options);
            check_draws(m, &past, 0);
            check_draws(m, &past, 1); /* never released itself */
            check_draws(m, &past, TEM_NO_WORD);
            tem_mechanism_free(m);
            free(language);
        }
    tem_model_free(model);
}

/* Without a language model the weights are 0 and 1: for rank epsilon is then 2s, unless every word
 * is an output. */
static void test_never_alone(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, true);
    uint8_t never[MANY] = {0};
    for (int which = 0; which < MECHANISMS; which++)
        for (int some = 0; some < 2; some++) {
            never[1] = never[5] = (uint8_t)some;
            const tem_mechanism_options options = {
                .mechanism = names[which], .epsilon = epsilons[which], .never = never};
            tem_mechanism *m = make_with(model, options);
            tem_mechanism_info info;
            tem_mechanism_get_info(m, &info);
            const int bits = which < 2 || (which == 2 && some) ? 19 : 20;
            assert_int_equal(info.s_steps, (uint64_t)floor(ldexp(epsilons[which], bits)) - 1);
            assert_non_null(strstr(info.numbers, "never="));
            tem_rng rng;
            rng_init_seeded(&rng, 40, 0);
            uint64_t seen[MANY] = {0};
            double row[MANY];
            for (int i = 0; i < DRAWS; i++) {
                uint32_t drawn = 0;
                assert_int_equal(mechanism_draw(m, &rng, &drawn, &drawn, 1, NULL), TEM_OK);
                seen[drawn]++;
            }
            assert_int_equal(mechanism_row(m, 0, row, NULL), TEM_OK);
            assert_true(!some || (row[1] == 0 && row[5] == 0));
            check_bins(seen, row, MANY);
            tem_mechanism_free(m);
        }
    tem_model_free(model);
}

/* ---- what the language model is shown ---- */

/* Each position is asked for once, with what the output shows before it and nothing else; each
 * document begins with an empty past. */
static void test_shown(void **state) {
    (void)state;
    enum { DOCUMENTS = 40, LONG = 25 };
    tem_model *model = make_model(MANY, false);
    array_language *language = array_language_make(model, rule_mixed);
    tem_mechanism *m = make(model, 2, &language->language);
    uint32_t ids[DOCUMENTS * LONG], drawn[DOCUMENTS * LONG];
    tem_ids_input documents[DOCUMENTS];
    for (size_t i = 0; i < DOCUMENTS * LONG; i++)
        ids[i] = random_below(6) == 0 ? TEM_NO_WORD : (uint32_t)random_below(MANY);
    for (size_t i = 0; i < DOCUMENTS; i++)
        documents[i] = (tem_ids_input){.ids = ids + i * LONG, .count = LONG};
    const tem_job job = {.insecure_seeded = 1, .insecure_seed = 5};
    const tem_run run = {.threads = 1};
    assert_int_equal(
        tem_privatize_ids(m, &job, documents, DOCUMENTS, &run, drawn, NULL, NULL, NULL), TEM_OK);
    assert_int_equal(language->asked, DOCUMENTS * LONG);
    assert_int_equal(language->begun, DOCUMENTS);
    assert_int_equal(language->ended, DOCUMENTS);
    for (size_t i = 0; i < DOCUMENTS * LONG; i++) {
        const size_t before = i % LONG, seen = before < ARRAY_PAST ? before : ARRAY_PAST;
        assert_int_equal(language->pasts[i][0], seen);
        assert_int_equal(language->before[i], before - seen);
        for (size_t k = 0; k < seen; k++)
            assert_int_equal(language->pasts[i][1 + k], drawn[i - seen + k]);
    }
    tem_mechanism_free(m);
    free(language);
    tem_model_free(model);
}

/* ---- documents, seeds, threads, memory ---- */

enum { TEXTS = 60, TEXT_BYTES = 256 };

/* Texts of words and of unknown words. */
static void make_texts(char texts[TEXTS][TEXT_BYTES]) {
    for (int i = 0; i < TEXTS; i++) {
        texts[i][0] = '\0';
        for (size_t left = random_below(30); left > 0; left--) {
            char word[8] = "zz ";
            if (random_below(4) > 0)
                snprintf(word, sizeof word, "w%u ", (unsigned)random_below(MANY));
            strcat(texts[i], word);
        }
    }
}

/* Privatizes texts[order[i]] as document i. */
static tem_texts *privatize(const tem_mechanism *m, char texts[TEXTS][TEXT_BYTES],
                            const uint32_t *order, uint64_t seed, tem_oov oov, unsigned threads) {
    tem_text_input inputs[TEXTS];
    for (int i = 0; i < TEXTS; i++)
        inputs[i] = (tem_text_input){.text = texts[order[i]], .bytes = strlen(texts[order[i]])};
    const tem_job job = {.text = {.oov = oov}, .insecure_seeded = 1, .insecure_seed = seed};
    const tem_run run = {.threads = threads};
    tem_texts *out = NULL;
    tem_error error;
    if (tem_privatize_texts(m, &job, inputs, TEXTS, &run, &out, NULL, NULL, &error) != TEM_OK)
        fail_msg("%s", error.message);
    return out;
}

static bool are_equal(const tem_texts *a, const tem_texts *b) {
    bool equal = true;
    for (size_t i = 0; i < TEXTS; i++)
        equal = equal && strcmp(tem_texts_at(a, i, NULL), tem_texts_at(b, i, NULL)) == 0;
    return equal;
}

/* A language model of n-grams, of texts like these. */
static tem_language *make_ngrams(const tem_model *model, char texts[TEXTS][TEXT_BYTES]) {
    char path[] = "/tmp/tem-test-context-XXXXXX";
    const char *const paths[] = {path};
    tem_ngram *ngram = NULL;
    tem_language *language = NULL;
    const int number = mkstemp(path);
    FILE *file = number >= 0 ? fdopen(number, "w") : NULL;
    assert_non_null(file);
    for (int i = 0; i < TEXTS; i++)
        assert_true(fprintf(file, "%s\n", texts[i]) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tem_ngram_train(model, paths, 1, 3, NULL, &ngram, NULL), TEM_OK);
    assert_int_equal(tem_language_make(ngram, NULL, NULL, &language, NULL), TEM_OK);
    tem_ngram_free(ngram);
    unlink(path);
    return language;
}

/* The same seed gives the same bytes, however many threads share the documents. */
static void test_seeds_and_threads(void **state) {
    (void)state;
    char texts[TEXTS][TEXT_BYTES];
    uint32_t order[TEXTS];
    tem_model *model = make_model(MANY, true);
    make_texts(texts);
    tem_language *language = make_ngrams(model, texts);
    for (uint32_t i = 0; i < TEXTS; i++)
        order[i] = i;
    for (int which = 0; which < MECHANISMS; which++) {
        tem_mechanism *m = make(model, which, language);
        tem_texts *one = privatize(m, texts, order, 3, TEM_OOV_UNIFORM, 1);
        tem_texts *many = privatize(m, texts, order, 3, TEM_OOV_UNIFORM, 8);
        tem_texts *other = privatize(m, texts, order, 4, TEM_OOV_UNIFORM, 8);
        assert_true(are_equal(one, many));
        assert_false(are_equal(one, other));
        tem_texts_free(one);
        tem_texts_free(many);
        tem_texts_free(other);
        tem_mechanism_free(m);
    }
    tem_language_free(language);
    tem_model_free(model);
}

/* All weight is on one word, chosen by the past: what comes out follows from what the document
 * shows before. Another draw has a probability below 10^-15. */
static void test_order_of_documents(void **state) {
    (void)state;
    char texts[TEXTS][TEXT_BYTES];
    uint32_t order[TEXTS], shuffled[TEXTS];
    tem_model *model = make_model(MANY, false);
    array_language *language = array_language_make(model, rule_one);
    tem_mechanism *m = make(model, 2, &language->language);
    make_texts(texts);
    for (uint32_t i = 0; i < TEXTS; i++)
        order[i] = shuffled[i] = i;
    for (uint32_t i = TEXTS - 1; i > 0; i--) {
        const size_t k = random_below(i + 1);
        const uint32_t kept = shuffled[i];
        shuffled[i] = shuffled[k];
        shuffled[k] = kept;
    }
    /* Masks differ from text to text, and stand in the past: so texts differ in what comes out. */
    tem_texts *a = privatize(m, texts, order, 3, TEM_OOV_MASK, 1);
    tem_texts *b = privatize(m, texts, shuffled, 8, TEM_OOV_MASK, 1);
    size_t different = 0;
    for (size_t i = 0; i < TEXTS; i++) {
        assert_string_equal(tem_texts_at(b, i, NULL), tem_texts_at(a, shuffled[i], NULL));
        different += strcmp(tem_texts_at(a, i, NULL), tem_texts_at(b, i, NULL)) != 0;
    }
    assert_true(different > TEXTS / 2);
    tem_texts_free(a);
    tem_texts_free(b);
    tem_mechanism_free(m);
    free(language);
    tem_model_free(model);
}

/* Nothing of a document stays in the memory of the thread that drew it. The bytes behind twice the
 * past are as malloc gave them. */
static void test_past_is_wiped(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, false);
    array_language *language = array_language_make(model, rule_mixed);
    tem_mechanism *m = make(model, 2, &language->language);
    static const array_document nothing;
    static const char text[] = "w1 w2 zz w3 w4 w5 w6 w7 w8 w9";
    replacer r;
    tem_rng rng;
    core_buffer out = {0};
    tem_counts counts = {0};
    rng_init_seeded(&rng, 41, 0);
    assert_int_equal(replacer_init(&r, m, &(tem_text_options){0}, NULL), TEM_OK);
    for (int fails = 0; fails < 2; fails++) {
        language->fails = fails ? TEM_ERR_DAMAGED : TEM_OK;
        assert_int_equal(replacer_run(&r, &rng, text, sizeof text - 1, &out, &counts, NULL),
                         language->fails);
        assert_true(r.drawing.past.size == 0 && r.drawing.before == 0);
        for (size_t i = 0; i < (2 * ARRAY_PAST - 1) * sizeof(uint32_t); i++)
            assert_int_equal(r.drawing.past.data[i], 0);
        assert_memory_equal(r.drawing.state, &nothing, sizeof nothing);
    }
    core_buffer_free(&out);
    replacer_free(&r);
    tem_mechanism_free(m);
    free(language);
    tem_model_free(model);
}

/* A language model that fails: nothing of the document is released, and the next one begins with
 * an empty past. */
static void test_failing(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, false);
    array_language *language = array_language_make(model, rule_mixed);
    tem_mechanism *m = make(model, 0, &language->language);
    tem_rng *rng = NULL;
    char *out = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    language->fails = TEM_ERR_DAMAGED;
    assert_int_equal(tem_privatize_text(m, NULL, rng, "w1 w2", 5, NULL, &out, &bytes, NULL, NULL),
                     TEM_ERR_DAMAGED);
    assert_null(out);
    assert_int_equal(language->asked, 1);
    assert_int_equal(language->begun, language->ended);
    tem_rng_free(rng);
    tem_mechanism_free(m);
    free(language);
    tem_model_free(model);
}

/* ---- what it states, and what is refused ---- */

static void test_properties(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, true);
    array_language *language = array_language_make(model, rule_mixed);
    for (int which = 0; which < MECHANISMS; which++) {
        tem_mechanism *m = make(model, which, &language->language);
        tem_mechanism *alone = make_with(
            model, (tem_mechanism_options){.mechanism = names[which],
                                           .epsilon = epsilons[which] / (which > 1 ? 2 : 1)});
        tem_mechanism_info info, usual;
        tem_mechanism_get_info(m, &info);
        tem_mechanism_get_info(alone, &usual);
        assert_non_null(strstr(info.properties->claim, "past"));
        assert_true(tem_mechanism_language(m) == &language->language);
        assert_null(tem_mechanism_language(alone));
        assert_string_equal(info.unit, usual.unit);
        assert_int_equal(info.s_steps, (uint64_t)floor(ldexp(epsilons[which], 19)) - 1);
        if (which > 1) /* 2B of the same s, which a half of epsilon has where Z is constant */
            assert_true(info.bound == 2 * usual.bound);
        assert_null(mechanism_why_unbounded(m));
        assert_null(mechanism_form(m));
        assert_false(mechanism_has_columns(m));
        assert_true(info.properties->law_digits == 0 && !info.properties->has_form);
        tem_mechanism_free(m);
        tem_mechanism_free(alone);
    }
    language->language.caveat = "its weights are the user's word";
    tem_mechanism *m = make(model, 2, &language->language);
    assert_true(mechanism_why_unbounded(m) == language->language.caveat);
    tem_mechanism_info info;
    tem_mechanism_get_info(m, &info);
    assert_true(isinf(info.bound) && info.properties->guarantee == TEM_GUARANTEE_OTHER);
    tem_mechanism_free(m);
    free(language);
    tem_model_free(model);
}

/* What the warnings of a run look at: with a language model the numbers of the same law without
 * one, at the same s. No word has a law alone. */
static void test_selves(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, true);
    array_language *language = array_language_make(model, rule_steep);
    for (int which = 0; which < MECHANISMS; which++) {
        tem_mechanism *m = make(model, which, &language->language);
        tem_mechanism *alone = make_with(
            model, (tem_mechanism_options){.mechanism = names[which],
                                           .epsilon = epsilons[which] / (which > 1 ? 2 : 1),
                                           .gamma = which == 0 ? 2.5 : 0});
        double median = -1, usual = -2;
        assert_int_equal(tem_mechanism_self_median(m, &median, NULL), TEM_OK);
        assert_int_equal(tem_mechanism_self_median(alone, &usual, NULL), TEM_OK);
        assert_true(fabs(median - usual) < 1e-12);
        for (int part = 1; part <= 20; part++) {
            assert_int_equal(tem_mechanism_self_quantile(m, part / 20.0, &median, NULL), TEM_OK);
            assert_int_equal(tem_mechanism_self_quantile(alone, part / 20.0, &usual, NULL), TEM_OK);
            assert_true(fabs(median - usual) < 1e-12);
        }
        assert_int_equal(tem_mechanism_self(m, 0, &median, NULL), TEM_ERR_UNSUPPORTED);
        tem_mechanism_free(m);
        tem_mechanism_free(alone);
    }
    assert_int_equal(language->asked, 0);
    free(language);
    tem_model_free(model);
}

static void refuse(const tem_model *model, tem_mechanism_options options, tem_status expected) {
    tem_mechanism *m = NULL;
    tem_error error;
    const tem_status status = tem_mechanism_create(model, &options, &m, &error);
    if (status != expected)
        fail_msg("status %d instead of %d: %s", status, expected, status ? error.message : "");
    assert_null(m);
}

static void test_refusals(void **state) {
    (void)state;
    tem_model *model = make_model(MANY, true), *other = make_model(MANY, false);
    array_language *language = array_language_make(model, rule_mixed);
    const tem_language *l = &language->language;
    uint32_t numbers[MANY] = {0};
    uint8_t never[MANY];
    memset(never, 1, sizeof never);
    refuse(model,
           (tem_mechanism_options){
               .mechanism = "madlib", .epsilon = 1, .allow_no_guarantee = 1, .language = l},
           TEM_ERR_UNSUPPORTED);
    refuse(model,
           (tem_mechanism_options){.mechanism = "permute-and-flip", .epsilon = 1, .language = l},
           TEM_ERR_UNSUPPORTED);
    refuse(model,
           (tem_mechanism_options){.mechanism = "permute-and-flip", .epsilon = 1, .never = never},
           TEM_ERR_UNSUPPORTED);
    numbers[0] = 1;
    refuse(model, (tem_mechanism_options){.epsilon = 1, .language = l, .weights = numbers},
           TEM_ERR_ARGUMENT);
    refuse(model, (tem_mechanism_options){.epsilon = 1, .language = l, .remap = numbers},
           TEM_ERR_ARGUMENT);
    refuse(other, (tem_mechanism_options){.epsilon = 1, .language = l}, TEM_ERR_ARGUMENT);
    for (int which = 0; which < MECHANISMS; which++) {
        never[3] = 1;
        refuse(model,
               (tem_mechanism_options){
                   .mechanism = names[which], .epsilon = epsilons[which], .never = never},
               TEM_ERR_RANGE);
        refuse(model,
               (tem_mechanism_options){.mechanism = names[which],
                                       .epsilon = epsilons[which],
                                       .never = never,
                                       .language = l},
               TEM_ERR_RANGE);
    }
    /* A map may not lead to a word that this run never releases. */
    memset(never, 0, sizeof never);
    never[3] = 1;
    for (uint32_t y = 0; y < MANY; y++)
        numbers[y] = y == 7 ? 3 : 0;
    tem_mechanism_options mapped = {.epsilon = 1, .never = never, .remap = numbers};
    refuse(model, mapped, TEM_ERR_ARGUMENT);
    mapped.never = NULL;
    tem_mechanism_free(make_with(model, mapped));
    tem_mechanism *m = make(model, 2, l);
    tem_rng *rng = NULL;
    uint32_t word = 1;
    tem_error error;
    tem_law *law = NULL;
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_draw(m, rng, 1, &word, &error), TEM_ERR_UNSUPPORTED);
    assert_int_equal(tem_law_create(m, 1, 10, &law, &error), TEM_ERR_UNSUPPORTED);
    word = MANY;
    assert_int_equal(tem_law_create_after(m, &word, 1, 1, 10, &law, &error), TEM_ERR_ARGUMENT);
    assert_int_equal(mechanism_check_form(m, &error), TEM_ERR_UNSUPPORTED);
    tem_rng_free(rng);
    tem_mechanism_free(m);
    free(language);
    tem_model_free(other);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_fractions),
        cmocka_unit_test(test_many_rejections),
        cmocka_unit_test(test_never),
        cmocka_unit_test(test_never_alone),
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_seeds_and_threads),
        cmocka_unit_test(test_order_of_documents),
        cmocka_unit_test(test_past_is_wiped),
        cmocka_unit_test(test_failing),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_selves),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
