/* test_ids.c - tem_model_find_token and tem_privatize_ids: words that the caller has cut.
 *
 * With a seed, the draws are compared with those of tem_mechanism_draw_many from the random streams
 * that the chunks have, id by id. Whatever fails, nothing is handed out. */
#include "core/fault.h"
#include "tem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const words[] = {"the", "movie", "new york", "good", "don't", ",", "caf\u00e9"};
enum { WORDS = sizeof words / sizeof *words, CHUNK = 1024, IDS = 20 * CHUNK + 7, SEED = 42 };

static char folder[64], ledger[128];
static tem_model *model; /* from a file: a budget needs one */
static tem_mechanism *mechanism;

static int set_up(void **state) {
    (void)state;
    char path[128];
    tem_vectors *vectors = NULL;
    tem_model *built = NULL;
    const float values[WORDS] = {0, 1, 2, 3, 4, 5, 6};
    const tem_mechanism_options options = {.epsilon = 2};
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.36s/tem-ids-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(ledger, sizeof ledger, "%s/ledger", folder);
    snprintf(path, sizeof path, "%s/model", folder);
    assert_int_equal(tem_vectors_create(words, values, WORDS, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &built, NULL), TEM_OK);
    assert_int_equal(tem_model_save(built, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(path, &model, NULL), TEM_OK);
    assert_int_equal(tem_model_verify(model, NULL, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    tem_vectors_free(vectors);
    tem_model_free(built);
    assert_int_equal(unlink(path), 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return rmdir(folder);
}

static int clear(void **state) {
    (void)state;
    unlink(ledger);
    return 0;
}

static double spent_in_ledger(void) {
    const tem_job job = {.ledger = ledger, .dry_run = 1};
    tem_balance balance = {.spent_before = -1};
    assert_int_equal(tem_job_charge(mechanism, &job, NULL, 0, NULL, &balance, NULL), TEM_OK);
    return balance.spent_before;
}

/* ---- tokens ---- */

static void test_tokens(void **state) {
    (void)state;
    static const struct {
        const char *token;
        uint32_t id;
    } cases[] = {{"the", 0},
                 {"THE", 0},
                 {" the\n", 0},
                 {"the movie", TEM_NO_WORD}, /* two pieces, and no such word */
                 {"New York", 2},            /* two pieces of a text, one word of the vocabulary */
                 {"new  york", TEM_NO_WORD},
                 {"DON\u2019T", 4},
                 {",", 5},
                 {",,", TEM_NO_WORD},
                 {"CAFE\u0301", 6}, /* composed and folded */
                 {"the.", TEM_NO_WORD},
                 {"", TEM_NO_WORD},
                 {" ", TEM_NO_WORD},
                 {"zyx", TEM_NO_WORD},
                 {"the2", TEM_NO_WORD}};
    tem_error error;
    uint32_t id = 77;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            tem_model_find_token(model, cases[i].token, strlen(cases[i].token), &id, NULL), TEM_OK);
        if (id != cases[i].id)
            fail_msg("token %zu: id %u", i, id);
    }
    char long_token[5000]; /* longer than any word */
    memset(long_token, 'x', sizeof long_token);
    assert_int_equal(tem_model_find_token(model, long_token, sizeof long_token, &id, NULL), TEM_OK);
    assert_int_equal(id, TEM_NO_WORD);
    id = 77;
    assert_int_equal(tem_model_find_token(model, "secret \xff", 8, &id, &error), TEM_ERR_FORMAT);
    assert_true(id == 77 && error.byte == 8 && strstr(error.message, "secret") == NULL);
}

/* ---- the same draws ---- */

static uint32_t ids[IDS], drawn[IDS];

/* Every ninth word is unknown. */
static void make_ids(void) {
    for (uint32_t i = 0; i < IDS; i++) {
        ids[i] = i % 9 == 0 ? TEM_NO_WORD : i * 37 % WORDS;
        drawn[i] = 1000 + i;
    }
}

/* Three documents, one of them empty, that end where no chunk ends. */
static tem_status run_ids(const tem_job *job, unsigned threads, tem_counts *counts,
                          tem_error *error) {
    const tem_ids_input documents[] = {
        {.ids = ids, .count = 3}, {.count = 0}, {.ids = ids + 3, .count = IDS - 3}};
    const tem_run run = {.threads = threads};
    return tem_privatize_ids(mechanism, job, documents, 3, &run, drawn, counts, NULL, error);
}

static void assert_untouched(void) {
    for (uint32_t i = 0; i < IDS; i++)
        assert_int_equal(drawn[i], 1000 + i);
}

/* Unknown words take part in the draws only under TEM_OOV_UNIFORM; else tem draws for the words
 * between two of them. */
static void draw_chunk(uint32_t chunk, bool uniform, uint32_t *wanted, uint32_t count) {
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create_insecure(SEED, chunk, &rng, NULL), TEM_OK);
    for (uint32_t i = 0, end = 0; i < count; i = end + 1) {
        for (end = i; end < count && (uniform || wanted[end] != TEM_NO_WORD);)
            end++;
        assert_int_equal(
            tem_mechanism_draw_many(mechanism, rng, wanted + i, wanted + i, end - i, NULL), TEM_OK);
    }
    tem_rng_free(rng);
}

static void test_same_draws(void **state) {
    (void)state;
    static const unsigned threads[] = {1, 2, 3, 8, 0};
    static uint32_t wanted[IDS];
    for (tem_oov oov = 0; oov <= TEM_OOV_KEEP_UNSAFE; oov++) {
        const tem_job job = {.text = {.oov = oov, .punctuation = TEM_PUNCTUATION_WORD},
                             .insecure_seeded = 1,
                             .insecure_seed = SEED};
        make_ids();
        memcpy(wanted, ids, sizeof ids);
        for (uint32_t first = 0; first < IDS; first += CHUNK)
            draw_chunk(first / CHUNK, oov <= TEM_OOV_UNIFORM, wanted + first,
                       IDS - first < CHUNK ? IDS - first : CHUNK);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            tem_counts counts = {0};
            assert_int_equal(run_ids(&job, threads[i], &counts, NULL), TEM_OK);
            assert_memory_equal(drawn, wanted, sizeof drawn);
            assert_true(counts.documents == 3 && counts.words == IDS && counts.punctuation == 0);
            assert_int_equal(counts.unknown, (IDS + 8) / 9);
        }
        for (uint32_t i = 0; i < IDS; i++) /* a mark exactly where a policy decides */
            assert_int_equal(drawn[i] == TEM_NO_WORD, i % 9 == 0 && oov > TEM_OOV_UNIFORM);
    }
}

