/* classifier.h - a text classifier like fastText: the average of the vectors of a text's words,
 * then a linear layer. Training changes the vectors too. Cross entropy, Adam. */
#ifndef EVAL_CLASSIFIER_H
#define EVAL_CLASSIFIER_H

#include "corpus.h"
#include "dense.h"
#include "ranges.h"

/* Initial vectors of the words. */
typedef struct embedding {
    uint32_t words, dimension;
    uint32_t stride; /* floats from one row to the next; padding is 0 */
    float *rows;
} embedding;

/* Takes the vectors of a model. Fails with TEM_ERR_UNSUPPORTED if the model has none. */
tem_status embedding_of_model(const tem_model *model, embedding *e, tem_error *error);

/* Draws standard normal numbers, as PyTorch's Embedding does. */
tem_status embedding_random(uint32_t words, uint32_t dimension, uint64_t seed, embedding *e,
                            tem_error *error);
void embedding_free(embedding *e);

typedef struct training {
    uint32_t epochs, batch;
    uint64_t seed;
    bool dense; /* take every step of every word immediately; for tests */
} training;

typedef struct classifier {
    uint32_t classes;
    embedding vectors;
    dense layer;
} classifier;

/* Trains on the bags, starting from a copy of `start`. Labels are below `classes`. The result is
 * the same for any number of threads. Reports progress in batches. Fails with TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. */
tem_status classifier_train(const embedding *start, const bags *data, uint32_t classes,
                            const training *how, core_team *team, const tem_run *run,
                            classifier *out, tem_error *error);
void classifier_free(classifier *c);

/* Returns the class probabilities of each document, row by row; free with free(). */
tem_status classifier_predict(const classifier *c, const bags *data, core_team *team, float **out,
                              tem_error *error);

/* The share of documents whose label is the most probable class (on a tie, the first class). */
double classifier_accuracy(const float *probabilities, const bags *data, uint32_t classes);

/* Returns the mean cross entropy over the documents. Unless gradient is NULL, fills it with the
 * gradient of the vector of `word`, `dimension` numbers. For tests. */
tem_status classifier_loss(const classifier *c, const bags *data, uint32_t word, float *gradient,
                           double *loss, tem_error *error);

#endif
