/* test_hyperbolic.c - the hyperbolic metric, its points and files, and the mechanism of that name.
 *
 * The metric: MPFR is the oracle. Triangles are checked for all triples of sets on which wrong
 * rounding shows; planted rules show that it does. The mechanism: Kolmogorov-Smirnov, with P(D > t)
 * <= 2 exp(-2 N t^2) (Dvoretzky, Kiefer, Wolfowitz; Massart), and chi-square, with P(X >= k + 2
 * sqrt(k x) + 2 x) <= exp(-x) (Laurent, Massart). A correct program with fresh randomness would
 * fail the whole file with probability at most FALSE_ALARM (Bonferroni). The seeds are fixed. */
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/hyperbolic.h"
#include "model/model.h"
#include "slow.h"
#include "small_model.h"
#include "space/ball.h"
#include "space/grid.h"
#include "space/integer_math.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if SLOW
enum { PAIRS = 4000, SAMPLES = 5000, DRAWS = 50000, LINE = 60, GRID = 300 };
#else
enum { PAIRS = 60000, SAMPLES = 100000, DRAWS = 200000, LINE = 150, GRID = 1000 };
#endif

enum { BITS = 300, COMPARISONS_MAX = 128, SEED = 20191020 };

#define FALSE_ALARM 1e-6
#define ALARM_EACH (FALSE_ALARM / COMPARISONS_MAX)

static unsigned comparisons;

/* --------------------------------------------------------------- points -- */

typedef struct points {
    space space;
    int32_t *values;
} points;

static points points_make(uint32_t dimension, uint32_t count) {
    points p = {.space = {.metric = &metric_hyperbolic,
                          .count = count,
                          .dimension = dimension,
                          .row_elements = space_row_elements(dimension),
                          .step_log2 = BALL_STEP_LOG2}};
    const size_t bytes = (size_t)count * p.space.row_elements * sizeof *p.values;
    p.values = aligned_alloc(64, bytes);
    assert_non_null(p.values);
    memset(p.values, 0, bytes);
    p.space.points = p.values;
    return p;
}

static int32_t *point(const points *p, uint32_t id) {
    return p->values + (size_t)id * p->space.row_elements;
}

static double unit(void) {
    return (double)(random64() >> 11) * 0x1p-53;
}

/* A random direction, by rejection: independent of the code under test. */
static void random_direction(double *direction, uint32_t dimension) {
    double square = 0;
    for (uint32_t i = 0; i < dimension; i++) {
        direction[i] = 0;
        for (int k = 0; k < 12; k++)
            direction[i] += unit() - 0.5;
        square += direction[i] * direction[i];
    }
    for (uint32_t i = 0; i < dimension; i++)
        direction[i] /= sqrt(square);
}

/* Puts a point at this euclidean length, moved inwards until it is inside the ball. */
static void put(int32_t *x, const double *direction, double length, uint32_t dimension) {
    for (uint32_t i = 0; i < dimension; i++)
        x[i] = (int32_t)(direction[i] * length * 0x1p30);
    assert_true(ball_square(x, dimension) < BALL_SQUARE);
}

/* A point at a distance from the edge of 2^-30 to 1, all sizes equally likely. */
static void put_random(int32_t *x, uint32_t dimension) {
    double direction[TEM_DIMENSION_MAX];
    random_direction(direction, dimension);
    put(x, direction, 1 - exp2(-30 * unit()), dimension);
}

/* ------------------------------------------------- the metric and MPFR -- */

/* arcosh(1 + 2 |x-y|^2 / ((1-|x|^2)(1-|y|^2))) in steps of 2^-16. */
static void oracle(mpfr_t d, const int32_t *x, const int32_t *y, uint32_t dimension) {
    mpfr_t between, room_x, room_y, term;
    mpfr_inits2(BITS, between, room_x, room_y, term, (mpfr_ptr)0);
    mpfr_set_zero(between, 1);
    mpfr_set_ui_2exp(room_x, 1, 60, MPFR_RNDN);
    mpfr_set_ui_2exp(room_y, 1, 60, MPFR_RNDN);
    for (uint32_t i = 0; i < dimension; i++) {
        mpfr_set_si(term, (long)x[i] - y[i], MPFR_RNDN);
        mpfr_sqr(term, term, MPFR_RNDN);
        mpfr_add(between, between, term, MPFR_RNDN);
        mpfr_set_si(term, (long)x[i] * x[i], MPFR_RNDN);
        mpfr_sub(room_x, room_x, term, MPFR_RNDN);
        mpfr_set_si(term, (long)y[i] * y[i], MPFR_RNDN);
        mpfr_sub(room_y, room_y, term, MPFR_RNDN);
    }
    mpfr_mul_2ui(d, between, 61, MPFR_RNDN);
    mpfr_div(d, d, room_x, MPFR_RNDN);
    mpfr_div(d, d, room_y, MPFR_RNDN);
    mpfr_add_ui(d, d, 1, MPFR_RNDN);
    mpfr_acosh(d, d, MPFR_RNDN);
    mpfr_mul_2ui(d, d, 16, MPFR_RNDN);
    mpfr_clears(between, room_x, room_y, term, (mpfr_ptr)0);
}

static tem_dist steps_of(const mpfr_t d, double shift) {
    mpfr_t x;
    mpfr_init2(x, BITS);
    mpfr_add_d(x, d, shift, MPFR_RNDN);
    if (mpfr_sgn(x) < 0)
        mpfr_set_zero(x, 1);
    mpfr_ceil(x, x);
    const tem_dist steps = (tem_dist)mpfr_get_ui(x, MPFR_RNDN) + 1;
    mpfr_clear(x);
    return steps;
}

/* 0 between equal points, else ceil(t) + 1 with t off by less than 1/64 step, and not below the
 * real distance. */
static void check_pair(const points *p, uint32_t a, uint32_t b) {
    const int32_t *x = point(p, a), *y = point(p, b);
    const tem_dist d = space_distance(&p->space, a, b);
    if (memcmp(x, y, p->space.dimension * sizeof *x) == 0) {
        assert_int_equal(d, 0);
        return;
    }
    mpfr_t real;
    mpfr_init2(real, BITS);
    oracle(real, x, y, p->space.dimension);
    assert_in_range(d, steps_of(real, -1.0 / 64), steps_of(real, 1.0 / 64));
    assert_true(mpfr_cmp_ui(real, d) <= 0);
    mpfr_clear(real);
}

static const uint32_t dimensions[] = {1, 2, 3, 10, 50, 300};
enum { DIMENSIONS = sizeof dimensions / sizeof *dimensions };

