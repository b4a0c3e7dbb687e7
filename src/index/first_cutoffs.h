/* first_cutoffs.h - cutoffs (lists.h) before the first comparison, from a sample of words.
 *
 * Whatever K words one looks at, the farthest of them is at least as far away as the K-th
 * neighbour: an upper bound on that distance. A word beyond it is not in the list, so its
 * distance is an upper bound on the bound of its range. The lower these cutoffs, the fewer
 * comparisons follow that change nothing.
 *
 * The sample has the words of a word's own cluster and of the nearest clusters, and central words:
 * those of each range that are nearest to the mean of all words. Of vectors with many dimensions
 * most are about as far from each other as from the mean, and central words are near to all.
 *
 * Clusters and samples decide about time only, never about a result. */
#ifndef INDEX_FIRST_CUTOFFS_H
#define INDEX_FIRST_CUTOFFS_H

#include "index/lists.h"

/* ---- clusters: an estimate of which words are near each other ---- */

typedef struct clusters {
    uint32_t *ids;    /* all words, cluster after cluster */
    uint32_t *starts; /* count + 1 of them */
    uint32_t count;
    uint32_t most;    /* words in a cluster */
    int16_t *centres; /* the mean of each, as a row */
} clusters;

/* Clusters of 1 to `most` words of a space with rows, by k-means twice over. TEM_ERR_MEMORY
 * only. Free with clusters_free. */
tem_status clusters_init(clusters *c, const space *s, uint32_t most, unsigned threads,
                         tem_error *error);
void clusters_free(clusters *c);

/* ---- cutoffs ---- */

/* The central words of all ranges. */
typedef struct central_words {
    uint32_t *ids;
    uint32_t count;
} central_words;

/* TEM_ERR_MEMORY only. Free with central_words_free. */
tem_status central_words_init(central_words *h, const space *s, const clusters *c,
                              tem_error *error);
void central_words_free(central_words *h);

/* What one thread needs for itself. */
typedef struct cutoff_finder {
    const space *space;
    const clusters *clusters;
    const central_words *central;
    lists *lists;
    uint32_t count; /* words to look at, each of them once */
    uint32_t usual; /* so many of them, the first, unless a word's list is long */
    uint32_t *ids;
    uint8_t *ranges;
    bool *is_looked_at; /* by id */
    int16_t *rows;
    uint64_t *squares; /* of a word's distances from them */
    uint64_t *keys;
} cutoff_finder;

/* TEM_ERR_MEMORY only. Free with cutoff_finder_free, whatever it returned. */
tem_status cutoff_finder_init(cutoff_finder *g, const space *s, const clusters *c,
                              const central_words *h, lists *l, tem_error *error);
void cutoff_finder_free(cutoff_finder *g);

/* Sets the cutoffs of the words of a cluster. */
void cutoff_finder_run(cutoff_finder *g, uint32_t cluster);

#endif
