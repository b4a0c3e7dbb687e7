/* test_kernels.c - every set of kernels against plain 64-bit arithmetic and against the scalar set.
 *
 * One test for a set and a group of operations, under the name of the set, so that the output lists
 * which kernels ran; those that this machine lacks are skipped. The kernels are integer and exact:
 * every comparison is equality. All they read and write lies next to a page that faults. */
#include "space/kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { DIMENSION_MAX = 4096, PAIRS_MAX = DIMENSION_MAX / 2, STRIDE_MAX = DIMENSION_MAX + 32 };

/* ---- random numbers: SplitMix64, started anew by every test ---- */

static uint64_t random_state;

static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static size_t random_below(size_t n) {
    return (size_t)(random_u64() % n);
}

static int16_t random_value(void) {
    return (int16_t)((int)random_below(2 * KERNEL_VALUE_MAX + 1) - KERNEL_VALUE_MAX);
}

/* ---- memory between two pages that fault ---- */

typedef enum { AT_START, AT_END, PLACES } place;

typedef struct guarded {
    unsigned char *start, *end;
} guarded;

static struct {
    guarded a, b;                              /* rows */
    guarded rows, packed, norms[2], limits[2]; /* what a tile reads: of rows, of columns */
    guarded squares, hits;                     /* and writes */
} memory;

static guarded guarded_new(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inside = (bytes + page - 1) / page * page;
    unsigned char *map =
        mmap(NULL, inside + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) != 0 ||
        mprotect(map + page + inside, page, PROT_NONE) != 0)
        abort();
    return (guarded){map + page, map + page + inside};
}

static void *guarded_at(const guarded *block, place where, size_t bytes) {
    return where == AT_START ? block->start : block->end - bytes;
}

static int make_memory(void **state) {
    (void)state;
    memory.a = guarded_new(DIMENSION_MAX * sizeof(int16_t));
    memory.b = guarded_new(DIMENSION_MAX * sizeof(int16_t));
    memory.rows = guarded_new(TILE_ROWS * STRIDE_MAX * sizeof(int16_t));
    memory.packed = guarded_new(PAIRS_MAX * 2 * TILE_COLUMNS * sizeof(int16_t));
    for (int side = 0; side < 2; side++) {
        memory.norms[side] = guarded_new(TILE_COLUMNS * sizeof(uint32_t) + 4);
        memory.limits[side] = guarded_new(TILE_COLUMNS * sizeof(uint32_t) + 4);
    }
    memory.squares = guarded_new(TILE_ROWS * TILE_COLUMNS * sizeof(uint32_t));
    memory.hits = guarded_new(TILE_ROWS * sizeof(uint32_t));
    return 0;
}

/* The set that a test is about, with the random numbers at their start. */
static const kernels *set_of(void **state) {
    bool available = false;
    random_state = 1;
    for (unsigned i = 0; kernels_at(i, &available) != NULL; i++)
        if (strcmp(kernels_at(i, &available)->name, *state) == 0 && available)
            return kernels_at(i, &available);
    skip();
    return NULL;
}

/* ---- pairs of rows ---- */

typedef enum {
    RANDOM,      /* over the whole range */
    OPPOSITE,    /* all differences and all products extreme */
    EQUAL,       /* no difference, all products extreme */
    ALTERNATING, /* extremes of changing sign, so that the products cancel */
    SINGLE,      /* one element differs from zero */
    ZERO,
    PATTERNS
} pattern;

static void fill_rows(pattern kind, int16_t *a, int16_t *b, size_t dimension, size_t elements) {
    const int16_t top = KERNEL_VALUE_MAX, bottom = -KERNEL_VALUE_MAX;
    const int16_t sign = random_below(2) == 0 ? 1 : -1;
    memset(a, 0, elements * sizeof *a);
    memset(b, 0, elements * sizeof *b);
    if (kind == SINGLE)
        a[random_below(dimension)] = (int16_t)(top * sign);
    for (size_t i = 0; i < dimension; i++) {
        if (kind == RANDOM) {
            a[i] = random_value();
            b[i] = random_value();
        } else if (kind == OPPOSITE || kind == EQUAL) {
            a[i] = (int16_t)(top * sign);
            b[i] = (int16_t)(kind == EQUAL ? a[i] : -a[i]);
        } else if (kind == ALTERNATING) {
            a[i] = i % 2 == 0 ? top : bottom;
            b[i] = sign > 0 ? top : (int16_t)-a[i];
        }
    }
}

