/* test_grid.c - how rounding to the grid changes distances, and what tem reports about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/neighbours.h"
#include "model/model.h"
#include "pseudo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 400 };

/* One step of a distance. */
static const float step = 1.0f / TEM_DIST_ONE;

static tem_status build(const float *values, uint32_t count, uint32_t dimension,
                        tem_build_options options, tem_model **model, tem_error *error) {
    static char names[WORDS_MAX][8];
    const char *words[WORDS_MAX];
    tem_vectors *vectors = NULL;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
    }
    assert_int_equal(tem_vectors_create(words, values, count, dimension, &vectors, NULL), TEM_OK);
    const tem_status status = tem_model_build(vectors, &options, NULL, model, error);
    tem_vectors_free(vectors);
    return status;
}

static tem_status build_line(const float *values, uint32_t count, tem_model **model,
                             tem_error *error) {
    return build(values, count, 1, (tem_build_options){0}, model, error);
}

static tem_dist deviation_of(const tem_model *model) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    return info.deviation;
}

static tem_dist median_of(const tem_model *model) {
    tem_dist median = UINT32_MAX;
    assert_int_equal(tem_model_nearest_median(model, &median, NULL), TEM_OK);
    return median;
}

/* Words on the grid, a given number of distance steps apart: the deviation is 1 step, from the
 * distance itself, and the median is the spacing. */
