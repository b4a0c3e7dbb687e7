/* test_past.c - draws that depend on what their document shows already: each draw sees the words
 * and the kinds that stand before it in its own document, and nothing else, whatever cuts documents
 * into parts and shares them among threads. Everything that takes the words of a document as
 * independent refuses such a mechanism.
 *
 * The mechanism is tests/mechanisms/follows.c, whose outputs follow from the past without a random
 * number. So a second, simple walk over each document (`follow`) tells what must come out. */
#include "attack/emission.h"
#include "compare/drawn_pairs.h"
#include "job/replacer.h"
#include "tem_account.h"
#include "tem_language.h"
#include "tem_learn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../mechanisms/follows.c"
#include "pseudo.h"
#include "small_model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 50, PLACES = 120000 };

static tem_model *model;
static tem_mechanism *follower;

static int set_up(void **state) {
    (void)state;
    float values[WORDS];
    for (int i = 0; i < WORDS; i++)
        values[i] = (float)i;
    model = small_model(NULL, values, WORDS, 1, TEM_EUCLIDEAN, 4);
    const tem_mechanism_options options = {.epsilon = 1, .allow_no_guarantee = 1};
    return mechanism_make(model, &mechanism_extra, &options, &follower, NULL) == TEM_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(follower);
    tem_model_free(model);
    return 0;
}

/* ---- what must come out ---- */

/* The past of a document, all of it: words and kinds. */
static uint32_t shown[PLACES];
static size_t shown_count;

static void show(uint32_t word) {
    assert_true(shown_count < PLACES);
    shown[shown_count++] = word;
}

static uint32_t follow(uint32_t word) {
    const size_t count = shown_count < FOLLOWS_PAST ? shown_count : FOLLOWS_PAST;
    const released_past past = {
        .words = shown + shown_count - count, .count = count, .before = shown_count - count};
    show(follows_next(WORDS, &past, word));
    return shown[shown_count - 1];
}

/* A text and its private form under some policies, built place by place. */
typedef struct sample {
    core_buffer text, wanted;
} sample;

static void put(core_buffer *b, const char *string) {
    assert_true(core_buffer_add(b, string, strlen(string)));
}

static void put_next(core_buffer *b, const char *string) {
    if (b->size > 0 && b->data[b->size - 1] != '\n')
        put(b, " ");
    put(b, string);
}

static void put_word(core_buffer *b, uint32_t id) {
    char word[16];
    snprintf(word, sizeof word, "w%u", id);
    put_next(b, word);
}

/* With TEM_REPEAT_ONCE: what each word of the document became, the unknown word last. */
static uint32_t became[WORDS + 1];

/* What a word becomes, which is then shown. */
static uint32_t next(uint32_t word, const tem_text_options *o) {
    uint32_t *known = &became[word == TEM_NO_WORD ? WORDS : word];
    if (o->repeat != TEM_REPEAT_ONCE || *known == TEM_NO_WORD)
        return *known = follow(word);
    show(*known);
    return *known;
}

static void add_known(sample *s, const tem_text_options *o) {
    const uint32_t id = (uint32_t)random_below(WORDS);
    put_word(&s->text, id);
    put_word(&s->wanted, next(id, o));
}

static void add_unknown(sample *s, const tem_text_options *o) {
    put_next(&s->text, "zz");
    if (o->oov == TEM_OOV_UNIFORM) {
        put_word(&s->wanted, next(TEM_NO_WORD, o));
    } else if (o->oov != TEM_OOV_DROP) {
        put_next(&s->wanted, o->oov == TEM_OOV_MASK ? "<unk>" : "zz");
        show(o->oov == TEM_OOV_MASK ? RELEASED_MASK : RELEASED_KEPT_WORD);
    }
}

static void add_comma(sample *s, const tem_text_options *o) {
    put_next(&s->text, ",");
    if (o->punctuation != TEM_PUNCTUATION_KEEP)
        return;
    put_next(&s->wanted, ",");
    show(RELEASED_PUNCTUATION);
}

