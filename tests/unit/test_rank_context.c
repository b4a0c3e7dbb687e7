/* test_rank_context.c - quick draws in context: that they have exactly the law that context.c
 * defines, for all words, histories and stages of small models; draws by chi-square. */
#include "language/language_file.h"
#include "mech/model_mechanism.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gamma_upper.h"
#include "random_ngram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 90 };

/* ---- models ---- */

/* Points at random in a square, two of them at the same place. */
static tem_model *make_model(uint32_t list, uint32_t block, bool excludes) {
    static char names[WORDS][8];
    static const char *words[WORDS];
    static const char *const excluded[] = {"w2", "w17"};
    float values[2 * WORDS];
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    for (uint32_t i = 0; i < WORDS; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
        for (uint32_t k = 2 * i; k < 2 * i + 2; k++)
            values[k] = i == 4 ? values[k - 2] : (float)random_below(1000) / 250;
    }
    assert_int_equal(tem_vectors_create(words, values, WORDS, 2, &vectors, NULL), TEM_OK);
    const tem_order_options order = {.list = list, .block = block, .group = 4, .vectors = vectors};
    const tem_build_options options = {.neighbours = 3,
                                       .allow_coarse = 1,
                                       .exclude = excluded,
                                       .exclude_count = excludes ? 2 : 0,
                                       .order = &order};
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

static tem_language *make_language(const tem_model *model, uint32_t order) {
    tem_ngram *g = random_ngram(model, order, 4);
    tem_language *language = NULL;
    const tem_language_options options = {0};
    assert_int_equal(language_make(g, &options, NULL, &language, NULL), TEM_OK);
    ngram_free(g);
    return language;
}

static tem_mechanism *make(const tem_model *model, const tem_language *language, double c,
                           const uint8_t *never) {
    const tem_parameter_value numbers[] = {{"c", c}, {NULL, 0}};
    const tem_mechanism_options options = {.mechanism = "rank",
                                           .epsilon = 2.6,
                                           .numbers = numbers,
                                           .language = language,
                                           .never = never};
    tem_mechanism *m = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &m, NULL), TEM_OK);
    return m;
}

/* Envelopes of all kinds: part of the list; the list with some blocks, with all. */
static const rank_stage stages[][RANK_STAGES] = {
    {{1, 2, 0}, {2, UINT32_MAX, 3}, {UINT32_MAX, UINT32_MAX, 7}},
    {{UINT32_MAX, 1, 0}, {0}, {0}},
    {{UINT32_MAX, UINT32_MAX, 0}, {0}, {0}},
    {{UINT32_MAX, UINT32_MAX, 2}, {0}, {0}},
    {{UINT32_MAX, UINT32_MAX, 12}, {0}, {0}},
    {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, {0}, {0}}};
enum { PLANS = sizeof stages / sizeof *stages };

/* ---- exactly ---- */

/* A word after a past, with a document of its own. */
typedef struct place {
    const tem_mechanism *m;
    const rank_context *c;
    void *document;
    position_weights at;
    uint64_t weights[WORDS]; /* as context.c has them */
    rank_draw draw;
} place;

