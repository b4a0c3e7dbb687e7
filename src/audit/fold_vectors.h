/* fold_vectors.h - vectors whose words are folded as text is. */
#ifndef AUDIT_FOLD_VECTORS_H
#define AUDIT_FOLD_VECTORS_H

#include "core/buffer.h"
#include "model/vectors.h"

/* Implements tem_vectors_fold. done may be NULL. */
tem_status fold_vectors(tem_vectors *vectors, tem_folding *done, tem_error *error);

/* Appends a word, folded as tem folds text. A word that folding would empty or make too long for a
 * vocabulary stays as it is. TEM_ERR_FORMAT if it is not UTF-8, TEM_ERR_MEMORY. */
tem_status fold_word(const char *word, size_t bytes, core_buffer *out, tem_error *error);

#endif
