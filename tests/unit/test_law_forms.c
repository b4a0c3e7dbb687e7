/* test_law_forms.c - forms of laws (mech/law_form.h): all functions of a form state one law; and
 * everything that computes with laws also serves a law over places, which is not symmetric and
 * knows no distance. */
#include "attack/emission.h"
#include "index/search.h"
#include "learn/channel.h"
#include "mech/law.h"
#include "mech/model_mechanism.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_account.h"
#include "tem_learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 40, LIST = 7, NOT_OUT = 9, NEVER = 21 };

/* Points at random in a square; the two words NOT_OUT and NEVER are never outputs. Its order has
 * lists, blocks and groups. */
static tem_model *make_model(void) {
    static char names[WORDS][8];
    const char *words[WORDS], *const excluded[] = {"w9", "w21"};
    float values[2 * WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
        values[2 * i] = (float)random_below(1000) / 250;
        values[2 * i + 1] = (float)random_below(1000) / 250;
    }
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    assert_int_equal(tem_vectors_create(words, values, WORDS, 2, &vectors, NULL), TEM_OK);
    const tem_order_options order = {.list = LIST, .block = 3, .group = 4, .vectors = vectors};
    const tem_build_options options = {.neighbours = LIST,
                                       .allow_coarse = 1,
                                       .exclude = excluded,
                                       .exclude_count = 2,
                                       .order = &order};
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

/* ------------------------------------------------- a law over places -- */

/* K(w, y) = h(r) / h(0), h(r) = floor(2^40 / (1 + r)), r the place of y in the order of w: every
 * word has the same probabilities in another order. A word that is no output has no place, and the
 * closeness 0. The list has the LIST first outputs. */
enum { PLACE_BITS = 40 };

typedef struct places {
    weights weights;
    law_form form;
    uint32_t of[WORDS][WORDS], outputs[WORDS][WORDS]; /* place of y; output at a place */
} places;

static uint64_t height(uint32_t place) {
    return ((uint64_t)1 << PLACE_BITS) / (place + 1);
}

static closeness place_pair(const law_form *f, uint32_t w, uint32_t y) {
    const places *p = f->state;
    return (closeness){{{weights_at(f->weights, y) == 0 ? 0 : height(p->of[w][y])}}, 0};
}

static tem_status place_list(const law_form *f, uint32_t w, output_list *list, tem_error *error) {
    const places *p = f->state;
    (void)error;
    *list = (output_list){p->outputs[w], LIST, {{{height(LIST)}}, 0}};
    return TEM_OK;
}

static listed_output place_entry(const law_form *f, const output_list *list, uint32_t i) {
    const uint32_t *ids = list->entries;
    (void)f;
    return (listed_output){ids[i], {{{height(i)}}, 0}};
}

static double place_value(const law_form *f, uint32_t w, uint32_t y) {
    return ldexp((double)place_pair(f, w, y).whole.limb[0], -PLACE_BITS);
}

static void place_row(const law_form *f, uint32_t w, uint32_t first, uint32_t count, double *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = place_value(f, w, first + i);
}

static void place_column(const law_form *f, uint32_t y, uint32_t first, uint32_t count,
                         double *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = place_value(f, first + i, y);
}

static const law_form_ops place_ops = {.pair = place_pair,
                                       .list = place_list,
                                       .entry = place_entry,
                                       .row = place_row,
                                       .column = place_column};

static tem_status init_places(void *state, const mechanism_setup *setup, double *beta,
                              tem_error *error) {
    places *p = state;
    (void)beta;
    tem_status status = weights_init(&p->weights, setup->weights, WORDS, error);
    const uint32_t outputs = (uint32_t)p->weights.sum;
    for (uint32_t w = 0; w < WORDS && status == TEM_OK; w++)
        for (uint32_t r = 0; r < outputs && status == TEM_OK; r++) {
            status = search_at(setup->space, setup->index, setup->weights, w, r, &p->outputs[w][r],
                               error);
            if (status == TEM_OK)
                status = search_place(setup->space, setup->index, setup->weights, w,
                                      p->outputs[w][r], &p->of[w][p->outputs[w][r]], error);
        }
    p->form = (law_form){.ops = &place_ops,
                         .state = p,
                         .weights = &p->weights,
                         .exponent = {.s = 1 << EXPONENT_S_BITS},
                         .bits = PLACE_BITS,
                         .spread = log((double)height(0) / (double)height(outputs - 1))};
    for (uint32_t r = 0; r < outputs; r++)
        p->form.total += ldexp((double)height(r), -PLACE_BITS);
    return status;
}

static void free_places(void *state) {
    weights_free(&((places *)state)->weights);
}

/* By the total of the heights, and the output at the place. */
static tem_status draw_places(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                              uint32_t *out, tem_error *error) {
    const places *p = state;
    uint64_t total = 0;
    (void)error;
    for (uint32_t r = 0; r < p->weights.sum; r++)
        total += height(r);
    for (size_t i = 0; i < count; i++) {
        uint64_t left = rng_below(rng, total);
        uint32_t r = 0;
        while (left >= height(r))
            left -= height(r++);
        out[i] = words[i] == TEM_NO_WORD ? weights_draw(&p->weights, rng) : p->outputs[words[i]][r];
    }
    return TEM_OK;
}

static const law_form *form_of_places(const void *state) {
    return &((const places *)state)->form;
}

static const tem_parameter parameters[] = {{.name = "epsilon", .meaning = "s", .most = 100},
                                           {.name = NULL}};

static const mechanism_ops by_places = {.properties = {.name = "places",
                                                       .summary = "1 / (1 + place)",
                                                       .claim = "exp(epsilon d)",
                                                       .unit = "place",
                                                       .guarantee = TEM_GUARANTEE_EXACT,
                                                       .parameters = parameters},
                                        .state_bytes = sizeof(places),
                                        .init = init_places,
                                        .free = free_places,
                                        .draw = draw_places,
                                        .form = form_of_places};

static tem_mechanism *make_places(const tem_model *model) {
    const tem_mechanism_options options = {.epsilon = 1};
    tem_mechanism *m = NULL;
    assert_null(mechanism_fault(&by_places));
    assert_int_equal(mechanism_make(model, &by_places, &options, &m, NULL), TEM_OK);
    return m;
}

/* P(y | w) by the formula. Row WORDS: unknown. */
static double truth(const tem_mechanism *m, uint32_t w, uint32_t y) {
    const places *p = m->state;
    double total = 0;
    for (uint32_t r = 0; r < p->weights.sum; r++)
        total += (double)height(r);
    if (weights_at(&p->weights, y) == 0)
        return 0;
    return w == WORDS ? 1 / (double)p->weights.sum : (double)height(p->of[w][y]) / total;
}

static void check_near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g instead of %.17g", found, expected);
}