static uint64_t height_of(const place *p, uint32_t y) {
    const law_form *f = p->m->context.form;
    const closeness k = f->ops->pair(f, p->draw.word, y);
    assert_int_equal(k.fraction | k.whole.limb[1] | k.whole.limb[2] | k.whole.limb[3], 0);
    return k.whole.limb[0];
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The number of heights from `low` to `high` - 1 that are kept, where all below some height are:
 * so the edges of what should be are enough. Never words keep none. */
static void check_kept(const place *p, uint32_t number, int block, uint64_t low, uint64_t high,
                       uint64_t column) {
    const uint32_t size = p->c->order->shape.block;
    const uint64_t edges[] = {low, column - 1, column, column + 1, high - 1};
    for (int i = 0; i < 5; i++)
        if (edges[i] >= low && edges[i] < high) {
            const bool kept = block < 0 ? rank_draw_keeps(&p->draw, number, edges[i])
                                        : rank_draw_keeps_in_block(&p->draw, (uint32_t)block,
                                                                   number % size, edges[i]);
            assert_int_equal(kept, edges[i] < column);
        }
}

/* Adds the heights of one output that the three parts keep: they must be those of its column. */
static void check_column(const place *p, uint32_t y, uint64_t block_bound, int block) {
    const rank_draw *d = &p->draw;
    const uint32_t number = p->c->order->places[y], rank = order_rank(p->c->order, d->word, y);
    const bool is_never = p->weights[y] == 0;
    const uint64_t height = height_of(p, y), column = is_never ? 0 : height;
    uint64_t kept = smaller(column, d->floor); /* by the part `all` */
    check_kept(p, number, -1, 0, d->floor, column);
    if (rank < d->list) {
        assert_true(height >= d->floor);
        kept += is_never ? 0 : height - d->floor;
        if (block >= 0)
            check_kept(p, number, block, d->floor, block_bound, 0);
    } else if (block >= 0) {
        assert_true(height <= block_bound); /* the envelope is nowhere lower */
        check_kept(p, number, block, d->floor, block_bound, column);
        kept += column > d->floor ? column - d->floor : 0;
    } else {
        assert_true(height <= d->floor);
    }
    assert_true(kept == column);
}

/* The sizes of the parts are the weights times the heights of the envelope. */
static void check_sizes(const place *p) {
    const rank_draw *d = &p->draw;
    const rank_order *o = p->c->order;
    u256_wide near = 0, middle = 0, total = 0;
    for (uint32_t i = 0; i < d->list; i++) {
        const uint32_t y = order_word(o, d->word, i);
        assert_int_equal(d->numbers[i], o->places[y]);
        assert_true(d->values[i] == p->weights[y]);
        near += (u256_wide)p->weights[y] * (height_of(p, y) - d->floor);
    }
    for (uint32_t i = 0; i < d->blocks; i++) {
        const uint32_t first = d->path[i] * o->shape.block;
        uint64_t sum = 0;
        for (uint32_t n = first; n < first + o->shape.block && n < o->shape.outputs; n++)
            sum += levels_weight(&p->at, o->sequence[n]);
        assert_true(d->block_values[i] == sum);
        middle += (u256_wide)sum * (p->c->bounds[i] - d->floor);
    }
    for (uint32_t n = 0; n < o->shape.outputs; n++)
        total += levels_weight(&p->at, o->sequence[n]);
    assert_true(d->near == near && d->middle == middle && d->far == total * d->floor);
}

static void check_stage(place *p, const rank_stage *stage) {
    const rank_order *o = p->c->order;
    rank_draw_set_stage(&p->draw, stage);
    check_sizes(p);
    for (uint32_t n = 0; n < o->shape.outputs; n++) {
        int block = -1;
        for (uint32_t i = 0; i < p->draw.blocks; i++)
            if (p->draw.path[i] == n / o->shape.block)
                block = (int)i;
        check_column(p, o->sequence[n], block < 0 ? 0 : p->c->bounds[block], block);
    }
}

static void check_word(place *p, uint32_t word, const rank_stage plan[RANK_STAGES]) {
    /* The language model keeps nothing in it. */
    rank_draw_begin(&p->draw, p->c, p->document, &p->at, word);
    for (int i = 0; i < RANK_STAGES; i++)
        check_stage(p, &plan[i]);
}

/* Some pasts with and without successors: of no, one and two words, of kinds. */
enum { PASTS = 12 };

static size_t make_past(uint32_t i, uint32_t words[2]) {
    for (int k = 0; k < 2; k++)
        words[k] = i % 5 == 3 ? RELEASED_KEPT_WORD : (uint32_t)random_below(WORDS);
    return i < 2 ? i : 2;
}

static void check_mechanism(tem_mechanism *m) {
    place p = {.m = m, .c = m->context.ranked};
    p.document = calloc(1, mechanism_document_of(m).bytes);
    for (uint32_t i = 0; i < PASTS; i++) {
        uint32_t words[2];
        const released_past past = {.words = words, .count = make_past(i, words)};
        p.at = (position_weights){.state = m->context.language->state, .document = p.document};
        assert_int_equal(levels_position(p.at.state, p.document, &past, &p.at, NULL), TEM_OK);
        assert_int_equal(context_weights(&m->context, p.document, &past, p.weights, NULL), TEM_OK);
        for (uint32_t word = i % 3; word < WORDS; word += 3)
            check_word(&p, word, stages[(i + word) % PLANS]);
    }
    free(p.document);
}

/* A map for each history, and for none. */
static void check_both(tem_mechanism *m) {
    assert_non_null(m->context.ranked);
    for (uint32_t least = 1; least <= WORDS; least += WORDS - 1) {
        m->context.ranked->maps.least = least;
        check_mechanism(m);
    }
}

static void test_columns(void **state) {
    (void)state;
    static const uint32_t shapes[][2] = {{3, 2}, {5, 1}, {1, 4}, {8, 16}, {WORDS - 2, 8}, {6, 64}};
    uint8_t never[WORDS] = {0};
    never[1] = never[5] = never[30] = 1;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        tem_model *model = make_model(shapes[i][0], shapes[i][1], i % 2 == 0);
        tem_language *language = make_language(model, 1 + i % 3);
        tem_mechanism *m = make(model, language, i % 2 == 0 ? 1 : 5, i % 3 == 0 ? never : NULL);
        check_both(m);
        tem_mechanism_free(m);
        tem_language_free(language);
        tem_model_free(model);
    }
}