/* A chunk ends with the first document that ends after CHUNK words; only a longer document is cut
 * elsewhere. */
static void test_chunks_end_with_documents(void **state) {
    (void)state;
    enum { SHORT = CHUNK - 24, LONG = 3 * CHUNK + 5 };
    static const uint32_t counts[] = {SHORT, 0, CHUNK, 7, LONG, 30, CHUNK};
    static const uint32_t ends[] = {SHORT + CHUNK, 2 * CHUNK + SHORT, 3 * CHUNK + SHORT,
                                    4 * CHUNK + SHORT, SHORT + 5 * CHUNK + 42};
    static uint32_t wanted[IDS];
    tem_ids_input documents[7];
    uint32_t all = 0;
    make_ids();
    for (int i = 0; i < 7; i++) {
        documents[i] = (tem_ids_input){.ids = ids + all, .count = counts[i]};
        all += counts[i];
    }
    assert_int_equal(all, ends[4]);
    memcpy(wanted, ids, sizeof ids);
    for (uint32_t chunk = 0, first = 0; chunk < 5; first = ends[chunk++])
        draw_chunk(chunk, true, wanted + first, ends[chunk] - first);
    const tem_job job = {.insecure_seeded = 1, .insecure_seed = SEED};
    for (unsigned threads = 1; threads <= 8; threads += 7) {
        const tem_run run = {.threads = threads};
        assert_int_equal(
            tem_privatize_ids(mechanism, &job, documents, 7, &run, drawn, NULL, NULL, NULL),
            TEM_OK);
        assert_memory_equal(drawn, wanted, all * sizeof *drawn);
    }
}

static void test_secure(void **state) {
    (void)state;
    static uint32_t first[IDS];
    make_ids();
    assert_int_equal(run_ids(NULL, 0, NULL, NULL), TEM_OK);
    memcpy(first, drawn, sizeof drawn);
    assert_int_equal(run_ids(NULL, 0, NULL, NULL), TEM_OK);
    assert_memory_not_equal(first, drawn, sizeof drawn);
    assert_int_equal(tem_privatize_ids(mechanism, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL),
                     TEM_OK);
}

/* ---- what it costs ---- */

/* Five words of two people at epsilon 2: ann has 3 of them. */
static tem_status run_people(const tem_job *job, bool named, uint32_t out[5], tem_balance *balance,
                             tem_error *error) {
    static const uint32_t five[] = {0, TEM_NO_WORD, 2, 3, 4};
    const tem_ids_input documents[] = {
        {.ids = five, .count = 2, .person = named ? "ann" : NULL, .person_bytes = named ? 3 : 0},
        {.ids = five + 2,
         .count = 2,
         .person = named ? "bob" : NULL,
         .person_bytes = named ? 3 : 0},
        {.ids = five + 4,
         .count = 1,
         .person = named ? "ann" : NULL,
         .person_bytes = named ? 3 : 0}};
    memset(out, 0xee, 5 * sizeof *out);
    return tem_privatize_ids(mechanism, job, documents, 3, NULL, out, NULL, balance, error);
}

static bool is_untouched(const uint32_t out[5]) {
    for (int i = 0; i < 5; i++)
        if (out[i] != 0xeeeeeeee)
            return false;
    return true;
}

