/* test_api.c - the rules of tem.h: what each call refuses, with which status, and that a refusal
 * leaves the outputs as they were. Every refusal is asked for twice, with and without a place for
 * the error. */
#include "tem_account.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 4, DIMENSION = 3 };

static const char *const words[COUNT] = {"one", "two", "three", "four"};
static const float values[COUNT * DIMENSION] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};

/* The corners of a rectangle of 3 by 4. */
static const double distances[COUNT * COUNT] = {0, 3, 5, 4, 3, 0, 4, 5, 5, 4, 0, 3, 4, 5, 3, 0};

/* The value of outputs before a call; a failed call must leave it. */
static char marker;
#define UNTOUCHED_VECTORS ((tem_vectors *)(void *)&marker)
#define UNTOUCHED_MODEL ((tem_model *)(void *)&marker)

/* The call contains `error`, and runs once with `error` NULL. */
#define ASSERT_REFUSED(expected, call)                                                             \
    do {                                                                                           \
        tem_error filled = {.status = TEM_OK};                                                     \
        tem_error *error = &filled;                                                                \
        assert_int_equal(call, expected);                                                          \
        assert_int_equal(filled.status, expected);                                                 \
        assert_true(filled.message[0] != '\0');                                                    \
        error = NULL;                                                                              \
        assert_int_equal(call, expected);                                                          \
    } while (0)

static tem_vectors *some_vectors(void) {
    tem_vectors *vectors = NULL;
    assert_int_equal(tem_vectors_create(words, values, COUNT, DIMENSION, &vectors, NULL), TEM_OK);
    return vectors;
}

