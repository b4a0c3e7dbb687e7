/* test_prepare.c - which space a model gets, its recipe, and what tem refuses. tests/check-prepare
 * compares the numbers with NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/prepare.h"
#include "pseudo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 1000, WIDE = 50 };

/* Vectors w0, w1, ... of pseudo-random numbers, whose mean is not 0. */
static tem_vectors *some_vectors(uint32_t count, uint32_t dimension, uint32_t zero_row) {
    char(*names)[16] = calloc(count, sizeof *names);
    const char **words = calloc(count, sizeof *words);
    float *values = calloc((size_t)count * dimension, sizeof *values);
    tem_vectors *vectors = NULL;
    assert_true(names != NULL && words != NULL && values != NULL);
    random_state = 7;
    for (uint32_t id = 0; id < count; id++) {
        snprintf(names[id], sizeof names[id], "w%u", id);
        words[id] = names[id];
        for (uint32_t i = 0; i < dimension && id != zero_row; i++)
            values[(size_t)id * dimension + i] = (float)random_below(2000) / 1000 - 0.8F;
    }
    assert_int_equal(tem_vectors_create(words, values, count, dimension, &vectors, NULL), TEM_OK);
    free(values);
    free(words);
    free(names);
    return vectors;
}

static tem_recipe recipe_of(const tem_model *model) {
    tem_recipe recipe;
    memset(&recipe, 1, sizeof recipe);
    tem_model_get_recipe(model, &recipe);
    return recipe;
}

static tem_space space_built(uint32_t count, uint32_t dimension, tem_build_options options) {
    tem_vectors *vectors = some_vectors(count, dimension, UINT32_MAX);
    tem_model *model = NULL;
    options.neighbours = 1;
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    const tem_space found = recipe_of(model).space;
    tem_model_free(model);
    tem_vectors_free(vectors);
    return found;
}

static void test_default_space(void **state) {
    (void)state;
    const tem_build_options none = {0};
    assert_int_equal(space_built(MANY, WIDE, none), TEM_SPACE_SPHERE);
    assert_int_equal(space_built(MANY - 1, WIDE, none), TEM_SPACE_RAW);
    assert_int_equal(space_built(MANY, WIDE - 1, none), TEM_SPACE_RAW);
    const tem_build_options raw = {.space = TEM_SPACE_RAW};
    assert_int_equal(space_built(MANY, WIDE, raw), TEM_SPACE_RAW);
    static const tem_metric others[] = {TEM_ANGULAR, TEM_L1, TEM_LINF};
    for (size_t i = 0; i < 3; i++) {
        const tem_build_options options = {.metric = others[i]};
        assert_int_equal(space_built(MANY, WIDE, options), TEM_SPACE_RAW);
    }
    const tem_build_options sphere = {.space = TEM_SPACE_SPHERE};
    assert_int_equal(space_built(20, 5, sphere), TEM_SPACE_SPHERE);
    /* Only a sphere has these. */
    const tem_build_options dimensions = {.dimensions = 3}, removed = {.remove = 1};
    assert_int_equal(space_built(20, 5, dimensions), TEM_SPACE_SPHERE);
    assert_int_equal(space_built(20, 5, removed), TEM_SPACE_SPHERE);
}

static void test_names(void **state) {
    (void)state;
    tem_space kind = TEM_SPACE_DEFAULT;
    tem_error error;
    assert_string_equal(tem_space_name(TEM_SPACE_DEFAULT), "default");
    assert_string_equal(tem_space_name(TEM_SPACE_RAW), "raw");
    assert_string_equal(tem_space_name(TEM_SPACE_SPHERE), "sphere");
    assert_string_equal(tem_space_name((tem_space)3), "unknown");
    assert_int_equal(tem_space_parse("sphere", &kind, &error), TEM_OK);
    assert_int_equal(kind, TEM_SPACE_SPHERE);
    assert_int_equal(tem_space_parse("raw", &kind, &error), TEM_OK);
    assert_int_equal(kind, TEM_SPACE_RAW);
    assert_int_equal(tem_space_parse("default", &kind, &error), TEM_ERR_ARGUMENT);
    assert_int_equal(kind, TEM_SPACE_RAW);
    assert_string_equal(error.message, "the space is raw or sphere");
}

static void assert_refused(tem_vectors *vectors, tem_build_options options, tem_status status,
                           const char *message) {
    tem_model *model = NULL;
    tem_error error;
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, &error), status);
    assert_null(model);
    assert_non_null(strstr(error.message, message));
}

