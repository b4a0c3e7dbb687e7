/* test_attack.c - n-gram models, likelihoods and attackers, against brute force.
 *
 * The oracle for n-grams counts all triples of symbols in dense arrays. The oracle for guesses with
 * context adds up the probabilities of all sequences of words, and takes the law from MPFR. */
#include "attack/attackers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_channel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 4, UNKNOWN = WORDS, EDGE, PAD, SYMBOLS = PAD, LENGTH_MAX = 4 };

static char path[64], other_path[64];

static void write_bytes(const char *where, const char *bytes, size_t count) {
    FILE *file = fopen(where, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *text) {
    write_bytes(path, text, strlen(text));
}

static int set_paths(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/tem-test-attack-%ld", (long)getpid());
    snprintf(other_path, sizeof other_path, "/tmp/tem-test-attack-%ld.arpa", (long)getpid());
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    unlink(path);
    unlink(other_path);
    return 0;
}

/* ------------------------------------------------------------- n-grams -- */

/* A text: documents of symbols, and how the oracle counts them. */
typedef struct oracle {
    uint32_t order;
    double raw[PAD + 1][PAD + 1][PAD + 1]; /* [u][v][w]; order 2: u is PAD everywhere */
    double two[PAD + 1][PAD + 1];          /* counts of bigrams, as Kneser-Ney takes them */
    double one[PAD + 1];
    double discounts[4];
} oracle;

static double discount_of(const double *counts, size_t count) {
    double ones = 0, twos = 0;
    for (size_t i = 0; i < count; i++) {
        ones += counts[i] == 1;
        twos += counts[i] == 2;
    }
    return ones > 0 ? ones / (ones + 2 * twos) : 0.5;
}

/* Counts how many words come before each shorter n-gram. */
static void finish_oracle(oracle *o) {
    for (int v = 0; v <= PAD; v++)
        for (int w = 0; w <= PAD; w++)
            for (int u = 0; u <= PAD; u++)
                o->two[v][w] += o->order == 2 || v == EDGE ? o->raw[u][v][w] : o->raw[u][v][w] > 0;
    for (int v = 0; v <= PAD; v++)
        for (int w = 0; w <= PAD; w++)
            o->one[w] += o->two[v][w] > 0;
    oracle *without = make_zeros(1, sizeof *without);
    memcpy(without, o, sizeof *o);
    memset(without->raw[PAD], 0, sizeof without->raw[PAD]); /* these are no trigrams */
    o->discounts[3] = discount_of(&without->raw[0][0][0], sizeof o->raw / sizeof(double));
    o->discounts[2] = discount_of(&o->two[0][0], sizeof o->two / sizeof(double));
    o->discounts[1] = discount_of(o->one, PAD + 1);
    free(without);
}

static double smoothed(const double *counts, double discount, int w, double lower) {
    double total = 0, different = 0;
    for (int i = 0; i <= PAD; i++) {
        total += counts[i];
        different += counts[i] > 0;
    }
    if (!(total > 0))
        return lower;
    return fmax(counts[w] - discount, 0) / total + discount * different / total * lower;
}

static double oracle_one(const oracle *o, int w) {
    return smoothed(o->one, o->discounts[1], w, 1.0 / SYMBOLS);
}

static double oracle_two(const oracle *o, int v, int w) {
    return smoothed(o->two[v], o->discounts[2], w, oracle_one(o, w));
}

static double oracle_three(const oracle *o, int u, int v, int w) {
    return o->order == 2 ? oracle_two(o, v, w)
                         : smoothed(o->raw[u][v], o->discounts[3], w, oracle_two(o, v, w));
}

/* Writes random documents to `path`, and counts their n-grams. Small words are frequent. */
static oracle *random_text(uint32_t order, int documents) {
    oracle *o = make_zeros(1, sizeof *o);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    o->order = order;
    for (int d = 0; d < documents; d++) {
        int u = PAD, v = EDGE;
        const size_t length = random_below(6);
        for (size_t i = 0; i <= length && length > 0; i++) {
            const int w = i == length ? EDGE : (int)(random_below(5) * random_below(5) / 4);
            if (i < length)
                fprintf(file, "%sW%d", i == 0 ? "" : ", ", w); /* W4 is unknown */
            o->raw[order == 2 ? PAD - 1 : u][v][w]++;
            u = v;
            v = w;
        }
        fputs(d % 2 == 0 ? "\n" : "\r\n", file);
    }
    assert_int_equal(fclose(file), 0);
    finish_oracle(o);
    return o;
}

static uint32_t id_of(int symbol) {
    return symbol == UNKNOWN ? TEM_NO_WORD : symbol == EDGE ? TEM_NGRAM_END : (uint32_t)symbol;
}

static double found_three(const tem_ngram *g, int u, int v, int w) {
    const uint32_t history[] = {id_of(u), id_of(v)};
    return tem_ngram_probability(g, history, 2, id_of(w));
}

/* Compares with the oracle after all histories, to `tolerance`; sums are exact to 1e-12. */
static void check_ngram(const tem_ngram *g, const oracle *o, double tolerance) {
    for (int u = 0; u < SYMBOLS; u++)
        for (int v = 0; v < SYMBOLS; v++) {
            double sum = 0, sum_two = 0, sum_one = 0;
            const uint32_t history[] = {id_of(v)};
            for (int w = 0; w < SYMBOLS; w++) {
                const double one = tem_ngram_probability(g, NULL, 0, id_of(w)),
                             two = tem_ngram_probability(g, history, 1, id_of(w)),
                             three = found_three(g, u, v, w);
                const double truth = v == EDGE ? oracle_two(o, v, w) : oracle_three(o, u, v, w);
                check_near(one, oracle_one(o, w), tolerance, "a probability of order 1");
                check_near(two, oracle_two(o, v, w), tolerance, "a probability of order 2");
                check_near(three, truth, tolerance, "a probability of order 3");
                assert_true(one > 0 && two > 0 && three > 0);
                sum_one += one;
                sum_two += two;
                sum += three;
            }
            check_near(sum, 1, 1e-12, "the sum of order 3");
            check_near(sum_two, 1, 1e-12, "the sum of order 2");
            check_near(sum_one, 1, 1e-12, "the sum of order 1");
        }
}

static tem_model *line_model(void) {
    static const float values[WORDS] = {0, 1, 1.5, 3};
    static const char *const names[WORDS] = {"w0", "w1", "w2", "w3"};
    return small_model(names, values, WORDS, 1, TEM_EUCLIDEAN, WORDS);
}

static tem_ngram *train(const tem_model *model, uint32_t order) {
    const char *const paths[] = {path};
    tem_ngram *g = NULL;
    assert_int_equal(tem_ngram_train(model, paths, 1, order, NULL, &g, NULL), TEM_OK);
    return g;
}

static void test_kneser_ney(void **state) {
    (void)state;
    tem_model *model = line_model();
    for (uint32_t trial = 0; trial < 40; trial++) {
        const uint32_t order = 2 + trial % 2;
        oracle *o = random_text(order, 3 + (int)trial);
        tem_ngram *g = train(model, order);
        check_ngram(g, o, 1e-13);
        tem_ngram_free(g);
        free(o);
    }
    tem_model_free(model);
}

/* Two files are one text; lines are documents of their own; the info counts all. */
static void test_training_info(void **state) {
    (void)state;
    tem_model *model = line_model();
    const char *const paths[] = {path, path};
    tem_ngram *g = NULL;
    tem_ngram_info info;
    write_text("w0 w1\n\n w1 nobody w1\n");
    assert_int_equal(tem_ngram_train(model, paths, 2, 0, NULL, &g, NULL), TEM_OK);
    tem_ngram_get_info(g, &info);
    assert_true(info.order == 3 && info.documents == 4 && info.words == 10 && info.unknown == 2);
    assert_int_equal(info.bigrams, 6); /* ^0 01 1$ ^1 1? ?1 */
    assert_int_equal(info.trigrams, 5);
    tem_ngram_free(g);
    tem_model_free(model);
}

static void test_arpa_round_trip(void **state) {
    (void)state;
    tem_model *model = line_model();
    for (uint32_t order = 2; order <= 3; order++) {
        oracle *o = random_text(order, 30);
        tem_ngram *g = train(model, order), *again = NULL;
        tem_ngram_info info, info_again;
        assert_int_equal(tem_ngram_save(g, other_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
        assert_int_equal(tem_ngram_load(model, other_path, NULL, &again, NULL), TEM_OK);
        check_ngram(again, o, 1e-6);
        tem_ngram_get_info(g, &info);
        tem_ngram_get_info(again, &info_again);
        assert_true(info.order == info_again.order && info.bigrams == info_again.bigrams &&
                    info.trigrams == info_again.trigrams);
        tem_ngram_free(again);
        tem_ngram_free(g);
        free(o);
    }
    tem_model_free(model);
}

static const char foreign[] = "some program wrote this\n\\data\\\nngram 1=6\nngram 2=4\n\n"
                              "\\1-grams:\n-99 <s> -0.3\n-0.7 w0 -0.2\n-0.7\tw1\n-1 </s>\n"
                              "-0.4 stranger -0.1\n-1 <unk>\n\n\\2-grams:\n-0.2 <s> w1\n"
                              "-0.3 w1 w0\n-0.6 w1 stranger\n-0.1 stranger w0\n\n\\end\\\n";

/* n-grams with words that the model does not have are left out, and sums are still 1. */
static void test_foreign_arpa(void **state) {
    (void)state;
    tem_model *model = line_model();
    tem_ngram *g = NULL;
    tem_ngram_info info;
    write_text(foreign);
    assert_int_equal(tem_ngram_load(model, path, NULL, &g, NULL), TEM_OK);
    tem_ngram_get_info(g, &info);
    assert_true(info.order == 2 && info.bigrams == 2 && info.outside == 1);
    for (int v = 0; v < SYMBOLS; v++) {
        double sum = 0;
        const uint32_t history[] = {id_of(v)};
        for (int w = 0; w < SYMBOLS; w++)
            sum += tem_ngram_probability(g, history, 1, id_of(w));
        check_near(sum, 1, 1e-12, "the sum");
    }
    const double total = 2 * pow(10, -0.7) + 0.1 + pow(10, -0.4) + 0.1;
    check_near(tem_ngram_probability(g, NULL, 0, 0), pow(10, -0.7) / total, 1e-12, "a word");
    check_near(tem_ngram_probability(g, NULL, 0, TEM_NO_WORD), (pow(10, -0.4) + 0.1) / total / 3,
               1e-12, "the unknown word shares with w2 and w3");
    const uint32_t history[] = {1};
    check_near(tem_ngram_probability(g, history, 1, 0), pow(10, -0.3), 1e-12, "a bigram");
    tem_ngram_free(g);
    tem_model_free(model);
}

/* Replaces the first `from` in the foreign file, and says with which status it is refused. */
static void check_refused(const tem_model *model, const char *from, const char *to) {
    char text[sizeof foreign + 64];
    tem_ngram *g = NULL;
    tem_error error;
    const char *at = strstr(foreign, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - foreign), foreign, to, at + strlen(from));
    write_text(text);
    assert_int_equal(tem_ngram_load(model, path, NULL, &g, &error), TEM_ERR_FORMAT);
    assert_true(g == NULL && error.message[0] != '\0' && strstr(error.message, "w0") == NULL);
    assert_string_equal(error.file, path);
}

static void test_refused_arpa(void **state) {
    (void)state;
    tem_model *model = line_model();
    static const char *const changes[][2] = {
        {"\\data\\", "data"},
        {"ngram 1=6", "ngram 1=7"},
        {"ngram 1=6", "ngram 1=5"},
        {"ngram 2=4", "ngram 2=5"},
        {"ngram 2=4", "ngram 2=3"},
        {"ngram 2=4", "ngram 2=4000000000000000000000"},
        {"ngram 2=4", "ngram 2=4000000000"},
        {"ngram 2=4\n", ""},
        {"ngram 2=4", "ngram 3=4"},
        {"ngram 2=4\n", "ngram 2=4\nngram 3=0\nngram 4=0\n"},
        {"-0.3 w1 w0", "0.3 w1 w0"},
        {"-0.3 w1 w0", "nan w1 w0"},
        {"-0.3 w1 w0", "x w1 w0"},
        {"-0.3 w1 w0", "-0.3 w1"},
        {"-0.3 w1 w0", "-0.3 w1 w0 x"},
        {"-0.3 w1 w0", "-0.3 w1 w0 -1 -1"},
        {"-0.6 w1 stranger", "-0.4 w1 w0"},
        {"-0.6 w1 stranger", "-0.1 w1 w2"},
        {"-0.7\tw1", "-0.7 w0"},
        {"\\2-grams:", "\\3-grams:"},
        {"\n\\end\\\n", ""},
        {"\\end\\", "\\end"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        check_refused(model, changes[i][0], changes[i][1]);
    for (size_t bytes = 0; bytes + 7 < sizeof foreign; bytes++) { /* cut short anywhere */
        tem_ngram *g = NULL;
        write_bytes(path, foreign, bytes);
        assert_int_equal(tem_ngram_load(model, path, NULL, &g, NULL), TEM_ERR_FORMAT);
    }
    tem_ngram *g = NULL;
    write_text("\\data\\\nngram 1=2\nngram 2=1\nngram 3=1\n\\1-grams:\n-1 w0\n-1 w1\n"
               "\\2-grams:\n-1 w0 w1\n\\3-grams:\n-1 w1 w0 w1\n\\end\\\n");
    assert_int_equal(tem_ngram_load(model, path, NULL, &g, NULL), TEM_ERR_FORMAT);
    write_text("\\data\\\nngram 1=1\nngram 2=0\n\\1-grams:\n-1 x\n\\2-grams:\n\\end\\\n");
    assert_int_equal(tem_ngram_load(model, path, NULL, &g, NULL), TEM_ERR_FORMAT);
    tem_model_free(model);
}

/* ------------------------------------------------------------ attackers -- */

/* A small channel with an n-gram model and an attack. */
typedef struct scene {
    small_channel s;
    tem_ngram *g;
    tem_attack *attack;
    double unknown;
} scene;

static scene make_scene(uint32_t order, double unknown, uint32_t beam) {
    scene c = {.s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 1.5}),
               .unknown = unknown};
    free(random_text(order, 60));
    c.g = train(c.s.model, order);
    const tem_attack_options options = {
        .expected = expect_unknown(&c.s, unknown), .ngram = c.g, .beam = beam};
    assert_int_equal(tem_attack_create(c.s.mechanism, &options, NULL, &c.attack, NULL), TEM_OK);
    return c;
}

static void free_scene(scene *c) {
    tem_attack_free(c->attack);
    tem_ngram_free(c->g);
    small_channel_free(&c->s);
}

/* P(y | w) by the law, for a state w; y TEM_NO_WORD shows that the state is the unknown word. */
static double likelihood(const scene *c, int w, uint32_t y) {
    if (y == TEM_NO_WORD)
        return w == UNKNOWN;
    return w == UNKNOWN && c->unknown <= 0 ? 0 : c->s.law[(size_t)w * WORDS + y];
}

static double chance_of(const scene *c, const int *words, int length, const uint32_t *released,
                        uint32_t order) {
    double p = 1;
    int u = EDGE, v = EDGE;
    for (int t = 0; t <= length; t++) {
        const int w = t == length ? EDGE : words[t];
        const uint32_t history[] = {id_of(u), id_of(v)};
        p *= tem_ngram_probability(c->g, order == 2 || t == 0 ? history + 1 : history,
                                   order == 2 || t == 0 ? 1 : 2, id_of(w));
        p *= t < length ? likelihood(c, w, released[t]) : 1;
        u = v;
        v = w;
    }
    return p;
}

/* The probability of each state at each position, by all sequences of the allowed states. */
static void brute_force(const scene *c, const uint32_t *released, int length, uint32_t order,
                        const bool (*allowed)[WORDS + 1], double (*out)[WORDS + 1]) {
    int words[LENGTH_MAX] = {0};
    double sum = 0;
    memset(out, 0, LENGTH_MAX * sizeof *out);
    for (bool more = true; more;) {
        bool counts = true;
        for (int t = 0; t < length && allowed != NULL; t++)
            counts &= allowed[t][words[t]];
        const double p = counts ? chance_of(c, words, length, released, order) : 0;
        sum += p;
        for (int t = 0; t < length; t++)
            out[t][words[t]] += p;
        int t = 0;
        while (t < length && ++words[t] > WORDS)
            words[t++] = 0;
        more = t < length;
    }
    for (int t = 0; t < length; t++)
        for (int w = 0; w <= WORDS; w++)
            out[t][w] /= sum;
}

static void random_released(uint32_t *released, int length) {
    for (int t = 0; t < length; t++)
        released[t] = random_below(8) == 0 ? TEM_NO_WORD : (uint32_t)random_below(WORDS);
}

typedef struct marginals {
    double found[LENGTH_MAX][WORDS + 1];
} marginals;

static void keep_marginal(void *context, size_t position, const double *probabilities,
                          const double *likelihoods) {
    marginals *m = context;
    (void)likelihoods;
    memcpy(m->found[position], probabilities, sizeof m->found[position]);
}

static void check_relative(double found, double truth, const char *what) {
    check_near(found, truth, 1e-12 * truth + 1e-300, what);
}

/* All marginals of order 2, for blocks of every length. */
static void test_forward_backward(void **state) {
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        scene c = make_scene(2, trial % 3 == 0 ? 0 : 0.2, 0);
        const int length = 1 + trial % LENGTH_MAX;
        uint32_t released[LENGTH_MAX];
        double truth[LENGTH_MAX][WORDS + 1];
        marginals m;
        random_released(released, length);
        brute_force(&c, released, length, 2, NULL, truth);
        for (uint32_t block = 1; block <= LENGTH_MAX + 1; block++) {
            const sequence s = {.g = c.g,
                                .emission = c.attack->emission,
                                .draws_unknown = c.unknown > 0,
                                .block = block};
            memset(&m, 0xff, sizeof m);
            assert_int_equal(sequence_two(&s, released, (size_t)length, keep_marginal, &m, NULL),
                             TEM_OK);
            for (int t = 0; t < length; t++)
                for (int w = 0; w <= WORDS; w++)
                    check_relative(m.found[t][w], truth[t][w], "a marginal");
        }
        free_scene(&c);
    }
}

static int best_of(const double *probabilities) {
    int best = 0;
    for (int w = 1; w < WORDS; w++)
        best = probabilities[w] > probabilities[best] ? w : best;
    return best;
}

static void check_guess(const double *truth, uint32_t y, uint32_t guess, double success,
                        double covered) {
    if (y == TEM_NO_WORD) {
        assert_true(guess == TEM_NO_WORD && success <= 0);
        return;
    }
    assert_int_equal(guess, best_of(truth));
    check_relative(success, covered * truth[best_of(truth)], "the success that is expected");
}

static void guess_one(const scene *c, tem_attacker attacker, const uint32_t *released, int length,
                      uint32_t *guesses, double *success) {
    const uint64_t ends[] = {(uint64_t)length};
    const tem_documents d = {.words = released, .ends = ends, .count = 1};
    assert_int_equal(tem_attack_guess(c->attack, attacker, &d, NULL, guesses, success, NULL),
                     TEM_OK);
}

/* Guesses of both orders; the beam has all words. */
static void test_guesses(void **state) {
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        scene c = make_scene(3, trial % 3 == 0 ? 0 : 0.2, 1000);
        const int length = 1 + trial % LENGTH_MAX;
        uint32_t released[LENGTH_MAX], guesses[LENGTH_MAX];
        double truth[LENGTH_MAX][WORDS + 1], success[LENGTH_MAX];
        random_released(released, length);
        for (uint32_t order = 2; order <= 3; order++) {
            brute_force(&c, released, length, order, NULL, truth);
            guess_one(&c, order == 2 ? TEM_ATTACKER_BIGRAM : TEM_ATTACKER_TRIGRAM, released, length,
                      guesses, success);
            for (int t = 0; t < length; t++)
                check_guess(truth[t], released[t], guesses[t], success[t], 1);
        }
        free_scene(&c);
    }
}

