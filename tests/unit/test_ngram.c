/* test_ngram.c - n-grams from files: packed ones say the same as ARPA; words that the model lacks
 * are left out; files that are cut, or whose numbers contradict each other, are refused. */
#include "language/ngram_listed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_model.h"

#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { WORDS = 4, HEADER_BYTES = 64, ROOM = 4096 };
static const char *const names[WORDS] = {"one", "two", "three", "four"};
static tem_model *model;
static char path[64];

static int set_up(void **state) {
    (void)state;
    static const float values[WORDS] = {3, 1, 4, 1.5F};
    model = small_model(names, values, WORDS, 1, TEM_EUCLIDEAN, 3);
    snprintf(path, sizeof path, "/tmp/tem-test-ngram-%ld", (long)getpid());
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    tem_model_free(model);
    return 0;
}

/* The columns of a packed file of the words `two`, `other`, `one`: symbols 0 to 2, the unknown word
 * 3, the edge 4. In steps of a quarter. */
typedef struct content {
    uint32_t version, order, words, bigrams, trigrams, steps;
    const char *text;
    uint32_t numbers[64];
    size_t count;
} content;

/* P(two) = e^-1, P(one) = e^-1.25; after `one`: two e^-0.5, other e^-1.5; after the begin: one
 * e^-0.25; after `two`: the end e^-2; after "begin one": two e^-0.75. */
static const content good = {.version = 1,
                             .order = 3,
                             .words = 3,
                             .bigrams = 4,
                             .trigrams = 1,
                             .steps = 4,
                             .text = "two\nother\none\n",
                             .numbers = {/* words */ 4,
                                         12,
                                         5,
                                         16,
                                         12,
                                         /* bigrams after each */ 1,
                                         0,
                                         2,
                                         0,
                                         1,
                                         /* which, as gaps */ 4,
                                         0,
                                         0,
                                         2,
                                         /* logarithms */ 8,
                                         2,
                                         6,
                                         1,
                                         /* trigrams after each */ 0,
                                         0,
                                         0,
                                         1,
                                         /* which, logarithm */ 0,
                                         3},
                             .count = 24};

static void put32(char *at, uint32_t value) {
    memcpy(at, &value, sizeof value);
}

static size_t columns_of(const content *c, size_t lengths[7]) {
    const size_t all[7] = {c->words + 2, c->words + 2, c->bigrams, c->bigrams,
                           c->bigrams,   c->trigrams,  c->trigrams};
    size_t sum = 0;
    for (size_t i = 0; i < 7; i++)
        sum += lengths[i] = all[i];
    return sum;
}

/* The bytes of the file. */
static size_t pack(const content *c, char file[ROOM]) {
    char body[ROOM];
    size_t lengths[7], at = 0, bytes = strlen(c->text);
    const uint64_t word_bytes = bytes;
    assert_int_equal(columns_of(c, lengths), c->count);
    memcpy(body, c->text, bytes);
    for (size_t column = 0; column < 7; at += lengths[column++])
        for (unsigned plane = 0; plane < 4; plane++)
            for (size_t i = 0; i < lengths[column]; i++)
                body[bytes++] = (char)(c->numbers[at + i] >> (8 * plane));
    memset(file, 0, HEADER_BYTES);
    memcpy(file, "TEMNGRAM", 8);
    const uint32_t numbers[] = {c->version, c->order, c->words, c->bigrams, c->trigrams, c->steps};
    for (size_t i = 0; i < 6; i++)
        put32(file + 8 + 4 * i, numbers[i]);
    memcpy(file + 32, &word_bytes, sizeof word_bytes);
    const size_t frame = ZSTD_compress(file + HEADER_BYTES, ROOM - HEADER_BYTES, body, bytes, 1);
    assert_false(ZSTD_isError(frame));
    return HEADER_BYTES + frame;
}

static tem_status load(const char *bytes, size_t count, tem_ngram **ngram) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    return tem_ngram_load(model, path, NULL, ngram, NULL);
}

static tem_status load_content(const content *c, tem_ngram **ngram) {
    char file[ROOM];
    return load(file, pack(c, file), ngram);
}

static const char arpa[] = "\\data\\\nngram 1=6\nngram 2=4\nngram 3=1\n\n\\1-grams:\n"
                           "-99 <s> 0\n-0.43429448190325 two 0\n-1.30288344570976 other 0\n"
                           "-0.54286810237906 one 0\n-1.73717792761301 <unk>\n"
                           "-1.30288344570976 </s>\n\\2-grams:\n-0.86858896380651 two </s>\n"
                           "-0.21714724095163 one two\n-0.65144172285488 one other\n"
                           "-0.10857362047581 <s> one\n\\3-grams:\n"
                           "-0.32572086142744 <s> one two\n\\end\\\n";

