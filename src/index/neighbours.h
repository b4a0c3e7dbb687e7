/* neighbours.h - every word's nearest words, exactly.
 *
 * The list of word w holds the K_w first words in the order (distance, id), w
 * itself among them. The words outside it are known by their bounds. The
 * vocabulary is cut into NEIGHBOUR_RANGES ranges of ids; the bound for a range is the least
 * distance of a word of that range that is not in the list, or UINT32_MAX where there is none.
 *
 * Why ranges: a vocabulary is in order of frequency, and rare words are far
 * from the others. With one bound for all words the sampler looks at two to three times
 * as many in vain (docs/BENCHMARKS.md).
 *
 * PRIVACY: the sampler draws from the words outside the list by an envelope that is
 * right only if none of them is nearer than the bound of its range. */
#ifndef INDEX_NEIGHBOURS_H
#define INDEX_NEIGHBOURS_H

#include "space/space.h"

#include <stdatomic.h>

/* A word's bounds fill one line of the cache. */
enum { NEIGHBOUR_RANGES = 16 };

/* The first of NEIGHBOUR_FREQUENT words, the frequent ones, have lists NEIGHBOUR_LONGER times
 * as long as the others. They are what most of a text consists of: for a quarter more memory
 * the sampler looks at half as many words in vain or fewer (docs/BENCHMARKS.md). */
enum { NEIGHBOUR_FREQUENT = 64, NEIGHBOUR_LONGER = 16 };

static inline uint32_t neighbours_length(uint32_t count, uint32_t length, uint32_t id) {
    const uint64_t longer = (uint64_t)length * NEIGHBOUR_LONGER;
    if (id >= count / NEIGHBOUR_FREQUENT)
        return length;
    return longer < count ? (uint32_t)longer : count;
}

/* A view, in memory or in a mapped file that may be damaged. */
typedef struct neighbour_index {
    uint32_t count;         /* words */
    const uint64_t *starts; /* count + 1 offsets into entries, ascending */
    const tem_neighbour *entries;
    uint64_t entry_count;
    const tem_dist *bounds; /* count * NEIGHBOUR_RANGES */
    /* One bit a word, set once its list has been found in order; NULL: all are. */
    _Atomic(uint64_t) *checked;
} neighbour_index;

/* Words in each range but the last ones, which may have fewer or none: word `id` is in range
 * id / neighbours_range_words(count). */
static inline uint32_t neighbours_range_words(uint32_t count) {
    return (count + NEIGHBOUR_RANGES - 1) / NEIGHBOUR_RANGES;
}

static inline const tem_dist *neighbours_bounds(const neighbour_index *index, uint32_t id) {
    return index->bounds + (size_t)id * NEIGHBOUR_RANGES;
}

/* The index of a space with lists of neighbours_length words, `length` being 1 to count. The result
 * is the same whatever the number of threads and the kernel. The space must have passed
 * space_check_range: no distance may be UINT32_MAX. TEM_ERR_MEMORY or TEM_ERR_CANCELLED.
 * Free with neighbours_free. */
tem_status neighbours_build(const space *s, uint32_t length, const tem_run *run,
                            neighbour_index *out, tem_error *error);

/* Frees what neighbours_build allocated. Not for views of a mapped file. */
void neighbours_free(neighbour_index *index);

/* The list of word `id`, below count; checked when it is first asked for: inside its
 * section, ids below count, ordered by (distance, id), none beyond a bound; out->bound is
 * the least of its bounds. TEM_OK or TEM_ERR_DAMAGED. Any thread. */
tem_status neighbours_get(const neighbour_index *index, uint32_t id, tem_neighbours *out,
                          tem_error *error);

/* Recomputes the whole index, whose lists should have neighbours_length words, and compares.
 * TEM_ERR_DAMAGED, TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status neighbours_verify(const neighbour_index *index, const space *s, uint32_t length,
                             const tem_run *run, tem_error *error);

/* How far away the nearest words are: what the rounding of a grid is compared with. */
typedef struct nearest_distance {
    uint32_t words;  /* that have a nearest word at another point */
    tem_dist median; /* over these words; of an even number the lower one; 0 if there are none */
} nearest_distance;

/* The distance of each word to its nearest word at another point, by the lists and bounds: exact.
 * Words whose list and bounds know of nothing but their own point have no part in it.
 *   merged   a byte for each word, or NULL: 1 for a word that counts as if it were 0 away from
 *            another one
 * TEM_ERR_MEMORY, or TEM_ERR_DAMAGED for a list of a mapped file. */
tem_status nearest_distance_find(const neighbour_index *index, const unsigned char *merged,
                                 nearest_distance *out, tem_error *error);

#endif