static void test_random_pairs(void **state) {
    (void)state;
    for (size_t d = 0; d < DIMENSIONS; d++) {
        points p = points_make(dimensions[d], 2);
        for (uint32_t i = 0; i < PAIRS / dimensions[d] + 200; i++) {
            put_random(point(&p, 0), dimensions[d]);
            put_random(point(&p, 1), dimensions[d]);
            check_pair(&p, 0, 1);
        }
        free(p.values);
    }
}

/* Pairs that are 1 to 2^30 steps apart, anywhere in the ball: u from 2^-60 on. */
static void test_near_pairs(void **state) {
    (void)state;
    for (size_t d = 0; d < DIMENSIONS; d++) {
        points p = points_make(dimensions[d], 2);
        for (uint32_t i = 0; i < PAIRS / dimensions[d] + 200; i++) {
            put_random(point(&p, 0), dimensions[d]);
            memcpy(point(&p, 1), point(&p, 0), dimensions[d] * sizeof(int32_t));
            int32_t *moved = &point(&p, 1)[random_below(dimensions[d])];
            const int32_t by = (int32_t)exp2(30 * unit());
            *moved += *moved > 0 ? -by : by; /* mostly inwards */
            if (ball_square(point(&p, 1), dimensions[d]) < BALL_SQUARE)
                check_pair(&p, 0, 1);
        }
        free(p.values);
    }
}

/* The origin, the points next to it, those next to the edge on the axes and in the corners. */
static void test_extreme_pairs(void **state) {
    (void)state;
    for (size_t d = 0; d < DIMENSIONS; d++) {
        const uint32_t k = dimensions[d];
        points p = points_make(k, 9);
        const int32_t corner = (int32_t)(0x1p30 / sqrt(k)) - (k == 1);
        point(&p, 1)[0] = 1;
        point(&p, 2)[k - 1] = -1;
        point(&p, 3)[0] = (1 << 30) - 1;
        point(&p, 4)[0] = 1 - (1 << 30);
        point(&p, 5)[k - 1] = (1 << 30) - 2;
        for (uint32_t i = 0; i < k; i++) {
            point(&p, 6)[i] = corner;
            point(&p, 7)[i] = -corner;
            point(&p, 8)[i] = i % 2 == 0 ? corner : -corner;
        }
        for (uint32_t id = 0; id < 9; id++)
            assert_true(ball_square(point(&p, id), k) < BALL_SQUARE);
        for (uint32_t a = 0; a < 9; a++)
            for (uint32_t b = 0; b < 9; b++)
                check_pair(&p, a, b);
        free(p.values);
    }
}

/* The nearest to the edge that a point can be: |X|^2 = 2^60 - 1, by a sum of three squares. The
 * distance of two such points is the largest. */
static void test_largest(void **state) {
    (void)state;
    points p = points_make(4, 2);
    uint64_t left = BALL_SQUARE - 1;
    for (uint32_t i = 0; i < 4; i++) { /* greedy: what is left is small after four */
        const uint64_t root = root_floor(left);
        point(&p, 0)[i] = (int32_t)root;
        point(&p, 1)[i] = -(int32_t)root;
        left -= root * root;
    }
    assert_true(left < 1000);
    check_pair(&p, 0, 1);
    assert_true(space_distance(&p.space, 0, 1) > 75 * TEM_DIST_ONE);
    assert_true(space_distance(&p.space, 0, 1) < 128 * TEM_DIST_ONE);
    free(p.values);
}

/* ------------------------------------------------------ the raw number -- */

/* Raw numbers on both sides of every boundary that the code has: exponents, sixteenths of the
 * logarithm. The distance must never fall. */
static void test_monotone(void **state) {
    (void)state;
    const points p = {.space = {.metric = &metric_hyperbolic}};
    tem_dist last = 0;
    for (uint64_t exponent = 3; exponent < 186; exponent++)
        for (uint64_t part = 0; part < 64; part++)
            for (int near = -40; near < 40; near++) {
                const uint64_t raw = (exponent << 26) + (part << 20) + (uint64_t)(int64_t)near;
                const tem_dist d = space_distance_of_raw(&p.space, raw);
                assert_true(d >= last);
                last = d;
            }
    for (int i = 0; i < 200 * LINE; i++) {
        const uint64_t raw = (4u << 26) + random64() % (181ull << 26);
        assert_true(space_distance_of_raw(&p.space, raw) <=
                    space_distance_of_raw(&p.space, raw + 1));
    }
    assert_int_equal(space_distance_of_raw(&p.space, 0), 0);
    assert_int_equal(space_distance_of_raw(&p.space, UINT64_MAX), UINT32_MAX);
}

static void test_raw_of_distance(void **state) {
    (void)state;
    const points p = {.space = {.metric = &metric_hyperbolic}};
    assert_true(space_raw_of_distance(&p.space, UINT32_MAX) == UINT64_MAX);
    assert_true(space_raw_of_distance(&p.space, 0) == 0);
    for (uint32_t i = 0; i < 3000; i++) {
        const tem_dist d = i < 1000 ? i + 2 : (tem_dist)(random64() % (80 * TEM_DIST_ONE)) + 1;
        const uint64_t raw = space_raw_of_distance(&p.space, d);
        assert_true(space_distance_of_raw(&p.space, raw) <= d);
        assert_true(space_distance_of_raw(&p.space, raw + 1) > d);
    }
}

/* Points that only a damaged file has give some number, and nothing worse. */
static void test_outside(void **state) {
    (void)state;
    points p = points_make(3, 2);
    for (int i = 0; i < 20000; i++) {
        for (uint32_t k = 0; k < 6; k++)
            point(&p, k / 3)[k % 3] = (int32_t)random64();
        space_distance(&p.space, 0, 1);
    }
    for (uint32_t k = 0; k < 3; k++)
        point(&p, 0)[k] = point(&p, 1)[k] = 0;
    point(&p, 0)[1] = 1 << 30;
    assert_int_equal(space_distance(&p.space, 0, 1), UINT32_MAX);
    assert_int_equal(space_distance(&p.space, 1, 0), UINT32_MAX);
    free(p.values);
}

/* --------------------------------------------------------------- axioms -- */

typedef tem_dist distance_rule(const points *p, uint32_t a, uint32_t b);

static tem_dist right_rule(const points *p, uint32_t a, uint32_t b) {
    return space_distance(&p->space, a, b);
}

/* What one would write without the inequality of metric_hyperbolic.c. */
static tem_dist no_extra_step_rule(const points *p, uint32_t a, uint32_t b) {
    const tem_dist d = space_distance(&p->space, a, b);
    return d == 0 ? 0 : d - 1;
}

