/* test_texts.c - tem_privatize_texts: a batch of texts in memory.
 *
 * What comes out is compared with a run over a file of the same documents, byte by byte, and what
 * is charged with what that run charges. Whatever fails, nothing is handed out. */
#include "core/fault.h"
#include "tem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const words[] = {"the", "movie", "was", "good", "bad", "film"};
enum { WORDS = sizeof words / sizeof *words, TEXTS = 3000, FILE_BYTES = 4 << 20 };

static char folder[64], ledger[128], input[128], output[128];
static tem_model *model; /* from a file: a budget needs one */
static tem_mechanism *mechanism;

static int set_up(void **state) {
    (void)state;
    char path[128];
    tem_vectors *vectors = NULL;
    tem_model *built = NULL;
    const float values[WORDS] = {0, 1, 2, 3, 4, 5};
    const tem_mechanism_options options = {.epsilon = 2};
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.36s/tem-texts-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(ledger, sizeof ledger, "%s/ledger", folder);
    snprintf(input, sizeof input, "%s/in", folder);
    snprintf(output, sizeof output, "%s/out", folder);
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
    unlink(input);
    unlink(output);
    return 0;
}

static tem_text_input text_of(const char *text) {
    return (tem_text_input){.text = text, .bytes = text == NULL ? 0 : strlen(text)};
}

static bool is_there(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* The sum of what the ledger's lines say, by a dry run of nothing. */
static double spent_in_ledger(void) {
    const tem_job job = {.ledger = ledger, .dry_run = 1};
    tem_balance balance = {.spent_before = -1};
    assert_int_equal(tem_job_charge(mechanism, &job, NULL, 0, NULL, &balance, NULL), TEM_OK);
    return balance.spent_before;
}

/* ---- the same as a file ---- */

/* Texts of 0 to 40 words, one of them large, and every fiftieth missing. */
static void make_texts(tem_text_input *texts) {
    static char store[FILE_BYTES];
    size_t used = 0;
    for (size_t i = 0; i < TEXTS; i++) {
        const size_t begin = used, count = i == 7 ? 30000 : i * 37 % 41;
        for (size_t k = 0; k < count; k++)
            used += (size_t)sprintf(store + used, "%s%s", k == 0 ? "" : "  ",
                                    (i + k) % 9 == 0 ? "zyx" : words[(i * k + k) % WORDS]);
        texts[i] = (tem_text_input){.text = store + begin, .bytes = used - begin};
        if (i % 50 == 49)
            texts[i] = text_of(NULL);
    }
}

static void write_jsonl(const tem_text_input *texts) {
    FILE *file = fopen(input, "w");
    assert_non_null(file);
    for (size_t i = 0; i < TEXTS; i++)
        if (texts[i].text == NULL)
            fputs("{\"text\": null}\n", file);
        else
            fprintf(file, "{\"text\": \"%.*s\"}\n", (int)texts[i].bytes, texts[i].text);
    assert_int_equal(fclose(file), 0);
}

static void assert_same_as_file(const tem_texts *private) {
    static char line[FILE_BYTES], wanted[FILE_BYTES];
    FILE *file = fopen(output, "r");
    assert_non_null(file);
    for (size_t i = 0; i < TEXTS; i++) {
        size_t bytes = 0;
        const char *text = tem_texts_at(private, i, &bytes);
        if (text == NULL)
            snprintf(wanted, sizeof wanted, "{\"text\": null}\n");
        else
            snprintf(wanted, sizeof wanted, "{\"text\": \"%s\"}\n", text);
        assert_true(text == NULL || strlen(text) == bytes);
        assert_non_null(fgets(line, sizeof line, file));
        assert_string_equal(line, wanted);
    }
    assert_null(fgets(line, sizeof line, file));
    assert_null(tem_texts_at(private, TEXTS, NULL));
    fclose(file);
}

static void test_same_as_a_file(void **state) {
    (void)state;
    static const unsigned threads[] = {1, 2, 3, 8, 0};
    static tem_text_input texts[TEXTS];
    const char *const inputs[] = {input};
    make_texts(texts);
    write_jsonl(texts);
    for (tem_missing missing = TEM_MISSING_EMPTY; missing <= TEM_MISSING_KEEP; missing++) {
        const tem_job job = {.missing = missing, .insecure_seeded = 1, .insecure_seed = 42};
        tem_job of_file = job;
        tem_counts wanted, counts;
        of_file.inputs = inputs;
        of_file.input_count = 1;
        of_file.output = output;
        of_file.overwrite = TEM_OVERWRITE;
        of_file.format = TEM_FORMAT_JSONL;
        of_file.field = "text";
        assert_int_equal(tem_privatize_files(mechanism, &of_file, NULL, &wanted, NULL, NULL, NULL),
                         TEM_OK);
        assert_int_equal(wanted.documents, missing == TEM_MISSING_KEEP ? TEXTS - 60 : TEXTS);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            const tem_run run = {.threads = threads[i]};
            tem_texts *private = NULL;
            assert_int_equal(tem_privatize_texts(mechanism, &job, texts, TEXTS, &run, &private,
                                                 &counts, NULL, NULL),
                             TEM_OK);
            assert_same_as_file(private);
            assert_memory_equal(&counts, &wanted, sizeof counts);
            tem_texts_free(private);
        }
    }
}