/* Compares one operation on one pair of rows with the expected number. */
typedef void compare_rows(const kernels *set, const int16_t *a, const int16_t *b, size_t elements);

static void for_all_rows(const kernels *set, compare_rows *compare, size_t dimension) {
    const size_t elements = (dimension + KERNEL_ROW_UNIT - 1) / KERNEL_ROW_UNIT * KERNEL_ROW_UNIT;
    const size_t bytes = elements * sizeof(int16_t);
    for (int where = 0; where < PLACES; where++)
        for (int kind = 0; kind < PATTERNS; kind++)
            for (int repeat = 0; repeat < 4; repeat++) {
                int16_t *a = guarded_at(&memory.a, (place)where, bytes);
                int16_t *b = guarded_at(&memory.b, (place)where, bytes);
                fill_rows((pattern)kind, a, b, dimension, elements);
                compare(set, a, b, elements);
            }
}

static void for_all_dimensions(const kernels *set, compare_rows *compare) {
    for (size_t dimension = 1; dimension <= 130; dimension++)
        for_all_rows(set, compare, dimension);
    for_all_rows(set, compare, 300);
    for_all_rows(set, compare, DIMENSION_MAX);
}

static void expect(const char *operation, size_t elements, int64_t found, int64_t scalar,
                   int64_t expected) {
    if (found != expected || scalar != expected)
        fail_msg("%s of %zu elements: found %lld, scalar set %lld, expected %lld", operation,
                 elements, (long long)found, (long long)scalar, (long long)expected);
}

static void compare_l2(const kernels *set, const int16_t *a, const int16_t *b, size_t elements) {
    int64_t expected = 0;
    for (size_t i = 0; i < elements; i++)
        expected += ((int64_t)a[i] - b[i]) * ((int64_t)a[i] - b[i]);
    expect("l2", elements, (int64_t)set->l2_i16(a, b, elements),
           (int64_t)kernels_scalar.l2_i16(a, b, elements), expected);
}

static void compare_l1(const kernels *set, const int16_t *a, const int16_t *b, size_t elements) {
    int64_t expected = 0;
    for (size_t i = 0; i < elements; i++)
        expected += a[i] > b[i] ? (int64_t)a[i] - b[i] : (int64_t)b[i] - a[i];
    expect("l1", elements, (int64_t)set->l1_i16(a, b, elements),
           (int64_t)kernels_scalar.l1_i16(a, b, elements), expected);
}

static void compare_linf(const kernels *set, const int16_t *a, const int16_t *b, size_t elements) {
    int64_t expected = 0;
    for (size_t i = 0; i < elements; i++) {
        const int64_t difference = a[i] > b[i] ? (int64_t)a[i] - b[i] : (int64_t)b[i] - a[i];
        expected = difference > expected ? difference : expected;
    }
    expect("linf", elements, (int64_t)set->linf_i16(a, b, elements),
           (int64_t)kernels_scalar.linf_i16(a, b, elements), expected);
}

static void compare_dot(const kernels *set, const int16_t *a, const int16_t *b, size_t elements) {
    int64_t expected = 0;
    for (size_t i = 0; i < elements; i++)
        expected += (int64_t)a[i] * b[i];
    expect("dot", elements, set->dot_i16(a, b, elements), kernels_scalar.dot_i16(a, b, elements),
           expected);
}

static void test_l2(void **state) {
    for_all_dimensions(set_of(state), compare_l2);
}

static void test_l1(void **state) {
    for_all_dimensions(set_of(state), compare_l1);
}

