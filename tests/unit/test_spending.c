/* test_spending.c - which documents may be released, against whole numbers that are added up here.
 *
 * Epsilon is a tenth and a budget some tenths, which no binary fraction represents exactly: the
 * last tenth can be spent, and no more. Several runs share a ledger; each knows only the content of
 * the file. */
#include "core/status.h"
#include "job/spending.h"
#include "pseudo.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PEOPLE = 5, DOCUMENTS = 12, RUNS = 8 };

static char folder[64], path[128], model_path[128];
static tem_model *model;
static tem_mechanism *tenth;

static int set_up(void **state) {
    (void)state;
    static const char *const words[] = {"the", "movie", "was", "good"};
    const float values[] = {0, 300, 600, 900};
    const tem_mechanism_options options = {.mechanism = "tem", .epsilon = 0.1, .gamma = 300};
    tem_vectors *vectors = NULL;
    tem_model *built = NULL;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.36s/tem-spending-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/ledger", folder);
    snprintf(model_path, sizeof model_path, "%s/model", folder);
    assert_int_equal(tem_vectors_create(words, values, 4, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &built, NULL), TEM_OK);
    assert_int_equal(tem_model_save(built, model_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(model_path, &model, NULL), TEM_OK);
    assert_int_equal(tem_model_verify(model, NULL, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(model, &options, &tenth, NULL), TEM_OK);
    tem_model_free(built);
    tem_vectors_free(vectors);
    unlink(model_path);
    return 0;
}

static int clear(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

static int tear_down(void **state) {
    clear(state);
    tem_mechanism_free(tenth);
    tem_model_free(model);
    return rmdir(folder); /* fails if something was left behind */
}

/* ---- documents, and what they cost in tenths ---- */

static uint64_t spent[PEOPLE]; /* by all runs so far */

typedef struct document {
    unsigned person;
    uint64_t words;
} document;

static void make_documents(document documents[DOCUMENTS], unsigned people) {
    for (int i = 0; i < DOCUMENTS; i++)
        documents[i] = (document){(unsigned)random_below(people), random_below(4)};
}

/* One run with a budget of `tenths`; by: whether people have accounts of their own. */
typedef struct run {
    tem_job job;
    tem_balance balance;
    spending spending;
    bool by;
} run;

static void run_begin(run *r, uint64_t tenths, bool by, bool dry) {
    *r = (run){.by = by};
    r->job = (tem_job){
        .ledger = path, .budget = (double)tenths / 10, .by = by ? "user" : NULL, .dry_run = dry};
    assert_int_equal(spending_check(tenth, &r->job, NULL), TEM_OK);
    assert_int_equal(spending_open(&r->spending, tenth, &r->job, NULL, NULL), TEM_OK);
}

static spending_document about(const run *r, const document *d) {
    spending_document told = {.counts = {.documents = 1, .words = d->words}};
    char name[16];
    const int length = snprintf(name, sizeof name, "person %u", d->person);
    if (r->by)
        spending_person(&r->spending, name, (size_t)length, told.person);
    return told;
}

static tem_status count(run *r, const document *d, uint64_t record) {
    const spending_document told = about(r, d);
    return spending_count(&r->spending, &told, record, NULL);
}

static tem_status take(run *r, const document *d, uint64_t record) {
    const spending_document told = about(r, d);
    tem_error error;
    const tem_status status = spending_take(&r->spending, &told, record, &error);
    if (status == TEM_ERR_BUDGET)
        assert_int_equal(strstr(error.message, " is left for its person") != NULL, r->by);
    return status;
}

/* The balance is that of the account that has the least left, of those that were charged. */
static void check_balance(run *r, uint64_t tenths, const uint64_t charged[PEOPLE]) {
    uint64_t all = 0, people = 0, most = 0, largest = 0;
    for (int p = 0; p < PEOPLE; p++) {
        all += charged[p];
        largest = charged[p] > largest ? charged[p] : largest; /* a word costs a tenth */
        people += charged[p] > 0;
        if (charged[p] > 0 && spent[p] > most)
            most = spent[p];
    }
    spending_close(&r->spending, &r->balance);
    assert_true(fabs(r->balance.spent - (double)all / 10) < 1e-9);
    assert_int_equal(r->balance.people, r->by ? people : 0);
    assert_int_equal(r->balance.largest, r->by ? largest : 0);
    if (people > 0)
        assert_true(fabs(r->balance.left - (double)(tenths - most) / 10) < 1e-9);
}

/* ---- a pipe: batch by batch ---- */

/* Takes batches of up to four until one is refused; returns which document that was. */
static int take_batches(run *r, const document *documents, uint64_t tenths,
                        uint64_t charged[PEOPLE]) {
    for (int i = 0; i < DOCUMENTS;) {
        const int end = i + 1 + (int)random_below(4);
        bool refused = false;
        assert_int_equal(spending_begin(&r->spending, NULL), TEM_OK);
        for (; i < end && i < DOCUMENTS && !refused; i++) {
            const document *d = &documents[i];
            const bool fits = d->words == 0 || spent[d->person] + d->words <= tenths;
            assert_int_equal(take(r, d, (uint64_t)i + 1), fits ? TEM_OK : TEM_ERR_BUDGET);
            refused = !fits;
            if (fits) {
                spent[d->person] += d->words;
                charged[d->person] += d->words;
            }
        }
        assert_int_equal(spending_end(&r->spending, NULL), TEM_OK);
        if (refused)
            return i - 1;
    }
    return DOCUMENTS;
}

static int stream_runs(unsigned people, uint64_t tenths) {
    int refused = 0;
    memset(spent, 0, sizeof spent);
    for (int i = 0; i < RUNS; i++) {
        run r;
        document documents[DOCUMENTS];
        uint64_t charged[PEOPLE] = {0};
        make_documents(documents, people);
        run_begin(&r, tenths, people > 1, false);
        refused += take_batches(&r, documents, tenths, charged) < DOCUMENTS;
        check_balance(&r, tenths, charged);
    }
    clear(NULL);
    return refused;
}

static void test_batches(void **state) {
    (void)state;
    int refused = 0;
    for (uint64_t tenths = 1; tenths <= 60; tenths += 7)
        refused += stream_runs(1, tenths) + stream_runs(PEOPLE, tenths);
    assert_in_range(refused, 20, 18 * RUNS - 20); /* both happen, often */
}

/* ---- files: counted, charged at once, and then released ---- */

static bool all_can_pay(const document *documents, uint64_t tenths, uint64_t wanted[PEOPLE]) {
    bool enough = true;
    for (int i = 0; i < DOCUMENTS; i++)
        wanted[documents[i].person] += documents[i].words;
    for (int p = 0; p < PEOPLE; p++)
        enough &= wanted[p] == 0 || spent[p] + wanted[p] <= tenths;
    return enough;
}

/* Returns whether the run could be paid for. */
static bool counted_run(unsigned people, uint64_t tenths, bool dry) {
    run r;
    document documents[DOCUMENTS];
    uint64_t wanted[PEOPLE] = {0}, charged[PEOPLE] = {0};
    make_documents(documents, people);
    const bool enough = all_can_pay(documents, tenths, wanted);
    run_begin(&r, tenths, people > 1, dry);
    for (int i = 0; i < DOCUMENTS; i++)
        assert_int_equal(count(&r, &documents[i], (uint64_t)i + 1), TEM_OK);
    assert_int_equal(spending_settle(&r.spending, NULL), enough ? TEM_OK : TEM_ERR_BUDGET);
    if (dry) {
        spending_close(&r.spending, NULL);
        return enough;
    }
    for (int p = 0; p < PEOPLE && enough; p++) {
        charged[p] = wanted[p];
        spent[p] += wanted[p];
    }
    for (int i = 0; i < DOCUMENTS && enough; i++) {
        /* A file that has grown since: one word more than was counted for its person. */
        const document grown = {documents[i].person, wanted[documents[i].person] + 1};
        assert_int_equal(spending_begin(&r.spending, NULL), TEM_OK);
        assert_int_equal(take(&r, &grown, (uint64_t)i + 1), TEM_ERR_FILE);
        assert_int_equal(take(&r, &documents[i], (uint64_t)i + 1), TEM_OK);
        assert_int_equal(spending_end(&r.spending, NULL), TEM_OK);
        wanted[documents[i].person] -= documents[i].words;
    }
    check_balance(&r, tenths, charged);
    return enough;
}

static void test_counted(void **state) {
    (void)state;
    int paid = 0;
    for (uint64_t tenths = 5; tenths <= 100; tenths += 19)
        for (unsigned people = 1; people <= PEOPLE; people += PEOPLE - 1) {
            memset(spent, 0, sizeof spent);
            for (int i = 0; i < RUNS; i++)
                paid += counted_run(people, tenths, false);
            clear(state);
        }
    assert_in_range(paid, 10, 6 * 2 * RUNS - 10);
}

/* A dry run says the same, makes no ledger, and leaves one as it was. */
static void test_dry_runs(void **state) {
    (void)state;
    memset(spent, 0, sizeof spent);
    counted_run(PEOPLE, 20, true);
    assert_int_equal(access(path, F_OK), -1);
    for (int i = 0; i < RUNS; i++) {
        counted_run(PEOPLE, 20, true);
        counted_run(PEOPLE, 20, false);
    }
}

/* ---- a budget that is no decimal ---- */

/* A word costs 0.300000000001 and at most 90.0000000003; a budget of half a step less than that
 * does not pay for it. */
static void test_budget_is_rounded_down(void **state) {
    (void)state;
    const tem_mechanism_options options = {.epsilon = 0.300000000001, .gamma = 300};
    const tem_job jobs[] = {{.ledger = path, .budget = 0.3000000000005},
                            {.ledger = path, .budget_worst = 90.0000000002995},
                            {.ledger = path, .budget = 0.300000000001},
                            {.ledger = path, .budget_worst = 90.0000000003}};
    const spending_document word = {.counts = {.documents = 1, .words = 1}};
    tem_mechanism *mechanism = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        spending s;
        assert_int_equal(spending_check(mechanism, &jobs[i], NULL), TEM_OK);
        assert_int_equal(spending_open(&s, mechanism, &jobs[i], NULL, NULL), TEM_OK);
        assert_int_equal(spending_begin(&s, NULL), TEM_OK);
        assert_int_equal(spending_take(&s, &word, 1, NULL), i < 2 ? TEM_ERR_BUDGET : TEM_OK);
        assert_int_equal(spending_end(&s, NULL), TEM_OK);
        spending_close(&s, NULL);
        clear(state);
    }
    tem_mechanism_free(mechanism);
}

/* ---- the salt ---- */

/* Each new ledger hashes people with a secret of its own. By chance two are equal once in 2^128. */
static void test_salts_differ(void **state) {
    unsigned char salts[3][LEDGER_SALT_BYTES] = {{0}};
    for (int i = 1; i < 3; i++) {
        run r;
        run_begin(&r, 10, true, false);
        memcpy(salts[i], r.spending.ledger.header.salt, sizeof salts[i]);
        spending_close(&r.spending, NULL);
        clear(state);
        for (int other = 0; other < i; other++)
            assert_memory_not_equal(salts[i], salts[other], LEDGER_SALT_BYTES);
    }
}

/* ---- without a ledger ---- */

static void test_no_ledger(void **state) {
    (void)state;
    const tem_job job = {.ledger = NULL};
    const spending_document d = {.counts = {.documents = 1, .words = UINT64_MAX}};
    spending s;
    assert_int_equal(spending_check(tenth, &job, NULL), TEM_OK);
    assert_int_equal(spending_open(&s, tenth, &job, NULL, NULL), TEM_OK);
    assert_int_equal(spending_count(&s, &d, 1, NULL), TEM_OK);
    assert_int_equal(spending_settle(&s, NULL), TEM_OK);
    assert_int_equal(spending_begin(&s, NULL), TEM_OK);
    assert_int_equal(spending_take(&s, &d, 1, NULL), TEM_OK);
    assert_int_equal(spending_end(&s, NULL), TEM_OK);
    spending_close(&s, NULL);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_batches, clear),
        cmocka_unit_test_setup(test_counted, clear),
        cmocka_unit_test_setup(test_dry_runs, clear),
        cmocka_unit_test_setup(test_budget_is_rounded_down, clear),
        cmocka_unit_test_setup(test_salts_differ, clear),
        cmocka_unit_test_setup(test_no_ledger, clear),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