/* -------------------------------------------------------- consistency -- */

static double value_of(const law_form *f, closeness c) {
    return closeness_value(f, &c);
}

/* The list has the numbers of `pair`, each output once, and no other output is above the bound. */
static void check_list(const law_form *f, uint32_t w) {
    output_list list;
    bool listed[WORDS] = {false};
    double last = 1;
    assert_int_equal(f->ops->list(f, w, &list, NULL), TEM_OK);
    for (uint32_t i = 0; i < list.count; i++) {
        const listed_output y = f->ops->entry(f, &list, i);
        const closeness same = f->ops->pair(f, w, y.id);
        assert_false(listed[y.id]);
        listed[y.id] = true;
        assert_memory_equal(&y.closeness.whole, &same.whole, sizeof same.whole);
        assert_true(y.closeness.fraction == same.fraction && value_of(f, same) <= last);
        last = value_of(f, same);
    }
    for (uint32_t y = 0; y < WORDS; y++)
        if (!listed[y] && weights_at(f->weights, y) > 0)
            assert_true(value_of(f, f->ops->pair(f, w, y)) <= value_of(f, list.bound));
}

static void check_form(const law_form *f) {
    double row[WORDS], column[WORDS], least = 1;
    for (uint32_t w = 0; w < WORDS; w++) {
        double total = 0;
        check_list(f, w);
        f->ops->row(f, w, 0, WORDS, row);
        for (uint32_t y = 0; y < WORDS; y++) {
            const double value = value_of(f, f->ops->pair(f, w, y));
            check_near(row[y], value);
            f->ops->row(f, w, y, 1, column);
            assert_true(column[0] == row[y]);
            law_form_column(f, y, w, 1, column);
            check_near(column[0], value);
            total += weights_at(f->weights, y) * value;
            assert_true(value <= 1);
            least = weights_at(f->weights, y) > 0 ? fmin(least, value) : least;
        }
        if (f->total > 0)
            check_near(total, f->total);
    }
    assert_true(-log(least) <= f->spread * (1 + 1e-12));
}