/* Within a narrow beam order 3 is exact among the likeliest words by order 2. */
static void test_beam(void **state) {
    (void)state;
    enum { BEAM = 3 };
    for (int trial = 0; trial < 40; trial++) {
        scene c = make_scene(3, 0.2, BEAM);
        uint32_t released[LENGTH_MAX], guesses[LENGTH_MAX];
        double two[LENGTH_MAX][WORDS + 1], truth[LENGTH_MAX][WORDS + 1], success[LENGTH_MAX];
        bool allowed[LENGTH_MAX][WORDS + 1] = {{false}};
        double covered[LENGTH_MAX] = {0};
        for (int t = 0; t < LENGTH_MAX; t++)
            released[t] = (uint32_t)random_below(WORDS);
        brute_force(&c, released, LENGTH_MAX, 2, NULL, two);
        for (int t = 0; t < LENGTH_MAX; t++)
            for (int w = 0; w <= WORDS; w++) {
                int larger = 0;
                for (int x = 0; x <= WORDS; x++)
                    larger += two[t][x] > two[t][w];
                allowed[t][w] = larger < BEAM;
                covered[t] += allowed[t][w] ? two[t][w] : 0;
            }
        brute_force(&c, released, LENGTH_MAX, 3, (const bool(*)[WORDS + 1]) allowed, truth);
        guess_one(&c, TEM_ATTACKER_TRIGRAM, released, LENGTH_MAX, guesses, success);
        for (int t = 0; t < LENGTH_MAX; t++)
            check_guess(truth[t], released[t], guesses[t], success[t], covered[t]);
        free_scene(&c);
    }
}

