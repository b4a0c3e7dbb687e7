/* clusters.h - an estimate of which words are near each other.
 *
 * A word that knows some near words has a low cutoff (lists.h) from the start, and most of the words
 * that it meets later need no second look. Clusters decide about time only, never about a
 * result. */
#ifndef INDEX_CLUSTERS_H
#define INDEX_CLUSTERS_H

#include "space/space.h"

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

#endif
