/* test_report.c - the report of a run: its bytes, its keys and what it claims.
 *
 * jansson reads every report and writes it again in the same way: equal bytes are JSON as other
 * programs write it, down to the digits of numbers. */
#include "core/fault.h"
#include "job/report.h"
#include "job/spending.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "small_model.h"

static tem_model *model;
static const tem_counts counts = {.documents = 2, .words = 13, .unknown = 3, .punctuation = 4};

static int set_up(void **state) {
    const float values[] = {0, 1, 2.5F, 4};
    (void)state;
    model = small_model(NULL, values, 4, 1, TEM_EUCLIDEAN, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_model_free(model);
    return 0;
}

static tem_mechanism *mechanism_of(const char *name, double epsilon) {
    const tem_mechanism_options options = {.mechanism = name, .epsilon = epsilon};
    tem_mechanism *made = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &made, NULL), TEM_OK);
    return made;
}

/* The report as jansson has it; its bytes must be those that jansson writes. */
static json_t *report_of(const tem_mechanism *mechanism, const tem_job *job,
                         const tem_balance *balance) {
    char *text = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_report_json(mechanism, job, &counts, balance, NULL, &text, &bytes, NULL),
                     TEM_OK);
    assert_int_equal(strlen(text), bytes);
    json_t *said = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(said);
    char *again = json_dumps(said, JSON_INDENT(1));
    assert_true(text[bytes - 1] == '\n');
    text[bytes - 1] = '\0';
    assert_string_equal(text, again);
    free(again);
    tem_text_free(text);
    return said;
}

static double number(const json_t *said, const char *key) {
    assert_true(json_is_real(json_object_get(said, key)));
    return json_real_value(json_object_get(said, key));
}

static const char *name(const json_t *said, const char *key) {
    return json_string_value(json_object_get(said, key));
}

static json_int_t count(const json_t *said, const char *key) {
    assert_true(json_is_integer(json_object_get(said, key)));
    return json_integer_value(json_object_get(said, key));
}

static bool is_null(const json_t *said, const char *key) {
    return json_is_null(json_object_get(said, key));
}

static void test_private_run(void **state) {
    (void)state;
    tem_mechanism *mechanism = mechanism_of("tem", 2.1);
    const tem_job job = {0};
    tem_mechanism_info info;
    json_t *r = report_of(mechanism, &job, NULL);
    tem_mechanism_get_info(mechanism, &info);
    assert_string_equal(json_object_iter_key(json_object_iter(r)), "report");
    assert_string_equal(name(r, "report"), TEM_REPORT_FORMAT);
    assert_string_equal(name(r, "mechanism"), "tem");
    assert_true(json_is_true(json_object_get(r, "private")) && is_null(r, "why_not_private"));
    assert_true(number(r, "epsilon") == 2.1 && number(r, "s") == info.s);
    assert_true(number(r, "spent") == 13 * 2.1);
    assert_true(number(r, "spent_worst") == 13 * info.epsilon_gamma);
    assert_true(count(r, "words") == 13 && count(r, "unknown") == 3 && count(r, "documents") == 2);
    assert_int_equal(count(r, "released_unseen"), 0);
    assert_string_equal(name(r, "oov"), "uniform");
    assert_string_equal(name(r, "punctuation"), "drop");
    assert_string_equal(name(r, "missing"), "empty");
    assert_true(json_is_false(json_object_get(r, "keep_lines")));
    assert_true(is_null(r, "certificate") && is_null(r, "effects") && is_null(r, "keeps"));
    assert_int_equal(json_object_size(r), RUN_LEDGER); /* and nothing about a ledger */
    json_decref(r);
    tem_mechanism_free(mechanism);
}

/* PRIVACY: no guarantee, no bound, whatever else the mechanism has. */
static void test_no_guarantee(void **state) {
    (void)state;
    tem_mechanism *drawn = mechanism_of("tem", 2);
    tem_mechanism silent = *drawn;
    mechanism_ops says_nothing = *drawn->ops;
    says_nothing.properties.guarantee = TEM_GUARANTEE_NONE;
    silent.ops = &says_nothing;
    tem_mechanism_info info;
    tem_mechanism_get_info(&silent, &info);
    assert_true(isinf(info.epsilon_gamma));
    const tem_job job = {.text = {.oov = TEM_OOV_KEEP_UNSAFE, .punctuation = TEM_PUNCTUATION_KEEP}};
    const tem_job plain = {.insecure_seeded = 1};
    for (int i = 0; i < 3; i++) {
        json_t *r = report_of(i == 0 ? &silent : drawn,
                              i == 0   ? &(tem_job){0}
                              : i == 1 ? &job
                                       : &plain,
                              NULL);
        assert_true(json_is_false(json_object_get(r, "private")));
        assert_non_null(name(r, "why_not_private"));
        assert_true(is_null(r, "spent_worst"));
        assert_int_equal(count(r, "released_unseen"), i == 1 ? 7 : 0);
        json_decref(r);
    }
    tem_mechanism_free(drawn);
}