static void test_top(void **state) {
    (void)state;
    enum { STATES = 50 };
    double p[STATES];
    uint32_t ids[STATES];
    for (uint32_t i = 0; i < STATES; i++)
        p[i] = (double)random_below(20);
    for (uint32_t count = 1; count <= STATES; count++) {
        sequence_top(p, STATES, count, ids);
        for (uint32_t k = 0; k + 1 < count; k++)
            assert_true(p[ids[k]] > p[ids[k + 1]] ||
                        (p[ids[k]] >= p[ids[k + 1]] && ids[k] < ids[k + 1]));
        uint32_t larger = 0;
        for (uint32_t i = 0; i < STATES; i++)
            larger += p[i] > p[ids[count - 1]];
        assert_true(larger < count);
    }
}

/* Without context: the released word, the nearest other word, and the best guess by the law. */
static void test_word_attackers(void **state) {
    (void)state;
    scene c = make_scene(2, 0.1, 0);
    uint32_t released[WORDS], guesses[WORDS], ids[WORDS];
    double success[WORDS], shares[WORDS + 1], found[WORDS + 1], likely[WORDS], posterior[WORDS];
    expected_shares(&c.s, 0.1, shares);
    assert_int_equal(tem_attack_shares(c.attack, found, NULL), TEM_OK);
    for (uint32_t y = 0; y < WORDS; y++)
        released[y] = y;
    for (int w = 0; w <= WORDS; w++)
        check_near(found[w], shares[w], 0, "a share");
    guess_one(&c, TEM_ATTACKER_ITSELF, released, WORDS, guesses, success);
    for (uint32_t y = 0; y < WORDS; y++)
        assert_true(guesses[y] == y && isnan(success[y]));
    guess_one(&c, TEM_ATTACKER_NEAREST, released, WORDS, guesses, success);
    for (uint32_t y = 0; y < WORDS; y++)
        for (uint32_t w = 0; w < WORDS; w++)
            assert_true(w == y ||
                        (guesses[y] != y && tem_model_distance(c.s.model, y, guesses[y]) <=
                                                tem_model_distance(c.s.model, y, w)));
    guess_one(&c, TEM_ATTACKER_WORD, released, WORDS, guesses, success);
    for (uint32_t y = 0; y < WORDS; y++) {
        double truth[WORDS + 1], sum = 0;
        for (int w = 0; w <= WORDS; w++)
            sum += truth[w] = shares[w] * likelihood(&c, w, y);
        for (int w = 0; w <= WORDS; w++)
            truth[w] /= sum;
        check_guess(truth, y, guesses[y], success[y], 1);
        assert_int_equal(tem_attack_candidates(c.attack, y, WORDS, ids, likely, posterior, NULL),
                         TEM_OK);
        for (uint32_t k = 0; k < WORDS; k++) {
            check_relative(likely[k], likelihood(&c, (int)ids[k], y), "a likelihood");
            check_relative(posterior[k], truth[ids[k]], "a posterior");
            assert_true(k == 0 || posterior[k] <= posterior[k - 1]);
        }
    }
    free_scene(&c);
}

