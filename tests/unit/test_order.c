/* test_order.c - documents without the order of their words: all orders are equally likely, the
 * words are those of the same run with the order kept, and nothing else shows the order. */
#include "job/replacer.h"
#include "job/report.h"
#include "rng/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pseudo.h"
#include "slow.h"
#include "small_model.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* Quotes, a backslash and a letter of two bytes are for JSON. None of them is in a text: texts have
 * no such words, so they come out only if the mechanism draws them. */
static const char *const names[] = {"a",       "b",           "c",        "d",  "e",
                                    "say\"so", "back\\slash", "\xc3\xa9", "ab", "abc"};
enum { WORDS = sizeof names / sizeof *names };

static tem_model *model;
static tem_mechanism *noisy, *still; /* the second draws, but for one draw in 10^18, the input */

static int set_up(void **state) {
    (void)state;
    float near[WORDS];
    for (int i = 0; i < WORDS; i++)
        near[i] = (float)i;
    model = small_model(names, near, WORDS, 1, TEM_EUCLIDEAN, 4);
    const tem_mechanism_options little = {.epsilon = 1};
    const tem_mechanism_options much = {.epsilon = 90, .gamma = 1};
    return tem_mechanism_create(model, &little, &noisy, NULL) != TEM_OK ||
           tem_mechanism_create(model, &much, &still, NULL) != TEM_OK;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(still);
    tem_mechanism_free(noisy);
    tem_model_free(model);
    return 0;
}

/* A document of `count` words, separated by spaces. */
static char *random_document(size_t count) {
    char *text = malloc(2 * count + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = (char)('a' + random_below(6)); /* f is unknown */
        text[2 * i + 1] = ' ';
    }
    text[2 * count] = '\0';
    return text;
}

static tem_texts *privatize(const tem_mechanism *mechanism, tem_order order,
                            const char *const *texts, size_t count, unsigned threads,
                            uint64_t seed) {
    tem_text_input *inputs = calloc(count, sizeof *inputs);
    tem_texts *out = NULL;
    assert_non_null(inputs);
    for (size_t i = 0; i < count; i++)
        inputs[i] = (tem_text_input){.text = texts[i], .bytes = strlen(texts[i])};
    const tem_job job = {.text.order = order, .insecure_seeded = 1, .insecure_seed = seed};
    const tem_run run = {.threads = threads};
    assert_int_equal(
        tem_privatize_texts(mechanism, &job, inputs, count, &run, &out, NULL, NULL, NULL), TEM_OK);
    free(inputs);
    return out;
}

/* What chi-square exceeds with probability 10^-9, for 1, 5, 23 and 119 degrees of freedom. */
#define LIMIT_1 37.32
#define LIMIT_5 50.69
#define LIMIT_23 89.12
#define LIMIT_119 235.94

/* ------------------------------------------------ all orders are equally likely -- */

/* The number of a permutation of the first `count` letters, 0 to count! - 1. */
static unsigned number_of(const char *text, unsigned count) {
    unsigned number = 0;
    assert_int_equal(strlen(text), 2 * count - 1);
    for (unsigned i = 0; i < count; i++) {
        unsigned smaller = 0;
        for (unsigned j = i + 1; j < count; j++)
            smaller += text[2 * j] < text[2 * i];
        number = number * (count - i) + smaller;
    }
    return number;
}

/* Chi-square over all count! orders of SAMPLES documents. The bins are all permutations, not those
 * that appeared. False alarm: with probability 10^-9 per limit, were the seeds new each time;
 * with fixed seeds, as here, the result is always the same. */
