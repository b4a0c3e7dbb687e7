/* metric_matrix.c - distances that the user gave, pair by pair, rounded up, plus one step if they
 * are not 0. The guarantee holds if the user's function is a metric; space_check_matrix looks for
 * counterexamples. */
#include "space/space.h"

static uint64_t raw(const space *s, uint32_t a, uint32_t b) {
    return a == b ? 0 : s->matrix[space_pair_index(a, b)];
}

const metric_ops metric_matrix = {.id = TEM_MATRIX,
                                  .name = "matrix",
                                  .meaning = "distances given pair by pair",
                                  .raw = raw,
                                  .distance_of_raw = metric_raw_is_distance,
                                  .raw_of_distance = metric_distance_is_raw};
