/* test_join.c - pieces of words come together again where whoever reads the text finds the same
 * pieces, and nowhere else. */
#include "job/replacer.h"
#include "model/vectors.h"
#include "pseudo.h"
#include "text/join.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array_language.h"
#include "small_model.h"

static vocab made;

static void make_vocab(const char *const *words, uint32_t count) {
    vocab_fault fault;
    word_span *spans = calloc(count, sizeof *spans);
    assert_non_null(spans);
    for (uint32_t i = 0; i < count; i++)
        spans[i] = (word_span){words[i], strlen(words[i])};
    assert_int_equal(vocab_make(spans, count, &made, &fault), TEM_OK);
    free(spans);
}

static text_pieces cutter(void) {
    text_pieces p;
    text_pieces_init(&p, replacer_find, &made);
    return p;
}

static void join(core_buffer *text, const char *words) {
    text_pieces p = cutter();
    text->size = 0;
    assert_true(core_buffer_add(text, "it s ", 5) && core_buffer_add(text, words, strlen(words)));
    assert_int_equal(join_words(&p, text, 5, NULL), TEM_OK);
    assert_memory_equal(text->data, "it s ", 5);
    text_pieces_free(&p);
}

static void expect(const char *words, const char *wanted) {
    core_buffer text = {0};
    join(&text, words);
    assert_int_equal(text.size, 5 + strlen(wanted));
    assert_memory_equal(text.data + 5, wanted, strlen(wanted));
    core_buffer_free(&text);
}

/* The pieces of the Penn Treebank. */
static void test_treebank(void **state) {
    (void)state;
    static const char *const words[] = {"i",  "do",  "it",  "n't",  "'s",     "'m",  "'re", "we",
                                        "ca", "can", "not", "film", "great",  "'ve", "is",  "isn't",
                                        "'d", "wo",  "'ll", "the",  "e-mail", "u.s", "that"};
    make_vocab(words, sizeof words / sizeof *words);
    expect("i do n't", "i don't");
    expect("i 'm", "i'm");
    expect("it 's great we 're it 's", "it's great we're it's");
    expect("ca n't can not", "can't can not");
    expect("is n't", "is n't");     /* "isn't" is a word of its own */
    expect("film n't", "film n't"); /* English has no such word */
    expect("the film 's great", "the film's great");
    expect("the 's n't 's", "the 's n't 's");
    expect("we 'd 've", "we'd 've"); /* one ending at most */
    expect("that 's 's film 's", "that's 's film's");
    expect("e-mail 's u.s 's", "e-mail 's u.s's"); /* "e-mail's" is cut at the hyphen first */
    expect("zz 's <unk> 's", "zz 's <unk> 's");    /* what is no word of the model stays */
    expect("'s", "'s");
    expect("", "");
    expect(" i  'm ", " i  'm ");
    expect("it s", "it s"); /* "s" is no word here */
    vocab_free(&made);
}

/* Runs of letters, as in the default model. */
static void test_runs(void **state) {
    (void)state;
    static const char *const words[] = {"i",  "don",     "it",   "t",  "s",    "m",    "re",
                                        "we", "ca",      "can",  "ve", "ll",   "film", "1990",
                                        "d",  "o'clock", "they", "wo", "we're"};
    make_vocab(words, sizeof words / sizeof *words);
    expect("i don t", "i don't");
    expect("i m it s can t", "i'm it's can't");
    expect("we ve we re we ll we d", "we've we re we'll we'd");
    expect("they re re they", "they're re they");
    expect("film s 1990 s", "film's 1990 s");
    expect("film t d s", "film t d s");
    expect("s s s", "s s s");
    expect("o'clock s", "o'clock s");
    vocab_free(&made);
}

/* ---- the same pieces ---- */

/* The word that ends at the next space, or at the end. */
static size_t length_of(const char *word) {
    return strcspn(word, " ");
}

static uint32_t id_of(const char *word) {
    return vocab_find(&made, word, length_of(word));
}

