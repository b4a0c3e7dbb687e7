/* ngram_listed.h - n-grams with their probabilities, before they are tables: what a file lists.
 *
 * The back-off weights are computed anew from them, so that the probabilities after each history
 * add up to 1. */
#ifndef LANGUAGE_NGRAM_LISTED_H
#define LANGUAGE_NGRAM_LISTED_H

#include "io/file.h"
#include "language/ngram.h"

enum { NGRAM_ORDER_MAX = 3, NGRAM_PART_BITS = 21 };

/* An n-gram: its symbols, 21 bits each, the last word in the low bits. */
typedef struct ngram_entry {
    uint64_t key;
    double p;
} ngram_entry;

typedef struct ngram_listed {
    tem_ngram *g;     /* g->p: of the words that were found */
    const char *path; /* for messages */
    ngram_entry
        *entries[NGRAM_ORDER_MAX + 1]; /* of orders 2 and 3; in any order, without repeats */
    uint64_t count[NGRAM_ORDER_MAX + 1];
    bool *found;  /* per symbol: it has a probability */
    double spare; /* probability of the unknown word, and of words that the model does not have */
} ngram_listed;

/* TEM_ERR_MEMORY. Free with ngram_listed_free, also after a failure. */
tem_status ngram_listed_begin(ngram_listed *r, const tem_model *model, const char *path,
                              tem_error *error);
void ngram_listed_free(ngram_listed *r);

/* Adds an n-gram to the list, which has room. The probability may be computed as two parts that add
 * up to a little less than 0: it counts as next to nothing. */
void ngram_list(ngram_listed *r, uint32_t order, uint64_t key, double p);

/* Makes r->g whole. Fails with TEM_ERR_FORMAT if no word is found, an n-gram occurs twice or has a
 * history that is no n-gram, or probabilities after a history add up to more than 1. */
tem_status ngram_from_listed(ngram_listed *r, uint32_t order, tem_error *error);

/* Reads a file of any kind into *listed, which ngram_listed_begin has made; the caller closes the
 * view. Fails as tem_ngram_load. */
tem_status ngram_read_file(file_view *file, const tem_run *run, ngram_listed *listed,
                           tem_error *error);

/* The same for each kind. */
tem_status ngram_read_arpa(const file_view *file, const tem_run *run, ngram_listed *listed,
                           tem_error *error);
tem_status ngram_read_packed(const file_view *file, const tem_run *run, ngram_listed *listed,
                             tem_error *error);
bool ngram_is_packed(const file_view *file);

/* The same for a language model; takes the view over. */
tem_status ngram_read_weights(file_view *file, const tem_run *run, ngram_listed *listed,
                              tem_error *error);
bool ngram_is_weights(const file_view *file);

/* The n-gram model, which the caller frees from now on. */
tem_ngram *ngram_listed_take(ngram_listed *r);

#endif
