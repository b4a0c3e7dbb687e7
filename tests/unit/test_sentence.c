/* test_sentence.c - output in the style of sentences: what it looks like, and that readers of
 * released text find the same words in it. */
#include "pseudo.h"
#include "text/sentence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "small_model.h"

static void expect(const char *words, const char *wanted) {
    core_buffer text = {0};
    assert_true(core_buffer_add(&text, "before ", 7) &&
                core_buffer_add(&text, words, strlen(words)));
    assert_true(sentence_write(&text, 7));
    assert_int_equal(text.size, 7 + strlen(wanted));
    assert_memory_equal(text.data + 7, wanted, strlen(wanted));
    core_buffer_free(&text);
}

static void test_sentences(void **state) {
    (void)state;
    expect("the movie was i think i", "The movie was I think I.");
    expect("i", "I.");
    expect("in it i'm i'd", "In it I'm I'd.");
    expect("\u00e9t\u00e9 i", "\u00c9t\u00e9 I.");
    expect("\u01c6 a", "\u01c5 a."); /* a letter with a titlecase of its own */
    expect("\u00df a", "\u00df a."); /* no single capital */
    expect("\u0131 a", "\u0131 a."); /* its capital folds to another letter */
    expect("\u0250 a", "\u2c6f a."); /* its capital is longer */
    expect("\u1d79 a", "\ua77d a.");
    expect("12 a", "12 a.");
    expect("<unk> a", "<unk> a.");
}

enum { WORDS = 14 };
static const char *const words[WORDS] = {
    "i",   "the", "movie",  "u.s",           "3",      "do", "n't",
    "i'm", "d'",  "e-mail", "\u00e9t\u00e9", "\u01c6", "a",  "\u0250"};

/* With the same seed both styles release the same words, and their pieces have the same ids. */
static void test_same_words(void **state) {
    (void)state;
    float places[WORDS];
    for (int i = 0; i < WORDS; i++)
        places[i] = (float)i;
    tem_model *model = small_model(words, places, WORDS, 1, TEM_EUCLIDEAN, WORDS);
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.epsilon = 0.5};
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint32_t ids[2][16];
        size_t counts[2], length = random_below(8);
        char text[64] = "";
        for (size_t i = 0; i < length; i++)
            strcat(text, " movie");
        for (int s = 0; s < 2; s++) {
            const tem_text_options style = {.style = s == 0 ? TEM_STYLE_WORDS : TEM_STYLE_SENTENCE,
                                            .order = seed % 2 ? TEM_ORDER_SHUFFLED : 0};
            tem_rng *rng = NULL;
            char *out = NULL;
            size_t bytes = 0;
            assert_int_equal(tem_rng_create_insecure(seed, 0, &rng, NULL), TEM_OK);
            assert_int_equal(tem_privatize_text(mechanism, &style, rng, text, strlen(text), NULL,
                                                &out, &bytes, NULL, NULL),
                             TEM_OK);
            assert_int_equal(tem_model_pieces(model, out, bytes, ids[s], 16, &counts[s], NULL),
                             TEM_OK);
            assert_true(length > 0 || bytes == 0);
            tem_text_free(out);
            tem_rng_free(rng);
        }
        assert_int_equal(counts[0], counts[1]);
        for (size_t i = 0; i < counts[0]; i++)
            assert_int_equal(ids[0][i], ids[1][i]);
    }
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

static void test_refused(void **state) {
    (void)state;
    const float places[] = {0, 1};
    tem_model *model = small_model(NULL, places, 2, 1, TEM_EUCLIDEAN, 2);
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    const tem_mechanism_options options = {.epsilon = 1};
    const tem_text_options wrong[] = {
        {.style = 4},
        {.style = TEM_STYLE_JOINED, .order = TEM_ORDER_COUNTS},
        {.style = TEM_STYLE_SENTENCE, .order = TEM_ORDER_COUNTS},
        {.style = TEM_STYLE_SENTENCE, .punctuation = TEM_PUNCTUATION_KEEP},
    };
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(1, 0, &rng, NULL), TEM_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *out = NULL;
        size_t bytes = 0;
        assert_int_equal(
            tem_privatize_text(mechanism, &wrong[i], rng, "w1", 2, NULL, &out, &bytes, NULL, NULL),
            TEM_ERR_ARGUMENT);
        assert_null(out);
    }
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

