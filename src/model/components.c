/* components.c - the mean and the components of many vectors. */
#include "model/components.h"

#include "core/lapack.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <string.h>

enum {
    PARTS_MOST = 64,
    TOGETHER = 8 /* vectors whose products are added in one go: fewer loads and stores of sums */
};

/* The sums of all parts together take at most this, or one part. */
#define PRODUCT_BYTES_MOST ((uint64_t)1 << 30)

/* A component of less variance than this is rounding of the numbers given, which are floats:
 * 2^-24 squared is 4e-15. The first is relative to the largest variance, the second to 1, the
 * squared length of the vectors. */
static const double noise_relative = 1e-12, noise = 1e-14;

uint32_t component_parts(const tem_vectors *vectors) {
    const uint64_t bytes = (uint64_t)vectors->dimension * vectors->dimension * sizeof(double);
    const uint64_t most = PRODUCT_BYTES_MOST / bytes;
    return most > PARTS_MOST ? PARTS_MOST : (uint32_t)most;
}

uint32_t component_part_start(const tem_vectors *vectors, uint32_t parts, uint64_t part) {
    return (uint32_t)(vectors->words.count * part / parts);
}

void component_load(const tem_vectors *v, uint32_t id, double factor, double *out) {
    const size_t at = (size_t)id * v->dimension;
    if (v->values != NULL) {
        for (uint32_t i = 0; i < v->dimension; i++)
            out[i] = v->values[at + i] * factor;
    } else {
        const double step = ldexp(factor, -(int)v->step_log2);
        for (uint32_t i = 0; i < v->dimension; i++)
            out[i] = v->grid[at + i] * step;
    }
}

void component_add_parts(double *sums, uint32_t parts, size_t width) {
    for (uint32_t part = 1; part < parts; part++)
        for (size_t i = 0; i < width; i++)
            sums[i] += sums[part * width + i];
}

/* The work that components_find gives to its threads: one item per part. */
typedef struct component_job {
    const component_source *source;
    const double *mean;
    double *sums; /* parts * columns, then parts * columns * columns */
} component_job;

static void sum_part(void *context, uint64_t item, unsigned thread) {
    const component_job *job = context;
    const component_source *s = job->source;
    const uint32_t columns = s->vectors->dimension;
    const uint32_t end = component_part_start(s->vectors, s->parts, item + 1);
    double *sums = job->sums + item * columns, row[TEM_DIMENSION_MAX];
    (void)thread;
    for (uint32_t id = component_part_start(s->vectors, s->parts, item); id < end; id++) {
        if (s->lengths[id] <= 0)
            continue;
        component_load(s->vectors, id, 1 / s->lengths[id], row);
        for (uint32_t i = 0; i < columns; i++)
            sums[i] += row[i];
    }
}

static tem_status find_mean(component_job *job, const tem_run *run, double *mean,
                            tem_error *error) {
    const component_source *s = job->source;
    const uint32_t columns = s->vectors->dimension;
    job->sums = core_alloc_zero((size_t)s->parts * columns, sizeof *job->sums);
    if (job->sums == NULL)
        return core_fail_memory(error);
    const tem_status status =
        core_parallel(run, "finding the mean", s->parts, sum_part, job, error);
    component_add_parts(job->sums, s->parts, columns);
    for (uint32_t i = 0; i < columns; i++)
        mean[i] = job->sums[i] / s->counted;
    core_free(job->sums);
    job->sums = NULL;
    return status;
}

/* Adds the products of TOGETHER centered vectors to the upper half of `sums`. */
static void add_products(double (*rows)[TEM_DIMENSION_MAX], uint32_t columns, double *sums) {
    const double *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2],
                           *restrict d = rows[3], *restrict e = rows[4], *restrict f = rows[5],
                           *restrict g = rows[6], *restrict h = rows[7];
    for (uint32_t i = 0; i < columns; i++) {
        double *restrict sum = sums + (size_t)i * columns;
        for (uint32_t k = i; k < columns; k++)
            sum[k] += ((a[i] * a[k] + b[i] * b[k]) + (c[i] * c[k] + d[i] * d[k])) +
                      ((e[i] * e[k] + f[i] * f[k]) + (g[i] * g[k] + h[i] * h[k]));
    }
}

