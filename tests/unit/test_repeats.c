/* test_repeats.c - TEM_REPEAT_ONCE: a content word that a document says again gets the output that
 * it had. The law of whole documents against their draws, and the bound between all documents that
 * repeat at the same places; what a word costs; what the memory of a document is, and that nothing
 * of it stays. */
#include "job/replacer.h"
#include "pseudo.h"
#include "rng/rng.h"
#include "tem_account.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_language.h"
#include "gamma_upper.h"
#include "small_model.h"

#include <stdio.h>
#include <unistd.h>

/* "the" is a function word; "zz" and "yy" are unknown, and so is "of", a function word, too. */
enum { WORDS = 4, INPUTS = 7, LENGTH = 3, TEXTS = INPUTS * INPUTS * INPUTS, OUTPUTS = 64 };
static const char *const words[WORDS] = {"the", "film", "dog", "sea"};
static const char *const inputs[INPUTS] = {"the", "film", "dog", "sea", "zz", "yy", "of"};
static const double epsilon = 1.5, gamma_distance = 2.5;

static tem_model *model;
static tem_mechanism *alone, *in_context;
static array_language *language;

static void rule_past(uint32_t count, const released_past *past, uint64_t *values) {
    for (uint32_t y = 0; y < count; y++) {
        values[y] = 3 + y;
        for (size_t i = 0; i < past->count; i++)
            values[y] += (past->words[i] + i + 1) * (y + 2) % 7 * 5;
    }
}

static tem_mechanism *make(const tem_language *l) {
    tem_mechanism *m = NULL;
    const tem_mechanism_options options = {
        .epsilon = epsilon, .gamma = gamma_distance, .language = l};
    assert_int_equal(tem_mechanism_create(model, &options, &m, NULL), TEM_OK);
    return m;
}

static int set_up(void **state) {
    (void)state;
    static const float places[] = {0, 1, 1.5, 3};
    model = small_model(words, places, WORDS, 1, TEM_EUCLIDEAN, 2);
    language = array_language_make(model, rule_past);
    alone = make(NULL);
    in_context = make(&language->language);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(alone);
    tem_mechanism_free(in_context);
    free(language);
    tem_model_free(model);
    return 0;
}

/* ---- documents of three words ---- */

static bool is_content(int input) {
    return input != 0 && input != 6;
}

static uint32_t id_of(int input) {
    return input < WORDS ? (uint32_t)input : TEM_NO_WORD;
}

static void input_of(int text, int input[LENGTH]) {
    for (int i = 0; i < LENGTH; i++, text /= INPUTS)
        input[i] = text % INPUTS;
}

/* The first place with the word of place i: i itself for what is no content word. */
static int first_of(const int input[LENGTH], int i) {
    for (int k = 0; k < i && is_content(input[i]); k++)
        if (input[k] == input[i])
            return k;
    return i;
}

static bool repeat_alike(const int a[LENGTH], const int b[LENGTH]) {
    for (int i = 0; i < LENGTH; i++)
        if (first_of(a, i) != first_of(b, i))
            return false;
    return true;
}

static double probability(const tem_mechanism *m, uint32_t word, const uint32_t *past, size_t count,
                          uint32_t y) {
    tem_law *law = NULL;
    assert_int_equal(mechanism_depends_on_past(m)
                         ? tem_law_create_after(m, past, count, word, 17, &law, NULL)
                         : tem_law_create(m, word, 17, &law, NULL),
                     TEM_OK);
    const double found = tem_law_probability(law, y);
    tem_law_free(law);
    return found;
}

/* What the law of a place is, for all pasts: it is asked for often. */
static double laws[INPUTS][LENGTH][16][WORDS];

static void set_laws(const tem_mechanism *m) {
    for (int w = 0; w < INPUTS; w++)
        for (int i = 0; i < LENGTH; i++)
            for (uint32_t past = 0; past < 16; past++) {
                const uint32_t shown[] = {past % WORDS, past / WORDS};
                for (uint32_t y = 0; y < WORDS; y++)
                    laws[w][i][past][y] = probability(m, id_of(w), shown, (size_t)i, y);
            }
}

