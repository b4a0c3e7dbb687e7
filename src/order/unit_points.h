/* unit_points.h - vectors as points on a sphere around their middle, in integers. */
#ifndef ORDER_UNIT_POINTS_H
#define ORDER_UNIT_POINTS_H

#include "space/space.h"

#include <stddef.h>

/* Every row has the length UNIT_LENGTH, up to rounding, or is zero. So the scalar product of two
 * rows is UNIT_LENGTH^2 times the cosine of their angle, and fits int32. */
enum { UNIT_LENGTH = 16383 };

typedef struct unit_points {
    uint32_t count, dimension, row_elements; /* space.h */
    int16_t *rows;
} unit_points;

/* Makes points from vectors: scales each to length 1, subtracts the mean of all, scales again, and
 * rounds. `values`, or else `grid`, has count * dimension numbers. A vector without a direction
 * becomes zero. The result is the same on every machine: the sums have a fixed order. Fails with
 * TEM_ERR_MEMORY. Free with unit_points_free. */
tem_status unit_points_make(const float *values, const int16_t *grid, uint32_t count,
                            uint32_t dimension, unit_points *out, tem_error *error);
void unit_points_free(unit_points *p);

static inline const int16_t *unit_row(const unit_points *p, uint32_t id) {
    return p->rows + (size_t)id * p->row_elements;
}

/* Scales a sum of rows to UNIT_LENGTH, rounding down; zero stays zero. */
void unit_scale(const int64_t *sum, uint32_t dimension, int16_t *row);

/* Adds a row to a sum. */
void unit_add(int64_t *sum, const int16_t *row, uint32_t dimension);

#endif
