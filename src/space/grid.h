/* grid.h - rounds vectors to the int16 grid, once, when tem builds a model.
 *
 * Rounding is the only step at which floating point decides what a model of vectors
 * contains. tem stores and searches the rounded values, and draws by them. */
#ifndef SPACE_GRID_H
#define SPACE_GRID_H

#include "space/space.h"

/* Chooses the finest step 2^-q, q from SPACE_STEP_LOG2_MIN to SPACE_STEP_LOG2_MAX,
 * that keeps every value within +-KERNEL_VALUE_MAX. Rounds to nearest, ties to even.
 * If the metric needs a direction, scales the vectors to length 1 first.
 *   values      count * dimension, finite
 *   rows        count * space_row_elements(dimension); padding is zeroed
 *   step_log2   receives q
 *   deviation   receives a bound on |distance on the grid - distance of the values|
 *               over all pairs, in steps of 2^-16; includes the rounding of the distance
 * Fails with TEM_ERR_RANGE (too large for q = 4; a zero vector if the metric needs a direction),
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status grid_round(const float *values, uint32_t count, uint32_t dimension,
                      const metric_ops *metric, const tem_run *run, int16_t *rows,
                      uint32_t *step_log2, tem_dist *deviation, tem_error *error);

/* Whether two vectors are, before rounding, more than 2^-17 apart, which is half a step of a
 * distance. If the metric needs a direction (TEM_ANGULAR), measures the chord between the vectors
 * scaled to length 1. */
bool grid_tells_apart(const float *a, const float *b, uint32_t dimension, const metric_ops *metric);

#endif