/* P(output | text): the product over the places where a word is drawn for, and 0 where a repeated
 * content word has another output. */
static double law_of(const int input[LENGTH], int output) {
    double product = 1;
    uint32_t out[LENGTH];
    for (int i = 0; i < LENGTH; i++, output /= WORDS)
        out[i] = (uint32_t)output % WORDS;
    for (int i = 0; i < LENGTH; i++) {
        const uint32_t past = i == 0 ? 0 : i == 1 ? out[0] : out[0] + WORDS * out[1];
        if (first_of(input, i) < i)
            product *= out[i] == out[first_of(input, i)];
        else
            product *= laws[input[i]][i][past][out[i]];
    }
    return product;
}

static double distance(int a, int b) {
    if (id_of(a) == id_of(b))
        return 0;
    if (id_of(a) == TEM_NO_WORD || id_of(b) == TEM_NO_WORD)
        return gamma_distance;
    const double d = (double)tem_model_distance(model, id_of(a), id_of(b)) / TEM_DIST_ONE;
    return fmin(d, gamma_distance);
}

/* epsilon times the distances of the words that are drawn for: a distinct word costs once. */
static double cost(const int a[LENGTH], const int b[LENGTH]) {
    double sum = 0;
    for (int i = 0; i < LENGTH; i++)
        sum += first_of(a, i) == i ? distance(a[i], b[i]) : 0;
    return epsilon * sum;
}

static void check_bounds(const tem_mechanism *m) {
    static double all[TEXTS][OUTPUTS];
    size_t compared = 0, unbounded = 0, less = 0;
    set_laws(m);
    for (int t = 0; t < TEXTS; t++) {
        int input[LENGTH];
        double sum = 0;
        input_of(t, input);
        for (int y = 0; y < OUTPUTS; y++)
            sum += all[t][y] = law_of(input, y);
        assert_true(fabs(sum - 1) < 1e-12);
    }
    for (int t = 0; t < TEXTS; t++)
        for (int u = 0; u < TEXTS; u++) {
            int a[LENGTH], b[LENGTH];
            bool is_bounded = true;
            input_of(t, a);
            input_of(u, b);
            const double factor = exp(cost(a, b)) * (1 + 1e-9);
            for (int y = 0; y < OUTPUTS; y++)
                is_bounded &= all[t][y] <= factor * all[u][y];
            compared += repeat_alike(a, b);
            assert_true(is_bounded || !repeat_alike(a, b));
            unbounded += !is_bounded;
            less += repeat_alike(a, b) && first_of(a, 2) == 0 && a[0] != b[0];
        }
    /* Texts that repeat elsewhere differ without a bound, although one word may be all. */
    assert_true(compared > TEXTS && unbounded > TEXTS && less > 100);
}

static void test_bounds(void **state) {
    (void)state;
    check_bounds(alone);
    check_bounds(in_context);
}

/* ---- draws ---- */

static void run(replacer *r, tem_rng *rng, const char *text, core_buffer *out, tem_counts *counts) {
    out->size = 0;
    assert_int_equal(replacer_run(r, rng, text, strlen(text), out, counts, NULL), TEM_OK);
    assert_true(core_buffer_add(out, "", 1));
}

static int output_of(char *text) {
    int output = 0, unit = 1;
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "), unit *= WORDS) {
        const uint32_t id = tem_model_find(model, word, strlen(word));
        assert_true(id < WORDS);
        output += unit * (int)id;
    }
    return output;
}