static void multiply_part(void *context, uint64_t item, unsigned thread) {
    const component_job *job = context;
    const component_source *s = job->source;
    const uint32_t columns = s->vectors->dimension;
    const uint32_t end = component_part_start(s->vectors, s->parts, item + 1);
    double *sums = job->sums + item * columns * columns;
    double rows[TOGETHER][TEM_DIMENSION_MAX];
    uint32_t filled = 0;
    (void)thread;
    for (uint32_t id = component_part_start(s->vectors, s->parts, item); id < end; id++) {
        if (s->lengths[id] <= 0)
            continue;
        double *row = rows[filled++];
        component_load(s->vectors, id, 1 / s->lengths[id], row);
        for (uint32_t i = 0; i < columns; i++)
            row[i] -= job->mean[i];
        if (filled < TOGETHER)
            continue;
        add_products(rows, columns, sums);
        filled = 0;
        if (core_task_stopped())
            return;
    }
    for (uint32_t r = filled; filled > 0 && r < TOGETHER; r++)
        memset(rows[r], 0, columns * sizeof **rows);
    if (filled > 0)
        add_products(rows, columns, sums);
}

/* Fills the symmetric matrix of the mean products. */
static tem_status find_products(component_job *job, const tem_run *run, double *matrix,
                                tem_error *error) {
    const component_source *s = job->source;
    const size_t columns = s->vectors->dimension;
    job->sums = core_alloc_zero(s->parts * columns * columns, sizeof *job->sums);
    if (job->sums == NULL)
        return core_fail_memory(error);
    const tem_status status =
        core_parallel(run, "finding the components", s->parts, multiply_part, job, error);
    component_add_parts(job->sums, s->parts, columns * columns);
    for (size_t i = 0; i < columns; i++)
        for (size_t k = i; k < columns; k++)
            matrix[i * columns + k] = matrix[k * columns + i] =
                job->sums[i * columns + k] / s->counted;
    core_free(job->sums);
    job->sums = NULL;
    return status;
}

static void turn_positive(double *row, uint32_t columns) {
    uint32_t largest = 0;
    for (uint32_t i = 1; i < columns; i++)
        if (fabs(row[i]) > fabs(row[largest]))
            largest = i;
    const double sign = row[largest] < 0 ? -1 : 1;
    for (uint32_t i = 0; i < columns; i++)
        row[i] *= sign;
}

static void swap(double *a, double *b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts the largest variance first, fixes the signs, and counts the components that are no noise. */
static void put_in_order(components *c) {
    const uint32_t n = c->columns;
    for (uint32_t i = 0; i < n / 2; i++) {
        swap(&c->variances[i], &c->variances[n - 1 - i]);
        for (uint32_t k = 0; k < n; k++)
            swap(&c->rows[(size_t)i * n + k], &c->rows[(size_t)(n - 1 - i) * n + k]);
    }
    for (uint32_t i = 0; i < n; i++)
        turn_positive(c->rows + (size_t)i * n, n);
    while (c->rank < n && c->variances[c->rank] > noise &&
           c->variances[c->rank] > noise_relative * c->variances[0])
        c->rank++;
}

tem_status components_find(const component_source *source, const tem_run *run, components *out,
                           tem_error *error) {
    const size_t columns = source->vectors->dimension;
    components c = {.columns = source->vectors->dimension,
                    .mean = core_alloc(columns, sizeof(double)),
                    .variances = core_alloc(columns, sizeof(double)),
                    .rows = core_alloc(columns * columns, sizeof(double))};
    component_job job = {.source = source, .mean = c.mean};
    *out = c;
    if (c.mean == NULL || c.variances == NULL || c.rows == NULL)
        return core_fail_memory(error);
    tem_status status = find_mean(&job, run, c.mean, error);
    if (status == TEM_OK)
        status = find_products(&job, run, c.rows, error);
    if (status == TEM_OK)
        status = lapack_eigenvectors(c.columns, c.rows, c.variances, run, error);
    if (status == TEM_OK)
        put_in_order(out);
    return status;
}

void components_free(components *c) {
    core_free(c->mean);
    core_free(c->variances);
    core_free(c->rows);
}
