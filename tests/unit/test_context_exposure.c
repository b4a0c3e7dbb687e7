/* test_context_exposure.c - how often words stay at the places of a public text: every place
 * against the law of the word after what was drawn before it, the summary against all places, and
 * which places count. */
#include "audit/context_exposure.h"
#include "language/language_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_language.h"
#include "small_model.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 9 };
/* the, of, and was are function words. */
static const char *const names[WORDS] = {"the",   "movie", "was",  "great", "film",
                                         "actor", "of",    "plot", "dull"};
static const char text[] = "The movie was great\n\nthe plot of the film was dull, the actor great\n"
                           "zzz movie zzz was the dull movie of the great actor\n\nthe of\n"
                           "great great film of the movie\n";
enum { DOCUMENTS = 5, TEXT_WORDS = 33, CONTENT = 16 };

static tem_model *model;
static tem_language *language;
static char path[64];

static void write_text(const char *content) {
    FILE *file = fopen(path, "w");
    assert_true(file != NULL && fputs(content, file) >= 0 && fclose(file) == 0);
}

static tem_model *make_model(void) {
    static const float values[2 * WORDS] = {1, 2, 4, 8, 2, 1, 7, 3, 4, 7, 6, 5, 1, 1, 5, 8, 8, 2};
    const tem_build_options options = {.neighbours = 4,
                                       .allow_coarse = 1,
                                       .space = TEM_SPACE_RAW,
                                       .order = &(const tem_order_options){.list = 3, .block = 2}};
    tem_vectors *vectors = NULL;
    tem_model *made = NULL;
    assert_int_equal(tem_vectors_create(names, values, WORDS, 2, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, NULL, &made, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return made;
}

static int set_up(void **state) {
    (void)state;
    tem_ngram *ngram = NULL;
    const char *const paths[] = {path};
    model = make_model();
    snprintf(path, sizeof path, "/tmp/tem-test-exposure-%ld", (long)getpid());
    write_text("the movie was great\nthe film was dull\nthe great actor of the movie was dull\n");
    assert_int_equal(tem_ngram_train(model, paths, 1, 3, NULL, &ngram, NULL), TEM_OK);
    assert_int_equal(tem_language_make(ngram, NULL, NULL, &language, NULL), TEM_OK);
    tem_ngram_free(ngram);
    write_text(text);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    tem_language_free(language);
    tem_model_free(model);
    return 0;
}

static tem_mechanism *make(const char *name, const tem_language *with, const uint8_t *never) {
    const tem_mechanism_options options = {
        .mechanism = name, .epsilon = 3, .language = with, .never = never};
    tem_mechanism *m = NULL;
    tem_error error;
    if (tem_mechanism_create(model, &options, &m, &error) != TEM_OK)
        fail_msg("%s", error.message);
    return m;
}

static double probability(const tem_mechanism *m, const uint32_t *past, size_t count, uint32_t word,
                          uint32_t y) {
    tem_law *law = NULL;
    assert_int_equal(tem_law_create_after(m, past, count, word, 20, &law, NULL), TEM_OK);
    const double p = tem_law_probability(law, y);
    tem_law_free(law);
    return p;
}

/* The word at a place of the text, from 1. */
static uint32_t word_at(uint64_t line, uint64_t position) {
    uint32_t ids[64];
    size_t count = 0;
    const char *at = text;
    for (; line > 1; line--)
        at = strchr(at, '\n') + 1;
    assert_int_equal(
        tem_model_pieces(model, at, (size_t)(strchr(at, '\n') - at), ids, 64, &count, NULL),
        TEM_OK);
    assert_true(position >= 1 && position <= count);
    return ids[position - 1];
}

/* A place has the words of the text before it, and the law of its word after the drawn ones. Three
 * words before suffice for these language models. */
static void check_place(const tem_mechanism *m, const tem_exposed_place *p) {
    assert_int_equal(p->word, word_at(p->line, p->position));
    assert_int_equal(p->before, p->position > TEM_PLACE_WORDS ? TEM_PLACE_WORDS : p->position - 1);
    for (uint32_t i = 0; i < p->before; i++)
        assert_int_equal(p->original[i], word_at(p->line, p->position - p->before + i));
    const double stays = probability(m, p->released, p->before, p->word, p->word);
    const double share = probability(m, p->released, p->before, TEM_NO_WORD, p->word);
    assert_true(fabs(p->stays - stays) <= 1e-12 * stays);
    assert_true(fabs(p->share - share) <= 1e-12 * share);
}

static tem_context_exposure measure(const tem_mechanism *m, uint32_t positions, unsigned threads,
                                    tem_exposed_place most[WORDS], uint32_t *count) {
    tem_context_exposure found;
    tem_error error;
    const tem_run run = {.threads = threads};
    if (tem_context_exposure_measure(m, path, positions, &run, &found, most, WORDS, count,
                                     &error) != TEM_OK)
        fail_msg("%s", error.message);
    return found;
}

/* Some drawn word differs from the original, so the past is not what the text says. */
static void test_places(void **state) {
    (void)state;
    static const char *const mechanisms[] = {"tem", "em", "rank", "coin"};
    for (int which = 0; which < 4; which++) {
        tem_mechanism *m = make(mechanisms[which], language, NULL);
        tem_exposed_place most[WORDS], again[WORDS];
        uint32_t count = 0, same = 0, changed = 0;
        const tem_context_exposure found = measure(m, 0, 1, most, &count);
        assert_int_equal(found.documents, DOCUMENTS);
        assert_int_equal(found.words, TEXT_WORDS);
        assert_int_equal(found.content, CONTENT);
        assert_int_equal(found.positions, CONTENT);
        assert_int_equal(count, 6); /* the content words */
        for (uint32_t i = 0; i < count; i++) {
            check_place(m, &most[i]);
            assert_true(i == 0 || most[i].stays <= most[i - 1].stays);
            for (uint32_t k = 0; k < most[i].before; k++)
                changed += most[i].released[k] != most[i].original[k];
        }
        assert_true(changed > 0);
        assert_true(found.highest == most[0].stays);
        const tem_context_exposure twice = measure(m, CONTENT, 3, again, &same);
        assert_memory_equal(&found, &twice, sizeof found);
        assert_memory_equal(most, again, count * sizeof *most);
        tem_mechanism_free(m);
    }
}

/* Weights that depend on how many words stand before: each place has one law, whatever was
 * drawn. */
static void rule_of_place(uint32_t words, const released_past *past, uint64_t *values) {
    const uint64_t at = past->before + past->count;
    for (uint32_t y = 0; y < words; y++)
        values[y] = 1 + (at * 37 + y * 53) % 101 * (y == at % words ? 40 : 1);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The summary of all places. */
static void test_summary(void **state) {
    (void)state;
    array_language *array = array_language_make(model, rule_of_place);
    tem_mechanism *m = make("rank", &array->language, NULL);
    double stays[CONTENT], mean = 0;
    uint32_t count = 0, places = 0, above = 0;
    const uint32_t past[16] = {0};
    const char *at = text;
    for (; *at != '\0'; at = strchr(at, '\n') + 1) {
        uint32_t ids[64];
        size_t words = 0;
        assert_int_equal(
            tem_model_pieces(model, at, (size_t)(strchr(at, '\n') - at), ids, 64, &words, NULL),
            TEM_OK);
        for (size_t i = 0; i < words; i++)
            if (ids[i] != TEM_NO_WORD && !function_words_have(&m->function_words, ids[i])) {
                stays[places] = probability(m, past, i, ids[i], ids[i]);
                mean += stays[places] / CONTENT;
                above += stays[places++] > 0.5;
            }
    }
    assert_int_equal(places, CONTENT);
    qsort(stays, CONTENT, sizeof *stays, compare);
    tem_exposed_place most[WORDS];
    const tem_context_exposure found = measure(m, 0, 1, most, &count);
    assert_true(fabs(found.mean - mean) < 1e-12);
    assert_true(fabs(found.median - stays[7]) < 1e-12); /* 8 of 16 */
    assert_true(fabs(found.high - stays[15]) < 1e-12);  /* 15 of 16 are 94 % */
    assert_true(fabs(found.highest - stays[15]) < 1e-12);
    assert_true(above > 0 && above < CONTENT);
    assert_true(fabs(found.above_half - (double)above / CONTENT) < 1e-12);
    /* Some of the places: each has the law of its place. */
    const tem_context_exposure some = measure(m, 4, 1, most, &count);
    assert_int_equal(some.positions, 7); /* 2 of the 5 documents: the first and the third */
    assert_int_equal(some.content, CONTENT);
    for (uint32_t i = 0; i < count; i++)
        assert_true(fabs(most[i].stays - probability(m, past, most[i].position - 1, most[i].word,
                                                     most[i].word)) < 1e-12);
    tem_mechanism_free(m);
    free(array);
}

/* Without a language model: N_w. And words that are never released count, and never stay. */
static void test_alone(void **state) {
    (void)state;
    tem_mechanism *m = make("tem", NULL, NULL);
    tem_exposed_place most[WORDS];
    uint32_t count = 0;
    measure(m, 0, 1, most, &count);
    for (uint32_t i = 0; i < count; i++) {
        double self = 0;
        assert_int_equal(tem_mechanism_self(m, most[i].word, &self, NULL), TEM_OK);
        assert_true(most[i].stays == self && most[i].share == 0);
    }
    tem_mechanism_free(m);
    uint8_t never[WORDS] = {0};
    never[1] = 1; /* movie: 4 of the 16 places */
    m = make("rank", language, never);
    const tem_context_exposure found = measure(m, 0, 1, most, &count);
    assert_int_equal(found.positions, CONTENT);
    assert_int_equal(most[count - 1].word, 1);
    assert_true(most[count - 1].stays == 0);
    tem_mechanism_free(m);
}

/* Words behind the first 100 of a document do not count. */
static void test_long_document(void **state) {
    (void)state;
    tem_mechanism *m = make("rank", language, NULL);
    char *many = calloc(1, 6 * 1200 + 1);
    tem_exposed_place most[WORDS];
    uint32_t count = 0;
    assert_non_null(many);
    for (int i = 0; i < 1200; i++)
        strcat(many, i < 98 ? "the " : "plot ");
    write_text(many);
    const tem_context_exposure found = measure(m, 0, 1, most, &count);
    assert_int_equal(found.words, 1200);
    assert_int_equal(found.content, 2);
    assert_true(most[0].position == 99 || most[0].position == 100);
    write_text(text);
    free(many);
    tem_mechanism_free(m);
}

static void test_refusals(void **state) {
    (void)state;
    array_language *array = array_language_make(model, rule_of_place);
    tem_mechanism *m = make("rank", &array->language, NULL);
    tem_context_exposure found = {.words = 77};
    const tem_run run = {.threads = 1};
    tem_error error;
    array->fails = TEM_ERR_DAMAGED;
    assert_int_equal(tem_context_exposure_measure(m, path, 0, &run, &found, NULL, 0, NULL, &error),
                     TEM_ERR_DAMAGED);
    assert_int_equal(array->begun, array->ended);
    array->fails = TEM_OK;
    assert_int_equal(tem_context_exposure_measure(m, path, 0, &run, &found, NULL, 1, NULL, &error),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_context_exposure_measure(m, path, TEM_CONTEXT_PLACES_MAX + 1, &run, &found,
                                                  NULL, 0, NULL, &error),
                     TEM_ERR_ARGUMENT);
    write_text("the of the\nzzz\n");
    assert_int_equal(tem_context_exposure_measure(m, path, 0, &run, &found, NULL, 0, NULL, &error),
                     TEM_ERR_FORMAT);
    assert_string_equal(error.file, path);
    write_text("");
    assert_int_equal(tem_context_exposure_measure(m, path, 0, &run, &found, NULL, 0, NULL, &error),
                     TEM_ERR_FORMAT);
    write_text(text);
    assert_int_equal(
        tem_context_exposure_measure(m, "/nowhere", 0, &run, &found, NULL, 0, NULL, &error),
        TEM_ERR_FILE);
    assert_int_equal(found.words, 77);
    tem_mechanism_free(m);
    free(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),   cmocka_unit_test(test_summary),
        cmocka_unit_test(test_alone),    cmocka_unit_test(test_long_document),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