/* Documents are attacked as if each were alone, on any number of threads. */
static void test_documents_are_separate(void **state) {
    (void)state;
    enum { DOCUMENTS = 9 };
    scene c = make_scene(3, 0.1, 4);
    uint32_t released[DOCUMENTS * LENGTH_MAX], all[DOCUMENTS * LENGTH_MAX], one[LENGTH_MAX];
    double success[DOCUMENTS * LENGTH_MAX], alone[LENGTH_MAX];
    uint64_t ends[DOCUMENTS];
    for (uint64_t d = 0, at = 0; d < DOCUMENTS; d++)
        ends[d] = at += d % (LENGTH_MAX + 1); /* the first one is empty */
    random_released(released, (int)ends[DOCUMENTS - 1]);
    const tem_documents d = {.words = released, .ends = ends, .count = DOCUMENTS};
    for (int kind = TEM_ATTACKER_WORD; kind <= TEM_ATTACKER_TRIGRAM; kind++)
        for (unsigned threads = 1; threads <= 3; threads++) {
            const tem_run run = {.threads = threads};
            assert_int_equal(
                tem_attack_guess(c.attack, (tem_attacker)kind, &d, &run, all, success, NULL),
                TEM_OK);
            for (int i = 1; i < DOCUMENTS; i++) {
                const int length = (int)(ends[i] - ends[i - 1]);
                guess_one(&c, (tem_attacker)kind, released + ends[i - 1], length, one, alone);
                assert_memory_equal(one, all + ends[i - 1], (size_t)length * sizeof *one);
                assert_memory_equal(alone, success + ends[i - 1], (size_t)length * sizeof *alone);
            }
        }
    free_scene(&c);
}