/* Words are folded; of equal ones the first stays, with its vector. */
static void test_folded_vectors(void **state) {
    (void)state;
    static const char *const cased[] = {
        "Paris",   "the", "paris", "THE", "\u00df", "SS", "\u03bb\u03cc\u03b3\u03bf\u03c2",
        "e\u0301", "x"};
    static const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const char *const wanted[] = {"paris",  "the", "ss", "\u03bb\u03cc\u03b3\u03bf\u03c3",
                                         "\u00e9", "x"};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    tem_folding done;
    const tem_build_options raw = {.space = TEM_SPACE_RAW, .allow_coarse = 1};
    assert_int_equal(tem_vectors_create(cased, values, 9, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_vectors_fold(vectors, &done, NULL), TEM_OK);
    assert_true(done.changed == 6 && done.left_out == 3 && tem_vectors_count(vectors) == 6);
    assert_int_equal(tem_model_build(vectors, &raw, NULL, &model, NULL), TEM_OK);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(tem_model_find(model, wanted[i], strlen(wanted[i])), i);
    assert_int_equal(tem_model_distance(model, 0, 1), TEM_DIST_ONE);     /* 1 and 2 */
    assert_int_equal(tem_model_distance(model, 1, 2), 3 * TEM_DIST_ONE); /* 2 and 5 */
    assert_int_equal(tem_model_distance(model, 2, 5), 4 * TEM_DIST_ONE); /* 5 and 9 */
    uint32_t unreachable = 9;
    assert_int_equal(tem_model_count_unreachable(model, &unreachable, NULL), TEM_OK);
    assert_int_equal(unreachable, 0);
    /* Folded words stay as they are. */
    assert_int_equal(tem_vectors_fold(vectors, &done, NULL), TEM_OK);
    assert_true(done.changed == 0 && done.left_out == 0 && tem_vectors_count(vectors) == 6);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* A text that has a word of the file finds it in the model, in whatever script it is written. What
 * word boundaries cut is counted. */
static void test_other_scripts(void **state) {
    (void)state;
    static const char *const scripts[] = {"Gr\u00f6\u00dfe", "\u03bb\u03cc\u03b3\u03bf\u03c2",
                                          "\u96fb\u5f71", "\u5f71", "\u0130zmir"};
    static const float values[] = {1, 2, 3, 4, 5};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    uint32_t unreachable = 9, id = 9;
    size_t count = 0;
    const tem_build_options raw = {.space = TEM_SPACE_RAW, .allow_coarse = 1};
    assert_int_equal(tem_vectors_create(scripts, values, 5, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_vectors_fold(vectors, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &raw, NULL, &model, NULL), TEM_OK);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(
            tem_model_pieces(model, scripts[i], strlen(scripts[i]), &id, 1, &count, NULL), TEM_OK);
        assert_int_equal(count, i == 2 ? 2 : 1);
        assert_int_equal(id, i == 2 ? TEM_NO_WORD : i);
    }
    assert_int_equal(tem_model_count_unreachable(model, &unreachable, NULL), TEM_OK);
    assert_int_equal(unreachable, 1);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* Words that cannot be folded stay, and so does everything if a vocabulary would be left with one
 * word. */
static void test_refused_folding(void **state) {
    (void)state;
    static const char *const same[] = {"A", "a"};
    static char longest[TEM_WORD_BYTES_MAX + 1];
    const char *const grows[] = {longest, "x"};
    static const float values[] = {1, 2};
    tem_vectors *vectors = NULL;
    tem_folding done;
    tem_error error;
    char *folded = NULL;
    assert_int_equal(tem_vectors_create(same, values, 2, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_vectors_fold(vectors, &done, &error), TEM_ERR_FORMAT);
    assert_int_equal(tem_vectors_count(vectors), 2);
    tem_vectors_free(vectors);
    for (size_t i = 0; i + 2 < sizeof longest; i += 2) /* U+0390 folds to three characters */
        memcpy(longest + i, "\u0390", 2);
    assert_int_equal(tem_vectors_create(grows, values, 2, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_vectors_fold(vectors, &done, &error), TEM_OK);
    assert_true(done.changed == 0);
    tem_vectors_free(vectors);
    assert_int_equal(tem_word_fold("Stra\u00dfe!", 8, &folded, &error), TEM_OK);
    assert_string_equal(folded, "strasse!");
    tem_text_free(folded);
    folded = NULL;
    assert_int_equal(tem_word_fold("a\xff", 2, &folded, &error), TEM_ERR_FORMAT);
    assert_null(folded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences),     cmocka_unit_test(test_same_words),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_folded_vectors),
        cmocka_unit_test(test_other_scripts), cmocka_unit_test(test_refused_folding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
