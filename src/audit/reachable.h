/* reachable.h - the words of a model that a text can contain. */
#ifndef AUDIT_REACHABLE_H
#define AUDIT_REACHABLE_H

#include "model/model.h"

/* Finds the words of a model that tem finds in some text; the others are only outputs.
 *   ids     receives the ids in ascending order; free with core_free
 * Fails with TEM_ERR_MEMORY or TEM_ERR_DAMAGED. */
tem_status reachable_find(const tem_model *model, uint32_t **ids, uint32_t *count,
                          tem_error *error);

#endif
