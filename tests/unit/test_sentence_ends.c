/* test_sentence_ends.c - where sentences end in context: where a language model of sentences begins
 * new ones, and without another word or other words than were drawn. */
#include "job/replacer.h"
#include "model/model.h"
#include "pseudo.h"
#include "tem_language.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "array_language.h"
#include "small_model.h"

static const char *const words[] = {"i",    "saw", "the", "film", "it",  "was", "good",
                                    "they", "can", "t",   "go",   "don", "of",  "\u00e9t\u00e9"};
enum { WORDS = sizeof words / sizeof *words };

static tem_model *model;
static tem_language *sentences;

/* A language model of sentences; each word but those of `lines` follows each. */
static tem_language *learn(const char *lines) {
    char path[64];
    const char *paths[] = {path};
    const tem_language_options options = {.name = "sentences"};
    tem_ngram *ngram = NULL;
    tem_language *made = NULL;
    snprintf(path, sizeof path, "/tmp/tem-test-ends-%ld", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 50; i++)
        assert_true(fputs(lines, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tem_ngram_train(model, paths, 1, 3, NULL, &ngram, NULL), TEM_OK);
    assert_int_equal(tem_language_make(ngram, &options, NULL, &made, NULL), TEM_OK);
    tem_ngram_free(ngram);
    unlink(path);
    return made;
}

static int set_up(void **state) {
    (void)state;
    float places[WORDS];
    for (int i = 0; i < WORDS; i++)
        places[i] = (float)(10 * i);
    model = small_model(words, places, WORDS, 1, TEM_EUCLIDEAN, WORDS);
    sentences = learn("i saw the film\nit was good\nthey can't go\n\u00e9t\u00e9 was good\n");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_language_free(sentences);
    tem_model_free(model);
    return 0;
}

static void expect(const char *line, const char *wanted) {
    core_buffer text = {0};
    sentence_ends ends = {{0}, {0}, {0}};
    text_pieces cutter;
    text_pieces_init(&cutter, replacer_find, &model->words);
    assert_true(core_buffer_add(&text, "it ", 3) && core_buffer_add(&text, line, strlen(line)));
    assert_int_equal(sentence_ends_write(&ends, sentences, &cutter, &text, 3, NULL), TEM_OK);
    assert_true(core_buffer_add(&text, "", 1));
    assert_string_equal(text.data + 3, wanted);
    assert_memory_equal(text.data, "it ", 3);
    text_pieces_free(&cutter);
    sentence_ends_free(&ends);
    core_buffer_free(&text);
}

static void test_ends(void **state) {
    (void)state;
    expect("i saw the film it was good they can't go i saw the",
           "I saw the film. It was good. They can't go. I saw the.");
    /* The last one, too, has three words or more. */
    expect("i saw the film it was good they can't go i saw",
           "I saw the film. It was good. They can't go I saw.");
    expect("they can't go it was", "They can't go it was.");
    expect("i saw the film \u00e9t\u00e9 was good", /* a capital beyond ASCII */
           "I saw the film. \u00c9t\u00e9 was good.");
    expect("i saw the film", "I saw the film.");
    expect("go it was good", "Go it was good."); /* a sentence has three words or more */
    expect("they can t of it was good", "They can t of it was good."); /* "of" ends none */
    expect("they can't go zz it was good zz", "They can't go zz. It was good zz.");
    expect("i", "I.");
    expect("zz zz zz zz zz", "Zz zz zz zz zz.");
}

/* ---- whole documents ---- */

static tem_mechanism *make(const tem_language *language, double epsilon) {
    tem_mechanism *m = NULL;
    const tem_mechanism_options options = {.epsilon = epsilon, .gamma = 10, .language = language};
    assert_int_equal(tem_mechanism_create(model, &options, &m, NULL), TEM_OK);
    return m;
}

static char *privatize(const tem_mechanism *m, tem_style style, uint64_t seed, const char *text) {
    const tem_text_options options = {.style = style, .keep_lines = 1};
    tem_rng *rng = NULL;
    char *out = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_rng_create_insecure(seed, 0, &rng, NULL), TEM_OK);
    assert_int_equal(
        tem_privatize_text(m, &options, rng, text, strlen(text), NULL, &out, &bytes, NULL, NULL),
        TEM_OK);
    tem_rng_free(rng);
    return out;
}

