/* test_first_cutoffs.c - cutoffs that are set before the first comparison, against all distances.
 *
 * A cutoff may be too large, which costs time. One that is too small loses a word. */
#include "core/memory.h"
#include "index/first_cutoffs.h"
#include "index/nearest_keys.h"
#include "pseudo.h"
#include "space/kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct scene {
    space space;
    int16_t *rows;
    blocks blocks;
    lists lists;
    clusters clusters;
    central_words central;
    cutoff_finder finder;
} scene;

/* Groups around random middles, the first of them around 0; every ninth word is an earlier one. */
static void fill_rows(scene *s, uint32_t groups) {
    int16_t middles[16][8] = {{0}};
    for (uint32_t g = 1; g < groups; g++)
        for (uint32_t e = 0; e < 8; e++)
            middles[g][e] = (int16_t)((int64_t)random_below(4001) - 2000);
    for (uint32_t id = 0; id < s->space.count; id++)
        for (uint32_t e = 0; e < s->space.dimension; e++)
            s->rows[(size_t)id * s->space.row_elements + e] =
                id % 9 == 8
                    ? s->rows[(size_t)(id - 5) * s->space.row_elements + e]
                    : (int16_t)(middles[id % groups][e % 8] + (int64_t)random_below(301) - 150);
}

/* is_long: each number is far from 0, so that squares exceed 2^32. */
static void scene_make(scene *s, uint32_t count, uint32_t length, uint32_t groups, bool is_long) {
    *s = (scene){.space = {.metric = metric_find(TEM_EUCLIDEAN),
                           .count = count,
                           .dimension = 8,
                           .row_elements = space_row_elements(8),
                           .step_log2 = 10}};
    s->rows = core_alloc_zero((size_t)count * s->space.row_elements, sizeof *s->rows);
    assert_non_null(s->rows);
    s->space.rows = s->rows;
    fill_rows(s, groups);
    for (size_t i = 0; is_long && i < (size_t)count * s->space.row_elements; i++)
        s->rows[i] = (int16_t)(s->rows[i] + (s->rows[i] > 0 ? 13000 : s->rows[i] < 0 ? -13000 : 0));
    s->blocks = blocks_of(&s->space);
    assert_int_equal(lists_init(&s->lists, &s->blocks, length, false, NULL), TEM_OK);
    assert_int_equal(clusters_init(&s->clusters, &s->space, 256, 1, NULL), TEM_OK);
    assert_int_equal(central_words_init(&s->central, &s->space, &s->clusters, NULL), TEM_OK);
    assert_int_equal(
        cutoff_finder_init(&s->finder, &s->space, &s->clusters, &s->central, &s->lists, NULL),
        TEM_OK);
}

static void scene_free(scene *s) {
    cutoff_finder_free(&s->finder);
    central_words_free(&s->central);
    clusters_free(&s->clusters);
    lists_free(&s->lists);
    core_free(s->rows);
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Whether a word of a range is at this distance from `id`. */
static bool is_there(const scene *s, uint32_t id, uint32_t range, tem_dist distance) {
    for (uint32_t other = 0; other < s->space.count; other++)
        if (other / s->lists.range_words == range &&
            space_distance(&s->space, id, other) == distance)
            return true;
    return false;
}

/* Returns how many words are within the cutoff of the list. */
static uint32_t check_word(const scene *s, uint32_t id, uint64_t *keys) {
    const uint32_t count = s->space.count, length = lists_length(&s->lists, id);
    const tem_dist farthest = s->lists.farthest[id];
    uint32_t within = 0;
    for (uint32_t other = 0; other < count; other++)
        keys[other] = nearest_key(other, space_distance(&s->space, id, other));
    qsort(keys, count, sizeof *keys, compare_keys);
    while (within < count && (tem_dist)(keys[within] >> 32) <= farthest)
        within++;
    assert_true(within >= length); /* the list has room for no word beyond */
    for (uint32_t range = 0; range < NEIGHBOUR_RANGES; range++) {
        const tem_dist bound = s->lists.bounds[(size_t)range * count + id];
        if (bound == UINT32_MAX)
            continue;
        assert_true(bound > farthest && is_there(s, id, range, bound));
    }
    return within;
}

/* Returns how many words are within a cutoff in the middle. */
static uint32_t check_cutoffs(uint32_t count, uint32_t length, uint32_t groups, bool is_long) {
    scene s;
    uint64_t *keys = malloc(count * sizeof *keys), within = 0;
    assert_non_null(keys);
    scene_make(&s, count, length, groups, is_long);
    for (uint32_t cluster = 0; cluster < s.clusters.count; cluster++)
        cutoff_finder_run(&s.finder, cluster);
    for (uint32_t id = 0; id < count; id++)
        within += check_word(&s, id, keys);
    scene_free(&s);
    free(keys);
    return (uint32_t)(within / count);
}

static void test_cutoffs_hold(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 2, 40, 300, 1100};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t n = counts[i], lengths[] = {1, n / 3 + 1, n};
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            check_cutoffs(n, lengths[k], 1, false);
            check_cutoffs(n, lengths[k], 16, false);
            check_cutoffs(n, lengths[k], 16, true);
        }
    }
}

/* With lists of 10 words a cutoff lets through some ten of 1100. */
static void test_cutoffs_are_near(void **state) {
    (void)state;
    assert_in_range(check_cutoffs(1100, 10, 16, false), 10, 40);
}

/* Every range has 16 central words, each once, and no other word of the range is nearer to the
 * middle of all clusters. Squares are compared without their last ten bits, as first_cutoffs.c
 * does. */
static void test_central_words(void **state) {
    (void)state;
    scene s;
    scene_make(&s, 1100, 10, 16, false);
    int16_t *middle = core_alloc_zero(s.space.row_elements, sizeof *middle);
    bool is_central[1100] = {false};
    uint64_t nearest[NEIGHBOUR_RANGES], last[NEIGHBOUR_RANGES] = {0};
    uint32_t central_of[NEIGHBOUR_RANGES] = {0};
    assert_non_null(middle);
    memset(nearest, 0xff, sizeof nearest);
    for (uint32_t e = 0; e < s.space.dimension; e++) {
        int64_t sum = 0;
        for (size_t i = 0; i < s.clusters.count; i++)
            sum += s.clusters.centres[i * s.space.row_elements + e];
        middle[e] = (int16_t)(sum / s.clusters.count);
    }
    for (uint32_t i = 0; i < s.central.count; i++) {
        assert_false(is_central[s.central.ids[i]]);
        is_central[s.central.ids[i]] = true;
    }
    for (uint32_t id = 0; id < 1100; id++) {
        const uint32_t range = id / s.lists.range_words;
        const uint64_t square =
            kernels_active()->l2_i16(space_row(&s.space, id), middle, s.space.row_elements) >> 10;
        central_of[range] += is_central[id];
        if (is_central[id] && square > last[range])
            last[range] = square;
        if (!is_central[id] && square < nearest[range])
            nearest[range] = square;
    }
    for (uint32_t range = 0; range < NEIGHBOUR_RANGES; range++)
        assert_true(central_of[range] == 16 && last[range] <= nearest[range]);
    core_free(middle);
    scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cutoffs_hold),
        cmocka_unit_test(test_cutoffs_are_near),
        cmocka_unit_test(test_central_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