/* Without a seed no two runs are the same. A batch without texts is allowed. */
static void test_secure(void **state) {
    (void)state;
    static tem_text_input texts[TEXTS];
    tem_texts *first = NULL, *second = NULL;
    make_texts(texts);
    assert_int_equal(
        tem_privatize_texts(mechanism, NULL, texts, TEXTS, NULL, &first, NULL, NULL, NULL), TEM_OK);
    assert_int_equal(
        tem_privatize_texts(mechanism, NULL, texts, TEXTS, NULL, &second, NULL, NULL, NULL),
        TEM_OK);
    assert_string_not_equal(tem_texts_at(first, 7, NULL), tem_texts_at(second, 7, NULL));
    tem_texts_free(first);
    tem_texts_free(second);
    assert_int_equal(tem_privatize_texts(mechanism, NULL, NULL, 0, NULL, &first, NULL, NULL, NULL),
                     TEM_OK);
    assert_null(tem_texts_at(first, 0, NULL));
    tem_texts_free(first);
    tem_texts_free(NULL);
}

/* ---- what a batch costs ---- */

/* Three texts of 3, 0 and 2 words at epsilon 2: 10. */
static const char *const three[] = {"the movie was", NULL, "good zyx"};

static tem_status run_three(const tem_job *job, const char *const *people, tem_texts **private,
                            tem_balance *balance, tem_error *error) {
    tem_text_input texts[3];
    for (int i = 0; i < 3; i++) {
        texts[i] = text_of(three[i]);
        texts[i].person = people == NULL ? NULL : people[i];
        texts[i].person_bytes = people == NULL || people[i] == NULL ? 0 : strlen(people[i]);
    }
    *private = (tem_texts *)&texts; /* to be overwritten, whatever happens */
    return tem_privatize_texts(mechanism, job, texts, 3, NULL, private, NULL, balance, error);
}

static void test_charged(void **state) {
    (void)state;
    const tem_job job = {.ledger = ledger, .budget = 25};
    tem_job dry = job;
    tem_texts *private = NULL;
    tem_balance balance = {0};
    dry.dry_run = 1;
    assert_int_equal(run_three(&dry, NULL, &private, &balance, NULL), TEM_OK);
    assert_true(private == NULL && !is_there(ledger) && balance.left == 15);
    assert_int_equal(run_three(&job, NULL, &private, &balance, NULL), TEM_OK);
    assert_true(balance.created && balance.spent == 10 && balance.left == 15);
    assert_non_null(tem_texts_at(private, 1, NULL));
    tem_texts_free(private);
    assert_int_equal(run_three(&job, NULL, &private, &balance, NULL), TEM_OK);
    tem_texts_free(private);
    assert_true(spent_in_ledger() == 20);
    assert_int_equal(run_three(&job, NULL, &private, &balance, NULL), TEM_ERR_BUDGET);
    assert_true(private == NULL && balance.spent == 0 && balance.left == 5);
    assert_int_equal(run_three(&dry, NULL, &private, NULL, NULL), TEM_ERR_BUDGET);
    assert_true(spent_in_ledger() == 20);
}

/* Ann has three words and two more; a budget of 6 is too small for her, and one of 10 is not. */
static void test_charged_to_people(void **state) {
    (void)state;
    static const char *const people[] = {"ann", "bob", "ann"};
    static const char *const nameless[] = {"ann", NULL, "ann"};
    tem_job job = {.ledger = ledger, .budget = 6, .by = "who"};
    tem_texts *private = NULL;
    tem_balance balance = {0};
    tem_error error;
    assert_int_equal(run_three(&job, people, &private, &balance, &error), TEM_ERR_BUDGET);
    assert_null(private);
    job.budget = 10;
    assert_int_equal(run_three(&job, people, &private, &balance, NULL), TEM_OK);
    assert_true(balance.people == 1 && balance.spent == 10 && balance.left == 0);
    tem_texts_free(private);
    assert_int_equal(run_three(&job, nameless, &private, NULL, &error), TEM_ERR_FORMAT);
    assert_true(private == NULL && error.line == 2);
    job.by = NULL;
    assert_int_equal(run_three(&job, people, &private, NULL, &error), TEM_ERR_ARGUMENT);
    job = (tem_job){.ledger = NULL};
    assert_int_equal(run_three(&job, people, &private, NULL, &error), TEM_ERR_ARGUMENT);
}

/* ---- all or nothing ---- */