static void test_linf(void **state) {
    for_all_dimensions(set_of(state), compare_linf);
}

static void test_dot(void **state) {
    for_all_dimensions(set_of(state), compare_dot);
}

/* ---- tiles ---- */

/* A tile in guarded memory, what it is made of, and what must come out. */
static struct {
    int16_t *rows, *packed;
    uint32_t *norms[2], *limits[2]; /* of the rows, of the columns */
    int16_t columns[TILE_COLUMNS][DIMENSION_MAX];
    uint32_t squares[TILE_ROWS][TILE_COLUMNS];
    tile_l2 tile;
} given;

enum { OF_ROWS, OF_COLUMNS };

static void place_tile(place where, size_t pairs, size_t stride) {
    static const size_t counts[2] = {TILE_ROWS, TILE_COLUMNS};
    const size_t row_elements = (TILE_ROWS - 1) * stride + 2 * pairs;
    given.rows = guarded_at(&memory.rows, where, row_elements * sizeof(int16_t));
    given.packed = guarded_at(&memory.packed, where, pairs * 2 * TILE_COLUMNS * sizeof(int16_t));
    for (int side = 0; side < 2; side++) {
        /* Nothing is promised of the alignment of these: at the start, an odd one. */
        const size_t off = where == AT_START ? 1 : 0, bytes = counts[side] * sizeof(uint32_t);
        given.norms[side] = (uint32_t *)guarded_at(&memory.norms[side], where, bytes) + off;
        given.limits[side] = (uint32_t *)guarded_at(&memory.limits[side], where, bytes) + off;
        memset(given.limits[side], 0, bytes);
    }
    for (size_t i = 0; i < row_elements; i++) /* between the rows, what must not be used */
        given.rows[i] = random_value();
    given.tile = (tile_l2){given.rows,
                           stride,
                           given.packed,
                           pairs,
                           given.norms[OF_ROWS],
                           given.norms[OF_COLUMNS],
                           given.limits[OF_ROWS],
                           given.limits[OF_COLUMNS]};
}

static int16_t *row_of_tile(size_t r) {
    return given.rows + r * given.tile.row_stride;
}

/* Rows and columns from the patterns of fill_rows; the last of each may be all zeros, as those that
 * fill up a tile are. */
static void fill_tile(pattern kind, bool padded) {
    const size_t elements = 2 * given.tile.pairs;
    int16_t other[DIMENSION_MAX];
    for (size_t r = 0; r < TILE_ROWS; r++)
        fill_rows(padded && r >= 7 ? ZERO : kind, row_of_tile(r), other, elements, elements);
    for (size_t c = 0; c < TILE_COLUMNS; c++)
        fill_rows(padded && c >= 19 ? ZERO : kind, other, given.columns[c], elements, elements);
    for (size_t p = 0; p < given.tile.pairs; p++)
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            memcpy(given.packed + (p * TILE_COLUMNS + c) * 2, given.columns[c] + 2 * p,
                   2 * sizeof(int16_t));
}

static uint32_t norm_of(const int16_t *row, size_t elements) {
    int64_t sum = 0;
    for (size_t i = 0; i < elements; i++)
        sum += (int64_t)row[i] * row[i];
    return (uint32_t)sum;
}

/* The norms, and the squares by the differences, which no kernel takes in a tile. */
static void solve_tile(void) {
    const size_t elements = 2 * given.tile.pairs;
    for (size_t r = 0; r < TILE_ROWS; r++)
        given.norms[OF_ROWS][r] = norm_of(row_of_tile(r), elements);
    for (size_t c = 0; c < TILE_COLUMNS; c++)
        given.norms[OF_COLUMNS][c] = norm_of(given.columns[c], elements);
    for (size_t r = 0; r < TILE_ROWS; r++)
        for (size_t c = 0; c < TILE_COLUMNS; c++) {
            int64_t sum = 0;
            for (size_t i = 0; i < elements; i++) {
                const int64_t difference = (int64_t)row_of_tile(r)[i] - given.columns[c][i];
                sum += difference * difference;
            }
            given.squares[r][c] = (uint32_t)sum;
        }
}

