/* test_compare.c - two blocks of words are compared: which pairs are offered to which word.
 *
 * Here lists_offer only records the offers, so that cutoffs do not change. Then the expected offers
 * are known: every word within the cutoff of another word, once, with its distance, and no other
 * word. */
#include "core/memory.h"
#include "index/compare.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct offer {
    uint32_t id, other;
    tem_dist distance;
} offer;

static offer *offers;
static size_t offer_count, offer_room;

void __wrap_lists_offer(lists *l, uint32_t id, uint32_t other, tem_dist distance);
void __wrap_lists_offer(lists *l, uint32_t id, uint32_t other, tem_dist distance) {
    (void)l;
    if (offer_count < offer_room)
        offers[offer_count] = (offer){id, other, distance};
    offer_count++;
}

static int compare_offers(const void *a, const void *b) {
    const offer *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->other < y->other ? -1 : x->other > y->other;
}

/* ---- a space with cutoffs ---- */

typedef struct scene {
    space space;
    int16_t *rows;
    blocks blocks;
    lists lists;
    codes codes;
    uint16_t *error_most;
    comparison comparison;
} scene;

/* Words in groups, some of them far away, some of them twice. */
static void fill_rows(scene *s, uint32_t largest) {
    for (uint32_t id = 0; id < s->space.count; id++)
        for (uint32_t e = 0; e < s->space.dimension; e++) {
            const int64_t spread = id % 50 == 49 ? 16383 : largest;
            const int64_t value = (int64_t)random_below(2 * (size_t)spread + 1) - spread;
            s->rows[(size_t)id * s->space.row_elements + e] =
                id % 7 == 6 ? s->rows[(size_t)(id - 3) * s->space.row_elements + e]
                            : (int16_t)value;
        }
}

static tem_dist some_distance(const scene *s, uint32_t id) {
    return space_distance(&s->space, id, (uint32_t)random_below(s->space.count));
}

/* Cutoffs with many words within them, few, one, or all. */
static void fill_cutoffs(scene *s) {
    for (uint32_t id = 0; id < s->space.count; id++) {
        tem_dist farthest = some_distance(s, id), bounds[NEIGHBOUR_RANGES];
        for (int tries = 0; tries < 8; tries++) {
            const tem_dist other = some_distance(s, id);
            farthest = other < farthest ? other : farthest;
        }
        farthest = id % 31 == 30 ? UINT32_MAX : id % 11 == 10 ? 0 : farthest;
        for (uint32_t range = 0; range < NEIGHBOUR_RANGES; range++)
            bounds[range] = random_below(3) == 0 ? some_distance(s, id) / 2 : farthest;
        lists_expect(&s->lists, id, farthest, bounds);
    }
}

static void make_codes(scene *s) {
    s->error_most = calloc(s->blocks.count, sizeof *s->error_most);
    assert_non_null(s->error_most);
    assert_int_equal(codes_init(&s->codes, &s->space, blocks_slots(&s->blocks), NULL), TEM_OK);
    for (uint32_t block = 0; block < s->blocks.count; block++)
        for (uint32_t i = 0; i < blocks_size(&s->blocks, block); i++) {
            const size_t slot = blocks_slot(&s->blocks, block, i);
            codes_put(&s->codes, slot, blocks_first(&s->blocks, block) + i);
            if (s->codes.errors[slot] > s->error_most[block])
                s->error_most[block] = s->codes.errors[slot];
        }
}

static void scene_make(scene *s, tem_metric metric, uint32_t dimension, uint32_t count,
                       uint32_t largest) {
    *s = (scene){.space = {.metric = metric_find(metric),
                           .count = count,
                           .dimension = dimension,
                           .row_elements = space_row_elements(dimension),
                           .step_log2 = 11}};
    s->rows = core_alloc_zero((size_t)count * s->space.row_elements, sizeof *s->rows);
    assert_non_null(s->rows);
    s->space.rows = s->rows;
    fill_rows(s, largest);
    s->blocks = blocks_of(&s->space);
    assert_int_equal(lists_init(&s->lists, &s->blocks, 10, false, NULL), TEM_OK);
    fill_cutoffs(s);
    if (s->space.metric->is_euclidean)
        make_codes(s);
    s->comparison = (comparison){.space = &s->space,
                                 .blocks = &s->blocks,
                                 .codes = s->codes.packed == NULL ? NULL : &s->codes,
                                 .error_most = s->error_most,
                                 .lists = &s->lists};
    offer_room = 2 * (size_t)s->blocks.capacity * s->blocks.capacity;
    offers = malloc(offer_room * sizeof *offers);
    assert_non_null(offers);
}

static void scene_free(scene *s) {
    free(offers);
    free(s->error_most);
    codes_free(&s->codes);
    lists_free(&s->lists);
    core_free(s->rows);
}

/* ---- the offers of two blocks ---- */

/* Finds the offer of a word of one block to each of the other, or that there must be none. Returns
 * how many there are. */
static size_t check_side(const scene *s, uint32_t to, uint32_t of) {
    const uint32_t first = blocks_first(&s->blocks, to), others = blocks_first(&s->blocks, of);
    size_t found = 0;
    for (uint32_t id = first; id < first + blocks_size(&s->blocks, to); id++) {
        const tem_dist cutoff = lists_cutoff(&s->lists, id, blocks_range(&s->blocks, of));
        for (uint32_t other = others; other < others + blocks_size(&s->blocks, of); other++) {
            const offer wanted = {id, other, space_distance(&s->space, id, other)};
            const offer *there =
                bsearch(&wanted, offers, offer_count, sizeof *offers, compare_offers);
            assert_true((there != NULL) == (wanted.distance <= cutoff));
            assert_true(there == NULL || there->distance == wanted.distance);
            found += there != NULL;
        }
    }
    return found;
}

static void check_pair(const scene *s, comparer *c, uint32_t a, uint32_t b) {
    offer_count = 0;
    comparer_set_rows(c, a);
    comparer_run(c, b);
    assert_true(offer_count <= offer_room);
    qsort(offers, offer_count, sizeof *offers, compare_offers);
    const size_t wanted = check_side(s, a, b) + (a == b ? 0 : check_side(s, b, a));
    assert_true(offer_count == wanted); /* none twice, none of other words */
}

static void check_scene(tem_metric metric, uint32_t dimension, uint32_t count, uint32_t largest) {
    scene s;
    comparer c;
    scene_make(&s, metric, dimension, count, largest);
    assert_int_equal(comparer_init(&c, &s.comparison, NULL), TEM_OK);
    const uint32_t last = s.blocks.count - 1;
    const uint32_t pairs[][2] = {{0, 0}, {0, 1}, {last / 2, last}, {last, 0}, {last, last}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check_pair(&s, &c, pairs[i][0], pairs[i][1]);
    comparer_free(&c);
    scene_free(&s);
}

/* Codes rule out most pairs. One to four tiles of columns, the last one full or not; two blocks in
 * a range; a last range that has no words. */
static void test_codes(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 33, 16 * 33, 16 * 97, 16 * 130 - 5};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_scene(TEM_EUCLIDEAN, 3, counts[i], 40);
        check_scene(TEM_EUCLIDEAN, 50, counts[i], 400);
    }
    check_scene(TEM_EUCLIDEAN, 700, 16 * 200, 300);
}

/* Every distance is looked at. */
static void test_other_metrics(void **state) {
    (void)state;
    check_scene(TEM_L1, 5, 16 * 40, 300);
    check_scene(TEM_LINF, 20, 16 * 70 - 9, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_other_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
