/* test_metric.c - the exact arithmetic of distances.
 *
 * GMP and MPFR are the oracle: exact results are compared for equality, and results with a proved
 * error are compared with that error. The axioms of a metric, on which the privacy proof rests, are
 * checked for all triples of small sets on which wrong rounding shows; planted variants with wrong
 * rounding prove that it shows. */
#include "pseudo.h"
#include "space/grid.h"
#include "space/integer_math.h"
#include "space/kernels/kernels.h"
#include "space/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 200 }; /* precision of the oracle's numbers */

/* ------------------------------------------------------------- helpers -- */

static int64_t random_between(int64_t low, int64_t high) {
    return low + (int64_t)(random64() % (uint64_t)(high - low + 1));
}

/* A number of any length from 0 to 64 bits, all lengths equally likely. */
static uint64_t random_length64(void) {
    const unsigned bits = (unsigned)(random64() % 65);
    return bits == 0 ? 0 : random64() >> (64 - bits);
}

static void mpz_set_u128(mpz_t z, uint128 v) {
    const uint64_t words[2] = {(uint64_t)v, (uint64_t)(v >> 64)};
    mpz_import(z, 2, -1, sizeof *words, 0, 0, words);
}

static uint128 mpz_get_u128(const mpz_t z) {
    uint64_t words[2] = {0};
    assert_true(mpz_sizeinbase(z, 2) <= 128);
    mpz_export(words, NULL, -1, sizeof *words, 0, 0, z);
    return (uint128)words[1] << 64 | words[0];
}

/* The value of x, which must be an integer, or UINT32_MAX if it is larger. */
static tem_dist saturated(const mpfr_t x) {
    assert_true(mpfr_integer_p(x));
    return mpfr_cmp_ui(x, UINT32_MAX) > 0 ? UINT32_MAX : (tem_dist)mpfr_get_ui(x, MPFR_RNDN);
}

typedef struct points {
    space space;
    int16_t *rows;
} points;

static points points_make(tem_metric metric, uint32_t q, uint32_t dimension, uint32_t count) {
    points p = {.space = {.metric = metric_find(metric),
                          .count = count,
                          .dimension = dimension,
                          .row_elements = space_row_elements(dimension),
                          .step_log2 = q}};
    const size_t bytes = (size_t)count * p.space.row_elements * sizeof *p.rows;
    p.rows = aligned_alloc(64, bytes);
    assert_non_null(p.rows);
    memset(p.rows, 0, bytes);
    p.space.rows = p.rows;
    return p;
}

static void points_free(points *p) {
    free(p->rows);
}

static int16_t *point(const points *p, uint32_t id) {
    return p->rows + (size_t)id * p->space.row_elements;
}

static void random_row(int16_t *row, uint32_t dimension, int64_t largest) {
    for (uint32_t i = 0; i < dimension; i++)
        row[i] = (int16_t)random_between(-largest, largest);
}

/* --------------------------------------------------------------- roots -- */

static void check_root(uint128 v) {
    mpz_t z, root, rest;
    mpz_inits(z, root, rest, NULL);
    mpz_set_u128(z, v);
    mpz_sqrtrem(root, rest, z);
    const uint128 floor = mpz_get_u128(root), ceil = floor + (mpz_sgn(rest) != 0);
    assert_true(root_floor(v) == floor);
    if (ceil <= UINT64_MAX)
        assert_true(root_ceil(v) == ceil);
    if (v <= UINT64_MAX)
        assert_true(root_ceil64((uint64_t)v) == ceil);
    mpz_clears(z, root, rest, NULL);
}

static void test_roots_small(void **state) {
    (void)state;
    for (uint64_t v = 0; v < 300000; v++)
        check_root(v);
}

/* r * r and its neighbors, where a root that is off by one shows. */
static void check_square(uint64_t r) {
    const uint128 square = (uint128)r * r;
    assert_true(root_floor(square) == r && root_ceil(square) == r);
    assert_true(root_floor(square - 1) == r - 1 && root_ceil(square - 1) == (r == 1 ? 0 : r));
    assert_true(root_floor(square + 1) == r);
    if (r < UINT64_MAX)
        assert_true(root_ceil(square + 1) == r + 1);
    if (r > UINT32_MAX)
        return;
    const uint64_t low = (uint64_t)square;
    assert_true(root_ceil64(low) == r);
    assert_true(root_ceil64(low - 1) == (r == 1 ? 0 : r));
    assert_true(root_ceil64(low + 1) == r + 1);
}

static void test_roots_of_squares(void **state) {
    (void)state;
    for (uint64_t r = 1; r < 200000; r++) {
        check_square(r);
        check_square(((uint64_t)1 << 32) - r);
        check_square((random64() >> 32) + 1);
        check_square(random_length64() | 1);
    }
    for (unsigned bit = 2; bit < 64; bit++)
        for (uint64_t near = 0; near < 500; near++) {
            const uint64_t r = ((uint64_t)1 << bit) + near;
            check_square(r);
            check_square(r - 2 * near > 0 && near < r / 2 ? r - 2 * near : r);
        }
    for (uint64_t r = UINT64_MAX; r > UINT64_MAX - 500; r--)
        check_square(r);
}

static void test_roots_random(void **state) {
    (void)state;
    for (int i = 0; i < 200000; i++) {
        check_root(random64());
        check_root(random_length64());
        check_root((uint128)random64() << 64 | random64());
        check_root((uint128)random_length64() << 64 | random_length64());
    }
    check_root(UINT64_MAX);
    check_root((uint128)UINT64_MAX + 1);
    check_root(~(uint128)0);
    check_root((uint128)1 << 127);
}

/* ------------------------------------------------ squares to distances -- */

/* ceil(sqrt(square) * 2^(16-q)). At 200 bits the root is exact, or so far from an integer (at least
 * 2^-61) that the ceiling is right. */
static tem_dist square_oracle(uint32_t q, uint64_t square) {
    mpfr_t x;
    mpfr_init2(x, BITS);
    mpfr_set_uj(x, square, MPFR_RNDN);
    mpfr_sqrt(x, x, MPFR_RNDN);
    mpfr_mul_2si(x, x, 16 - (long)q, MPFR_RNDN);
    mpfr_ceil(x, x);
    const tem_dist d = saturated(x);
    mpfr_clear(x);
    return d;
}

static void check_square_distance(uint32_t q, uint64_t square) {
    assert_int_equal(space_distance_of_square(q, square), square_oracle(q, square));
}