static tem_dist floor_rule(const points *p, uint32_t a, uint32_t b) {
    const tem_dist d = space_distance(&p->space, a, b);
    return d < 2 ? 0 : d - 2;
}

/* The points as int16 would hold them: in steps of 2^-14. */
static tem_dist coarse_rule(const points *p, uint32_t a, uint32_t b) {
    points coarse = points_make(p->space.dimension, 2);
    for (uint32_t i = 0; i < p->space.dimension; i++) {
        point(&coarse, 0)[i] = point(p, a)[i] / 65536 * 65536;
        point(&coarse, 1)[i] = point(p, b)[i] / 65536 * 65536;
    }
    const tem_dist d = space_distance(&coarse.space, 0, 1);
    free(coarse.values);
    return d;
}

/* Counts ordered triples with d(a,c) > d(a,b) + d(b,c). Also checks that d is symmetric, and 0
 * exactly for equal points. */
static uint64_t broken_by(const points *p, distance_rule *rule) {
    const uint32_t n = p->space.count;
    tem_dist *d = malloc((size_t)n * n * sizeof *d);
    assert_non_null(d);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            d[a * n + b] = rule(p, a, b);
    uint64_t broken = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            assert_int_equal(d[a * n + b], d[b * n + a]);
            if (rule == right_rule)
                assert_int_equal(
                    d[a * n + b] == 0,
                    memcmp(point(p, a), point(p, b), p->space.dimension * sizeof(int32_t)) == 0);
            for (uint32_t c = 0; c < n; c++)
                broken += d[a * n + c] > (uint64_t)d[a * n + b] + d[b * n + c];
        }
    free(d);
    return broken;
}

/* Points on one line through the origin, `apart` radians from each other, every fifth equal to the
 * one before it. All their triangles are degenerate. */
static points line_points(uint32_t dimension, double first, double apart) {
    points p = points_make(dimension, LINE);
    double direction[TEM_DIMENSION_MAX];
    random_direction(direction, dimension);
    for (uint32_t id = 0; id < LINE; id++)
        put(point(&p, id), direction, tanh((first + apart * (id - (id % 5 == 4))) / 2), dimension);
    return p;
}

/* Points of a geodesic far from the origin: a line, moved by the isometry of the mechanism. */
static points moved_line(uint32_t dimension, double apart, const int32_t *x) {
    points p = points_make(dimension, LINE);
    double direction[TEM_DIMENSION_MAX], z[TEM_DIMENSION_MAX];
    random_direction(direction, dimension);
    for (uint32_t id = 0; id < LINE; id++) {
        hyperbolic_move(x, direction, apart * id, dimension, z);
        for (uint32_t i = 0; i < dimension; i++)
            point(&p, id)[i] = (int32_t)lrint(z[i] * (1 - 1e-9));
        assert_true(ball_square(point(&p, id), dimension) < BALL_SQUARE);
    }
    return p;
}

static void test_axioms_on_lines(void **state) {
    (void)state;
    static const double apart[] = {0x1p-30, 0x1p-17, 0x1p-16, 1.5 * 0x1p-16, 0x1p-10, 0.01, 0.13};
    uint64_t without_step = 0, floored = 0;
    for (uint32_t dimension = 1; dimension <= 10; dimension += 3)
        for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
            points p = line_points(dimension, -apart[i] * LINE / 2, apart[i]);
            points q = moved_line(dimension, apart[i], point(&p, LINE - 1));
            assert_true(broken_by(&p, right_rule) == 0);
            assert_true(broken_by(&q, right_rule) == 0);
            without_step += broken_by(&p, no_extra_step_rule);
            floored += broken_by(&p, floor_rule);
            free(p.values);
            free(q.values);
        }
    assert_true(without_step > 0 && floored > 1000); /* the lines show wrong rules */
}

/* Points at all depths, many near the edge and near each other. */
static void test_axioms_everywhere(void **state) {
    (void)state;
    for (size_t d = 0; d < DIMENSIONS; d++) {
        points p = points_make(dimensions[d], LINE);
        for (uint32_t id = 0; id < LINE; id++)
            if (id % 3 == 0) {
                put_random(point(&p, id), dimensions[d]);
            } else {
                memcpy(point(&p, id), point(&p, id - 1), dimensions[d] * sizeof(int32_t));
                int32_t *value = &point(&p, id)[random_below(dimensions[d])];
                *value -= id % 3 == 1 ? *value / 1000000 : (*value > 0) - (*value < 0);
            }
        assert_true(broken_by(&p, right_rule) == 0);
        free(p.values);
    }
}

/* 30 bits tell words apart that 14 bits merge: points 1e-5 from the edge. */
static void test_int16_would_merge(void **state) {
    (void)state;
    points p = points_make(2, 50);
    unsigned merged = 0;
    for (uint32_t id = 0; id < 50; id++) {
        const double angle = 0.7 + 1e-6 * id, direction[] = {cos(angle), sin(angle)};
        put(point(&p, id), direction, 1 - 1e-5, 2);
    }
    for (uint32_t id = 1; id < 50; id++) {
        check_pair(&p, id - 1, id);
        assert_in_range(space_distance(&p.space, id - 1, id), 6500, 6610); /* 0.1 */
        merged += coarse_rule(&p, id - 1, id) == 0;
    }
    assert_true(merged > 40);
    free(p.values);
}

/* ------------------------------------------------------------- rounding -- */

static void float_distance(mpfr_t d, const float *x, const float *y, uint32_t dimension) {
    mpfr_t room_x, room_y, term;
    mpfr_inits2(BITS, room_x, room_y, term, (mpfr_ptr)0);
    mpfr_set_zero(d, 1);
    mpfr_set_ui(room_x, 1, MPFR_RNDN);
    mpfr_set_ui(room_y, 1, MPFR_RNDN);
    for (uint32_t i = 0; i < dimension; i++) {
        mpfr_set_d(term, (double)x[i] - y[i], MPFR_RNDN);
        mpfr_sqr(term, term, MPFR_RNDN);
        mpfr_add(d, d, term, MPFR_RNDN);
        mpfr_set_d(term, (double)x[i] * x[i], MPFR_RNDN);
        mpfr_sub(room_x, room_x, term, MPFR_RNDN);
        mpfr_set_d(term, (double)y[i] * y[i], MPFR_RNDN);
        mpfr_sub(room_y, room_y, term, MPFR_RNDN);
    }
    mpfr_mul(room_x, room_x, room_y, MPFR_RNDN);
    mpfr_div(d, d, room_x, MPFR_RNDN);
    mpfr_sqrt(d, d, MPFR_RNDN);
    mpfr_asinh(d, d, MPFR_RNDN);
    mpfr_mul_2ui(d, d, 17, MPFR_RNDN);
    mpfr_clears(room_x, room_y, term, (mpfr_ptr)0);
}

