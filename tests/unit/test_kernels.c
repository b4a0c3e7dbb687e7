/* test_kernels.c - every set of kernels against plain 64-bit arithmetic and against the scalar set.
 *
 * There is one test per set and group of operations, under the name of the set, so that the output
 * lists which kernels ran; sets that this machine lacks are skipped. The kernels are integer and
 * exact, so every comparison tests equality. Everything they read and write is next to a page that
 * faults. */
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

enum { DIMENSION_MAX = 4096, QUADS_MAX = DIMENSION_MAX / 4, STRIPS_MAX = 3 };
enum { ROWS_MAX = STRIPS_MAX * TILE_ROWS };

/* ---- random numbers: SplitMix64, restarted by every test ---- */

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
    guarded a, b;                         /* rows */
    guarded codes[2], base[2], limits[2]; /* inputs of a tile: of rows, of columns */
    guarded hits, dots;                   /* outputs of a tile */
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
    for (int side = 0; side < 2; side++) {
        memory.codes[side] = guarded_new(ROWS_MAX * DIMENSION_MAX * sizeof(int16_t));
        memory.base[side] = guarded_new(ROWS_MAX * sizeof(int32_t) + 4);
        memory.limits[side] = guarded_new(ROWS_MAX * sizeof(int32_t) + 4);
    }
    memory.hits = guarded_new(ROWS_MAX * sizeof(uint32_t));
    memory.dots = guarded_new(ROWS_MAX * TILE_COLUMNS * sizeof(uint32_t));
    return 0;
}

/* The set that a test is for, with the random numbers restarted. */
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
    ALTERNATING, /* extremes of alternating sign, so that the products cancel */
    SINGLE,      /* only one element is not zero */
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

/* ---- tiles of codes ---- */

/* A tile in guarded memory, its inputs, and the expected output. */
static struct {
    uint8_t *rows;
    int8_t *columns;
    int32_t *base[2], *limits[2]; /* of the rows, of the columns */
    size_t row_count;
    int32_t scores[ROWS_MAX][TILE_COLUMNS];
    tile_codes tile;
} given;

enum { OF_ROWS, OF_COLUMNS };

/* Sets no limit, or a limit that no score exceeds. */
static void set_limits(int side, int32_t limit) {
    for (size_t i = 0; i < (side == OF_ROWS ? given.row_count : TILE_COLUMNS); i++)
        given.limits[side][i] = limit;
}

static void place_tile(place where, size_t strips, size_t quads) {
    const size_t counts[2] = {strips * TILE_ROWS, TILE_COLUMNS};
    given.row_count = counts[OF_ROWS];
    given.rows = guarded_at(&memory.codes[OF_ROWS], where, counts[OF_ROWS] * 4 * quads);
    given.columns = guarded_at(&memory.codes[OF_COLUMNS], where, counts[OF_COLUMNS] * 4 * quads);
    for (int side = 0; side < 2; side++) {
        /* Their alignment is not promised: at the start, use an odd one. */
        const size_t off = where == AT_START ? 1 : 0, bytes = counts[side] * sizeof(int32_t);
        given.base[side] = (int32_t *)guarded_at(&memory.base[side], where, bytes) + off;
        given.limits[side] = (int32_t *)guarded_at(&memory.limits[side], where, bytes) + off;
        set_limits(side, INT32_MAX);
    }
    given.tile = (tile_codes){.rows = given.rows,
                              .columns = given.columns,
                              .strips = strips,
                              .quads = quads,
                              .row_base = given.base[OF_ROWS],
                              .row_limit = given.limits[OF_ROWS],
                              .column_base = given.base[OF_COLUMNS],
                              .column_limit = given.limits[OF_COLUMNS]};
}

/* Fills the codes with: random values; the largest products of both signs, two of which exceed 16
 * bits; alternating signs; one code that is not zero; zeros. */
static void fill_tile(pattern kind) {
    const size_t row_bytes = given.row_count * 4 * given.tile.quads;
    const size_t column_bytes = TILE_COLUMNS * 4 * given.tile.quads;
    const int8_t extreme = random_below(2) == 0 ? INT8_MIN : INT8_MAX;
    for (size_t i = 0; i < row_bytes; i++)
        given.rows[i] = kind == RANDOM ? (uint8_t)random_u64() : kind >= SINGLE ? 0 : UINT8_MAX;
    for (size_t i = 0; i < column_bytes; i++) {
        const uint8_t random = (uint8_t)random_u64();
        given.columns[i] = kind == RANDOM        ? (int8_t)(random - 128)
                           : kind == EQUAL       ? (random % 2 == 0 ? INT8_MIN : INT8_MAX)
                           : kind == ALTERNATING ? (i % 2 == 0 ? INT8_MIN : INT8_MAX)
                           : kind == ZERO        ? 0
                                                 : extreme;
    }
    if (kind == SINGLE)
        given.rows[random_below(row_bytes)] = UINT8_MAX;
    for (size_t i = 0; i < given.row_count; i++)
        given.base[OF_ROWS][i] = (int32_t)random_below(1 << 24) - (1 << 23);
    for (size_t i = 0; i < TILE_COLUMNS; i++)
        given.base[OF_COLUMNS][i] = (int32_t)random_below(1 << 24) - (1 << 23);
}