/* floor(d^2 * 4^(q-16)), limited to 64 bits. */
static uint64_t distance_oracle(uint32_t q, tem_dist d) {
    mpz_t z;
    mpz_init_set_ui(z, d);
    mpz_mul(z, z, z);
    mpz_mul_2exp(z, z, 2 * q);
    mpz_fdiv_q_2exp(z, z, 32);
    const uint128 square = mpz_get_u128(z);
    mpz_clear(z);
    return square > UINT64_MAX ? UINT64_MAX : (uint64_t)square;
}

static void check_inverse(uint32_t q, tem_dist d) {
    const uint64_t last = space_square_of_distance(q, d);
    assert_true(last == distance_oracle(q, d));
    assert_true(space_distance_of_square(q, last) <= d);
    if (last < UINT64_MAX && d < UINT32_MAX)
        assert_true(space_distance_of_square(q, last + 1) > d);
    for (uint64_t near = 0; near < 3; near++) {
        check_square_distance(q, last - (last < near ? 0 : near));
        check_square_distance(q, last + (last > UINT64_MAX - near ? 0 : near));
    }
}

static void test_square_to_distance(void **state) {
    (void)state;
    for (uint32_t q = SPACE_STEP_LOG2_MIN; q <= SPACE_STEP_LOG2_MAX; q++) {
        for (uint64_t square = 0; square < 2000; square++)
            check_square_distance(q, square);
        for (int i = 0; i < 3000; i++)
            check_square_distance(q, random_length64());
        for (unsigned bit = 0; bit < 64; bit++) {
            check_square_distance(q, (uint64_t)1 << bit);
            check_square_distance(q, ((uint64_t)1 << bit) - 1);
        }
        check_square_distance(q, UINT64_MAX);
    }
}

static void test_distance_to_square(void **state) {
    (void)state;
    for (uint32_t q = SPACE_STEP_LOG2_MIN; q <= SPACE_STEP_LOG2_MAX; q++) {
        for (tem_dist d = 0; d < 300; d++) {
            check_inverse(q, d);
            check_inverse(q, UINT32_MAX - d);
            check_inverse(q, (tem_dist)random64());
            check_inverse(q, (tem_dist)(random64() >> 32 >> random64() % 32));
        }
    }
}

/* --------------------------------------------------------------- angles -- */

/* atan2(sqrt(aa bb - ab^2), ab), in radians. */
static void angle_oracle(mpfr_t angle, uint64_t aa, uint64_t bb, int64_t ab) {
    mpz_t radius2, cos2;
    mpz_inits(radius2, cos2, NULL);
    mpz_set_u128(radius2, (uint128)aa * bb);
    mpz_set_si(cos2, ab);
    mpz_mul(cos2, cos2, cos2);
    mpz_sub(radius2, radius2, cos2);
    assert_true(mpz_sgn(radius2) >= 0);
    mpfr_t x;
    mpfr_init2(x, BITS);
    mpfr_set_sj(x, ab, MPFR_RNDN);
    mpfr_set_z(angle, radius2, MPFR_RNDN);
    mpfr_sqrt(angle, angle, MPFR_RNDN);
    mpfr_atan2(angle, angle, x, MPFR_RNDN);
    mpfr_clear(x);
    mpz_clears(radius2, cos2, NULL);
}

/* Within 2^-40, as integer_math.h promises. */
static void check_products(uint64_t aa, uint64_t bb, int64_t ab) {
    mpfr_t angle, error;
    mpfr_inits2(BITS, angle, error, (mpfr_ptr)0);
    angle_oracle(angle, aa, bb, ab);
    mpfr_set_uj(error, angle_between(aa, bb, ab), MPFR_RNDN);
    mpfr_mul_2si(error, error, -ANGLE_FRACTION_BITS, MPFR_RNDN);
    mpfr_sub(error, error, angle, MPFR_RNDN);
    assert_true(mpfr_cmp_d(error, 0x1p-40) < 0 && mpfr_cmp_d(error, -0x1p-40) > 0);
    mpfr_clears(angle, error, (mpfr_ptr)0);
}

static int64_t product(const int16_t *a, const int16_t *b, uint32_t dimension) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < dimension; i++)
        sum += a[i] * b[i];
    return sum;
}

static void check_angle(const int16_t *a, const int16_t *b, uint32_t dimension) {
    const int64_t aa = product(a, a, dimension), bb = product(b, b, dimension);
    if (aa != 0 && bb != 0)
        check_products((uint64_t)aa, (uint64_t)bb, product(a, b, dimension));
}

static void test_angle_random(void **state) {
    (void)state;
    static const uint32_t dimensions[] = {1, 2, 3, 17, 300, 4096};
    int16_t a[4096], b[4096];
    for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++)
        for (int i = 0; i < (dimensions[d] > 300 ? 100 : 2000); i++) {
            random_row(a, dimensions[d], (int64_t)1 << i % 14);
            random_row(b, dimensions[d], (int64_t)1 << i / 14 % 14);
            check_angle(a, b, dimensions[d]);
        }
}

/* A multiple of a, with one element moved by a unit or not at all. */
static void test_angle_nearly_parallel(void **state) {
    (void)state;
    int16_t a[16], b[16];
    for (int i = 0; i < 20000; i++) {
        const uint32_t dimension = 1 + (uint32_t)i % 16;
        const int factor = 1 + i / 16 % 20;
        const int sign = i % 2 == 0 ? 1 : -1;
        random_row(a, dimension, i % 3 == 0 ? 3 : 16383 / factor - 1);
        for (uint32_t k = 0; k < dimension; k++)
            b[k] = (int16_t)(sign * factor * a[k]);
        b[random64() % dimension] += (int16_t)random_between(-1, 1);
        check_angle(a, b, dimension);
    }
}

static void test_angle_orthogonal(void **state) {
    (void)state;
    for (int i = 0; i < 3000; i++) {
        int16_t a[4], b[4];
        random_row(a, 4, (int64_t)1 << i % 14);
        const int16_t turned[4] = {(int16_t)-a[1], a[0], (int16_t)-a[3], a[2]};
        memcpy(b, turned, sizeof b);
        check_angle(a, b, 4);
        b[i % 4] += (int16_t)(i % 3 - 1);
        check_angle(a, b, 4);
    }
}

static void test_angle_tiny_and_largest(void **state) {
    (void)state;
    int16_t a[64] = {0}, b[64] = {0};
    for (unsigned m = 1; m < 729; m++) /* all of {-1, 0, 1}^3, twice */
        for (unsigned i = 0, rest = m; i < 6; i++, rest /= 3) {
            (i < 3 ? a : b)[i % 3] = (int16_t)((int)(rest % 3) - 1);
            if (i == 5)
                check_angle(a, b, 3);
        }
    static int16_t x[4096], y[4096];
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 4096; k++) {
            x[k] = random64() % 2 ? 16383 : -16383;
            y[k] = (int16_t)(random64() % 4096 < (uint64_t)(20 * i) ? -x[k] : x[k]);
        }
        check_angle(x, y, 4096);
    }
}