/* The same draws, and readers find the same words. */
static void test_same_words(void **state) {
    (void)state;
    tem_mechanism *m = make(sentences, 0.2);
    size_t inside = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        char text[512] = "";
        uint32_t ids[2][128];
        size_t counts[2], bytes[2];
        for (size_t i = random_below(60); i-- > 0;) {
            strcat(text, words[random_below(WORDS)]);
            strcat(text, random_below(20) == 0 ? "\n" : " ");
        }
        for (int s = 0; s < 2; s++) {
            char *out = privatize(m, s == 0 ? TEM_STYLE_WORDS : TEM_STYLE_SENTENCE, seed, text);
            bytes[s] = strlen(out);
            assert_int_equal(tem_model_pieces(model, out, bytes[s], ids[s], 128, &counts[s], NULL),
                             TEM_OK);
            inside += s == 1 && strstr(out, ". ") != NULL;
            tem_text_free(out);
        }
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(ids[0], ids[1], counts[0] * sizeof *ids[0]);
    }
    assert_true(inside > 100);
    tem_mechanism_free(m);
}

/* It is a function of the words: texts whose draws are equal have equal sentences, however they
 * were written, and a style does not change the draws. Without n-grams a line is one sentence. */
static void test_without(void **state) {
    (void)state;
    static const char *const text = "i saw the film it was good",
                             *const other = "I saw; the FILM. It was good";
    tem_mechanism *alone = make(NULL, 10), *in_context = make(sentences, 10);
    char *one = privatize(in_context, TEM_STYLE_SENTENCE, 1, text);
    char *same = privatize(in_context, TEM_STYLE_SENTENCE, 1, other);
    char *whole = privatize(alone, TEM_STYLE_SENTENCE, 1, other);
    assert_string_equal(one, "I saw the film. It was good.");
    assert_string_equal(same, one);
    assert_string_equal(whole, "I saw the film it was good.");
    tem_text_free(one);
    tem_text_free(same);
    tem_text_free(whole);
    tem_mechanism_free(alone);
    tem_mechanism_free(in_context);
    assert_false(sentence_ends_are_known(NULL));
    assert_true(sentence_ends_are_known(sentences));
}

static void rule_equal(uint32_t count, const released_past *past, uint64_t *values) {
    (void)past;
    for (uint32_t y = 0; y < count; y++)
        values[y] = 1;
}

/* Another language model is asked once per draw, as the proof needs it, and for nothing else. */
static void test_asked_once(void **state) {
    (void)state;
    array_language *language = array_language_make(model, rule_equal);
    tem_mechanism *m = make(&language->language, 10);
    char *out = privatize(m, TEM_STYLE_SENTENCE, 1, "i saw the film it was good");
    assert_string_equal(out, "I saw the film it was good.");
    assert_int_equal(language->asked, 7);
    tem_text_free(out);
    tem_mechanism_free(m);
    free(language);
}

/* Words that were drawn before are written as a run that draws writes them, after what is there. */
static void test_written_again(void **state) {
    (void)state;
    static const tem_style styles[] = {TEM_STYLE_WORDS, TEM_STYLE_JOINED, TEM_STYLE_SENTENCE};
    tem_mechanism *m = make(sentences, 0.2);
    for (uint64_t seed = 0; seed < 60; seed++) {
        uint32_t ids[32];
        size_t count = 0;
        char *drawn = privatize(m, TEM_STYLE_WORDS, seed, "i saw the film it was good they can go");
        assert_int_equal(tem_model_pieces(model, drawn, strlen(drawn), ids, 32, &count, NULL),
                         TEM_OK);
        for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
            const tem_text_options options = {.style = styles[i]};
            core_buffer out = {0};
            replacer r;
            char *wanted = privatize(m, styles[i], seed, "i saw the film it was good they can go");
            assert_int_equal(replacer_init(&r, m, &options, NULL), TEM_OK);
            assert_true(core_buffer_add(&out, "it ", 3));
            assert_int_equal(replacer_write(&r, ids, count, &out, NULL), TEM_OK);
            assert_true(core_buffer_add(&out, "", 1));
            assert_string_equal(out.data + 3, wanted);
            out.size = 3;
            ids[count - 1] += WORDS; /* no word */
            assert_int_equal(replacer_write(&r, ids, count, &out, NULL), TEM_ERR_DAMAGED);
            assert_int_equal(out.size, 3);
            ids[count - 1] -= WORDS;
            replacer_free(&r);
            core_buffer_free(&out);
            tem_text_free(wanted);
        }
        tem_text_free(drawn);
    }
    tem_mechanism_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),          cmocka_unit_test(test_same_words),
        cmocka_unit_test(test_without),       cmocka_unit_test(test_asked_once),
        cmocka_unit_test(test_written_again),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
