/* metric.h - one interface for all metrics.
 *
 * A metric is one file in src/space/metrics and one line in metrics.c. The rest of tem asks
 * the fields below and never compares names: a new metric that a caller does not know is
 * served by its functions or refused, and is never taken for the Euclidean one.
 *
 * PRIVACY: distance_of_raw(raw(a, b)) must be a metric on the stored integers, bit for bit
 * (step 1 of docs/PRIVACY.md). Each file says why its distance is one; test_metric checks all
 * triples of sets made to break it. */
#ifndef SPACE_METRIC_H
#define SPACE_METRIC_H

#include "tem.h"

#include <stdbool.h>

typedef struct space space;

typedef struct metric_ops {
    tem_metric id;       /* the number in the model file */
    const char *name;    /* as the user writes it */
    const char *meaning; /* one line for help texts */

    bool has_vectors;     /* distances are computed from vectors; else the user gave every pair */
    bool is_euclidean;    /* distance_of_raw is the root of a sum of squares: 8-bit codes, tiles
                           * of squares and noise on vectors rest on that */
    bool needs_direction; /* vectors are scaled to length 1 before they are rounded; a zero
                           * vector is refused */

    /* How rounding the vectors moves distances, in grid.c. norm: the length of a rounding
     * error, `count` numbers. If both ends move by at most r, the distance moves by at most
     * 2 r * stretch, plus rounding_steps of 2^-16 for its own rounding. */
    double (*norm)(const double *errors, uint32_t count);
    double stretch;
    uint32_t rounding_steps;

    /* A number that orders pairs of words as their distances do, the distance it stands for,
     * and the largest such number whose distance is at most d. */
    uint64_t (*raw)(const space *s, uint32_t a, uint32_t b);
    tem_dist (*distance_of_raw)(const space *s, uint64_t raw);
    uint64_t (*raw_of_distance)(const space *s, tem_dist d);

    /* A bound on the distance of row x from every row of the same size or smaller;
     * UINT32_MAX: it may not fit. NULL: every distance fits. */
    tem_dist (*reach)(const space *s, const int16_t *x);
} metric_ops;

extern const metric_ops metric_euclidean, metric_angular, metric_l1, metric_linf, metric_matrix;

/* The metric with this number, or NULL. The i-th of all, from 0, or NULL beyond the last. */
const metric_ops *metric_find(tem_metric id);
const metric_ops *metric_at(unsigned i);

/* A length of `units` * 2^-step_log2 as a tem_dist, rounded up; and d itself: for metrics whose
 * raw number is the distance. */
tem_dist metric_distance_of_length(uint32_t step_log2, uint64_t units);
tem_dist metric_raw_is_distance(const space *s, uint64_t raw);
uint64_t metric_distance_is_raw(const space *s, tem_dist d);

/* A row of zeros, for lengths of vectors. */
extern const int16_t metric_zero_row[TEM_DIMENSION_MAX];

#endif
