/* test_search.c - nearest words and words within a distance, against sorting all distances. */
#include "index/search.h"
#include "model/model.h"
#include "trust/trusted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pseudo.h"
#include "slow.h"
#include "small_model.h"

#include <string.h>

static int compare_neighbours(const void *a, const void *b) {
    const tem_neighbour *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* All words of a model in the order (distance, id). */
static tem_neighbour *sorted(const tem_model *model, uint32_t word) {
    const uint32_t count = model->words.count;
    tem_neighbour *all = calloc(count, sizeof *all);
    assert_non_null(all);
    for (uint32_t id = 0; id < count; id++)
        all[id] = (tem_neighbour){id, tem_model_distance(model, word, id)};
    qsort(all, count, sizeof *all, compare_neighbours);
    return all;
}

/* Whole numbers from 0 to 2: many ties, and many words at the same point. */
static tem_model *model_with_ties(uint32_t count, uint32_t dimension, tem_metric metric,
                                  uint32_t neighbours) {
    float *values = calloc((size_t)count * dimension, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < (size_t)count * dimension; i++)
        values[i] = 1 + (float)random_below(3);
    tem_model *model = small_model(NULL, values, count, dimension, metric, neighbours);
    free(values);
    return model;
}

static double distance_of_places(void *context, uint32_t a, uint32_t b) {
    const double *places = context;
    return places[a] > places[b] ? places[a] - places[b] : places[b] - places[a];
}

static tem_model *matrix_model(uint32_t count, uint32_t neighbours) {
    double places[64];
    char names[64][8];
    const char *words[64];
    for (uint32_t i = 0; i < count; i++) {
        places[i] = (double)random_below(9);
        snprintf(names[i], sizeof names[i], "m%u", i);
        words[i] = names[i];
    }
    tem_model *model = NULL;
    assert_int_equal(tem_model_build_function(words, count, distance_of_places, places, neighbours,
                                              NULL, &model, NULL),
                     TEM_OK);
    return model;
}

static void check_nearest(const tem_model *model, uint32_t k, unsigned threads) {
    const uint32_t count = model->words.count;
    const tem_run run = {.threads = threads};
    uint32_t *words = calloc(count, sizeof *words);
    tem_neighbour *found = calloc((size_t)count * k, sizeof *found);
    assert_true(words != NULL && found != NULL);
    for (uint32_t i = 0; i < count; i++)
        words[i] = count - 1 - i;
    assert_int_equal(tem_search_nearest(model, words, count, k, &run, found, NULL), TEM_OK);
    for (uint32_t i = 0; i < count; i++) {
        tem_neighbour *right = sorted(model, words[i]);
        assert_memory_equal(found + (size_t)i * k, right, k * sizeof *right);
        free(right);
    }
    free(found);
    free(words);
}

static void check_distance(const tem_model *model, uint32_t word, tem_dist distance,
                           const tem_neighbour *right) {
    const uint32_t count = model->words.count;
    uint32_t total = 0, within = 0;
    while (within < count && right[within].distance <= distance)
        within++;
    const uint32_t rooms[] = {0, 1, within / 2, within, count + 3};
    for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++) {
        tem_neighbour *found = calloc(rooms[r] + (size_t)1, sizeof *found);
        assert_non_null(found);
        found[rooms[r] < within ? rooms[r] : within].id = 77;
        assert_int_equal(tem_search_within(model, word, distance, found, rooms[r], &total, NULL),
                         TEM_OK);
        assert_int_equal(total, within);
        const uint32_t written = rooms[r] < within ? rooms[r] : within;
        assert_memory_equal(found, right, written * sizeof *right);
        assert_int_equal(found[written].id, 77);
        free(found);
    }
}

static void check_within(const tem_model *model) {
    const uint32_t count = model->words.count;
    for (uint32_t word = 0; word < count; word++) {
        tem_neighbour *right = sorted(model, word);
        for (uint32_t i = 0; i < count; i += 1 + count / 8) {
            const tem_dist d = right[i].distance;
            check_distance(model, word, d, right);
            check_distance(model, word, d + 1, right);
            check_distance(model, word, d > 0 ? d - 1 : 0, right);
        }
        check_distance(model, word, UINT32_MAX, right);
        free(right);
    }
}

static void check_model(tem_model *model) {
    const uint32_t count = model->words.count;
    for (int trusted = 0; trusted < 2; trusted++) {
        trusted_set(model, trusted == 1);
        for (uint32_t k = 1; k <= count; k += 1 + k / 4)
            check_nearest(model, k, 1 + k % 3);
        check_nearest(model, count, 2);
        check_within(model);
    }
    tem_model_free(model);
}

static void test_all_metrics(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF};
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++)
        for (uint32_t neighbours = 1; neighbours <= 64; neighbours *= 8)
            check_model(model_with_ties(40, 3, metrics[m], neighbours));
    for (uint32_t neighbours = 1; neighbours <= 64; neighbours *= 8)
        check_model(matrix_model(40, neighbours));
}

