/* model_pieces.h - the words of a text, and their ids in a model. */
#ifndef JOB_MODEL_PIECES_H
#define JOB_MODEL_PIECES_H

#include "model/model.h"

/* Implements tem_model_pieces. */
tem_status model_pieces(const tem_model *model, const char *text, size_t bytes, uint32_t *ids,
                        size_t max, size_t *count, tem_error *error);

/* Implements tem_model_find_token. */
tem_status model_find_token(const tem_model *model, const char *token, size_t bytes, uint32_t *id,
                            tem_error *error);

#endif