/* Products up to 2^62, which integer_math.h allows, beyond those of int16 rows. */
static void test_angle_any_products(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const uint64_t aa = (random_length64() >> 2) + 1, bb = (random_length64() >> 2) + 1;
        const int64_t most = (int64_t)root_floor((uint128)aa * bb);
        check_products(aa, bb, most);
        check_products(aa, bb, -most);
        check_products(aa, bb, 0);
        check_products(aa, bb, random_between(-most, most));
        check_products(aa, bb, most - (most > 0));
    }
}

static void test_angle_of_no_vectors(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++)
        assert_true(angle_between(random_length64(), random_length64(),
                                  (int64_t)random_length64()) < (uint64_t)1 << 51);
    assert_true(angle_between(UINT64_MAX, UINT64_MAX, INT64_MIN) < (uint64_t)1 << 51);
    assert_true(angle_between(0, 5, 0) < (uint64_t)1 << 51);
}

/* ------------------------------------------------- distances of vectors -- */

/* The exact length of x - y in the metric's norm, in units; its square if euclidean. */
static uint64_t length_oracle(const points *p, uint32_t a, uint32_t b) {
    const int16_t *x = point(p, a), *y = point(p, b);
    uint64_t sum = 0, largest = 0;
    for (uint32_t i = 0; i < p->space.dimension; i++) {
        const uint64_t size = (uint64_t)llabs((long long)x[i] - y[i]);
        sum += p->space.metric->id == TEM_EUCLIDEAN ? size * size : size;
        largest = size > largest ? size : largest;
    }
    return p->space.metric->id == TEM_LINF ? largest : sum;
}

static tem_dist length_to_distance(uint32_t q, uint64_t units) {
    mpfr_t x;
    mpfr_init2(x, BITS);
    mpfr_set_uj(x, units, MPFR_RNDN);
    mpfr_mul_2si(x, x, 16 - (long)q, MPFR_RNDN);
    mpfr_ceil(x, x);
    const tem_dist d = saturated(x);
    mpfr_clear(x);
    return d;
}

/* ceil(angle + shift) + 1 in steps of 2^-16. */
static tem_dist angle_steps(const mpfr_t angle, double shift) {
    mpfr_t x;
    mpfr_init2(x, BITS);
    mpfr_mul_2si(x, angle, 16, MPFR_RNDN);
    mpfr_add_d(x, x, shift, MPFR_RNDN);
    if (mpfr_sgn(x) < 0)
        mpfr_set_zero(x, 1);
    mpfr_ceil(x, x);
    const tem_dist d = saturated(x) + 1;
    mpfr_clear(x);
    return d;
}

/* The rule for angles: 0 between equal rows, else ceil(t) + 1 with t off by at most
 * 2^-40 radians, 2^-24 steps. */
static void check_angular(const points *p, uint32_t a, uint32_t b) {
    const uint32_t dimension = p->space.dimension;
    const int16_t *x = point(p, a), *y = point(p, b);
    const tem_dist d = space_distance(&p->space, a, b);
    if (memcmp(x, y, dimension * sizeof *x) == 0) {
        assert_int_equal(d, 0);
        return;
    }
    mpfr_t angle;
    mpfr_init2(angle, BITS);
    angle_oracle(angle, (uint64_t)product(x, x, dimension), (uint64_t)product(y, y, dimension),
                 product(x, y, dimension));
    assert_in_range(d, angle_steps(angle, -0x1p-24), angle_steps(angle, 0x1p-24));
    mpfr_clear(angle);
}

static void check_distance(const points *p, uint32_t a, uint32_t b) {
    const uint32_t q = p->space.step_log2;
    if (p->space.metric->id == TEM_ANGULAR) {
        check_angular(p, a, b);
        return;
    }
    const uint64_t length = length_oracle(p, a, b);
    assert_int_equal(space_distance(&p->space, a, b), p->space.metric->id == TEM_EUCLIDEAN
                                                          ? square_oracle(q, length)
                                                          : length_to_distance(q, length));
}

static void check_all_pairs(const points *p) {
    for (uint32_t a = 0; a < p->space.count; a++)
        for (uint32_t b = 0; b < p->space.count; b++)
            check_distance(p, a, b);
}

/* Random rows of several sizes. The last rows are equal to the first, one unit from it, and
 * opposite to it. No row is zero, for angles. */
static points mixed_points(tem_metric metric, uint32_t q, uint32_t dimension) {
    enum { COUNT = 14 };
    points p = points_make(metric, q, dimension, COUNT);
    for (uint32_t id = 0; id < COUNT - 3; id++) {
        random_row(point(&p, id), dimension, id % 3 == 0 ? 2 : id % 3 == 1 ? 300 : 16383);
        if (point(&p, id)[0] == 0)
            point(&p, id)[0] = 1;
    }
    for (uint32_t i = 0; i < dimension; i++) {
        const int16_t x = point(&p, 1)[i];
        point(&p, COUNT - 3)[i] = x;
        point(&p, COUNT - 2)[i] = i == 0 ? (int16_t)(x == 1 ? 2 : x - 1) : x;
        point(&p, COUNT - 1)[i] = (int16_t)-x;
    }
    if (point(&p, COUNT - 2)[0] == 0)
        point(&p, COUNT - 2)[0] = 5;
    return p;
}

static const tem_metric vector_metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF};
enum { VECTOR_METRICS = 4 };

static void test_distances(void **state) {
    (void)state;
    static const uint32_t dimensions[] = {1, 2, 3, 31, 32, 33, 100, 300, 4096};
    static const uint32_t steps[] = {4, 5, 11, 15, 16, 17, 18, 23, 30};
    for (size_t m = 0; m < VECTOR_METRICS; m++)
        for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++)
            for (size_t q = 0; q < sizeof steps / sizeof *steps; q++) {
                points p = mixed_points(vector_metrics[m], steps[q], dimensions[d]);
                check_all_pairs(&p);
                points_free(&p);
            }
}

/* Rows of +-16383 in the largest dimension: the largest possible sums. */
static void test_distances_largest(void **state) {
    (void)state;
    for (size_t m = 0; m < VECTOR_METRICS; m++)
        for (uint32_t q = SPACE_STEP_LOG2_MIN; q <= SPACE_STEP_LOG2_MAX; q++) {
            points p = points_make(vector_metrics[m], q, 4096, 2);
            for (int i = 0; i < 4096; i++)
                point(&p, 1)[i] = (int16_t) - (point(&p, 0)[i] = i % 3 == 0 ? -16383 : 16383);
            check_all_pairs(&p);
            points_free(&p);
        }
}

