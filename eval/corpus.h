/* corpus.h - labeled documents as word ids of a model, and as bags of words. */
#ifndef EVAL_CORPUS_H
#define EVAL_CORPUS_H

#include "chance.h"
#include "tem.h"

/* Documents one after the other: document i is words[starts[i]] to words[starts[i + 1] - 1]. Words
 * unknown to the model are left out. */
typedef struct corpus {
    uint32_t count, capacity;
    uint64_t *starts; /* count + 1 entries */
    uint32_t *labels;
    uint32_t *words;
    uint64_t word_capacity;
    uint64_t left_out; /* number of words unknown to the model */
} corpus;

/* Adds a document. An HTML line break counts as a blank. Fails as tem_model_pieces does. */
tem_status corpus_add(corpus *c, const tem_model *model, const char *text, size_t bytes,
                      uint32_t label, tem_error *error);

/* A copy of a text in which each HTML line break is a blank; never longer than the text. NULL if
 * there is no memory; free with free(). */
char *corpus_without_breaks(const char *text, size_t bytes, size_t *length);

/* Copies the documents `chosen` into a corpus of their own. */
tem_status corpus_choose(const corpus *c, const uint32_t *chosen, uint32_t count, corpus *out,
                         tem_error *error);

/* A copy. */
tem_status corpus_copy(const corpus *c, corpus *out, tem_error *error);

/* Splits at random into two halves. Each has half of every class (the second has the odd one). */
tem_status corpus_halve(const corpus *c, uint32_t classes, uint64_t seed, corpus halves[2],
                        tem_error *error);

/* A digest of the content, labels and words. Two different corpora have the same digest with
 * probability about 2^-64. It tells data sets apart; it proves nothing. */
uint64_t corpus_digest(const corpus *c);

/* The total number of words. */
uint64_t corpus_words(const corpus *c);

void corpus_free(corpus *c);

/* Each document as its distinct words in ascending order, with the share of each. */
typedef struct bags {
    uint32_t count;
    uint64_t *starts; /* count + 1 entries */
    uint32_t *words;
    float *shares;
    const uint32_t *labels; /* belongs to the corpus */
} bags;

tem_status bags_create(const corpus *c, bags *b, tem_error *error);
void bags_free(bags *b);

#endif
