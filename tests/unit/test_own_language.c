/* test_own_language.c - language models of the functions of a user: the law of every word after
 * every past is that of the same weights elsewhere (test_context.c compares those with MPFR), and
 * within the bound of the mechanism; the same draws; what the functions are asked, and how often;
 * and what is refused. */
#include "mech/law.h"
#include "mech/model_mechanism.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_language.h"
#include "small_model.h"
#include "tem_account.h"
#include "tem_language.h"

#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { WORDS = 9, EXCLUDED = 2, DOCUMENT_MARK = 77 };

static tem_model *model;

static int set_up(void **state) {
    (void)state;
    static const char *const words[WORDS] = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8"};
    static const char *const excluded[] = {"w2"};
    static const float values[2 * WORDS] = {0, 0,    1, .2F, 2, 1, 0, 3,   0,
                                            3, 2.5F, 2, 3,   3, 1, 1, .4F, 2};
    tem_vectors *vectors = NULL;
    assert_int_equal(tem_vectors_create(words, values, WORDS, 2, &vectors, NULL), TEM_OK);
    const tem_order_options order = {.list = 3, .block = 2, .group = 3, .vectors = vectors};
    const tem_build_options options = {.neighbours = 3,
                                       .allow_coarse = 1,
                                       .exclude = excluded,
                                       .exclude_count = 1,
                                       .order = &order};
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_model_free(model);
    return 0;
}

static const char *const names[] = {"tem", "em", "rank", "coin"};
static const double epsilons[] = {1.5, 1.1, 2.2, 3.0};
enum { MECHANISMS = 4 };

static tem_mechanism *make(int which, const tem_language *language) {
    const tem_mechanism_options options = {.mechanism = names[which],
                                           .epsilon = epsilons[which],
                                           .gamma = which == 0 ? 2.5 : 0,
                                           .language = language};
    tem_mechanism *m = NULL;
    tem_error error;
    if (tem_mechanism_create(model, &options, &m, &error) != TEM_OK)
        fail_msg("%s", error.message);
    return m;
}

/* ---- rules ---- */

static uint64_t mixed(const released_past *past, uint32_t y) {
    uint64_t sum = 77 + y;
    for (size_t i = 0; i < past->count; i++)
        sum = (sum ^ past->words[i]) * 0x9e3779b97f4a7c15 + (sum >> 29);
    return sum >> 20;
}

static void rule_mixed(uint32_t words, const released_past *past, uint64_t *values) {
    for (uint32_t y = 0; y < words; y++)
        values[y] = 1 + mixed(past, y) % 1000;
}

/* All weight on one word. */
static void rule_one(uint32_t words, const released_past *past, uint64_t *values) {
    for (uint32_t y = 0; y < words; y++)
        values[y] = 1;
    values[mixed(past, 0) % words] = (uint64_t)1 << 61;
}

/* Nothing for the words that are near one word, and for it: another one after each past. */
static void rule_none_near(uint32_t words, const released_past *past, uint64_t *values) {
    const uint32_t w = (uint32_t)(mixed(past, 0) % words);
    for (uint32_t y = 0; y < words; y++)
        values[y] = tem_model_distance(model, w, y) > 2 * TEM_DIST_ONE ? 1 + mixed(past, y) % 9 : 0;
    values[(w + 5) % words + ((w + 5) % words == EXCLUDED)] = 1;
}

/* As much as possible for the word that is farthest from one word, and much for that word: others
 * after each past. With weights that differed by input, no bound would hold. */
static void rule_breaking(uint32_t words, const released_past *past, uint64_t *values) {
    const uint32_t w = (uint32_t)(mixed(past, 1) % words);
    uint32_t far = 0;
    for (uint32_t y = 0; y < words; y++) {
        values[y] = 1;
        if (tem_model_distance(model, w, y) > tem_model_distance(model, w, far))
            far = y;
    }
    values[far] = (uint64_t)1 << 58;
    values[w] = (uint64_t)1 << 30;
}

static array_rule *const rules[] = {rule_mixed, rule_one, rule_none_near, rule_breaking};
enum { RULES = 4 };

/* ---- functions ---- */

enum { ASKED_MAX = 1024, PAST_NOTED = 8 };