/* Both read the same n-grams, so they say the same after every history. */
static void test_packed_says_what_arpa_says(void **state) {
    (void)state;
    const uint32_t symbols[] = {0, 1, 2, 3, TEM_NO_WORD, TEM_NGRAM_END};
    tem_ngram *packed = NULL, *plain = NULL;
    tem_ngram_info a, b;
    assert_int_equal(load_content(&good, &packed), TEM_OK);
    assert_int_equal(load(arpa, strlen(arpa), &plain), TEM_OK);
    for (size_t u = 0; u < 6; u++)
        for (size_t v = 0; v < 6; v++)
            for (size_t w = 0; w < 6; w++)
                for (size_t count = 0; count < 3; count++) {
                    const uint32_t history[] = {symbols[u], symbols[v]};
                    const uint32_t *last = history + 2 - count;
                    assert_true(fabs(tem_ngram_probability(packed, last, count, symbols[w]) -
                                     tem_ngram_probability(plain, last, count, symbols[w])) < 1e-9);
                }
    tem_ngram_get_info(packed, &a);
    tem_ngram_get_info(plain, &b);
    assert_true(a.order == 3 && a.bigrams == 3 && a.trigrams == 1 && a.outside == 1);
    assert_memory_equal(&a, &b, sizeof a);
    tem_ngram_free(packed);
    tem_ngram_free(plain);
}

/* Fewer orders: the rest is left out. Without any history every word keeps its probability. */
static void test_lower_orders(void **state) {
    (void)state;
    content two = good, one = good;
    tem_ngram *ngram = NULL;
    tem_ngram_info info;
    const uint32_t history[] = {TEM_NGRAM_END, 0};
    two.order = 2;
    two.trigrams = 0;
    two.numbers[21] = 0;
    two.count = 22;
    assert_int_equal(load_content(&two, &ngram), TEM_OK);
    assert_true(tem_ngram_probability(ngram, history, 2, 1) ==
                tem_ngram_probability(ngram, history + 1, 1, 1));
    tem_ngram_free(ngram);
    one.order = 1;
    one.bigrams = one.trigrams = 0;
    memset(one.numbers + 5, 0, 5 * sizeof *one.numbers);
    one.count = 10;
    assert_int_equal(load_content(&one, &ngram), TEM_OK);
    tem_ngram_get_info(ngram, &info);
    assert_int_equal(info.order, 1);
    assert_true(tem_ngram_probability(ngram, history, 2, 1) ==
                tem_ngram_probability(ngram, NULL, 0, 1));
    tem_ngram_free(ngram);
}

/* One number changed; `at` counts those of `numbers`. */
static void refuse_number(size_t at, uint32_t value) {
    content c = good;
    tem_ngram *ngram = NULL;
    c.numbers[at] = value;
    assert_int_equal(load_content(&c, &ngram), TEM_ERR_FORMAT);
    assert_null(ngram);
}

static void test_contradictions_are_refused(void **state) {
    (void)state;
    refuse_number(5, 2);           /* a bigram too many */
    refuse_number(5, 0);           /* and too few */
    refuse_number(5, UINT32_MAX);  /* and far too many */
    refuse_number(10, 5);          /* a word that the file does not have */
    refuse_number(12, UINT32_MAX); /* a sum that would overflow */
    refuse_number(18, 1);          /* a trigram too many */
    refuse_number(21, 0);          /* and too few */
    refuse_number(22, 5);          /* a word that the file does not have */
    content c = good;
    tem_ngram *ngram = NULL;
    c.numbers[12] = 1;
    c.numbers[15] = 0;
    assert_int_equal(load_content(&c, &ngram), TEM_ERR_FORMAT); /* a sum of more than 1 */
    c = good;
    c.text = "two\nother\ntwo\n";
    assert_int_equal(load_content(&c, &ngram), TEM_ERR_FORMAT); /* a word twice */
    c.text = "two\nother one\n";
    assert_int_equal(load_content(&c, &ngram), TEM_ERR_FORMAT); /* too few words */
    c.text = "two\nother\n\none\n";
    assert_int_equal(load_content(&c, &ngram), TEM_ERR_FORMAT); /* too many */
    c.text = "these\nother\nwords\n";
    assert_int_equal(load_content(&c, &ngram), TEM_ERR_FORMAT); /* none is in the model */
}

static void test_headers_are_refused(void **state) {
    (void)state;
    char file[ROOM];
    tem_ngram *ngram = NULL;
    const size_t bytes = pack(&good, file);
    for (size_t cut = 8; cut < bytes; cut++)
        assert_int_equal(load(file, cut, &ngram), TEM_ERR_FORMAT);
    file[bytes] = 0;
    assert_int_equal(load(file, bytes + 1, &ngram), TEM_ERR_FORMAT);
    for (size_t at = 8; at < HEADER_BYTES; at++) {
        if (at >= 28 && at < 32)
            continue; /* the step: any will do */
        file[at] ^= 64;
        assert_int_equal(load(file, bytes, &ngram), at < 12 ? TEM_ERR_VERSION : TEM_ERR_FORMAT);
        file[at] ^= 64;
    }
    put32(file + 28, 0);
    assert_int_equal(load(file, bytes, &ngram), TEM_ERR_FORMAT);
    assert_null(ngram);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_says_what_arpa_says),
        cmocka_unit_test(test_lower_orders),
        cmocka_unit_test(test_contradictions_are_refused),
        cmocka_unit_test(test_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
