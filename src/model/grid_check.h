/* grid_check.h - whether rounding leaves the distances of a model what they were. */
#ifndef MODEL_GRID_CHECK_H
#define MODEL_GRID_CHECK_H

#include "model/model.h"

/* TEM_ERR_RANGE if the model's deviation is above `percent` per cent of the median distance to the
 * nearest word, with a message that ends in what to do, and `more`. TEM_ERR_MEMORY. */
tem_status grid_check(const tem_model *m, const nearest_distance *nearest, uint32_t percent,
                      const char *more, tem_error *error);

/* As tem_model_nearest_median and tem_model_check_grid. */
tem_status model_nearest_median(const tem_model *model, tem_dist *median, tem_error *error);
tem_status model_check_grid(const tem_model *model, uint32_t percent, tem_error *error);

#endif
