/* test_function_words.c - the list of English function words, and which texts seem to be in another
 * language than the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space/function_words.h"
#include "tem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENGLISH_LEAST = 100 };

/* Two versions of a list drift apart. */
static void test_list_is_the_file(void **state) {
    (void)state;
    char line[64];
    size_t count = 0;
    FILE *file = fopen(getenv("TEM_FUNCTION_WORDS"), "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file) != NULL; count++) {
        line[strcspn(line, "\n")] = '\0';
        assert_true(count < FUNCTION_WORDS);
        assert_string_equal(line, function_words_list[count]);
    }
    fclose(file);
    assert_int_equal(count, FUNCTION_WORDS);
}

static double apart(void *context, uint32_t i, uint32_t j) {
    (void)context;
    return i == j ? 0 : 1;
}

/* A mechanism over the first function words, from the third word of the vocabulary on. */
static tem_mechanism *mechanism_over(uint32_t functions, tem_model **model) {
    const char *words[FUNCTION_WORDS + 2] = {"movie", "film"};
    const tem_mechanism_options options = {.epsilon = 1};
    tem_mechanism *mechanism = NULL;
    memcpy(words + 2, function_words_list, functions * sizeof *words);
    assert_int_equal(
        tem_model_build_function(words, functions + 2, apart, NULL, 0, NULL, model, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(*model, &options, &mechanism, NULL), TEM_OK);
    return mechanism;
}

static int is_foreign(const tem_mechanism *m, uint64_t words, uint64_t unknown,
                      uint64_t functions) {
    const tem_counts counts = {.words = words, .unknown = unknown, .function_words = functions};
    return tem_counts_are_foreign(m, &counts);
}

static void test_limits(void **state) {
    (void)state;
    tem_model *english = NULL, *other = NULL;
    tem_mechanism *of_english = mechanism_over(ENGLISH_LEAST, &english);
    tem_mechanism *of_other = mechanism_over(ENGLISH_LEAST - 1, &other);
    assert_int_equal(is_foreign(of_other, 20, 11, 0), 1);
    assert_int_equal(is_foreign(of_other, 20, 10, 0), 0);
    assert_int_equal(is_foreign(of_other, 19, 19, 0), 0);
    assert_int_equal(is_foreign(of_english, 80, 41, 39), 1);
    assert_int_equal(is_foreign(of_english, 80, 21, 9), 1);
    assert_int_equal(is_foreign(of_english, 80, 20, 9), 0);
    assert_int_equal(is_foreign(of_english, 80, 21, 10), 0);
    assert_int_equal(is_foreign(of_english, 0, 0, 0), 0);
    assert_int_equal(tem_counts_are_foreign(NULL, NULL), 0);
    assert_int_equal(tem_counts_are_foreign(of_english, NULL), 0);
    tem_mechanism_free(of_english);
    tem_mechanism_free(of_other);
    tem_model_free(english);
    tem_model_free(other);
}

/* Words of texts and ids are counted alike; punctuation, content words and numbers that are no ids
 * count nothing. */
static void test_counts(void **state) {
    (void)state;
    tem_model *model = NULL;
    tem_mechanism *m = mechanism_over(3, &model); /* a, an, the */
    tem_rng *rng = NULL;
    tem_counts counts = {0};
    char *text = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tem_privatize_text(m, NULL, rng, "The movie, the zyx.", 19, NULL, &text,
                                            &bytes, &counts, NULL),
                         TEM_OK);
        tem_text_free(text);
        assert_int_equal(counts.function_words, 2 * (i + 1));
    }
    const uint32_t ids[] = {0, tem_model_find(model, "the", 3), TEM_NO_WORD};
    const tem_ids_input document = {.ids = ids, .count = 3};
    uint32_t out[3];
    counts = (tem_counts){0};
    assert_int_equal(tem_privatize_ids(m, NULL, &document, 1, NULL, out, &counts, NULL, NULL),
                     TEM_OK);
    assert_true(counts.words == 3 && counts.unknown == 1 && counts.function_words == 1);
    tem_rng_free(rng);
    tem_mechanism_free(m);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_is_the_file),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