static void expect_pieces(text_pieces *reader, const char *text, size_t bytes, uint32_t first,
                          uint32_t second) {
    assert_int_equal(text_pieces_cut(reader, text, bytes, NULL), TEM_OK);
    assert_true(reader->count == 2 && reader->pieces[0].word && reader->pieces[1].word);
    assert_true(reader->pieces[0].id == first && reader->pieces[1].id == second);
}

/* Joins the words of a line, and compares: each word stays, or two of them that the vocabulary has
 * are one that reads back as these two. Returns how many were joined. */
static size_t check_line(text_pieces *p, text_pieces *reader, const char *line) {
    core_buffer text = {0};
    size_t joined = 0, pieces = 0;
    assert_true(core_buffer_add(&text, line, strlen(line)));
    assert_int_equal(join_words(p, &text, 0, NULL), TEM_OK);
    assert_true(core_buffer_add(&text, "", 1));
    for (const char *was = line, *is = text.data; *was != '\0' || *is != '\0';) {
        size_t bytes = length_of(is);
        if (bytes != length_of(was) || memcmp(is, was, bytes) != 0) {
            const char *second = was + length_of(was) + 1;
            assert_true(id_of(was) != TEM_NO_WORD && id_of(second) != TEM_NO_WORD);
            expect_pieces(reader, is, bytes, id_of(was), id_of(second));
            was = second;
            joined++;
        }
        assert_int_equal(text_pieces_cut(reader, is, bytes, NULL), TEM_OK);
        pieces += reader->count;
        was += length_of(was) + (was[length_of(was)] == ' ');
        is += bytes + (is[bytes] == ' ');
    }
    /* A word next to it changes nothing. */
    assert_int_equal(text_pieces_cut(reader, text.data, text.size - 1, NULL), TEM_OK);
    assert_int_equal(reader->count, pieces);
    core_buffer_free(&text);
    return joined;
}

static const char *const all_endings[] = {"n't", "t",   "'s", "s",   "'m", "m",  "'re",
                                          "re",  "'ve", "ve", "'ll", "ll", "'d", "d"};
enum { ENDINGS = sizeof all_endings / sizeof *all_endings };

/* A copy of word i, which ends in NUL. */
static char *word_of(const tem_vectors *vectors, uint32_t i) {
    size_t length = 0;
    const char *word = vocab_word(&vectors->words, i, &length);
    char *copy = calloc(length + 1, 1);
    assert_true(word != NULL && copy != NULL);
    memcpy(copy, word, length);
    return copy;
}

/* Each word of the default model before each ending: what is joined reads back as the same two
 * pieces, in the middle of a text, too. */
static void test_all_pairs(void **state) {
    (void)state;
    tem_vectors *vectors = NULL;
    const char *path = getenv("TEM_DEFAULT_VECTORS");
    assert_non_null(path);
    assert_int_equal(tem_vectors_load(path, 0, NULL, &vectors, NULL), TEM_OK);
    const uint32_t count = vectors->words.count;
    char **words = calloc(count, sizeof *words);
    assert_non_null(words);
    for (uint32_t i = 0; i < count; i++)
        words[i] = word_of(vectors, i);
    make_vocab((const char *const *)words, count);
    text_pieces p = cutter(), reader = cutter();
    size_t joined = 0, owners = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int e = 0; e < ENDINGS; e++) {
            char line[2 * TEM_WORD_BYTES_MAX];
            snprintf(line, sizeof line, "%s %s the", words[i], all_endings[e]);
            const size_t found = check_line(&p, &reader, line);
            joined += found;
            owners += strcmp(all_endings[e], "s") == 0 ? found : 0;
        }
    assert_true(owners > 30000 && joined >= owners + 50);
    text_pieces_free(&p);
    text_pieces_free(&reader);
    vocab_free(&made);
    for (uint32_t i = 0; i < count; i++)
        free(words[i]);
    free(words);
    tem_vectors_free(vectors);
}

