/* fold_vectors.h - vectors whose words are folded as text is. */
#ifndef AUDIT_FOLD_VECTORS_H
#define AUDIT_FOLD_VECTORS_H

#include "model/vectors.h"

/* Implements tem_vectors_fold. left_out may be NULL. */
tem_status fold_vectors(const tem_vectors *vectors, tem_vectors **folded, uint32_t *left_out,
                        tem_error *error);

#endif
