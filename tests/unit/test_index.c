/* test_index.c - the index of nearest neighbors against brute force.
 *
 * The index is exact, so it must equal the sorted list of all (distance, id), bit by bit: for every
 * metric, kernel and number of threads, where ties decide, and where blocks and tiles end. Then
 * come the possible defects of an index from a file. */
#include "core/hash.h"
#include "core/memory.h"
#include "index/blocks.h"
#include "index/first_cutoffs.h"
#include "index/nearest_keys.h"
#include "index/neighbours.h"
#include "pseudo.h"
#include "slow.h"
#include "space/codes.h"
#include "space/integer_math.h"
#include "space/kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------- helpers -- */

static int16_t random_value(uint32_t largest) {
    return (int16_t)((int64_t)(random64() % (2 * (uint64_t)largest + 1)) - (int64_t)largest);
}

/* A space between two inaccessible pages: a read beyond either end of the rows faults. */
typedef struct guarded {
    space space;
    int16_t *rows;
    uint32_t *matrix;
    void *map;
    size_t map_bytes;
} guarded;

static guarded guarded_make(tem_metric metric, uint32_t q, uint32_t dimension, uint32_t count) {
    guarded g = {.space = {.metric = metric_find(metric),
                           .count = count,
                           .dimension = dimension,
                           .row_elements = space_row_elements(dimension),
                           .step_log2 = q}};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = (size_t)count * g.space.row_elements * sizeof *g.rows;
    const size_t inner = core_round_up(bytes, page);
    g.map_bytes = inner + 2 * page;
    g.map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    assert_int_equal(mprotect((char *)g.map + page, inner, PROT_READ | PROT_WRITE), 0);
    g.rows = (int16_t *)(void *)((char *)g.map + page + inner - bytes);
    g.space.rows = g.rows;
    return g;
}

static guarded matrix_make(uint32_t count, uint32_t largest) {
    guarded g = {.space = {.metric = &metric_matrix, .count = count}};
    g.matrix = malloc(space_pair_count(count) * sizeof *g.matrix);
    assert_non_null(g.matrix);
    for (uint64_t i = 0; i < space_pair_count(count); i++)
        g.matrix[i] = (uint32_t)(random64() % (largest + (uint64_t)1));
    g.space.matrix = g.matrix;
    return g;
}

static void guarded_free(guarded *g) {
    if (g->map != NULL)
        munmap(g->map, g->map_bytes);
    free(g->matrix);
}

static int16_t *row(const guarded *g, uint32_t id) {
    return g->rows + (size_t)id * g->space.row_elements;
}

/* Random values up to `largest`. No row is zero, so that it has an angle. Every fifth row equals an
 * earlier one. */
static guarded random_space(tem_metric metric, uint32_t dimension, uint32_t count,
                            uint32_t largest) {
    if (metric == TEM_MATRIX)
        return matrix_make(count, largest);
    guarded g = guarded_make(metric, 12, dimension, count);
    for (uint32_t id = 0; id < count; id++) {
        for (uint32_t i = 0; i < dimension; i++)
            row(&g, id)[i] = random_value(largest);
        if (row(&g, id)[0] == 0)
            row(&g, id)[0] = 1;
        if (id % 5 == 4)
            memcpy(row(&g, id), row(&g, (uint32_t)(random64() % id)), dimension * sizeof *g.rows);
    }
    return g;
}

/* ---------------------------------------------------------- brute force -- */

/* For every word all others, sorted: count rows of count keys. */
typedef struct sorted {
    uint32_t count;
    uint64_t *keys;
} sorted;

static int compare_keys(const void *a, const void *b) {
    uint64_t x = 0, y = 0;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Uses the reference kernels, one pair at a time, and computes each pair from one side. */
static sorted brute_force(const space *s) {
    const kernels *before = kernels_active();
    const size_t n = s->count;
    kernels_use(&kernels_scalar);
    sorted all = {s->count, malloc(n * n * sizeof(uint64_t))};
    assert_non_null(all.keys);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b <= a; b++) {
            const uint64_t distance = (uint64_t)space_distance(s, a, b) << 32;
            all.keys[a * n + b] = distance | b;
            all.keys[b * n + a] = distance | a;
        }
    for (uint32_t a = 0; a < n; a++)
        qsort(all.keys + a * n, n, sizeof *all.keys, compare_keys);
    kernels_use(before);
    return all;
}

/* Each set of kernels gets the same spaces, because the random numbers restart in each test. So a
 * space is identified by the hash of its contents, and sorted once. */
enum { SPACES_MAX = 512 };
static struct {
    uint64_t hash;
    sorted sorted;
} known[SPACES_MAX];
static size_t known_count;

static uint64_t contents_hash(const space *s) {
    const bool is_matrix = s->metric->id == TEM_MATRIX;
    const size_t bytes = is_matrix ? space_pair_count(s->count) * sizeof *s->matrix
                                   : (size_t)s->count * s->row_elements * sizeof *s->rows;
    const uint64_t parts[] = {
        s->metric->id, s->count, s->dimension, s->step_log2,
        core_hash64(is_matrix ? (const void *)s->matrix : (const void *)s->rows, bytes)};
    return core_hash64(parts, sizeof parts);
}

