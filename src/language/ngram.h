/* ngram.h - an n-gram model over the words of a tem_model, as sparse tables.
 *
 * Symbols: the ids of the words, then `unknown`, the one state of all unknown words, then `edge`:
 * the begin of a document in a history, its end as a word. The tables hold probabilities in two
 * parts, which makes products with all of them cheap:
 *
 *     p(w | v)    = extra2(v, w)    + bow2(v) p(w)          extra2 is 0 unless (v, w) was seen
 *     p(w | u, v) = extra3(u, v, w) + bow3(u, v) p(w | v)   extra3 is 0 unless (u, v, w) was seen
 *
 * So the matrix of order 2 is sparse plus rank one. bow is the back-off weight of ARPA. */
#ifndef LANGUAGE_NGRAM_H
#define LANGUAGE_NGRAM_H

#include "mech/text_sources.h"
#include "tem_attack.h"

#include <stdbool.h>

#define NGRAM_NONE UINT64_MAX /* no such bigram */

/* Rows of a sparse matrix: entries starts[r] to starts[r + 1] - 1 are those of row r, by ids,
 * ascending. */
typedef struct ngram_rows {
    uint64_t *starts;
    uint32_t *ids;
    double *extra;
    double *bow; /* per row */
} ngram_rows;

struct tem_ngram {
    const tem_model *model;
    uint32_t words;         /* of the model */
    uint32_t unknown, edge; /* words, words + 1 */
    uint32_t symbols;       /* words + 2 */
    double *p;              /* of each symbol without history */
    ngram_rows two;         /* a row per symbol: the word before */
    ngram_rows three;       /* a row per entry of `two`; starts NULL: order 2 */
    tem_ngram_info info;
    text_sources sources; /* the texts that it was counted in, as far as tem has read them */
};

/* Allocates a model whose tables are empty: all pointers but p are NULL. NULL: no memory. */
tem_ngram *ngram_make(const tem_model *model);
void ngram_free(tem_ngram *g);

/* Fails with TEM_ERR_UNSUPPORTED if the model has too many words. */
tem_status ngram_check_model(const tem_model *model, tem_error *error);

/* Allocates the tables for `rows` rows and `entries` entries. The caller frees them with the model,
 * also after a failure. Returns false if there is no memory. */
bool ngram_rows_alloc(ngram_rows *rows, uint64_t count, uint64_t entries);

/* As the calls tem_ngram_... of tem_attack.h; the caller has checked the arguments. */
tem_status ngram_train(const tem_model *model, const char *const *paths, size_t count,
                       uint32_t order, const tem_run *run, tem_ngram **ngram, tem_error *error);
tem_status ngram_load(const tem_model *model, const char *path, const tem_run *run,
                      tem_ngram **ngram, tem_error *error);
tem_status ngram_save(const tem_ngram *g, const char *path, tem_overwrite overwrite,
                      const tem_run *run, tem_error *error);
tem_status ngram_prune(const tem_ngram *g, double threshold, const tem_run *run, tem_ngram **pruned,
                       tem_error *error);
tem_status ngram_mix(const tem_ngram *const *ngrams, const double *shares, size_t count,
                     const tem_run *run, tem_ngram **mixed, tem_error *error);
double ngram_probability(const tem_ngram *g, const uint32_t *history, size_t count, uint32_t word);

/* The entry of a row with this id, or NGRAM_NONE. */
uint64_t ngram_find(const ngram_rows *rows, uint64_t row, uint32_t id);

/* p(w | v), and p(w | u, v); `bigram` is the entry of (u, v) in `two`, or NGRAM_NONE. */
double ngram_two(const tem_ngram *g, uint32_t v, uint32_t w);
double ngram_three(const tem_ngram *g, uint64_t bigram, uint32_t v, uint32_t w);

#endif