/* --------------------------------------------------------------- axioms -- */

typedef tem_dist distance_rule(const points *p, uint32_t a, uint32_t b);

static tem_dist right_rule(const points *p, uint32_t a, uint32_t b) {
    return space_distance(&p->space, a, b);
}

static tem_dist *distance_table(const points *p, distance_rule *rule) {
    const uint32_t n = p->space.count;
    tem_dist *table = malloc((size_t)n * n * sizeof *table);
    assert_non_null(table);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            table[(size_t)a * n + b] = rule(p, a, b);
    return table;
}

/* Counts ordered triples with d(a,c) > d(a,b) + d(b,c). */
static uint64_t broken_triangles(const tem_dist *table, uint32_t n) {
    uint64_t broken = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            for (uint32_t c = 0; c < n; c++)
                broken += table[(size_t)a * n + c] >
                          (uint64_t)table[(size_t)a * n + b] + table[(size_t)b * n + c];
    return broken;
}

static uint64_t broken_by(const points *p, distance_rule *rule) {
    tem_dist *table = distance_table(p, rule);
    const uint64_t broken = broken_triangles(table, p->space.count);
    free(table);
    return broken;
}

static void check_metric(const points *p) {
    const uint32_t n = p->space.count;
    tem_dist *table = distance_table(p, right_rule);
    for (uint32_t a = 0; a < n; a++) {
        assert_int_equal(table[(size_t)a * n + a], 0);
        for (uint32_t b = 0; b < a; b++) {
            assert_int_equal(table[(size_t)a * n + b], table[(size_t)b * n + a]);
            if (p->rows != NULL) {
                const bool same =
                    memcmp(point(p, a), point(p, b), p->space.row_elements * sizeof *p->rows) == 0;
                assert_int_equal(table[(size_t)a * n + b] == 0, same);
            }
        }
    }
    assert_true(broken_triangles(table, n) == 0);
    free(table);
}

/* The same distances given as a matrix. */
static void check_as_matrix(const points *p) {
    const uint32_t n = p->space.count;
    uint32_t *matrix = malloc(space_pair_count(n) * sizeof *matrix);
    assert_non_null(matrix);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < a; b++)
            matrix[space_pair_index(b, a)] = space_distance(&p->space, a, b);
    const points given = {.space = {.metric = &metric_matrix, .count = n, .matrix = matrix}};
    check_metric(&given);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            assert_int_equal(space_distance(&given.space, a, b), space_distance(&p->space, a, b));
    uint64_t checked = 0;
    bool exhaustive = false;
    assert_int_equal(space_check_matrix(&given.space, &checked, &exhaustive, NULL), TEM_OK);
    free(matrix);
}

/* In every metric, at steps so coarse and so fine that rounding shows. */
static void check_everywhere(points *p) {
    static const uint32_t steps[] = {4, 11, 15, 16, 17, 18, 20, 25, 30};
    for (size_t m = 0; m < VECTOR_METRICS; m++)
        for (size_t q = 0; q < sizeof steps / sizeof *steps; q++) {
            p->space.metric = metric_find(vector_metrics[m]);
            p->space.step_log2 = steps[q];
            if (p->space.metric->id == TEM_ANGULAR && (q > 0 || space_check_range(&p->space, NULL)))
                continue; /* angles have no step */
            check_metric(p);
            if (p->space.count < 60)
                check_as_matrix(p);
        }
}

/* All points of {0, ..., side - 1}^dimension, moved by `origin`. */
static points grid_points(uint32_t dimension, uint32_t side, int origin) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < dimension; i++)
        count *= side;
    points p = points_make(TEM_EUCLIDEAN, 16, dimension, count);
    for (uint32_t id = 0; id < count; id++)
        for (uint32_t i = 0, rest = id; i < dimension; i++, rest /= side)
            point(&p, id)[i] = (int16_t)((int)(rest % side) + origin);
    return p;
}

static void test_axioms_on_grids(void **state) {
    (void)state;
    static const struct {
        uint32_t dimension, side;
        int origin;
    } sets[] = {{1, 41, -20},   {1, 41, 1}, {1, 41, 16343}, {2, 10, 1},
                {2, 7, -16383}, {3, 4, 1},  {3, 5, -2}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        points p = grid_points(sets[i].dimension, sets[i].side, sets[i].origin);
        check_everywhere(&p);
        points_free(&p);
    }
}

/* Multiples of one vector, from the `from`-th on, every fourth equal to the one before it. All
 * their triangles are degenerate, in lengths and in angles. */
static points collinear_points(const int16_t direction[3], int from) {
    points p = points_make(TEM_EUCLIDEAN, 16, 3, 60);
    for (int id = 0; id < 60; id++)
        for (int i = 0; i < 3; i++)
            point(&p, (uint32_t)id)[i] = (int16_t)(direction[i] * (from + id - id % 4 / 3));
    return p;
}

static const int16_t directions[][3] = {{1, 0, 0}, {1, 1, 0},  {1, 1, 1},      {2, -1, 1},
                                        {3, 4, 0}, {7, -5, 3}, {-100, 31, 77}, {273, 271, -269}};
enum { DIRECTIONS = sizeof directions / sizeof *directions };

static void test_axioms_on_lines(void **state) {
    (void)state;
    for (size_t i = 0; i < DIRECTIONS; i++)
        for (int from = -30; from <= 1; from += 31) {
            points p = collinear_points(directions[i], from);
            check_everywhere(&p);
            points_free(&p);
        }
}

/* Vectors in a plane, turned by equal angles that add up: collinear for the angular metric. Every
 * direction comes with its multiples, at angle 0 and distance 1 or 2. */
static points turned_points(double from, double by, double radius) {
    points p = points_make(TEM_ANGULAR, 14, 2, 90);
    for (uint32_t id = 0; id < 90; id++) {
        const double angle = from + by * (double)(id / 3);
        for (int i = 0; i < 2; i++)
            point(&p, id)[i] =
                (int16_t)(lround(radius * (i == 0 ? cos(angle) : sin(angle))) * (long)(id % 3 + 1));
    }
    return p;
}

static void test_axioms_on_turns(void **state) {
    (void)state;
    static const double turns[] = {0.001, 0.0100001, 0.1, 0.20943951023931953};
    static const double radii[] = {2, 17, 400, 5460};
    for (size_t t = 0; t < 4; t++)
        for (size_t r = 0; r < 4; r++) {
            points p = turned_points(0.1, turns[t], radii[r]);
            check_metric(&p);
            check_as_matrix(&p);
            points_free(&p);
        }
    for (int side = 5; side <= 13; side += 4) { /* all directions with small numbers */
        points p = grid_points(2, (uint32_t)side, -(side / 2));
        point(&p, p.space.count / 2)[0] = 16383; /* in place of the zero vector */
        p.space.metric = &metric_angular;
        check_metric(&p);
        points_free(&p);
    }
}

