/* rounding.h - the rounding of a model beside the distances of its words. */
#ifndef CLI_ROUNDING_H
#define CLI_ROUNDING_H

#include "tem.h"

/* The model's deviation in per cent of the median distance to the nearest word, in three digits,
 * rounded up. *median receives that distance. 0 if there is none, or the lists cannot be read. */
double rounding_percent(const tem_model *model, double *median);

#endif
