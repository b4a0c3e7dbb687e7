/* guess.h - limits before the first comparison.
 *
 * Whatever K words one looks at, the farthest of them is at least as far as the last word
 * of the list; and a word beyond that is not in the list, so that its distance is at least
 * the bound of its part. Of the words that are looked at for that, those of a word's own
 * cluster and the nearest ones give limits that save half of all later work; a first
 * meeting without any limit costs most. */
#ifndef INDEX_GUESS_H
#define INDEX_GUESS_H

#include "index/clusters.h"
#include "index/lists.h"

/* What one thread needs for itself. */
typedef struct guesser {
    const space *space;
    const clusters *clusters;
    lists *lists;
    uint32_t wanted; /* words to look at, or a few more */
    uint32_t count;  /* words that are looked at, each of them once */
    uint32_t *ids;
    uint8_t *parts;
    int16_t *rows;
    uint64_t *squares; /* of a word's distances from them */
    uint64_t *keys;
} guesser;

/* TEM_ERR_MEMORY only. Free with guesser_free, whatever it returned. */
tem_status guesser_init(guesser *g, const space *s, const clusters *c, lists *l, tem_error *error);
void guesser_free(guesser *g);

/* Sets the limits of the words of a cluster. */
void guesser_run(guesser *g, uint32_t cluster);

#endif