/* Random lines of unusual words and of endings, in vocabularies that have some of them. */
static void test_random(void **state) {
    (void)state;
    static const char *const words[] = {
        "i",      "it",   "we",     "do",    "don",    "can",    "ca",        "film",
        "that",   "t",    "s",      "m",     "re",     "ve",     "ll",        "d",
        "n't",    "'s",   "'m",     "'re",   "'ve",    "'ll",    "'d",        "i'm",
        "don't",  "it's", "'",      "-",     "e-m",    "it-s",   "u.s",       "\u00e9t\u00e9",
        "\u01c6", "1",    "\u200d", "<unk>", "\u3042", "film's", "\U0001f600"};
    enum { WORDS = sizeof words / sizeof *words };
    size_t joined = 0;
    for (int round = 0; round < 400; round++) {
        const char *some[WORDS];
        uint32_t count = 0;
        for (int i = 0; i < WORDS; i++)
            if (random_below(4) != 0)
                some[count++] = words[i];
        make_vocab(some, count);
        text_pieces p = cutter(), reader = cutter();
        for (int i = 0; i < 30; i++) {
            char line[256] = "";
            for (size_t left = random_below(12); left-- > 0;) {
                strcat(line, words[random_below(WORDS)]);
                strcat(line, left > 0 ? " " : "");
            }
            joined += check_line(&p, &reader, line);
        }
        text_pieces_free(&p);
        text_pieces_free(&reader);
        vocab_free(&made);
    }
    assert_true(joined > 100);
}

/* ---- when it is done ---- */

static void rule_equal(uint32_t words, const released_past *past, uint64_t *values) {
    (void)past;
    for (uint32_t y = 0; y < words; y++)
        values[y] = 1;
}

static void run(const tem_mechanism *m, tem_style style, const char *text, const char *wanted) {
    tem_rng *rng = NULL;
    char *out = NULL;
    size_t bytes = 0;
    const tem_text_options options = {.style = style, .keep_lines = 1};
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    assert_int_equal(
        tem_privatize_text(m, &options, rng, text, strlen(text), NULL, &out, &bytes, NULL, NULL),
        TEM_OK);
    assert_string_equal(out, wanted);
    tem_text_free(out);
    tem_rng_free(rng);
}

/* Words that stay themselves: epsilon is large. */
static void test_styles(void **state) {
    (void)state;
    static const char *const words[] = {"i", "it", "don", "t", "s", "m", "know"};
    enum { WORDS = sizeof words / sizeof *words };
    static const float places[] = {0, 10, 20, 30, 40, 50, 60};
    tem_model *model = small_model(words, places, WORDS, 1, TEM_EUCLIDEAN, WORDS);
    array_language *language = array_language_make(model, rule_equal);
    tem_mechanism *alone = NULL, *in_context = NULL;
    tem_mechanism_options options = {.epsilon = 10, .gamma = 10};
    assert_int_equal(tem_mechanism_create(model, &options, &alone, NULL), TEM_OK);
    options.language = &language->language;
    assert_int_equal(tem_mechanism_create(model, &options, &in_context, NULL), TEM_OK);
    const char *text = "i don't know\nit's\n\ns I'm";
    const char *apart = "i don t know\nit s\n\ns i m";
    const char *joined = "i don't know\nit's\n\ns i'm";
    const char *sentences = "I don't know.\nIt's.\n\nS I'm.";
    const tem_mechanism *both[] = {alone, in_context};
    run(alone, 0, text, apart);
    run(in_context, 0, text, joined);
    for (int i = 0; i < 2; i++) {
        run(both[i], TEM_STYLE_WORDS, text, apart);
        run(both[i], TEM_STYLE_JOINED, text, joined);
        run(both[i], TEM_STYLE_SENTENCE, text, sentences);
    }
    tem_mechanism_free(alone);
    tem_mechanism_free(in_context);
    free(language);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_treebank),  cmocka_unit_test(test_runs),
        cmocka_unit_test(test_all_pairs), cmocka_unit_test(test_random),
        cmocka_unit_test(test_styles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
