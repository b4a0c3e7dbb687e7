/* compare.h - all pairs of words of two blocks, of which those that may change a list or a
 * bound are found and offered to both words.
 *
 * Euclidean spaces: codes (space/codes.h) rule out nearly all pairs at the speed of a matrix
 * product; the others get their exact square, and, if that is near enough, their distance.
 * Other metrics: the distance of every pair. */
#ifndef INDEX_COMPARE_H
#define INDEX_COMPARE_H

#include "index/lists.h"
#include "space/codes.h"

/* What all threads share. */
typedef struct comparison {
    const space *space;
    const blocks *blocks;
    const codes *codes;         /* NULL unless the space is euclidean */
    const uint16_t *error_most; /* the largest error of the codes of each block */
    lists *lists;
} comparison;

/* One block of a pair, with a cutoff for each word: in the steps of distances, of squares and of
 * scores. */
typedef struct compared_side {
    uint32_t block, first, size;
    tem_dist *distances;
    uint64_t *squares;
    int32_t *scores;
} compared_side;

typedef struct word_pair {
    uint32_t row, column; /* places in their blocks */
} word_pair;

/* What one thread needs for itself. */
typedef struct comparer {
    const comparison *shared;
    const kernels *kernels;
    compared_side rows, columns;
    uint32_t row_first, row_end; /* the rows at hand: whole strips */
    uint8_t *strips;             /* the codes of the rows */
    word_pair *pairs;
    tem_dist *pair_distances;
    uint64_t *pair_squares;
    uint32_t pair_count;
    uint32_t offered; /* pairs since the cutoffs of the columns were looked up */
} comparer;

tem_status comparer_init(comparer *c, const comparison *shared, tem_error *error);
void comparer_free(comparer *c);

/* Sets the block whose words are the rows of what follows. */
void comparer_set_rows(comparer *c, uint32_t block);

/* Compares the rows with the words of a block, which may be the same. */
void comparer_run(comparer *c, uint32_t block);

#endif