typedef struct user {
    array_rule *rule;
    pthread_mutex_t mutex;
    pthread_t thread;  /* that asked last */
    int fails_at;      /* `weights` and `look` fail at this question, from 1; 0: never */
    int begin_fails;   /* `begin` fails */
    int changes;       /* another answer each time: all weight on one word */
    uint64_t excluded; /* what the excluded word weighs */
    uint64_t total;    /* what `look` says, if above 0 */
    uint32_t drawn;    /* what `draw` says, if above 0 */
    size_t asked, begun, ended, weighed;
    uint32_t pasts[ASKED_MAX][PAST_NOTED + 1];
    uint64_t before[ASKED_MAX];
    uint32_t wanted[ASKED_MAX]; /* the word with all weight */
} user;

/* What `look` has computed, in a document. */
typedef struct user_document {
    int mark;
    uint64_t values[WORDS];
    int weighed[WORDS];
} user_document;

static int user_begin(void *context, void **document) {
    user *u = context;
    assert_null(*document);
    if (u->begin_fails)
        return 1;
    user_document *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->mark = DOCUMENT_MARK;
    *document = d;
    pthread_mutex_lock(&u->mutex);
    u->begun++;
    pthread_mutex_unlock(&u->mutex);
    return 0;
}

static void user_end(void *context, void *document) {
    user *u = context;
    assert_int_equal(((user_document *)document)->mark, DOCUMENT_MARK);
    free(document);
    pthread_mutex_lock(&u->mutex);
    u->ended++;
    pthread_mutex_unlock(&u->mutex);
}

static void note(user *u, const tem_past *past) {
    u->thread = pthread_self();
    if (u->asked < ASKED_MAX) {
        u->pasts[u->asked][0] = (uint32_t)past->count;
        for (size_t i = 0; i < past->count && i < PAST_NOTED; i++)
            u->pasts[u->asked][1 + i] = past->words[i];
        u->before[u->asked] = past->before;
        u->wanted[u->asked] = (uint32_t)(u->asked * 5 % WORDS);
        u->wanted[u->asked] += u->wanted[u->asked] == EXCLUDED;
    }
    u->asked++;
}

static int user_weights(void *context, void *document, const tem_past *past, uint64_t *values) {
    user *u = context;
    const released_past shown = {.words = past->words, .count = past->count};
    assert_int_equal(((user_document *)document)->mark, DOCUMENT_MARK);
    for (uint32_t y = 0; y < WORDS; y++)
        assert_int_equal(values[y], 0);
    pthread_mutex_lock(&u->mutex);
    note(u, past);
    const size_t number = u->asked;
    pthread_mutex_unlock(&u->mutex);
    if (u->changes)
        values[u->wanted[number - 1]] = 1 + number;
    else
        u->rule(WORDS, &shown, values);
    values[EXCLUDED] = u->excluded;
    return u->fails_at > 0 && number >= (size_t)u->fails_at;
}

static int user_look(void *context, void *document, const tem_past *past, uint64_t *total) {
    user *u = context;
    user_document *d = document;
    const released_past shown = {.words = past->words, .count = past->count};
    note(u, past);
    u->rule(WORDS, &shown, d->values);
    d->values[EXCLUDED] = 0;
    for (uint32_t y = 0; y < WORDS; y++) {
        d->weighed[y] = 0;
        *total += d->values[y];
    }
    if (u->total > 0)
        *total = u->total;
    return u->fails_at > 0 && u->asked >= (size_t)u->fails_at;
}

static uint64_t user_weight(void *context, void *document, uint32_t word) {
    user *u = context;
    user_document *d = document;
    assert_true(word < WORDS && word != EXCLUDED);
    assert_int_equal(d->weighed[word]++, 0);
    u->weighed++;
    return u->changes ? UINT64_MAX - u->weighed % 3 : d->values[word];
}

static uint32_t user_draw(void *context, void *document, tem_rng *rng) {
    const user *u = context;
    const user_document *d = document;
    uint64_t sum = 0;
    for (uint32_t y = 0; y < WORDS; y++)
        sum += d->values[y];
    uint64_t left = tem_rng_below(rng, sum);
    uint32_t y = 0;
    while (left >= d->values[y])
        left -= d->values[y++];
    return u->drawn > 0 ? u->drawn : y;
}

static void new_user(user *u, array_rule *rule) {
    memset(u, 0, sizeof *u);
    u->rule = rule;
    assert_int_equal(pthread_mutex_init(&u->mutex, NULL), 0);
}

