/* test_ngram.c - n-grams from files: packed ones say the same as ARPA; words that the model lacks
 * are left out; files that are cut, or whose numbers contradict each other, are refused. Mixtures,
 * pruned models and language models say what their definitions say, for all histories of a small
 * vocabulary. */
#include "language/ngram_listed.h"
#include "tem_language.h"

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

/* ----------------------------------------------------- made from n-grams -- */

static tem_ngram *train(const char *text, uint32_t order) {
    const char *const paths[] = {path};
    tem_ngram *ngram = NULL;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tem_ngram_train(model, paths, 1, order, NULL, &ngram, NULL), TEM_OK);
    return ngram;
}

static const char first_text[] = "one two three one two\ntwo two four odd one two three\n"
                                 "three one two four\none one two three three\n";
static const char second_text[] = "four three two one\nfour three one\nodd four three two two\n";

enum { SYMBOLS = WORDS + 2 };

static uint32_t symbol(uint32_t i) {
    return i < WORDS ? i : i == WORDS ? TEM_NO_WORD : TEM_NGRAM_END;
}

/* After each history of up to two symbols the probabilities add up to 1. */
static void assert_sums(const tem_ngram *g) {
    for (uint32_t u = 0; u < SYMBOLS; u++)
        for (uint32_t v = 0; v < SYMBOLS; v++)
            for (size_t count = 0; count < 3; count++) {
                const uint32_t history[] = {symbol(u), symbol(v)};
                double sum = 0;
                for (uint32_t w = 0; w < SYMBOLS; w++)
                    sum += tem_ngram_probability(g, history + 2 - count, count, symbol(w));
                assert_true(fabs(sum - 1) < 1e-9);
            }
}