/* ---- draws ---- */

enum { DRAWS = 20000 };
#define ALARM 1e-9 /* each comparison; fewer than 100 of them: below 10^-7 for the file */

/* Pearson's statistic; outputs that are expected fewer than 20 times are one bin. */
static void check_bins(const uint64_t *seen, const double *shares) {
    double square = 0, rare = 0, rare_seen = 0;
    unsigned bins = 0;
    for (uint32_t i = 0; i < WORDS; i++) {
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
    double row[WORDS];
    uint64_t seen[WORDS] = {0};
    void *document = calloc(1, mechanism_document_of(m).bytes);
    tem_rng rng;
    rng_init_seeded(&rng, 41, word);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t drawn = word;
        assert_int_equal(mechanism_draw_next(m, document, past, &rng, &drawn, NULL), TEM_OK);
        seen[drawn]++;
    }
    assert_int_equal(mechanism_row_after(m, document, past, word, row, NULL), TEM_OK);
    check_bins(seen, row);
    free(document);
}

/* Large blocks have words of very different heights. */
static void check_model(uint32_t list, uint32_t block) {
    static const uint32_t words[] = {7, 11};
    uint8_t never[WORDS] = {0};
    never[1] = never[8] = 1;
    tem_model *model = make_model(list, block, true);
    tem_language *language = make_language(model, 3);
    for (int i = 0; i < 2 * PLANS; i++) {
        tem_mechanism *m = make(model, language, i % 2 == 0 ? 1 : 5, i % 3 == 0 ? never : NULL);
        const released_past past = {.words = words, .count = (size_t)(i % 3)};
        m->context.ranked->stages = stages[i / 2];
        m->context.ranked->maps.least = i % 4 < 2 ? 1 : WORDS;
        check_draws(m, &past, 0);
        check_draws(m, &past, 1); /* perhaps never released itself */
        check_draws(m, &past, 2); /* excluded */
        check_draws(m, &past, 23);
        tem_mechanism_free(m);
    }
    tem_language_free(language);
    tem_model_free(model);
}

static void test_draws(void **state) {
    (void)state;
    check_model(3, 2);
    check_model(2, 16);
}

/* A law whose rounds nearly always reject: nearly all weight is on a word that is far, and the
 * envelope has one entry of the list and no block. Then context.c draws by the sum of all outputs,
 * by the same law. */