static void test_refusals(void **state) {
    (void)state;
    tem_vectors *vectors = some_vectors(30, 6, UINT32_MAX);
    assert_refused(vectors, (tem_build_options){.space = (tem_space)3}, TEM_ERR_ARGUMENT,
                   "the space is raw or sphere");
    assert_refused(vectors, (tem_build_options){.space = TEM_SPACE_RAW, .dimensions = 3},
                   TEM_ERR_ARGUMENT, "a raw space has all words and dimensions");
    assert_refused(vectors, (tem_build_options){.space = TEM_SPACE_RAW, .remove = 1},
                   TEM_ERR_ARGUMENT, "a raw space has all words and dimensions");
    assert_refused(vectors, (tem_build_options){.drop_degenerate = 1}, TEM_ERR_ARGUMENT,
                   "a raw space has all words and dimensions");
    assert_refused(vectors, (tem_build_options){.space = TEM_SPACE_SPHERE, .metric = TEM_ANGULAR},
                   TEM_ERR_ARGUMENT, "a sphere is for the euclidean metric");
    assert_refused(vectors, (tem_build_options){.dimensions = 7}, TEM_ERR_RANGE,
                   "the vectors have 6 components: a sphere cannot keep 7 after removing 0");
    assert_refused(vectors, (tem_build_options){.remove = 6}, TEM_ERR_RANGE,
                   "cannot keep 1 after removing 6");
    assert_refused(vectors, (tem_build_options){.dimensions = UINT32_MAX, .remove = UINT32_MAX},
                   TEM_ERR_RANGE, "cannot keep");
    tem_vectors_free(vectors);
}