static tem_language_functions functions_of(user *u, bool is_lazy) {
    return (tem_language_functions){.name = "mine",
                                    .context = u,
                                    .begin = user_begin,
                                    .end = user_end,
                                    .weights = is_lazy ? NULL : user_weights,
                                    .look = is_lazy ? user_look : NULL,
                                    .weight = is_lazy ? user_weight : NULL,
                                    .draw = is_lazy ? user_draw : NULL};
}

static tem_language *wrap(user *u, bool is_lazy) {
    const tem_language_functions functions = functions_of(u, is_lazy);
    tem_language *language = NULL;
    assert_int_equal(tem_language_wrap(model, &functions, &language, NULL), TEM_OK);
    return language;
}

/* ---- laws ---- */

static tem_law *law_after(const tem_mechanism *m, const uint32_t *past, size_t count,
                          uint32_t word) {
    tem_law *law = NULL;
    assert_int_equal(tem_law_create_after(m, past, count, word, 60, &law, NULL), TEM_OK);
    return law;
}

/* The laws of two mechanisms are the same numbers of 60 digits. */
static void compare_laws(const tem_mechanism *a, const tem_mechanism *b, const uint32_t *past,
                         size_t count) {
    for (uint32_t w = 0; w <= WORDS; w++) {
        const uint32_t word = w == WORDS ? TEM_NO_WORD : w;
        tem_law *x = law_after(a, past, count, word), *y = law_after(b, past, count, word);
        for (uint32_t i = 0; i < WORDS; i++)
            assert_true(mpfr_equal_p(x->probabilities[i], y->probabilities[i]));
        assert_true(mpfr_zero_p(x->probabilities[EXCLUDED]));
        tem_law_free(x);
        tem_law_free(y);
    }
}

/* For tem and em: P(y | w) <= exp(epsilon min(d, gamma)) P(y | w'), by brute force from weights. In
 * doubles, whose logarithms err by less than 1e-12. */
static void check_brute_force(const tem_mechanism *m, const uint32_t *past, size_t count,
                              array_rule *rule) {
    const released_past shown = {.words = past, .count = count};
    tem_mechanism_info info;
    uint64_t values[WORDS];
    double laws[WORDS][WORDS];
    tem_mechanism_get_info(m, &info);
    rule(WORDS, &shown, values);
    values[EXCLUDED] = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        double sum = 0;
        for (uint32_t y = 0; y < WORDS; y++) {
            const double d = (double)tem_model_distance(model, w, y) / TEM_DIST_ONE;
            laws[w][y] = (double)values[y] * exp(-info.s * fmin(d, info.gamma));
            sum += laws[w][y];
        }
        tem_law *law = law_after(m, past, count, w);
        for (uint32_t y = 0; y < WORDS; y++) {
            laws[w][y] /= sum;
            assert_true(fabs(laws[w][y] - tem_law_probability(law, y)) <= 1e-12);
        }
        tem_law_free(law);
    }
    for (uint32_t a = 0; a < WORDS; a++)
        for (uint32_t b = 0; b < WORDS; b++) {
            const double d = (double)tem_model_distance(model, a, b) / TEM_DIST_ONE;
            for (uint32_t y = 0; y < WORDS; y++) {
                assert_int_equal(laws[a][y] > 0, values[y] > 0);
                assert_true(values[y] == 0 || log(laws[a][y] / laws[b][y]) <=
                                                  info.epsilon * fmin(d, info.gamma) + 1e-9);
            }
        }
}

static void test_laws(void **state) {
    (void)state;
    for (int rule = 0; rule < RULES; rule++) {
        user u, lazy;
        new_user(&u, rules[rule]);
        new_user(&lazy, rules[rule]);
        u.excluded = UINT64_MAX; /* nobody adds it up */
        tem_language *own = wrap(&u, false), *one_by_one = wrap(&lazy, true);
        array_language *array = array_language_make(model, rules[rule]);
        for (int which = 0; which < MECHANISMS; which++) {
            tem_mechanism *a = make(which, own), *b = make(which, &array->language);
            tem_mechanism *c = make(which, one_by_one);
            for (uint32_t past = 0; past <= WORDS + WORDS * WORDS; past++) {
                const uint32_t two[] = {past <= WORDS ? past % WORDS : (past - 1 - WORDS) / WORDS,
                                        (past - 1 - WORDS) % WORDS};
                const size_t count = past == 0 ? 0 : past <= WORDS ? 1 : 2;
                compare_laws(a, b, two, count);
                compare_laws(c, b, two, count);
                if (which < 2)
                    check_brute_force(a, two, count, rules[rule]);
            }
            tem_mechanism_free(a);
            tem_mechanism_free(b);
            tem_mechanism_free(c);
        }
        assert_int_equal(u.begun, u.ended);
        free(array);
        tem_language_free(own);
        tem_language_free(one_by_one);
    }
}