/* An option of a newer version may be one that releases more: there is no report of the run, and it
 * is not called private. */
static void test_job_for_a_newer_version(void **state) {
    (void)state;
    tem_mechanism *mechanism = mechanism_of("tem", 2);
    const tem_job jobs[] = {{.reserved = {1}}, {.text = {.reserved = {1}}}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *text = NULL;
        size_t bytes = 0;
        assert_non_null(spending_why_not_private(mechanism, &jobs[i]));
        assert_int_equal(
            tem_report_json(mechanism, &jobs[i], &counts, NULL, NULL, &text, &bytes, NULL),
            TEM_ERR_ARGUMENT);
        assert_null(text);
    }
    tem_mechanism_free(mechanism);
}

static void test_ledger_of_a_report(void **state) {
    (void)state;
    tem_mechanism *mechanism = mechanism_of("madlib", 1e-5);
    tem_job job = {.ledger = "a \"\xff\" \\ \x01 \xc3\xa9", .budget = 0.1, .by = "user"};
    const tem_balance balance = {.spent_before = 1e30, .left = 12.25, .people = 4};
    json_t *r = report_of(mechanism, &job, &balance);
    assert_string_equal(name(r, "ledger"), "a \"\xef\xbf\xbd\" \\ \x01 \xc3\xa9");
    assert_string_equal(name(r, "by"), "user");
    assert_int_equal(count(r, "people"), 4);
    assert_true(number(r, "spent_before") == 1e30 && number(r, "budget") == 0.1);
    assert_true(number(r, "left") == 12.25 && is_null(r, "s") && is_null(r, "epsilon_gamma"));
    assert_int_equal(json_object_size(r), RUN_FIELDS);
    json_decref(r);
    job.by = NULL;
    job.budget = 0;
    r = report_of(mechanism, &job, &(tem_balance){.left = INFINITY});
    assert_true(is_null(r, "by") && is_null(r, "people") && is_null(r, "budget"));
    assert_true(is_null(r, "left") && number(r, "spent_before") == 0);
    json_decref(r);
    tem_mechanism_free(mechanism);
}

static void assert_number(const char *printed, const char *wanted) {
    char plain[REPORT_NUMBER_BYTES];
    report_number(printed, plain);
    assert_string_equal(plain, wanted);
}

/* As locales print numbers: with a comma, or with U+066B. */
static void test_numbers(void **state) {
    (void)state;
    assert_number("26", "26.0");
    assert_number("0.10000000000000001", "0.10000000000000001");
    assert_number("-1,5", "-1.5");
    assert_number("1\xd9\xab"
                  "5e-05",
                  "1.5e-5");
    assert_number("1e+25", "1e25");
    assert_number("-1.2345678901234567e-308", "-1.2345678901234567e-308");
}

static void test_refused(void **state) {
    (void)state;
    tem_mechanism *mechanism = mechanism_of("tem", 2);
    const tem_job job = {0};
    const tem_balance balance = {0};
    char *text = NULL;
    size_t n = 0;
    tem_error error;
    assert_int_equal(tem_report_json(NULL, &job, &counts, NULL, NULL, &text, &n, &error),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_report_json(mechanism, NULL, &counts, NULL, NULL, &text, &n, &error),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_report_json(mechanism, &job, NULL, NULL, NULL, &text, &n, &error),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_report_json(mechanism, &job, &counts, NULL, NULL, NULL, &n, &error),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_report_json(mechanism, &job, &counts, NULL, NULL, &text, NULL, &error),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_report_json(mechanism, &job, &counts, &balance, NULL, &text, &n, &error),
                     TEM_ERR_ARGUMENT);
    assert_null(text);
    tem_mechanism_free(mechanism);
}

#ifdef TEM_FAULTS
/* The n-th allocation fails, for all n: no report, and nothing is left behind. */
static void test_faults(void **state) {
    (void)state;
    tem_mechanism *mechanism = mechanism_of("tem", 2);
    const tem_job job = {.ledger = "spent"};
    const tem_balance balance = {.left = 1};
    for (uint64_t n = 1;; n++) {
        char *text = NULL;
        size_t bytes = 0;
        core_fault_arm(n);
        const tem_status status =
            tem_report_json(mechanism, &job, &counts, &balance, NULL, &text, &bytes, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_int_equal(status, hit ? TEM_ERR_MEMORY : TEM_OK);
        assert_true((text == NULL) == hit);
        tem_text_free(text);
        if (!hit) {
            assert_true(n > 3);
            break;
        }
    }
    tem_mechanism_free(mechanism);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private_run),
        cmocka_unit_test(test_no_guarantee),
        cmocka_unit_test(test_job_for_a_newer_version),
        cmocka_unit_test(test_ledger_of_a_report),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused),
#ifdef TEM_FAULTS
        cmocka_unit_test(test_faults),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