static const sorted *brute_force_once(const space *s) {
    const uint64_t hash = contents_hash(s);
    for (size_t i = 0; i < known_count; i++)
        if (known[i].hash == hash)
            return &known[i].sorted;
    assert_true(known_count < SPACES_MAX);
    known[known_count].hash = hash;
    known[known_count].sorted = brute_force(s);
    return &known[known_count++].sorted;
}

static int free_known(void **state) {
    (void)state;
    for (size_t i = 0; i < known_count; i++)
        free(known[i].sorted.keys);
    return 0;
}

/* Checks the bounds of the list that has the first `length` of all words. */
static void check_bounds(const sorted *all, uint32_t id, uint32_t length, const tem_dist *bounds) {
    const uint64_t *keys = all->keys + (size_t)id * all->count;
    tem_dist right[NEIGHBOUR_RANGES];
    memset(right, 0xff, sizeof right);
    for (uint32_t i = all->count; i-- > length;)
        right[(uint32_t)keys[i] / ((all->count + 15) / 16)] = (tem_dist)(keys[i] >> 32);
    assert_memory_equal(bounds, right, sizeof right);
}

static void check_list(const sorted *all, uint32_t id, uint32_t length, const tem_neighbours *n) {
    const uint64_t *keys = all->keys + (size_t)id * all->count;
    assert_int_equal(n->count, length);
    for (uint32_t i = 0; i < length; i++) {
        assert_int_equal(n->list[i].id, (uint32_t)keys[i]);
        assert_int_equal(n->list[i].distance, (uint32_t)(keys[i] >> 32));
    }
    assert_int_equal(n->bound, length < all->count ? (uint32_t)(keys[length] >> 32) : UINT32_MAX);
}

static void check_index(const sorted *all, uint32_t length, const neighbour_index *index) {
    assert_int_equal(index->count, all->count);
    assert_true(index->starts[0] == 0 && index->starts[all->count] == index->entry_count);
    for (uint32_t id = 0; id < all->count; id++) {
        tem_neighbours n = {0};
        const uint32_t listed = id >= all->count / 64      ? length
                                : 16 * length < all->count ? 16 * length
                                                           : all->count;
        assert_true(index->starts[id + 1] - index->starts[id] == listed);
        assert_int_equal(neighbours_get(index, id, &n, NULL), TEM_OK);
        check_list(all, id, listed, &n);
        check_bounds(all, id, listed, neighbours_bounds(index, id));
    }
}

/* The same lists for all words, without bounds. */
static void check_even_lists(const space *s, const sorted *all, uint32_t length,
                             const tem_run *run) {
    tem_neighbour *near = NULL;
    assert_int_equal(neighbours_list(s, length, run, &near, NULL), TEM_OK);
    for (uint32_t id = 0; id < all->count; id++)
        assert_memory_equal(near + (size_t)id * length, all->keys + (size_t)id * all->count,
                            length * sizeof *near);
    core_free(near);
}

static void check_build(const space *s, const sorted *all, uint32_t length, unsigned threads) {
    const tem_run run = {.threads = threads};
    neighbour_index index = {0};
    check_even_lists(s, all, length, &run);
    tem_error error = {0};
    assert_int_equal(neighbours_build(s, length, &run, &index, &error), TEM_OK);
    check_index(all, length, &index);
    neighbours_free(&index);
    assert_null(index.entries);
    if (s->count > 1000 || length == s->count - 1)
        return; /* a list costs a pass over all words, and longer lists are no other case */
    assert_int_equal(neighbours_build_lazy(s, length, &index, &error), TEM_OK);
    check_index(all, length, &index);
    neighbours_free(&index);
}

/* Lists of 1, 2, some, all but one, and all words. */
static void check_lengths(const guarded *g, unsigned threads) {
    const uint32_t n = g->space.count;
    const uint32_t lengths[] = {1, 2, n < 40 ? n / 2 + 1 : 20, n - 1, n};
    const sorted *all = brute_force_once(&g->space);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (lengths[i] >= 1 && lengths[i] <= n)
            check_build(&g->space, all, lengths[i], threads);
}

/* ------------------------------------------------- each set of kernels -- */

/* Sets that this build or this machine does not have are skipped by name. */
static int use_kernels(void **state) {
    random_state = 1;
    for (unsigned i = 0;; i++) {
        bool available = false;
        const kernels *set = kernels_at(i, &available);
        if (set == NULL)
            return 0;
        if (strcmp(set->name, *state) == 0 && available)
            kernels_use(set);
    }
}

static void require_kernels(void **state) {
    if (strcmp(kernels_active()->name, *state) != 0)
        skip();
}

static int use_reference(void **state) {
    (void)state;
    kernels_use(&kernels_scalar);
    return 0;
}

static int use_best(void **state) {
    (void)state;
    bool available = false;
    for (unsigned i = 0; kernels_at(i, &available) != NULL; i++)
        if (available)
            kernels_use(kernels_at(i, &available));
    return 0;
}

static const tem_metric all_metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF, TEM_MATRIX};
enum { METRICS = 5 };

/* Sizes around the ends of tiles (12 rows, 32 columns). A block lies within a sixteenth of the
 * words. */
