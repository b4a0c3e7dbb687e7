/* text_means.h - texts as the means of the vectors of their words, standardized. */
#ifndef EVAL_TEXT_MEANS_H
#define EVAL_TEXT_MEANS_H

#include "corpus.h"
#include "linear.h"

/* What makes the features of a set of texts have mean 0 and deviation 1. A column that is the same
 * in all texts keeps its deviation. */
typedef struct scaling {
    uint32_t columns;
    double *means, *deviations;
} scaling;

void scaling_free(scaling *s);

/* Makes the examples of texts: the mean of the vectors of each text's words (0 for a text without
 * words), and 1.
 *   vectors   a row of `columns` numbers per word
 *   rows      receives (columns + 1) numbers per text; free with free() */
tem_status text_means_create(const double *vectors, uint32_t columns, const bags *texts,
                             core_team *team, float **rows, tem_error *error);

/* Computes the scaling of these rows. */
tem_status scaling_create(const float *rows, uint32_t count, uint32_t columns, scaling *s,
                          tem_error *error);

/* Standardizes rows, in place. */
void scaling_apply(const scaling *s, float *rows, uint32_t count);

#endif
