/* ball.h - points of the Poincare ball, the vectors of the hyperbolic metric.
 *
 * A point is `dimension` int32 in steps of 2^-30, padded with zeros like other rows. Its squared
 * length is below 2^60 squared steps, so the point is inside the ball. Then every sum below fits 64
 * bits: |X|^2 < 2^60, and |X - Y|^2 < (2^30 + 2^30)^2 = 2^62.
 *
 * 16 bits would not do: points of a trained embedding lie as near as 1e-5 to the edge, where a step
 * of 2^-14 is longer than the whole way to the edge. Vectors are given as floats of 24 bits. So a
 * number of 2^-6 or more is a whole number of steps, and rounding moves only smaller ones. */
#ifndef SPACE_BALL_H
#define SPACE_BALL_H

#include "space/space.h"

enum { BALL_STEP_LOG2 = 30 };

/* The squared radius of the ball, in squared steps. */
#define BALL_SQUARE ((uint64_t)1 << 2 * BALL_STEP_LOG2)

/* |x|^2 and |x - y|^2 in squared steps, modulo 2^64. Exact for points of the ball. |x - y|^2 is
 * also exact if the length of one of them is at most 2^30 + 64 steps. */
uint64_t ball_square(const int32_t *x, uint32_t dimension);
uint64_t ball_square_between(const int32_t *x, const int32_t *y, uint32_t dimension);

/* Rounds vectors to points, to nearest, ties to even.
 *   values      count * dimension, finite
 *   points      count * space_row_elements(dimension); padding is zeroed
 *   deviation   receives a bound on |distance of two points - distance of their values| over all
 *               pairs, in steps of 2^-16; includes the rounding of the distance
 * Fails with TEM_ERR_RANGE if a vector, rounded or not, is not inside the ball, or too near to its
 * edge to tell; TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status ball_round(const float *values, uint32_t count, uint32_t dimension, const tem_run *run,
                      int32_t *points, tem_dist *deviation, tem_error *error);

/* grid_tells_apart for vectors in the ball: whether they are more than 2^-17 apart, in the
 * hyperbolic distance, before rounding. */
bool ball_tells_apart(const float *a, const float *b, uint32_t dimension);

/* Fails with TEM_ERR_DAMAGED if a point is not inside the ball or a padding is not zero. */
tem_status ball_check(const space *s, tem_error *error);

#endif
