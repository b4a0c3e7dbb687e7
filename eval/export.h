/* export.h - the texts of a row as files that other programs read, to compare with. */
#ifndef EVAL_EXPORT_H
#define EVAL_EXPORT_H

#include "classifier.h"
#include "eval.h"

/* Writes folder/MECHANISM-EPSILON-TRIAL.train and .test in fastText's format, a document a line:
 * "__label__CLASS word word ...". */
tem_status export_texts(const char *folder, const eval_row *row, const tem_model *model,
                        const corpus *train, const corpus *test, tem_error *error);

/* Writes the vectors that training begins with, in word2vec's text format: start.vec, or those of
 * one trial, unless that is 0, start-TRIAL.vec. A blank in a word becomes "_". */
tem_status export_vectors(const char *folder, uint32_t trial, const tem_model *model,
                          const embedding *e, tem_error *error);

/* Writes what was trained: MECHANISM-EPSILON-TRIAL.vec, as above, and .layer: a line with the
 * training's seed, epochs, batch, classes and dimension, one with the weights of each class, one
 * with the bias. */
tem_status export_classifier(const char *folder, const eval_row *row, const tem_model *model,
                             const classifier *c, const training *how, tem_error *error);

#endif