static void test_axioms_on_large_rows(void **state) {
    (void)state;
    static const uint32_t dimensions[] = {1, 2, 3, 300, 1000};
    for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++) {
        points p = points_make(TEM_EUCLIDEAN, 16, dimensions[d], 50);
        for (uint32_t id = 0; id < 50; id++)
            for (uint32_t i = 0; i < dimensions[d]; i++)
                point(&p, id)[i] = (int16_t)(random64() % 2 ? 16383 : -16383);
        check_everywhere(&p);
        points_free(&p);
    }
}

/* Wrong rules. Each is what one would write without the theorem. */
static tem_dist floor_rule(const points *p, uint32_t a, uint32_t b) {
    return (tem_dist)floor(sqrt((double)length_oracle(p, a, b)) *
                           ldexp(1, 16 - (int)p->space.step_log2));
}

static tem_dist nearest_rule(const points *p, uint32_t a, uint32_t b) {
    return (tem_dist)nearbyint(sqrt((double)length_oracle(p, a, b)) *
                               ldexp(1, 16 - (int)p->space.step_log2));
}

/* An angle within 1/3 step, as the rule demands, but with a different error for each pair. */
static double inexact_angle(const points *p, uint32_t a, uint32_t b) {
    const int16_t *x = point(p, a), *y = point(p, b);
    const uint64_t aa = (uint64_t)product(x, x, 2), bb = (uint64_t)product(y, y, 2);
    const double steps = ldexp((double)angle_between(aa, bb, product(x, y, 2)), 16 - 48);
    const double wrong = ((double)((aa ^ bb) * 2654435761u % 1000) - 499.5) / 1500;
    return fmax(0, steps + wrong);
}

static bool equal_rows(const points *p, uint32_t a, uint32_t b) {
    return memcmp(point(p, a), point(p, b), 2 * sizeof(int16_t)) == 0;
}

static tem_dist ceil_rule(const points *p, uint32_t a, uint32_t b) {
    return equal_rows(p, a, b) ? 0 : (tem_dist)ceil(inexact_angle(p, a, b));
}

static tem_dist ceil_plus_one_rule(const points *p, uint32_t a, uint32_t b) {
    return equal_rows(p, a, b) ? 0 : (tem_dist)ceil(inexact_angle(p, a, b)) + 1;
}

/* The result of libm: acos is ill-conditioned at 0, so equal directions are 0 or one step apart,
 * depending on the last bit. */
static tem_dist acos_rule(const points *p, uint32_t a, uint32_t b) {
    const int16_t *x = point(p, a), *y = point(p, b);
    const double cosine = (double)product(x, y, 2) /
                          (sqrt((double)product(x, x, 2)) * sqrt((double)product(y, y, 2)));
    return equal_rows(p, a, b) ? 0 : (tem_dist)ceil(acos(fmin(1, fmax(-1, cosine))) * 65536);
}

static void test_planted_lengths(void **state) {
    (void)state;
    for (size_t i = 0; i < DIRECTIONS; i++)
        for (uint32_t q = 15; q <= 18; q++) {
            points p = collinear_points(directions[i], 0);
            p.space.step_log2 = q;
            assert_true(broken_by(&p, right_rule) == 0);
            const double unit =
                ldexp(sqrt((double)product(directions[i], directions[i], 3)), 16 - (int)q);
            if (unit != floor(unit)) { /* otherwise nothing is rounded */
                assert_true(broken_by(&p, floor_rule) > 0);
                assert_true(broken_by(&p, nearest_rule) > 0);
            }
            points_free(&p);
        }
}

static void test_planted_angles(void **state) {
    (void)state;
    points p = turned_points(0.1, 0.01, 5460);
    assert_true(broken_by(&p, right_rule) == 0);
    assert_true(broken_by(&p, ceil_rule) > 0);
    assert_true(broken_by(&p, acos_rule) > 0);
    assert_true(broken_by(&p, ceil_plus_one_rule) == 0);
    points_free(&p);
}

static void test_pair_index(void **state) {
    (void)state;
    uint64_t next = 0;
    for (uint32_t a = 0; a < 300; a++)
        for (uint32_t b = 0; b < a; b++, next++) {
            assert_true(space_pair_index(a, b) == next);
            assert_true(space_pair_index(b, a) == next);
        }
    assert_true(space_pair_count(300) == next);
    assert_true(space_pair_count(TEM_WORDS_MAX) ==
                (uint64_t)TEM_WORDS_MAX * (TEM_WORDS_MAX - 1) / 2);
}

/* ----------------------------------------------------------------- grid -- */

typedef struct rounded {
    points points;
    tem_dist deviation;
} rounded;

static tem_status round_values(const float *values, uint32_t count, uint32_t dimension,
                               tem_metric metric, unsigned threads, rounded *r, tem_error *error) {
    const tem_run run = {.threads = threads};
    r->points = points_make(metric, 77, dimension, count);
    r->deviation = 77;
    memset(r->points.rows, 0x5a,
           (size_t)count * r->points.space.row_elements * sizeof *r->points.rows);
    return grid_round(values, count, dimension, metric_find(metric), &run, r->points.rows,
                      &r->points.space.step_log2, &r->deviation, error);
}

static void check_padding(const points *p) {
    for (uint32_t id = 0; id < p->space.count; id++)
        for (uint32_t i = p->space.dimension; i < p->space.row_elements; i++)
            assert_int_equal(point(p, id)[i], 0);
    assert_int_equal(space_check_rows(&p->space, NULL), TEM_OK);
}

/* The largest value decides; 0 if it must be refused. */
static uint32_t step_for(float largest, tem_metric metric) {
    float values[6] = {0, 0.5f * largest, 0, 0, 0, largest};
    rounded r;
    tem_error error = {0};
    const tem_status status = round_values(values, 3, 2, metric, 1, &r, &error);
    const uint32_t q = r.points.space.step_log2;
    if (status == TEM_OK) {
        assert_int_equal(point(&r.points, 2)[1], (int)nearbyint(ldexp(largest, (int)q)));
        check_padding(&r.points);
    } else {
        assert_int_equal(status, TEM_ERR_RANGE);
        assert_int_equal(error.status, TEM_ERR_RANGE);
        assert_true(q == 77 && r.deviation == 77);
    }
    points_free(&r.points);
    return status == TEM_OK ? q : 0;
}

