/* metric_euclidean.c - d = ceil(sqrt(S) * 2^(16-q)), S the exact integer sum of squares.
 *
 * The ceiling of a metric is a metric: ceil(x + y) <= ceil(x) + ceil(y). The raw number is S,
 * which needs no root and is enough for comparisons. */
#include "space/kernels/kernels.h"
#include "space/space.h"

#include <math.h>

static uint64_t raw(const space *s, uint32_t a, uint32_t b) {
    return kernels_active()->l2_i16(space_row(s, a), space_row(s, b), s->row_elements);
}

static tem_dist distance_of_raw(const space *s, uint64_t square) {
    return space_distance_of_square(s->step_log2, square);
}

static uint64_t raw_of_distance(const space *s, tem_dist d) {
    return space_square_of_distance(s->step_log2, d);
}

static tem_dist reach(const space *s, const int16_t *x) {
    return space_distance_of_square(s->step_log2,
                                    4 * (uint64_t)kernels_active()->dot_i16(x, x, s->row_elements));
}

static double norm(const double *errors, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += errors[i] * errors[i];
    return sqrt(sum);
}

const metric_ops metric_euclidean = {.id = TEM_EUCLIDEAN,
                                     .name = "euclidean",
                                     .meaning = "the straight line",
                                     .has_vectors = true,
                                     .is_euclidean = true,
                                     .norm = norm,
                                     .stretch = 1,
                                     .rounding_steps = 1,
                                     .raw = raw,
                                     .distance_of_raw = distance_of_raw,
                                     .raw_of_distance = raw_of_distance,
                                     .reach = reach};