/* ---- draws ---- */

enum { DOCUMENTS = 40, LONG = 12 };

static void set_documents(uint32_t *ids, tem_ids_input *documents) {
    for (size_t i = 0; i < DOCUMENTS * LONG; i++)
        ids[i] = random_below(6) == 0 ? TEM_NO_WORD : (uint32_t)random_below(WORDS);
    for (size_t i = 0; i < DOCUMENTS; i++)
        documents[i] = (tem_ids_input){.ids = ids + i * LONG, .count = LONG};
}

static void draw_documents(const tem_mechanism *m, const tem_ids_input *documents, unsigned threads,
                           uint32_t *out) {
    const tem_job job = {.insecure_seeded = 1, .insecure_seed = 11};
    const tem_run run = {.threads = threads};
    tem_error error;
    if (tem_privatize_ids(m, &job, documents, DOCUMENTS, &run, out, NULL, NULL, &error) != TEM_OK)
        fail_msg("%s", error.message);
}

/* The weights of a position, and nothing else, decide on its word: the same words come out as with
 * the same weights elsewhere, on any number of threads. Each position is asked for once, after what
 * the document shows. The rules make some draws sum all outputs. */
static void test_draws(void **state) {
    (void)state;
    static uint32_t ids[DOCUMENTS * LONG], want[DOCUMENTS * LONG], drawn[DOCUMENTS * LONG];
    tem_ids_input documents[DOCUMENTS];
    set_documents(ids, documents);
    for (int which = 0; which < MECHANISMS; which++)
        for (int rule = 0; rule < RULES; rule++)
            for (int way = 0; way < 3; way++) { /* an array on 1 and 3 threads, one by one */
                user u;
                new_user(&u, rules[rule]);
                array_language *array = array_language_make(model, rules[rule]);
                tem_language_functions functions = functions_of(&u, way == 2);
                functions.past_words = ARRAY_PAST;
                tem_language *own = NULL;
                assert_int_equal(tem_language_wrap(model, &functions, &own, NULL), TEM_OK);
                tem_mechanism *a = make(which, own), *b = make(which, &array->language);
                draw_documents(b, documents, 1, want);
                draw_documents(a, documents, way == 1 ? 3 : 1, drawn);
                assert_memory_equal(want, drawn, sizeof drawn);
                assert_int_equal(u.asked, DOCUMENTS * LONG);
                assert_int_equal(u.begun, DOCUMENTS);
                assert_int_equal(u.ended, DOCUMENTS);
                for (size_t i = 0; i < DOCUMENTS * LONG && way != 1; i++) {
                    const size_t before = i % LONG,
                                 seen = before < ARRAY_PAST ? before : ARRAY_PAST;
                    assert_int_equal(u.pasts[i][0], seen);
                    assert_int_equal(u.before[i], before - seen);
                    for (size_t k = 0; k < seen; k++)
                        assert_int_equal(u.pasts[i][1 + k], drawn[i - seen + k]);
                }
                assert_true(way == 1 || pthread_equal(u.thread, pthread_self()));
                tem_mechanism_free(a);
                tem_mechanism_free(b);
                tem_language_free(own);
                free(array);
            }
}

/* A function that answers differently each time: each answer is the law of one word. */
static void test_changing_answers(void **state) {
    (void)state;
    static uint32_t ids[DOCUMENTS * LONG], drawn[DOCUMENTS * LONG];
    tem_ids_input documents[DOCUMENTS];
    set_documents(ids, documents);
    for (int which = 0; which < MECHANISMS; which++) {
        user u;
        new_user(&u, rule_mixed);
        u.changes = 1;
        tem_language *own = wrap(&u, false);
        tem_mechanism *m = make(which, own);
        draw_documents(m, documents, 1, drawn);
        assert_int_equal(u.asked, DOCUMENTS * LONG);
        assert_memory_equal(drawn, u.wanted, sizeof drawn);
        tem_mechanism_free(m);
        tem_language_free(own);
    }
}