/* Moves the squares all over the range of uint32_t, past its end, by adding to the norms. */
static void shift_norms(void) {
    uint32_t by_column[TILE_COLUMNS];
    for (size_t c = 0; c < TILE_COLUMNS; c++) {
        by_column[c] = (uint32_t)random_u64();
        given.norms[OF_COLUMNS][c] += by_column[c];
    }
    for (size_t r = 0; r < TILE_ROWS; r++) {
        const uint32_t by_row = (uint32_t)random_u64();
        given.norms[OF_ROWS][r] += by_row;
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            given.squares[r][c] += by_row + by_column[c];
    }
}

static bool expected_hits(uint32_t hits[TILE_ROWS]) {
    bool any = false;
    for (size_t r = 0; r < TILE_ROWS; r++) {
        hits[r] = 0;
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            if (given.squares[r][c] < given.limits[OF_ROWS][r] ||
                given.squares[r][c] < given.limits[OF_COLUMNS][c]) {
                hits[r] |= UINT32_C(1) << c;
                any = true;
            }
    }
    return any;
}

static void compare_tile_at(const kernels *set, place where) {
    uint32_t expected[TILE_ROWS];
    const bool any = expected_hits(expected);
    uint32_t(*squares)[TILE_COLUMNS] = guarded_at(&memory.squares, where, sizeof given.squares);
    uint32_t *hits = guarded_at(&memory.hits, where, sizeof expected);
    memset(squares, 0xa5, sizeof given.squares);
    memset(hits, 0xa5, sizeof expected);
    const bool found = set->tile_l2_i16(&given.tile, squares, hits);
    if (found != any)
        fail_msg("tile of %zu pairs: a hit %s", given.tile.pairs, any ? "missed" : "invented");
    if (any) { /* and only then are they specified */
        assert_memory_equal(hits, expected, sizeof expected);
        assert_memory_equal(squares, given.squares, sizeof given.squares);
    }
}

static void compare_tile(const kernels *set) {
    compare_tile_at(set, AT_START);
    compare_tile_at(set, AT_END);
}

static void set_limits(int side, uint32_t limit) {
    for (size_t i = 0; i < (side == OF_ROWS ? TILE_ROWS : TILE_COLUMNS); i++)
        given.limits[side][i] = limit;
}

static void for_all_patterns(const kernels *set, place where, size_t pairs, size_t stride) {
    for (int kind = 0; kind < PATTERNS; kind++)
        for (int padded = 0; padded < 2; padded++) {
            place_tile(where, pairs, stride);
            fill_tile((pattern)kind, padded == 1);
            solve_tile();
            compare_tile(set); /* all limits 0: no hit whatever the squares */
            set_limits(OF_ROWS, UINT32_MAX);
            compare_tile(set);
            shift_norms();
            compare_tile(set);
        }
}

/* Squares, over all lengths and patterns, rows with and without space between them. */
static void test_tile(void **state) {
    const kernels *set = set_of(state);
    for (int where = 0; where < PLACES; where++) {
        for (size_t pairs = 1; pairs <= 65; pairs++)
            for_all_patterns(set, (place)where, pairs, 2 * pairs + 2 * (pairs % 3));
        for_all_patterns(set, (place)where, 150, 320);
        for_all_patterns(set, (place)where, PAIRS_MAX, STRIDE_MAX);
    }
}

/* Every limit in turn, the others 0: equal to the least square that it bounds there is no hit, one
 * above it there is. */
static void compare_at_limit(const kernels *set, int side, size_t i) {
    uint32_t least = UINT32_MAX;
    for (size_t r = 0; r < TILE_ROWS; r++)
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            if ((side == OF_ROWS ? r : c) == i && given.squares[r][c] < least)
                least = given.squares[r][c];
    uint32_t hits[TILE_ROWS];
    given.limits[side][i] = least;
    assert_false(expected_hits(hits));
    compare_tile(set);
    given.limits[side][i] = least + 1;
    assert_true(expected_hits(hits));
    compare_tile(set);
    given.limits[side][i] = 0;
}

