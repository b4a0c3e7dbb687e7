/* test_spelling.c - the rule of tem.h: the output depends on the draws, the settings and the number
 * of pieces, and on nothing else of the input.
 *
 * Metamorphic test: for each format and all policies, it makes streams and spells each twice. The
 * two spellings share only what may show in the output (spelling.h). With the same seed both must
 * give the same output bytes and the same counts. */
#include "spelling.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Pairs of spellings for each format and policies: 3,840 streams in all. A sanitizer is slowest at
 * freeing memory, and each run uses megabytes. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#ifdef SANITIZED
enum { PAIRS = 2, TEXT_PAIRS = 50 };
#else
enum { PAIRS = 10, TEXT_PAIRS = 200 };
#endif

static tem_model *model;
static tem_mechanism *mechanism;

static int set_up(void **state) {
    (void)state;
    mechanism = spelling_mechanism(&model);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return 0;
}

static void assert_same_bytes(const core_buffer *a, const core_buffer *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static bool is_table(const abstract_stream *s) {
    return s->format == TEM_FORMAT_TSV || s->format == TEM_FORMAT_CSV;
}

static size_t count_bytes(const core_buffer *b, char byte) {
    size_t count = 0;
    for (size_t i = 0; i < b->size; i++)
        count += b->data[i] == byte;
    return count;
}

/* The minimum number of line feeds: one for each record and the header. */
static size_t count_records(const abstract_stream *s) {
    return s->record_count + is_table(s);
}

/* Whether the two spellings differed. */
static bool check_pair(chooser *c, abstract_stream *s) {
    make_stream(c, s);
    spelling a = spell(c, s), b = spell(c, s);
    core_buffer from_a, from_b;
    tem_counts of_a = {0}, of_b = {0};
    tem_error error = {.message = ""};
    if (run_spelling(mechanism, s, &a, &from_a, &of_a, &error) != TEM_OK ||
        run_spelling(mechanism, s, &b, &from_b, &of_b, &error) != TEM_OK)
        fail_msg("line %u: %s", (unsigned)error.line, error.message);
    assert_same_bytes(&from_a, &from_b);
    assert_true(of_a.documents == of_b.documents && of_a.words == of_b.words &&
                of_a.unknown == of_b.unknown);
    assert_true(count_bytes(&from_a, '\n') >= count_records(s));
    assert_true(from_a.size == 0 || from_a.data[from_a.size - 1] == '\n');
    const bool differed =
        a.count != b.count || a.inputs[0].size != b.inputs[0].size ||
        (a.inputs[0].size > 0 && memcmp(a.inputs[0].data, b.inputs[0].data, a.inputs[0].size) != 0);
    free_spelling(&a);
    free_spelling(&b);
    core_buffer_free(&from_a);
    core_buffer_free(&from_b);
    return differed;
}

/* Checks all 96 combinations of policies. */
static unsigned check_format(tem_format format) {
    chooser c = {.state = 20 + (uint64_t)format};
    unsigned differed = 0;
    for (int policy = 0; policy < 4 * 3 * 2 * 2 * 2; policy++)
        for (int pair = 0; pair < PAIRS; pair++) {
            abstract_stream s = {.format = format,
                                 .missing = (tem_missing)(1 + policy / 48),
                                 .text = {.oov = (tem_oov)(1 + policy % 4),
                                          .punctuation = (tem_punctuation)(1 + policy / 4 % 3),
                                          .strip_tags = policy / 12 % 2,
                                          .keep_lines = policy / 24 % 2}};
            differed += check_pair(&c, &s);
        }
    return differed;
}

/* Nearly all pairs must really differ; otherwise nothing was compared. */
enum { DIFFERED_LEAST = 96 * PAIRS * 8 / 10 };

static void test_spelled_text(void **state) {
    (void)state;
    assert_true(check_format(TEM_FORMAT_TEXT) > DIFFERED_LEAST);
}

static void test_spelled_tsv(void **state) {
    (void)state;
    assert_true(check_format(TEM_FORMAT_TSV) > DIFFERED_LEAST);
}

static void test_spelled_csv(void **state) {
    (void)state;
    assert_true(check_format(TEM_FORMAT_CSV) > DIFFERED_LEAST);
}

static void test_spelled_jsonl(void **state) {
    (void)state;
    assert_true(check_format(TEM_FORMAT_JSONL) > DIFFERED_LEAST);
}

static core_buffer privatize(const tem_text_options *options, const core_buffer *text) {
    core_buffer result = {0};
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create_insecure(7, 7, &rng, NULL), TEM_OK);
    assert_int_equal(tem_privatize_text(mechanism, options, rng, text->data, text->size, NULL,
                                        &result.data, &result.size, NULL, NULL),
                     TEM_OK);
    tem_rng_free(rng);
    return result;
}