static void test_sizes(void **state) {
    require_kernels(state);
    static const uint32_t counts[] = {2, 3, 11, 12, 13, 24, 31, 32, 33, 64, 65, 191, 192, 193};
    static const uint32_t dimensions[] = {1, 3, 32, 100, 700};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
        for (size_t d = 0; d < (SLOW && n > 8 ? 3 : sizeof dimensions / sizeof *dimensions); d++) {
            guarded g =
                random_space(TEM_EUCLIDEAN, dimensions[d], counts[n], dimensions[d] < 50 ? 3 : 500);
            check_lengths(&g, 1);
            guarded_free(&g);
        }
}

static void test_dimensions(void **state) {
    require_kernels(state);
    for (uint32_t dimension = 1; dimension <= 131; dimension += SLOW ? 5 : 1) {
        guarded g = random_space(TEM_EUCLIDEAN, dimension == 131 ? 300 : dimension, 45,
                                 dimension % 3 == 0 ? 2 : 1600);
        check_lengths(&g, 1);
        guarded_free(&g);
    }
}

static void test_metrics(void **state) {
    require_kernels(state);
    static const uint32_t counts[] = {2, 13, 33, 193, 400};
    static const uint32_t dimensions[] = {1, 2, 33, 64, 300};
    for (size_t m = 0; m < METRICS; m++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts - (SLOW && m > 0); i++) {
            guarded g =
                random_space(all_metrics[m], dimensions[i], counts[i], i % 2 == 0 ? 5 : 900);
            check_lengths(&g, 1 + (unsigned)i % 2);
            guarded_free(&g);
        }
}

/* More equal vectors than the lists hold: only the ids decide. */
static void test_equal_vectors(void **state) {
    require_kernels(state);
    for (uint32_t kinds = 1; kinds <= 3; kinds++) {
        guarded g = guarded_make(TEM_EUCLIDEAN, 14, 3, 421);
        for (uint32_t id = 0; id < 421; id++)
            row(&g, id)[1] = (int16_t)(100 * (random64() % kinds));
        check_lengths(&g, 2);
        guarded_free(&g);
    }
}

/* All points of a small lattice, shuffled: many words share most distances. The steps are so coarse
 * or fine that different squares have the same distance. */
static void test_ties(void **state) {
    require_kernels(state);
    static const uint32_t steps[] = {4, 16, 18, 30};
    for (size_t q = 0; q < 4; q++) {
        guarded g = guarded_make(TEM_EUCLIDEAN, steps[q], 3, 343);
        for (uint32_t id = 0; id < 343; id++)
            for (uint32_t i = 0, rest = id * 100 % 343; i < 3; i++, rest /= 7)
                row(&g, id)[i] = (int16_t)(rest % 7);
        check_lengths(&g, 2);
        guarded_free(&g);
    }
}

/* Squares beyond 32 bits take another path: norms far above 2^15. */
static void test_long_vectors(void **state) {
    require_kernels(state);
    for (uint32_t step = 5; step <= 30; step += 25) {
        guarded g = guarded_make(TEM_EUCLIDEAN, step, 300, 230);
        for (uint32_t id = 0; id < 230; id++)
            for (uint32_t i = 0; i < 300; i++)
                row(&g, id)[i] = random64() % 2 ? 16383 : -16383;
        check_lengths(&g, 2);
        guarded_free(&g);
    }
}

/* 4 * 16383^2 + 362^2 is 24 below 2^30, the limit of squares in 32 bits; with 363 it is above.
 * Opposite vectors then have squares just below and above 2^32. */
static void test_length_limit(void **state) {
    require_kernels(state);
    for (int16_t last = 362; last <= 363; last++) {
        guarded g = guarded_make(TEM_EUCLIDEAN, 10, 5, 64);
        for (uint32_t id = 0; id < 64; id++) {
            for (uint32_t i = 0; i < 4; i++)
                row(&g, id)[i] = id >> i & 1 ? 16383 : -16383;
            row(&g, id)[4] = (int16_t)(id >> 4 & 1 ? last : -last);
        }
        check_lengths(&g, 1);
        guarded_free(&g);
    }
}

/* Exactly 2^30: the square of opposite vectors is 2^32, which 32 bits would read as 0. */
static void test_length_at_limit(void **state) {
    require_kernels(state);
    guarded g = guarded_make(TEM_EUCLIDEAN, 10, 16, 40);
    for (uint32_t id = 0; id < 40; id++)
        for (uint32_t i = 0; i < 16; i++)
            row(&g, id)[i] = id % 2 == 0 || i % (id / 2 + 1) == 0 ? 8192 : -8192;
    for (uint32_t i = 0; i < 16; i++)
        row(&g, 39)[i] = -8192;
    check_lengths(&g, 1);
    guarded_free(&g);
}

/* Several blocks of the index, complete and partial: 1920 words of a small dimension, 384 of
 * dimension 300, 192 of dimension 700. */
static void test_blocks(void **state) {
    require_kernels(state);
    static const struct {
        uint32_t count, dimension, largest;
    } sets[] = {{1000, 300, 900}, {1000, 700, 400}, {385, 700, 1}, {769, 300, 3}, {577, 1000, 700}};
    for (size_t i = SLOW ? 2 : 0; i < (SLOW ? 3 : sizeof sets / sizeof *sets); i++) {
        guarded g = random_space(TEM_EUCLIDEAN, sets[i].dimension, sets[i].count, sets[i].largest);
        const sorted *all = brute_force_once(&g.space);
        check_build(&g.space, all, 1, 2);
        check_build(&g.space, all, 17, 2);
        check_build(&g.space, all, g.space.count / 2, 1);
        guarded_free(&g);
    }
}