static void check_orders(const char *text, unsigned count, unsigned orders, double limit,
                         uint64_t seed) {
    enum { SAMPLES = SLOW ? 24000 : 120000, BATCH = 24000 };
    unsigned *seen = calloc(orders, sizeof *seen);
    const char **texts = calloc(BATCH, sizeof *texts);
    assert_true(seen != NULL && texts != NULL);
    for (unsigned i = 0; i < BATCH; i++)
        texts[i] = text;
    for (unsigned done = 0; done < SAMPLES; done += BATCH) {
        tem_texts *out =
            privatize(still, TEM_ORDER_SHUFFLED, texts, BATCH, 1 + done % 2, seed + done);
        for (unsigned i = 0; i < BATCH; i++)
            seen[number_of(tem_texts_at(out, i, NULL), count)]++;
        tem_texts_free(out);
    }
    const double expected = (double)SAMPLES / orders;
    double chi_square = 0;
    for (unsigned i = 0; i < orders; i++)
        chi_square += (seen[i] - expected) * (seen[i] - expected) / expected;
    if (chi_square > limit)
        fail_msg("%u words: chi-square %.1f, limit %.1f", count, chi_square, limit);
    free(texts);
    free(seen);
}

static void test_orders_equally_likely(void **state) {
    (void)state;
    check_orders("b a", 2, 2, LIMIT_1, 1);
    check_orders("a b c", 3, 6, LIMIT_5, 2);
    check_orders("a b c d", 4, 24, LIMIT_23, 3);
    check_orders("d c b a", 4, 24, LIMIT_23, 4);
    check_orders("a e c b d", 5, 120, LIMIT_119, 5);
}

/* The same with the private generator, in one text at a time: the order comes from the generator of
 * the call. False alarm: 10^-9. */
static void test_private_generator(void **state) {
    (void)state;
    enum { SAMPLES = 6000 };
    const tem_text_options options = {.order = TEM_ORDER_SHUFFLED};
    unsigned seen[6] = {0};
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    for (int i = 0; i < SAMPLES; i++) {
        char *out = NULL;
        size_t bytes = 0;
        assert_int_equal(
            tem_privatize_text(still, &options, rng, "a b c", 5, NULL, &out, &bytes, NULL, NULL),
            TEM_OK);
        seen[number_of(out, 3)]++;
        tem_text_free(out);
    }
    double chi_square = 0;
    for (int i = 0; i < 6; i++)
        chi_square += (seen[i] - SAMPLES / 6.0) * (seen[i] - SAMPLES / 6.0) / (SAMPLES / 6.0);
    assert_true(chi_square <= LIMIT_5);
    tem_rng_free(rng);
}

/* ------------------------------------------------------------ the same words -- */

/* Counts the words of a text by id; returns their number. */
static size_t count_words(const char *text, uint64_t counts[WORDS]) {
    size_t words = 0;
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        const uint32_t id = tem_model_find(model, at, length);
        assert_true(id < WORDS);
        counts[id]++;
        words++;
        at += length + (at[length] == ' ');
        assert_true(at[0] != ' ');
    }
    return words;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The JSON of counts, written here once more: by jansson, word by word in the order of strcmp. */
static void check_json(const char *json, const uint64_t counts[WORDS]) {
    const char *sorted[WORDS];
    char *expected = calloc(1, 4096);
    assert_non_null(expected);
    memcpy(sorted, names, sizeof sorted);
    qsort(sorted, WORDS, sizeof *sorted, compare_names);
    strcat(expected, "{");
    for (int i = 0; i < WORDS; i++) {
        const uint64_t count = counts[tem_model_find(model, sorted[i], strlen(sorted[i]))];
        json_t *word = json_string(sorted[i]);
        char *text = json_dumps(word, JSON_ENCODE_ANY);
        if (count > 0)
            sprintf(expected + strlen(expected), "%s%s: %llu", expected[1] == '\0' ? "" : ", ",
                    text, (unsigned long long)count);
        free(text);
        json_decref(word);
    }
    strcat(expected, "}");
    assert_string_equal(json, expected);
    free(expected);
}

