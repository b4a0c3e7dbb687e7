/* order.h - the public order of all outputs around each input word.
 *
 * Around the word w each of the m outputs has one rank, 0 to m - 1; w itself, if it is an output,
 * has rank 0. The law of `rank` falls off with the rank. No vectors are needed to follow an order:
 *
 * - The sequence has all outputs, near ones together. It is cut into blocks of equal size; the last
 *   block may be shorter.
 * - Near words form groups. Each group has one order of the blocks, in which the last block is the
 *   last. The path of a group is the sequence in that order of the blocks.
 * - Each word has a list: the words of its first ranks, as places on the path of its group. The
 *   other ranks are the path without the words of the list.
 *
 * PRIVACY: the proof of `rank` needs one permutation of the outputs per word, and nothing else
 * (docs/PRIVACY.md, "Rank", step 1). It is one by construction if the sequence has each output
 * once, an order of blocks each block once, and a list each place at most once. order_open and
 * order_check check exactly that. Which permutation it is decides utility, and is public. */
#ifndef ORDER_ORDER_H
#define ORDER_ORDER_H

#include "core/hash.h"
#include "tem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { ORDER_BLOCKS_MAX = 4096, ORDER_LIST_MAX = 4096 };

#define ORDER_NONE UINT32_MAX /* no rank: the word is never an output */

/* The numbers that decide the size of everything else. */
typedef struct order_shape {
    uint32_t words;   /* n, inputs */
    uint32_t outputs; /* m, at least 1 */
    uint32_t list;    /* K, words in a list; at most m and ORDER_LIST_MAX */
    uint32_t block;   /* B, words in a block */
    uint32_t groups;  /* G */
} order_shape;

/* How many blocks there are; at most ORDER_BLOCKS_MAX. */
static inline uint32_t order_blocks(const order_shape *s) {
    return (s->outputs - 1) / s->block + 1;
}

typedef struct lazy_order lazy_order;

/* A view of the bytes of a model's section. They may be damaged until order_check has passed. */
typedef struct rank_order {
    order_shape shape;
    uint32_t blocks;
    bool wide;                    /* places have 32 bits, not 16 */
    const uint32_t *sequence;     /* m outputs */
    const uint32_t *groups;       /* the group of each of the n words */
    const uint16_t *block_orders; /* G times C blocks */
    const void *lists;            /* n times K places */
    const unsigned char *bytes;   /* of the section */
    uint64_t byte_count;
    bool owned; /* order_free frees the bytes */

    uint32_t *places;          /* of each word in the sequence, or ORDER_NONE; owned */
    _Atomic(bool) *is_checked; /* order_check has passed; owned */

    /* NULL: all paths and lists are there. Otherwise those of a word are computed when the order
     * around it is first followed (order_lazy.c); and the hash of all bytes is known. */
    lazy_order *lazy;
    unsigned char known_hash[CORE_HASH_BYTES];
} rank_order;

/* For order.c: makes sure that the path and the list of a word are there. */
void lazy_order_need(lazy_order *lazy, const rank_order *o, uint32_t w);
void lazy_order_free(lazy_order *lazy);

/* The size of the section of an order. 0: it does not fit 64 bits, or the shape is not valid. */
uint64_t order_bytes(const order_shape *shape);

/* Writes the head of a section of this shape, which must be valid, to zeroed bytes, and sets the
 * views of *o. For those who make orders: they fill the arrays. */
void order_lay_out(rank_order *o, const order_shape *shape, unsigned char *bytes);

/* Makes a view of `bytes`, which begin at a multiple of 64 and live as long as the order. words:
 * the words of the model; excluded: which of them are never outputs, ascending. Fails with
 * TEM_ERR_DAMAGED if the bytes are no order of these words, as far as that is known before lists
 * and orders of blocks are looked at; TEM_ERR_MEMORY. Free with order_free, which frees no
 * bytes. */
tem_status order_open(rank_order *o, const unsigned char *bytes, uint64_t count, uint32_t words,
                      const uint32_t *excluded, uint32_t excluded_count, tem_error *error);
void order_free(rank_order *o);

/* Makes sure that the order around every word is a permutation; whoever follows an order calls this
 * before. The first call takes some ten milliseconds for 34,000 words, all others nothing.
 * TEM_ERR_DAMAGED. Any thread. */
tem_status order_check(const rank_order *o, tem_error *error);

/* The output of this rank around w; rank below m. Some hundred
 * nanoseconds at most. */
uint32_t order_word(const rank_order *o, uint32_t w, uint32_t rank);

/* Sets outputs[i] to the output of rank outputs[i] around inputs[i]; where inputs[i] is TEM_NO_WORD
 * it stays. count: at most ORDER_AT_ONCE. As order_word, but all words wait for the memory
 * together. */
enum { ORDER_AT_ONCE = 64 };
void order_words_of(const rank_order *o, const uint32_t *inputs, uint32_t *outputs, size_t count);

/* Where the list of w begins in memory, and the w whose list begins there. */
const void *order_list_start(const rank_order *o, uint32_t w);
uint32_t order_list_word(const rank_order *o, const void *start);

/* The order of the blocks around w, which is the path of its group. */
const uint16_t *order_path(const rank_order *o, uint32_t w);

/* Sets places[i] to the place in the sequence of the word of rank i around w, for all of its
 * list. */
void order_list_places(const rank_order *o, uint32_t w, uint32_t *places);

/* The rank around w of the word at place p of its path, which the caller has from order_path. */
uint32_t order_rank_on_path(const rank_order *o, uint32_t w, uint32_t p);

/* The rank of y around w, or ORDER_NONE if y is never an output. */
uint32_t order_rank(const rank_order *o, uint32_t w, uint32_t y);

/* Sets out[y] to values[r], r the rank of y around w, for all words y; to 0 if y is never an
 * output. values: one per rank. One pass along the path. */
void order_spread(const rank_order *o, uint32_t w, const double *values, double *out);

/* Sets ranks[i] to the rank of y around the word first + i. Faster than order_rank if there are
 * more words than groups. */
void order_ranks_of(const rank_order *o, uint32_t y, uint32_t first, uint32_t count,
                    uint32_t *ranks);

/* Sets ranks[i] to the rank of the word first + i around w. Fills all of
 * them, in one pass over the list. */
void order_ranks(const rank_order *o, uint32_t w, uint32_t first, uint32_t count, uint32_t *ranks);

#endif
