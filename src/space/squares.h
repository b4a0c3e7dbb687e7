/* squares.h - the exact distances between whole blocks of words, at the speed of a matrix product
 * for most euclidean spaces.
 *
 * |x - y|^2 = |x|^2 + |y|^2 - 2 xy, computed modulo 2^32. The result is exact if no two words are
 * 2^16 units of the grid or more apart. squares_init checks this. For other spaces, and other
 * metrics, the functions below compute the distances one by one, which is slow. */
#ifndef SPACE_SQUARES_H
#define SPACE_SQUARES_H

#include "space/kernels/kernels.h"
#include "space/space.h"

/* SQUARES_BLOCK: words in a block, which is whole strips of rows and whole tiles of columns.
 * SQUARES_PER_QUESTION: comparing one block with all others may take long, so callers ask after
 * this number of blocks, some milliseconds, whether to go on (core_task_stopped). */
enum { SQUARES_BLOCK = 96, SQUARES_PER_QUESTION = 64 };

typedef struct squares {
    const space *space;
    size_t pairs; /* pairs of elements in a row */
    uint32_t blocks;
    int16_t *columns; /* as tile_vectors.columns, tile after tile; NULL: one by one */
    uint32_t *norms;  /* |x|^2 modulo 2^32 */
} squares;

/* Whether the squares of all distances of a space are below 2^32, so that 32 bits hold them.
 * reach: no two words are farther apart. False for other metrics than the euclidean one. */
bool squares_fit(const space *s, tem_dist reach);

/* Prepares a space. reach: no two words are farther apart. Fails with TEM_ERR_MEMORY only. The
 * caller frees it with squares_free. */
tem_status squares_init(squares *q, const space *s, tem_dist reach, tem_error *error);
void squares_free(squares *q);

/* Working memory, a part for each thread. */
typedef struct squares_room {
    size_t strip_elements; /* elements of `strips` per thread */
    int16_t *strips;       /* the vectors of the block of rows */
    uint32_t *tiles;       /* distances, or their squares, of the rows from the block of columns */
} squares_room;

/* Allocates working memory. Fails with TEM_ERR_MEMORY only. The caller frees it with
 * squares_room_free, also after a failure. */
tem_status squares_room_init(squares_room *room, const squares *q, unsigned threads,
                             tem_error *error);
void squares_room_free(squares_room *room);

/* Makes `block` the block of rows for this thread's next calls. */
void squares_set_rows(const squares *q, squares_room *room, unsigned thread, uint32_t block);

/* Returns the distances of all words of the block `rows`, which squares_set_rows has set, from all
 * words of the block `columns`, at [r * SQUARES_BLOCK + c]. Places without a word hold unspecified
 * numbers. The result is valid until the thread's next call. */
const tem_dist *squares_meet(const squares *q, squares_room *room, unsigned thread, uint32_t rows,
                             uint32_t columns);

/* Whether distances come from matrix products. If not, squares_meet computes them one by one. */
static inline bool squares_have_products(const squares *q) {
    return q->columns != NULL;
}

/* As squares_meet, without the root: returns the squares of the distances, in squared units of the
 * grid. Allowed only if squares_have_products. */
const uint32_t *squares_meet_squares(const squares *q, squares_room *room, unsigned thread,
                                     uint32_t rows, uint32_t columns);

/* Returns the number of words in a block. */
static inline uint32_t squares_block_size(const squares *q, uint32_t block) {
    const uint32_t left = q->space->count - block * SQUARES_BLOCK;
    return left < SQUARES_BLOCK ? left : SQUARES_BLOCK;
}

#endif
