/* test_page.c - findings and the HTML report: their numbers against the accountant's, and what a
 * page says of runs with and without a bound. tests/check-report reads whole pages. */
#include "core/fault.h"
#include "page/findings.h"
#include "page/html.h"
#include "records/fields.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

#include "array_language.h"
#include "small_model.h"

enum { WORDS = 6 };
static const char *const words[WORDS] = {"the", "was", "</bdi><b>", "film", "\"movie\"", "&great"};
static const float values[WORDS] = {0, 0.5F, 1, 2.5F, 4, 9};
static tem_model *model;
static tem_prior *prior;
static core_buffer written; /* by SAY, to compare with */

static int set_up(void **state) {
    (void)state;
    model = small_model(words, values, WORDS, 1, TEM_EUCLIDEAN, 0);
    return tem_prior_create_zipf(model, 1, &prior, NULL) != TEM_OK;
}

static int tear_down(void **state) {
    (void)state;
    tem_prior_free(prior);
    tem_model_free(model);
    return 0;
}

static tem_mechanism *mechanism_of(const char *name, double epsilon) {
    const tem_mechanism_options options = {.mechanism = name, .epsilon = epsilon};
    tem_mechanism *made = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &made, NULL), TEM_OK);
    return made;
}

static tem_findings *findings_of(const tem_mechanism *mechanism, const uint32_t *probes,
                                 size_t count) {
    const tem_findings_options options = {.prior = prior,
                                          .prior_name = "zipf<1>",
                                          .probes = probes,
                                          .probe_count = count,
                                          .missing_probes = "<i>, zzz"};
    tem_findings *made = NULL;
    assert_int_equal(tem_findings_create(mechanism, &options, NULL, &made, NULL), TEM_OK);
    return made;
}

static char *page_of(const tem_findings *findings, const tem_job *job, const tem_counts *counts) {
    const tem_report_page page = {.job = job, .counts = counts, .command = "tem <x>"};
    char *html = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_report_html(findings, &page, &html, &bytes, NULL), TEM_OK);
    assert_int_equal(strlen(html), bytes);
    return html;
}

/* Field by field: the bytes between the fields may differ. */
static void assert_same_audit(const tem_audit *a, const tem_audit *b) {
    assert_int_equal(a->is_metric, b->is_metric);
    assert_true(a->realised == b->realised && a->realised_least == b->realised_least);
    assert_int_equal(a->worst_a, b->worst_a);
    assert_int_equal(a->worst_b, b->worst_b);
    assert_int_equal(a->worst_distance, b->worst_distance);
    assert_true(a->local == b->local);
    assert_int_equal(a->pairs_examined, b->pairs_examined);
    assert_int_equal(a->pairs_pruned, b->pairs_pruned);
}