static void test_many_rejections(void **state) {
    (void)state;
    enum { WORD = 3, TRIALS = 500 };
    static const rank_stage stage[RANK_STAGES] = {{UINT32_MAX, 1, 0}, {0}, {0}};
    const released_past past = {0};
    tem_model *model = make_model(6, 4, false);
    const uint32_t far = order_word(&model->order, WORD, WORDS - 1);
    tem_ngram *g = random_ngram(model, 1, 4);
    tem_language *language = NULL;
    for (uint32_t s = 0; s < g->symbols; s++)
        g->p[s] = s == far ? 1 - 2e-5 : 2e-5 / (g->symbols - 1);
    assert_int_equal(language_make(g, &(tem_language_options){0}, NULL, &language, NULL), TEM_OK);
    ngram_free(g);
    const tem_mechanism_options options = {.mechanism = "rank", .epsilon = 8, .language = language};
    tem_mechanism *m = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &m, NULL), TEM_OK);
    m->context.ranked->stages = stage;
    place p = {.m = m, .c = m->context.ranked};
    p.document = calloc(1, mechanism_document_of(m).bytes);
    p.at = (position_weights){.state = language->state, .document = p.document};
    assert_int_equal(levels_position(language->state, p.document, &past, &p.at, NULL), TEM_OK);
    unsigned accepted = 0;
    for (uint64_t i = 0; i < TRIALS; i++) {
        tem_rng rng;
        uint32_t out = 0;
        bool over = false;
        rng_init_seeded(&rng, 5, i);
        rank_draw_begin(&p.draw, p.c, p.document, &p.at, WORD);
        rank_draw_run(&p.draw, 64, &rng, &out, &over);
        accepted += over;
    }
    assert_true(accepted < TRIALS / 20);
    free(p.document);
    check_draws(m, &past, WORD);
    check_draws(m, &past, far);
    tem_mechanism_free(m);
    tem_language_free(language);
    tem_model_free(model);
}

/* ---- forged files ---- */

/* Two histories whose successors begin at the same place, and of which the second has one less. No
 * history that is met between them is wrong. Their maps are not each other's. */
static void test_forged_rows(void **state) {
    (void)state;
    tem_model *model = make_model(5, 4, false);
    tem_language *made = make_language(model, 2), *forged = NULL;
    const ngram_language *n = language_state(made);
    const text_sources none = {.texts = NULL};
    uint32_t *starts = (uint32_t *)(uintptr_t)n->l.two.starts, one = 0;
    while (starts[one + 1] < starts[one] + 3)
        one++;
    const uint32_t two = one + 3;
    assert_true(two < WORDS);
    starts[two] = starts[one];
    starts[two + 1] = starts[one + 1] - 1;
    language_header header = n->header;
    char *bytes = NULL;
    assert_int_equal(language_write(&n->l, &header, "", "", &none, &bytes, NULL), TEM_OK);
    const file_view view = {.data = bytes, .size = header.file_bytes};
    assert_int_equal(language_from_view(view, "forged", model, &forged, NULL), TEM_OK);
    tem_language_trust_own(forged);
    tem_mechanism *m = make(model, forged, 1, NULL);
    assert_non_null(m->context.ranked);
    m->context.ranked->maps.least = 1;
    place p = {.m = m, .c = m->context.ranked};
    p.document = calloc(1, mechanism_document_of(m).bytes);
    for (int i = 0; i < 2; i++) {
        const uint32_t word = n->l.ids[i == 0 ? one : two];
        const released_past past = {.words = &word, .count = 1};
        p.at = (position_weights){.state = forged->state, .document = p.document};
        assert_int_equal(levels_position(p.at.state, p.document, &past, &p.at, NULL), TEM_OK);
        assert_int_equal(context_weights(&m->context, p.document, &past, p.weights, NULL), TEM_OK);
        for (uint32_t w = 0; w < WORDS; w++)
            check_word(&p, w, stages[w % PLANS]);
    }
    assert_int_equal(tem_language_verify(forged, NULL, NULL), TEM_ERR_DAMAGED);
    free(p.document);
    tem_mechanism_free(m);
    tem_language_free(forged);
    tem_language_free(made);
    tem_model_free(model);
}

/* ---- what is served ---- */

