/* metric.h - one interface for all metrics.
 *
 * A metric is one file in src/space/metrics and one line in metrics.c. The rest of tem reads
 * the fields below and never compares names. So code that does not know a new metric calls the
 * metric's functions or refuses the metric, and never takes it for the Euclidean one.
 *
 * PRIVACY: distance_of_raw(raw(a, b)) must be a metric on the stored integers, bit for bit
 * (step 1 of docs/PRIVACY.md). Each file says why its distance is a metric; test_metric checks
 * all triples of sets that were made to break the triangle inequality. */
#ifndef SPACE_METRIC_H
#define SPACE_METRIC_H

#include "tem.h"

#include <stdbool.h>

typedef struct space space;

typedef struct metric_ops {
    tem_metric id;       /* the number in the model file */
    const char *name;    /* as the user writes it */
    const char *meaning; /* one line for help texts */

    bool has_vectors;     /* true: tem computes distances from vectors; false: the user gives the
                           * distance of every pair */
    bool is_euclidean;    /* distance_of_raw is the root of a sum of squares; 8-bit codes, tiles
                           * of squares and noise on vectors rely on that */
    bool is_ball;         /* vectors are points of the ball of radius 1, stored as int32 in
                           * space.points (ball.h); space.rows is NULL */
    bool needs_direction; /* tem scales vectors to length 1 before it rounds them, and refuses a
                           * zero vector */

    /* How much rounding the vectors changes distances, for grid.c; unused if is_ball. norm returns
     * the length of a rounding error of `count` numbers. If both ends move by at most r, the
     * distance changes by at most 2 r * stretch, plus rounding_steps steps of 2^-16 for its own
     * rounding. */
    double (*norm)(const double *errors, uint32_t count);
    double stretch;
    uint32_t rounding_steps;

    /* raw returns a number that orders pairs of words as their distances do. distance_of_raw
     * returns its distance. raw_of_distance returns the largest such number whose distance is
     * at most d. */
    uint64_t (*raw)(const space *s, uint32_t a, uint32_t b);
    tem_dist (*distance_of_raw)(const space *s, uint64_t raw);
    uint64_t (*raw_of_distance)(const space *s, tem_dist d);

    /* Returns a bound on the distance of row x from every row of the same length or shorter,
     * or UINT32_MAX if such a distance may not fit. NULL: every distance fits. */
    tem_dist (*reach)(const space *s, const int16_t *x);
} metric_ops;

extern const metric_ops metric_euclidean, metric_angular, metric_l1, metric_linf, metric_hyperbolic,
    metric_matrix;

/* metric_find returns the metric with this number, or NULL. metric_at returns the i-th metric, from
 * 0, or NULL after the last. */
const metric_ops *metric_find(tem_metric id);
const metric_ops *metric_at(unsigned i);

/* Returns a length of `units` * 2^-step_log2 as a tem_dist, rounded up; UINT32_MAX if it does not
 * fit. */
tem_dist metric_distance_of_length(uint32_t step_log2, uint64_t units);

/* distance_of_raw and raw_of_distance for metrics whose raw number is the distance: both return
 * their argument. */
tem_dist metric_raw_is_distance(const space *s, uint64_t raw);
uint64_t metric_distance_is_raw(const space *s, tem_dist d);

/* A row of zeros, to measure the length of a row and to recognize a zero vector. */
extern const int16_t metric_zero_row[TEM_DIMENSION_MAX];

#endif