/* Equal to the same numbers of the public calls. */
static void test_findings_are_the_accountants(void **state) {
    (void)state;
    const uint32_t probes[] = {3, 5};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, probes, 2);
    tem_accountant *accountant = NULL;
    tem_summary summary;
    tem_audit audit;
    tem_exposure most[WORDS];
    uint32_t count = 0;
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(
        tem_accountant_summarise(accountant, mechanism, prior, 1, NULL, &summary, NULL), TEM_OK);
    assert_int_equal(tem_accountant_audit(accountant, mechanism, NULL, &audit, NULL), TEM_OK);
    assert_int_equal(tem_accountant_exposed(accountant, mechanism, TEM_TARGET_SELF, NULL, 0, NULL,
                                            most, WORDS, &count, NULL),
                     TEM_OK);
    assert_true(f->has_numbers);
    assert_memory_equal(&f->summary, &summary, sizeof summary);
    assert_same_audit(&f->audit, &audit);
    assert_int_equal(f->exposed_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(f->exposed[i].word, most[i].word);
        assert_true(fabs(f->exposed[i].self - most[i].self) < 1e-15);
        assert_true(i == 0 || f->selves[i] >= f->selves[i - 1]);
    }
    assert_int_equal(f->probe_count, 2);
    assert_true(f->probes[0].self >= f->probes[1].self);
    tem_accountant_free(accountant);
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* The levels against N_w of all words, counted here. */
static void test_levels(void **state) {
    (void)state;
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    for (int level = 0; level < FINDINGS_LEVELS; level++) {
        const uint32_t at = (uint32_t)ceil(findings_levels[level] * f->self_count - 1e-9) - 1;
        assert_true(f->of_vocabulary[level] == f->selves[at]);
        assert_true(f->of_text[level] <= f->selves[f->self_count - 1]);
    }
    assert_true(f->of_text[FINDINGS_LEVELS - 1] == f->selves[f->self_count - 1]);
    assert_true(f->chance > 0.4 && f->chance < 0.42); /* 1 / (1 + 1/2 + ... + 1/6) */
    /* The curve has the mechanism's own point, and more is guessed at a larger epsilon. */
    bool has_own = false;
    for (uint32_t i = 0; i < f->curve_count; i++) {
        has_own = has_own || (f->curve_epsilon[i] == 1 && f->curve_guess[i] == f->summary.bayes);
        assert_true(i == 0 || f->curve_guess[i] >= f->curve_guess[i - 1] - 1e-9);
    }
    assert_true(has_own);
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* A map of the outputs changes no number: they are those of the draws. */
static void test_remapped(void **state) {
    (void)state;
    const uint32_t map[WORDS] = {0, 0, 0, 3, 3, 3};
    const tem_mechanism_options options = {.epsilon = 1, .remap = map};
    tem_mechanism *plain = mechanism_of("tem", 1), *mapped = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &mapped, NULL), TEM_OK);
    tem_findings *a = findings_of(plain, NULL, 0), *b = findings_of(mapped, NULL, 0);
    assert_memory_equal(&a->summary, &b->summary, sizeof a->summary);
    assert_true(b->info.remap[0] != '\0');
    tem_findings_free(a);
    tem_findings_free(b);
    tem_mechanism_free(plain);
    tem_mechanism_free(mapped);
}