/* ----------------------------------------------------------- likelihoods -- */

/* The columns of likelihoods add up to rows of 1. */
static void check_columns(const emission *e, const small_channel *s, double tolerance) {
    emission_room room;
    double column[WORDS + 1], sums[WORDS + 1] = {0};
    assert_true(emission_room_init(&room, e));
    for (uint32_t y = 0; y < WORDS; y++) {
        emission_likelihoods(e, &room, y, column);
        for (int w = 0; w <= WORDS; w++) {
            check_near(column[w], s->law[(size_t)w * WORDS + y], tolerance, "a likelihood");
            sums[w] += column[w];
        }
    }
    for (int w = 0; w <= WORDS; w++)
        check_near(sums[w], 1, 1e-6, "the sum of a law");
    emission_room_free(&room);
}

static tem_status row_of(const void *context, uint32_t word, double *probabilities,
                         tem_error *error) {
    const small_channel *s = context;
    (void)error;
    memcpy(probabilities, s->law + (size_t)(word == TEM_NO_WORD ? WORDS : word) * WORDS,
           WORDS * sizeof *probabilities);
    return TEM_OK;
}

static void test_likelihoods(void **state) {
    (void)state;
    enum { PAIRS = 400000 };
    small_channel s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 1.5});
    double shares[WORDS + 1];
    emission *e = NULL;
    expected_shares(&s, 0.1, shares);
    assert_int_equal(emission_create(s.mechanism, shares, 1, NULL, &e, NULL), TEM_OK);
    check_columns(e, &s, 1e-12);
    emission_free(e);
    assert_int_equal(emission_by_rows(s.model, row_of, &s, shares, NULL, &e, NULL), TEM_OK);
    check_columns(e, &s, 1e-7);
    emission_free(e);
    /* Each input has more than a tenth of the pairs: five deviations are 5 sqrt(0.25 / 40,000). The
     * pairs are the same in each run. */
    assert_int_equal(emission_by_drawing(s.mechanism, shares, PAIRS, NULL, &e, NULL), TEM_OK);
    check_columns(e, &s, 0.0125);
    emission_free(e);
    small_channel_free(&s);
}

