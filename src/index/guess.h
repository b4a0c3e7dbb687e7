/* guess.h - limits before the first comparison.
 *
 * Whatever K words one looks at, the farthest of them is at least as far as the last word
 * of the list; and a word beyond that is not in the list, so that its distance is at least
 * the bound of its part. The better these limits, the fewer words are looked at later that
 * turn out to change nothing.
 *
 * Looked at are the words of a word's own cluster and of the nearest ones, and hubs: the
 * words of each part that are nearest to the mean of all. Of vectors with many dimensions
 * most are about as far from each other as from the mean, and hubs are near to everybody. */
#ifndef INDEX_GUESS_H
#define INDEX_GUESS_H

#include "index/clusters.h"
#include "index/lists.h"

/* The hubs of all parts. */
typedef struct hubs {
    uint32_t *ids;
    uint32_t count;
} hubs;

/* TEM_ERR_MEMORY only. Free with hubs_free. */
tem_status hubs_init(hubs *h, const space *s, const clusters *c, tem_error *error);
void hubs_free(hubs *h);

/* What one thread needs for itself. */
typedef struct guesser {
    const space *space;
    const clusters *clusters;
    const hubs *hubs;
    lists *lists;
    uint32_t count; /* words to look at, each of them once */
    uint32_t usual; /* so many of them, the first, unless a word's list is long */
    uint32_t *ids;
    uint8_t *parts;
    bool *is_looked_at; /* by id */
    int16_t *rows;
    uint64_t *squares; /* of a word's distances from them */
    uint64_t *keys;
} guesser;

/* TEM_ERR_MEMORY only. Free with guesser_free, whatever it returned. */
tem_status guesser_init(guesser *g, const space *s, const clusters *c, const hubs *h, lists *l,
                        tem_error *error);
void guesser_free(guesser *g);

/* Sets the limits of the words of a cluster. */
void guesser_run(guesser *g, uint32_t cluster);

#endif