/* The ends of the largest block. */
static void test_largest_blocks(void **state) {
    require_kernels(state);
    static const uint32_t counts[] = {1919, 1920, 1921, 2500};
    for (size_t i = 0; i < 4; i += SLOW ? 3 : 1) {
        guarded g = random_space(TEM_EUCLIDEAN, 2 + 3 * (uint32_t)i, counts[i], i == 1 ? 9 : 2000);
        const sorted *all = brute_force_once(&g.space);
        check_build(&g.space, all, 1, 2);
        check_build(&g.space, all, 60, 1);
        if (i == 3)
            check_build(&g.space, all, 1700, 2);
        guarded_free(&g);
    }
}

/* Dense groups, words far outside, whose codes are clipped, and the longest vectors possible. */
static void test_outliers(void **state) {
    require_kernels(state);
    guarded g = guarded_make(TEM_EUCLIDEAN, 11, 40, 1700);
    for (uint32_t id = 0; id < 1700; id++)
        for (uint32_t i = 0; i < 40; i++) {
            const int16_t group = (int16_t)(id % 7 * 300 * (i % 3)), near = random_value(60);
            row(&g, id)[i] = id % 100 == 99   ? random_value(16383)
                             : id % 100 == 98 ? (int16_t)(random64() % 2 ? 16383 : -16383)
                                              : (int16_t)(group + near);
        }
    const sorted *all = brute_force_once(&g.space);
    static const uint32_t lengths[] = {1, 10, 64, 300};
    for (size_t i = 0; i < 4; i++)
        check_build(&g.space, all, lengths[i], i == 2 ? 5 : 1 + (unsigned)i % 2);
    guarded_free(&g);
}

/* -------------------------------------------------------------- threads -- */

static void same_bytes(const neighbour_index *a, const neighbour_index *b) {
    assert_true(a->entry_count == b->entry_count);
    assert_memory_equal(a->entries, b->entries, a->entry_count * sizeof *a->entries);
    assert_memory_equal(a->bounds, b->bounds, a->count * NEIGHBOUR_RANGES * sizeof *a->bounds);
    assert_memory_equal(a->starts, b->starts, (a->count + (size_t)1) * sizeof *a->starts);
}

/* Ties everywhere, so that an order of arrival would show. */
static void test_threads(void **state) {
    (void)state;
    for (size_t m = 0; m < METRICS; m++) {
        guarded g = random_space(all_metrics[m], m == 0 ? 700 : 200, 1300, m == 4 ? 50 : 1);
        neighbour_index one = {0};
        const tem_run alone = {.threads = 1};
        assert_int_equal(neighbours_build(&g.space, 30, &alone, &one, NULL), TEM_OK);
        for (unsigned threads = 2; threads <= 8; threads += 6)
            for (int again = 0; again < (SLOW ? 1 : 3); again++) {
                neighbour_index many = {0};
                const tem_run run = {.threads = threads};
                assert_int_equal(neighbours_build(&g.space, 30, &run, &many, NULL), TEM_OK);
                same_bytes(&one, &many);
                neighbours_free(&many);
            }
        neighbours_free(&one);
        guarded_free(&g);
    }
}

typedef struct watch {
    pthread_t caller;
    unsigned calls, stop_at; /* the call that stops, from 1; 0: none */
    uint64_t done;
    const char *stage;
} watch;

static int watch_progress(void *context, const char *stage, uint64_t done, uint64_t total) {
    watch *w = context;
    assert_true(pthread_equal(w->caller, pthread_self()));
    assert_true(done <= total);
    assert_true(stage != w->stage || done >= w->done);
    w->stage = stage;
    w->done = done;
    return ++w->calls == w->stop_at;
}

/* Stopped at every possible point; a sanitizer reports leftovers. */
static void test_cancel(void **state) {
    (void)state;
    guarded g = random_space(TEM_EUCLIDEAN, 40, 500, 50);
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        tem_status status = TEM_ERR_CANCELLED;
        unsigned stop_at = 1;
        for (; status != TEM_OK; stop_at++) {
            watch w = {.caller = pthread_self(), .stop_at = stop_at};
            const tem_run run = {
                .threads = threads, .progress = watch_progress, .progress_context = &w};
            neighbour_index index = {.count = 77};
            tem_error error = {0};
            status = neighbours_build(&g.space, 9, &run, &index, &error);
            if (status == TEM_OK) {
                assert_true(w.calls < stop_at);
                neighbours_free(&index);
                break;
            }
            assert_int_equal(status, TEM_ERR_CANCELLED);
            assert_int_equal(error.status, TEM_ERR_CANCELLED);
            assert_int_equal(w.calls, stop_at);
            assert_true(index.count == 77 && index.entries == NULL);
        }
        assert_true(stop_at > 4); /* both stages, begin and end */
    }
    guarded_free(&g);
}

/* ------------------------------------------------- the K least of keys -- */