static void check_same_words(const char *const *texts, size_t count, unsigned threads) {
    tem_texts *kept = privatize(noisy, TEM_ORDER_KEPT, texts, count, 1, 7);
    tem_texts *plain = privatize(noisy, 0, texts, count, threads, 7);
    tem_texts *shuffled = privatize(noisy, TEM_ORDER_SHUFFLED, texts, count, threads, 7);
    tem_texts *counted = privatize(noisy, TEM_ORDER_COUNTS, texts, count, threads, 7);
    tem_texts *again = privatize(noisy, TEM_ORDER_SHUFFLED, texts, count, 1, 7);
    size_t moved = 0, long_ones = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t before[WORDS] = {0}, after[WORDS] = {0};
        const char *text = tem_texts_at(shuffled, i, NULL);
        const size_t words = count_words(tem_texts_at(kept, i, NULL), before);
        assert_int_equal(words, count_words(text, after));
        assert_memory_equal(before, after, sizeof before);
        check_json(tem_texts_at(counted, i, NULL), before);
        assert_string_equal(text, tem_texts_at(again, i, NULL));
        assert_string_equal(tem_texts_at(kept, i, NULL), tem_texts_at(plain, i, NULL));
        long_ones += words > 20;
        moved += words > 20 && strcmp(text, tem_texts_at(kept, i, NULL)) != 0;
    }
    assert_true(moved == long_ones);
    tem_texts_free(again);
    tem_texts_free(counted);
    tem_texts_free(shuffled);
    tem_texts_free(plain);
    tem_texts_free(kept);
}

/* Documents from no word to more than are drawn for at once, and more than one window of text. */
static void test_same_words(void **state) {
    (void)state;
    enum { TEXTS = 60 };
    char *texts[TEXTS];
    for (int i = 0; i < TEXTS; i++)
        texts[i] = random_document(i < 40 ? (size_t)i : i < 58 ? 1000 + random_below(999) : 40000);
    for (unsigned threads = 1; threads <= 8; threads *= 2)
        check_same_words((const char *const *)texts, TEXTS, threads);
    for (int i = 0; i < TEXTS; i++)
        free(texts[i]);
}

/* A file gives what texts in memory give. */
static void test_files(void **state) {
    (void)state;
    enum { TEXTS = 200 };
    char in[64], out[64], line[8192];
    char *texts[TEXTS];
    snprintf(in, sizeof in, "/tmp/tem-order-%ld-in", (long)getpid());
    snprintf(out, sizeof out, "/tmp/tem-order-%ld-out", (long)getpid());
    FILE *file = fopen(in, "w");
    assert_non_null(file);
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = random_document(random_below(300));
        fprintf(file, "%s\n", texts[i]);
    }
    fclose(file);
    for (tem_order order = TEM_ORDER_SHUFFLED; order <= TEM_ORDER_COUNTS; order++) {
        const tem_job job = {.text.order = order,
                             .inputs = &(const char *){in},
                             .input_count = 1,
                             .output = out,
                             .overwrite = TEM_OVERWRITE,
                             .insecure_seeded = 1,
                             .insecure_seed = 9};
        const tem_run run = {.threads = 3};
        assert_int_equal(tem_privatize_files(noisy, &job, &run, NULL, NULL, NULL, NULL), TEM_OK);
        tem_texts *right = privatize(noisy, order, (const char *const *)texts, TEXTS, 2, 9);
        file = fopen(out, "r");
        assert_non_null(file);
        for (int i = 0; i < TEXTS; i++) {
            assert_non_null(fgets(line, sizeof line, file));
            line[strcspn(line, "\n")] = '\0';
            assert_string_equal(line, tem_texts_at(right, (size_t)i, NULL));
        }
        fclose(file);
        tem_texts_free(right);
    }
    for (int i = 0; i < TEXTS; i++)
        free(texts[i]);
    unlink(in);
    unlink(out);
}

