/* metric_linf.c - d = ceil(S * 2^(16-q)), S the exact largest absolute difference. The ceiling of
 * a metric is a metric. */
#include "space/kernels/kernels.h"
#include "space/space.h"

#include <math.h>

static uint64_t raw(const space *s, uint32_t a, uint32_t b) {
    return metric_distance_of_length(
        s->step_log2,
        kernels_active()->linf_i16(space_row(s, a), space_row(s, b), s->row_elements));
}

static tem_dist reach(const space *s, const int16_t *x) {
    return metric_distance_of_length(s->step_log2, 2 * (uint64_t)kernels_active()->linf_i16(
                                                           x, metric_zero_row, s->row_elements));
}

static double norm(const double *errors, uint32_t count) {
    double largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(errors[i]));
    return largest;
}

const metric_ops metric_linf = {.id = TEM_LINF,
                                .name = "linf",
                                .meaning = "the largest absolute difference",
                                .has_vectors = true,
                                .norm = norm,
                                .stretch = 1,
                                .rounding_steps = 1,
                                .raw = raw,
                                .distance_of_raw = metric_raw_is_distance,
                                .raw_of_distance = metric_distance_is_raw,
                                .reach = reach};