/* The words of zero vectors are left out; the others keep their order and their vectors. */
static void test_dropped_words(void **state) {
    (void)state;
    tem_vectors *vectors = some_vectors(30, 6, 11);
    const tem_build_options refusing = {.space = TEM_SPACE_SPHERE};
    const tem_build_options dropping = {.space = TEM_SPACE_SPHERE, .drop_degenerate = 1};
    tem_model *model = NULL;
    tem_model_info info;
    size_t length = 0;
    assert_refused(vectors, refusing, TEM_ERR_RANGE,
                   "the vector of word 12 is zero and has no direction; or build with "
                   "drop_degenerate");
    assert_int_equal(tem_model_build(vectors, &dropping, NULL, &model, NULL), TEM_OK);
    tem_model_get_info(model, &info);
    assert_int_equal(info.words, 29);
    assert_int_equal(recipe_of(model).dropped, 1);
    assert_int_equal(recipe_of(model).given_words, 30);
    assert_int_equal(tem_model_find(model, "w11", 3), TEM_NO_WORD);
    assert_int_equal(tem_model_find(model, "w10", 3), 10);
    assert_int_equal(tem_model_find(model, "w12", 3), 11);
    assert_memory_equal(tem_model_word(model, 28, &length), "w29", 3);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* A raw space has zero vectors, and drops none. */
static void test_raw_keeps_zero(void **state) {
    (void)state;
    tem_vectors *vectors = some_vectors(30, 6, 11);
    const tem_build_options raw = {.space = TEM_SPACE_RAW};
    tem_model *model = NULL;
    tem_model_info info;
    assert_int_equal(tem_model_build(vectors, &raw, NULL, &model, NULL), TEM_OK);
    tem_model_get_info(model, &info);
    assert_int_equal(info.words, 30);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* Words that coincide after the projection are at distance 0: on the line there are two points. */
static void test_coinciding_words(void **state) {
    (void)state;
    tem_vectors *vectors = some_vectors(40, 6, UINT32_MAX);
    const tem_build_options line = {.dimensions = 1};
    tem_model *model = NULL;
    assert_int_equal(tem_model_build(vectors, &line, NULL, &model, NULL), TEM_OK);
    const tem_dist across = (tem_dist)ceil(2 * recipe_of(model).scale * TEM_DIST_ONE);
    for (uint32_t a = 0; a < 40; a++)
        for (uint32_t b = 0; b < 40; b++) {
            const tem_dist found = tem_model_distance(model, a, b);
            assert_true(found == 0 || (found < across + 200 && found > across - 200));
        }
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* ---- the numbers, by other means ---- */

enum { FEW = 40, GIVEN = 6, KEPT = 3, REMOVED = 1 };

static double length(const double *x, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void scale(double *x, uint32_t count, double factor) {
    for (uint32_t i = 0; i < count; i++)
        x[i] *= factor;
}

/* Takes what points along `axis` out of all rows; coordinates[id] receives how much. */
static void take_out(double (*rows)[GIVEN], const double *axis, double *coordinates) {
    for (uint32_t id = 0; id < FEW; id++) {
        coordinates[id] = 0;
        for (uint32_t i = 0; i < GIVEN; i++)
            coordinates[id] += rows[id][i] * axis[i];
        for (uint32_t i = 0; i < GIVEN; i++)
            rows[id][i] -= coordinates[id] * axis[i];
    }
}

/* The direction of largest variance, by power iteration. */
static void find_axis(double (*rows)[GIVEN], double *axis) {
    for (uint32_t i = 0; i < GIVEN; i++)
        axis[i] = 1 + 0.1 * i;
    for (int round = 0; round < 20000; round++) {
        double next[GIVEN] = {0};
        for (uint32_t id = 0; id < FEW; id++) {
            double along = 0;
            for (uint32_t i = 0; i < GIVEN; i++)
                along += rows[id][i] * axis[i];
            for (uint32_t i = 0; i < GIVEN; i++)
                next[i] += along * rows[id][i];
        }
        scale(next, GIVEN, 1 / length(next, GIVEN));
        memcpy(axis, next, sizeof next);
    }
}

static double distance_of(const double *a, const double *b, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* The root mean square of the distances of all pairs of rows. */
static double root_mean_square(const double *rows, uint32_t width) {
    double sum = 0;
    for (uint32_t a = 0; a < FEW; a++)
        for (uint32_t b = 0; b < FEW; b++)
            sum += pow(distance_of(rows + a * width, rows + b * width, width), 2);
    return sqrt(sum / (FEW * (FEW - 1)));
}

/* The recipe of tem.h, without LAPACK. Returns the root mean square distance. */
static double make_sphere(const float *values, double made[FEW][KEPT]) {
    double rows[FEW][GIVEN], given[FEW][GIVEN], mean[GIVEN] = {0}, axis[GIVEN], along[FEW];
    for (uint32_t id = 0; id < FEW; id++) {
        for (uint32_t i = 0; i < GIVEN; i++)
            rows[id][i] = given[id][i] = values[id * GIVEN + i];
        scale(rows[id], GIVEN, 1 / length(rows[id], GIVEN));
        for (uint32_t i = 0; i < GIVEN; i++)
            mean[i] += rows[id][i] / FEW;
    }
    for (uint32_t id = 0; id < FEW; id++)
        for (uint32_t i = 0; i < GIVEN; i++)
            rows[id][i] -= mean[i];
    for (uint32_t k = 0; k < REMOVED + KEPT; k++) {
        find_axis(rows, axis);
        take_out(rows, axis, along);
        for (uint32_t id = 0; id < FEW && k >= REMOVED; id++)
            made[id][k - REMOVED] = along[id];
    }
    for (uint32_t id = 0; id < FEW; id++)
        scale(made[id], KEPT, 1 / length(made[id], KEPT));
    const double wanted = root_mean_square(given[0], GIVEN);
    scale(made[0], FEW * KEPT, wanted / root_mean_square(made[0], KEPT));
    return wanted;
}

static void test_numbers(void **state) {
    (void)state;
    tem_vectors *given = some_vectors(FEW, GIVEN, UINT32_MAX), *prepared = NULL;
    const tem_build_options options = {.dimensions = KEPT, .remove = REMOVED};
    double right[FEW][KEPT];
    const double wanted = make_sphere(given->values, right);
    assert_int_equal(prepare_vectors(given, &options, NULL, &prepared, NULL), TEM_OK);
    assert_int_equal(prepared->words.count, FEW);
    assert_int_equal(prepared->dimension, KEPT);
    assert_true(fabs(prepared->recipe.rms_distance - wanted) < 1e-9);
    for (uint32_t a = 0; a < FEW; a++)
        for (uint32_t b = 0; b < FEW; b++) {
            double one[KEPT], other[KEPT];
            for (uint32_t i = 0; i < KEPT; i++) {
                one[i] = prepared->values[a * KEPT + i];
                other[i] = prepared->values[b * KEPT + i];
            }
            const double found = distance_of(one, other, KEPT);
            assert_true(fabs(found - distance_of(right[a], right[b], KEPT)) < 1e-6);
        }
    vectors_free(prepared);
    tem_vectors_free(given);
}

/* ---- the bytes of a recipe ---- */

static const tem_recipe good = {.space = TEM_SPACE_SPHERE,
                                .given_words = 1000,
                                .given_columns = 60,
                                .dimensions = 50,
                                .removed = 10,
                                .dropped = 3,
                                .kept = 0.75,
                                .rms_distance = 9,
                                .scale = 6.5};

static bool reads(tem_recipe written, uint32_t words, uint32_t dimension) {
    unsigned char bytes[RECIPE_BYTES];
    tem_recipe found = {0};
    recipe_write(&written, bytes);
    const bool is_read = recipe_read(bytes, sizeof bytes, words, dimension, &found);
    if (is_read)
        assert_memory_equal(&found, &written, sizeof found);
    else
        assert_int_equal(found.space, 0);
    return is_read;
}

#define ASSERT_BAD(field, value)                                                                   \
    do {                                                                                           \
        tem_recipe bad = good;                                                                     \
        bad.field = value;                                                                         \
        assert_false(reads(bad, 997, 50));                                                         \
    } while (0)

static void test_recipe_bytes(void **state) {
    (void)state;
    assert_true(reads(good, 997, 50));
    assert_true(reads(good, 2, 50)); /* only the first words were taken */
    assert_false(reads(good, 998, 50));
    assert_false(reads(good, 997, 49));
    ASSERT_BAD(space, TEM_SPACE_RAW);
    ASSERT_BAD(space, (tem_space)3);
    ASSERT_BAD(given_words, 999);
    ASSERT_BAD(given_words, TEM_WORDS_MAX + 1);
    ASSERT_BAD(given_columns, 59);
    ASSERT_BAD(given_columns, TEM_DIMENSION_MAX + 1);
    ASSERT_BAD(dimensions, 51);
    ASSERT_BAD(removed, 11);
    ASSERT_BAD(removed, UINT32_MAX);
    ASSERT_BAD(dropped, 4);
    ASSERT_BAD(dropped, UINT32_MAX);
    static const double bad_numbers[] = {0, -1, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 5; i++) {
        ASSERT_BAD(kept, bad_numbers[i]);
        ASSERT_BAD(rms_distance, bad_numbers[i]);
        ASSERT_BAD(scale, bad_numbers[i]);
    }
    ASSERT_BAD(kept, 1.001);
    unsigned char bytes[RECIPE_BYTES];
    tem_recipe found;
    recipe_write(&good, bytes);
    assert_false(recipe_read(bytes, RECIPE_BYTES - 1, 997, 50, &found));
    for (size_t i = 48; i < RECIPE_BYTES; i++) {
        bytes[i] = 1;
        assert_false(recipe_read(bytes, RECIPE_BYTES, 997, 50, &found));
        bytes[i] = 0;
    }
}

/* ---- files ---- */

static char folder[] = "/tmp/tem-prepare-XXXXXX";

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static tem_model *sphere_model(void) {
    tem_vectors *vectors = some_vectors(60, 8, UINT32_MAX);
    const tem_build_options options = {.dimensions = 5, .remove = 2};
    tem_model *model = NULL;
    assert_int_equal(tem_model_build(vectors, &options, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

static void test_saved(void **state) {
    (void)state;
    tem_model *built = sphere_model(), *opened = NULL;
    char one[65], other[65];
    assert_int_equal(tem_model_save(built, path_of("a.tem"), TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(path_of("a.tem"), &opened, NULL), TEM_OK);
    const tem_recipe before = recipe_of(built), after = recipe_of(opened);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(after.space, TEM_SPACE_SPHERE);
    assert_int_equal(after.given_words, 60);
    assert_int_equal(after.given_columns, 8);
    assert_int_equal(after.dimensions, 5);
    assert_int_equal(after.removed, 2);
    assert_int_equal(tem_model_hash(built, NULL, one, NULL), TEM_OK);
    assert_int_equal(tem_model_hash(opened, NULL, other, NULL), TEM_OK);
    assert_string_equal(one, other);
    assert_int_equal(tem_model_verify(opened, NULL, NULL), TEM_OK);
    /* A copy of the opened model has the same bytes. */
    assert_int_equal(tem_model_save(opened, path_of("b.tem"), TEM_OVERWRITE, NULL, NULL), TEM_OK);
    tem_model_free(opened);
    assert_int_equal(tem_model_open(path_of("b.tem"), &opened, NULL), TEM_OK);
    assert_int_equal(tem_model_hash(opened, NULL, other, NULL), TEM_OK);
    assert_string_equal(one, other);
    tem_model_free(opened);
    tem_model_free(built);
}

/* No other metric has a sphere: such a file was not made by tem. */
static void test_recipe_of_another_metric(void **state) {
    (void)state;
    tem_model *model = sphere_model();
    tem_error error;
    model->space.metric = metric_find(TEM_L1);
    assert_int_equal(tem_model_save(model, path_of("a.tem"), TEM_OVERWRITE, NULL, NULL), TEM_OK);
    tem_model_free(model);
    assert_int_equal(tem_model_open(path_of("a.tem"), &model, &error), TEM_ERR_DAMAGED);
    assert_non_null(strstr(error.message, "no preparation of vectors has its recipe"));
}

/* The recipe is the last section, 64 bytes at the end of the file. */
static void test_damaged(void **state) {
    (void)state;
    tem_model *model = sphere_model();
    tem_error error;
    assert_int_equal(tem_model_save(model, path_of("a.tem"), TEM_OVERWRITE, NULL, NULL), TEM_OK);
    tem_model_free(model);
    for (long at = -64; at < 0; at++) {
        FILE *file = fopen(path_of("a.tem"), "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        const int byte = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        fputc(byte ^ 0x10, file);
        fclose(file);
        tem_status status = tem_model_open(path_of("a.tem"), &model, &error);
        if (status == TEM_OK) {
            status = tem_model_check(model, NULL, &error);
            assert_non_null(strstr(error.message, "the numbers of the recipe do not match"));
            tem_model_free(model);
        } else {
            assert_non_null(strstr(error.message, "no preparation of vectors has its recipe"));
        }
        assert_int_equal(status, TEM_ERR_DAMAGED);
        file = fopen(path_of("a.tem"), "r+b");
        assert_int_equal(fseek(file, at, SEEK_END), 0);
        fputc(byte, file);
        fclose(file);
    }
}

/* A .temv file with a recipe is taken as it is; the options must not ask for anything else. */
static void test_prepared_file(void **state) {
    (void)state;
    char path[512];
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    const char *data = getenv("TEM_TEST_DATA");
    snprintf(path, sizeof path, "%s/vectors/ok-prepared.temv", data == NULL ? "tests/data" : data);
    assert_int_equal(tem_vectors_load(path, 0, NULL, &vectors, NULL), TEM_OK);
    static const tem_build_options same[] = {
        {0}, {.space = TEM_SPACE_SPHERE}, {.dimensions = 3}, {.dimensions = 3, .remove = 1}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tem_model_build(vectors, &same[i], NULL, &model, NULL), TEM_OK);
        assert_int_equal(recipe_of(model).removed, 1);
        assert_int_equal(recipe_of(model).dropped, 2);
        tem_model_free(model);
    }
    static const tem_build_options other[] = {
        {.space = TEM_SPACE_RAW}, {.dimensions = 2}, {.remove = 2}};
    for (size_t i = 0; i < 3; i++)
        assert_refused(vectors, other[i], TEM_ERR_ARGUMENT,
                       "prepared already, as a sphere of 3 dimensions with 1 removed");
    tem_vectors_free(vectors);
}

/* ---- a machine without OpenBLAS ---- */

static bool no_library;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags) {
    return no_library ? NULL : __real_dlopen(name, flags);
}

/* The first test: the library stays loaded. */
static void test_no_openblas(void **state) {
    (void)state;
    tem_vectors *vectors = some_vectors(30, 6, UINT32_MAX);
    no_library = true;
    assert_refused(vectors, (tem_build_options){.dimensions = 3}, TEM_ERR_UNSUPPORTED,
                   "need OpenBLAS, libopenblas.so.0; Debian has it as libopenblas0");
    no_library = false;
    tem_vectors_free(vectors);
}

/* ---- a run ---- */

static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return strcmp(stage, context) == 0;
}

static void test_stopped(void **state) {
    (void)state;
    static const char *const stages[] = {
        "measuring vectors", "finding the mean", "finding the components",
        "projecting",        "preparing",        "scaling"};
    tem_vectors *vectors = some_vectors(60, 8, UINT32_MAX);
    const tem_build_options options = {.dimensions = 5};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        char stage[32];
        snprintf(stage, sizeof stage, "%s", stages[i]);
        const tem_run run = {.progress = stop, .progress_context = stage, .threads = 2};
        tem_model *model = NULL;
        assert_int_equal(tem_model_build(vectors, &options, &run, &model, NULL), TEM_ERR_CANCELLED);
        assert_null(model);
    }
    tem_vectors_free(vectors);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path_of("a.tem"));
    unlink(path_of("b.tem"));
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_openblas),
        cmocka_unit_test(test_default_space),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_dropped_words),
        cmocka_unit_test(test_raw_keeps_zero),
        cmocka_unit_test(test_coinciding_words),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_recipe_bytes),
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_recipe_of_another_metric),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_prepared_file),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