/* In random, ascending, descending, and organ-pipe order. */
static void test_nearest(void **state) {
    (void)state;
    enum { MOST = 300 };
    uint64_t keys[MOST], right[MOST];
    for (uint32_t count = 1; count <= MOST; count += count < 40 ? 1 : 13)
        for (uint32_t kind = 0; kind < 4; kind++) {
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t pipe = i < count / 2 ? i : count - i;
                const uint32_t by[4] = {(uint32_t)(random64() % 20), i, count - i, pipe};
                keys[i] = right[i] = nearest_key(i, by[kind]);
            }
            qsort(right, count, sizeof *right, compare_keys);
            for (uint32_t least = 1; least <= count; least += 1 + count / 20) {
                assert_true(nearest_select(keys, count, least) == right[least - 1]);
                uint64_t front[MOST];
                memcpy(front, keys, least * sizeof *front);
                qsort(front, least, sizeof *front, compare_keys);
                assert_memory_equal(front, right, least * sizeof *front);
            }
            nearest_sort(keys, count);
            assert_memory_equal(keys, right, count * sizeof *keys);
        }
}

/* --------------------------------------------------------------- codes -- */

/* A limit at the distance of a pair, plus both errors, gives a hit; an empty slot never does. */
static void check_codes(const guarded *g) {
    const uint32_t n = g->space.count, slots = (n + 31) / 32 * 32;
    codes c;
    assert_int_equal(codes_init(&c, &g->space, slots, NULL), TEM_OK);
    for (uint32_t id = 0; id < n; id++)
        codes_put(&c, id, id);
    uint8_t *rows = malloc((size_t)slots / 12 * 12 * 4 * c.quads);
    uint32_t hits[96];
    assert_non_null(rows);
    assert_true(n <= 96);
    codes_rows(&c, 0, slots / 12 * 12, rows);
    for (uint32_t column = 0; column < slots; column += TILE_COLUMNS) {
        int32_t row_limit[96], column_limit[TILE_COLUMNS];
        for (uint32_t y = column; y < column + TILE_COLUMNS && y < n; y++) {
            for (uint32_t x = 0; x < 96; x++)
                row_limit[x] = x < n
                                   ? codes_limit(codes_reach(&c, space_distance(&g->space, x, y)) +
                                                 c.errors[x] + c.errors[y])
                                   : codes_limit(CODES_REACH_MAX);
            for (uint32_t i = 0; i < TILE_COLUMNS; i++)
                column_limit[i] = INT32_MAX;
            const tile_codes tile = {.rows = rows,
                                     .columns = c.packed + (size_t)column * 4 * c.quads,
                                     .strips = slots / 12,
                                     .quads = c.quads,
                                     .row_base = c.row_base,
                                     .row_limit = row_limit,
                                     .column_base = c.column_base + column,
                                     .column_limit = column_limit};
            kernels_active()->tile_codes(&tile, hits);
            for (uint32_t x = 0; x < slots / 12 * 12; x++)
                assert_int_equal(hits[x] >> (y - column) & 1, x < n);
        }
    }
    free(rows);
    codes_free(&c);
}

/* PRIVACY: (*) of codes.h for every pair of many spaces. */
static void test_codes_reach_all(void **state) {
    require_kernels(state);
    static const uint32_t dimensions[] = {1, 2, 3, 4, 5, 31, 100, 301, 4096};
    static const uint32_t steps[] = {4, 11, 16, 18, 30};
    for (size_t d = 0; d < 9; d++)
        for (int kind = 0; kind < (SLOW && d == 8 ? 1 : 5); kind++) {
            guarded g = guarded_make(TEM_EUCLIDEAN, steps[kind], dimensions[d], 90);
            for (uint32_t id = 0; id < 90; id++)
                for (uint32_t i = 0; i < dimensions[d]; i++) {
                    const int16_t wide = random_value(16383), sign = random64() % 2 ? 1 : -1;
                    const int16_t values[5] = {
                        wide, random_value(100), (int16_t)(16383 * sign),
                        (int16_t)(random64() % 3000 == 0 ? wide : random_value(900)),
                        (int16_t)(15000 + random_value(600))};
                    row(&g, id)[i] = values[kind];
                }
            check_codes(&g);
            guarded_free(&g);
        }
}

/* Vectors within 127 units of their mean equal their codes. */
static void test_codes_exact(void **state) {
    (void)state;
    guarded g = guarded_make(TEM_EUCLIDEAN, 11, 10, 64);
    for (uint32_t id = 0; id < 64; id++)
        for (uint32_t i = 0; i < 10; i++)
            row(&g, id)[i] = (int16_t)(5000 + random_value(60));
    codes c;
    assert_int_equal(codes_init(&c, &g.space, 64, NULL), TEM_OK);
    assert_int_equal(c.step, 1);
    for (uint32_t id = 0; id < 64; id++) {
        codes_put(&c, id, id);
        assert_int_equal(c.errors[id], 0);
    }
    codes_free(&c);
    guarded_free(&g);
}