static sample make_sample(size_t places, const tem_text_options *o) {
    sample s = {{0}, {0}};
    shown_count = 0;
    memset(became, 0xff, sizeof became);
    for (size_t i = 0; i < places; i++) {
        const size_t what = random_below(12);
        if (what == 0)
            add_unknown(&s, o);
        else if (what == 1)
            add_comma(&s, o);
        else
            add_known(&s, o);
        if (what == 2 && o->keep_lines) {
            put(&s.text, "\n");
            put(&s.wanted, "\n");
            show(RELEASED_LINE_END);
        }
    }
    return s;
}

static void expect(const char *text, size_t bytes, const core_buffer *wanted) {
    assert_int_equal(bytes, wanted->size);
    assert_memory_equal(text, wanted->data == NULL ? "" : wanted->data, bytes);
}

/* ---- documents ---- */

static void check_texts(const tem_text_options *options, unsigned threads) {
    enum { TEXTS = 60 };
    sample samples[TEXTS];
    tem_text_input inputs[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        samples[i] = make_sample(random_below(40), options);
        inputs[i] =
            (tem_text_input){.text = samples[i].text.data == NULL ? "" : samples[i].text.data,
                             .bytes = samples[i].text.size};
    }
    const tem_job job = {.text = *options};
    const tem_run run = {.threads = threads};
    tem_texts *texts = NULL;
    assert_int_equal(
        tem_privatize_texts(follower, &job, inputs, TEXTS, &run, &texts, NULL, NULL, NULL), TEM_OK);
    for (size_t i = 0; i < TEXTS; i++) {
        size_t bytes = 0;
        const char *text = tem_texts_at(texts, i, &bytes);
        expect(text, bytes, &samples[i].wanted);
        core_buffer_free(&samples[i].text);
        core_buffer_free(&samples[i].wanted);
    }
    tem_texts_free(texts);
}

static void test_texts(void **state) {
    (void)state;
    for (tem_oov oov = TEM_OOV_UNIFORM; oov <= TEM_OOV_KEEP_UNSAFE; oov++)
        for (int keep = 0; keep < 8; keep++) {
            const tem_text_options options = {.oov = oov,
                                              .repeat = keep & 4 ? TEM_REPEAT_ONCE : 0,
                                              .punctuation = keep & 1 ? TEM_PUNCTUATION_KEEP
                                                                      : TEM_PUNCTUATION_DROP,
                                              .keep_lines = keep / 2 % 2};
            check_texts(&options, 1);
            check_texts(&options, 4);
        }
    assert_int_equal(follows_seen.begun, follows_seen.ended);
}

/* Whether nothing of a past is left: it has fewer than twice the words that draw_next sees. The
 * bytes behind that are as malloc gave them. */
static bool is_erased(const text_drawing *d) {
    for (size_t i = 0; i < (2 * d->mechanism->ops->past_words - 1) * sizeof(uint32_t); i++)
        if (d->past.data[i] != 0)
            return false;
    return true;
}

/* A document of many windows is drawn with little memory, and nothing of it stays. One that fails
 * leaves nothing to the next one. */
static void check_memory(tem_repeat repeat) {
    const tem_text_options options = {
        .oov = TEM_OOV_MASK, .punctuation = TEM_PUNCTUATION_KEEP, .repeat = repeat};
    replacer r;
    core_buffer out = {0};
    tem_counts counts = {0};
    assert_int_equal(replacer_init(&r, follower, &options, NULL), TEM_OK);
    sample s = make_sample(100000, &options);
    assert_int_equal(replacer_run(&r, NULL, s.text.data, s.text.size, &out, &counts, NULL), TEM_OK);
    expect(out.data, out.size, &s.wanted);
    assert_true(r.drawing.past.data != NULL && r.drawing.past.capacity < 4096);
    assert_true(is_erased(&r.drawing));
    assert_true(r.drawing.past.size == 0 && r.drawing.before == 0);
    const follows_document nothing = {0};
    assert_memory_equal(r.drawing.state, &nothing, sizeof nothing);
    out.size = 0;
    assert_true(core_buffer_add(&s.text, " \xff", 2));
    assert_int_equal(replacer_run(&r, NULL, s.text.data, s.text.size, &out, &counts, NULL),
                     TEM_ERR_FORMAT);
    assert_true(out.size == 0 && is_erased(&r.drawing));
    core_buffer_free(&s.text);
    core_buffer_free(&s.wanted);
    s = make_sample(20, &options);
    assert_int_equal(replacer_run(&r, NULL, s.text.data, s.text.size, &out, &counts, NULL), TEM_OK);
    expect(out.data, out.size, &s.wanted);
    assert_int_equal(follows_seen.begun, follows_seen.ended);
    core_buffer_free(&s.text);
    core_buffer_free(&s.wanted);
    core_buffer_free(&out);
    replacer_free(&r);
}

