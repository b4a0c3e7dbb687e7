/* corpus.h - labelled documents as words of a model, and as bags of words. */
#ifndef EVAL_CORPUS_H
#define EVAL_CORPUS_H

#include "chance.h"
#include "tem.h"

/* Documents one after the other: document i has the words words[starts[i]] to
 * words[starts[i + 1] - 1]. Words that the model does not have are left out. */
typedef struct corpus {
    uint32_t count, capacity;
    uint64_t *starts; /* count + 1 */
    uint32_t *labels;
    uint32_t *words;
    uint64_t word_capacity;
    uint64_t left_out; /* words that the model does not have */
} corpus;

/* Adds a document. HTML line breaks in it count as a blank. Fails as tem_model_pieces does. */
tem_status corpus_add(corpus *c, const tem_model *model, const char *text, size_t bytes,
                      uint32_t label, tem_error *error);

/* The documents `chosen`, as a corpus of their own. */
tem_status corpus_choose(const corpus *c, const uint32_t *chosen, uint32_t count, corpus *out,
                         tem_error *error);

/* A copy. */
tem_status corpus_copy(const corpus *c, corpus *out, tem_error *error);

/* Two halves, at random, each with half of every class (the second has the odd one). */
tem_status corpus_halve(const corpus *c, uint32_t classes, uint64_t seed, corpus halves[2],
                        tem_error *error);

/* A number for the content, labels and words: two corpora that differ have the same one with a
 * chance of about 2^-64. It tells data apart, and proves nothing. */
uint64_t corpus_digest(const corpus *c);

/* How many words there are in all. */
uint64_t corpus_words(const corpus *c);

void corpus_free(corpus *c);

/* Each document as its different words in ascending order, with the share of each. */
typedef struct bags {
    uint32_t count;
    uint64_t *starts; /* count + 1 */
    uint32_t *words;
    float *shares;
    const uint32_t *labels; /* the corpus's */
} bags;

tem_status bags_create(const corpus *c, bags *b, tem_error *error);
void bags_free(bags *b);

#endif
