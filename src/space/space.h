/* space.h - words as points: the stored vectors and the exact metric on them.
 *
 * Every metric (metric.h, one file each in metrics/) returns a tem_dist and IS a metric,
 * bit for bit.
 *
 * PRIVACY: the proof of the mechanism needs the triangle inequality of exactly
 * these integers (tests/unit/test_metric.c goes over all triples of small sets).
 *
 * Distances that would not fit are UINT32_MAX: the minimum of a metric and a
 * constant is a metric too. Building refuses such a space; only a damaged file can
 * bring it about. */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "space/metric.h"

enum { SPACE_STEP_LOG2_MIN = 4, SPACE_STEP_LOG2_MAX = 30 };

/* A view; the model owns rows and matrix. */
typedef struct space {
    const metric_ops *metric;
    uint32_t count;
    uint32_t dimension;
    uint32_t row_elements; /* dimension rounded up to KERNEL_ROW_UNIT, zero-padded */
    uint32_t step_log2;    /* q: one unit of a row is 2^-q */
    const int16_t
        *rows; /* count * row_elements, 64-byte aligned; NULL if the metric has no vectors */
    const uint32_t *matrix; /* space_pair_count of them if the metric has no vectors; else NULL */
} space;

/* Elements of a row of this dimension, padding included. */
uint32_t space_row_elements(uint32_t dimension);

static inline const int16_t *space_row(const space *s, uint32_t id) {
    return s->rows + (size_t)id * s->row_elements;
}

/* Has the vector of a word ready in the cache. Other metrics' distances cost more than
 * waiting for it. */
static inline void space_prefetch(const space *s, uint32_t id) {
    if (s->rows == NULL)
        return;
    const char *row = (const char *)space_row(s, id);
    for (size_t byte = 0; byte < s->row_elements * sizeof *s->rows; byte += 64)
        __builtin_prefetch(row + byte);
}

/* A number that orders pairs of words as their distances do, the distance it stands for, and
 * the largest such number whose distance is at most d (metric.h). Words are below count. */
static inline uint64_t space_raw(const space *s, uint32_t a, uint32_t b) {
    return s->metric->raw(s, a, b);
}

static inline tem_dist space_distance_of_raw(const space *s, uint64_t raw) {
    return s->metric->distance_of_raw(s, raw);
}

static inline uint64_t space_raw_of_distance(const space *s, tem_dist d) {
    return s->metric->raw_of_distance(s, d);
}

/* The exact distance of words a and b. */
static inline tem_dist space_distance(const space *s, uint32_t a, uint32_t b) {
    return space_distance_of_raw(s, space_raw(s, a, b));
}

/* The distances of word a from `count` words, the first of which is `first`. */
void space_distances(const space *s, uint32_t a, uint32_t first, uint32_t count, tem_dist *out);

/* A squared euclidean distance in units of 4^-q as a tem_dist, and back: the
 * largest square whose distance is at most d, cut to 64 bits. */
tem_dist space_distance_of_square(uint32_t step_log2, uint64_t square);
uint64_t space_square_of_distance(uint32_t step_log2, tem_dist d);

/* space_distance_of_square for `count` squares below 2^32. */
void space_distances_of_squares(const space *s, const uint32_t *squares, uint32_t count,
                                tem_dist *out);

/* Where a TEM_MATRIX keeps the pair (a, b), a != b: the lower triangle by rows. */
static inline uint64_t space_pair_index(uint32_t a, uint32_t b) {
    uint64_t high = a > b ? a : b, low = a > b ? b : a;
    return high * (high - 1) / 2 + low;
}

static inline uint64_t space_pair_count(uint32_t count) {
    return (uint64_t)count * (count - (uint64_t)1) / 2;
}

/* TEM_ERR_DAMAGED if a row holds a value outside +-KERNEL_VALUE_MAX, or its padding is
 * not zero: rows that grid_round never makes. */
tem_status space_check_rows(const space *s, tem_error *error);

/* Refuses a space in which a distance might reach UINT32_MAX, or, for the angular
 * metric, a vector is zero: TEM_ERR_RANGE. */
tem_status space_check_range(const space *s, tem_error *error);

/* TEM_ERR_METRIC if a triangle inequality of the matrix is broken: over all triples
 * of up to 400 words, over four million pseudo-random ones beyond and over all triples
 * with two words at distance 0. *checked receives
 * how many were looked at, *exhaustive whether these are all. */
tem_status space_check_matrix(const space *s, uint64_t *checked, bool *exhaustive,
                              tem_error *error);

#endif