/* A limit is not below the distance that it must reach, and at most a step above. */
static void test_codes_limits(void **state) {
    (void)state;
    for (uint32_t q = 4; q <= 30; q += 13)
        for (uint32_t step = 1; step <= 129; step += 128) {
            guarded g = guarded_make(TEM_EUCLIDEAN, q, 2, 100);
            row(&g, 0)[0] = (int16_t)(step == 1 ? 50 : 16383);
            row(&g, 1)[0] = (int16_t)(step == 1 ? -50 : -16383);
            codes c;
            assert_int_equal(codes_init(&c, &g.space, 128, NULL), TEM_OK);
            assert_int_equal(c.step, step == 1 ? 1 : 129);
            for (int i = 0; i < 2000; i++) {
                const tem_dist d = (tem_dist)(random64() >> 32 >> random64() % 32);
                /* d * 2^(q - 16) / step, in 2^-8: rounded up, or one more */
                const uint128 exact = (uint128)d << q << 8;
                const uint64_t unit = (uint64_t)c.step << 16;
                const uint64_t least = (uint64_t)((exact + unit - 1) / unit);
                const uint32_t reach = codes_reach(&c, d);
                if (least >= CODES_REACH_MAX)
                    assert_int_equal(reach, CODES_REACH_MAX);
                else
                    assert_true(reach >= least && reach <= least + 1 + least / (1 << 28));
            }
            codes_free(&c);
            guarded_free(&g);
        }
    for (uint64_t reach = 0; reach <= CODES_REACH_MAX; reach += 1 + reach / 100) {
        /* A score is -square / 2: the largest square within reach has a score above the limit. */
        const int64_t square = (int64_t)(reach * reach >> 16);
        const int64_t limit = codes_limit((uint32_t)reach);
        assert_true(-square > 2 * limit && -square <= 2 * limit + 4);
    }
    assert_int_equal(codes_limit(UINT32_MAX), codes_limit(CODES_REACH_MAX));
}

/* ----------------------------------------------------- blocks, clusters -- */

static void test_blocks_cover(void **state) {
    (void)state;
    static const uint32_t counts[] = {2, 15, 16, 17, 33, 500, 1537, 20000, 341479, 2000000000};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
        for (uint32_t dimension = 0; dimension <= 4096; dimension += dimension < 4 ? 1 : 1023) {
            const space s = {.count = counts[n], .dimension = dimension};
            const blocks b = blocks_of(&s);
            uint64_t next = 0;
            for (uint32_t block = 0; block < b.count; block++) {
                const uint32_t size = blocks_size(&b, block), part = blocks_range(&b, block);
                assert_true(size <= b.capacity);
                if (size == 0)
                    continue;
                assert_true(blocks_first(&b, block) == next);
                assert_int_equal(next / b.range_words, part);
                next += size;
                assert_int_equal((next - 1) / b.range_words, part);
            }
            assert_true(next == counts[n]);
        }
}

/* Every word is in one cluster, and no cluster is too large, even if all vectors are equal. */
static void test_clusters(void **state) {
    (void)state;
    static const uint32_t counts[] = {2, 63, 64, 65, 700, 3000};
    for (size_t n = 0; n < 6; n++)
        for (uint32_t kinds = 0; kinds < 3; kinds++) {
            guarded g = random_space(TEM_EUCLIDEAN, 7, counts[n], kinds == 0 ? 900 : kinds);
            if (kinds == 2)
                memset(g.rows, 0, (size_t)counts[n] * g.space.row_elements * sizeof *g.rows);
            bool *seen = calloc(counts[n], sizeof *seen);
            clusters c;
            assert_non_null(seen);
            assert_int_equal(clusters_init(&c, &g.space, 64, 1 + kinds, NULL), TEM_OK);
            assert_int_equal(c.starts[0], 0);
            assert_int_equal(c.starts[c.count], counts[n]);
            for (uint32_t i = 0; i < c.count; i++)
                assert_in_range(c.starts[i + 1] - c.starts[i], 1, 64);
            for (uint32_t i = 0; i < counts[n]; i++) {
                assert_false(seen[c.ids[i]]);
                seen[c.ids[i]] = true;
            }
            clusters_free(&c);
            free(seen);
            guarded_free(&g);
        }
}

/* -------------------------------------------- an untrusted index -- */

/* A copy of an index that tests can damage. */
typedef struct copied {
    guarded space;
    neighbour_index index, right;
    uint64_t *starts;
    tem_neighbour *entries;
    tem_dist (*bounds)[NEIGHBOUR_RANGES];
    _Atomic(uint64_t) checked[4];
} copied;

/* The first three of 200 words are frequent. */
enum { WORDS = 200, LENGTH = 10, LONG = 160, ENTRIES = 3 * LONG + 197 * LENGTH };
enum { LIST_5 = 3 * LONG + 2 * LENGTH, LIST_6 = LIST_5 + LENGTH, LIST_7 = LIST_6 + LENGTH };

static tem_dist least(const tem_dist *bounds) {
    tem_dist least = UINT32_MAX;
    for (unsigned part = 0; part < NEIGHBOUR_RANGES; part++)
        least = bounds[part] < least ? bounds[part] : least;
    return least;
}

/* Restores the copy from `right`, with nothing checked yet. */
static void restore(copied *c) {
    memcpy(c->starts, c->right.starts, (WORDS + 1) * sizeof *c->starts);
    memcpy(c->entries, c->right.entries, ENTRIES * sizeof *c->entries);
    memcpy(c->bounds, c->right.bounds, sizeof *c->bounds * WORDS);
    for (size_t i = 0; i < 4; i++)
        atomic_store(&c->checked[i], 0);
    c->index = (neighbour_index){.count = WORDS,
                                 .starts = c->starts,
                                 .entries = c->entries,
                                 .entry_count = ENTRIES,
                                 .bounds = *c->bounds,
                                 .checked = c->checked};
}