static void test_boundaries(void **state) {
    (void)state;
    static const struct {
        int spacing;
        tem_status built, warned; /* expected under the limits of 50 % and 1 % */
    } cases[] = {
        {1, TEM_ERR_RANGE, TEM_ERR_RANGE}, {2, TEM_OK, TEM_ERR_RANGE}, {3, TEM_OK, TEM_ERR_RANGE},
        {99, TEM_OK, TEM_ERR_RANGE},       {100, TEM_OK, TEM_OK},      {101, TEM_OK, TEM_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float values[] = {0, (float)cases[i].spacing * step,
                                2 * (float)cases[i].spacing * step};
        tem_model *model = NULL;
        tem_error error = {0};
        assert_int_equal(build_line(values, 3, &model, &error), cases[i].built);
        if (cases[i].built != TEM_OK) {
            assert_null(model);
            assert_int_equal(error.status, TEM_ERR_RANGE);
            assert_non_null(strstr(error.message, "multiply all vectors by the same number; or "
                                                  "build with allow_coarse"));
            const tem_build_options allowed = {.allow_coarse = 1};
            assert_int_equal(build(values, 3, 1, allowed, &model, &error), TEM_OK);
        }
        assert_int_equal(deviation_of(model), 1);
        assert_int_equal(median_of(model), cases[i].spacing);
        assert_int_equal(tem_model_check_grid(model, TEM_GRID_WARNED_PERCENT, &error),
                         cases[i].warned);
        assert_int_equal(tem_model_check_grid(model, TEM_GRID_REFUSED_PERCENT, &error),
                         cases[i].built);
        tem_model_free(model);
    }
}

/* One value of 900, and two words 0.0001 apart that end up a whole grid step, 1/16, apart. */
static void test_an_outlier(void **state) {
    (void)state;
    static const float values[] = {0.0312f, 0.0313f, 900};
    tem_model *model = NULL;
    tem_error error;
    assert_int_equal(build_line(values, 3, &model, &error), TEM_ERR_RANGE);
    assert_null(model);
    assert_string_equal(error.message,
                        "rounding moves distances by up to 0.0625, 99.9 % of the 0.0625 to the "
                        "nearest word (median): clip or rescale the vector of word 3, beyond 8 "
                        "times the usual size; or build with allow_coarse");
    const tem_build_options allowed = {.allow_coarse = 1};
    assert_int_equal(build(values, 3, 1, allowed, &model, NULL), TEM_OK);
    assert_int_equal(tem_model_distance(model, 0, 1), TEM_DIST_ONE / 16);
    assert_int_equal(tem_model_check_grid(model, TEM_GRID_REFUSED_PERCENT, &error), TEM_ERR_RANGE);
    assert_null(strstr(error.message, "allow_coarse")); /* allow_coarse was given */
    tem_model_free(model);
    const float clipped[] = {0.0312f, 0.0313f, 0.05f};
    model = NULL;
    assert_int_equal(build_line(clipped, 3, &model, &error), TEM_OK);
    tem_model_free(model);
}

/* The same, but the two words become one point: no distance is left that could look small. */
static void test_words_that_become_equal(void **state) {
    (void)state;
    static const float two[] = {0, 0.0001f, 900}, half[] = {0, 0.0001f, 900, 450},
                       fewer[] = {0, 0.0001f, 900, 450, -450};
    tem_model *model = NULL;
    tem_error error;
    assert_int_equal(build_line(two, 3, &model, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "makes half of all words or more equal to others: clip"));
    assert_int_equal(build_line(half, 4, &model, &error), TEM_ERR_RANGE);
    assert_null(model);
    assert_int_equal(build_line(fewer, 5, &model, &error), TEM_OK);
    assert_int_equal(median_of(model), 450 * TEM_DIST_ONE);
    tem_model_free(model);
}

/* Duplicates were equal before rounding. Words less than one distance step apart count as
 * duplicates too. */
static void test_duplicates(void **state) {
    (void)state;
    static const float values[] = {1, 1, 1, 3, 3, 3, 3, 8},
                       near[] = {1, 1 + 0.5f / TEM_DIST_ONE, 3};
    static const float same[] = {2, 2, 2};
    for (uint32_t neighbours = 1; neighbours <= 8; neighbours++) {
        tem_model *model = NULL;
        const tem_build_options options = {.neighbours = neighbours};
        assert_int_equal(build(values, 8, 1, options, &model, NULL), TEM_OK);
        /* A list that is too short for a word's duplicates says nothing about it. */
        assert_int_equal(median_of(model) / TEM_DIST_ONE, neighbours < 3 ? 5 : 2);
        tem_model_free(model);
    }
    tem_model *model = NULL;
    assert_int_equal(build_line(near, 3, &model, NULL), TEM_OK);
    assert_int_equal(median_of(model), 2 * TEM_DIST_ONE);
    tem_model_free(model);
    model = NULL;
    assert_int_equal(build_line(same, 3, &model, NULL), TEM_OK);
    assert_int_equal(median_of(model), 0);
    assert_int_equal(tem_model_check_grid(model, TEM_GRID_WARNED_PERCENT, NULL), TEM_OK);
    tem_model_free(model);
}

/* Only the direction counts. */
static void test_angles(void **state) {
    (void)state;
    static const float lengths[] = {1, 2, 3, 6, 0, 5, 100, 200}, fine[] = {1, 0, 1, 1e-6f, 0, 1};
    const tem_build_options options = {.metric = TEM_ANGULAR};
    tem_model *model = NULL;
    assert_int_equal(build(lengths, 4, 2, options, &model, NULL), TEM_OK);
    tem_model_free(model);
    model = NULL;
    assert_int_equal(build(fine, 3, 2, options, &model, NULL), TEM_OK);
    tem_model_free(model);
    const float merged[] = {1, 0, 1, 1e-5f, 0, 1};
    assert_int_equal(build(merged, 3, 2, options, &model, NULL), TEM_ERR_RANGE);
}

static int compare(const void *a, const void *b) {
    const tem_dist x = *(const tem_dist *)a, y = *(const tem_dist *)b;
    return (x > y) - (x < y);
}

/* The median over all pairs. */
static tem_dist slow_median(const tem_model *model, uint32_t count) {
    tem_dist nearest[WORDS_MAX];
    for (uint32_t a = 0; a < count; a++) {
        nearest[a] = UINT32_MAX;
        for (uint32_t b = 0; b < count; b++) {
            const tem_dist distance = tem_model_distance(model, a, b);
            if (distance > 0 && distance < nearest[a])
                nearest[a] = distance;
        }
    }
    qsort(nearest, count, sizeof *nearest, compare);
    return nearest[(count - 1) / 2];
}

/* In every metric, for lists of every length, in a file and in memory. */
static void test_median(void **state) {
    (void)state;
    enum { DIMENSION = 3 };
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF};
    static const uint32_t counts[] = {2, 3, 77, WORDS_MAX}, lists[] = {1, 2, 0};
    float values[WORDS_MAX * DIMENSION];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = (float)(random64() % 2000) / 1000 - 1;
    for (int m = 0; m < 4; m++)
        for (int c = 0; c < 4; c++)
            for (int l = 0; l < 3; l++) {
                char path[] = "/tmp/tem-grid-XXXXXX";
                const int file = mkstemp(path);
                const tem_build_options options = {.metric = metrics[m], .neighbours = lists[l]};
                tem_model *model = NULL, *opened = NULL;
                assert_true(file >= 0 && close(file) == 0);
                assert_int_equal(build(values, counts[c], DIMENSION, options, &model, NULL),
                                 TEM_OK);
                assert_int_equal(median_of(model), slow_median(model, counts[c]));
                assert_int_equal(tem_model_save(model, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
                assert_int_equal(tem_model_open(path, &opened, NULL), TEM_OK);
                assert_int_equal(median_of(opened), median_of(model));
                assert_int_equal(tem_model_check_grid(opened, TEM_GRID_WARNED_PERCENT, NULL),
                                 TEM_OK);
                tem_model_free(opened);
                tem_model_free(model);
                unlink(path);
            }
}

/* The message names as many of the outliers as fit, by their position. */
static void test_names(void **state) {
    (void)state;
    static const struct {
        int outliers;
        const char *named;
    } cases[] = {{1, "vector of word 1, "},
                 {2, "vectors of words 1 and 2, "},
                 {3, "vectors of words 1, 2 and 3, "},
                 {4, "vectors of words 1, 2, 3 and 1 other, "},
                 {19, "vectors of words 1, 2, 3 and 16 others, "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float values[40];
        tem_model *model = NULL;
        tem_error error;
        for (int k = 0; k < 40; k++)
            values[k] = k < cases[i].outliers ? 800 + (float)k : 0.001f * (float)k;
        assert_int_equal(build_line(values, 40, &model, &error), TEM_ERR_RANGE);
        assert_non_null(strstr(error.message, cases[i].named));
        assert_non_null(strstr(error.message, "allow_coarse")); /* the message is not truncated */
    }
    /* 8 times the usual size is not beyond the limit. */
    float values[] = {2, 2, 2 + 0.75f * step, 2 + 1.5f * step, 16, 16};
    tem_model *model = NULL;
    tem_error error;
    assert_int_equal(build_line(values, 6, &model, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "no word stands out"));
    values[5] = 16.5f;
    assert_int_equal(build_line(values, 6, &model, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "vector of word 6, "));
}

/* A matrix is not refused; the caller has to ask for the warning. */
static void test_matrix(void **state) {
    (void)state;
    static const char *const words[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        const double distance = i == 0 ? 1e-6 : 1, distances[] = {0, distance, distance, 0};
        tem_model *model = NULL;
        tem_error error;
        assert_int_equal(tem_model_build_matrix(words, 2, distances, 0, NULL, &model, NULL),
                         TEM_OK);
        assert_int_equal(tem_model_check_grid(model, TEM_GRID_WARNED_PERCENT, &error),
                         i == 0 ? TEM_ERR_RANGE : TEM_OK);
        assert_true(i > 0 || strstr(error.message, "multiply all distances") != NULL);
        tem_model_free(model);
    }
    tem_dist median = 7;
    assert_int_equal(tem_model_nearest_median(NULL, &median, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_model_check_grid(NULL, 1, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(median, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_an_outlier),
        cmocka_unit_test(test_words_that_become_equal),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_angles),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_matrix),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
