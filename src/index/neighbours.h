/* neighbours.h - the index: every word's nearest words, exactly.
 *
 * The list of word w holds the first K_w words in the order (distance, id), including w itself. For
 * the words outside the list the index has bounds. The vocabulary is divided into NEIGHBOUR_RANGES
 * ranges of ids. The bound for a range is the least distance of a word of that range that is not in
 * the list, or UINT32_MAX if the list has all words of the range.
 *
 * Why ranges: a vocabulary is sorted by frequency, and rare words are far from the others. With one
 * bound for all words the sampler would propose and reject two to three times as many words
 * (docs/BENCHMARKS.md).
 *
 * PRIVACY: the sampler draws words outside the list by means of an envelope. The envelope is right
 * only if none of these words is nearer than the bound of its range. */
#ifndef INDEX_NEIGHBOURS_H
#define INDEX_NEIGHBOURS_H

#include "space/space.h"

#include <stdatomic.h>

/* The bounds of a word fill one cache line. */
enum { NEIGHBOUR_RANGES = 16 };

/* The frequent words, the first count / NEIGHBOUR_FREQUENT of the vocabulary, have lists
 * NEIGHBOUR_LONGER times as long as the others. Most of a text consists of frequent words. For a
 * quarter more memory the sampler proposes in vain at most half as many words as with equal lists
 * (docs/BENCHMARKS.md). */
enum { NEIGHBOUR_FREQUENT = 64, NEIGHBOUR_LONGER = 16 };

/* The length of the list of word `id` in a vocabulary of `count` words, if the lists of words that
 * are not frequent have `length` words. */
static inline uint32_t neighbours_length(uint32_t count, uint32_t length, uint32_t id) {
    const uint64_t longer = (uint64_t)length * NEIGHBOUR_LONGER;
    if (id >= count / NEIGHBOUR_FREQUENT)
        return length;
    return longer < count ? (uint32_t)longer : count;
}

typedef struct lazy_lists lazy_lists;

/* A view, in memory or in a mapped file that may be damaged. */
typedef struct neighbour_index {
    uint32_t count;         /* words */
    const uint64_t *starts; /* count + 1 offsets into entries, ascending */
    const tem_neighbour *entries;
    uint64_t entry_count;
    const tem_dist *bounds; /* count * NEIGHBOUR_RANGES */
    /* One bit per word, set once its list has been found in order. NULL: all lists are in order. */
    _Atomic(uint64_t) *checked;
    /* NULL: the lists and bounds of all words are there. Otherwise neighbours_get computes those of
     * a word at its first call for the word, and nothing may read them before. */
    lazy_lists *lazy;
} neighbour_index;

/* The number of words in each range, except the last ranges, which may have fewer words or none.
 * Word `id` is in range id / neighbours_range_words(count). */
static inline uint32_t neighbours_range_words(uint32_t count) {
    return (count + NEIGHBOUR_RANGES - 1) / NEIGHBOUR_RANGES;
}

static inline const tem_dist *neighbours_bounds(const neighbour_index *index, uint32_t id) {
    return index->bounds + (size_t)id * NEIGHBOUR_RANGES;
}

/* Builds the index of a space. The lists have neighbours_length words; length: 1 to count. The
 * space must have passed space_check_range: no distance may be UINT32_MAX. The result does not
 * depend on the number of threads or on the kernel. Fails with TEM_ERR_MEMORY or TEM_ERR_CANCELLED.
 * Free with neighbours_free. */
tem_status neighbours_build(const space *s, uint32_t length, const tem_run *run,
                            neighbour_index *out, tem_error *error);

/* Finds only the `length` nearest words of each word, itself included, in the order (distance, id):
 * out[id * length] is the first one of word `id`. Else as neighbours_build, in half of its time.
 * Free with core_free. */
tem_status neighbours_list(const space *s, uint32_t length, const tem_run *run, tem_neighbour **out,
                           tem_error *error);

/* Makes an index with the same lists and bounds, each computed when it is first needed: one raw
 * distance per word of the space. The index and everything that draws by it belong to one thread at
 * a time. The space must live as long, and must have passed space_check_range. Memory for all lists
 * is allocated, and written only where lists are computed. Fails with TEM_ERR_MEMORY. */
tem_status neighbours_build_lazy(const space *s, uint32_t length, neighbour_index *out,
                                 tem_error *error);

/* For neighbours.c: makes sure that the list and the bounds of a word are there. */
void lazy_lists_need(lazy_lists *lazy, const neighbour_index *index, uint32_t id);
void lazy_lists_free(lazy_lists *lazy);

/* Frees what these two allocated. Not for views of a mapped file. */
void neighbours_free(neighbour_index *index);

/* Sets *out to the list of word `id`, which is below count; out->bound is the least of its bounds.
 * Every call checks that the list is inside its section. The first call for a word of an index with
 * `checked` also checks that ids are below count, that the list is ordered by (distance, id), that
 * no word of the list is beyond a bound, and that a list of all words has no bound. Returns TEM_OK
 * or TEM_ERR_DAMAGED. Any thread. */
tem_status neighbours_get(const neighbour_index *index, uint32_t id, tem_neighbours *out,
                          tem_error *error);

/* Recomputes the whole index, with lists of neighbours_length words, and compares it with `index`.
 * Fails with TEM_ERR_DAMAGED, TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status neighbours_verify(const neighbour_index *index, const space *s, uint32_t length,
                             const tem_run *run, tem_error *error);

/* How far away the nearest words are. tem compares the error of rounding to the grid with this. */
typedef struct nearest_distance {
    uint32_t words; /* words that have a nearest word at another point */
    /* The median over these words; for an even number, the lower of the two in the middle; 0 if
     * there are none. */
    tem_dist median;
} nearest_distance;

/* Finds the distance of each word to its nearest word at another point, exactly, from lists and
 * bounds. Leaves out words whose list and bounds know only words at their own point.
 *   merged   a byte per word, or NULL: a word with 1 counts as if it were 0 away from another word
 * Fails with TEM_ERR_MEMORY, or with TEM_ERR_DAMAGED for a list of a mapped file. */
tem_status nearest_distance_find(const neighbour_index *index, const unsigned char *merged,
                                 nearest_distance *out, tem_error *error);

#endif