static void test_grid_step(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_L1, TEM_LINF};
    for (size_t m = 0; m < 3; m++)
        for (uint32_t q = SPACE_STEP_LOG2_MIN; q <= SPACE_STEP_LOG2_MAX; q++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const float unit = ldexpf((float)sign, -(int)q);
                const uint32_t coarser = q == SPACE_STEP_LOG2_MIN ? 0 : q - 1;
                assert_int_equal(step_for(16383 * unit, metrics[m]), q);
                assert_int_equal(step_for(16383.4375f * unit, metrics[m]), q);
                assert_int_equal(step_for(16383.5f * unit, metrics[m]), coarser);
                assert_int_equal(step_for(16384 * unit, metrics[m]), coarser);
                assert_int_equal(step_for(8192 * unit, metrics[m]), q);
            }
    assert_int_equal(step_for(0, TEM_EUCLIDEAN), 30);
    assert_int_equal(step_for(1e-40f, TEM_EUCLIDEAN), 30);
    assert_int_equal(step_for(1023.9f, TEM_EUCLIDEAN), 4);
    assert_int_equal(step_for(1023.97f, TEM_EUCLIDEAN), 0);
    assert_int_equal(step_for(3e38f, TEM_EUCLIDEAN), 0);
}

static void test_grid_ties_to_even(void **state) {
    (void)state;
    for (uint32_t q = SPACE_STEP_LOG2_MIN; q <= SPACE_STEP_LOG2_MAX; q++) {
        enum { COUNT = 200 };
        float values[2 * COUNT] = {ldexpf(16383, -(int)q)};
        for (int id = 1; id < COUNT; id++) {
            values[2 * id] = ldexpf((float)(id - COUNT / 2) + 0.5f, -(int)q);
            values[2 * id + 1] = ldexpf((float)id + 0.49f, -(int)q);
        }
        rounded r;
        assert_int_equal(round_values(values, COUNT, 2, TEM_EUCLIDEAN, 1, &r, NULL), TEM_OK);
        assert_int_equal(r.points.space.step_log2, q);
        for (int id = 1; id < COUNT; id++) {
            const int below = id - COUNT / 2;
            assert_int_equal(point(&r.points, (uint32_t)id)[0], below + (below % 2 != 0));
            assert_int_equal(point(&r.points, (uint32_t)id)[1], id);
        }
        points_free(&r.points);
    }
}

/* The distance of two float vectors in steps, at 200 bits. For angles it uses the scalar products,
 * which are sums of exact products. */
static void product_of_floats(mpfr_t sum, const float *x, const float *y, uint32_t dimension) {
    mpfr_t term;
    mpfr_init2(term, BITS);
    mpfr_set_zero(sum, 1);
    for (uint32_t i = 0; i < dimension; i++) {
        mpfr_set_d(term, (double)x[i] * y[i], MPFR_RNDN); /* 48 bits: exact */
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_clear(term);
}

static void angle_of_floats(mpfr_t angle, const float *x, const float *y, uint32_t dimension) {
    mpfr_t xx, yy, xy;
    mpfr_inits2(2 * BITS, xx, yy, xy, (mpfr_ptr)0);
    product_of_floats(xx, x, x, dimension);
    product_of_floats(yy, y, y, dimension);
    product_of_floats(xy, x, y, dimension);
    mpfr_mul(xx, xx, yy, MPFR_RNDN);
    mpfr_mul(yy, xy, xy, MPFR_RNDN);
    mpfr_sub(xx, xx, yy, MPFR_RNDN);
    if (mpfr_sgn(xx) < 0)
        mpfr_set_zero(xx, 1);
    mpfr_sqrt(xx, xx, MPFR_RNDN);
    mpfr_atan2(angle, xx, xy, MPFR_RNDN);
    mpfr_clears(xx, yy, xy, (mpfr_ptr)0);
}

static void length_of_floats(mpfr_t length, tem_metric metric, const float *x, const float *y,
                             uint32_t dimension) {
    mpfr_t size;
    mpfr_init2(size, BITS);
    mpfr_set_zero(length, 1);
    for (uint32_t i = 0; i < dimension; i++) {
        mpfr_set_d(size, x[i], MPFR_RNDN);
        mpfr_sub_d(size, size, y[i], MPFR_RNDN);
        mpfr_abs(size, size, MPFR_RNDN);
        if (metric == TEM_EUCLIDEAN)
            mpfr_sqr(size, size, MPFR_RNDN);
        if (metric != TEM_LINF)
            mpfr_add(length, length, size, MPFR_RNDN);
        else
            mpfr_max(length, length, size, MPFR_RNDN);
    }
    if (metric == TEM_EUCLIDEAN)
        mpfr_sqrt(length, length, MPFR_RNDN);
    mpfr_clear(size);
}

/* |distance on the grid - distance of the values|, in steps. */
static double deviation_of_pair(const rounded *r, const float *values, uint32_t a, uint32_t b) {
    const uint32_t dimension = r->points.space.dimension;
    const float *x = values + (size_t)a * dimension, *y = values + (size_t)b * dimension;
    mpfr_t d;
    mpfr_init2(d, BITS);
    if (r->points.space.metric->id == TEM_ANGULAR)
        angle_of_floats(d, x, y, dimension);
    else
        length_of_floats(d, r->points.space.metric->id, x, y, dimension);
    mpfr_mul_2ui(d, d, 16, MPFR_RNDN);
    mpfr_ui_sub(d, space_distance(&r->points.space, a, b), d, MPFR_RNDN);
    const double deviation = fabs(mpfr_get_d(d, MPFR_RNDN));
    mpfr_clear(d);
    return deviation;
}

/* Half a unit in each element at both ends, plus what the rules for distances add. */
static double most_deviation(const rounded *r) {
    const double elements = r->points.space.dimension;
    const double unit = ldexp(1, 16 - (int)r->points.space.step_log2);
    switch (r->points.space.metric->id) {
    case TEM_L1:
        return elements * unit + 3;
    case TEM_LINF:
        return unit + 3;
    case TEM_ANGULAR:
        return 1.58 * sqrt(elements) * unit + 4;
    default:
        return sqrt(elements) * unit + 3;
    }
}

static void check_deviation(const float *values, uint32_t count, uint32_t dimension,
                            tem_metric metric, double *closest) {
    rounded r;
    assert_int_equal(round_values(values, count, dimension, metric, 1, &r, NULL), TEM_OK);
    check_padding(&r.points);
    assert_true(r.deviation <= most_deviation(&r));
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < a; b++) {
            const double found = deviation_of_pair(&r, values, a, b);
            assert_true(found <= r.deviation);
            *closest = fmax(*closest, found / r.deviation);
        }
    points_free(&r.points);
}