static void test_one_text_fails(void **state) {
    (void)state;
    static tem_text_input texts[TEXTS];
    for (unsigned threads = 1; threads <= 4; threads++) {
        const tem_run run = {.threads = threads};
        const tem_job job = {.ledger = ledger};
        tem_texts *private = (tem_texts *)&texts;
        tem_counts counts = {.documents = 1, .words = 1, .unknown = 1, .punctuation = 1};
        tem_error error;
        make_texts(texts);
        texts[2001] = text_of("secret \xff");
        assert_int_equal(tem_privatize_texts(mechanism, &job, texts, TEXTS, &run, &private, &counts,
                                             NULL, &error),
                         TEM_ERR_FORMAT);
        assert_true(private == NULL && counts.documents == 0 && counts.words == 0);
        assert_true(error.line == 2002 && error.byte == 8 && error.file[0] == '\0');
        assert_null(strstr(error.message, "secret"));
        assert_true(spent_in_ledger() == 0);
    }
}

typedef struct told {
    uint64_t done, total, calls, stop_at;
} told;

static int tell(void *context, const char *stage, uint64_t done, uint64_t total) {
    told *t = context;
    (void)stage;
    assert_true(done <= total && done >= t->done);
    *t = (told){done, total, t->calls + 1, t->stop_at};
    return t->stop_at > 0 && t->calls >= t->stop_at;
}

static void test_stopped(void **state) {
    (void)state;
    static tem_text_input texts[TEXTS];
    const tem_job job = {.ledger = ledger};
    tem_texts *private = NULL;
    make_texts(texts);
    for (unsigned threads = 1; threads <= 3; threads++) {
        told t = {.calls = 0};
        const tem_run run = {.threads = threads, .progress = tell, .progress_context = &t};
        assert_int_equal(
            tem_privatize_texts(mechanism, NULL, texts, TEXTS, &run, &private, NULL, NULL, NULL),
            TEM_OK);
        assert_true(t.done == TEXTS && t.total == TEXTS);
        tem_texts_free(private);
        t = (told){.stop_at = threads == 1 ? 3 : 1}; /* others may have done the rest by then */
        private = (tem_texts *)&texts;
        assert_int_equal(
            tem_privatize_texts(mechanism, &job, texts, TEXTS, &run, &private, NULL, NULL, NULL),
            TEM_ERR_CANCELLED);
        assert_true(private == NULL && spent_in_ledger() == 0);
    }
}

static void test_refused(void **state) {
    (void)state;
    const char *const inputs[] = {input};
    const tem_job bad[] = {{.format = TEM_FORMAT_TEXT},
                           {.field = "text"},
                           {.inputs = inputs, .input_count = 1},
                           {.output = output},
                           {.missing = (tem_missing)9},
                           {.text = {.oov = (tem_oov)9}},
                           {.budget = 5},
                           {.by = "who"},
                           {.ledger = ledger, .budget = 5, .text = {.oov = TEM_OOV_MASK}}};
    tem_texts *private = NULL;
    tem_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(run_three(&bad[i], NULL, &private, NULL, &error), TEM_ERR_ARGUMENT);
        assert_true(private == NULL && !is_there(ledger));
    }
    const tem_text_input nowhere[] = {text_of("the"), {.text = NULL, .bytes = 1}};
    assert_int_equal(
        tem_privatize_texts(mechanism, NULL, nowhere, 2, NULL, &private, NULL, NULL, &error),
        TEM_ERR_ARGUMENT);
    assert_int_equal(error.line, 2);
    tem_counts counts = {.documents = 7};
    private = (tem_texts *)&counts;
    assert_int_equal(
        tem_privatize_texts(NULL, NULL, nowhere, 1, NULL, &private, &counts, NULL, NULL),
        TEM_ERR_ARGUMENT);
    assert_true(private == NULL && counts.documents == 0);
    assert_int_equal(
        tem_privatize_texts(mechanism, NULL, NULL, 1, NULL, &private, NULL, NULL, NULL),
        TEM_ERR_ARGUMENT);
    assert_int_equal(tem_privatize_texts(mechanism, NULL, nowhere, 1, NULL, NULL, NULL, NULL, NULL),
                     TEM_ERR_ARGUMENT);
    assert_null(tem_texts_at(NULL, 0, NULL));
}

#ifdef TEM_FAULTS
/* Whatever the system refuses: all is handed out and charged for, or nothing is handed out. */
static void test_faults(void **state) {
    (void)state;
    const tem_job job = {.ledger = ledger};
    for (uint64_t n = 1;; n++) {
        tem_texts *private = NULL;
        clear(NULL);
        core_fault_arm(n);
        const tem_status status = run_three(&job, NULL, &private, NULL, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_true((status == TEM_OK) == (private != NULL));
        assert_true(status != TEM_OK || spent_in_ledger() == 10);
        tem_texts_free(private);
        if (!hit) {
            assert_true(status == TEM_OK && n > 10);
            return;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_same_as_a_file, clear),
        cmocka_unit_test(test_secure),
        cmocka_unit_test_teardown(test_charged, clear),
        cmocka_unit_test_teardown(test_charged_to_people, clear),
        cmocka_unit_test_teardown(test_one_text_fails, clear),
        cmocka_unit_test_teardown(test_stopped, clear),
        cmocka_unit_test_teardown(test_refused, clear),
#ifdef TEM_FAULTS
        cmocka_unit_test_teardown(test_faults, clear),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
