/* ball.c - points of the Poincare ball. */
#include "space/ball.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    ROWS_PER_ITEM = 1024,
    ROUNDING_STEPS = 3 /* metric_hyperbolic.c: a distance is less than 2 + 1/64 steps too long */
};

/* The arithmetic is modulo 2^64, so that a damaged file gives a wrong number and nothing worse. */
uint64_t ball_square(const int32_t *x, uint32_t dimension) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < dimension; i++)
        sum += (uint64_t)((int64_t)x[i] * x[i]);
    return sum;
}

uint64_t ball_square_between(const int32_t *x, const int32_t *y, uint32_t dimension) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < dimension; i++) {
        const uint64_t difference = (uint64_t)((int64_t)x[i] - y[i]);
        sum += difference * difference;
    }
    return sum;
}

/* ---- rounding ---- */

typedef struct ball_rounding {
    const float *values;
    uint32_t count, dimension, row_elements;
    int32_t *points;
    double *moved;                 /* the farthest that a point of each item moves */
    atomic_uint_fast64_t bad_word; /* the first whose vector is not inside the ball */
} ball_rounding;

/* A lower bound on 1 - |x|^2. Squares of floats are exact, and each addition is off by at most half
 * of DBL_EPSILON, because the sum is below 2. */
static double room_of(const float *x, uint32_t dimension) {
    double sum = 0;
    for (uint32_t i = 0; i < dimension && sum < 1; i++)
        sum += (double)x[i] * x[i];
    return 1 - sum - DBL_EPSILON * (dimension + 1.0);
}

/* A bound on the hyperbolic distance of two points at the euclidean distance `apart`: 2 arsinh(v)
 * <= 2 v. room_a, room_b: lower bounds on 1 minus their squared lengths. Without libm's asinh every
 * machine gets the same deviation, and so the same file. */
static double distance_at(double apart, double room_a, double room_b) {
    return 2 * apart / sqrt(room_a * room_b) * (1 + 1e-9);
}

/* Rounds one vector. Returns how far that moves it, or -1 if it is not inside the ball. */
static double round_point(const ball_rounding *r, const float *x, int32_t *point) {
    const double steps = ldexp(1, BALL_STEP_LOG2), room = room_of(x, r->dimension);
    double square = 0;
    if (!(room > 0))
        return -1;
    for (uint32_t i = 0; i < r->dimension; i++) {
        const double exact = x[i] * steps, rounded = nearbyint(exact);
        point[i] = (int32_t)rounded;
        square += (exact - rounded) * (exact - rounded);
    }
    memset(point + r->dimension, 0, (r->row_elements - r->dimension) * sizeof *point);
    const uint64_t length = ball_square(point, r->dimension);
    if (length >= BALL_SQUARE)
        return -1;
    return distance_at(sqrt(square) / steps, room,
                       (double)(BALL_SQUARE - length) / (double)BALL_SQUARE);
}

static void round_item(void *context, uint64_t item, unsigned thread) {
    ball_rounding *r = context;
    (void)thread;
    const uint64_t first = item * ROWS_PER_ITEM;
    for (uint64_t id = first; id < r->count && id < first + ROWS_PER_ITEM; id++) {
        const double moved =
            round_point(r, r->values + id * r->dimension, r->points + id * r->row_elements);
        if (moved < 0)
            core_atomic_least(&r->bad_word, id);
        r->moved[item] = fmax(r->moved[item], moved);
    }
}

static tem_status refuse(uint64_t id, tem_error *error) {
    return core_fail(error, TEM_ERR_RANGE,
                     "the vector of word %llu is not inside the ball of radius 1, where the "
                     "hyperbolic metric has its points: use vectors that were trained in the "
                     "Poincare ball, or another metric",
                     (unsigned long long)id + 1);
}

/* If rounding moves both ends of a pair by at most `largest`, their distance changes by at most
 * twice that, by the triangle inequality. */
static tem_dist deviation_of(double largest) {
    const double steps = ceil(2 * largest * TEM_DIST_ONE) + ROUNDING_STEPS;
    return steps < UINT32_MAX ? (tem_dist)steps : UINT32_MAX;
}

tem_status ball_round(const float *values, uint32_t count, uint32_t dimension, const tem_run *run,
                      int32_t *points, tem_dist *deviation, tem_error *error) {
    const uint64_t items = ((uint64_t)count + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    ball_rounding r = {.values = values,
                       .count = count,
                       .dimension = dimension,
                       .row_elements = space_row_elements(dimension),
                       .points = points,
                       .moved = core_alloc_zero(items, sizeof *r.moved)};
    if (r.moved == NULL)
        return core_fail_memory(error);
    atomic_init(&r.bad_word, UINT64_MAX);
    tem_status status = core_parallel(run, "rounding", items, round_item, &r, error);
    const uint64_t bad = atomic_load(&r.bad_word);
    if (status == TEM_OK && bad != UINT64_MAX)
        status = refuse(bad, error);
    double largest = 0;
    for (uint64_t i = 0; i < items; i++)
        largest = fmax(largest, r.moved[i]);
    if (status == TEM_OK)
        *deviation = deviation_of(largest);
    core_free(r.moved);
    return status;
}

bool ball_tells_apart(const float *a, const float *b, uint32_t dimension) {
    double square = 0;
    for (uint32_t i = 0; i < dimension; i++)
        square += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return distance_at(sqrt(square), room_of(a, dimension), room_of(b, dimension)) >
           0.5 / TEM_DIST_ONE;
}

/* ---- the check of a file ---- */

/* Stops before the sum could overflow: each square is at most 2^62. */
static bool is_inside(const int32_t *x, uint32_t dimension) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < dimension && sum < BALL_SQUARE; i++)
        sum += (uint64_t)((int64_t)x[i] * x[i]);
    return sum < BALL_SQUARE;
}

tem_status ball_check(const space *s, tem_error *error) {
    for (uint32_t id = 0; id < s->count; id++) {
        const int32_t *x = space_point(s, id);
        bool is_good = is_inside(x, s->dimension);
        for (uint32_t i = s->dimension; i < s->row_elements; i++)
            is_good = is_good && x[i] == 0;
        if (!is_good)
            return core_fail(error, TEM_ERR_DAMAGED, "the vector of word %u is not in the ball",
                             id + 1);
    }
    return TEM_OK;
}
