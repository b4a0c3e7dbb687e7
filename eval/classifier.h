/* classifier.h - a text classifier in the manner of fastText: the vectors of a text's words,
 * averaged, and a linear layer; the vectors are trained too. Cross entropy, Adam. */
#ifndef EVAL_CLASSIFIER_H
#define EVAL_CLASSIFIER_H

#include "corpus.h"
#include "dense.h"
#include "pool.h"

/* Where the vectors of the words begin. */
typedef struct embedding {
    uint32_t words, dimension;
    uint32_t stride; /* floats from one row to the next; the padding is 0 */
    float *rows;
} embedding;

/* The vectors of a model. Fails with TEM_ERR_UNSUPPORTED if it has none. */
tem_status embedding_of_model(const tem_model *model, embedding *e, tem_error *error);

/* Standard normal numbers, as PyTorch's Embedding has them. */
tem_status embedding_random(uint32_t words, uint32_t dimension, uint64_t seed, embedding *e,
                            tem_error *error);
void embedding_free(embedding *e);

typedef struct training {
    uint32_t epochs, batch;
    uint64_t seed;
    bool dense; /* make every step of every word when it comes: for tests */
} training;

typedef struct classifier {
    uint32_t classes;
    embedding vectors;
    dense layer;
} classifier;

/* Trains on the bags, labels below `classes`, beginning with a copy of `start`. The same result for
 * any number of threads. Progress in batches. Fails with TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
tem_status classifier_train(const embedding *start, const bags *data, uint32_t classes,
                            const training *how, pool *threads, const tem_run *run, classifier *out,
                            tem_error *error);
void classifier_free(classifier *c);

/* The probabilities of the classes for each document, row by row; free with free(). */
tem_status classifier_predict(const classifier *c, const bags *data, pool *threads, float **out,
                              tem_error *error);

/* The share of documents whose label is the most probable class (of equal ones the first). */
double classifier_accuracy(const float *probabilities, const bags *data, uint32_t classes);

/* The mean cross entropy over documents, and its gradient by the vector of `word`, `dimension`
 * numbers, unless gradient is NULL. For tests. */
tem_status classifier_loss(const classifier *c, const bags *data, uint32_t word, float *gradient,
                           double *loss, tem_error *error);

#endif