static tem_model *some_model(void) {
    tem_vectors *vectors = some_vectors();
    tem_model *model = NULL;
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

/* ---- names ---- */

static void test_version(void **state) {
    (void)state;
    assert_string_equal(tem_version(), TEM_VERSION);
}

static void test_status_names(void **state) {
    (void)state;
    static const char *const names[] = {"ok",     "argument",    "memory",      "file",
                                        "exists", "format",      "version",     "damaged",
                                        "range",  "metric",      "unsupported", "cancelled",
                                        "budget", "certificate", "untrusted"};
    for (int i = 0; i <= TEM_ERR_UNTRUSTED; i++)
        assert_string_equal(tem_status_name((tem_status)i), names[i]);
    assert_string_equal(tem_status_name((tem_status)(TEM_ERR_UNTRUSTED + 1)), "unknown");
    assert_string_equal(tem_status_name((tem_status)-1), "unknown");
}

/* The stored vectors equal the given ones, if the grid holds them exactly. */
static void test_model_vector(void **state) {
    (void)state;
    static const float numbers[] = {0.5f, -2, 0, 1.25f, 3, -0.125f};
    const char *const names[] = {"a", "b"};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    float out[3] = {9, 9, 9};
    assert_int_equal(tem_vectors_create(names, numbers, 2, 3, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_vector(model, 2, out, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_vector(model, 0, NULL, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_vector(NULL, 0, out, error));
    assert_true(out[0] == 9 && out[2] == 9);
    for (uint32_t id = 0; id < 2; id++) {
        assert_int_equal(tem_model_vector(model, id, out, NULL), TEM_OK);
        assert_memory_equal(out, numbers + 3 * id, sizeof out);
    }
    tem_model_free(model);
    tem_vectors_free(vectors);
    assert_int_equal(tem_model_build_matrix(words, COUNT, distances, 0, NULL, &model, NULL),
                     TEM_OK);
    ASSERT_REFUSED(TEM_ERR_UNSUPPORTED, tem_model_vector(model, 0, out, error));
    tem_model_free(model);
}

static void test_metric_names(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF,
                                         TEM_HYPERBOLIC};
    static const char *const names[] = {"euclidean", "angular", "l1", "linf", "hyperbolic"};
    for (int i = 0; i < 5; i++) {
        tem_metric metric = TEM_MATRIX;
        assert_string_equal(tem_metric_name(metrics[i]), names[i]);
        assert_int_equal(tem_metric_parse(names[i], &metric, NULL), TEM_OK);
        assert_int_equal(metric, metrics[i]);
    }
    assert_string_equal(tem_metric_name(TEM_MATRIX), "matrix");
    for (unsigned i = 0; i < 6; i++) {
        tem_metric metric = 0;
        const char *meaning = NULL;
        const char *name = tem_metric_at(i, &metric, &meaning);
        assert_string_equal(name, tem_metric_name(metric));
        assert_true(meaning != NULL && meaning[0] != '\0');
        assert_ptr_equal(tem_metric_at(i, NULL, NULL), name);
    }
    assert_null(tem_metric_at(6, NULL, NULL));
    assert_string_equal(tem_metric_name((tem_metric)0), "unknown");
    assert_string_equal(tem_metric_name((tem_metric)7), "unknown");
}

static void test_metric_refusals(void **state) {
    (void)state;
    static const char *const none[] = {"", "Euclidean", "euclidean ", "l2", "matrix", "unknown"};
    tem_metric metric = TEM_LINF;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_metric_parse(none[i], &metric, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_metric_parse(NULL, &metric, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_metric_parse("l1", NULL, error));
    ASSERT_REFUSED(TEM_ERR_METRIC, tem_metric_parse("cosine", &metric, error));
    assert_int_equal(metric, TEM_LINF);
    tem_error told;
    tem_metric_parse("l2", &metric, &told);
    assert_string_equal(told.message, "the metric is euclidean, angular, l1, linf or hyperbolic");

    /* The message says why, and what to use instead. */
    tem_error error;
    tem_metric_parse("cosine", &metric, &error);
    assert_non_null(strstr(error.message, "triangle"));
    assert_non_null(strstr(error.message, "angular"));
}

static void test_kernels(void **state) {
    (void)state;
    const char *const before = tem_kernel_name();
    int available = 0;
    unsigned count = 0;
    assert_string_equal(tem_kernel_at(0, &available), "scalar");
    assert_int_equal(available, 1);
    for (const char *name; (name = tem_kernel_at(count, &available)) != NULL; count++) {
        assert_string_equal(tem_kernel_at(count, NULL), name);
        if (!available) {
            ASSERT_REFUSED(TEM_ERR_UNSUPPORTED, tem_kernel_force(name, error));
            continue;
        }
        assert_int_equal(tem_kernel_force(name, NULL), TEM_OK);
        assert_string_equal(tem_kernel_name(), name);
    }
    available = 7;
    assert_null(tem_kernel_at(count, &available));
    assert_null(tem_kernel_at(UINT32_MAX, &available));
    assert_int_equal(available, 7);

    assert_int_equal(tem_kernel_force(before, NULL), TEM_OK);
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_kernel_force("neon", error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_kernel_force("", error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_kernel_force(NULL, error));
    assert_string_equal(tem_kernel_name(), before);
}

/* ---- vectors ---- */

static void test_vectors(void **state) {
    (void)state;
    tem_vectors *vectors = some_vectors();
    assert_int_equal(tem_vectors_count(vectors), COUNT);
    assert_int_equal(tem_vectors_dimension(vectors), DIMENSION);
    assert_true(tem_vectors_format(vectors)[0] != '\0');
    tem_vectors_free(vectors);
    tem_vectors_free(NULL);
}

static void test_vectors_arguments(void **state) {
    (void)state;
    tem_vectors *v = UNTOUCHED_VECTORS;
    const char *const holes[COUNT] = {"one", "two", NULL, "four"};
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_vectors_load(NULL, 0, NULL, &v, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_vectors_load("x", 0, NULL, NULL, error));
    ASSERT_REFUSED(TEM_ERR_FILE, tem_vectors_load("/nonexistent/x", 0, NULL, &v, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_vectors_create(NULL, values, COUNT, DIMENSION, &v, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_vectors_create(words, NULL, COUNT, DIMENSION, &v, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_vectors_create(words, values, COUNT, DIMENSION, NULL, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_vectors_create(holes, values, COUNT, DIMENSION, &v, error));
    const uint32_t counts[] = {0, 1, TEM_WORDS_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                       tem_vectors_create(words, values, counts[i], DIMENSION, &v, error));
    const uint32_t dimensions[] = {0, TEM_DIMENSION_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                       tem_vectors_create(words, values, COUNT, dimensions[i], &v, error));
    assert_ptr_equal(v, UNTOUCHED_VECTORS);
}

/* Replaces the third word. */
static void assert_word_refused(const char *word) {
    const char *const changed[COUNT] = {"one", "two", word, "four"};
    tem_vectors *vectors = UNTOUCHED_VECTORS;
    tem_model *model = UNTOUCHED_MODEL;
    tem_error detail;
    assert_int_equal(tem_vectors_create(changed, values, COUNT, DIMENSION, &vectors, &detail),
                     TEM_ERR_FORMAT);
    assert_int_equal(detail.line, 3);
    ASSERT_REFUSED(TEM_ERR_FORMAT,
                   tem_vectors_create(changed, values, COUNT, DIMENSION, &vectors, error));
    /* The same rules apply to a vocabulary from any source. */
    assert_int_equal(tem_model_build_matrix(changed, COUNT, distances, 0, NULL, &model, &detail),
                     TEM_ERR_FORMAT);
    assert_int_equal(detail.line, 3);
    ASSERT_REFUSED(TEM_ERR_FORMAT,
                   tem_model_build_matrix(changed, COUNT, distances, 0, NULL, &model, error));
    assert_ptr_equal(vectors, UNTOUCHED_VECTORS);
    assert_ptr_equal(model, UNTOUCHED_MODEL);
}

static void test_word_refusals(void **state) {
    (void)state;
    static char long_word[TEM_WORD_BYTES_MAX + 2];
    static const char *const refused[] = {
        "",     "one",        "a\tb",         "a\nb",         "a\rb",
        "\xff", "\xc3",       "\xc0\xaf",     "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\x80", "ok\xe2\x82", "\xe0\x80\xaf",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_word_refused(refused[i]);
    memset(long_word, 'x', TEM_WORD_BYTES_MAX + 1);
    assert_word_refused(long_word);

    long_word[TEM_WORD_BYTES_MAX] = '\0'; /* the longest allowed */
    const char *const fine[COUNT] = {long_word, " ", "\xf4\x8f\xbf\xbf", "\x01"};
    tem_vectors *vectors = NULL;
    assert_int_equal(tem_vectors_create(fine, values, COUNT, DIMENSION, &vectors, NULL), TEM_OK);
    tem_vectors_free(vectors);
}

/* PRIVACY: error messages must not contain words. */
static void test_no_words_in_errors(void **state) {
    (void)state;
    const char *const twice[COUNT] = {"secret", "two", "three", "secret"};
    tem_vectors *vectors = NULL;
    tem_error error;
    assert_int_equal(tem_vectors_create(twice, values, COUNT, DIMENSION, &vectors, &error),
                     TEM_ERR_FORMAT);
    assert_int_equal(error.line, 4);
    assert_null(strstr(error.message, "secret"));
}

static void test_value_refusals(void **state) {
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    tem_vectors *vectors = UNTOUCHED_VECTORS;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float changed[COUNT * DIMENSION];
        tem_error detail;
        memcpy(changed, values, sizeof changed);
        changed[DIMENSION + 1] = bad[i];
        changed[COUNT * DIMENSION - 1] = bad[i];
        assert_int_equal(tem_vectors_create(words, changed, COUNT, DIMENSION, &vectors, &detail),
                         TEM_ERR_FORMAT);
        assert_int_equal(detail.line, 2); /* the first of the two */
        ASSERT_REFUSED(TEM_ERR_FORMAT,
                       tem_vectors_create(words, changed, COUNT, DIMENSION, &vectors, error));
    }
    assert_ptr_equal(vectors, UNTOUCHED_VECTORS);
}

/* ---- building from vectors ---- */

static void test_build_arguments(void **state) {
    (void)state;
    static const tem_metric none[] = {TEM_MATRIX, (tem_metric)7, (tem_metric)-1};
    tem_vectors *vectors = some_vectors();
    tem_model *model = UNTOUCHED_MODEL;
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_build(NULL, NULL, NULL, &model, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_build(vectors, NULL, NULL, NULL, error));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const tem_build_options options = {.metric = none[i]};
        ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_build(vectors, &options, NULL, &model, error));
    }
    assert_ptr_equal(model, UNTOUCHED_MODEL);
    tem_vectors_free(vectors);
}

static void test_build_defaults(void **state) {
    (void)state;
    static const tem_build_options options[] = {
        {0}, {.metric = TEM_EUCLIDEAN}, {.neighbours = COUNT}, {.neighbours = UINT32_MAX}};
    tem_vectors *vectors = some_vectors();
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        tem_model *model = NULL;
        tem_model_info info;
        assert_int_equal(tem_model_build(vectors, &options[i], NULL, &model, NULL), TEM_OK);
        tem_model_get_info(model, &info);
        assert_int_equal(info.metric, TEM_EUCLIDEAN);
        assert_int_equal(info.neighbours, COUNT); /* all words */
        assert_int_equal(info.words, COUNT);
        assert_int_equal(info.dimension, DIMENSION);
        assert_int_equal(info.triangles, 0);
        tem_model_free(model);
    }
    tem_vectors_free(vectors);
}

static void test_build_range(void **state) {
    (void)state;
    float changed[COUNT * DIMENSION];
    tem_vectors *vectors = NULL;
    tem_model *model = UNTOUCHED_MODEL;
    const tem_build_options angular = {.metric = TEM_ANGULAR};
    memcpy(changed, values, sizeof changed);
    changed[0] = 1024;
    assert_int_equal(tem_vectors_create(words, changed, COUNT, DIMENSION, &vectors, NULL), TEM_OK);
    ASSERT_REFUSED(TEM_ERR_RANGE, tem_model_build(vectors, NULL, NULL, &model, error));
    tem_vectors_free(vectors);

    changed[0] = 0; /* the first vector is now zero, and has no angle */
    assert_int_equal(tem_vectors_create(words, changed, COUNT, DIMENSION, &vectors, NULL), TEM_OK);
    ASSERT_REFUSED(TEM_ERR_RANGE, tem_model_build(vectors, &angular, NULL, &model, error));
    assert_ptr_equal(model, UNTOUCHED_MODEL);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* ---- building from the user's metric ---- */

static double one(void *context, uint32_t a, uint32_t b) {
    (void)context;
    return a == b ? 0 : 1;
}

static double zero(void *context, uint32_t a, uint32_t b) {
    (void)context;
    (void)a;
    (void)b;
    return 0;
}

static void test_metric_arguments(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, 1, TEM_MATRIX_WORDS_MAX + 1, UINT32_MAX};
    const char *const holes[COUNT] = {"one", NULL, "three", "four"};
    tem_model *m = UNTOUCHED_MODEL;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                       tem_model_build_function(words, counts[i], one, NULL, 0, NULL, &m, error));
        /* Checked before the matrix is read, which is smaller than that. */
        ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                       tem_model_build_matrix(words, counts[i], distances, 0, NULL, &m, error));
    }
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_model_build_function(NULL, COUNT, one, NULL, 0, NULL, &m, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_model_build_function(words, COUNT, NULL, NULL, 0, NULL, &m, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_model_build_function(words, COUNT, one, NULL, 0, NULL, NULL, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_model_build_function(holes, COUNT, one, NULL, 0, NULL, &m, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_model_build_matrix(NULL, COUNT, distances, 0, NULL, &m, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_model_build_matrix(words, COUNT, NULL, 0, NULL, &m, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT,
                   tem_model_build_matrix(words, COUNT, distances, 0, NULL, NULL, error));
    assert_ptr_equal(m, UNTOUCHED_MODEL);
}

/* The matrix with one entry, or both entries of a pair, replaced. */
static void assert_matrix_refused(uint32_t a, uint32_t b, double there, double back,
                                  tem_status expected) {
    double changed[COUNT * COUNT];
    tem_model *model = UNTOUCHED_MODEL;
    memcpy(changed, distances, sizeof changed);
    changed[a * COUNT + b] = there;
    changed[b * COUNT + a] = back;
    ASSERT_REFUSED(expected, tem_model_build_matrix(words, COUNT, changed, 0, NULL, &model, error));
    assert_ptr_equal(model, UNTOUCHED_MODEL);
}

static void test_matrix_refusals(void **state) {
    (void)state;
    const double out_of_range[] = {-1, -1e-300, NAN, INFINITY, -INFINITY, 65536, 1e300};
    for (size_t i = 0; i < sizeof out_of_range / sizeof *out_of_range; i++) {
        const double d = out_of_range[i];
        assert_matrix_refused(2, 1, d, d, TEM_ERR_RANGE);
        assert_matrix_refused(2, 1, d, distances[2 * COUNT + 1], TEM_ERR_RANGE);
        assert_matrix_refused(1, 2, d, distances[2 * COUNT + 1], TEM_ERR_RANGE);
        assert_matrix_refused(3, 3, d, d, TEM_ERR_METRIC); /* the diagonal */
    }
    assert_matrix_refused(0, 0, 1e-300, 1e-300, TEM_ERR_METRIC);
    assert_matrix_refused(0, 1, 3, 3.0000000001, TEM_ERR_METRIC); /* not symmetric */
    assert_matrix_refused(3, 2, 0, 3, TEM_ERR_METRIC);
    assert_matrix_refused(0, 1, 9.001, 9.001, TEM_ERR_METRIC); /* 4 + 5 is shorter */
    assert_matrix_refused(0, 1, 0, 0, TEM_ERR_METRIC);         /* one point, 4 and 5 from another */
}

static void test_matrix(void **state) {
    (void)state;
    tem_model *model = NULL;
    tem_model_info info;
    assert_int_equal(tem_model_build_matrix(words, COUNT, distances, 2, NULL, &model, NULL),
                     TEM_OK);
    tem_model_get_info(model, &info);
    assert_int_equal(info.metric, TEM_MATRIX);
    assert_int_equal(info.dimension, 0);
    assert_int_equal(info.neighbours, 2);
    assert_int_equal(info.triangles, 4);
    assert_int_equal(info.triangles_exhaustive, 1);
    for (uint32_t a = 0; a < COUNT; a++)
        for (uint32_t b = 0; b < COUNT; b++) {
            const tem_dist plain = (tem_dist)distances[a * COUNT + b] * TEM_DIST_ONE;
            assert_int_equal(tem_model_distance(model, a, b), a == b ? 0 : plain + 1);
        }
    tem_neighbours n;
    assert_int_equal(tem_model_neighbours(model, 0, &n, NULL), TEM_OK);
    assert_int_equal(n.count, 2);
    assert_int_equal(n.list[0].id, 0);
    assert_int_equal(n.list[1].id, 1);
    assert_int_equal(n.bound, 4 * TEM_DIST_ONE + 1);
    tem_model_free(model);
}

/* All words may be the same point. */
static void test_zero_distances(void **state) {
    (void)state;
    tem_model *model = NULL;
    assert_int_equal(tem_model_build_function(words, COUNT, zero, NULL, 2, NULL, &model, NULL),
                     TEM_OK);
    for (uint32_t id = 0; id < COUNT; id++) {
        tem_neighbours n;
        assert_int_equal(tem_model_neighbours(model, id, &n, NULL), TEM_OK);
        assert_int_equal(n.count, 2);
        assert_int_equal(n.list[0].id, 0); /* ties go by id: a word's own list may not contain it */
        assert_int_equal(n.list[1].id, 1);
        assert_int_equal(n.bound, 0);
        assert_int_equal(tem_model_distance(model, id, 0), 0);
    }
    assert_int_equal(tem_model_verify(model, NULL, NULL), TEM_OK);
    tem_model_free(model);
}

typedef struct asked {
    int count[COUNT][COUNT];
} asked;

static double count_questions(void *context, uint32_t a, uint32_t b) {
    ((asked *)context)->count[a][b]++;
    return distances[a * COUNT + b];
}

/* "Each pair is asked for once in each order", and a != b. */
static void test_function_is_asked_once(void **state) {
    (void)state;
    asked a = {{{0}}};
    tem_model *model = NULL;
    assert_int_equal(
        tem_model_build_function(words, COUNT, count_questions, &a, 0, NULL, &model, NULL), TEM_OK);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            assert_int_equal(a.count[i][j], i != j);
    tem_model_free(model);
}

static double ladder(void *context, uint32_t a, uint32_t b) {
    (void)context;
    return a > b ? a - b : b - a;
}

/* Beyond 400 words tem checks only a sample of the triangles, and the info says so. */
static void test_sampled_triangles(void **state) {
    (void)state;
    enum { MANY = 401 };
    static char names[MANY][4];
    static const char *spans[MANY];
    for (int i = 0; i < MANY; i++) {
        names[i][0] = (char)('a' + i % 26);
        names[i][1] = (char)('a' + i / 26);
        spans[i] = names[i];
    }
    for (uint32_t count = MANY - 1; count <= MANY; count++) {
        tem_model *model = NULL;
        tem_model_info info;
        assert_int_equal(
            tem_model_build_function(spans, count, ladder, NULL, 1, NULL, &model, NULL), TEM_OK);
        tem_model_get_info(model, &info);
        assert_int_equal(info.triangles_exhaustive, count <= 400);
        assert_int_equal(info.triangles, count <= 400 ? 400 * 399 * 398 / 6 : 4000000);
        tem_model_free(model);
    }
}

/* ---- using a model ---- */

static void test_model_arguments(void **state) {
    (void)state;
    tem_model *model = some_model(), *other = UNTOUCHED_MODEL;
    tem_neighbours n = {.count = 77};
    size_t length = 77;
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_open(NULL, &other, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_open("x", NULL, error));
    ASSERT_REFUSED(TEM_ERR_FILE, tem_model_open("/nonexistent/x", &other, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_save(NULL, "x", TEM_OVERWRITE, NULL, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_save(model, NULL, TEM_OVERWRITE, NULL, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_check(NULL, NULL, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_verify(NULL, NULL, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_neighbours(NULL, 0, &n, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_neighbours(model, 0, NULL, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_neighbours(model, COUNT, &n, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_neighbours(model, UINT32_MAX, &n, error));
    assert_ptr_equal(other, UNTOUCHED_MODEL);
    assert_int_equal(n.count, 77);
    assert_int_equal(tem_model_distance(model, COUNT, 0), UINT32_MAX);
    assert_int_equal(tem_model_distance(model, 0, COUNT), UINT32_MAX);
    assert_int_equal(tem_model_distance(model, UINT32_MAX, UINT32_MAX), UINT32_MAX);
    assert_null(tem_model_word(model, COUNT, &length));
    assert_int_equal(length, 0);
    assert_null(tem_model_word(model, UINT32_MAX, &length));
    tem_model_free(model);
    tem_model_free(NULL);
}

static void test_model_words(void **state) {
    (void)state;
    tem_model *model = some_model();
    for (uint32_t id = 0; id < COUNT; id++) {
        size_t length = 0;
        const char *word = tem_model_word(model, id, &length);
        assert_int_equal(length, strlen(words[id]));
        assert_memory_equal(word, words[id], length);
        assert_int_equal(tem_model_find(model, words[id], strlen(words[id])), id);
    }
    assert_int_equal(tem_model_find(model, "", 0), TEM_NO_WORD);
    assert_int_equal(tem_model_find(model, "on", 2), TEM_NO_WORD);
    assert_int_equal(tem_model_find(model, "one", 4), TEM_NO_WORD); /* including its NUL */
    assert_int_equal(tem_model_find(model, "One", 3), TEM_NO_WORD);
    tem_model_free(model);
}

/* The model is a copy: its inputs may be freed. */
static void test_everything_is_copied(void **state) {
    (void)state;
    char text[COUNT][8];
    const char *pointers[COUNT];
    float numbers[COUNT * DIMENSION];
    for (int i = 0; i < COUNT; i++)
        pointers[i] = strcpy(text[i], words[i]);
    memcpy(numbers, values, sizeof numbers);
    tem_vectors *vectors = NULL;
    tem_model *model = NULL, *right = some_model();
    assert_int_equal(tem_vectors_create(pointers, numbers, COUNT, DIMENSION, &vectors, NULL),
                     TEM_OK);
    memset(text, 'z', sizeof text);
    memset(numbers, 0, sizeof numbers);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    assert_int_equal(tem_model_find(model, "three", 5), 2);
    for (uint32_t a = 0; a < COUNT; a++)
        for (uint32_t b = 0; b < COUNT; b++)
            assert_int_equal(tem_model_distance(model, a, b), tem_model_distance(right, a, b));
    tem_model_free(right);
    tem_model_free(model);
}

/* ---- mechanisms ---- */

static tem_mechanism *some_mechanism(const tem_model *model, tem_mechanism_options options) {
    tem_mechanism *mechanism = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    return mechanism;
}

/* N_w by the fast path and by the exact law, for every word. */
static void check_self(const tem_model *model, tem_mechanism_options options) {
    tem_mechanism *mechanism = some_mechanism(model, options);
    for (uint32_t word = 0; word < COUNT; word++) {
        tem_law *law = NULL;
        double self = 0;
        assert_int_equal(tem_law_create(mechanism, word, 20, &law, NULL), TEM_OK);
        assert_int_equal(tem_mechanism_self(mechanism, word, &self, NULL), TEM_OK);
        assert_true(fabs(self - tem_law_probability(law, word)) < 1e-12);
        tem_law_free(law);
    }
    tem_mechanism_free(mechanism);
}

static void test_self(void **state) {
    (void)state;
    static const uint32_t weights[COUNT] = {1, 7, 0, 1000000};
    tem_model *model = some_model();
    check_self(model, (tem_mechanism_options){.epsilon = 2});
    check_self(model, (tem_mechanism_options){.epsilon = 2, .gamma = 0.5});
    check_self(model, (tem_mechanism_options){.epsilon = 2, .weights = weights});
    check_self(model, (tem_mechanism_options){.epsilon = 5, .mechanism = "em"});
    tem_model_free(model);
}

/* The first of three words has 6/11 of Zipf's law, so it is the median word: alone it always stays
 * unchanged, beside another word half of the time. */
static void test_self_median(void **state) {
    (void)state;
    static const float alone[] = {1000, 0, 0}, beside[] = {0, 0, 1000};
    for (int i = 0; i < 2; i++) {
        tem_vectors *vectors = NULL;
        tem_model *model = NULL;
        double median = -1;
        assert_int_equal(tem_vectors_create(words, i == 0 ? alone : beside, 3, 1, &vectors, NULL),
                         TEM_OK);
        assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
        tem_mechanism *mechanism =
            some_mechanism(model, (tem_mechanism_options){.epsilon = 1, .gamma = 100});
        assert_int_equal(tem_mechanism_self_median(mechanism, &median, NULL), TEM_OK);
        assert_true(i == 0 ? median > 0.999999 : median > 0.49 && median < 0.51);
        tem_mechanism_free(mechanism);
        mechanism =
            some_mechanism(model, (tem_mechanism_options){.epsilon = 1, .mechanism = "madlib"});
        assert_int_equal(tem_mechanism_self_median(mechanism, &median, NULL), TEM_ERR_UNSUPPORTED);
        assert_int_equal(tem_mechanism_self_median(mechanism, NULL, NULL), TEM_ERR_ARGUMENT);
        assert_int_equal(tem_mechanism_self_median(NULL, &median, NULL), TEM_ERR_ARGUMENT);
        tem_mechanism_free(mechanism);
        tem_model_free(model);
        tem_vectors_free(vectors);
    }
}

/* Truncation moves at most A exp(-s gamma) over the least weight, for the gamma in use: at a large
 * epsilon that is far from 64/s. */
static void test_moved_mass(void **state) {
    (void)state;
    static const uint32_t weights[COUNT] = {3, 7, 5, 85};
    tem_model *model = some_model();
    const double epsilons[] = {0.5, 3, 2000, 1e6, 4.19e6};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++)
        for (int weighted = 0; weighted < 2; weighted++) {
            tem_mechanism *mechanism = some_mechanism(
                model, (tem_mechanism_options){.epsilon = epsilons[i],
                                               .mechanism = "em",
                                               .weights = weighted ? weights : NULL});
            tem_mechanism_info info;
            tem_mechanism_get_info(mechanism, &info);
            const double bound = (weighted ? 100.0 / 3 : COUNT) * exp(-info.s * info.gamma);
            assert_true(info.moved_mass >= bound * (1 - 1e-9));
            assert_true(info.moved_mass <= bound * (1 + 1e-9));
            assert_true(info.s * info.gamma <= 64);
            assert_true(fabs(info.epsilon_gamma - info.epsilon * info.gamma) < 1e-9);
            tem_mechanism_free(mechanism);
        }
    tem_mechanism_info info;
    tem_mechanism *plain = some_mechanism(model, (tem_mechanism_options){.epsilon = 3});
    tem_mechanism_get_info(plain, &info);
    assert_true(info.moved_mass <= 0);
    tem_mechanism_free(plain);
    tem_model_free(model);
}

static void check_decimal(const tem_law *law, uint32_t y, unsigned digits, const char *expected) {
    char text[64];
    assert_int_equal(tem_law_decimal(law, y, digits, text, sizeof text, NULL), TEM_OK);
    assert_string_equal(text, expected);
}

/* With weights, the law of an unknown word is a set of decimal fractions. */
static void test_decimals(void **state) {
    (void)state;
    static const uint32_t weights[COUNT] = {1, 124, 0, 875};
    tem_model *model = some_model();
    tem_mechanism *mechanism =
        some_mechanism(model, (tem_mechanism_options){.epsilon = 2, .weights = weights});
    tem_law *law = NULL;
    char text[64];
    const uint32_t last[] = {3};
    assert_int_equal(tem_law_create(mechanism, TEM_NO_WORD, 30, &law, NULL), TEM_OK);
    check_decimal(law, 0, 4, "1.000e-03");
    check_decimal(law, 1, 2, "1.2e-01");
    check_decimal(law, 1, 1, "1e-01");
    check_decimal(law, 2, 5, "0");
    check_decimal(law, 3, 17, "8.7500000000000000e-01");
    assert_int_equal(tem_law_outside_decimal(law, last, 1, 3, text, sizeof text, NULL), TEM_OK);
    assert_string_equal(text, "1.25e-01");
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_law_decimal(law, COUNT, 3, text, sizeof text, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_law_decimal(law, 0, 0, text, sizeof text, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_law_decimal(law, 0, 40, text, sizeof text, error));
    tem_law_free(law);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

/* By distance, then by id; up to all words in order. */
static void test_nearest(void **state) {
    (void)state;
    tem_model *model = some_model();
    tem_mechanism *mechanism = some_mechanism(model, (tem_mechanism_options){.epsilon = 2});
    for (uint32_t word = 0; word <= COUNT; word++) {
        tem_law *law = NULL;
        uint32_t all[COUNT], few[COUNT];
        assert_int_equal(
            tem_law_create(mechanism, word < COUNT ? word : TEM_NO_WORD, 5, &law, NULL), TEM_OK);
        assert_int_equal(tem_law_nearest(law, all, COUNT, NULL), TEM_OK);
        for (uint32_t i = 1; i < COUNT; i++) {
            const tem_dist before = tem_law_distance(law, all[i - 1]);
            const tem_dist here = tem_law_distance(law, all[i]);
            assert_true(before < here || (before == here && all[i - 1] < all[i]));
            assert_int_equal(tem_law_nearest(law, few, i, NULL), TEM_OK);
            assert_memory_equal(few, all, i * sizeof *all);
        }
        assert_true(word < COUNT || all[0] == 0);
        ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_law_nearest(law, all, 0, error));
        ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_law_nearest(law, all, COUNT + 1, error));
        ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_law_nearest(law, NULL, 1, error));
        tem_law_free(law);
    }
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

static void test_mechanism_arguments(void **state) {
    (void)state;
    tem_model *model = some_model();
    tem_mechanism *mechanism = NULL;
    const struct {
        tem_status expected;
        tem_mechanism_options options;
    } refused[] = {
        {TEM_ERR_RANGE, {.epsilon = 0}},
        {TEM_ERR_RANGE, {.epsilon = NAN}},
        {TEM_ERR_ARGUMENT, {.epsilon = 1, .beta = 0.1, .gamma = 1}},
        {TEM_ERR_ARGUMENT, {.epsilon = 1, .gamma = 1, .mechanism = "em"}},
        {TEM_ERR_ARGUMENT, {.epsilon = 1, .mechanism = "nosuch"}},
        {TEM_ERR_RANGE, {.epsilon = 1, .beta = -1}},
        {TEM_ERR_RANGE, {.epsilon = 1, .beta = 0.9}}, /* gamma would not be positive */
        {TEM_ERR_RANGE, {.epsilon = 1, .gamma = -1}},
        {TEM_ERR_RANGE, {.epsilon = 1, .gamma = NAN}},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ASSERT_REFUSED(refused[i].expected,
                       tem_mechanism_create(model, &refused[i].options, &mechanism, error));
    assert_null(mechanism);
    mechanism = some_mechanism(model, (tem_mechanism_options){.epsilon = 1});
    tem_rng *rng = NULL;
    uint32_t out = 77;
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    assert_int_equal(tem_rng_is_private(rng), 1);
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_mechanism_draw(mechanism, rng, COUNT, &out, error));
    assert_int_equal(out, 77);
    tem_rng_free(rng);
    tem_rng_free(NULL);
    tem_mechanism_free(mechanism);
    tem_mechanism_free(NULL);
    tem_law_free(NULL);
    tem_model_free(model);
}

/* How a text becomes words: folded, split, looked up; and which words a text can never contain. */
static void test_pieces_of_text(void **state) {
    (void)state;
    static const char *const odd[COUNT] = {"movie", "\u00df", "Two", "a b"};
    static const char text[] = "The MOVIE, a b; movie-movie";
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    uint32_t ids[3] = {77, 77, 77}, unreachable = 77;
    size_t count = 77;
    assert_int_equal(tem_vectors_create(odd, values, COUNT, DIMENSION, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
    assert_int_equal(tem_model_count_unreachable(model, &unreachable, NULL), TEM_OK);
    assert_int_equal(unreachable, 3);
    assert_int_equal(tem_model_pieces(model, text, strlen(text), ids, 3, &count, NULL), TEM_OK);
    assert_int_equal(count, 6);
    assert_int_equal(ids[0], TEM_NO_WORD);
    assert_int_equal(ids[1], 0);
    assert_int_equal(ids[2], TEM_NO_WORD);
    assert_int_equal(tem_model_pieces(model, "?!", 2, NULL, 0, &count, NULL), TEM_OK);
    assert_int_equal(count, 0);
    count = 77;
    ASSERT_REFUSED(TEM_ERR_FORMAT, tem_model_pieces(model, "\xff", 1, ids, 3, &count, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_pieces(NULL, "a", 1, ids, 3, &count, error));
    ASSERT_REFUSED(TEM_ERR_ARGUMENT, tem_model_count_unreachable(model, NULL, error));
    assert_int_equal(count, 77);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* Within 2^-18 of a metric, but two words at distance 0 have different distances to a third: no
 * sample of triangles is likely to hit it among 500 words. */
static double nearly(void *context, uint32_t a, uint32_t b) {
    (void)context;
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low == 0 && high == 1)
        return 0;
    return low == 0 && high == 2 ? 0.5 : low == 1 && high == 2 ? 0.5 + 0x1p-18 : 0.75;
}

static void test_equal_words_unlike(void **state) {
    (void)state;
    enum { MANY = 500 };
    static char names[MANY][8];
    const char *many[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        many[i] = names[i];
    }
    tem_model *model = UNTOUCHED_MODEL;
    ASSERT_REFUSED(TEM_ERR_METRIC,
                   tem_model_build_function(many, MANY, nearly, NULL, 4, NULL, &model, error));
    assert_ptr_equal(model, UNTOUCHED_MODEL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_model_vector),
        cmocka_unit_test(test_metric_names),
        cmocka_unit_test(test_metric_refusals),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_vectors_arguments),
        cmocka_unit_test(test_word_refusals),
        cmocka_unit_test(test_no_words_in_errors),
        cmocka_unit_test(test_value_refusals),
        cmocka_unit_test(test_build_arguments),
        cmocka_unit_test(test_build_defaults),
        cmocka_unit_test(test_build_range),
        cmocka_unit_test(test_metric_arguments),
        cmocka_unit_test(test_matrix_refusals),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_zero_distances),
        cmocka_unit_test(test_function_is_asked_once),
        cmocka_unit_test(test_sampled_triangles),
        cmocka_unit_test(test_model_arguments),
        cmocka_unit_test(test_model_words),
        cmocka_unit_test(test_everything_is_copied),
        cmocka_unit_test(test_self),
        cmocka_unit_test(test_self_median),
        cmocka_unit_test(test_moved_mass),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_mechanism_arguments),
        cmocka_unit_test(test_pieces_of_text),
        cmocka_unit_test(test_equal_words_unlike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