/* A document that fails leaves none of its words to the next one. */
static void test_after_a_failure(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    char *text = random_document(COUNT);
    for (tem_order order = TEM_ORDER_SHUFFLED; order <= TEM_ORDER_COUNTS; order++) {
        const tem_text_options options = {.order = order};
        replacer r;
        tem_rng rng;
        core_buffer out = {0};
        tem_counts counts = {0};
        assert_int_equal(replacer_init(&r, still, &options, NULL), TEM_OK);
        rng_init_seeded(&rng, 1, 1);
        text[2 * COUNT - 1] = '\xff';
        assert_int_equal(replacer_run(&r, &rng, text, 2 * COUNT, &out, &counts, NULL),
                         TEM_ERR_FORMAT);
        assert_true(out.size == 0 && counts.words == 0);
        for (int again = 0; again < 2; again++) {
            out.size = 0;
            assert_int_equal(replacer_run(&r, &rng, "c c", 3, &out, &counts, NULL), TEM_OK);
            assert_true(core_buffer_add(&out, "", 1));
            assert_string_equal(out.data, order == TEM_ORDER_COUNTS ? "{\"c\": 2}" : "c c");
        }
        r.dry_run = true;
        out.size = 0;
        assert_int_equal(replacer_run(&r, &rng, "c c", 3, &out, &counts, NULL), TEM_OK);
        assert_true(out.size == 0 && counts.words == 6);
        core_buffer_free(&out);
        rng_wipe(&rng);
        replacer_free(&r);
    }
    free(text);
}

/* ------------------------------------------------------------------ refusals -- */

static tem_status try_options(tem_text_options options, char **out) {
    tem_rng *rng = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    *out = NULL;
    const tem_status status =
        tem_privatize_text(still, &options, rng, "a, a.\na", 7, NULL, out, &bytes, NULL, NULL);
    tem_rng_free(rng);
    return status;
}

/* Every combination of policies: a random order and counts go with those that show no place. */
static void test_policies(void **state) {
    (void)state;
    for (int order = 0; order <= TEM_ORDER_COUNTS + 1; order++)
        for (int oov = 0; oov <= TEM_OOV_KEEP_UNSAFE; oov++)
            for (int punctuation = 0; punctuation <= TEM_PUNCTUATION_WORD; punctuation++)
                for (int lines = 0; lines <= 1; lines++) {
                    char *out = NULL;
                    const bool kept = order <= TEM_ORDER_KEPT;
                    const bool fits =
                        oov <= TEM_OOV_UNIFORM && lines == 0 && punctuation != TEM_PUNCTUATION_KEEP;
                    const tem_status status =
                        try_options((tem_text_options){.order = (tem_order)order,
                                                       .oov = (tem_oov)oov,
                                                       .punctuation = (tem_punctuation)punctuation,
                                                       .keep_lines = lines},
                                    &out);
                    const bool allowed = kept || (fits && order <= TEM_ORDER_COUNTS);
                    assert_int_equal(status, allowed ? TEM_OK : TEM_ERR_ARGUMENT);
                    assert_int_equal(out != NULL, allowed);
                    if (allowed && order == TEM_ORDER_COUNTS && punctuation < TEM_PUNCTUATION_WORD)
                        assert_string_equal(out, "{\"a\": 3}");
                    tem_text_free(out);
                }
}

static void test_report(void **state) {
    (void)state;
    for (int order = 0; order <= TEM_ORDER_COUNTS; order++) {
        const tem_job job = {.text.order = (tem_order)order};
        char *text = NULL, expected[64];
        size_t bytes = 0;
        assert_null(tem_job_why_not_private(still, &job));
        assert_int_equal(
            tem_report_json(still, &job, &(tem_counts){0}, NULL, NULL, &text, &bytes, NULL),
            TEM_OK);
        snprintf(expected, sizeof expected, "\"order\": \"%s\"",
                 order == 0 ? "kept" : tem_order_name((tem_order)order));
        assert_non_null(strstr(text, expected));
        tem_text_free(text);
    }
    const tem_job unknown = {.text.order = (tem_order)(TEM_ORDER_COUNTS + 1)};
    assert_non_null(tem_job_why_not_private(still, &unknown));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_equally_likely),
        cmocka_unit_test(test_private_generator),
        cmocka_unit_test(test_same_words),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_after_a_failure),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