static void test_grid_deviation(void **state) {
    (void)state;
    static const uint32_t dimensions[] = {1, 2, 7, 33};
    static const float sizes[] = {1e-6f, 0.01f, 1, 37, 1000};
    enum { COUNT = 24 };
    float values[COUNT * 33];
    for (size_t m = 0; m < VECTOR_METRICS; m++) {
        double closest = 0;
        for (size_t d = 0; d < 4; d++)
            for (size_t s = 0; s < 5; s++) {
                for (size_t i = 0; i < COUNT * dimensions[d]; i++)
                    values[i] = sizes[s] * (float)random_between(-9999991, 9999991) / 1e7f;
                check_deviation(values, COUNT, dimensions[d], vector_metrics[m], &closest);
            }
        /* A bound that is never approached would prove nothing. */
        assert_true(closest > 0.5);
    }
}

/* 0.5 goes to 0 and 1.5 to 2: both ends move by half a unit, away from each other. */
static void test_grid_deviation_attained(void **state) {
    (void)state;
    for (size_t m = 0; m < VECTOR_METRICS; m++) {
        if (vector_metrics[m] == TEM_ANGULAR)
            continue;
        float values[3 * 9] = {0};
        for (int i = 0; i < 9; i++) {
            values[i] = i == 0 ? 1023.9375f : 0;
            values[9 + i] = 0.5f / 16;
            values[18 + i] = 1.5f / 16;
        }
        double closest = 0;
        check_deviation(values, 3, 9, vector_metrics[m], &closest);
        assert_true(closest > 0.999);
    }
}

static void test_grid_angular(void **state) {
    (void)state;
    enum { COUNT = 2500, DIMENSION = 5 };
    static float values[COUNT * DIMENSION];
    for (size_t i = 0; i < COUNT * DIMENSION; i++)
        values[i] = (float)random_between(1, 1000) * (i / DIMENSION % 2 == 0 ? 1e-20f : 1e15f);
    rounded r;
    assert_int_equal(round_values(values, COUNT, DIMENSION, TEM_ANGULAR, 2, &r, NULL), TEM_OK);
    assert_in_range(r.points.space.step_log2, 13, 15);
    for (uint32_t id = 0; id < COUNT; id++) { /* scaled to length 1 */
        const double length = sqrt((double)product(point(&r.points, id), point(&r.points, id), 5));
        assert_true(fabs(ldexp(length, -(int)r.points.space.step_log2) - 1) < 1e-3);
    }
    points_free(&r.points);
    memset(values + (COUNT - 1) * DIMENSION, 0, DIMENSION * sizeof *values);
    tem_error error = {0};
    assert_int_equal(round_values(values, COUNT, DIMENSION, TEM_ANGULAR, 2, &r, &error),
                     TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "zero"));
    assert_int_equal(r.points.space.step_log2, 77);
    points_free(&r.points);
}

static int stop_at_once(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context;
    assert_string_equal(stage, "rounding");
    assert_true(done <= total);
    return 1;
}

/* Any number of threads gives the same rows; the largest value and error may be in any item; the
 * callback can stop the rounding. */
static void test_grid_threads(void **state) {
    (void)state;
    enum { COUNT = 5000, DIMENSION = 3 };
    static float values[COUNT * DIMENSION];
    for (size_t i = 0; i < COUNT * DIMENSION; i++)
        values[i] = (float)random_between(-64, 64) / 16;
    values[3 * 1500 + 1] = -1000.03f; /* neither in the first item nor in the last */
    rounded first;
    assert_int_equal(round_values(values, COUNT, DIMENSION, TEM_EUCLIDEAN, 1, &first, NULL),
                     TEM_OK);
    assert_int_equal(first.points.space.step_log2, 4);
    assert_true(deviation_of_pair(&first, values, 0, 1500) <= first.deviation);
    assert_true(first.deviation > 1000);
    for (unsigned threads = 2; threads <= 8; threads += 6) {
        rounded again;
        assert_int_equal(
            round_values(values, COUNT, DIMENSION, TEM_EUCLIDEAN, threads, &again, NULL), TEM_OK);
        assert_int_equal(again.deviation, first.deviation);
        assert_memory_equal(again.points.rows, first.points.rows,
                            (size_t)COUNT * again.points.space.row_elements * 2);
        points_free(&again.points);
    }
    const tem_run run = {.threads = 2, .progress = stop_at_once};
    uint32_t q = 77;
    tem_dist deviation = 77;
    assert_int_equal(grid_round(values, COUNT, DIMENSION, &metric_euclidean, &run,
                                first.points.rows, &q, &deviation, NULL),
                     TEM_ERR_CANCELLED);
    assert_true(q == 77 && deviation == 77);
    points_free(&first.points);
}

/* ---------------------------------------------------------- the checks -- */

/* Whether a space whose second-last row is all 16383 is refused. */
static tem_status range_of(tem_metric metric, uint32_t q, uint32_t dimension) {
    points p = points_make(metric, q, dimension, 4);
    for (uint32_t i = 0; i < dimension; i++) {
        point(&p, 0)[i] = point(&p, 3)[i] = 1;
        point(&p, 1)[i] = -16383;
        point(&p, 2)[i] = 16383;
    }
    tem_error error = {0};
    const tem_status status = space_check_range(&p.space, &error);
    assert_int_equal(error.status, status);
    if (status == TEM_OK)
        assert_true(space_distance(&p.space, 1, 2) < UINT32_MAX);
    points_free(&p);
    return status;
}

static void test_check_range(void **state) {
    (void)state;
    /* 2 * 16383 * sqrt(1024) * 2^12 is just below 2^32 */
    assert_int_equal(range_of(TEM_EUCLIDEAN, 4, 1024), TEM_OK);
    assert_int_equal(range_of(TEM_EUCLIDEAN, 4, 1025), TEM_ERR_RANGE);
    assert_int_equal(range_of(TEM_EUCLIDEAN, 5, 4096), TEM_OK);
    assert_int_equal(range_of(TEM_EUCLIDEAN, 30, 4096), TEM_OK);
    assert_int_equal(range_of(TEM_L1, 4, 32), TEM_OK);
    assert_int_equal(range_of(TEM_L1, 4, 33), TEM_ERR_RANGE);
    assert_int_equal(range_of(TEM_L1, 5, 64), TEM_OK);
    assert_int_equal(range_of(TEM_L1, 5, 65), TEM_ERR_RANGE);
    assert_int_equal(range_of(TEM_L1, 17, 4096), TEM_OK);
    assert_int_equal(range_of(TEM_LINF, 4, 4096), TEM_OK);
    assert_int_equal(range_of(TEM_ANGULAR, 4, 4096), TEM_OK);
    points p = points_make(TEM_ANGULAR, 14, 40, 3);
    point(&p, 0)[39] = point(&p, 1)[0] = 1;
    assert_int_equal(space_check_range(&p.space, NULL), TEM_ERR_RANGE);
    point(&p, 2)[39] = -1;
    assert_int_equal(space_check_range(&p.space, NULL), TEM_OK);
    points_free(&p);
}

