/* word_order.h - the drawn words of one document whose order must not be seen: they come out in a
 * random order, or as counts.
 *
 * PRIVACY: the guarantee in the Earth Mover's metric (docs/PRIVACY.md, "Documents without order")
 * needs a release whose law depends on the words of the document, and not on their places. A
 * uniformly random order, independent of the draws, has such a law; so have the counts. */
#ifndef JOB_WORD_ORDER_H
#define JOB_WORD_ORDER_H

#include "core/buffer.h"
#include "model/model.h"
#include "rng/rng.h"

/* For one thread. Keeps its memory between documents. */
typedef struct word_order {
    tem_order kind;
    const vocab *words;
    core_buffer drawn; /* uint32_t: all drawn words; for counts, each different word once */
    uint64_t *counts;  /* for counts: of each word of the vocabulary; NULL until it is needed */
} word_order;

/* Forgets the words of the last document, which may have failed. */
void word_order_begin(word_order *o);

/* Adds drawn words. TEM_ERR_MEMORY. */
tem_status word_order_add(word_order *o, const uint32_t *drawn, size_t count, tem_error *error);

/* Appends all added words to out: in a random order, separated by spaces, or as a JSON object of
 * counts, in the order of the words' bytes. Asks the run's callback in between. TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED, TEM_ERR_DAMAGED. */
tem_status word_order_put(word_order *o, tem_rng *rng, const tem_run *run, core_buffer *out,
                          tem_error *error);

/* Erases the words and frees the memory. */
void word_order_free(word_order *o);

#endif