static int make_copied(void **state) {
    copied *c = calloc(1, sizeof *c);
    assert_non_null(c);
    random_state = 1;
    c->space = random_space(TEM_EUCLIDEAN, 4, WORDS, 60);
    assert_int_equal(neighbours_build(&c->space.space, LENGTH, NULL, &c->right, NULL), TEM_OK);
    c->starts = malloc((WORDS + 1) * sizeof *c->starts);
    c->entries = malloc(ENTRIES * sizeof *c->entries);
    c->bounds = malloc(WORDS * sizeof *c->bounds);
    assert_true(c->starts != NULL && c->entries != NULL && c->bounds != NULL);
    restore(c);
    *state = c;
    return 0;
}

static int free_copied(void **state) {
    copied *c = *state;
    free(c->starts);
    free(c->entries);
    free(c->bounds);
    neighbours_free(&c->right);
    guarded_free(&c->space);
    free(c);
    return 0;
}

/* The list of `id` is refused every time, and *out stays unchanged. */
static void check_refused(copied *c, uint32_t id) {
    for (int again = 0; again < 2; again++) {
        tem_neighbours n = {.count = 77};
        tem_error error = {0};
        char named[32];
        assert_int_equal(neighbours_get(&c->index, id, &n, &error), TEM_ERR_DAMAGED);
        assert_int_equal(error.status, TEM_ERR_DAMAGED);
        snprintf(named, sizeof named, "the list of word %u ", (unsigned)id + 1);
        assert_memory_equal(error.message, named, strlen(named));
        assert_true(n.count == 77 && n.list == NULL);
    }
    restore(c);
}

static void test_get(void **state) {
    copied *c = *state;
    for (int again = 0; again < 2; again++)
        for (uint32_t id = 0; id < WORDS; id++) {
            tem_neighbours n = {0};
            assert_int_equal(neighbours_get(&c->index, id, &n, NULL), TEM_OK);
            assert_true(n.list == c->entries + c->starts[id] &&
                        n.count == (id < 3 ? LONG : LENGTH));
            assert_int_equal(n.bound, least(c->bounds[id]));
        }
    restore(c);
}

static void test_get_hostile_starts(void **state) {
    copied *c = *state;
    static const uint64_t wrong[] = {
        LIST_5, LIST_5 - 1, 0, ENTRIES + 1, (uint64_t)1 << 32, UINT64_MAX, (uint64_t)1 << 61};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        c->starts[6] = wrong[i]; /* the end of list 5: empty, negative, beyond */
        check_refused(c, 5);
    }
    c->starts[5] = UINT64_MAX;
    check_refused(c, 5);
    c->starts[5] = LIST_6; /* start = end */
    check_refused(c, 5);
    c->starts[5] = LIST_6 + 1;
    check_refused(c, 5);
    c->index.entry_count = ENTRIES - 1; /* the section is shorter than it claims */
    check_refused(c, WORDS - 1);
    for (uint32_t i = 0; i <= WORDS; i++) /* more entries than words, inside and in order */
        c->entries[i] = (tem_neighbour){i % WORDS, i};
    memset(c->bounds[0], 0xff, sizeof c->bounds[0]);
    c->starts[1] = WORDS + 1;
    check_refused(c, 0);
}

static void test_get_hostile_lists(void **state) {
    copied *c = *state;
    const uint32_t words[] = {0, 63, 64, WORDS - 1};
    for (size_t i = 0; i < 4; i++)
        for (uint32_t at = 0; at < LENGTH; at++) {
            const uint32_t id = words[i];
            tem_neighbour *list = c->entries + c->starts[id];
            list[at].id = WORDS;
            check_refused(c, id);
            list[at].id = UINT32_MAX;
            check_refused(c, id);
            list[at].distance = UINT32_MAX; /* beyond the next entry, or the bound */
            c->bounds[id][at] = UINT32_MAX - 1;
            check_refused(c, id);
            if (at == 0)
                continue;
            list[at] = list[at - 1]; /* the same entry twice */
            check_refused(c, id);
            const tem_neighbour swapped = list[at - 1];
            list[at - 1] = list[at];
            list[at] = swapped;
            check_refused(c, id);
            list[at].distance = list[at - 1].distance; /* a tie in the wrong order */
            list[at].id = list[at - 1].id == 0 ? 0 : list[at - 1].id - 1;
            check_refused(c, id);
        }
}

static void test_get_hostile_bounds(void **state) {
    copied *c = *state;
    for (unsigned part = 0; part < NEIGHBOUR_RANGES; part++) {
        c->bounds[7][part] = c->entries[LIST_7 + LENGTH - 1].distance - 1;
        check_refused(c, 7);
        c->bounds[7][part] = 0;
        check_refused(c, 7);
    }
    /* A list of all words has no bound. */
    for (uint32_t i = 0; i < WORDS; i++)
        c->entries[i] = (tem_neighbour){i, i};
    c->starts[1] = WORDS;
    memset(c->bounds[0], 0xff, sizeof c->bounds[0]);
    tem_neighbours n = {0};
    assert_int_equal(neighbours_get(&c->index, 0, &n, NULL), TEM_OK);
    assert_int_equal(n.count, WORDS);
    atomic_store(&c->checked[0], 0);
    c->bounds[0][15] = WORDS;
    check_refused(c, 0);
}

static tem_status verify(copied *c) {
    const tem_run run = {.threads = 2};
    return neighbours_verify(&c->index, &c->space.space, LENGTH, &run, NULL);
}

