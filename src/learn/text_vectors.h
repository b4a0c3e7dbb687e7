/* text_vectors.h - word vectors from a public text, by latent semantic analysis. */
#ifndef LEARN_TEXT_VECTORS_H
#define LEARN_TEXT_VECTORS_H

#include "tem_learn.h"

/* As tem_text_vectors; the caller has checked pointers, and columns to be 1 to 1024 and at most the
 * number of words. */
tem_status text_vectors(const tem_model *model, const char *path, uint32_t columns,
                        const tem_run *run, double *out, tem_error *error);

#endif
