/* export.h - writes the texts of a row for other programs, to compare results. */
#ifndef EVAL_EXPORT_H
#define EVAL_EXPORT_H

#include "classifier.h"
#include "eval.h"

/* Writes folder/MECHANISM-EPSILON-TRIAL.train and .test in fastText's format, one document per
 * line: "__label__CLASS word word ...". */
tem_status export_texts(const char *folder, const eval_row *row, const tem_model *model,
                        const corpus *train, const corpus *test, tem_error *error);

/* Writes the initial vectors in word2vec's text format: to start.vec if trial is 0, else to
 * start-TRIAL.vec. A blank in a word becomes "_". */
tem_status export_vectors(const char *folder, uint32_t trial, const tem_model *model,
                          const embedding *e, tem_error *error);

/* Writes the trained classifier. MECHANISM-EPSILON-TRIAL.vec has the vectors, as above. The .layer
 * file has one line with the training's seed, epochs, batch, classes and dimension, then one line
 * with the weights of each class, then one line with the bias. */
tem_status export_classifier(const char *folder, const eval_row *row, const tem_model *model,
                             const classifier *c, const training *how, tem_error *error);

#endif
