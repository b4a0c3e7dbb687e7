/* lists.h - the lists and bounds of all words while they grow.
 *
 * A word's list collects keys up to a capacity and is then cut back to its length, the
 * nearest. Whoever is cut off, or is too far to enter, lowers the word's bound for its range.
 * What a list and its bounds end with depends only on the set of words that were offered,
 * never on their order.
 *
 * Offers to the words of a block need its lock. Cutoffs are read without; one that is out of
 * date is too large, and costs an offer that changes nothing. */
#ifndef INDEX_LISTS_H
#define INDEX_LISTS_H

#include "index/blocks.h"
#include "index/neighbours.h"

#include <pthread.h>

typedef struct lists {
    uint32_t words, range_words;
    uint32_t length;  /* of the lists of words that are not frequent */
    uint64_t *starts; /* words + 1: where the keys of each have their room */
    uint64_t *keys;
    uint32_t *used;
    _Atomic(tem_dist) *farthest; /* no word beyond it will be in the list */
    _Atomic(tem_dist) *bounds;   /* all words for the first range, for the second, ... */
    pthread_mutex_t *locks;      /* one a block */
    uint32_t lock_count;
} lists;

/* Empty lists. TEM_ERR_MEMORY only. Free with lists_free, whatever it returned. */
tem_status lists_init(lists *l, const blocks *b, uint32_t length, tem_error *error);
void lists_free(lists *l);

void lists_lock(lists *l, uint32_t block);
void lists_unlock(lists *l, uint32_t block);

/* Offers the word `other` to the word `id` of a locked block, possibly itself. Each must be
 * offered once, but for those farther away than lists_cutoff. */
void lists_offer(lists *l, uint32_t id, uint32_t other, tem_dist distance);

/* Sets what is known from elsewhere before the first offer: a distance that the list will
 * not exceed, and distances that the bounds will not. */
void lists_expect(lists *l, uint32_t id, tem_dist farthest,
                  const tem_dist bounds[NEIGHBOUR_RANGES]);

/* The words that a list will have. */
static inline uint32_t lists_length(const lists *l, uint32_t id) {
    return neighbours_length(l->words, l->length, id);
}

/* The cutoff of the word `id` for a range: words of it that are farther away change nothing. */
static inline tem_dist lists_cutoff(const lists *l, uint32_t id, uint32_t range) {
    const tem_dist bound =
        atomic_load_explicit(&l->bounds[(size_t)range * l->words + id], memory_order_relaxed);
    const tem_dist farthest = atomic_load_explicit(&l->farthest[id], memory_order_relaxed);
    return bound > farthest ? bound - 1 : farthest;
}

/* Cuts the list of a word to its length and sorts it. */
void lists_finish(lists *l, uint32_t id);

/* Moves what the finished lists hold into an index. TEM_ERR_MEMORY only. */
tem_status lists_take(lists *l, neighbour_index *out, tem_error *error);

#endif