/* Bins of at least 50 expected draws; false alarm below 1e-8 for each of the texts. */
static void check_draws(const tem_mechanism *m, int text, uint64_t seed) {
    enum { DRAWS = 20000, LEAST = 50 };
    uint64_t seen[OUTPUTS] = {0};
    int input[LENGTH];
    char line[64];
    replacer r;
    core_buffer out = {0};
    tem_counts counts = {0};
    tem_rng rng;
    const tem_text_options options = {.repeat = TEM_REPEAT_ONCE, .style = TEM_STYLE_WORDS};
    input_of(text, input);
    snprintf(line, sizeof line, "%s %s %s", inputs[input[0]], inputs[input[1]], inputs[input[2]]);
    rng_init_seeded(&rng, seed, (uint64_t)text);
    assert_int_equal(replacer_init(&r, m, &options, NULL), TEM_OK);
    for (int i = 0; i < DRAWS; i++) {
        run(&r, &rng, line, &out, &counts);
        seen[output_of(out.data)]++;
    }
    double square = 0, rest = 0, rest_off = 0;
    unsigned bins = 0;
    uint64_t charged = 0;
    for (int i = 0; i < LENGTH; i++)
        charged += first_of(input, i) == i;
    assert_int_equal(counts.charged, DRAWS * charged);
    assert_int_equal(counts.words, DRAWS * LENGTH);
    for (int y = 0; y < OUTPUTS; y++) {
        const double expected = DRAWS * law_of(input, y), off = (double)seen[y] - expected;
        if (expected == 0 && seen[y] > 0)
            fail_msg("text %d: output %d has probability 0", text, y);
        square += expected >= LEAST ? off * off / expected : 0;
        bins += expected >= LEAST;
        rest += expected >= LEAST ? 0 : expected;
        rest_off += expected >= LEAST ? 0 : off;
    }
    if (rest >= LEAST) {
        square += rest_off * rest_off / rest;
        bins++;
    }
    if (bins > 1 && gamma_upper((bins - 1) / 2.0, square / 2) < 1e-8)
        fail_msg("text %d: chi-square %g with %u degrees of freedom", text, square, bins - 1);
    replacer_free(&r);
    core_buffer_free(&out);
}

static void test_draws(void **state) {
    (void)state;
    const tem_mechanism *both[] = {alone, in_context};
    for (int k = 0; k < 2; k++) {
        set_laws(both[k]);
        for (int text = 0; text < TEXTS; text += 17)
            check_draws(both[k], text, 7);
        for (int w = 0; w < INPUTS; w++) { /* all three equal, and a word between two equal ones */
            check_draws(both[k], w * (1 + INPUTS + INPUTS * INPUTS), 8);
            check_draws(both[k], w + INPUTS * ((w + 3) % INPUTS) + INPUTS * INPUTS * w, 9);
        }
    }
}

/* ---- what is equal ---- */

/* Words are equal as they are folded, and unknown ones are, too; function words, punctuation and
 * different unknown words are drawn for each time. Whatever the text is, the output of each place
 * is that of the first place with the same word. */
static void test_equal(void **state) {
    (void)state;
    static const char *const text =
        "Film FILM film \u00c9t\u00e9 e\u0301te\u0301 \u00e9t\u00e9 The the "
        "zz ZZ Of of , , yy zz Stra\u00dfe STRASSE";
    static const int firsts[] = {0, 0, 0, 3, 3, 3, 6, 7, 8, 8, 10, 11, 12, 13, 14, 8, 16, 16};
    enum { PLACES = sizeof firsts / sizeof *firsts };
    bool differ[PLACES] = {false};
    replacer r;
    core_buffer out = {0};
    tem_counts counts = {0};
    tem_rng rng;
    const tem_text_options options = {.repeat = TEM_REPEAT_ONCE,
                                      .punctuation = TEM_PUNCTUATION_WORD};
    rng_init_seeded(&rng, 3, 1);
    assert_int_equal(replacer_init(&r, alone, &options, NULL), TEM_OK);
    for (int i = 0; i < 300; i++) {
        uint32_t ids[PLACES];
        size_t count = 0;
        run(&r, &rng, text, &out, &counts);
        for (char *word = strtok(out.data, " "); word != NULL; word = strtok(NULL, " "))
            ids[count++] = tem_model_find(model, word, strlen(word));
        assert_int_equal(count, PLACES);
        for (int k = 0; k < PLACES; k++) {
            assert_int_equal(ids[k], ids[firsts[k]]);
            for (int l = 0; l < k; l++)
                differ[k] |= firsts[l] != firsts[k] && ids[l] != ids[k];
        }
    }
    for (int k = 3; k < PLACES; k++)
        assert_true(differ[k]);
    assert_int_equal(counts.charged, 300 * 11);
    assert_int_equal(counts.words, 300 * PLACES);
    replacer_free(&r);
    core_buffer_free(&out);
}

