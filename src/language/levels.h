/* levels.h - an n-gram model as weights: integers on three levels that add up.
 *
 * After the words g, h each output y weighs
 *
 *     a_y(g, h)  =  2^2k e3(g,h,y) + b3(g,h) (2^k e2(h,y) + b2(h) e1(y)),    k = LEVELS_SHIFT
 *
 * e3 and e2 are 0 but for the successors that are listed after (g, h) and after h. A history that
 * the tables do not have has b = 2^k and no successors.
 *
 * PRIVACY: there is one set of weights per history (mech/language.h). Look-up, total and draw read
 * the same integers, by factors and left shifts only: a right shift anywhere would round each of
 * them in its own way. e1, b2 and b3 are at least 1, so every output weighs at least 1. Totals are
 * below 2^63. levels_attach and levels_row_is_valid make sure of all of this (test_levels compares
 * look-up, total and draw over all words and histories of small models).
 *
 * Outputs have numbers: their places in the order's sequence where the model has an order
 * (order/order.h), else their ids without those of excluded words. Then the sampler finds together
 * what it needs together. A block of the order is a slice of the successors of a history, found by
 * two searches, and its weight is a difference of two sums. The list of a word has places, so it is
 * merged with successors, or looked up among them, without a table in between; near words share
 * cache lines. By id, frequent words would lie together, which helps nobody who looks up the near
 * words of one word. Numbers have 32 bits: 16 would halve what a pass over successors reads, for a
 * second version of every loop. English takes about 30 MB with the default model. */
#ifndef LANGUAGE_LEVELS_H
#define LANGUAGE_LEVELS_H

#include "mech/language.h"
#include "model/model.h"
#include "rng/alias.h"

enum { LEVELS_SHIFT = 15, LEVELS_PAST = 8 };

#define LEVELS_NONE UINT32_MAX

/* Successors of histories. Those of row r are the entries starts[r] to starts[r + 1] - 1. */
typedef struct levels_rows {
    uint32_t count;          /* rows */
    uint32_t entries;        /* of all rows together */
    const uint32_t *starts;  /* rows + 1 */
    const uint32_t *factors; /* b of each row: 1 to 2^k */
    const uint32_t *numbers; /* per entry: an output, ascending within a row */
    const uint32_t *sums;    /* entries + 1: sums of e before the entry. They run on from row to
                              * row, modulo 2^32: e of entry i is sums[i + 1] - sums[i] in 32 bits.
                              * The sum of a row is below 2^32 */
} levels_rows;

enum levels_kind { LEVELS_TWO, LEVELS_PAIRS, LEVELS_THREE, LEVELS_KINDS };

/* A file that may be damaged: `check` sees each row before it is used. It must be quick where it
 * has seen the row before. */
typedef struct levels_source levels_source;
struct levels_source {
    tem_status (*check)(const levels_source *source, enum levels_kind kind, uint32_t row,
                        tem_error *error);
};

/* Symbols are the numbers of the outputs, then `unknown` (a word that stands in the output and was
 * not drawn), then `begin` (of a document or a line). As a history each has a row. */
typedef struct levels {
    uint32_t words;          /* of the model */
    uint32_t outputs;        /* m: those that are not excluded */
    uint32_t unknown, begin; /* m, m + 1 */
    uint32_t symbols;        /* m + 2 */
    const uint32_t *ids;     /* the word of each number */
    uint32_t *numbers;       /* the number of each word; LEVELS_NONE: excluded. Owned */
    const uint32_t *e1;      /* per number */
    uint64_t e1_total;       /* below 2^32 */
    alias e1_draw;
    levels_rows two;              /* row h; count 0: words without context */
    const uint32_t *pair_starts;  /* symbols + 1: the pairs whose first word is g */
    const uint32_t *pair_seconds; /* h of each pair, ascending for each g */
    levels_rows three;            /* a row per pair; count 0: there are none */
    bool is_owner;                /* of the tables: they are no file's */
    const levels_source *source;  /* NULL: all rows are checked */
} levels;

/* Frees what levels_attach and levels_make have allocated. */
void levels_free(levels *l);

/* Sets `numbers`, the numbers of symbols, e1_total and e1_draw of tables whose views are set. The
 * ids must be the outputs of the model, each once, and e1 at least 1. Fails with TEM_ERR_DAMAGED,
 * TEM_ERR_MEMORY. */
tem_status levels_attach(levels *l, const tem_model *model, tem_error *error);

/* Whether the row of a history of one word, the pairs of a word, and the row of a pair are as
 * promised above; the row of a pair relies on the row of its second word. A source calls this. */
bool levels_row_is_valid(const levels *l, enum levels_kind kind, uint32_t row);

/* Checks all rows. TEM_ERR_DAMAGED, TEM_ERR_CANCELLED. */
tem_status levels_check(const levels *l, const tem_run *run, tem_error *error);

/* The functions of language_ops over these tables; the state is a `levels`, or begins with one. A
 * position has the level of h before that of (g, h), each only if it has successors, and in
 * place[0] and place[1] the rows of both, or LEVELS_NONE: whoever keeps sums per history takes
 * these for their names. */
tem_status levels_position(const void *state, void *document, const released_past *past,
                           position_weights *at, tem_error *error);
uint64_t levels_weight(const position_weights *at, uint32_t y);
void levels_weights(const position_weights *at, const uint32_t *ids, uint32_t count, uint64_t *out);
uint32_t levels_draw(const position_weights *at, tem_rng *rng);
uint32_t levels_draw_base(const position_weights *at, tem_rng *rng);

#endif