/* The same words with another order: the numbers of the language model are not its places. */
static void test_other_orders_are_not_served(void **state) {
    (void)state;
    tem_model *model = make_model(3, 2, false), *other = make_model(3, 2, false);
    tem_language *language = make_language(model, 3);
    const released_past past = {0};
    tem_mechanism *m = make(other, language, 1, NULL);
    assert_int_not_equal(memcmp(model->order.sequence, other->order.sequence, 4 * WORDS), 0);
    assert_null(m->context.ranked);
    check_draws(m, &past, 9);
    tem_mechanism_free(m);
    m = make(model, language, 1, NULL);
    assert_non_null(m->context.ranked);
    tem_mechanism_free(m);
    tem_language_free(language);
    tem_model_free(model);
    tem_model_free(other);
}

/* What is drawn does not depend on which maps there are: they are made as histories are met, by
 * any thread. */
static void test_maps_change_no_draw(void **state) {
    (void)state;
    enum { DOCUMENTS = 30, LONG = 40 };
    tem_model *model = make_model(5, 4, false);
    tem_language *language = make_language(model, 3);
    uint32_t ids[DOCUMENTS * LONG], drawn[3][DOCUMENTS * LONG];
    tem_ids_input documents[DOCUMENTS];
    for (size_t i = 0; i < DOCUMENTS * LONG; i++)
        ids[i] = random_below(9) == 0 ? TEM_NO_WORD : (uint32_t)random_below(WORDS);
    for (size_t i = 0; i < DOCUMENTS; i++)
        documents[i] = (tem_ids_input){.ids = ids + i * LONG, .count = LONG};
    const tem_job job = {.insecure_seeded = 1, .insecure_seed = 6};
    for (int i = 0; i < 3; i++) {
        static const uint32_t leasts[] = {1, WORDS, 9}, mosts[] = {4096, 4096, 3};
        tem_mechanism *m = make(model, language, 1, NULL);
        const tem_run run = {.threads = 1 + (uint32_t)i};
        m->context.ranked->maps.least = leasts[i];
        m->context.ranked->maps.most = mosts[i];
        assert_int_equal(
            tem_privatize_ids(m, &job, documents, DOCUMENTS, &run, drawn[i], NULL, NULL, NULL),
            TEM_OK);
        tem_mechanism_free(m);
    }
    assert_memory_equal(drawn[0], drawn[1], sizeof drawn[0]);
    assert_memory_equal(drawn[0], drawn[2], sizeof drawn[0]);
    tem_language_free(language);
    tem_model_free(model);
}

/* Maps of many levels: each is found by its name, whatever shares its slot, and its look-ups are
 * those of the level. */
static void test_maps(void **state) {
    (void)state;
    enum { LEVELS = 3000, NUMBERS = 200, MOST = 60 };
    uint32_t *numbers = calloc((size_t)LEVELS * MOST, sizeof *numbers);
    successor_maps maps = {0};
    assert_non_null(numbers);
    assert_int_equal(successor_maps_init(&maps, NUMBERS, NULL), TEM_OK);
    assert_int_equal(maps.most, SUCCESSOR_MAPS_SLOTS / 2);
    maps.least = 1;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < LEVELS; i++) {
            language_level level = {.numbers = numbers + i * MOST, .count = 0};
            for (uint32_t n = 0; n < NUMBERS && level.count < MOST; n++)
                if ((n * 2654435761U + i * 40503U) % 97 < 20)
                    numbers[i * MOST + level.count++] = n;
            const successor_cell *cells = successor_maps_find(&maps, &level);
            assert_non_null(cells);
            for (uint32_t n = 0, before = 0; n < NUMBERS; n++) {
                const bool there = before < level.count && level.numbers[before] == n;
                assert_int_equal(successor_is_there(cells, n), there);
                assert_int_equal(successor_entry(cells, n), before);
                before += there;
            }
        }
    assert_int_equal(maps.table->count, LEVELS);
    maps.most = LEVELS;
    const language_level one = {.numbers = numbers + 1, .count = 1}; /* another name */
    assert_null(successor_maps_find(&maps, &one));
    successor_maps_free(&maps);
    free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_many_rejections),
        cmocka_unit_test(test_forged_rows),
        cmocka_unit_test(test_other_orders_are_not_served),
        cmocka_unit_test(test_maps_change_no_draw),
        cmocka_unit_test(test_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