/* ---- what the functions see ---- */

static tem_status privatize(const tem_mechanism *m, const tem_text_options *options,
                            const char *text, char **out, tem_error *error) {
    tem_rng *rng = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    const tem_status status =
        tem_privatize_text(m, options, rng, text, strlen(text), NULL, out, &bytes, NULL, error);
    tem_rng_free(rng);
    return status;
}

static void test_kinds(void **state) {
    (void)state;
    static const struct {
        tem_text_options options;
        const char *text;
        uint32_t kind;
    } cases[] = {
        {{.oov = TEM_OOV_KEEP_UNSAFE}, "odd w1", TEM_PAST_KEPT_WORD},
        {{.oov = TEM_OOV_MASK}, "odd w1", TEM_PAST_MASK},
        {{.punctuation = TEM_PUNCTUATION_KEEP}, "! w1", TEM_PAST_PUNCTUATION},
        {{.keep_lines = 1}, "\nw1", TEM_PAST_LINE_END},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        user u;
        char *out = NULL;
        new_user(&u, rule_mixed);
        tem_language *own = wrap(&u, false);
        tem_mechanism *m = make(2, own);
        assert_int_equal(privatize(m, &cases[i].options, cases[i].text, &out, NULL), TEM_OK);
        assert_int_equal(u.asked, 1);
        assert_int_equal(u.pasts[0][0], 1);
        assert_int_equal(u.pasts[0][1], cases[i].kind);
        tem_text_free(out);
        tem_mechanism_free(m);
        tem_language_free(own);
    }
}

/* ---- failures ---- */

static void expect_failure(user *u, bool is_lazy, tem_status expected, const char *message) {
    tem_language *own = wrap(u, is_lazy);
    tem_mechanism *m = make(0, own);
    tem_error error;
    char *out = NULL;
    tem_law *law = NULL;
    assert_int_equal(privatize(m, NULL, "w1 w5 w7", &out, &error), expected);
    assert_null(out);
    assert_non_null(strstr(error.message, message));
    assert_int_equal(u->begun, u->ended);
    u->asked = 2;
    if (u->fails_at > 0 || u->begin_fails)
        assert_int_equal(tem_law_create_after(m, NULL, 0, 1, 10, &law, NULL), expected);
    assert_null(law);
    assert_int_equal(u->begun, u->ended);
    tem_mechanism_free(m);
    tem_language_free(own);
}

static void rule_nothing(uint32_t words, const released_past *past, uint64_t *values) {
    (void)past;
    memset(values, 0, words * sizeof *values);
}

static void rule_too_much(uint32_t words, const released_past *past, uint64_t *values) {
    rule_nothing(words, past, values);
    values[1] = values[7] = (uint64_t)1 << 62;
}

static void rule_wrapping(uint32_t words, const released_past *past, uint64_t *values) {
    rule_nothing(words, past, values);
    values[1] = values[7] = (uint64_t)1 << 63;
    values[3] = 5;
}

/* One below what is too much. */
static void rule_much(uint32_t words, const released_past *past, uint64_t *values) {
    rule_too_much(words, past, values);
    values[7]--;
}

static void test_failures(void **state) {
    (void)state;
    user u;
    for (int is_lazy = 0; is_lazy < 2; is_lazy++)
        for (int at = 1; at <= 3; at++) {
            new_user(&u, rule_mixed);
            u.fails_at = at;
            expect_failure(&u, is_lazy, TEM_ERR_CANCELLED, "function of the language model failed");
            assert_int_equal(u.begun, 2);
        }
    new_user(&u, rule_mixed);
    u.begin_fails = 1;
    expect_failure(&u, false, TEM_ERR_CANCELLED, "function of the language model failed");
    assert_int_equal(u.ended, 0);
    new_user(&u, rule_nothing);
    u.excluded = 5;
    expect_failure(&u, false, TEM_ERR_RANGE, "no output any weight");
    new_user(&u, rule_too_much);
    expect_failure(&u, false, TEM_ERR_RANGE, "2^63 or more");
    new_user(&u, rule_wrapping);
    expect_failure(&u, false, TEM_ERR_RANGE, "2^63 or more");
    new_user(&u, rule_nothing);
    expect_failure(&u, true, TEM_ERR_RANGE, "2^63 or more");
    new_user(&u, rule_mixed);
    u.total = (uint64_t)1 << 63;
    expect_failure(&u, true, TEM_ERR_RANGE, "2^63 or more");
    new_user(&u, rule_mixed);
    u.total = (uint64_t)1 << 62; /* so that `draw` is asked */
    u.drawn = WORDS;
    expect_failure(&u, true, TEM_ERR_DAMAGED, "a word that is none");
}

