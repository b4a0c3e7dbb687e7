/* test_lists.c - lists and bounds while they grow, against sorting all offers. */
#include "index/lists.h"
#include "index/nearest_keys.h"
#include "pseudo.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MAX = 300 };

/* The expected result for each word: the keys of all words, in order. */
static uint64_t sorted[WORDS_MAX][WORDS_MAX];

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Distances below `kinds`: the fewer, the more ties. */
static void make_distances(uint32_t words, uint32_t kinds) {
    for (uint32_t id = 0; id < words; id++) {
        for (uint32_t other = 0; other < words; other++)
            sorted[id][other] = nearest_key(other, (uint32_t)random_below(kinds));
        qsort(sorted[id], words, sizeof **sorted, compare_keys);
    }
}

static uint32_t id_of(uint64_t key) {
    return (uint32_t)key;
}

static tem_dist distance_of(uint64_t key) {
    return (tem_dist)(key >> 32);
}

/* The bounds of a list with the first `length` keys. */
static void right_bounds(const lists *l, uint32_t id, uint32_t length,
                         tem_dist bounds[NEIGHBOUR_RANGES]) {
    memset(bounds, 0xff, NEIGHBOUR_RANGES * sizeof *bounds);
    for (uint32_t i = l->words; i-- > length;)
        bounds[id_of(sorted[id][i]) / l->range_words] = distance_of(sorted[id][i]);
}

/* Offers all words in disorder; with `within_cutoff` only those that the cutoffs allow. */
static void offer_all(lists *l, uint32_t id, bool within_cutoff) {
    uint64_t keys[WORDS_MAX];
    memcpy(keys, sorted[id], l->words * sizeof *keys);
    for (uint32_t left = l->words; left > 0; left--) {
        const size_t i = random_below(left);
        const uint32_t other = id_of(keys[i]);
        if (!within_cutoff || distance_of(keys[i]) <= lists_cutoff(l, id, other / l->range_words))
            lists_offer(l, id, other, distance_of(keys[i]));
        keys[i] = keys[left - 1];
    }
}

/* Sets bounds that may be known before: the distance of a word at or after the last of the list,
 * and of words outside it. */
static void expect_something(lists *l, uint32_t id) {
    const uint32_t length = lists_length(l, id);
    const uint64_t last = sorted[id][length - 1 + random_below(l->words - length + 1)];
    tem_dist bounds[NEIGHBOUR_RANGES];
    memset(bounds, 0xff, sizeof bounds);
    for (uint32_t i = length; i < l->words; i++)
        if (random_below(3) == 0 && distance_of(sorted[id][i]) > distance_of(last))
            bounds[id_of(sorted[id][i]) / l->range_words] = distance_of(sorted[id][i]);
    lists_expect(l, id, distance_of(last), bounds);
}

static void check_index(const lists *l, const neighbour_index *index, uint32_t length) {
    uint64_t at = 0;
    for (uint32_t id = 0; id < index->count; id++) {
        const uint32_t listed = neighbours_length(index->count, length, id);
        tem_dist bounds[NEIGHBOUR_RANGES];
        assert_true(index->starts[id] == at);
        assert_memory_equal(index->entries + at, sorted[id], listed * sizeof **sorted);
        right_bounds(l, id, listed, bounds);
        assert_memory_equal(neighbours_bounds(index, id), bounds, sizeof bounds);
        at += listed;
    }
    assert_true(index->starts[index->count] == at && index->entry_count == at);
}

typedef enum offers { ALL, CUT_OFF, EXPECTED } offers;

static void check_lists(uint32_t words, uint32_t length, offers how) {
    const space s = {.count = words, .dimension = 1};
    const blocks b = blocks_of(&s);
    lists l;
    neighbour_index index = {0};
    assert_int_equal(lists_init(&l, &b, length, false, NULL), TEM_OK);
    for (uint32_t id = 0; id < words; id++) {
        const uint32_t listed = lists_length(&l, id);
        tem_dist bounds[NEIGHBOUR_RANGES];
        if (how == EXPECTED)
            expect_something(&l, id);
        offer_all(&l, id, how != ALL);
        lists_finish(&l, id);
        right_bounds(&l, id, listed, bounds);
        /* Cutoffs have fallen to the values that the list and its bounds give. */
        const tem_dist last = distance_of(sorted[id][listed - 1]);
        for (uint32_t range = 0; range < NEIGHBOUR_RANGES; range++)
            assert_int_equal(lists_cutoff(&l, id, range),
                             bounds[range] > last ? bounds[range] - 1 : last);
    }
    assert_int_equal(lists_take(&l, &index, NULL), TEM_OK);
    check_index(&l, &index, length);
    lists_free(&l);
    neighbours_free(&index);
}

static void check_sizes(offers how) {
    static const uint32_t words[] = {1, 2, 16, 17, 65, 130, WORDS_MAX};
    static const uint32_t kinds[] = {1, 4, 1000000};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const uint32_t n = words[w], lengths[] = {1, 3, 20, n - 1, n};
            make_distances(n, kinds[k]);
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
                if (lengths[i] >= 1 && lengths[i] <= n)
                    check_lists(n, lengths[i], how);
        }
}

static void test_all_offered(void **state) {
    (void)state;
    check_sizes(ALL);
}

/* Words beyond the cutoff change nothing. */
static void test_offers_within_the_cutoff(void **state) {
    (void)state;
    check_sizes(CUT_OFF);
}

static void test_known_before(void **state) {
    (void)state;
    check_sizes(EXPECTED);
}

/* ---- two threads ---- */

typedef struct half {
    lists *lists;
    const blocks *blocks;
    uint32_t rest; /* offers every second word, from this one */
} half;

static void *offer_half(void *argument) {
    const half *h = argument;
    for (uint32_t block = 0; block < h->blocks->count; block++) {
        const uint32_t first = blocks_first(h->blocks, block);
        for (uint32_t i = h->rest; i < h->lists->words; i += 2) {
            lists_lock(h->lists, block);
            for (uint32_t id = first; id < first + blocks_size(h->blocks, block); id++)
                lists_offer(h->lists, id, id_of(sorted[id][i]), distance_of(sorted[id][i]));
            lists_unlock(h->lists, block);
        }
    }
    return NULL;
}

static void test_two_threads(void **state) {
    (void)state;
    const space s = {.count = WORDS_MAX, .dimension = 1};
    const blocks b = blocks_of(&s);
    lists l;
    neighbour_index index = {0};
    pthread_t other;
    make_distances(WORDS_MAX, 50);
    assert_int_equal(lists_init(&l, &b, 20, false, NULL), TEM_OK);
    half halves[] = {{&l, &b, 0}, {&l, &b, 1}};
    assert_int_equal(pthread_create(&other, NULL, offer_half, &halves[1]), 0);
    offer_half(&halves[0]);
    pthread_join(other, NULL);
    for (uint32_t id = 0; id < WORDS_MAX; id++)
        lists_finish(&l, id);
    assert_int_equal(lists_take(&l, &index, NULL), TEM_OK);
    check_index(&l, &index, 20);
    lists_free(&l);
    neighbours_free(&index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_offered),
        cmocka_unit_test(test_offers_within_the_cutoff),
        cmocka_unit_test(test_known_before),
        cmocka_unit_test(test_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