/* ---- the memory of a document ---- */

static bool is_zero(const core_buffer *b) {
    for (size_t i = 0; b->data != NULL && i < b->touched; i++)
        if (b->data[i] != 0)
            return false;
    return b->size == 0;
}

static void expect_forgotten(const replacer *r) {
    assert_true(is_zero(&r->repeats.bytes) && is_zero(&r->repeats.entries) &&
                is_zero(&r->repeats.slots));
}

/* Each document draws anew, also after one that failed; nothing stays in memory. */
static void test_forgotten(void **state) {
    (void)state;
    enum { DOCUMENTS = 200 };
    uint64_t seen[WORDS] = {0};
    replacer r;
    core_buffer out = {0};
    tem_counts counts = {0};
    tem_rng rng;
    const tem_text_options options = {.repeat = TEM_REPEAT_ONCE};
    rng_init_seeded(&rng, 4, 1);
    assert_int_equal(replacer_init(&r, alone, &options, NULL), TEM_OK);
    for (int i = 0; i < DOCUMENTS; i++) {
        out.size = 0;
        if (i % 7 == 0)
            assert_int_equal(replacer_run(&r, &rng, "dog zz \xff", 8, &out, &counts, NULL),
                             TEM_ERR_FORMAT);
        expect_forgotten(&r);
        run(&r, &rng, i % 2 == 0 ? "dog dog" : "zz zz", &out, &counts);
        expect_forgotten(&r);
        seen[output_of(out.data) % WORDS]++;
    }
    assert_int_equal(counts.charged, DOCUMENTS);
    for (uint32_t y = 0; y < WORDS; y++)
        assert_true(seen[y] > 0 && seen[y] < DOCUMENTS);
    replacer_free(&r);
    core_buffer_free(&out);
}

/* Many words, in several windows and batches of draws. More different words than the memory takes
 * are refused, and forgotten. */
static void test_many(void **state) {
    (void)state;
    enum { DISTINCT = 30000, MOST_BYTES = 12 };
    replacer r;
    core_buffer text = {0}, out = {0};
    tem_counts counts = {0};
    tem_rng rng;
    char word[MOST_BYTES + 1];
    static uint32_t first[DISTINCT];
    const tem_text_options options = {.repeat = TEM_REPEAT_ONCE};
    rng_init_seeded(&rng, 5, 1);
    assert_int_equal(replacer_init(&r, alone, &options, NULL), TEM_OK);
    for (size_t i = 0; i < 3 * DISTINCT; i++) {
        const int bytes = snprintf(word, sizeof word, "x%zu ", i * 7 % DISTINCT);
        assert_true(core_buffer_add(&text, word, (size_t)bytes));
    }
    assert_int_equal(replacer_run(&r, &rng, text.data, text.size, &out, &counts, NULL), TEM_OK);
    assert_true(core_buffer_add(&out, "", 1));
    assert_true(counts.charged == DISTINCT && counts.words == 3 * DISTINCT);
    size_t i = 0;
    for (char *w = strtok(out.data, " "); w != NULL; w = strtok(NULL, " "), i++) {
        const uint32_t id = tem_model_find(model, w, strlen(w));
        uint32_t *known = &first[i * 7 % DISTINCT];
        assert_true(i < DISTINCT || *known == id);
        *known = id;
    }
    assert_int_equal(i, 3 * DISTINCT);
    text.size = out.size = 0;
    for (size_t k = 0; k <= REPEATS_MOST; k++) {
        const int bytes = snprintf(word, sizeof word, "x%zu ", k);
        assert_true(core_buffer_add(&text, word, (size_t)bytes));
    }
    r.dry_run = true;
    assert_int_equal(replacer_run(&r, &rng, text.data, text.size, &out, &counts, NULL),
                     TEM_ERR_RANGE);
    assert_int_equal(counts.charged, DISTINCT);
    expect_forgotten(&r);
    text.size -= strlen(word);
    assert_int_equal(replacer_run(&r, &rng, text.data, text.size, &out, &counts, NULL), TEM_OK);
    assert_int_equal(counts.charged, DISTINCT + REPEATS_MOST);
    expect_forgotten(&r);
    replacer_free(&r);
    core_buffer_free(&text);
    core_buffer_free(&out);
}