static void test_memory(void **state) {
    (void)state;
    check_memory(TEM_REPEAT_EACH);
    check_memory(TEM_REPEAT_ONCE);
}

/* Documents of ids: short ones share a chunk, and a long one is not cut. */
static void test_ids(void **state) {
    (void)state;
    enum { DOCUMENTS = 200, MOST = 4000 };
    for (tem_oov oov = TEM_OOV_UNIFORM; oov <= TEM_OOV_MASK;
         oov += TEM_OOV_MASK - TEM_OOV_UNIFORM) {
        uint32_t *ids = calloc(DOCUMENTS * MOST, sizeof *ids);
        uint32_t *wanted = calloc(DOCUMENTS * MOST, sizeof *ids);
        uint32_t *drawn = calloc(DOCUMENTS * MOST, sizeof *ids);
        tem_ids_input documents[DOCUMENTS];
        assert_true(ids != NULL && wanted != NULL && drawn != NULL);
        size_t all = 0;
        for (int i = 0; i < DOCUMENTS; i++) {
            const size_t count = random_below(i % 50 == 9 ? MOST : 30);
            documents[i] = (tem_ids_input){.ids = ids + all, .count = count};
            shown_count = 0;
            for (size_t k = 0; k < count; k++, all++) {
                ids[all] = random_below(9) == 0 ? TEM_NO_WORD : (uint32_t)random_below(WORDS);
                wanted[all] = ids[all];
                if (ids[all] == TEM_NO_WORD && oov == TEM_OOV_MASK)
                    show(RELEASED_MASK);
                else
                    wanted[all] = follow(ids[all]);
            }
        }
        const tem_job job = {.text = {.oov = oov}};
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            const tem_run run = {.threads = threads};
            assert_int_equal(tem_privatize_ids(follower, &job, documents, DOCUMENTS, &run, drawn,
                                               NULL, NULL, NULL),
                             TEM_OK);
            assert_memory_equal(drawn, wanted, all * sizeof *drawn);
        }
        free(ids);
        free(wanted);
        free(drawn);
    }
    assert_int_equal(follows_seen.begun, follows_seen.ended);
}

static void run_file(const tem_job *given, const char *content, const char *wanted) {
    char folder[] = "/tmp/tem-past-XXXXXX", in[64], out[64], found[4096];
    assert_non_null(mkdtemp(folder));
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    FILE *file = fopen(in, "w");
    assert_true(file != NULL && fputs(content, file) >= 0 && fclose(file) == 0);
    tem_job job = *given;
    job.inputs = (const char *const[]){in};
    job.input_count = 1;
    job.output = out;
    assert_int_equal(tem_privatize_files(follower, &job, NULL, NULL, NULL, NULL, NULL), TEM_OK);
    file = fopen(out, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, wanted);
    unlink(in);
    unlink(out);
    rmdir(folder);
}

/* Each line of text is a document, and so is each private field of a record. */
static void test_files(void **state) {
    (void)state;
    char w[3][16], line[64], wanted[256];
    shown_count = 0;
    for (uint32_t i = 0; i < 3; i++)
        snprintf(w[i], sizeof w[i], "w%u", follow(i + 1));
    snprintf(line, sizeof line, "%s %s %s", w[0], w[1], w[2]);
    snprintf(wanted, sizeof wanted, "%s\n\n%s\n%s\n", line, line, w[0]);
    run_file(&(tem_job){0}, "w1 w2 w3\n\nw1 w2 w3\nw1\n", wanted);
    snprintf(wanted, sizeof wanted,
             "{\"a\": \"%s\", \"b\": \"%s\"}\n{\"a\": \"%s\", \"b\": \"\"}\n", line, line, w[0]);
    run_file(&(tem_job){.format = TEM_FORMAT_JSONL,
                        .field = "a",
                        .more_fields = (const char *const[]){"b"},
                        .more_field_count = 1},
             "{\"a\": \"w1 w2 w3\", \"b\": \"w1 w2 w3\"}\n{\"a\": \"w1\", \"b\": null}\n", wanted);
}

