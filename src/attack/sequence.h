/* sequence.h - which words are behind the released words of one document, by forward-backward.
 *
 * The original words are hidden states that follow an n-gram model; each was released by the
 * mechanism. The forward pass computes, for each position, the probability of each state together
 * with the released words up to there; the backward pass that of the released words after it. Their
 * product is the probability of the state given all released words. Vectors are scaled to the sum 1
 * in each step. */
#ifndef ATTACK_SEQUENCE_H
#define ATTACK_SEQUENCE_H

#include "attack/emission.h"
#include "language/ngram.h"

/* Forward vectors are kept for SEQUENCE_BLOCK positions at a time. For longer documents tem keeps
 * the first vector of each block, and computes the block again when the backward pass reaches it.
 * So memory grows by one vector per block of the document. */
enum { SEQUENCE_BLOCK = 256, SEQUENCE_TRIGRAM_MOST = 65536 };

/* What both passes know. */
typedef struct sequence {
    const tem_ngram *g;
    const emission *emission;
    bool draws_unknown; /* whether a released word may have been drawn for an unknown word */
    uint32_t block;     /* SEQUENCE_BLOCK; tests take less */
    uint32_t beam;
} sequence;

/* Receives the probabilities of all states at one position, words + 1 numbers with the sum 1, and
 * the likelihoods of the same. Positions come in descending order. */
typedef void sequence_marginal(void *context, size_t position, const double *probabilities,
                               const double *likelihoods);

/* Does both passes with order 2 over all words. released: `count` outputs, TEM_NO_WORD where the
 * state is known to be the unknown word. Fails with TEM_ERR_MEMORY; stops early, without a failure,
 * if core_task_stopped. */
tem_status sequence_two(const sequence *s, const uint32_t *released, size_t count,
                        sequence_marginal *each, void *context, tem_error *error);

/* Guesses by order 2, and by order 3 within the beam. guesses and success receive `count` numbers
 * each. */
tem_status sequence_guess_two(const sequence *s, const uint32_t *released, size_t count,
                              uint32_t *guesses, double *success, tem_error *error);
tem_status sequence_guess_three(const sequence *s, const uint32_t *released, size_t count,
                                uint32_t *guesses, double *success, tem_error *error);

/* The word with the largest of the first `words` numbers, and that number. */
uint32_t sequence_best(const double *probabilities, uint32_t words, double *largest);

/* Writes the `count` states with the largest probabilities, the largest first, equal ones by id;
 * count <= states. */
void sequence_top(const double *probabilities, uint32_t states, uint32_t count, uint32_t *ids);

#endif