/* Computes the tile from the layout in kernels.h. */
static void solve_tile(void) {
    const size_t quads = given.tile.quads;
    for (size_t r = 0; r < given.row_count; r++)
        for (size_t c = 0; c < TILE_COLUMNS; c++) {
            const size_t strip = r / TILE_ROWS, row = r % TILE_ROWS;
            int64_t sum = (int64_t)given.base[OF_ROWS][r] + given.base[OF_COLUMNS][c];
            for (size_t i = 0; i < 4 * quads; i++) {
                const size_t q = i / 4, e = i % 4;
                sum += (int64_t)given.rows[((strip * quads + q) * TILE_ROWS + row) * 4 + e] *
                       given.columns[(q * TILE_COLUMNS + c) * 4 + e];
            }
            assert_true(sum > INT32_MIN && sum < INT32_MAX);
            given.scores[r][c] = (int32_t)sum;
        }
}

static bool expected_hits(uint32_t hits[ROWS_MAX]) {
    bool any = false;
    for (size_t r = 0; r < given.row_count; r++) {
        hits[r] = 0;
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            if (given.scores[r][c] > given.limits[OF_ROWS][r] ||
                given.scores[r][c] > given.limits[OF_COLUMNS][c]) {
                hits[r] |= UINT32_C(1) << c;
                any = true;
            }
    }
    return any;
}

static void compare_tile(const kernels *set) {
    uint32_t expected[ROWS_MAX];
    const size_t bytes = given.row_count * sizeof *expected;
    expected_hits(expected);
    for (int where = 0; where < PLACES; where++) {
        uint32_t *hits = guarded_at(&memory.hits, (place)where, bytes);
        memset(hits, 0xa5, bytes);
        set->tile_codes(&given.tile, hits);
        assert_memory_equal(hits, expected, bytes);
    }
}

/* Limits equal to a score or one below it, so that every score matters. */
static void compare_mixed_limits(const kernels *set) {
    for (int repeat = 0; repeat < 8; repeat++) {
        for (size_t r = 0; r < given.row_count; r++)
            given.limits[OF_ROWS][r] =
                given.scores[r][random_below(TILE_COLUMNS)] - (int32_t)random_below(2);
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            given.limits[OF_COLUMNS][c] =
                given.scores[random_below(given.row_count)][c] - (int32_t)random_below(2);
        if (repeat % 3 == 1)
            set_limits(OF_ROWS, INT32_MAX);
        if (repeat % 3 == 2)
            set_limits(OF_COLUMNS, INT32_MAX);
        compare_tile(set);
    }
}

static void for_all_codes(const kernels *set, place where, size_t strips, size_t quads) {
    for (int kind = 0; kind < PATTERNS; kind++) {
        place_tile(where, strips, quads);
        fill_tile((pattern)kind);
        solve_tile();
        compare_tile(set); /* no score is above the limits */
        compare_mixed_limits(set);
        set_limits(OF_ROWS, INT32_MIN); /* every score is */
        compare_tile(set);
    }
}

/* All lengths, patterns and places. */
static void test_tile(void **state) {
    const kernels *set = set_of(state);
    for (int where = 0; where < PLACES; where++) {
        for (size_t quads = 1; quads <= 33; quads++)
            for_all_codes(set, (place)where, 1 + quads % STRIPS_MAX, quads);
        for_all_codes(set, (place)where, STRIPS_MAX, 75);
        for_all_codes(set, (place)where, 2, QUADS_MAX);
    }
}

/* Each limit in turn, with no score above the others: a limit equal to the largest score that it
 * bounds gives no hit, one below gives a hit. */
static void compare_at_limit(const kernels *set, int side, size_t i) {
    int32_t largest = INT32_MIN;
    for (size_t r = 0; r < given.row_count; r++)
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            if ((side == OF_ROWS ? r : c) == i && given.scores[r][c] > largest)
                largest = given.scores[r][c];
    uint32_t hits[ROWS_MAX];
    given.limits[side][i] = largest;
    assert_false(expected_hits(hits));
    compare_tile(set);
    given.limits[side][i] = largest - 1;
    assert_true(expected_hits(hits));
    compare_tile(set);
    given.limits[side][i] = INT32_MAX;
}

static void test_tile_limits(void **state) {
    static const size_t lengths[] = {1, 2, 7, 25, 75};
    const kernels *set = set_of(state);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        place_tile(AT_END, STRIPS_MAX, lengths[i]);
        fill_tile(RANDOM);
        solve_tile();
        for (size_t r = 0; r < given.row_count; r++)
            compare_at_limit(set, OF_ROWS, r);
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            compare_at_limit(set, OF_COLUMNS, c);
    }
}