/* ---- what takes the words of a document as independent ---- */

static const char *said(tem_status status, const tem_error *error) {
    assert_int_equal(status, TEM_ERR_UNSUPPORTED);
    return strstr(error->message, "by the words that its document shows before, so ");
}

static void test_refused(void **state) {
    (void)state;
    tem_error error;
    tem_rng *rng = NULL;
    uint32_t word = 1;
    double numbers[WORDS + 1];
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    assert_non_null(said(tem_mechanism_draw(follower, rng, 1, &word, &error), &error));
    assert_non_null(said(tem_mechanism_draw_many(follower, rng, &word, &word, 1, &error), &error));
    tem_rng_free(rng);
    assert_non_null(said(mechanism_row(follower, 1, numbers, &error), &error));
    assert_non_null(said(mechanism_check_exponential(follower, &error), &error));
    const tem_order orders[] = {TEM_ORDER_SHUFFLED, TEM_ORDER_COUNTS};
    for (int i = 0; i < 2; i++) {
        replacer r;
        const tem_text_options options = {.order = orders[i]};
        assert_non_null(said(replacer_init(&r, follower, &options, &error), &error));
    }
    uint32_t remap[WORDS] = {0};
    const tem_mechanism_options mapped = {.epsilon = 1, .allow_no_guarantee = 1, .remap = remap};
    tem_mechanism *made = NULL;
    assert_non_null(said(mechanism_make(model, &mechanism_extra, &mapped, &made, &error), &error));
    assert_null(made);
    assert_true(mechanism_depends_on_past(follower));
}

static int weigh_equally(void *context, void *document, const tem_past *past, uint64_t *values) {
    (void)context, (void)document, (void)past;
    for (uint32_t y = 0; y < WORDS; y++)
        values[y] = 1;
    return 0;
}

/* Channels, drawn pairs and likelihoods are of one law per word. */
static void check_learning_refused(const tem_mechanism *m) {
    tem_error error;
    tem_channel *channel = NULL;
    emission *likelihoods = NULL;
    drawn_pair pairs[10];
    double shares[WORDS + 1];
    for (size_t w = 0; w <= WORDS; w++)
        shares[w] = 1;
    assert_non_null(said(tem_channel_create(m, NULL, &channel, &error), &error));
    assert_null(channel);
    assert_non_null(said(
        drawn_pairs_make(m, shares, true, PAIRS_TO_LEARN, 1, 10, NULL, pairs, &error), &error));
    assert_non_null(said(emission_create(m, shares, 10, NULL, &likelihoods, &error), &error));
    assert_null(likelihoods);
}

static void test_learning_refused(void **state) {
    (void)state;
    const tem_language_functions functions = {.weights = weigh_equally};
    tem_language *language = NULL;
    assert_int_equal(tem_language_wrap(model, &functions, &language, NULL), TEM_OK);
    check_learning_refused(follower);
    const char *const names[] = {"tem", "em", "coin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const tem_mechanism_options options = {
            .mechanism = names[i], .epsilon = 1, .language = language};
        tem_mechanism *in_context = NULL;
        assert_int_equal(tem_mechanism_create(model, &options, &in_context, NULL), TEM_OK);
        check_learning_refused(in_context);
        tem_mechanism_free(in_context);
    }
    tem_language_free(language);
}

/* A mechanism that contradicts itself about documents is not used. */
static void test_contradictions(void **state) {
    (void)state;
    assert_null(mechanism_fault(&mechanism_extra));
    mechanism_ops both = mechanism_extra, neither = mechanism_extra, far = mechanism_extra;
    mechanism_ops alone = mechanism_tem, remembers = mechanism_tem, law = mechanism_extra;
    both.draw = mechanism_tem.draw;
    neither.draw_next = NULL;
    far.past_words = MECHANISM_PAST_MAX + 1;
    alone.begin = mechanism_extra.begin;
    remembers.past_words = 1;
    law.row = mechanism_custext.row;
    const mechanism_ops *const faulty[] = {&both, &neither, &far, &alone, &remembers, &law};
    for (size_t i = 0; i < sizeof faulty / sizeof *faulty; i++)
        assert_non_null(mechanism_fault(faulty[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_learning_refused),
        cmocka_unit_test(test_contradictions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
