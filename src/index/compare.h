/* compare.h - compares all pairs of words of two blocks. It finds the pairs that may change a list
 * or a bound, and offers each word of such a pair to the other.
 *
 * Euclidean spaces: codes (space/codes.h) rule out nearly all pairs at the speed of a matrix
 * product. The comparer computes the exact square of the other pairs and, if the square is small
 * enough, their distance. Other metrics: the comparer computes the raw number of every pair. */
#ifndef INDEX_COMPARE_H
#define INDEX_COMPARE_H

#include "index/lists.h"
#include "space/codes.h"

/* Shared by all threads. */
typedef struct comparison {
    const space *space;
    const blocks *blocks;
    const codes *codes;         /* NULL unless the space is euclidean */
    const uint16_t *error_most; /* the largest error of the codes of each block */
    lists *lists;
} comparison;

/* One of the two blocks, with the cutoff of each of its words: as a distance, as a square (without
 * codes, as the metric's raw number) and as a score of codes. */
typedef struct compared_side {
    uint32_t block, first, size;
    tem_dist *distances;
    uint64_t *squares;
    int32_t *scores;
} compared_side;

typedef struct word_pair {
    uint32_t row, column; /* indices in their blocks */
} word_pair;

/* The working memory of one thread. */
typedef struct comparer {
    const comparison *shared;
    const kernels *kernels;
    compared_side rows, columns;
    uint32_t row_first, row_end; /* the rows being compared; with codes, whole strips */
    uint8_t *strips;             /* the codes of the rows */
    word_pair *pairs;
    tem_dist *pair_distances;
    uint64_t *pair_squares;
    uint32_t pair_count;
    uint32_t offered; /* pairs offered since the cutoffs of the columns were looked up */
} comparer;

/* Allocates the working memory of a thread. Fails with TEM_ERR_MEMORY only. Free with
 * comparer_free, also after a failure. */
tem_status comparer_init(comparer *c, const comparison *shared, tem_error *error);
void comparer_free(comparer *c);

/* Sets the block whose words are the rows of the following calls of comparer_run. */
void comparer_set_rows(comparer *c, uint32_t block);

/* Compares the rows with the words of a block, which may be the same block, and offers what it
 * finds. */
void comparer_run(comparer *c, uint32_t block);

#endif
