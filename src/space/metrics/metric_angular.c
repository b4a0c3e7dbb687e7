/* metric_angular.c - the angle in radians, plus one step between unequal vectors.
 *
 * The computed angle t has a proved error of at most 1/3 step (angle.c). d = ceil(t) + 1 between
 * unequal vectors, 0 between equal ones, is a metric: t(x,z) <= t(x,y) + t(y,z) + 1, so
 * ceil(t(x,z)) + 1 <= (ceil(t(x,y)) + 1) + (ceil(t(y,z)) + 1). */
#include "space/integer_math.h"
#include "space/kernels/kernels.h"
#include "space/space.h"

#include <math.h>
#include <string.h>

enum { DIST_BITS = 16 };

static uint64_t raw(const space *s, uint32_t a, uint32_t b) {
    const int16_t *x = space_row(s, a), *y = space_row(s, b);
    if (memcmp(x, y, s->row_elements * sizeof *x) == 0)
        return 0;
    const kernels *k = kernels_active();
    const uint64_t xx = (uint64_t)k->dot_i16(x, x, s->row_elements);
    const uint64_t yy = (uint64_t)k->dot_i16(y, y, s->row_elements);
    const uint64_t angle = angle_between(xx, yy, k->dot_i16(x, y, s->row_elements));
    const unsigned down = ANGLE_FRACTION_BITS - DIST_BITS;
    /* PRIVACY: rounding up and adding one step between unequal vectors makes this a metric,
     * although the angle is inexact (the inequality at the top of this file). */
    return ((angle + ((uint64_t)1 << down) - 1) >> down) + 1;
}

static double norm(const double *errors, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += errors[i] * errors[i];
    return sqrt(sum);
}

/* Both vectors have length 1. If an end moves by r, the angle moves by at most asin(r), which is
 * at most pi/2 times r. */
const metric_ops metric_angular = {.id = TEM_ANGULAR,
                                   .name = "angular",
                                   .meaning = "the angle, in radians",
                                   .has_vectors = true,
                                   .needs_direction = true,
                                   .norm = norm,
                                   .stretch = 1.5708,
                                   .rounding_steps = 2,
                                   .raw = raw,
                                   .distance_of_raw = metric_raw_is_distance,
                                   .raw_of_distance = metric_distance_is_raw};