/* No distance changes by more than the deviation says, and some change by nearly as much. */
static void test_deviation(void **state) {
    (void)state;
    enum { COUNT = 40 };
    double closest = 0;
    for (int set = 0; set < 24; set++) {
        const uint32_t k = 1 + (uint32_t)set % 8;
        const double depth = exp2(-set % 20);
        float values[COUNT * 8];
        points p = points_make(k, COUNT);
        tem_dist deviation = 0;
        for (uint32_t id = 0; id < COUNT; id++) {
            double direction[8];
            random_direction(direction, k);
            for (uint32_t i = 0; i < k; i++)
                values[id * k + i] = (float)(direction[i] * (1 - depth * (0.1 + unit() / 2)));
            if (id % 2 == 0 && k > 1)
                values[id * k] *= 1e-3f; /* small numbers are what rounding moves */
        }
        assert_int_equal(ball_round(values, COUNT, k, NULL, p.values, &deviation, NULL), TEM_OK);
        assert_int_equal(ball_check(&p.space, NULL), TEM_OK);
        for (uint32_t a = 0; a < COUNT; a++)
            for (uint32_t b = 0; b < a; b++) {
                mpfr_t d;
                mpfr_init2(d, BITS);
                float_distance(d, values + a * k, values + b * k, k);
                mpfr_ui_sub(d, space_distance(&p.space, a, b), d, MPFR_RNDN);
                const double off = fabs(mpfr_get_d(d, MPFR_RNDN));
                assert_true(off <= deviation);
                closest = fmax(closest, off / deviation);
                mpfr_clear(d);
            }
        free(p.values);
    }
    assert_true(closest > 0.5);
}

/* 1.5 steps become 2, and -1.5 become -2: both ends move by half a step, away from each other. So
 * near to the edge that is 30 steps of the distance each. */
static void test_deviation_attained(void **state) {
    (void)state;
    const float values[] = {0.999999f, 0x1.8p-30f, 0.999999f, -0x1.8p-30f};
    points p = points_make(2, 2);
    tem_dist deviation = 0;
    mpfr_t d;
    mpfr_init2(d, BITS);
    assert_int_equal(ball_round(values, 2, 2, NULL, p.values, &deviation, NULL), TEM_OK);
    float_distance(d, values, values + 2, 2);
    mpfr_ui_sub(d, space_distance(&p.space, 0, 1), d, MPFR_RNDN);
    const double off = mpfr_get_d(d, MPFR_RNDN);
    assert_true(deviation > 50 && off > 0.95 * deviation && off <= deviation);
    mpfr_clear(d);
    free(p.values);
}

/* Floats of 2^-6 or more are whole steps; ties go to even. */
static void test_rounding(void **state) {
    (void)state;
    const float values[] = {0.75f,       -0.015625f,      0x1.000002p-6f, 0x1.8p-30f,
                            -0x1.8p-30f, 0x1.999999p-31f, 0x1p-31f,       0};
    points p = points_make(8, 1);
    tem_dist deviation = 0;
    assert_int_equal(ball_round(values, 1, 8, NULL, p.values, &deviation, NULL), TEM_OK);
    static const int32_t expected[] = {3 << 28, -(1 << 24), (1 << 24) + 2, 2, -2, 1, 0, 0};
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(p.values[i], expected[i]);
    assert_int_equal(deviation, 4);
    free(p.values);
}

static tem_status round_one(const float *values, uint32_t dimension, tem_error *error) {
    points p = points_make(dimension, 3);
    tem_dist deviation = 77;
    float all[3 * 4] = {0};
    memcpy(all + dimension, values, dimension * sizeof *values);
    const tem_status status = ball_round(all, 3, dimension, NULL, p.values, &deviation, error);
    if (status != TEM_OK)
        assert_int_equal(deviation, 77);
    free(p.values);
    return status;
}

static void test_refused_vectors(void **state) {
    (void)state;
    static const float outside[][2] = {{1, 0},         {0, -1},   {0.8f, 0.7f},
                                       {3e38f, 3e38f}, {1.5f, 0}, {0x1.6a09e6p-1f, 0x1.6a09e8p-1f}};
    tem_error error = {0};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_int_equal(round_one(outside[i], 2, &error), TEM_ERR_RANGE);
        assert_non_null(strstr(error.message, "word 2 is not inside the ball"));
    }
    const float inside[] = {0x1.fffffep-1f, 0}, corner[] = {0.70710677f, 0.70710677f};
    assert_int_equal(round_one(inside, 2, NULL), TEM_OK);
    assert_int_equal(round_one(corner, 2, NULL), TEM_OK);
    /* Inside the ball by less than 2^-60: no sum of doubles can tell. */
    float edge[4] = {0x1.fffffep-1f};
    double room = 1 - (double)edge[0] * edge[0];
    for (int i = 1; i < 4; i++) {
        edge[i] = nextafterf((float)sqrt(room), 0);
        room -= (double)edge[i] * edge[i];
    }
    assert_true(room > 0 && room < 0x1p-60);
    assert_int_equal(round_one(edge, 4, NULL), TEM_ERR_RANGE);
}

static int stop_at_once(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context, (void)stage, (void)done, (void)total;
    return 1;
}

/* Any number of threads gives the same points; the callback can stop the rounding. */
static void test_rounding_threads(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static float values[COUNT * 2];
    for (size_t i = 0; i < COUNT * 2; i++)
        values[i] = (float)(unit() - 0.5);
    points p = points_make(2, COUNT), q = points_make(2, COUNT);
    tem_dist first = 0, again = 0;
    const tem_run one = {.threads = 1}, two = {.threads = 2};
    assert_int_equal(ball_round(values, COUNT, 2, &one, p.values, &first, NULL), TEM_OK);
    assert_int_equal(ball_round(values, COUNT, 2, &two, q.values, &again, NULL), TEM_OK);
    assert_int_equal(first, again);
    assert_memory_equal(p.values, q.values, (size_t)COUNT * p.space.row_elements * 4);
    const tem_run stopped = {.threads = 2, .progress = stop_at_once};
    assert_int_equal(ball_round(values, COUNT, 2, &stopped, q.values, &again, NULL),
                     TEM_ERR_CANCELLED);
    free(p.values);
    free(q.values);
}