/* tem_privatize_text treats a text like a field of JSON. */
static void test_spelled_alone(void **state) {
    (void)state;
    chooser c = {.state = 99};
    for (int policy = 0; policy < 4 * 3 * 2 * 2; policy++)
        for (int pair = 0; pair < TEXT_PAIRS; pair++) {
            const abstract_stream s = {
                .format = TEM_FORMAT_JSONL,
                .text = {.oov = (tem_oov)(1 + policy % 4),
                         .punctuation = (tem_punctuation)(1 + policy / 4 % 3),
                         .strip_tags = policy / 12 % 2,
                         .keep_lines = policy / 24 % 2}};
            abstract_record r;
            core_buffer a = {0}, b = {0};
            make_record(&c, &r);
            put_text(&c, &s, &r, &a);
            put_text(&c, &s, &r, &b);
            core_buffer from_a = privatize(&s.text, &a), from_b = privatize(&s.text, &b);
            assert_same_bytes(&from_a, &from_b);
            assert_int_equal(count_bytes(&from_a, '\n'), s.text.keep_lines ? r.line_count - 1 : 0);
            tem_text_free(from_a.data);
            tem_text_free(from_b.data);
            core_buffer_free(&a);
            core_buffer_free(&b);
        }
}

/* A text longer than several windows (pieces.h) and groups of draws: known and unknown words, and
 * marks, with different blanks in each spelling. */
static void test_spelled_at_length(void **state) {
    (void)state;
    enum { WORDS = 40000 };
    static const char *const words[] = {"w1", "w2", "zzz", "!", "w3", "\u00e9"};
    for (int policy = 0; policy < 4 * 3; policy++) {
        const tem_text_options options = {.oov = (tem_oov)(1 + policy % 4),
                                          .punctuation = (tem_punctuation)(1 + policy / 4)};
        core_buffer a = {0}, b = {0};
        for (size_t i = 0; i < WORDS; i++) {
            const char *piece = words[i * i % 7 % 6];
            assert_true(core_buffer_add(&a, piece, strlen(piece)) && core_buffer_add(&a, " ", 1));
            if (strcmp(piece, "\u00e9") == 0)
                piece = "E\u0301";
            assert_true(core_buffer_add(&b, piece, strlen(piece)) &&
                        core_buffer_add(&b, " \t\n  ", 1 + i % 5));
        }
        core_buffer from_a = privatize(&options, &a), from_b = privatize(&options, &b);
        assert_same_bytes(&from_a, &from_b);
        tem_text_free(from_a.data);
        tem_text_free(from_b.data);
        core_buffer_free(&a);
        core_buffer_free(&b);
    }
}

/* Whether '<' begins a tag must not depend on the normal form of the accented letter after it. */
static void test_tags_in_any_form(void **state) {
    (void)state;
    static const char *const equal[][2] = {{"the <\u00e9> movie", "the <e\u0301> movie"},
                                           {"the <b>\u0338 movie", "the <b\u226f movie"},
                                           {"the <\u212a> movie", "the <K> movie"}};
    const tem_text_options options = {
        .punctuation = TEM_PUNCTUATION_KEEP, .oov = TEM_OOV_KEEP_UNSAFE, .strip_tags = 1};
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        core_buffer a = {0}, b = {0};
        put_string(&a, equal[i][0]);
        put_string(&b, equal[i][1]);
        core_buffer from_a = privatize(&options, &a), from_b = privatize(&options, &b);
        assert_same_bytes(&from_a, &from_b);
        tem_text_free(from_a.data);
        tem_text_free(from_b.data);
        core_buffer_free(&a);
        core_buffer_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spelled_text),     cmocka_unit_test(test_spelled_tsv),
        cmocka_unit_test(test_spelled_csv),      cmocka_unit_test(test_spelled_jsonl),
        cmocka_unit_test(test_spelled_alone),    cmocka_unit_test(test_spelled_at_length),
        cmocka_unit_test(test_tags_in_any_form),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