/* Tests the index as read from a file, and as built, which has no record of checked lists. */
static void check_verify_refuses(copied *c) {
    assert_int_equal(verify(c), TEM_ERR_DAMAGED);
    c->index.checked = NULL;
    assert_int_equal(verify(c), TEM_ERR_DAMAGED);
    restore(c);
}

static void test_verify(void **state) {
    copied *c = *state;
    assert_int_equal(verify(c), TEM_OK);
    restore(c);
    c->index.checked = NULL;
    assert_int_equal(verify(c), TEM_OK);
    restore(c);
    assert_int_equal(neighbours_verify(&c->right, &c->space.space, LENGTH, NULL, NULL), TEM_OK);
    assert_int_equal(neighbours_verify(&c->right, &c->space.space, LENGTH + 1, NULL, NULL),
                     TEM_ERR_DAMAGED);
}

static void test_verify_entries(void **state) {
    copied *c = *state;
    const uint32_t words[] = {0, 100, WORDS - 1};
    for (size_t i = 0; i < 3; i++)
        for (uint32_t at = 0; at < LENGTH; at++) {
            const uint32_t id = words[i];
            tem_neighbour *list = c->entries + c->starts[id];
            list[at].distance++;
            check_verify_refuses(c);
            list[at].distance--;
            check_verify_refuses(c);
            list[at].id = (list[at].id + 1) % WORDS;
            check_verify_refuses(c);
            const tem_neighbour swapped = list[at];
            list[at] = list[(at + 1) % LENGTH];
            list[(at + 1) % LENGTH] = swapped;
            check_verify_refuses(c);
        }
}

static void test_verify_bounds(void **state) {
    copied *c = *state;
    for (uint32_t id = 0; id < WORDS; id += 33)
        for (int by = -1; by <= 1; by += 2) {
            c->bounds[id][id % NEIGHBOUR_RANGES] += (tem_dist)by;
            check_verify_refuses(c);
        }
    c->bounds[5][3] = UINT32_MAX;
    check_verify_refuses(c);
}

/* Lists of another length, and lists that leave gaps in the section. */
static void test_verify_cut(void **state) {
    copied *c = *state;
    c->index.entry_count--; /* the last list ends early */
    c->starts[WORDS]--;
    check_verify_refuses(c);
    c->starts[WORDS]--; /* an entry that belongs to no list */
    check_verify_refuses(c);
    c->starts[0]++;
    c->entries[1] = c->entries[0];
    check_verify_refuses(c);
    c->starts[50]--; /* a list that loses its last entry to the next */
    check_verify_refuses(c);
    c->starts[50]++;
    check_verify_refuses(c);
    for (uint32_t id = 0; id < WORDS; id++) /* vectors of another model */
        row(&c->space, id)[0]++;
    row(&c->space, 3)[0]++;
    check_verify_refuses(c);
    for (uint32_t id = 0; id < WORDS; id++)
        row(&c->space, id)[0]--;
    row(&c->space, 3)[0]--;
    assert_int_equal(verify(c), TEM_OK);
}

static void test_verify_cancel(void **state) {
    copied *c = *state;
    watch w = {.caller = pthread_self(), .stop_at = 1};
    const tem_run run = {.threads = 2, .progress = watch_progress, .progress_context = &w};
    assert_int_equal(neighbours_verify(&c->index, &c->space.space, LENGTH, &run, NULL),
                     TEM_ERR_CANCELLED);
}

#define WITH_KERNELS(test, set)                                                                    \
    { #test " on " set, test, use_kernels, use_reference, (void *)(uintptr_t)set }
#define WITH_EACH_SET(test)                                                                        \
    WITH_KERNELS(test, "scalar"), WITH_KERNELS(test, "avx2"), WITH_KERNELS(test, "avx512"),        \
        WITH_KERNELS(test, "avx512vnni")
#define WITH_COPY(test) cmocka_unit_test_setup_teardown(test, make_copied, free_copied)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_EACH_SET(test_sizes),
        WITH_EACH_SET(test_dimensions),
        WITH_EACH_SET(test_metrics),
        WITH_EACH_SET(test_equal_vectors),
        WITH_EACH_SET(test_ties),
        WITH_EACH_SET(test_long_vectors),
        WITH_EACH_SET(test_length_limit),
        WITH_EACH_SET(test_length_at_limit),
        WITH_EACH_SET(test_blocks),
        WITH_EACH_SET(test_largest_blocks),
        WITH_EACH_SET(test_outliers),
        cmocka_unit_test_setup_teardown(test_threads, use_best, use_reference),
        cmocka_unit_test_setup_teardown(test_cancel, use_best, use_reference),
        cmocka_unit_test(test_nearest),
        WITH_EACH_SET(test_codes_reach_all),
        cmocka_unit_test(test_codes_exact),
        cmocka_unit_test(test_codes_limits),
        cmocka_unit_test(test_blocks_cover),
        cmocka_unit_test(test_clusters),
        WITH_COPY(test_get),
        WITH_COPY(test_get_hostile_starts),
        WITH_COPY(test_get_hostile_lists),
        WITH_COPY(test_get_hostile_bounds),
        WITH_COPY(test_verify),
        WITH_COPY(test_verify_entries),
        WITH_COPY(test_verify_bounds),
        WITH_COPY(test_verify_cut),
        WITH_COPY(test_verify_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, free_known);
}
