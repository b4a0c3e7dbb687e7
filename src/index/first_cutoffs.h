/* first_cutoffs.h - finds cutoffs (lists.h) before the first comparison, from a sample of words.
 *
 * Take any K words: the farthest of them is at least as far away as the K-th nearest word of all.
 * So its distance is an upper bound on the distances of a list of K words. A word beyond it is not
 * in the list, so the distance of that word is an upper bound on the bound for its range. The lower
 * these cutoffs are, the fewer comparisons follow that change nothing.
 *
 * The sample of a word has the words of its own cluster and of the nearest clusters, and the
 * central words: those words of each range that are nearest to the mean of all words. In many
 * dimensions most vectors are about as far from each other as from the mean, and central words are
 * near to all words.
 *
 * Clusters and samples decide only how long the search takes, never its result. */
#ifndef INDEX_FIRST_CUTOFFS_H
#define INDEX_FIRST_CUTOFFS_H

#include "index/lists.h"
#include "space/kernels/kernels.h"

/* ---- clusters: an estimate of which words are near each other ---- */

typedef struct clusters {
    uint32_t *ids;    /* all words, cluster after cluster */
    uint32_t *starts; /* count + 1: where each cluster starts in `ids` */
    uint32_t count;
    uint32_t most;    /* largest number of words in a cluster */
    int16_t *centres; /* the mean of each cluster, as a row */
} clusters;

/* Divides the words of a space with rows into clusters of 1 to `most` words, by k-means, which
 * splits again every cluster that is too large. Fails with TEM_ERR_MEMORY only. Free with
 * clusters_free. */
tem_status clusters_init(clusters *c, const space *s, uint32_t most, unsigned threads,
                         tem_error *error);
void clusters_free(clusters *c);

/* ---- cutoffs ---- */

/* The central words of all ranges. */
typedef struct central_words {
    uint32_t *ids;
    uint32_t count;
} central_words;

/* Finds the central words. Fails with TEM_ERR_MEMORY only. Free with central_words_free, also after
 * a failure. */
tem_status central_words_init(central_words *h, const space *s, const clusters *c,
                              tem_error *error);
void central_words_free(central_words *h);

/* The working memory of one thread. */
typedef struct cutoff_finder {
    const space *space;
    const clusters *clusters;
    const central_words *central;
    lists *lists;
    uint32_t count; /* words in the sample, each only once */
    uint32_t usual; /* a word whose list is not long looks at the first `usual` of them */
    uint32_t *ids;
    uint8_t *ranges;
    bool *is_looked_at; /* by id: whether the word is in the sample */
    const kernels *kernels;
    size_t room;                 /* most words in a sample, in whole tiles */
    int16_t *rows;               /* of the sample */
    int16_t *columns;            /* the same as tile_vectors.columns, tile after tile */
    uint32_t *norms;             /* the squared lengths of the rows */
    bool is_short;               /* all lengths are small enough for tile_dots */
    int16_t *strip_rows, *strip; /* TILE_ROWS words, and the same packed */
    uint64_t *squares; /* of the distances of TILE_ROWS words from the sample, `room` each */
    uint64_t *keys;
} cutoff_finder;

/* Allocates the working memory of a thread. Fails with TEM_ERR_MEMORY only. Free with
 * cutoff_finder_free, also after a failure. */
tem_status cutoff_finder_init(cutoff_finder *g, const space *s, const clusters *c,
                              const central_words *h, lists *l, tem_error *error);
void cutoff_finder_free(cutoff_finder *g);

/* Sets the cutoffs of the words of a cluster in `lists`, by lists_expect. */
void cutoff_finder_run(cutoff_finder *g, uint32_t cluster);

#endif