/* The likelihoods of a mechanism are those of its rows, to more digits than pairs keep. */
static void check_against_rows(const tem_model *model, tem_mechanism_options options) {
    options.allow_no_guarantee = 1;
    tem_mechanism *m = mechanism_of(model, options);
    double shares[WORDS + 1] = {[0] = 1}, row[WORDS], column[WORDS + 1];
    emission *e = NULL;
    emission_room room;
    assert_int_equal(emission_create(m, shares, 1, NULL, &e, NULL), TEM_OK);
    assert_true(emission_room_init(&room, e));
    for (uint32_t w = 0; w <= WORDS; w++) {
        assert_int_equal(mechanism_row(m, w == WORDS ? TEM_NO_WORD : w, row, NULL), TEM_OK);
        for (uint32_t y = 0; y < WORDS; y++) {
            emission_likelihoods(e, &room, y, column);
            check_near(column[w], row[y], 1e-12, "a likelihood");
        }
    }
    emission_room_free(&room);
    emission_free(e);
    tem_mechanism_free(m);
}

static void test_likelihoods_by_columns(void **state) {
    (void)state;
    tem_model *model = line_model();
    check_against_rows(model, (tem_mechanism_options){.mechanism = "diffractor", .epsilon = 0.3});
    tem_model_free(model);
}

/* Distances that are no roots of squares. */
static void test_likelihoods_of_angles(void **state) {
    (void)state;
    static const float values[2 * WORDS] = {1, 0, 1, 1, 0, 2, -1, 0.5F};
    static const char *const names[WORDS] = {"w0", "w1", "w2", "w3"};
    tem_model *model = small_model(names, values, WORDS, 2, TEM_ANGULAR, WORDS);
    check_against_rows(model, (tem_mechanism_options){.epsilon = 2});
    tem_model_free(model);
}

/* Who learns a mechanism knows the words that it never draws. */
static void test_learned_exclusions(void **state) {
    (void)state;
    tem_model *model = line_model();
    const char *const excluded[] = {"w1"};
    assert_int_equal(model_exclude(model, excluded, 1, NULL), TEM_OK);
    tem_mechanism *m =
        mechanism_of(model, (tem_mechanism_options){.mechanism = "madlib", .epsilon = 6});
    const double shares[WORDS + 1] = {0.25, 0.25, 0.25, 0.25};
    emission *e = NULL;
    assert_int_equal(emission_create(m, shares, 1000, NULL, &e, NULL), TEM_OK);
    for (uint32_t y = 0; y < WORDS; y++)
        assert_int_equal(emission_has(e, y), y != 1);
    emission_free(e);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* Madlib has no law: the attack learns from pairs, the same for any number of threads. */
static void test_mechanism_without_law(void **state) {
    (void)state;
    small_channel s = small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 1.5});
    tem_mechanism *noise =
        mechanism_of(s.model, (tem_mechanism_options){.mechanism = "madlib", .epsilon = 6});
    const tem_attack_options options = {.expected = expect_unknown(&s, 0), .pairs = 5000};
    uint32_t released[WORDS], guesses[2][WORDS];
    double success[2][WORDS];
    const uint64_t ends[] = {WORDS};
    for (uint32_t y = 0; y < WORDS; y++)
        released[y] = y;
    const tem_documents d = {.words = released, .ends = ends, .count = 1};
    for (unsigned i = 0; i < 2; i++) {
        const tem_run run = {.threads = 1 + 2 * i};
        tem_attack *attack = NULL;
        assert_int_equal(tem_attack_create(noise, &options, &run, &attack, NULL), TEM_OK);
        assert_int_equal(
            tem_attack_guess(attack, TEM_ATTACKER_WORD, &d, &run, guesses[i], success[i], NULL),
            TEM_OK);
        tem_attack_free(attack);
    }
    assert_memory_equal(guesses[0], guesses[1], sizeof guesses[0]);
    assert_memory_equal(success[0], success[1], sizeof success[0]);
    tem_mechanism_free(noise);
    small_channel_free(&s);
}

/* A program that tem does not have gives out the next word for every word, and the first word for
 * unknown words: whoever has seen its pairs recovers all words. It also gives out an excluded word,
 * which no mechanism of tem does. */