/* Both kinds of limits at once, each equal to one of its squares or one above it. */
static void compare_mixed_limits(const kernels *set) {
    for (int repeat = 0; repeat < 20; repeat++) {
        for (size_t r = 0; r < TILE_ROWS; r++)
            given.limits[OF_ROWS][r] =
                given.squares[r][random_below(TILE_COLUMNS)] + (uint32_t)random_below(2);
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            given.limits[OF_COLUMNS][c] =
                given.squares[random_below(TILE_ROWS)][c] + (uint32_t)random_below(2);
        compare_tile(set);
    }
    set_limits(OF_ROWS, 0);
    set_limits(OF_COLUMNS, 0);
}

static void test_tile_limits(void **state) {
    static const size_t lengths[] = {1, 2, 7, 50, 65, 150};
    const kernels *set = set_of(state);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int shifted = 0; shifted < 2; shifted++) {
            place_tile(AT_END, lengths[i], 2 * lengths[i]);
            fill_tile(RANDOM, false);
            solve_tile();
            if (shifted == 1)
                shift_norms();
            for (size_t r = 0; r < TILE_ROWS; r++)
                compare_at_limit(set, OF_ROWS, r);
            for (size_t c = 0; c < TILE_COLUMNS; c++)
                compare_at_limit(set, OF_COLUMNS, c);
            compare_mixed_limits(set);
        }
}

/* ---- values that only a damaged file holds ---- */

static void fill_damaged(int16_t *row, size_t elements, int16_t low) {
    for (size_t i = 0; i < elements; i++)
        row[i] = random_below(2) == 0 ? low : (int16_t)(random_u64() & 0xffff);
}

/* The results are unspecified: this is for the sanitizers, and for the guard pages. */
static void test_damaged(void **state) {
    const kernels *set = set_of(state);
    int16_t *a = guarded_at(&memory.a, AT_END, DIMENSION_MAX * sizeof *a);
    int16_t *b = guarded_at(&memory.b, AT_END, DIMENSION_MAX * sizeof *b);
    for (int repeat = 0; repeat < 20; repeat++) {
        fill_damaged(a, DIMENSION_MAX, INT16_MIN);
        fill_damaged(b, DIMENSION_MAX, repeat % 2 == 0 ? INT16_MIN : INT16_MAX);
        (void)set->l2_i16(a, b, DIMENSION_MAX);
        (void)set->l1_i16(a, b, DIMENSION_MAX);
        (void)set->linf_i16(a, b, DIMENSION_MAX);
        (void)set->dot_i16(a, b, DIMENSION_MAX);
        place_tile(AT_END, PAIRS_MAX, DIMENSION_MAX);
        fill_damaged(given.rows, TILE_ROWS * DIMENSION_MAX, INT16_MIN);
        fill_damaged(given.packed, PAIRS_MAX * 2 * TILE_COLUMNS, INT16_MIN);
        (void)set->tile_l2_i16(&given.tile, (void *)memory.squares.start,
                               (void *)memory.hits.start);
    }
}

#define TESTS_OF(set)                                                                              \
    {"kernels_" set "_l2", test_l2, NULL, NULL, set},                                              \
        {"kernels_" set "_l1", test_l1, NULL, NULL, set},                                          \
        {"kernels_" set "_linf", test_linf, NULL, NULL, set},                                      \
        {"kernels_" set "_dot", test_dot, NULL, NULL, set},                                        \
        {"kernels_" set "_tile", test_tile, NULL, NULL, set},                                      \
        {"kernels_" set "_tile_limits", test_tile_limits, NULL, NULL, set}, {                      \
        "kernels_" set "_damaged", test_damaged, NULL, NULL, set                                   \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        TESTS_OF("scalar"),
        TESTS_OF("avx2"),
        TESTS_OF("avx512"),
        TESTS_OF("avx512vnni"),
    };
    return cmocka_run_group_tests(tests, make_memory, NULL);
}
