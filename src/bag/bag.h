/* bag.h - bags of words, and the Earth Mover's distance between two of them. */
#ifndef BAG_BAG_H
#define BAG_BAG_H

#include "model/model.h"
#include "tem_bag.h"

/* Implements tem_bag_measure. The caller has checked pointers and ids.
 *   gamma   0: unknown words are left out */
tem_status bag_measure(const tem_model *model, const uint32_t *a, size_t a_count, const uint32_t *b,
                       size_t b_count, tem_dist gamma, const tem_run *run,
                       tem_bag_distance *distance, tem_error *error);

#endif