static void test_attack_from_pairs(void **state) {
    (void)state;
    enum { PAIRS = 200 };
    tem_model *model = line_model();
    const char *const excluded[] = {"w1"};
    assert_int_equal(model_exclude(model, excluded, 1, NULL), TEM_OK);
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(model, 1, &prior, NULL), TEM_OK);
    uint32_t words[PAIRS], outputs[PAIRS], guesses[3];
    for (uint32_t i = 0; i < PAIRS; i++) {
        words[i] = i % WORDS == WORDS - 1 ? TEM_NO_WORD : i % WORDS;
        outputs[i] = i % WORDS == WORDS - 1 ? 0 : i % WORDS + 1;
    }
    const tem_attack_options options = {.expected = {.prior = prior, .unknown = 0.1}};
    const uint32_t released[] = {1, 2, 3};
    const uint64_t ends[] = {3};
    const tem_documents d = {.words = released, .ends = ends, .count = 1};
    tem_attack *attack = NULL;
    assert_int_equal(
        tem_attack_create_from_pairs(model, words, outputs, PAIRS, &options, NULL, &attack, NULL),
        TEM_OK);
    assert_int_equal(tem_attack_guess(attack, TEM_ATTACKER_WORD, &d, NULL, guesses, NULL, NULL),
                     TEM_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(guesses[i], released[i] - 1);
    tem_attack_free(attack);
    /* One pair of an unknown word: no distance is known, and every input is possible. */
    assert_int_equal(tem_attack_create_from_pairs(model, words + 3, outputs + 3, 1, &options, NULL,
                                                  &attack, NULL),
                     TEM_OK);
    assert_int_equal(tem_attack_guess(attack, TEM_ATTACKER_WORD, &d, NULL, guesses, NULL, NULL),
                     TEM_OK);
    tem_attack_free(attack);
    tem_prior_free(prior);
    tem_model_free(model);
}

/* -------------------------------------------------------------- interval -- */

/* The ends are the shares p from which the found share is 1.96 deviations away. */
static void test_wilson(void **state) {
    (void)state;
    static const double z = 1.959963984540054;
    double low = 7, high = 7;
    for (uint64_t n = 1; n < 60; n += 7)
        for (uint64_t k = 0; k <= n; k++) {
            const double share = (double)k / (double)n;
            assert_int_equal(tem_wilson_interval(k, n, &low, &high, NULL), TEM_OK);
            assert_true(low >= 0 && low <= share && share <= high && high <= 1);
            if (k > 0)
                check_near(share - low, z * sqrt(low * (1 - low) / (double)n), 1e-12, "low");
            if (k < n)
                check_near(high - share, z * sqrt(high * (1 - high) / (double)n), 1e-12, "high");
        }
    assert_int_equal(tem_wilson_interval(8, 10, &low, &high, NULL), TEM_OK);
    check_near(low, 0.4901625, 1e-7, "low"); /* 8 of 10 in tables */
    check_near(high, 0.9433178, 1e-7, "high");
    assert_int_equal(tem_wilson_interval(0, 0, &low, &high, NULL), TEM_OK);
    assert_true(low <= 0 && high >= 1);
}

/* -------------------------------------------------------------- choosing -- */

static void test_choose(void **state) {
    (void)state;
    enum { DOCUMENTS = 60 };
    scene c = make_scene(2, 0.1, 0);
    uint32_t words[DOCUMENTS * LENGTH_MAX];
    uint64_t ends[DOCUMENTS];
    for (uint64_t d = 0; d < DOCUMENTS; d++)
        ends[d] = (d + 1) * LENGTH_MAX;
    for (size_t i = 0; i < DOCUMENTS * LENGTH_MAX; i++)
        words[i] = random_below(20) == 0 ? TEM_NO_WORD : (uint32_t)random_below(WORDS);
    const tem_context_wish wish = {.wanted = 0.5,
                                   .attack = {.expected = expect_unknown(&c.s, 0.1), .ngram = c.g},
                                   .documents = {.words = words, .ends = ends, .count = DOCUMENTS},
                                   .seed = 3};
    tem_context_answer a;
    assert_int_equal(tem_attack_choose(c.s.model, &wish, NULL, &a, NULL), TEM_OK);
    assert_true(a.share <= 0.5 && a.share > 0.4 && a.low < a.share && a.share < a.high);
    /* The same draws, and the same attack, by hand. */
    tem_mechanism *m = mechanism_of(c.s.model, (tem_mechanism_options){.epsilon = a.epsilon});
    tem_attack *attack = NULL;
    uint32_t released[DOCUMENTS * LENGTH_MAX], guesses[DOCUMENTS * LENGTH_MAX];
    uint64_t known = 0, recovered = 0;
    assert_int_equal(tem_attack_create(m, &wish.attack, NULL, &attack, NULL), TEM_OK);
    for (uint64_t d = 0; d < DOCUMENTS; d++) {
        tem_rng *rng = NULL;
        const size_t first = d * LENGTH_MAX;
        assert_int_equal(tem_rng_create_insecure(3, d, &rng, NULL), TEM_OK);
        assert_int_equal(
            tem_mechanism_draw_many(m, rng, words + first, released + first, LENGTH_MAX, NULL),
            TEM_OK);
        tem_rng_free(rng);
    }
    const tem_documents d = {.words = released, .ends = ends, .count = DOCUMENTS};
    assert_int_equal(tem_attack_guess(attack, TEM_ATTACKER_BIGRAM, &d, NULL, guesses, NULL, NULL),
                     TEM_OK);
    for (size_t i = 0; i < DOCUMENTS * LENGTH_MAX; i++) {
        known += words[i] != TEM_NO_WORD;
        recovered += words[i] != TEM_NO_WORD && guesses[i] == words[i];
    }
    assert_true(known == a.words && recovered == a.recovered);
    tem_context_wish far = wish;
    far.wanted = 0.0001;
    assert_int_equal(tem_attack_choose(c.s.model, &far, NULL, &a, NULL), TEM_ERR_RANGE);
    tem_attack_free(attack);
    tem_mechanism_free(m);
    free_scene(&c);
}

/* -------------------------------------------------------------- refusals -- */

