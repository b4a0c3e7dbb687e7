/* lists.h - the lists and bounds of all words, while neighbours_build fills them.
 *
 * The list of a word collects keys up to a capacity. Then it is cut back to its length: the nearest
 * words stay. A word that is cut off, or is too far away to enter, lowers the bound for its range.
 * The final list and bounds depend only on the set of words that were offered, never on their
 * order.
 *
 * A thread must hold the lock of a block to offer words to the words of that block. It reads
 * cutoffs without the lock. A cutoff that is out of date is too large, and costs only an offer that
 * changes nothing. */
#ifndef INDEX_LISTS_H
#define INDEX_LISTS_H

#include "index/blocks.h"
#include "index/neighbours.h"

#include <pthread.h>

typedef struct lists {
    uint32_t words, range_words;
    uint32_t length;  /* of the lists of words that are not frequent (neighbours.h) */
    bool is_even;     /* all lists have `length` words, and there are no bounds */
    uint64_t *starts; /* words + 1: where the room for each word's keys starts in `keys` */
    uint64_t *keys;
    uint32_t *used;
    _Atomic(tem_dist) *farthest; /* no word farther away than this will be in the list */
    _Atomic(tem_dist) *bounds;   /* bounds[range * words + id] */
    pthread_mutex_t *locks;      /* one per block */
    uint32_t lock_count;
} lists;

/* Makes empty lists. is_even: as above. Fails with TEM_ERR_MEMORY only. Free with lists_free, also
 * after a failure. */
tem_status lists_init(lists *l, const blocks *b, uint32_t length, bool is_even, tem_error *error);
void lists_free(lists *l);

void lists_lock(lists *l, uint32_t block);
void lists_unlock(lists *l, uint32_t block);

/* Offers the word `other` to the list of the word `id`, which may be the same word. The caller
 * holds the lock of the block of `id`. Each word must be offered once, except those farther away
 * than lists_cutoff. */
void lists_offer(lists *l, uint32_t id, uint32_t other, tem_dist distance);

/* Sets upper bounds that are known before the first offer: `farthest` for the distances of the
 * final list, `bounds` for the final bounds. */
void lists_expect(lists *l, uint32_t id, tem_dist farthest,
                  const tem_dist bounds[NEIGHBOUR_RANGES]);

/* The number of words that the final list has. */
static inline uint32_t lists_length(const lists *l, uint32_t id) {
    return l->is_even ? l->length : neighbours_length(l->words, l->length, id);
}

/* The cutoff of the word `id` for a range: words of the range that are farther away change neither
 * the list nor the bound. */
static inline tem_dist lists_cutoff(const lists *l, uint32_t id, uint32_t range) {
    const tem_dist bound =
        atomic_load_explicit(&l->bounds[(size_t)range * l->words + id], memory_order_relaxed);
    const tem_dist farthest = atomic_load_explicit(&l->farthest[id], memory_order_relaxed);
    return bound > farthest ? bound - 1 : farthest;
}

/* Cuts the list of a word to its length and sorts it. */
void lists_finish(lists *l, uint32_t id);

/* Moves all finished lists and their bounds into the index `out`; free it with neighbours_free. `l`
 * must still be freed. Fails with TEM_ERR_MEMORY only. */
tem_status lists_take(lists *l, neighbour_index *out, tem_error *error);

/* Returns the words of all finished lists, which are even, list after list; free with core_free.
 * `l` must still be freed. */
tem_neighbour *lists_take_even(lists *l);

#endif
