/* metrics.c - the table of all metrics, and the functions that several of them share. */
#include "space/metric.h"

#include <stddef.h>

static const metric_ops *const metrics[] = {
    &metric_euclidean, &metric_angular,    &metric_l1,
    &metric_linf,      &metric_hyperbolic, &metric_matrix,
};

/* Bits after the binary point of a tem_dist. */
enum { DIST_BITS = 16 };

const _Alignas(64) int16_t metric_zero_row[TEM_DIMENSION_MAX];

const metric_ops *metric_at(unsigned i) {
    return i < sizeof metrics / sizeof *metrics ? metrics[i] : NULL;
}

const metric_ops *metric_find(tem_metric id) {
    for (unsigned i = 0; metric_at(i) != NULL; i++)
        if (metrics[i]->id == id)
            return metrics[i];
    return NULL;
}

static tem_dist saturate(uint64_t d) {
    return d > UINT32_MAX ? UINT32_MAX : (tem_dist)d;
}

tem_dist metric_distance_of_length(uint32_t step_log2, uint64_t units) {
    if (step_log2 <= DIST_BITS)
        return saturate(units << (DIST_BITS - step_log2)); /* units < 2^29 */
    const unsigned down = step_log2 - DIST_BITS;
    return saturate((units + ((uint64_t)1 << down) - 1) >> down);
}

tem_dist metric_raw_is_distance(const space *s, uint64_t raw) {
    (void)s;
    return (tem_dist)raw;
}

uint64_t metric_distance_is_raw(const space *s, tem_dist d) {
    (void)s;
    return d;
}
