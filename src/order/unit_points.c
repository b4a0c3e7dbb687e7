/* unit_points.c - scales, centers, scales again and rounds. */
#include "order/unit_points.h"

#include "core/memory.h"
#include "core/status.h"
#include "space/integer_math.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 int128;

/* The vectors as they were given. */
typedef struct given_vectors {
    const float *values;
    const int16_t *grid;
    uint32_t dimension;
} given_vectors;

/* Sets row to vector `id`, scaled to length 1; zero if it is zero. */
static void read_unit(const given_vectors *v, uint32_t id, double *row) {
    const size_t first = (size_t)id * v->dimension;
    double square = 0;
    for (uint32_t i = 0; i < v->dimension; i++) {
        row[i] = v->values != NULL ? (double)v->values[first + i] : (double)v->grid[first + i];
        square += row[i] * row[i];
    }
    const double length = sqrt(square);
    for (uint32_t i = 0; i < v->dimension && length > 0; i++)
        row[i] /= length;
}

static void find_mean(const given_vectors *v, uint32_t count, double *row, double *mean) {
    for (uint32_t id = 0; id < count; id++) {
        read_unit(v, id, row);
        for (uint32_t i = 0; i < v->dimension; i++)
            mean[i] += row[i];
    }
    for (uint32_t i = 0; i < v->dimension; i++)
        mean[i] /= count;
}

/* Vectors that differ from the mean by rounding alone have no direction. */
static void round_row(const double *row, uint32_t dimension, int16_t *out) {
    double square = 0;
    for (uint32_t i = 0; i < dimension; i++)
        square += row[i] * row[i];
    const double length = sqrt(square);
    for (uint32_t i = 0; i < dimension && length > 1e-9; i++)
        out[i] = (int16_t)floor(row[i] / length * UNIT_LENGTH + 0.5);
}

tem_status unit_points_make(const float *values, const int16_t *grid, uint32_t count,
                            uint32_t dimension, unit_points *out, tem_error *error) {
    const given_vectors v = {values, grid, dimension};
    unit_points p = {
        .count = count, .dimension = dimension, .row_elements = space_row_elements(dimension)};
    double *row = core_alloc(dimension, sizeof *row);
    double *mean = core_alloc_zero(dimension, sizeof *mean);
    p.rows = core_alloc_zero((size_t)count * p.row_elements, sizeof *p.rows);
    tem_status status = TEM_OK;
    if (row == NULL || mean == NULL || p.rows == NULL) {
        unit_points_free(&p);
        status = core_fail_memory(error);
    } else {
        find_mean(&v, count, row, mean);
        for (uint32_t id = 0; id < count; id++) {
            read_unit(&v, id, row);
            for (uint32_t i = 0; i < dimension; i++)
                row[i] -= mean[i];
            round_row(row, dimension, p.rows + (size_t)id * p.row_elements);
        }
        *out = p;
    }
    core_free(row);
    core_free(mean);
    return status;
}

void unit_points_free(unit_points *p) {
    core_free(p->rows);
    *p = (unit_points){0};
}

void unit_add(int64_t *sum, const int16_t *row, uint32_t dimension) {
    for (uint32_t i = 0; i < dimension; i++)
        sum[i] += row[i];
}

void unit_scale(const int64_t *sum, uint32_t dimension, int16_t *row) {
    uint128 square = 0;
    for (uint32_t i = 0; i < dimension; i++)
        square += (uint128)((int128)sum[i] * sum[i]);
    const int128 length = (int128)root_ceil(square);
    /* A number is at most the length, so a short length needs 64 bits only. */
    const int64_t narrow = length < (int128)1 << 48 ? (int64_t)length : 0;
    for (uint32_t i = 0; i < dimension; i++)
        row[i] = length == 0   ? 0
                 : narrow != 0 ? (int16_t)(sum[i] * UNIT_LENGTH / narrow)
                               : (int16_t)((int128)sum[i] * UNIT_LENGTH / length);
}
