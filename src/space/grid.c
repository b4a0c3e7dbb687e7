/* grid.c - rounds vectors to the int16 grid. */
#include "space/grid.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "space/ball.h"
#include "space/kernels/kernels.h"

#include <math.h>
#include <string.h>

enum { ROWS_PER_ITEM = 1024 };

typedef struct rounding {
    const float *values;
    uint32_t count, dimension, row_elements;
    const metric_ops *metric;
    int16_t *rows;
    uint32_t step_log2;
    double *errors; /* the largest rounding error of each item, in the metric's norm */
} rounding;

/* Returns the factor for a vector before rounding; 0 if the metric needs a direction
 * and the vector has none. */
static double scale_of(const rounding *r, const float *x) {
    if (!r->metric->needs_direction)
        return 1;
    double sum = 0;
    for (uint32_t i = 0; i < r->dimension; i++)
        sum += (double)x[i] * x[i];
    return sum > 0 ? 1 / sqrt(sum) : 0;
}

bool grid_tells_apart(const float *a, const float *b, uint32_t dimension,
                      const metric_ops *metric) {
    if (metric->is_ball)
        return ball_tells_apart(a, b, dimension);
    const rounding r = {.dimension = dimension, .metric = metric};
    const double of_a = scale_of(&r, a), of_b = scale_of(&r, b);
    double differences[TEM_DIMENSION_MAX];
    for (uint32_t i = 0; i < dimension; i++)
        differences[i] = a[i] * of_a - b[i] * of_b;
    return metric->norm(differences, dimension) > 0.5 / TEM_DIST_ONE;
}

/* Rounds one vector. Returns the norm of its rounding error. */
static double round_row(const rounding *r, const float *x, int16_t *row) {
    const double scale = scale_of(r, x), steps = ldexp(1, (int)r->step_log2);
    double errors[TEM_DIMENSION_MAX];
    for (uint32_t i = 0; i < r->dimension; i++) {
        const double exact = x[i] * scale * steps, rounded = nearbyint(exact);
        row[i] = (int16_t)rounded;
        errors[i] = (exact - rounded) / steps;
    }
    memset(row + r->dimension, 0, (r->row_elements - r->dimension) * sizeof *row);
    return r->metric->norm(errors, r->dimension);
}

static void round_item(void *context, uint64_t item, unsigned thread) {
    const rounding *r = context;
    (void)thread;
    const uint64_t first = item * ROWS_PER_ITEM;
    double largest = 0;
    for (uint64_t id = first; id < r->count && id < first + ROWS_PER_ITEM; id++)
        largest = fmax(largest,
                       round_row(r, r->values + id * r->dimension, r->rows + id * r->row_elements));
    r->errors[item] = largest;
}

/* Returns the largest |value| after scaling; *row receives its row. If the metric needs a
 * direction and a vector has none, returns -1, and *row receives the row of that vector. */
static double largest_value(const rounding *r, uint32_t *row) {
    double largest = 0;
    *row = 0;
    for (uint32_t id = 0; id < r->count; id++) {
        const float *x = r->values + (size_t)id * r->dimension;
        const double scale = scale_of(r, x);
        double size = 0;
        for (uint32_t i = 0; i < r->dimension; i++)
            size = fmax(size, fabs(x[i] * scale));
        if (size > largest || scale <= 0)
            *row = id;
        if (scale <= 0)
            return -1;
        largest = fmax(largest, size);
    }
    return largest;
}

static tem_status choose_step(rounding *r, tem_error *error) {
    uint32_t row = 0;
    const double largest = largest_value(r, &row);
    if (largest < 0)
        return core_fail(error, TEM_ERR_RANGE, "the vector of word %u is zero and has no angle",
                         row + 1);
    for (int q = SPACE_STEP_LOG2_MAX; q >= SPACE_STEP_LOG2_MIN; q--)
        if (nearbyint(ldexp(largest, q)) <= KERNEL_VALUE_MAX) {
            r->step_log2 = (uint32_t)q;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_RANGE,
                     "the vector of word %u has a value of %.6g, beyond the grid's 1023.9: divide "
                     "all vectors by the same number",
                     row + 1, largest);
}

/* Returns the deviation if rounding moves both ends of a pair by at most `largest`. */
static tem_dist deviation_of(const metric_ops *m, double largest) {
    const double moved = 2 * largest * m->stretch;
    const double steps = ceil(moved * TEM_DIST_ONE * (1 + 1e-9)) + m->rounding_steps;
    return steps < UINT32_MAX ? (tem_dist)steps : UINT32_MAX;
}

tem_status grid_round(const float *values, uint32_t count, uint32_t dimension,
                      const metric_ops *metric, const tem_run *run, int16_t *rows,
                      uint32_t *step_log2, tem_dist *deviation, tem_error *error) {
    const uint64_t items = ((uint64_t)count + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    rounding r = {.values = values,
                  .count = count,
                  .dimension = dimension,
                  .row_elements = space_row_elements(dimension),
                  .metric = metric,
                  .rows = rows};
    TRY(choose_step(&r, error));
    r.errors = core_alloc_zero(items, sizeof *r.errors);
    if (r.errors == NULL)
        return core_fail_memory(error);
    tem_status status = core_parallel(run, "rounding", items, round_item, &r, error);
    if (status == TEM_OK) {
        double largest = 0;
        for (uint64_t i = 0; i < items; i++)
            largest = fmax(largest, r.errors[i]);
        *step_log2 = r.step_log2;
        *deviation = deviation_of(metric, largest);
    }
    core_free(r.errors);
    return status;
}
