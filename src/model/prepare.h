/* prepare.h - prepares vectors for a model: the recipes of tem_space in tem.h.
 *
 * Preparing comes before the grid, in floating point. The metric that is protected is that of the
 * grid, so no guarantee rests on this code. */
#ifndef MODEL_PREPARE_H
#define MODEL_PREPARE_H

#include "model/vectors.h"

/* Prepares the vectors as the options say. *prepared receives new vectors, for vectors_free, or
 * NULL if the given ones are to be taken as they are. See tem_model_build for how it fails. */
tem_status prepare_vectors(const tem_vectors *given, const tem_build_options *options,
                           const tem_run *run, tem_vectors **prepared, tem_error *error);

#endif