/* ---- tiles of vectors ---- */

/* Products beyond 32 bits wrap: only the low 32 bits are promised. */
static void compare_dots(const kernels *set, place where, size_t strips, size_t pairs,
                         pattern kind) {
    const size_t rows = strips * TILE_ROWS;
    int16_t *a = guarded_at(&memory.codes[OF_ROWS], where, rows * 2 * pairs * sizeof *a);
    int16_t *b = guarded_at(&memory.codes[OF_COLUMNS], where, TILE_COLUMNS * 2 * pairs * sizeof *b);
    uint32_t *dots = guarded_at(&memory.dots, where, rows * TILE_COLUMNS * sizeof *dots);
    for (size_t i = 0; i < rows * 2 * pairs; i++)
        a[i] = kind == RANDOM ? random_value() : kind == ZERO ? 0 : KERNEL_VALUE_MAX;
    for (size_t i = 0; i < TILE_COLUMNS * 2 * pairs; i++)
        b[i] = kind == RANDOM ? random_value() : i % 2 == 0 ? KERNEL_VALUE_MAX : -KERNEL_VALUE_MAX;
    const tile_vectors tile = {.rows = a, .columns = b, .strips = strips, .pairs = pairs};
    memset(dots, 0xa5, rows * TILE_COLUMNS * sizeof *dots);
    set->tile_dots(&tile, dots);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < TILE_COLUMNS; c++) {
            int64_t sum = 0;
            for (size_t i = 0; i < 2 * pairs; i++)
                sum +=
                    (int64_t)a[((r / TILE_ROWS * pairs + i / 2) * TILE_ROWS + r % TILE_ROWS) * 2 +
                               i % 2] *
                    b[(i / 2 * TILE_COLUMNS + c) * 2 + i % 2];
            assert_int_equal(dots[r * TILE_COLUMNS + c], (uint32_t)(uint64_t)sum);
        }
}

static void test_tile_dots(void **state) {
    const kernels *set = set_of(state);
    static const pattern kinds[] = {RANDOM, OPPOSITE, ZERO};
    for (int where = 0; where < PLACES; where++)
        for (size_t kind = 0; kind < 3; kind++) {
            for (size_t pairs = 1; pairs <= 40; pairs++)
                compare_dots(set, (place)where, 1 + pairs % STRIPS_MAX, pairs, kinds[kind]);
            compare_dots(set, (place)where, STRIPS_MAX, 150, kinds[kind]);
            compare_dots(set, (place)where, 1, DIMENSION_MAX / 2, kinds[kind]);
        }
}

/* Squares, their neighbors, and random numbers, for every shift; the oracle searches in
 * integers. */
static void test_roots(void **state) {
    const kernels *set = set_of(state);
    enum { COUNT = 77 };
    for (unsigned up = 0; up <= 20; up += 2)
        for (int repeat = 0; repeat < 300; repeat++) {
            uint32_t *squares = guarded_at(&memory.a, AT_END, COUNT * sizeof *squares);
            for (size_t i = 0; i < COUNT; i++) {
                const uint32_t root = (uint32_t)random_below(65536);
                squares[i] = i % 3 == 0 ? root * root - (uint32_t)random_below(2)
                                        : (uint32_t)(random_u64() >> (32 + random_below(32)));
            }
            if (repeat == 0)
                squares[0] = UINT32_MAX;
            uint32_t *out = guarded_at(&memory.b, AT_END, COUNT * sizeof *out);
            set->roots_u32(squares, COUNT, up, out);
            for (size_t i = 0; i < COUNT; i++) {
                const uint64_t v = (uint64_t)squares[i] << up, root = out[i];
                assert_true(root * root >= v && (root == 0 || (root - 1) * (root - 1) < v));
            }
            set->roots_u32(squares, COUNT, up, squares);
            assert_memory_equal(squares, out, COUNT * sizeof *out);
        }
}

/* ---- values that only a damaged file holds ---- */

static void fill_damaged(int16_t *row, size_t elements, int16_t low) {
    for (size_t i = 0; i < elements; i++)
        row[i] = random_below(2) == 0 ? low : (int16_t)(random_u64() & 0xffff);
}

/* The results are unspecified; the sanitizers and guard pages do the checking. */
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
    }
}

#define TESTS_OF(set)                                                                              \
    {"kernels_" set "_l2", test_l2, NULL, NULL, set},                                              \
        {"kernels_" set "_l1", test_l1, NULL, NULL, set},                                          \
        {"kernels_" set "_linf", test_linf, NULL, NULL, set},                                      \
        {"kernels_" set "_dot", test_dot, NULL, NULL, set},                                        \
        {"kernels_" set "_tile", test_tile, NULL, NULL, set},                                      \
        {"kernels_" set "_tile_limits", test_tile_limits, NULL, NULL, set},                        \
        {"kernels_" set "_tile_dots", test_tile_dots, NULL, NULL, set},                            \
        {"kernels_" set "_roots", test_roots, NULL, NULL, set}, {                                  \
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