static void test_page_of_a_run(void **state) {
    (void)state;
    const uint32_t probes[] = {2};
    const tem_counts counts = {.documents = 4, .words = 20, .unknown = 3, .largest = 9};
    const tem_job job = {.format = TEM_FORMAT_CSV, .field = "</td><script>"};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, probes, 1);
    char *html = page_of(f, &job, &counts);
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "<b>"));
    assert_null(strstr(html, "tem <x>"));
    assert_non_null(strstr(html, "&lt;/td&gt;&lt;script&gt;"));
    assert_non_null(strstr(html, "<bdi>&lt;/bdi&gt;&lt;b&gt;</bdi>"));
    assert_non_null(strstr(html, "zipf&lt;1&gt;"));
    assert_non_null(strstr(html, "20, of them 3 unknown"));
    assert_non_null(strstr(html, "the largest document</th><td class=\"number\">9<"));
    assert_null(strstr(html, "This output is not private"));
    assert_non_null(strstr(html, "<h1>Privacy report: epsilon 1</h1>"));
    assert_non_null(strstr(html, "not in the vocabulary: <bdi>&lt;i&gt;, zzz</bdi>. If a text"));
    assert_non_null(strstr(html, "that the model lacks count as unknown"));
    tem_text_free(html);
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* A text that comes out nearly unchanged: the page counts the words, and names the field. */
static void test_page_says_what_stays(void **state) {
    (void)state;
    const uint32_t probes[] = {3};
    const tem_counts counts = {.documents = 1, .words = 1030, .unknown = 30, .largest = 1030};
    const tem_job job = {.format = TEM_FORMAT_CSV, .field = "text"};
    tem_mechanism *weak = mechanism_of("tem", 1), *strong = mechanism_of("tem", 0.01);
    tem_findings *f = findings_of(weak, probes, 1), *g = findings_of(strong, NULL, 0);
    tem_fields *fields = NULL;
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    assert_int_equal(tem_fields_add(fields, "text", 4, TEM_FIELD_PRIVATE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_fields_add(fields, "stars", 5, TEM_FIELD_UNCHANGED, NULL, NULL), TEM_OK);
    assert_int_equal(tem_fields_add(fields, "id", 2, TEM_FIELD_UNCHANGED, NULL, NULL), TEM_OK);
    for (int i = 0; i < 2; i++) {
        const tem_report_page page = {.job = &job, .counts = &counts, .fields = fields};
        char *html = NULL, expected[64];
        size_t bytes = 0;
        assert_int_equal(tem_report_html(i == 0 ? f : g, &page, &html, &bytes, NULL), TEM_OK);
        assert_non_null(strstr(html, "<p>The field <code>id</code> is released unchanged and "
                                     "looks personal: look at it before you sign.</p>"));
        assert_null(strstr(html, "The fields <code>"));
        const double mean = (i == 0 ? f : g)->summary.self_mean;
        snprintf(expected, sizeof expected, "about %.0f<small>of 1,030 words", round(1000 * mean));
        assert_true(mean > 0.01 && mean < 0.999);
        assert_non_null(strstr(html, expected));
        assert_true((strstr(html, "Expect that about") != NULL) == (i == 0));
        tem_text_free(html);
    }
    tem_fields_free(fields);
    tem_findings_free(f);
    tem_findings_free(g);
    tem_mechanism_free(weak);
    tem_mechanism_free(strong);
}

/* Whoever signs accepts the unchanged fields: their number, or a warning where nobody counted. */
static void test_page_counts_unchanged_fields(void **state) {
    (void)state;
    static const char unknown[] = "<li>Fields that are not private are released as they are.</li>";
    static const char *const expected[] = {
        unknown, "", "<li>1 field is released as it is; its name is below.</li>",
        "<li>2 fields are released as they are; their names are below.</li>"};
    const tem_counts counts = {.documents = 1, .words = 10, .largest = 10};
    const tem_job job = {.format = TEM_FORMAT_CSV, .field = "text"};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    tem_fields *fields = NULL;
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const tem_report_page page = {.job = &job, .counts = &counts, .fields = fields};
        char *html = NULL;
        size_t bytes = 0;
        assert_int_equal(tem_report_html(f, &page, &html, &bytes, NULL), TEM_OK);
        assert_non_null(strstr(html, expected[i]));
        assert_true((strstr(html, unknown) != NULL) == (i == 0));
        assert_true((strstr(html, "below.</li>") != NULL) == (i >= 2));
        assert_non_null(strstr(html, "every word of a document of mean length"));
        tem_text_free(html);
        static const char *const names[] = {"text", "stars", "day", "shop"};
        assert_int_equal(tem_fields_add(fields, names[i], strlen(names[i]),
                                        i == 0 ? TEM_FIELD_PRIVATE : TEM_FIELD_UNCHANGED, NULL,
                                        NULL),
                         TEM_OK);
    }
    tem_fields_free(fields);
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* A record has more fields than a list takes: only the unchanged ones may be among the others. */
static void test_page_of_many_fields(void **state) {
    (void)state;
    const tem_counts counts = {.documents = 1, .words = 10, .largest = 10};
    const tem_job job = {.format = TEM_FORMAT_CSV, .field = "text"};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    tem_fields *fields = NULL;
    char *html = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    assert_int_equal(tem_fields_add(fields, "text", 4, TEM_FIELD_PRIVATE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_fields_add(fields, "day", 3, TEM_FIELD_UNCHANGED, NULL, NULL), TEM_OK);
    fields->more = true;
    const tem_report_page page = {.job = &job, .counts = &counts, .fields = fields};
    assert_int_equal(tem_report_html(f, &page, &html, &bytes, NULL), TEM_OK);
    assert_non_null(strstr(html, "Private fields</th><td><code>text</code></td>"));
    assert_non_null(strstr(html, "unchanged</th><td><code>day</code>, and further fields</td>"));
    tem_text_free(html);
    tem_fields_free(fields);
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

static void check_fields(const tem_findings *f, const tem_fields *fields, const char *expected) {
    const tem_counts counts = {.documents = 1, .words = 10, .largest = 10};
    const tem_job job = {.format = TEM_FORMAT_CSV, .field = "text"};
    const tem_report_page page = {.job = &job, .counts = &counts, .fields = fields};
    char *html = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_report_html(f, &page, &html, &bytes, NULL), TEM_OK);
    assert_true((strstr(html, "before you sign") != NULL) == (expected != NULL));
    if (expected != NULL)
        assert_non_null(strstr(html, expected));
    tem_text_free(html);
}

/* Every unchanged field that looks personal is named, wherever it is; a private one is not. */
static void test_page_names_personal_fields(void **state) {
    (void)state;
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    tem_fields *fields = NULL;
    check_fields(f, NULL, NULL);
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    assert_int_equal(tem_fields_add(fields, "email", 5, TEM_FIELD_PRIVATE, NULL, NULL), TEM_OK);
    check_fields(f, fields, NULL);
    tem_fields_free(fields);
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    assert_int_equal(tem_fields_add(fields, "id", 2, TEM_FIELD_UNCHANGED, NULL, NULL), TEM_OK);
    check_fields(f, fields,
                 "<p>The field <code>id</code> is released unchanged and looks personal: look at "
                 "it before you sign.</p>");
    assert_int_equal(tem_fields_add(fields, "day", 3, TEM_FIELD_UNCHANGED, NULL, NULL), TEM_OK);
    assert_int_equal(tem_fields_add(fields, "email", 5, TEM_FIELD_UNCHANGED, NULL, NULL), TEM_OK);
    check_fields(f, fields,
                 "<p>The fields <code>id</code>, <code>email</code> are released unchanged and "
                 "look personal: look at them before you sign.</p>");
    tem_fields_free(fields);
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* What the job says, where no run has listed the fields; and what its policies show. */
static void test_page_of_a_job(void **state) {
    (void)state;
    static const char *const more[] = {"title", "note"}, *const dropped[] = {"mail"};
    static const char shows[] = "<strong>Which words are unknown.</strong>";
    const struct {
        tem_job job;
        const char *fields;
        bool shows_unknown;
    } cases[] = {
        {{.field = "text"}, "Private field</th><td><code>text</code></td>", false},
        {{.field = "text", .more_fields = more, .more_field_count = 1},
         "Private fields</th><td><code>text</code>, <code>title</code></td>",
         false},
        {{.more_fields = more, .more_field_count = 2, .text = {.oov = TEM_OOV_DROP}},
         "Private fields</th><td><code>title</code>, <code>note</code></td>",
         true},
        {{.field = "text", .dropped = dropped, .dropped_count = 1, .text = {.oov = TEM_OOV_MASK}},
         "Left out</th><td><code>mail</code></td>",
         true}};
    const tem_counts counts = {.documents = 1, .words = 10, .largest = 10};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *html = page_of(f, &cases[i].job, &counts);
        assert_non_null(strstr(html, cases[i].fields));
        assert_true((strstr(html, shows) != NULL) == cases[i].shows_unknown);
        tem_text_free(html);
    }
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* The certificate by which the exponent was chosen, and what the prior is. */
static void test_page_names_certificate_and_prior(void **state) {
    (void)state;
    static const char zipf[] = "(words as frequent as Zipf's law says";
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    char *html = page_of(f, NULL, NULL), *name = f->prior_name;
    assert_null(strstr(html, "Certificate (BLAKE2b)"));
    assert_null(strstr(html, "from a certificate"));
    assert_null(strstr(html, zipf));
    tem_text_free(html);
    strcpy(f->info.certificate, "c0ffee");
    static char priors[][16] = {"zipf", "zipf:0.8", "zipf-like", "counts"};
    for (int i = 0; i < 4; i++) {
        f->prior_name = priors[i];
        html = page_of(f, NULL, NULL);
        assert_non_null(strstr(html, "Certificate (BLAKE2b)</th><td><code>c0ffee</code>"));
        assert_non_null(strstr(html, "from a certificate"));
        assert_true((strstr(html, zipf) != NULL) == (i < 2));
        tem_text_free(html);
    }
    f->prior_name = name;
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* A ledger that names people, in a run without words: no mean, which nobody can compute. */
static void test_page_of_a_run_without_words(void **state) {
    (void)state;
    const tem_counts counts = {.documents = 2};
    const tem_job job = {.ledger = "l", .by = "user", .format = TEM_FORMAT_CSV, .field = "text"};
    const tem_balance balance = {.left = INFINITY};
    const tem_report_page page = {.job = &job, .counts = &counts, .balance = &balance};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    char *html = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_report_html(f, &page, &html, &bytes, NULL), TEM_OK);
    assert_null(strstr(html, "nan<"));
    assert_null(strstr(html, "the mean person"));
    assert_non_null(strstr(html, "the mean document"));
    assert_non_null(strstr(html, "People charged</th><td>0<"));
    tem_text_free(html);
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* Charges that do not add up have no sum. */
static void test_page_of_a_mixed_ledger(void **state) {
    (void)state;
    const tem_counts counts = {.documents = 1, .words = 3};
    const tem_job job = {.ledger = "l"};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    for (int mixed = 0; mixed < 2; mixed++) {
        const tem_balance balance = {.left = INFINITY, .spent_before = 77.5, .is_mixed = mixed};
        const tem_report_page page = {.job = &job, .counts = &counts, .balance = &balance};
        char *html = NULL;
        size_t bytes = 0;
        assert_int_equal(tem_report_html(f, &page, &html, &bytes, NULL), TEM_OK);
        assert_int_equal(strstr(html, "77.5") == NULL, mixed);
        assert_int_equal(strstr(html, "which do not add up") != NULL, mixed);
        tem_text_free(html);
    }
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* A word that is said k times shows at least once with 1 - (1 - p)^k. */
static void test_repeated_words(void **state) {
    (void)state;
    const uint32_t probes[] = {3};
    tem_mechanism *mechanism = mechanism_of("tem", 0.2);
    tem_findings *f = findings_of(mechanism, probes, 1);
    char *html = page_of(f, NULL, NULL), expected[200];
    const double p = f->probes[0].self;
    assert_true(p > 0.1 && 1 - pow(1 - p, 10) < 0.9895);
    snprintf(expected, sizeof expected,
             "<bdi>film</bdi></th><td class=\"number\">%.1f&nbsp;%%</td><td class=\"number\">%.1f"
             "&nbsp;%%</td><td class=\"number\">%.1f&nbsp;%%</td>",
             100 * p, 100 * (1 - pow(1 - p, 3)), 100 * (1 - pow(1 - p, 10)));
    assert_non_null(strstr(html, expected));
    tem_text_free(html);
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* PRIVACY: without a bound, a warning, and no factor and no cost. */
static void test_pages_without_a_bound(void **state) {
    (void)state;
    const tem_counts counts = {.documents = 1, .words = 2, .unknown = 1, .largest = 2};
    const tem_job jobs[] = {{.text = {.oov = TEM_OOV_KEEP_UNSAFE}},
                            {.text = {.punctuation = TEM_PUNCTUATION_KEEP}},
                            {.insecure_seeded = 1}};
    tem_mechanism *mechanism = mechanism_of("tem", 1), *madlib = mechanism_of("madlib", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0), *g = findings_of(madlib, NULL, 0);
    for (int i = 0; i < 4; i++) {
        const tem_job plain = {0};
        char *html = page_of(i < 3 ? f : g, i < 3 ? &jobs[i] : &plain, &counts);
        assert_non_null(strstr(html, "This output is not private"));
        assert_non_null(strstr(html, "No cost can be stated"));
        assert_null(strstr(html, "Privacy report: epsilon"));
        assert_null(strstr(html, "the largest document"));
        assert_null(strstr(html, "right, at most"));
        assert_null(strstr(html, "best guess"));
        assert_null(strstr(html, "What this epsilon means."));
        tem_text_free(html);
    }
    assert_false(g->has_numbers);
    assert_true(isnan(g->estimated_median));
    tem_findings_free(f);
    tem_findings_free(g);
    tem_mechanism_free(mechanism);
    tem_mechanism_free(madlib);
}

/* ---- the verdict ---- */

static const char *const no_bound = "No bound holds for this output, and this report claims none.";

/* The page must have `written`. */
static void check_page_has(const tem_findings *f, const tem_job *job, const tem_counts *counts) {
    char *html = page_of(f, job, counts);
    assert_true(core_buffer_add(&written, "", 1));
    if (strstr(html, written.data) == NULL)
        fail_msg("the page lacks %s", written.data);
    tem_text_free(html);
}

/* The whole verdict must be these parts. */
#define VERDICT(f, job, counts, ...)                                                               \
    do {                                                                                           \
        core_buffer_clear(&written);                                                               \
        markup m = {.out = &written};                                                              \
        SAY(&m, LIT("<p class=\"verdict\">"), __VA_ARGS__, LIT("</p>"));                           \
        check_page_has(f, job, counts);                                                            \
    } while (0)

/* Each reason for which no bound holds, whatever the numbers of the mechanism are. */
static void test_verdict_without_a_bound(void **state) {
    (void)state;
    const tem_counts counts = {.documents = 1, .words = 2, .largest = 2};
    const tem_job jobs[] = {{.text = {.oov = TEM_OOV_KEEP_UNSAFE}},
                            {.text = {.oov = TEM_OOV_DROP}},
                            {.text = {.oov = TEM_OOV_MASK}},
                            {.text = {.punctuation = TEM_PUNCTUATION_KEEP}},
                            {.insecure_seeded = 1},
                            {.insecure_seeded = 1, .dry_run = 1},
                            {.missing = (tem_missing)99},
                            {.text = {.oov = (tem_oov)99}},
                            {.text = {.punctuation = (tem_punctuation)99}},
                            {.text = {.order = (tem_order)99}},
                            {.text = {.style = (tem_style)99}}};
    tem_mechanism *mechanism = mechanism_of("tem", 1), *madlib = mechanism_of("madlib", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0), *g = findings_of(madlib, NULL, 0);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        for (int level = 0; level < 2; level++) {
            f->of_vocabulary[3] = f->summary.self_median = f->summary.self_exposed = level;
            VERDICT(f, &jobs[i], &counts, ONE_OF(no_bound));
        }
    const tem_job plain = {0};
    VERDICT(g, &plain, &counts, ONE_OF(no_bound));
    VERDICT(g, NULL, NULL, ONE_OF(no_bound));
    tem_findings_free(f);
    tem_findings_free(g);
    tem_mechanism_free(mechanism);
    tem_mechanism_free(madlib);
}

#define REPLACED(median)                                                                           \
    LIT("A bound is proved, and most words of a typical text are replaced: the median word stays " \
        "itself in "),                                                                             \
        SHARE(median), LIT(" of the cases.")
#define UNCHANGED(median)                                                                          \
    LIT("A bound is proved, but most words of a typical text come out unchanged: the median word " \
        "stays itself in "),                                                                       \
        SHARE(median), LIT(" of the cases.")
#define LITTLE(exposed)                                                                            \
    LIT("A bound is proved, but it protects little: one word in 20 of the vocabulary stays "       \
        "itself "                                                                                  \
        "in more than "),                                                                          \
        SHARE(exposed), LIT(" of the cases.")

#define EXPECTED_OF_A_TEXT(mean)                                                                   \
    LIT(" Expect that about "), SHARE(mean), LIT(" of the words of a text come out unchanged.")

/* Each verdict on an output that a bound covers, at both sides of every limit. */
static void test_verdict_with_a_bound(void **state) {
    (void)state;
    const double above_quantile = nextafter(TEM_SELF_QUANTILE_LARGE, 1);
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    double *of_20 = &f->of_vocabulary[3];
    tem_summary *summary = &f->summary;
    assert_true(findings_levels[3] > 0.949 && findings_levels[3] < 0.951);
    summary->self_mean = 0.4;
    summary->self_exposed = 0;

    summary->self_median = 0.25;
    *of_20 = TEM_SELF_QUANTILE_LARGE;
    VERDICT(f, NULL, NULL, REPLACED(0.25));
    *of_20 = above_quantile;
    VERDICT(f, NULL, NULL, LITTLE(above_quantile));
    summary->self_median = 1;
    VERDICT(f, NULL, NULL, LITTLE(above_quantile), EXPECTED_OF_A_TEXT(0.4));
    *of_20 = TEM_SELF_QUANTILE_LARGE;
    summary->self_median = 0.5;
    VERDICT(f, NULL, NULL, UNCHANGED(0.5), EXPECTED_OF_A_TEXT(0.4));
    summary->self_median = nextafter(0.5, 0);
    VERDICT(f, NULL, NULL, REPLACED(0.5), EXPECTED_OF_A_TEXT(0.4));
    f->has_numbers = false;
    core_buffer_clear(&written);
    assert_true(core_buffer_add(&written, "<p>Not computed for this mechanism.</p>", 39));
    check_page_has(f, NULL, NULL);
    VERDICT(f, NULL, NULL,
            LIT("A bound is proved. How often words stay themselves is not computed "
                "for this mechanism."));
    f->estimated_median = 0.25;
    f->estimated_exposed = TEM_SELF_QUANTILE_LARGE;
    VERDICT(f, NULL, NULL,
            LIT("A bound is proved. The median word of a text stays itself in about "), SHARE(0.25),
            LIT(" of the cases."));
    f->estimated_exposed = above_quantile;
    VERDICT(f, NULL, NULL, LITTLE(above_quantile));
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* The sentence on words that come out unchanged, with a text, without one, and in a dry run. */
static void test_verdict_counts_unchanged_words(void **state) {
    (void)state;
    const tem_counts counts = {.documents = 1, .words = 30, .unknown = 10, .largest = 30};
    const tem_job job = {0}, dry = {.dry_run = 1};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    tem_summary *summary = &f->summary;
    f->of_vocabulary[3] = 0;
    summary->self_mean = 0.4;

    summary->self_median = 0.25;
    summary->self_exposed = 0.5;
    VERDICT(f, &job, &counts, REPLACED(0.25));
    summary->self_median = 0.26;
    VERDICT(f, &job, &counts, REPLACED(0.26),
            LIT(" Expect that about 8 of the 30 words come out unchanged."));
    VERDICT(f, &dry, &counts, REPLACED(0.26),
            LIT(" Expect that about 8 of the 30 words would come out unchanged."));
    summary->self_median = 0.25;
    summary->self_exposed = 1 + 1e-9; /* numbers of the audit are bounds */
    summary->self_mean = 1 + 1e-9;
    VERDICT(f, &job, &counts, REPLACED(0.25),
            LIT(" Expect that about 20 of the 30 words come out unchanged; the most exposed word "
                "does so in "),
            SHARE(1), LIT(" of the cases."));
    VERDICT(f, NULL, NULL, REPLACED(0.25), LIT(" Expect that about "), SHARE(1),
            LIT(" of the words of a text come out unchanged; the most exposed word does so in "),
            SHARE(1), LIT(" of the cases."));
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

/* Beyond gamma no two words are farther apart. */
static void test_factors_are_cut_at_gamma(void **state) {
    (void)state;
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    tem_findings *f = findings_of(mechanism, NULL, 0);
    const double gamma = f->info.gamma;
    for (int i = 1; i <= 3; i++) {
        f->nearest = (tem_dist)(gamma / 2 * i * TEM_DIST_ONE);
        const double near = i <= 2 ? (double)f->nearest / TEM_DIST_ONE : gamma;
        core_buffer_clear(&written);
        markup m = {.out = &written};
        SAY(&m, LIT("a word and the one nearest to it (median word)</th><td class=\"number\">"),
            NUMBER(near), LIT("</td><td class=\"number\">"), FACTOR(near),
            LIT("</td><td class=\"number\">"), FACTOR(f->audit.realised * near), LIT("</td></tr>"));
        check_page_has(f, NULL, NULL);
    }
    tem_findings_free(f);
    tem_mechanism_free(mechanism);
}

#ifdef TEM_FAULTS
/* Each allocation fails once: the call says so, and touches nothing. */
static void test_faults(void **state) {
    (void)state;
    const tem_findings_options options = {.prior = prior, .prior_name = "zipf"};
    const tem_counts counts = {.documents = 1, .words = 2};
    const tem_job job = {0};
    const tem_report_page page = {.job = &job, .counts = &counts};
    tem_mechanism *mechanism = mechanism_of("tem", 1);
    const tem_run run = {.threads = 1};
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        tem_findings *findings = NULL;
        char *html = NULL;
        size_t bytes = 0;
        core_fault_arm(n);
        tem_status status = tem_findings_create(mechanism, &options, &run, &findings, NULL);
        if (status == TEM_OK)
            status = tem_report_html(findings, &page, &html, &bytes, NULL);
        done = !core_fault_hit();
        core_fault_arm(0);
        assert_int_equal(status, done ? TEM_OK : TEM_ERR_MEMORY);
        assert_true((html != NULL) == done);
        tem_text_free(html);
        tem_findings_free(findings);
    }
    tem_mechanism_free(mechanism);
}
#endif

/* ---- numbers of sentences ---- */

#define SAYS(part, expected)                                                                       \
    do {                                                                                           \
        core_buffer_clear(&written);                                                               \
        markup m = {.out = &written};                                                              \
        SAY(&m, part);                                                                             \
        assert_int_equal(written.size, strlen(expected));                                          \
        assert_memory_equal(written.data, expected, strlen(expected));                             \
    } while (0)

/* A bound is rounded up, so that "at most" stays true. */
static void test_bounds_are_rounded_up(void **state) {
    (void)state;
    SAYS(AT_MOST(34.66911), "34.67");
    SAYS(AT_MOST(0), "0");
    SAYS(AT_MOST(INFINITY), "no bound");
    SAYS(FACTOR(0), "1");
    SAYS(FACTOR(log(2.001)), "2.01");
    SAYS(FACTOR(10 * log(10) + 0.001), "10<sup>11</sup>");
    SAYS(FACTOR(INFINITY), "no bound");
    SAYS(PRECISE(0.17), "17.0&nbsp;%");
    SAYS(PRECISE(0.9999999), "over 99.99\xc2\xa0%");
    SAYS(TEXT("<&>"), "&lt;&amp;&gt;");
}

static int free_written(void **state) {
    core_buffer_free(&written);
    return tear_down(state);
}

static void rule_even(uint32_t count, const released_past *past, uint64_t *own) {
    for (uint32_t y = 0; y < count; y++)
        own[y] = 1 + past->count;
}

/* In context: the language model, the numbers of a public text and its places; without such a text
 * the page says that nothing was measured. */
static void test_page_in_context(void **state) {
    (void)state;
    array_language *array = array_language_make(model, rule_even);
    const tem_mechanism_options with = {.epsilon = 1, .language = &array->language};
    char path[] = "/tmp/tem-test-page-XXXXXX";
    tem_mechanism *m = NULL;
    tem_findings *f = NULL;
    strcpy(array->language.name, "<b>books");
    assert_int_equal(tem_mechanism_create(model, &with, &m, NULL), TEM_OK);
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "zzz the film\nfilm\n", 18) == 18 && close(file) == 0);
    tem_findings_options options = {.prior = prior, .prior_name = "zipf", .public_text = path};
    assert_int_equal(tem_findings_create(m, &options, NULL, &f, NULL), TEM_OK);
    assert_true(f->has_context && f->context.positions == 2 && f->place_count == 1);
    char *html = page_of(f, NULL, NULL);
    assert_non_null(strstr(html, "&lt;b&gt;books"));
    assert_non_null(strstr(html, "At 2 of the 2 content positions"));
    assert_non_null(strstr(html, "In a public text, the median content word"));
    assert_non_null(strstr(html, "<strong>film</strong>"));
    assert_null(strstr(html, "zzz"));
    assert_null(strstr(html, "<b>"));
    tem_text_free(html);
    tem_findings_free(f);
    options.public_text = NULL;
    assert_int_equal(tem_findings_create(m, &options, NULL, &f, NULL), TEM_OK);
    html = page_of(f, NULL, NULL);
    assert_non_null(strstr(html, "In context: not measured. A public text"));
    assert_non_null(strstr(html, "Without the language model, at the same s, the median word"));
    assert_null(strstr(html, "content positions"));
    tem_text_free(html);
    /* Words with nearly no privacy: the verdict says so, though no law of a word alone exists. */
    f->estimated_exposed = TEM_SELF_QUANTILE_LARGE;
    html = page_of(f, NULL, NULL);
    assert_null(strstr(html, "protects little: without the language model"));
    tem_text_free(html);
    f->estimated_exposed = nextafter(TEM_SELF_QUANTILE_LARGE, 1);
    html = page_of(f, NULL, NULL);
    assert_non_null(strstr(html, "protects little: without the language model"));
    tem_text_free(html);
    tem_findings_free(f);
    tem_mechanism_free(m);
    /* Without a language model there is nothing to look at. */
    m = mechanism_of("tem", 1);
    options.public_text = path;
    assert_int_equal(tem_findings_create(m, &options, NULL, &f, NULL), TEM_ERR_ARGUMENT);
    tem_mechanism_free(m);
    unlink(path);
    free(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_findings_are_the_accountants),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_remapped),
        cmocka_unit_test(test_page_of_a_run),
        cmocka_unit_test(test_page_says_what_stays),
        cmocka_unit_test(test_page_counts_unchanged_fields),
        cmocka_unit_test(test_page_of_many_fields),
        cmocka_unit_test(test_page_names_personal_fields),
        cmocka_unit_test(test_page_of_a_job),
        cmocka_unit_test(test_page_names_certificate_and_prior),
        cmocka_unit_test(test_page_of_a_run_without_words),
        cmocka_unit_test(test_page_of_a_mixed_ledger),
        cmocka_unit_test(test_repeated_words),
        cmocka_unit_test(test_pages_without_a_bound),
        cmocka_unit_test(test_verdict_without_a_bound),
        cmocka_unit_test(test_verdict_with_a_bound),
        cmocka_unit_test(test_verdict_counts_unchanged_words),
        cmocka_unit_test(test_factors_are_cut_at_gamma),
        cmocka_unit_test(test_bounds_are_rounded_up),
        cmocka_unit_test(test_page_in_context),
#ifdef TEM_FAULTS
        cmocka_unit_test(test_faults),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, free_written);
}