static void test_order_one(void **state) {
    (void)state;
    tem_ngram *g = train("one one two\none odd\n", 1);
    /* one 3, two 1, unknown 1, end 2; D = 2 / (2 + 2) */
    const double rest = 0.5 * 4 / 7 / SYMBOLS;
    const uint32_t history[] = {0, 1};
    assert_true(fabs(tem_ngram_probability(g, NULL, 0, 0) - (2.5 / 7 + rest)) < 1e-12);
    assert_true(fabs(tem_ngram_probability(g, history, 2, TEM_NGRAM_END) - (1.5 / 7 + rest)) <
                1e-12);
    assert_true(fabs(tem_ngram_probability(g, history, 1, 3) - rest) < 1e-12);
    assert_sums(g);
    tem_ngram *again = NULL;
    assert_int_equal(tem_ngram_save(g, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_ngram_load(model, path, NULL, &again, NULL), TEM_OK);
    assert_true(again->info.order == 1 && fabs(again->p[0] - g->p[0]) < 1e-6);
    tem_ngram_free(again);
    tem_ngram_free(g);
}

/* Listed n-grams have the mixture's probability. */
static void check_mixture(const tem_ngram *a, const tem_ngram *b, const tem_ngram *mixed) {
    uint64_t pairs = 0, triples = 0;
    assert_sums(mixed);
    for (uint32_t u = 0; u < SYMBOLS; u++)
        for (uint32_t v = 0; v < SYMBOLS; v++) {
            const uint64_t pair = ngram_find(&mixed->two, u, v), pa = ngram_find(&a->two, u, v);
            const uint64_t pb = ngram_find(&b->two, u, v);
            assert_int_equal(pair != NGRAM_NONE, pa != NGRAM_NONE || pb != NGRAM_NONE);
            if (pair == NGRAM_NONE)
                continue;
            pairs++;
            assert_true(fabs(ngram_two(mixed, u, v) -
                             (0.25 * ngram_two(a, u, v) + 0.75 * ngram_two(b, u, v))) < 1e-9);
            for (uint32_t w = 0; w < SYMBOLS; w++) {
                if (ngram_find(&mixed->three, pair, w) == NGRAM_NONE)
                    continue;
                triples++;
                assert_true(fabs(ngram_three(mixed, pair, v, w) -
                                 (0.25 * ngram_three(a, pa, v, w) +
                                  0.75 * ngram_three(b, pb, v, w))) < 1e-9);
            }
        }
    assert_true(pairs == mixed->info.bigrams && triples == mixed->info.trigrams);
    assert_true(triples > a->info.trigrams && triples > b->info.trigrams);
}

static void test_mixtures(void **state) {
    (void)state;
    tem_ngram *a = train(first_text, 3), *b = train(second_text, 3), *one = train(first_text, 1);
    tem_ngram *mixed = NULL;
    const tem_ngram *const both[] = {a, b}, *const orders[] = {one, a};
    const double shares[] = {1, 3};
    assert_int_equal(tem_ngram_mix(both, shares, 2, NULL, &mixed, NULL), TEM_OK);
    check_mixture(a, b, mixed);
    tem_ngram_free(mixed);
    assert_int_equal(tem_ngram_mix(orders, shares, 2, NULL, &mixed, NULL), TEM_OK);
    assert_true(mixed->info.order == 3 && mixed->info.trigrams == a->info.trigrams);
    assert_sums(mixed);
    tem_ngram_free(mixed);
    assert_int_equal(tem_ngram_mix(both, shares, 1, NULL, &mixed, NULL), TEM_OK);
    for (uint32_t i = 0; i < SYMBOLS * SYMBOLS * SYMBOLS; i++) {
        const uint32_t h[] = {symbol(i / SYMBOLS / SYMBOLS), symbol(i / SYMBOLS % SYMBOLS)};
        assert_true(fabs(tem_ngram_probability(mixed, h, 2, symbol(i % SYMBOLS)) -
                         tem_ngram_probability(a, h, 2, symbol(i % SYMBOLS))) < 1e-9);
    }
    tem_ngram_free(mixed);
    tem_ngram_free(one);
    tem_ngram_free(b);
    tem_ngram_free(a);
}

/* What leaving out one trigram costs, by the definition of the relative entropy: the probabilities
 * of all symbols with it, and with the back-off in its place. */
static double cost_of(const tem_ngram *g, uint32_t u, uint32_t v, uint32_t left_out) {
    const uint64_t pair = ngram_find(&g->two, u, v);
    double seen = 0, covered = 0, cost = 0;
    for (uint32_t w = 0; w < SYMBOLS; w++)
        if (w != left_out && ngram_find(&g->three, pair, w) != NGRAM_NONE) {
            seen += ngram_three(g, pair, v, w);
            covered += ngram_two(g, v, w);
        }
    for (uint32_t w = 0; w < SYMBOLS; w++) {
        const bool stays = w != left_out && ngram_find(&g->three, pair, w) != NGRAM_NONE;
        const double p = ngram_three(g, pair, v, w);
        const double q = stays ? p : (1 - seen) / (1 - covered) * ngram_two(g, v, w);
        cost += p * log(p / q);
    }
    return expm1(g->p[u] * ngram_two(g, u, v) * cost);
}

static void test_pruning(void **state) {
    (void)state;
    tem_ngram *g = train(first_text, 3), *pruned = NULL, *none = NULL, *all = NULL;
    const double threshold = 0.004;
    uint64_t kept = 0;
    assert_int_equal(tem_ngram_prune(g, threshold, NULL, &pruned, NULL), TEM_OK);
    assert_sums(pruned);
    for (uint32_t u = 0; u < SYMBOLS; u++)
        for (uint32_t v = 0; v < SYMBOLS; v++)
            for (uint32_t w = 0; w < SYMBOLS; w++) {
                const uint64_t before = ngram_find(&g->two, u, v);
                const uint64_t after = ngram_find(&pruned->two, u, v);
                if (before == NGRAM_NONE || ngram_find(&g->three, before, w) == NGRAM_NONE)
                    continue;
                const bool stays =
                    after != NGRAM_NONE && ngram_find(&pruned->three, after, w) != NGRAM_NONE;
                kept += stays;
                assert_int_equal(stays, cost_of(g, u, v, w) >= threshold);
            }
    assert_true(kept > 0 && kept < g->info.trigrams && kept == pruned->info.trigrams);
    assert_true(pruned->info.words == g->info.words);
    assert_int_equal(tem_ngram_prune(g, 1e9, NULL, &none, NULL), TEM_OK);
    assert_true(none->info.bigrams == 0 && none->info.trigrams == 0);
    assert_sums(none);
    assert_int_equal(tem_ngram_prune(g, 0, NULL, &all, NULL), TEM_OK);
    assert_true(all->info.bigrams <= g->info.bigrams && all->info.trigrams > kept);
    assert_sums(all);
    tem_ngram_free(all);
    tem_ngram_free(none);
    tem_ngram_free(pruned);
    tem_ngram_free(g);
}

/* A language model is read as the n-grams that it was made of, among outputs: Kneser-Ney gives what
 * it lists more than the back-off, so that only rounding changes it. */
static void test_language_models_are_read(void **state) {
    (void)state;
    for (uint32_t order = 1; order <= 3; order++) {
        tem_ngram *g = train(first_text, order), *again = NULL;
        tem_language *language = NULL;
        assert_int_equal(tem_language_make(g, NULL, NULL, &language, NULL), TEM_OK);
        assert_int_equal(tem_language_save(language, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
        assert_int_equal(tem_ngram_load(model, path, NULL, &again, NULL), TEM_OK);
        assert_int_equal(again->info.order, order);
        assert_sums(again);
        for (uint32_t h = 0; h < SYMBOLS * SYMBOLS; h++) {
            const uint32_t history[] = {symbol(h / SYMBOLS), symbol(h % SYMBOLS)};
            double sum = 0;
            for (uint32_t w = 0; w < WORDS; w++)
                sum += tem_ngram_probability(g, history, 2, w);
            for (uint32_t w = 0; w < WORDS; w++)
                assert_true(fabs(tem_ngram_probability(g, history, 2, w) / sum -
                                 tem_ngram_probability(again, history, 2, w)) < 1e-4);
        }
        tem_language_free(language);
        tem_ngram_free(again);
        tem_ngram_free(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_says_what_arpa_says),
        cmocka_unit_test(test_lower_orders),
        cmocka_unit_test(test_contradictions_are_refused),
        cmocka_unit_test(test_headers_are_refused),
        cmocka_unit_test(test_order_one),
        cmocka_unit_test(test_mixtures),
        cmocka_unit_test(test_pruning),
        cmocka_unit_test(test_language_models_are_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