static void test_attack_refusals(void **state) {
    (void)state;
    scene c = make_scene(2, 0.1, 0);
    tem_model *other = line_model();
    const tem_attack_options options = {.expected = expect_unknown(&c.s, 0.1), .ngram = c.g};
    tem_mechanism *foreign_mechanism = mechanism_of(other, (tem_mechanism_options){.epsilon = 1});
    tem_attack *attack = NULL, *without = NULL;
    uint32_t words[] = {0, 1}, guesses[] = {77, 77};
    uint64_t ends[] = {1, 2};
    tem_documents d = {.words = words, .ends = ends, .count = 2};
    assert_int_equal(tem_attack_create(foreign_mechanism, &options, NULL, &attack, NULL),
                     TEM_ERR_ARGUMENT);
    const tem_attack_options bare = {.expected = expect_unknown(&c.s, 0.1)};
    assert_int_equal(tem_attack_create(c.s.mechanism, &bare, NULL, &without, NULL), TEM_OK);
    assert_int_equal(tem_attack_guess(without, TEM_ATTACKER_BIGRAM, &d, NULL, guesses, NULL, NULL),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(
        tem_attack_guess(c.attack, TEM_ATTACKER_TRIGRAM, &d, NULL, guesses, NULL, NULL),
        TEM_ERR_ARGUMENT);
    words[1] = WORDS;
    assert_int_equal(tem_attack_guess(c.attack, TEM_ATTACKER_WORD, &d, NULL, guesses, NULL, NULL),
                     TEM_ERR_ARGUMENT);
    words[1] = 1;
    ends[0] = 3;
    assert_int_equal(tem_attack_guess(c.attack, TEM_ATTACKER_WORD, &d, NULL, guesses, NULL, NULL),
                     TEM_ERR_ARGUMENT);
    assert_true(attack == NULL && guesses[0] == 77 && guesses[1] == 77);
    tem_attack_free(without);
    tem_mechanism_free(foreign_mechanism);
    tem_model_free(other);
    free_scene(&c);
}

/* A word that the mechanism never outputs. */
static void test_foreign_output(void **state) {
    (void)state;
    static const uint32_t numbers[WORDS] = {1, 0, 1, 1};
    small_channel s =
        small_channel_make(WORDS, (tem_mechanism_options){.epsilon = 1.5, .weights = numbers});
    const tem_attack_options options = {.expected = expect_unknown(&s, 0)};
    const uint32_t words[] = {0, 1};
    const uint64_t ends[] = {2};
    const tem_documents d = {.words = words, .ends = ends, .count = 1};
    uint32_t guesses[2];
    tem_attack *attack = NULL;
    assert_int_equal(tem_attack_create(s.mechanism, &options, NULL, &attack, NULL), TEM_OK);
    assert_int_equal(tem_attack_guess(attack, TEM_ATTACKER_WORD, &d, NULL, guesses, NULL, NULL),
                     TEM_ERR_FORMAT);
    tem_attack_free(attack);
    small_channel_free(&s);
}

static void test_cancelled(void **state) {
    (void)state;
    scene c = make_scene(3, 0.1, 4);
    const tem_run run = {.progress = stop_at_once, .threads = 1};
    const char *const paths[] = {path};
    const uint32_t words[] = {0, 1};
    const uint64_t ends[] = {1, 2};
    const tem_documents d = {.words = words, .ends = ends, .count = 2};
    uint32_t guesses[] = {77, 77};
    tem_ngram *g = NULL;
    tem_attack *attack = NULL;
    const tem_attack_options options = {.expected = expect_unknown(&c.s, 0.1), .ngram = c.g};
    for (int kind = TEM_ATTACKER_ITSELF; kind <= TEM_ATTACKER_TRIGRAM; kind++)
        assert_int_equal(
            tem_attack_guess(c.attack, (tem_attacker)kind, &d, &run, guesses, NULL, NULL),
            TEM_ERR_CANCELLED);
    assert_int_equal(tem_ngram_train(c.s.model, paths, 1, 3, &run, &g, NULL), TEM_ERR_CANCELLED);
    assert_int_equal(tem_ngram_save(c.g, other_path, TEM_OVERWRITE, &run, NULL), TEM_ERR_CANCELLED);
    assert_int_equal(tem_ngram_save(c.g, other_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_ngram_load(c.s.model, other_path, &run, &g, NULL), TEM_ERR_CANCELLED);
    assert_int_equal(tem_attack_create(c.s.mechanism, &options, &run, &attack, NULL),
                     TEM_ERR_CANCELLED);
    assert_true(g == NULL && attack == NULL && guesses[0] == 77 && guesses[1] == 77);
    free_scene(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kneser_ney),
        cmocka_unit_test(test_training_info),
        cmocka_unit_test(test_arpa_round_trip),
        cmocka_unit_test(test_foreign_arpa),
        cmocka_unit_test(test_refused_arpa),
        cmocka_unit_test(test_forward_backward),
        cmocka_unit_test(test_guesses),
        cmocka_unit_test(test_beam),
        cmocka_unit_test(test_top),
        cmocka_unit_test(test_word_attackers),
        cmocka_unit_test(test_documents_are_separate),
        cmocka_unit_test(test_likelihoods),
        cmocka_unit_test(test_likelihoods_by_columns),
        cmocka_unit_test(test_likelihoods_of_angles),
        cmocka_unit_test(test_learned_exclusions),
        cmocka_unit_test(test_mechanism_without_law),
        cmocka_unit_test(test_attack_from_pairs),
        cmocka_unit_test(test_wilson),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_attack_refusals),
        cmocka_unit_test(test_foreign_output),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, set_paths, remove_files);
}
