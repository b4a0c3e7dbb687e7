/* grid.h - rounding vectors to the int16 grid, once, when a model is built.
 *
 * The only floating point of a model is here, and it ends here: what is rounded is
 * what is stored, searched and sampled. */
#ifndef SPACE_GRID_H
#define SPACE_GRID_H

#include "space/space.h"

/* Chooses the finest step 2^-q, q from SPACE_STEP_LOG2_MIN to SPACE_STEP_LOG2_MAX,
 * that keeps every value within +-KERNEL_VALUE_MAX, and rounds to nearest, ties to
 * even. Where the metric needs a direction the vectors are scaled to length 1 first.
 *   values      count * dimension, finite
 *   rows        count * space_row_elements(dimension); padding is zeroed
 *   step_log2   receives q
 *   deviation   receives a bound on |distance on the grid - distance of the values|
 *               over all pairs, rounding of the distance included, in steps of 2^-16
 * Fails with TEM_ERR_RANGE (too large for q = 4; a zero vector where a direction is needed),
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status grid_round(const float *values, uint32_t count, uint32_t dimension,
                      const metric_ops *metric, const tem_run *run, int16_t *rows,
                      uint32_t *step_log2, tem_dist *deviation, tem_error *error);

/* Whether two vectors are more than 2^-17 apart, half a step of a distance, as they are given; for
 * TEM_ANGULAR, as chords of the unit sphere. */
bool grid_tells_apart(const float *a, const float *b, uint32_t dimension, const metric_ops *metric);

#endif