static void test_charged(void **state) {
    (void)state;
    const tem_job job = {.ledger = ledger, .budget = 15};
    tem_job dry = job;
    tem_balance balance = {0};
    uint32_t out[5];
    dry.dry_run = 1;
    assert_int_equal(run_people(&dry, false, out, &balance, NULL), TEM_OK);
    assert_true(is_untouched(out) && balance.left == 5 && access(ledger, F_OK) != 0);
    assert_int_equal(run_people(&job, false, out, &balance, NULL), TEM_OK);
    assert_true(balance.spent == 10 && balance.left == 5 && spent_in_ledger() == 10);
    for (int i = 0; i < 5; i++)
        assert_true(out[i] < WORDS);
    assert_int_equal(run_people(&job, false, out, &balance, NULL), TEM_ERR_BUDGET);
    assert_true(is_untouched(out) && spent_in_ledger() == 10);
}

static void test_charged_to_people(void **state) {
    (void)state;
    tem_job job = {.ledger = ledger, .budget = 5, .by = "who"};
    tem_balance balance = {0};
    tem_error error;
    uint32_t out[5];
    assert_int_equal(run_people(&job, true, out, &balance, NULL), TEM_ERR_BUDGET);
    assert_true(is_untouched(out));
    job.budget = 6;
    assert_int_equal(run_people(&job, true, out, &balance, NULL), TEM_OK);
    assert_true(balance.people == 2 && balance.spent == 10 && balance.left == 0);
    assert_int_equal(run_people(&job, false, out, NULL, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.line, 1);
    job = (tem_job){.ledger = NULL};
    assert_int_equal(run_people(&job, true, out, NULL, &error), TEM_ERR_ARGUMENT);
    assert_true(is_untouched(out));
}

/* ---- all or nothing ---- */

static void test_one_id_is_wrong(void **state) {
    (void)state;
    const tem_job job = {.ledger = ledger};
    for (unsigned threads = 1; threads <= 4; threads++) {
        tem_counts counts = {.words = 1};
        make_ids();
        ids[IDS - 2 * CHUNK] = WORDS;
        assert_int_equal(run_ids(&job, threads, &counts, NULL), TEM_ERR_ARGUMENT);
        assert_untouched();
        assert_true(counts.words == 0 && spent_in_ledger() == 0);
    }
}

static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context, (void)stage, (void)done, (void)total;
    return 1;
}

static void test_stopped(void **state) {
    (void)state;
    const tem_job job = {.ledger = ledger};
    for (unsigned threads = 1; threads <= 3; threads++) {
        const tem_run run = {.threads = threads, .progress = stop};
        const tem_ids_input document = {.ids = ids, .count = IDS};
        make_ids();
        assert_int_equal(
            tem_privatize_ids(mechanism, &job, &document, 1, &run, drawn, NULL, NULL, NULL),
            TEM_ERR_CANCELLED);
        assert_untouched();
        assert_true(spent_in_ledger() == 0);
    }
}

static void test_refused(void **state) {
    (void)state;
    const char *const inputs[] = {ledger};
    const tem_job bad[] = {{.format = TEM_FORMAT_TEXT},
                           {.field = "text"},
                           {.inputs = inputs, .input_count = 1},
                           {.output = ledger},
                           {.text = {.strip_tags = 1}},
                           {.text = {.keep_lines = 1}},
                           {.text = {.order = TEM_ORDER_SHUFFLED}},
                           {.text = {.order = TEM_ORDER_COUNTS}},
                           {.text = {.style = TEM_STYLE_SENTENCE}},
                           {.text = {.punctuation = TEM_PUNCTUATION_KEEP}},
                           {.text = {.punctuation = TEM_PUNCTUATION_DROP}},
                           {.text = {.oov = (tem_oov)9}},
                           {.budget = 5},
                           {.by = "who"},
                           {.ledger = ledger, .budget = 99, .text = {.oov = TEM_OOV_MASK}}};
    uint32_t out[5];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(run_people(&bad[i], false, out, NULL, NULL), TEM_ERR_ARGUMENT);
        assert_true(is_untouched(out) && access(ledger, F_OK) != 0);
    }
}

#ifdef TEM_FAULTS
/* Whatever the system refuses: all is handed out and charged for, or nothing is handed out. */
static void test_faults(void **state) {
    (void)state;
    const tem_job job = {.ledger = ledger};
    for (uint64_t n = 1;; n++) {
        uint32_t out[5];
        clear(NULL);
        core_fault_arm(n);
        const tem_status status = run_people(&job, false, out, NULL, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_true((status != TEM_OK) == is_untouched(out));
        assert_true(status != TEM_OK || spent_in_ledger() == 10);
        if (!hit) {
            assert_true(status == TEM_OK && n > 5);
            return;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_same_draws),
        cmocka_unit_test(test_chunks_end_with_documents),
        cmocka_unit_test(test_secure),
        cmocka_unit_test_teardown(test_charged, clear),
        cmocka_unit_test_teardown(test_charged_to_people, clear),
        cmocka_unit_test_teardown(test_one_id_is_wrong, clear),
        cmocka_unit_test_teardown(test_stopped, clear),
        cmocka_unit_test_teardown(test_refused, clear),
#ifdef TEM_FAULTS
        cmocka_unit_test_teardown(test_faults, clear),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
