/* squares.h - the exact distances of whole tiles of pairs of words of a euclidean space, at the
 * speed of a matrix product.
 *
 * |x - y|^2 = |x|^2 + |y|^2 - 2 xy, computed modulo 2^32. So it is exact where no two words are
 * 2^16 units of the grid apart, which is what squares_init asks about; others go the slow way. */
#ifndef SPACE_SQUARES_H
#define SPACE_SQUARES_H

#include "space/kernels/kernels.h"
#include "space/space.h"

/* A block of words: whole strips of rows and whole tiles of columns. A block that meets all others
 * may take long: after so many it asks whether to go on (core_task_stopped), some milliseconds. */
enum { SQUARES_BLOCK = 96, SQUARES_PER_QUESTION = 64 };

typedef struct squares {
    const space *space;
    size_t pairs; /* of elements */
    uint32_t blocks;
    int16_t *columns; /* tile_vectors.columns, tile after tile; NULL: the slow way */
    uint32_t *norms;  /* |x|^2 modulo 2^32 */
} squares;

/* reach: no two words are farther apart. TEM_ERR_MEMORY only. Free with squares_free. */
tem_status squares_init(squares *q, const space *s, tem_dist reach, tem_error *error);
void squares_free(squares *q);

/* What the threads need while blocks meet, each for itself. */
typedef struct squares_room {
    size_t strip_elements; /* of one thread */
    int16_t *strips;       /* the vectors of the block that is rows */
    uint32_t *tiles;       /* its distances, or their squares, from the block that is columns */
} squares_room;

/* TEM_ERR_MEMORY only. Free with squares_room_free, whatever it returned. */
tem_status squares_room_init(squares_room *room, const squares *q, unsigned threads,
                             tem_error *error);
void squares_room_free(squares_room *room);

/* Makes a block the rows of what follows in this thread. */
void squares_set_rows(const squares *q, squares_room *room, unsigned thread, uint32_t block);

/* The distances of all words of the block `rows`, which was set, from all words of the block
 * `columns`: [r * SQUARES_BLOCK + c]. Places without a word hold unspecified numbers. Good until
 * the thread's next call. */
const tem_dist *squares_meet(const squares *q, squares_room *room, unsigned thread, uint32_t rows,
                             uint32_t columns);

/* Whether there are products to be had: else all distances come the slow way. */
static inline bool squares_have_products(const squares *q) {
    return q->columns != NULL;
}

/* As squares_meet, before the root is taken: the squares of the distances, in the square of a unit
 * of the grid. Only where there are products. */
const uint32_t *squares_meet_squares(const squares *q, squares_room *room, unsigned thread,
                                     uint32_t rows, uint32_t columns);

/* Words of a block. */
static inline uint32_t squares_block_size(const squares *q, uint32_t block) {
    const uint32_t left = q->space->count - block * SQUARES_BLOCK;
    return left < SQUARES_BLOCK ? left : SQUARES_BLOCK;
}

#endif