static void test_tells_apart(void **state) {
    (void)state;
    const float x[] = {0.9f, 0}, near[] = {0.9f, 7e-7f}, far[] = {0.9f, 8e-7f};
    /* 2 * 7e-7 / (1 - 0.81) is below 2^-17 */
    assert_false(grid_tells_apart(x, x, 2, &metric_hyperbolic));
    assert_false(grid_tells_apart(x, near, 2, &metric_hyperbolic));
    assert_true(grid_tells_apart(x, far, 2, &metric_hyperbolic));
}

/* ---------------------------------------------------------------- files -- */

enum { WORDS = 600, DIMENSION = 5 };

static float model_values[WORDS * DIMENSION];

static tem_model *make_model(void) {
    for (uint32_t id = 0; id < WORDS; id++) {
        double direction[DIMENSION];
        random_direction(direction, DIMENSION);
        for (uint32_t i = 0; i < DIMENSION; i++)
            model_values[id * DIMENSION + i] =
                id % 50 == 49 ? model_values[(id - 1) * DIMENSION + i] /* equal words */
                              : (float)(direction[i] * tanh((id % 12) / 2.0));
    }
    return small_model(NULL, model_values, WORDS, DIMENSION, TEM_HYPERBOLIC, 12);
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Each list has the nearest words, by distance and id, and each bound is the least distance of the
 * words of its range that are not in the list. */
static void test_lists(void **state) {
    (void)state;
    tem_model *model = make_model();
    const neighbour_index *index = &model->index;
    uint64_t keys[WORDS];
    for (uint32_t id = 0; id < WORDS; id++) {
        for (uint32_t other = 0; other < WORDS; other++)
            keys[other] = (uint64_t)space_distance(&model->space, id, other) << 32 | other;
        qsort(keys, WORDS, sizeof *keys, compare_keys);
        const tem_neighbour *list = index->entries + index->starts[id];
        const uint64_t length = index->starts[id + 1] - index->starts[id];
        assert_true(length >= 12);
        for (uint64_t i = 0; i < length; i++)
            assert_true(keys[i] == ((uint64_t)list[i].distance << 32 | list[i].id));
    }
    assert_int_equal(model_verify(model, NULL, NULL), TEM_OK);
    tem_model_free(model);
}

static char model_path[64];

static tem_status save_and_verify(const tem_model *model, tem_error *error) {
    tem_model *opened = NULL;
    assert_int_equal(tem_model_save(model, model_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    tem_status status = tem_model_open(model_path, &opened, error);
    if (status == TEM_OK)
        status = model_verify(opened, NULL, error);
    tem_model_free(opened);
    return status;
}

static void test_round_trip(void **state) {
    (void)state;
    tem_model *model = make_model(), *opened = NULL;
    assert_int_equal(save_and_verify(model, NULL), TEM_OK);
    assert_int_equal(tem_model_open(model_path, &opened, NULL), TEM_OK);
    assert_memory_equal(opened->space.points, model->space.points,
                        (size_t)WORDS * model->space.row_elements * sizeof(int32_t));
    assert_null(opened->space.rows);
    tem_model_info info;
    tem_model_get_info(opened, &info);
    assert_int_equal(info.metric, TEM_HYPERBOLIC);
    assert_int_equal(info.step_log2, 30);
    unsigned char built[CORE_HASH_BYTES], file[CORE_HASH_BYTES];
    model_space_hash(model, built);
    model_space_hash(opened, file);
    assert_memory_equal(built, file, sizeof built);
    for (uint32_t id = 0; id < WORDS; id++) {
        float vector[DIMENSION];
        assert_int_equal(tem_model_vector(opened, id, vector, NULL), TEM_OK);
        for (uint32_t i = 0; i < DIMENSION; i++)
            assert_true(fabsf(vector[i] - model_values[id * DIMENSION + i]) <= 0x1p-31f);
        for (uint32_t other = 0; other < WORDS; other += 7)
            assert_int_equal(tem_model_distance(opened, id, other),
                             tem_model_distance(model, id, other));
    }
    tem_model_free(opened);
    tem_model_free(model);
}

/* Files with right hashes and wrong points, as somebody might forge them. */
static void test_damaged_points(void **state) {
    (void)state;
    tem_model *model = make_model();
    int32_t *values = (int32_t *)(uintptr_t)model->space.points;
    static const struct {
        uint32_t word, element;
        int32_t value;
    } wrong[] = {{0, 0, 1 << 30}, {599, 4, -(1 << 30)}, {3, 2, INT32_MIN}, {7, 1, INT32_MAX},
                 {9, 5, 1},       {599, 31, -1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int32_t *place = values + wrong[i].word * model->space.row_elements + wrong[i].element;
        const int32_t right = *place;
        tem_error error = {0};
        *place = wrong[i].value;
        assert_int_equal(save_and_verify(model, &error), TEM_ERR_DAMAGED);
        assert_non_null(strstr(error.message, "not in the ball"));
        *place = right;
    }
    int32_t old[4];
    memcpy(old, values, sizeof old);
    for (int set = 0; set < 2; set++) {
        tem_error error = {0};
        /* Each number is inside, the point is not; and a sum of squares of 2^64. */
        for (int i = 0; i < 4; i++)
            values[i] = set == 0 ? 800000000 : INT32_MIN;
        assert_int_equal(save_and_verify(model, &error), TEM_ERR_DAMAGED);
        assert_non_null(strstr(error.message, "not in the ball"));
    }
    memcpy(values, old, sizeof old);
    model->space.step_log2 = 29;
    assert_int_equal(save_and_verify(model, NULL), TEM_ERR_DAMAGED);
    model->space.step_log2 = 30;
    assert_int_equal(save_and_verify(model, NULL), TEM_OK);
    tem_model_free(model);
}

/* ----------------------------------------------------------- statistics -- */

/* A distribution function as a table: F at least + i * width, and how to compute its density. */
typedef struct table {
    double least, width;
    double *sums;
    uint32_t cells;
} table;

typedef double density_fn(double x, double a, double b);

/* Integrates a density by Simpson's rule; it need not be normalized. */
static table table_make(density_fn *density, double a, double b, double least, double most) {
    table t = {.least = least, .cells = 200000};
    t.width = (most - least) / t.cells;
    t.sums = calloc(t.cells + 1, sizeof *t.sums);
    assert_non_null(t.sums);
    for (uint32_t i = 0; i < t.cells; i++) {
        const double x = least + i * t.width;
        t.sums[i + 1] = t.sums[i] + (density(x, a, b) + 4 * density(x + t.width / 2, a, b) +
                                     density(x + t.width, a, b)) *
                                        t.width / 6;
    }
    for (uint32_t i = 0; i <= t.cells; i++)
        t.sums[i] /= t.sums[t.cells];
    return t;
}

static double table_at(const table *t, double x) {
    const double at = (x - t->least) / t->width;
    if (at <= 0 || at >= t->cells)
        return at <= 0 ? 0 : 1;
    const uint32_t i = (uint32_t)at;
    return t->sums[i] + (t->sums[i + 1] - t->sums[i]) * (at - i);
}

/* The x with F(x) = share. */
static double table_quantile(const table *t, double share) {
    uint32_t low = 0, high = t->cells;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (t->sums[middle] <= share)
            low = middle;
        else
            high = middle;
    }
    const double cell = t->sums[high] - t->sums[low];
    return t->least + t->width * (low + (cell > 0 ? (share - t->sums[low]) / cell : 0));
}

/* exp(-epsilon r) sinh(r)^(k-1), from the definition and not from the way tem draws it. */
static double radius_density(double r, double epsilon, double k) {
    if (r <= 0)
        return k > 1 ? 0 : 1;
    return exp(-epsilon * r + (k - 1) * (r + log(-expm1(-2 * r) / 2)));
}

static table radius_table(double epsilon, uint32_t k) {
    const double tail = 40 / (epsilon - k + 1);
    return table_make(radius_density, epsilon, k, 0, fmin(tail + 10, 2 * tail));
}

/* One coordinate of a uniform direction is the sine of an angle with this density. */
static double angle_density(double angle, double k, double unused) {
    (void)unused;
    return pow(fmax(cos(angle), 0), k - 2);
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void kolmogorov_smirnov(double *samples, const table *t, const char *what) {
    comparisons++;
    qsort(samples, SAMPLES, sizeof *samples, compare_doubles);
    double largest = 0;
    for (int i = 0; i < SAMPLES; i++) {
        const double f = table_at(t, samples[i]);
        largest = fmax(largest, fmax(f - (double)i / SAMPLES, (i + 1.0) / SAMPLES - f));
    }
    const double threshold = sqrt(log(2 / ALARM_EACH) / (2.0 * SAMPLES));
    if (!(largest <= threshold))
        fail_msg("%s: distance %.5f of %d samples; above %.5f with probability %.1e", what, largest,
                 SAMPLES, threshold, ALARM_EACH);
}

/* shares: the probability of each bin; bins that are expected fewer than 50 times must be none. */
static void chi_square(const uint64_t *counts, const double *shares, unsigned bins,
                       uint64_t draws) {
    comparisons++;
    double statistic = 0;
    for (unsigned i = 0; i < bins; i++) {
        const double expected = shares[i] * (double)draws, off = (double)counts[i] - expected;
        assert_true(expected >= (SLOW ? 5 : 50));
        statistic += off * off / expected;
    }
    const double x = -log(ALARM_EACH), freedom = bins - 1;
    const double threshold = freedom + 2 * sqrt(freedom * x) + 2 * x;
    if (!(statistic <= threshold))
        fail_msg("chi-square %.1f with %u degrees of freedom; above %.1f with probability %.1e",
                 statistic, bins - 1, threshold, ALARM_EACH);
}

/* ------------------------------------------------------------ the noise -- */

static const struct {
    uint32_t dimension;
    double epsilon;
} laws[] = {{1, 0.5},   {1, 20}, {2, 1.25}, {2, 6},   {3, 2.5},
            {5, 4.125}, {5, 30}, {10, 9.5}, {10, 12}, {50, 60}};
enum { LAWS = sizeof laws / sizeof *laws };

static void test_radius(void **state) {
    (void)state;
    double *samples = calloc(SAMPLES, sizeof *samples);
    assert_non_null(samples);
    for (size_t i = 0; i < LAWS; i++) {
        tem_rng rng;
        rng_init_seeded(&rng, SEED, i);
        for (int k = 0; k < SAMPLES; k++)
            samples[k] = hyperbolic_radius(laws[i].epsilon, laws[i].dimension, &rng);
        table t = radius_table(laws[i].epsilon, laws[i].dimension);
        kolmogorov_smirnov(samples, &t, "radius");
        free(t.sums);
    }
    free(samples);
}

/* Every coordinate of the direction, and the signs of the first three together. */
static void test_direction(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 6};
    double *samples = calloc((size_t)SAMPLES * 6, sizeof *samples);
    assert_non_null(samples);
    for (size_t s = 0; s < 4; s++) {
        const uint32_t k = sizes[s], bins = k == 1 ? 2 : k == 2 ? 4 : 8;
        uint64_t counts[8] = {0};
        double shares[8], direction[6] = {0};
        tem_rng rng;
        rng_init_seeded(&rng, SEED + 1, s);
        for (int i = 0; i < SAMPLES; i++) {
            hyperbolic_direction(k, &rng, direction);
            double square = 0;
            for (uint32_t c = 0; c < k; c++) {
                square += direction[c] * direction[c];
                samples[c * (size_t)SAMPLES + (size_t)i] = asin(fmin(1, fmax(-1, direction[c])));
            }
            assert_true(fabs(square - 1) < 1e-12);
            counts[(direction[0] < 0) + 2 * (k > 1 && direction[1] < 0) +
                   4 * (k > 2 && direction[2] < 0)]++;
        }
        for (uint32_t i = 0; i < bins; i++)
            shares[i] = 1.0 / bins;
        chi_square(counts, shares, bins, SAMPLES);
        table t = table_make(angle_density, k < 2 ? 2 : k, 0, -acos(0), acos(0));
        for (uint32_t c = 0; c < k && k > 1; c++)
            kolmogorov_smirnov(samples + c * (size_t)SAMPLES, &t, "direction");
        free(t.sums);
    }
    free(samples);
}

/* The same point by another formula: a Lorentz boost of (cosh r, sinh r n), in long double. */
static void boosted(const int32_t *x, const double *direction, double radius, uint32_t dimension,
                    long double *z) {
    const long double step = 0x1p-30L;
    const long double room = (long double)(BALL_SQUARE - ball_square(x, dimension)) * step * step;
    const long double x0 = (2 - room) / room, v0 = coshl(radius), size = sinhl(radius);
    long double product = 0;
    for (uint32_t i = 0; i < dimension; i++)
        product += 2 * x[i] * step / room * size * (long double)direction[i];
    const long double z0 = x0 * v0 + product;
    for (uint32_t i = 0; i < dimension; i++)
        z[i] = (size * (long double)direction[i] +
                2 * x[i] * step / room * (v0 + product / (1 + x0))) /
               (1 + z0);
}

static void test_move(void **state) {
    (void)state;
    for (size_t d = 0; d < DIMENSIONS; d++) {
        const uint32_t k = dimensions[d];
        int32_t x[300];
        double direction[300], z[300];
        long double other[300];
        for (int i = 0; i < 2000; i++) {
            random_direction(direction, k);
            put(x, direction, 1 - exp2(-17 * unit()), k);
            random_direction(direction, k);
            const double radius = 20 * unit();
            hyperbolic_move(x, direction, radius, k, z);
            boosted(x, direction, radius, k, other);
            for (uint32_t c = 0; c < k; c++)
                assert_true(fabsl(z[c] * 0x1p-30 - other[c]) < 1e-6L);
        }
    }
}

/* Noise of any length at any point ends in the ball or on its edge, and no number is lost. */
static void test_move_far(void **state) {
    (void)state;
    static const double radii[] = {0, 1e-300, 1e-9, 30, 40, 700, 1500, 1e5, 1e300};
    for (uint32_t k = 1; k <= 4; k++)
        for (int i = 0; i < 3000; i++) {
            int32_t x[4];
            double direction[4], z[4], square = 0;
            put_random(x, k);
            random_direction(direction, k);
            if (i % 3 == 0) { /* straight to the opposite end, and nearly so */
                const double length = sqrt((double)ball_square(x, k));
                for (uint32_t c = 0; c < k && length > 0; c++)
                    direction[c] = -x[c] / length + (i % 2) * (unit() - 0.5) * 1e-15;
            }
            hyperbolic_move(x, direction, radii[i % 9], k, z);
            for (uint32_t c = 0; c < k; c++)
                square += z[c] * z[c];
            assert_true(sqrt(square) <= 0x1p30 + 64);
        }
}

/* ----------------------------------------------------- the nearest word -- */

static hyperbolic drawer(const points *p, const uint32_t *outputs, double epsilon) {
    hyperbolic h = {0};
    assert_int_equal(hyperbolic_init(&h, &p->space, outputs, epsilon, NULL), TEM_OK);
    return h;
}

/* By exact integers, without a shortcut. */
static uint32_t nearest_oracle(const points *p, const uint32_t *outputs, const int32_t *z) {
    const uint32_t k = p->space.dimension;
    uint32_t best = TEM_NO_WORD;
    for (uint32_t id = 0; id < p->space.count; id++) {
        if (outputs != NULL && outputs[id] == 0)
            continue;
        if (best == TEM_NO_WORD || (uint128)ball_square_between(point(p, id), z, k) *
                                           (BALL_SQUARE - ball_square(point(p, best), k)) <
                                       (uint128)ball_square_between(point(p, best), z, k) *
                                           (BALL_SQUARE - ball_square(point(p, id), k)))
            best = id;
    }
    return best;
}

/* Words in mirrored pairs, and points on the mirror: exact ties. Points next to words near the
 * edge, and points on the edge. */
static void test_nearest(void **state) {
    (void)state;
    enum { COUNT = 100 };
    points p = points_make(3, COUNT);
    uint32_t outputs[COUNT];
    for (uint32_t id = 0; id < COUNT; id++) {
        put_random(point(&p, id), 3);
        if (id % 4 == 3)
            point(&p, id)[2] = 0;
        if (id % 2 == 1) {
            memcpy(point(&p, id), point(&p, id - 1), 3 * sizeof(int32_t));
            point(&p, id)[2] *= -1;
        }
        outputs[id] = id % 5 != 0;
    }
    for (int excluded = 0; excluded < 2; excluded++) {
        const uint32_t *used = excluded != 0 ? outputs : NULL;
        hyperbolic h = drawer(&p, used, 3);
        for (uint32_t i = 0; i < 2000; i++) {
            int32_t z[3];
            put_random(z, 3);
            if (i % 4 == 0)
                z[2] = 0;
            if (i % 4 == 1)
                memcpy(z, point(&p, i % COUNT), sizeof z);
            if (i % 4 == 2) {
                z[0] = i % 8 == 2 ? 1 << 30 : -(1 << 30);
                z[1] = z[2] = (int32_t)(i % 3);
            }
            assert_int_equal(hyperbolic_nearest(&h, z), nearest_oracle(&p, used, z));
        }
        hyperbolic_free(&h);
    }
    free(p.values);
}

/* ----------------------------------------------------------- the draws -- */

static points plane_words(void) {
    static const double polar[][2] = {{0, 0},      {1, 0.3},   {1.2, 2.1},
                                      {0.9, -1.8}, {2.5, 0.9}, {3, -2}};
    points p = points_make(2, 6);
    for (uint32_t id = 0; id < 6; id++) {
        const double direction[] = {cos(polar[id][1]), sin(polar[id][1])};
        put(point(&p, id), direction, tanh(polar[id][0] / 2), 2);
    }
    return p;
}

static double plain_distance(const points *p, uint32_t id, const long double *z) {
    long double between = 0, room = 1;
    for (uint32_t i = 0; i < p->space.dimension; i++) {
        const long double y = point(p, id)[i] * 0x1p-30L;
        between += (z[i] - y) * (z[i] - y);
        room -= y * y;
    }
    return (double)(between / room); /* in the order of the distances */
}

/* P(y | word) by numeric integration over the cells: GRID radii, equally likely, times GRID
 * angles. */
static void integrate(const points *p, uint32_t word, const table *radii, double *shares) {
    uint32_t counts[6] = {0};
    for (uint32_t i = 0; i < GRID; i++) {
        const double radius = table_quantile(radii, (i + 0.5) / GRID);
        for (uint32_t k = 0; k < GRID; k++) {
            const double angle = 2 * acos(-1) * (k + 0.5) / GRID;
            const double direction[] = {cos(angle), sin(angle)};
            long double z[2];
            uint32_t best = 0;
            boosted(point(p, word), direction, radius, 2, z);
            for (uint32_t id = 1; id < 6; id++)
                if (plain_distance(p, id, z) < plain_distance(p, best, z))
                    best = id;
            counts[best]++;
        }
    }
    for (uint32_t id = 0; id < 6; id++)
        shares[id] = (double)counts[id] / ((double)GRID * GRID);
}

/* The draws against the integrals, and the integrals against the theorem. */
static void test_draws(void **state) {
    (void)state;
    static const double epsilons[] = {1.25, 1.75};
    points p = plane_words();
    for (size_t e = 0; e < 2; e++) {
        double shares[6][6];
        table radii = radius_table(epsilons[e], 2);
        hyperbolic h = drawer(&p, NULL, epsilons[e]);
        tem_rng rng;
        rng_init_seeded(&rng, SEED + 2, e);
        for (uint32_t word = 0; word < 6; word++) {
            uint64_t counts[6] = {0};
            uint32_t words[100], out[100];
            integrate(&p, word, &radii, shares[word]);
            for (int i = 0; i < DRAWS; i += 100) {
                for (int k = 0; k < 100; k++)
                    words[k] = word;
                hyperbolic_draw(&h, words, 100, &rng, out);
                for (int k = 0; k < 100; k++)
                    counts[out[k]]++;
            }
            chi_square(counts, shares[word], 6, DRAWS);
        }
        for (uint32_t a = 0; a < 6; a++)
            for (uint32_t b = 0; b < 6; b++)
                for (uint32_t y = 0; y < 6; y++) {
                    const double d = space_distance(&p.space, a, b) / (double)TEM_DIST_ONE;
                    const double error = 20.0 / ((double)GRID * GRID); /* of the integration */
                    assert_true(shares[a][y] <=
                                exp(epsilons[e] * d) * (shares[b][y] + error) * 1.01 + error);
                }
        hyperbolic_free(&h);
        free(radii.sums);
    }
    free(p.values);
}

/* Noise around x, moved back to the origin by the other formula, has the law of the noise there. */
static void test_invariance(void **state) {
    (void)state;
    enum { K = 3 };
    static const double depths[] = {0.5, 3, 9};
    double *radius = calloc(SAMPLES, sizeof *radius), *angle = calloc(SAMPLES, sizeof *angle);
    assert_true(radius != NULL && angle != NULL);
    table radii = radius_table(4, K);
    table angles = table_make(angle_density, K, 0, -acos(0), acos(0));
    for (size_t d = 0; d < 3; d++) {
        int32_t x[K], back[K];
        double direction[K], z[K];
        tem_rng rng;
        rng_init_seeded(&rng, SEED + 3, d);
        random_direction(direction, K);
        put(x, direction, tanh(depths[d] / 2), K);
        for (uint32_t i = 0; i < K; i++)
            back[i] = -x[i];
        for (int s = 0; s < SAMPLES; s++) {
            const double r = hyperbolic_radius(4, K, &rng);
            hyperbolic_direction(K, &rng, direction);
            hyperbolic_move(x, direction, r, K, z);
            double length = 0;
            for (uint32_t i = 0; i < K; i++)
                length += z[i] * z[i] * 0x1p-60;
            length = sqrt(length);
            for (uint32_t i = 0; i < K; i++)
                z[i] *= 0x1p-30 / length;
            long double home[K];
            boosted(back, z, 2 * atanh(fmin(length, 1 - 0x1p-53)), K, home);
            const double size =
                (double)sqrtl(home[0] * home[0] + home[1] * home[1] + home[2] * home[2]);
            radius[s] = 2 * atanh(fmin(size, 1 - 0x1p-53));
            angle[s] = asin(fmax(-1, fmin(1, (double)home[s % K] / size)));
        }
        kolmogorov_smirnov(radius, &radii, "radius, moved back");
        kolmogorov_smirnov(angle, &angles, "direction, moved back");
    }
    free(radii.sums);
    free(angles.sums);
    free(radius);
    free(angle);
}

/* Unknown words: uniform over the outputs. Excluded words never appear. */
static void test_unknown_words(void **state) {
    (void)state;
    points p = plane_words();
    const uint32_t outputs[] = {1, 0, 1, 1, 0, 1};
    const double shares[] = {0.25, 0.25, 0.25, 0.25};
    uint64_t counts[6] = {0};
    hyperbolic h = drawer(&p, outputs, 1.5);
    tem_rng rng;
    rng_init_seeded(&rng, SEED + 4, 0);
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t word[] = {TEM_NO_WORD, 1};
        hyperbolic_draw(&h, word, 2, &rng, word);
        assert_true(outputs[word[0]] == 1 && outputs[word[1]] == 1);
        counts[word[0]]++;
    }
    const uint64_t drawn[] = {counts[0], counts[2], counts[3], counts[5]};
    chi_square(drawn, shares, 4, SAMPLES);
    hyperbolic_free(&h);
    free(p.values);
}

/* ------------------------------------------------------------- refusals -- */

static tem_status make(const tem_model *model, const char *name, double epsilon, tem_error *error) {
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.mechanism = name, .epsilon = epsilon};
    const tem_status status = tem_mechanism_create(model, &options, &mechanism, error);
    tem_mechanism_free(mechanism);
    return status;
}

static void test_refusals(void **state) {
    (void)state;
    tem_model *model = make_model();
    tem_error error = {0};
    assert_int_equal(make(model, "hyperbolic", DIMENSION - 1, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "in 5 dimensions"));
    assert_non_null(strstr(error.message, "above 4"));
    assert_int_equal(make(model, "hyperbolic", 0.5, NULL), TEM_ERR_RANGE);
    assert_int_equal(make(model, "hyperbolic", nextafter(DIMENSION - 1, 9), NULL), TEM_OK);
    assert_int_equal(make(model, "tem", 0.5, NULL), TEM_OK);
    assert_int_equal(make(model, "madlib", 5, &error), TEM_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "euclidean"));
    tem_model_free(model);
    const float values[] = {0, 0, 0.5f, 0, 0, 0.5f};
    model = small_model(NULL, values, 3, 2, TEM_EUCLIDEAN, 3);
    assert_int_equal(make(model, "hyperbolic", 5, &error), TEM_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "hyperbolic metric"));
    tem_model_free(model);
}

static void test_comparisons(void **state) {
    (void)state;
    assert_true(comparisons <= COMPARISONS_MAX);
}

int main(void) {
    snprintf(model_path, sizeof model_path, "/tmp/test_hyperbolic_%d.tem", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_pairs),
        cmocka_unit_test(test_near_pairs),
        cmocka_unit_test(test_extreme_pairs),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_raw_of_distance),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_axioms_on_lines),
        cmocka_unit_test(test_axioms_everywhere),
        cmocka_unit_test(test_int16_would_merge),
        cmocka_unit_test(test_deviation),
        cmocka_unit_test(test_deviation_attained),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_refused_vectors),
        cmocka_unit_test(test_rounding_threads),
        cmocka_unit_test(test_tells_apart),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damaged_points),
        cmocka_unit_test(test_radius),
        cmocka_unit_test(test_direction),
        cmocka_unit_test(test_move),
        cmocka_unit_test(test_move_far),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_invariance),
        cmocka_unit_test(test_unknown_words),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_comparisons),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(model_path);
    return failed;
}