/* ---- what it costs ---- */

static double number_in(const char *report, const char *key) {
    const char *at = strstr(report, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

/* The model as a file: a budget needs one. */
static tem_mechanism *from_file(const char *path, tem_model **opened) {
    tem_mechanism *m = NULL;
    const tem_mechanism_options options = {.epsilon = epsilon, .gamma = gamma_distance};
    assert_int_equal(tem_model_save(model, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(path, opened, NULL), TEM_OK);
    assert_int_equal(tem_model_verify(*opened, NULL, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(*opened, &options, &m, NULL), TEM_OK);
    return m;
}

static tem_status privatize(const tem_mechanism *m, const tem_job *job, tem_counts *counts,
                            tem_error *error) {
    const tem_text_input texts[] = {{.text = "film film film the the dog", .bytes = 26},
                                    {.text = "film zz zz", .bytes = 10}};
    tem_texts *out = NULL;
    const tem_status status =
        tem_privatize_texts(m, job, texts, 2, NULL, &out, counts, NULL, error);
    tem_texts_free(out);
    return status;
}

/* A distinct word costs once, in reports and ledgers. A budget pays for charges of the same kind
 * only, whether it is per unit of distance or for the worst case. */
static void test_costs(void **state) {
    (void)state;
    char folder[] = "/tmp/tem-repeats-XXXXXX", path[64], ledger[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/small.tem", folder);
    snprintf(ledger, sizeof ledger, "%s/ledger", folder);
    tem_model *opened = NULL;
    tem_mechanism *m = from_file(path, &opened);
    tem_counts counts = {0};
    tem_error error;
    tem_job once = {
        .text = {.repeat = TEM_REPEAT_ONCE}, .ledger = ledger, .budget = 12, .budget_worst = 100};
    tem_job each = {.ledger = ledger, .budget = 1000, .budget_worst = 1000};
    assert_null(tem_job_condition(&each));
    assert_non_null(strstr(tem_job_condition(&once), "repeat at the same places"));
    assert_null(tem_job_why_not_private(m, &once));
    assert_int_equal(privatize(m, &once, &counts, &error), TEM_OK);
    assert_true(counts.words == 9 && counts.charged == 6 && counts.largest == 4);
    /* 6 words at 1.5 are 9 of the budget of 12, so they cannot be paid again. */
    assert_int_equal(privatize(m, &once, NULL, &error), TEM_ERR_BUDGET);
    assert_non_null(strstr(error.message, "costs 9, and 3 of"));
    once.budget = 18;
    assert_int_equal(privatize(m, &once, NULL, &error), TEM_OK);
    for (int worst = 0; worst < 2; worst++) {
        each.budget = worst ? 0 : 1000;
        assert_int_equal(privatize(m, &each, NULL, &error), TEM_ERR_BUDGET);
        assert_non_null(strstr(error.message, "repeated words"));
    }
    each.budget_worst = 0; /* without a budget a charge is only noted */
    assert_int_equal(privatize(m, &each, NULL, &error), TEM_OK);
    once.budget = 0;
    assert_int_equal(privatize(m, &once, NULL, &error), TEM_ERR_BUDGET);
    assert_non_null(strstr(error.message, "repeated words"));

    char *report = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_report_json(m, &once, &counts, NULL, NULL, &report, &bytes, NULL), TEM_OK);
    assert_true(number_in(report, "\"words\": ") == 9 && number_in(report, "\"charged\": ") == 6);
    assert_true(number_in(report, "\"spent\": ") == 9);
    assert_true(number_in(report, "\"spent_worst\": ") == 6 * epsilon * gamma_distance);
    assert_non_null(strstr(report, "\"repeat\": \"once\""));
    assert_non_null(strstr(report, "\"unit\": \"once/distance/euclidean\""));
    assert_non_null(strstr(report, "\"condition\": \"the bound holds only between"));
    tem_text_free(report);

    /* Counts of the caller's own must say what was drawn for once. */
    const tem_document wrong[] = {{.counts = {.documents = 1, .words = 3}},
                                  {.counts = {.documents = 1, .words = 3, .charged = 4}}};
    once.budget_worst = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(tem_job_charge(m, &once, &wrong[i], 1, NULL, NULL, &error),
                         TEM_ERR_ARGUMENT);
    tem_mechanism_free(m);
    tem_model_free(opened);
    unlink(path);
    unlink(ledger);
    rmdir(folder);
}

/* Files are counted first, then charged, then drawn: the counts are the same. */
static void test_files(void **state) {
    (void)state;
    char folder[] = "/tmp/tem-repeats-XXXXXX", in[64], out[64];
    assert_non_null(mkdtemp(folder));
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    FILE *file = fopen(in, "w");
    assert_true(file != NULL && fputs("film film the\n\nzz zz film dog\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    tem_counts counted = {0}, drawn = {0};
    tem_job job = {.text = {.repeat = TEM_REPEAT_ONCE},
                   .inputs = (const char *const[]){in},
                   .input_count = 1,
                   .output = out,
                   .dry_run = 1};
    assert_int_equal(tem_privatize_files(alone, &job, NULL, &counted, NULL, NULL, NULL), TEM_OK);
    job.dry_run = 0;
    assert_int_equal(tem_privatize_files(alone, &job, NULL, &drawn, NULL, NULL, NULL), TEM_OK);
    assert_true(counted.words == 7 && counted.charged == 5);
    assert_memory_equal(&counted, &drawn, sizeof drawn);
    unlink(in);
    unlink(out);
    rmdir(folder);
}

/* ---- what is refused ---- */

static void test_refused(void **state) {
    (void)state;
    const tem_text_options wrong[] = {
        {.repeat = 3},
        {.repeat = TEM_REPEAT_ONCE, .order = TEM_ORDER_SHUFFLED},
        {.repeat = TEM_REPEAT_ONCE, .order = TEM_ORDER_COUNTS},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        replacer r;
        assert_int_equal(replacer_init(&r, alone, &wrong[i], NULL), TEM_ERR_ARGUMENT);
        replacer_free(&r);
    }
    assert_non_null(tem_job_why_not_private(alone, &(tem_job){.text = wrong[0]}));
    const uint32_t id = 1;
    uint32_t drawn = 0;
    const tem_ids_input ids = {.ids = &id, .count = 1};
    const tem_job job = {.text = {.repeat = TEM_REPEAT_ONCE}};
    tem_error error;
    assert_int_equal(tem_privatize_ids(alone, &job, &ids, 1, NULL, &drawn, NULL, NULL, &error),
                     TEM_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "which unknown words are equal"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_draws),
        cmocka_unit_test(test_equal),  cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_many),   cmocka_unit_test(test_costs),
        cmocka_unit_test(test_files),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
