/* space.h - words as points: the stored vectors and the exact metric on them.
 *
 * Every metric (metric.h, one file each in metrics/) returns a tem_dist and IS a metric,
 * bit for bit.
 *
 * PRIVACY: the proof of the mechanism needs the triangle inequality for exactly
 * these integers (tests/unit/test_metric.c checks all triples of small sets).
 *
 * A distance that does not fit is UINT32_MAX. That keeps the triangle inequality: the
 * minimum of a metric and a constant is a metric too. tem never builds such a space;
 * only a damaged file can contain one. */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "space/metric.h"

enum { SPACE_STEP_LOG2_MIN = 4, SPACE_STEP_LOG2_MAX = 30 };

/* A view: the model owns rows and matrix. */
typedef struct space {
    const metric_ops *metric;
    uint32_t count;
    uint32_t dimension;
    uint32_t row_elements; /* dimension rounded up to KERNEL_ROW_UNIT, zero-padded */
    uint32_t step_log2;    /* q: one unit of a row is 2^-q */
    const int16_t
        *rows; /* count * row_elements, 64-byte aligned; NULL if the metric has no vectors */
    const int32_t *points;  /* the same, if the metric is that of a ball (ball.h); else NULL */
    const uint32_t *matrix; /* space_pair_count distances; NULL if the metric has vectors */
} space;

/* Returns the elements of a row of this dimension, padding included. */
uint32_t space_row_elements(uint32_t dimension);

static inline const int16_t *space_row(const space *s, uint32_t id) {
    return s->rows + (size_t)id * s->row_elements;
}

static inline const int32_t *space_point(const space *s, uint32_t id) {
    return s->points + (size_t)id * s->row_elements;
}

/* Starts to load the vector of a word into the cache. Does nothing if the metric has no
 * vectors. */
static inline void space_prefetch(const space *s, uint32_t id) {
    if (s->rows == NULL)
        return;
    const char *row = (const char *)space_row(s, id);
    for (size_t byte = 0; byte < s->row_elements * sizeof *s->rows; byte += 64)
        __builtin_prefetch(row + byte);
}

/* space_raw returns a number that orders pairs of words as their distances do.
 * space_distance_of_raw returns its distance. space_raw_of_distance returns the largest such
 * number whose distance is at most d (metric.h). The ids a and b must be below count. */
static inline uint64_t space_raw(const space *s, uint32_t a, uint32_t b) {
    return s->metric->raw(s, a, b);
}

static inline tem_dist space_distance_of_raw(const space *s, uint64_t raw) {
    return s->metric->distance_of_raw(s, raw);
}

static inline uint64_t space_raw_of_distance(const space *s, tem_dist d) {
    return s->metric->raw_of_distance(s, d);
}

/* Returns the exact distance of words a and b. */
static inline tem_dist space_distance(const space *s, uint32_t a, uint32_t b) {
    return space_distance_of_raw(s, space_raw(s, a, b));
}

/* Computes the distances of word a from the words first to first + count - 1. */
void space_distances(const space *s, uint32_t a, uint32_t first, uint32_t count, tem_dist *out);

/* A distance that no two words exceed. Cost: some tens of distances per word. */
tem_dist space_reach(const space *s);

/* Convert between a squared euclidean distance in units of 4^-q and a tem_dist. The
 * first rounds up, to UINT32_MAX at most. The second returns the largest square whose
 * distance is at most d, or UINT64_MAX if the square does not fit. */
tem_dist space_distance_of_square(uint32_t step_log2, uint64_t square);
uint64_t space_square_of_distance(uint32_t step_log2, tem_dist d);

/* space_distance_of_square for `count` squares below 2^32. `out` may be `squares`. */
void space_distances_of_squares(const space *s, const uint32_t *squares, uint32_t count,
                                tem_dist *out);

/* Returns the place of the pair (a, b), a != b, in the matrix, which stores the lower
 * triangle row by row. */
static inline uint64_t space_pair_index(uint32_t a, uint32_t b) {
    uint64_t high = a > b ? a : b, low = a > b ? b : a;
    return high * (high - 1) / 2 + low;
}

static inline uint64_t space_pair_count(uint32_t count) {
    return (uint64_t)count * (count - (uint64_t)1) / 2;
}

/* Fails with TEM_ERR_DAMAGED if a row has a value outside +-KERNEL_VALUE_MAX, a point is not in the
 * ball, or a padding is not zero. grid_round and ball_round never make such rows. */
tem_status space_check_rows(const space *s, tem_error *error);

/* Fails with TEM_ERR_RANGE if a distance might reach UINT32_MAX, or if a vector is zero
 * and the metric needs a direction. */
tem_status space_check_range(const space *s, tem_error *error);

/* Fails with TEM_ERR_METRIC if the matrix breaks a triangle inequality. For up to 400
 * words it checks all triples. For more words it checks four million pseudo-random
 * triples, and then all triples with two words at distance 0. *checked receives the
 * number of triples, without this last check. *exhaustive receives whether it checked
 * all triples. */
tem_status space_check_matrix(const space *s, uint64_t *checked, bool *exhaustive,
                              tem_error *error);

#endif