/* With a gamma that words lie beyond, the spread of `tem` is attained. */
static void check_spread(const tem_model *model) {
    const tem_mechanism_options options = {.epsilon = 2, .gamma = 1};
    tem_mechanism *m = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &m, NULL), TEM_OK);
    check_form(mechanism_form(m));
    check_near(mechanism_form(m)->spread, exponent_s_value(mechanism_form(m)->exponent.s));
    tem_mechanism_free(m);
}

/* Every mechanism with a form. */
static void test_forms_agree(void **state) {
    (void)state;
    tem_model *model = make_model();
    uint32_t forms = 0;
    for (unsigned i = 0; mechanism_at(i) != NULL; i++) {
        const mechanism_ops *ops = mechanism_at(i);
        const tem_mechanism_options options = {.epsilon = 2};
        tem_mechanism *m = NULL;
        if (ops->form == NULL)
            continue;
        assert_int_equal(mechanism_make(model, ops, &options, &m, NULL), TEM_OK);
        check_form(mechanism_form(m));
        assert_int_equal(mechanism_is_exponential(m), ops->properties.is_exponential);
        tem_mechanism_free(m);
        forms++;
    }
    assert_true(forms >= 5); /* tem, em, rank and coin among them */
    check_spread(model);
    tem_mechanism *m = make_places(model);
    check_form(mechanism_form(m));
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* ------------------------------------------------ a law without distances -- */

/* Its rows, to any number of digits and as doubles, and its draws. */
static void test_rows_of_places(void **state) {
    (void)state;
    enum { DRAWS = 40000 };
    tem_model *model = make_model();
    tem_mechanism *m = make_places(model);
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create_insecure(1, 0, &rng, NULL), TEM_OK);
    for (uint32_t w = 0; w <= WORDS; w += 5) {
        const uint32_t word = w == WORDS ? TEM_NO_WORD : w;
        uint32_t drawn = 0, seen[WORDS] = {0};
        double row[WORDS];
        tem_law *law = NULL;
        assert_int_equal(tem_law_create(m, word, 100, &law, NULL), TEM_OK);
        assert_int_equal(mechanism_row(m, word, row, NULL), TEM_OK);
        for (uint32_t k = 0; k < DRAWS; k++) {
            assert_int_equal(tem_mechanism_draw(m, rng, word, &drawn, NULL), TEM_OK);
            seen[drawn]++;
        }
        for (uint32_t y = 0; y < WORDS; y++) {
            const double p = truth(m, w, y);
            check_near(tem_law_probability(law, y), p);
            check_near(row[y], p);
            /* Six standard deviations: a false alarm once in 10^6 runs. */
            assert_true(fabs(seen[y] - DRAWS * p) <= 6 * sqrt(DRAWS * p) + 1e-9);
        }
        tem_law_free(law);
    }
    tem_rng_free(rng);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* Columns, for attackers; and products with the law, for those who learn. */
static void test_columns_of_places(void **state) {
    (void)state;
    tem_model *model = make_model();
    tem_mechanism *m = make_places(model);
    emission *e = NULL;
    emission_room room;
    double likelihoods[WORDS + 1], in[WORDS + 1], out[WORDS + 1], shares[WORDS + 1];
    tem_channel *channel = NULL;
    for (uint32_t w = 0; w <= WORDS; w++)
        shares[w] = 1.0 / (WORDS + 1);
    assert_int_equal(emission_create(m, shares, 1, NULL, &e, NULL), TEM_OK);
    assert_true(emission_room_init(&room, e));
    assert_int_equal(tem_channel_create(m, NULL, &channel, NULL), TEM_OK);
    bool is_symmetric = true;
    for (uint32_t y = 0; y < WORDS; y++) {
        assert_int_equal(emission_has(e, y), y != NOT_OUT && y != NEVER);
        emission_likelihoods(e, &room, y, likelihoods);
        for (uint32_t w = 0; w <= WORDS; w++) {
            check_near(likelihoods[w], truth(m, w, y));
            is_symmetric &= w == WORDS || truth(m, w, y) == truth(m, y, w);
        }
        /* P h, h the indicator of y, is the column of y. */
        memset(in, 0, sizeof in);
        in[y] = 1;
        assert_int_equal(tem_channel_backward(channel, in, 1, NULL, out, NULL), TEM_OK);
        for (uint32_t w = 0; w <= WORDS; w++)
            check_near(out[w], truth(m, w, y));
    }
    assert_false(is_symmetric);
    for (uint32_t w = 0; w <= WORDS; w++) { /* q P, q the indicator of w, is the row of w */
        memset(in, 0, sizeof in);
        in[w] = 1;
        assert_int_equal(tem_channel_forward(channel, in, 1, NULL, out, NULL), TEM_OK);
        for (uint32_t y = 0; y < WORDS; y++)
            check_near(out[y], truth(m, w, y));
    }
    tem_channel_free(channel);
    emission_room_free(&room);
    emission_free(e);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* The bound is the largest loss of all pairs of inputs, unknown words included; and no number that
 * needs a distance is claimed. */
static void test_bound_of_places(void **state) {
    (void)state;
    tem_model *model = make_model();
    tem_mechanism *m = make_places(model);
    tem_accountant *accountant = NULL;
    tem_mechanism_info info;
    tem_audit audit;
    double largest = 0;
    for (uint32_t a = 0; a <= WORDS; a++)
        for (uint32_t b = 0; b <= WORDS; b++)
            for (uint32_t y = 0; y < WORDS; y++)
                if (y != NOT_OUT && y != NEVER)
                    largest = fmax(largest, log(truth(m, a, y) / truth(m, b, y)));
    tem_mechanism_get_info(m, &info);
    check_near(info.bound, largest);
    assert_true(isinf(info.epsilon_gamma) && info.gamma_steps == 0 && info.moved_mass == 0);
    assert_true(info.s == 1);
    assert_string_equal(info.unit, "place/euclidean");
    assert_int_equal(info.properties->law_digits, 0); /* it is not in the table: as stated */
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_accountant_audit(accountant, m, NULL, &audit, NULL), TEM_ERR_UNSUPPORTED);
    tem_accountant_free(accountant);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* A form that does not say that all words have the same Z: the bound counts two factors, and the
 * channel computes Z. */
static void test_unequal_totals(void **state) {
    (void)state;
    tem_model *model = make_model();
    tem_mechanism *m = make_places(model);
    law_form *f = &((places *)m->state)->form;
    tem_mechanism_info info;
    const double spread = f->spread;
    f->total = 0;
    tem_mechanism_get_info(m, &info);
    check_near(info.bound, 2 * spread);
    assert_false(mechanism_has_columns(m));
    tem_channel *channel = NULL;
    double in[WORDS + 1] = {0}, out[WORDS];
    in[3] = 1;
    assert_int_equal(tem_channel_create(m, NULL, &channel, NULL), TEM_OK);
    assert_int_equal(tem_channel_forward(channel, in, 1, NULL, out, NULL), TEM_OK);
    for (uint32_t y = 0; y < WORDS; y++)
        check_near(out[y], truth(m, 3, y));
    tem_channel_free(channel);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* ----------------------------------------------------------- rows alone -- */

static tem_status half_itself(const void *state, uint32_t word, double *row, tem_error *error) {
    (void)state, (void)error;
    for (uint32_t y = 0; y < WORDS; y++)
        row[y] = word == TEM_NO_WORD ? 1.0 / WORDS : (y == word ? 0.5 : 0) + 0.5 / WORDS;
    return TEM_OK;
}

/* A mechanism that has `row`, and says nothing else about its law, has a law. */
static void test_rows_alone(void **state) {
    (void)state;
    tem_model *model = make_model();
    mechanism_ops ops = *mechanism_find("madlib");
    const tem_mechanism_options options = {.epsilon = 5};
    tem_mechanism *m = NULL;
    tem_law *law = NULL;
    double self = 0;
    ops.row = half_itself;
    assert_int_equal(ops.properties.law_digits, 0);
    assert_null(mechanism_fault(&ops));
    assert_int_equal(mechanism_make(model, &ops, &options, &m, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_self(m, 1, &self, NULL), TEM_OK);
    check_near(self, 0.5 + 0.5 / WORDS);
    assert_int_equal(tem_law_create(m, 1, MECHANISM_ROW_DIGITS + 1, &law, NULL), TEM_ERR_RANGE);
    assert_int_equal(tem_law_create(m, 1, MECHANISM_ROW_DIGITS, &law, NULL), TEM_OK);
    check_near(tem_law_probability(law, 2), 0.5 / WORDS);
    tem_law_free(law);
    tem_mechanism_free(m);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_agree),       cmocka_unit_test(test_rows_of_places),
        cmocka_unit_test(test_columns_of_places), cmocka_unit_test(test_bound_of_places),
        cmocka_unit_test(test_unequal_totals),    cmocka_unit_test(test_rows_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