static void test_largest_sum(void **state) {
    (void)state;
    user u;
    char *out = NULL;
    new_user(&u, rule_much);
    tem_language *own = wrap(&u, false);
    for (int which = 0; which < MECHANISMS; which++) {
        tem_mechanism *m = make(which, own);
        assert_int_equal(privatize(m, NULL, "w1 w5 w7 w7", &out, NULL), TEM_OK);
        tem_text_free(out);
        tem_mechanism_free(m);
    }
    tem_language_free(own);
}

/* Weights that contradict each other and the sum: some word comes out, or none; never a crash. */
static void test_contradictions(void **state) {
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        user u;
        new_user(&u, rule_mixed);
        u.changes = 1;
        tem_language *own = wrap(&u, true);
        tem_mechanism *m = make(which, own);
        for (int i = 0; i < 200; i++) {
            char *out = NULL;
            u.total = 1 + random_below(1000);
            if (privatize(m, NULL, "w1 w5 w7 w7 w2", &out, NULL) == TEM_OK)
                tem_text_free(out);
        }
        tem_mechanism_free(m);
        tem_language_free(own);
    }
}

/* ---- what is said of them ---- */

static void test_promise(void **state) {
    (void)state;
    static uint32_t ids[] = {1, 5};
    const tem_ids_input document = {.ids = ids, .count = 2};
    char path[64];
    snprintf(path, sizeof path, "/tmp/tem-test-own-language-%ld", (long)getpid());
    for (int is_lazy = 0; is_lazy < 2; is_lazy++) {
        const tem_job job = {.ledger = path, .budget_worst = 1000}, plain = {0};
        user u;
        uint32_t out[2] = {7, 7};
        new_user(&u, rule_mixed);
        tem_language *own = wrap(&u, is_lazy);
        tem_mechanism *m = make(2, own);
        tem_mechanism_info info;
        tem_language_info about;
        tem_mechanism_get_info(m, &info);
        tem_language_get_info(own, &about);
        assert_int_equal(about.order, 0);
        assert_true(tem_language_is_trusted(own));
        const char *why = tem_job_why_not_private(m, &plain);
        assert_int_equal(why != NULL, is_lazy);
        assert_true(!is_lazy || strstr(why, "the user's own") != NULL);
        assert_int_equal(isinf(info.bound), is_lazy);
        const tem_status status =
            tem_privatize_ids(m, &job, &document, 1, NULL, out, NULL, NULL, NULL);
        assert_int_equal(status, is_lazy ? TEM_ERR_ARGUMENT : TEM_OK);
        assert_true((out[0] == 7 && out[1] == 7) == is_lazy || !is_lazy);
        assert_int_equal(access(path, F_OK) == 0, !is_lazy);
        unlink(path);
        tem_mechanism_free(m);
        tem_language_free(own);
    }
}

static void refuse(tem_language_functions functions) {
    tem_language *none = NULL;
    tem_error error;
    assert_int_equal(tem_language_wrap(model, &functions, &none, &error), TEM_ERR_ARGUMENT);
    assert_null(none);
}

static void test_refusals(void **state) {
    (void)state;
    user u;
    new_user(&u, rule_mixed);
    tem_language_functions functions = functions_of(&u, false);
    functions.weight = user_weight;
    refuse(functions);
    functions = functions_of(&u, true);
    functions.draw = NULL;
    refuse(functions);
    functions.look = NULL;
    functions.weight = NULL;
    refuse(functions);
    functions = functions_of(&u, false);
    functions.past_words = MECHANISM_PAST_MAX + 1;
    refuse(functions);
    functions = functions_of(&u, false);
    functions.name = "a line\nend";
    refuse(functions);
    functions.name = "a name of 64 bytes, which is one more than the structs have room for";
    refuse(functions);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_changing_answers),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_largest_sum),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_promise),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