static void test_check_rows(void **state) {
    (void)state;
    points p = points_make(TEM_EUCLIDEAN, 14, 33, 5);
    for (uint32_t id = 0; id < 5; id++)
        random_row(point(&p, id), 33, 16383);
    point(&p, 1)[5] = 16383;
    point(&p, 2)[32] = -16383;
    assert_int_equal(space_check_rows(&p.space, NULL), TEM_OK);
    static const struct {
        uint32_t id, element;
        int16_t value;
    } wrong[] = {{0, 0, 16384},     {4, 32, -16384}, {3, 7, INT16_MIN},
                 {2, 8, INT16_MAX}, {0, 33, 1},      {4, 63, -1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int16_t *place = point(&p, wrong[i].id) + wrong[i].element;
        const int16_t right = *place;
        *place = wrong[i].value;
        assert_int_equal(space_check_rows(&p.space, NULL), TEM_ERR_DAMAGED);
        *place = right;
    }
    assert_int_equal(space_check_rows(&p.space, NULL), TEM_OK);
    points_free(&p);
}

/* |a - b| * 1000 + 1: a metric with a slack of one step in each triangle. */
static points matrix_points(uint32_t count, uint32_t **matrix) {
    *matrix = malloc(space_pair_count(count) * sizeof **matrix);
    assert_non_null(*matrix);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < a; b++)
            (*matrix)[space_pair_index(a, b)] = (a - b) * 1000 + 1;
    return (points){.space = {.metric = &metric_matrix, .count = count, .matrix = *matrix}};
}

static tem_status check_matrix(const points *p, uint64_t expected, bool exhaustive) {
    uint64_t checked = 0;
    bool all = !exhaustive;
    tem_error error = {0};
    const tem_status status = space_check_matrix(&p->space, &checked, &all, &error);
    assert_int_equal(all, exhaustive);
    assert_int_equal(error.status, status);
    if (status == TEM_OK)
        assert_true(checked == expected);
    else
        assert_true(checked < expected);
    return status;
}

static void test_check_matrix(void **state) {
    (void)state;
    static const uint32_t counts[] = {2, 3, 50, 400};
    uint32_t *matrix = NULL;
    for (size_t i = 0; i < 4; i++) {
        const uint64_t n = counts[i];
        points p = matrix_points(counts[i], &matrix);
        assert_int_equal(check_matrix(&p, n * (n - 1) * (n - 2) / 6, true), TEM_OK);
        free(matrix);
    }
    points p = matrix_points(401, &matrix);
    assert_int_equal(check_matrix(&p, 4000000, false), TEM_OK);
    free(matrix);
}

/* Any one distance that is one step too long or too short. */
static void test_check_matrix_planted(void **state) {
    (void)state;
    static const uint32_t pairs[][2] = {{0, 49}, {0, 2}, {47, 49}, {20, 33}, {49, 1}};
    enum { WIDEST = 0 };
    uint32_t *matrix = NULL;
    points p = matrix_points(50, &matrix);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint32_t *d = &matrix[space_pair_index(pairs[i][0], pairs[i][1])];
        const uint32_t right = *d;
        *d = right + 1; /* the slack */
        assert_int_equal(check_matrix(&p, 19600, true), TEM_OK);
        *d = right + 2;
        assert_int_equal(check_matrix(&p, 19600, true), TEM_ERR_METRIC);
        *d = right - 1;
        assert_int_equal(check_matrix(&p, 19600, true), TEM_OK);
        *d = right - 2; /* breaks the triangles with a word beyond one end, if there is one */
        assert_int_equal(check_matrix(&p, 19600, true), i == WIDEST ? TEM_OK : TEM_ERR_METRIC);
        *d = right;
    }
    free(matrix);
}

static void test_check_matrix_sampled(void **state) {
    (void)state;
    uint32_t *matrix = NULL;
    points p = matrix_points(1000, &matrix);
    for (uint64_t i = 0; i < space_pair_count(1000); i++)
        matrix[i] = (uint32_t)random_between(1, 1000000);
    assert_int_equal(check_matrix(&p, 4000000, false), TEM_ERR_METRIC);
    free(matrix);
    p = matrix_points(1000, &matrix); /* one word that is close to all others */
    for (uint32_t a = 0; a < 999; a++)
        matrix[space_pair_index(999, a)] = 1;
    assert_int_equal(check_matrix(&p, 4000000, false), TEM_ERR_METRIC);
    free(matrix);
    p = matrix_points(3000, &matrix); /* sums beyond 32 bits must not wrap */
    for (uint64_t i = 0; i < space_pair_count(3000); i++)
        matrix[i] = UINT32_MAX - 1 - (uint32_t)(i % 1000);
    assert_int_equal(check_matrix(&p, 4000000, false), TEM_OK);
    free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_small),
        cmocka_unit_test(test_roots_of_squares),
        cmocka_unit_test(test_roots_random),
        cmocka_unit_test(test_square_to_distance),
        cmocka_unit_test(test_distance_to_square),
        cmocka_unit_test(test_angle_random),
        cmocka_unit_test(test_angle_nearly_parallel),
        cmocka_unit_test(test_angle_orthogonal),
        cmocka_unit_test(test_angle_tiny_and_largest),
        cmocka_unit_test(test_angle_any_products),
        cmocka_unit_test(test_angle_of_no_vectors),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_distances_largest),
        cmocka_unit_test(test_axioms_on_grids),
        cmocka_unit_test(test_axioms_on_lines),
        cmocka_unit_test(test_axioms_on_turns),
        cmocka_unit_test(test_axioms_on_large_rows),
        cmocka_unit_test(test_planted_lengths),
        cmocka_unit_test(test_planted_angles),
        cmocka_unit_test(test_pair_index),
        cmocka_unit_test(test_grid_step),
        cmocka_unit_test(test_grid_ties_to_even),
        cmocka_unit_test(test_grid_deviation),
        cmocka_unit_test(test_grid_deviation_attained),
        cmocka_unit_test(test_grid_angular),
        cmocka_unit_test(test_grid_threads),
        cmocka_unit_test(test_check_range),
        cmocka_unit_test(test_check_rows),
        cmocka_unit_test(test_check_matrix),
        cmocka_unit_test(test_check_matrix_planted),
        cmocka_unit_test(test_check_matrix_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