/* More words than are looked at in one block. The ties are at the ends of blocks, too. */
static void test_many_words(void **state) {
    (void)state;
    enum { WORDS = 9000 };
    tem_model *model = model_with_ties(WORDS, 4, TEM_EUCLIDEAN, 2);
    const uint32_t words[] = {0, 4095, 4096, 8191, 8192, WORDS - 1};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        tem_neighbour *right = sorted(model, words[i]), *found = calloc(WORDS, sizeof *found);
        assert_non_null(found);
        for (uint32_t k = 1; k <= WORDS; k = 3 * k + 1) {
            assert_int_equal(tem_search_nearest(model, &words[i], 1, k, NULL, found, NULL), TEM_OK);
            assert_memory_equal(found, right, k * sizeof *right);
        }
        for (uint32_t at = 0; at < WORDS; at += 997)
            check_distance(model, words[i], right[at].distance, right);
        free(found);
        free(right);
    }
    tem_model_free(model);
}

/* Excluded words are found like others. */
static void test_excluded(void **state) {
    (void)state;
    const float values[] = {0, 1, 2, 3};
    tem_model *model = small_model(NULL, values, 4, 1, TEM_EUCLIDEAN, 4);
    assert_int_equal(model_exclude(model, &(const char *){"w1"}, 1, NULL), TEM_OK);
    check_nearest(model, 3, 1);
    assert_int_equal(tem_model_is_excluded(model, 1), 1);
    tem_model_free(model);
}

/* A forged list decides nothing in a model that is not trusted. */
static void test_forged_lists(void **state) {
    (void)state;
    const float values[] = {0, 1, 2, 3};
    tem_model *model = small_model(NULL, values, 4, 1, TEM_EUCLIDEAN, 2);
    tem_neighbour *list = (tem_neighbour *)(uintptr_t)model->index.entries;
    const tem_neighbour right = list[1];
    tem_neighbour found[2];
    const uint32_t word = 0;
    list[1] = (tem_neighbour){3, right.distance};
    assert_int_equal(tem_search_nearest(model, &word, 1, 2, NULL, found, NULL), TEM_OK);
    assert_int_equal(found[1].id, 3); /* built here, so it is trusted: the list is the answer */
    trusted_set(model, false);
    assert_int_equal(tem_search_nearest(model, &word, 1, 2, NULL, found, NULL), TEM_OK);
    assert_memory_equal(&found[1], &right, sizeof right);
    uint32_t count = 0;
    assert_int_equal(tem_search_within(model, 0, right.distance, found, 2, &count, NULL), TEM_OK);
    assert_memory_equal(&found[1], &right, sizeof right);
    tem_model_free(model);
}

static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context;
    assert_true(stage != NULL && done <= total);
    return 1;
}

static void test_stop(void **state) {
    (void)state;
    tem_model *model = model_with_ties(50, 2, TEM_L1, 2);
    const tem_run run = {.threads = 1, .progress = stop};
    uint32_t words[50] = {0};
    tem_neighbour found[50 * 3];
    assert_int_equal(tem_search_nearest(model, words, 50, 3, &run, found, NULL), TEM_ERR_CANCELLED);
    tem_model_free(model);
}

/* The outputs in the order around a word, by sorting: the word itself, then (distance, id). */
static uint32_t order_around(const tem_model *model, const uint32_t *outputs, uint32_t word,
                             uint32_t *order) {
    tem_neighbour *all = sorted(model, word);
    uint32_t count = 0;
    if (outputs == NULL || outputs[word] > 0)
        order[count++] = word;
    for (uint32_t i = 0; i < model->words.count; i++)
        if (all[i].id != word && (outputs == NULL || outputs[all[i].id] > 0))
            order[count++] = all[i].id;
    free(all);
    return count;
}

static void check_places(const tem_model *model, const neighbour_index *index,
                         const uint32_t *outputs, uint32_t word) {
    uint32_t order[60], place = 0, y = 0;
    const space *s = &model->space;
    const uint32_t count = order_around(model, outputs, word, order);
    for (uint32_t r = 0; r < count; r++) {
        assert_int_equal(search_at(s, index, outputs, word, r, &y, NULL), TEM_OK);
        assert_int_equal(y, order[r]);
        assert_int_equal(search_place(s, index, outputs, word, y, &place, NULL), TEM_OK);
        assert_int_equal(place, r);
    }
    assert_int_equal(search_at(s, index, outputs, word, count, &y, NULL), TEM_ERR_ARGUMENT);
    for (y = 0; y < s->count && outputs != NULL; y++)
        if (outputs[y] == 0)
            assert_int_equal(search_place(s, index, outputs, word, y, &place, NULL),
                             TEM_ERR_ARGUMENT);
    assert_int_equal(search_place(s, index, outputs, word, s->count, &place, NULL),
                     TEM_ERR_ARGUMENT);
}

/* The output at every place, and the place of every output, with ties, equal vectors and words that
 * are no outputs; by lists and without them. */
static void test_places(void **state) {
    (void)state;
    tem_model *model = model_with_ties(60, 2, TEM_L1, 9);
    uint32_t outputs[60];
    for (uint32_t y = 0; y < 60; y++)
        outputs[y] = (uint32_t)random_below(4);
    for (uint32_t word = 0; word < 60; word++) {
        check_places(model, &model->index, NULL, word);
        check_places(model, &model->index, outputs, word);
        check_places(model, NULL, outputs, word);
    }
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_metrics), cmocka_unit_test(test_many_words),
        cmocka_unit_test(test_excluded),    cmocka_unit_test(test_forged_lists),
        cmocka_unit_test(test_stop),        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
