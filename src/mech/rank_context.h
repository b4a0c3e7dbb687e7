/* rank_context.h - quick draws in context for closenesses by rank, and language models in levels.
 *
 * It draws from the same law as context.c, which has the definition and draws for everything else.
 *
 * Over each output y stands a column: as wide as its weight a_y, and as high as its closeness to w,
 * heights[rank of y around w]. A point that is uniform over all columns has a column with the
 * probability of the law. To draw such a point, a round draws one that is uniform below an
 * envelope, which is nowhere lower than the columns. If the point is in its column, y is released;
 * else all begins anew. The envelope has three parts, above and below a height, the floor:
 *
 *     list     the first outputs of the list: from the floor up to the height of each
 *     blocks   all other outputs of the first blocks of the path (order/order.h): from the floor up
 *              to a bound, which is the same for all words of a block
 *     all      all outputs: from 0 up to the floor
 *
 * A part of the list without blocks is quickly summed, and often accepts. So the first rounds have
 * that, and later rounds larger envelopes with a lower floor (rank_stage).
 *
 * PRIVACY: each round accepts a point with the same conditional law, that of the columns, whichever
 * envelope it has. So the law does not depend on the stages, nor on how many rounds rejected. That
 * needs whole rounds: a rejection draws the part anew, too. And it needs one set of weights: the
 * sizes of the parts, and what is drawn within them, come from the same integers. docs/PRIVACY.md,
 * "The same law with rank and n-grams", proves it step by step. */
#ifndef MECH_RANK_CONTEXT_H
#define MECH_RANK_CONTEXT_H

#include "mech/successor_maps.h"

/* The envelope of some rounds. */
typedef struct rank_stage {
    unsigned rounds; /* the stage ends before the round of this number */
    uint32_t list;   /* entries in the part `list`; all, if it is more or if there are blocks */
    uint32_t blocks; /* in the part `blocks`; all, if it is more */
} rank_stage;

enum { RANK_STAGES = 3 };

typedef struct rank_context {
    const rank_order *order;
    const uint64_t *heights;
    const weights *weights; /* 0: never released */
    const tem_language *language;
    const rank_stage *stages; /* RANK_STAGES; a test may set others */
    uint64_t *bounds;         /* per block of a path: no word in it that is in no list is higher.
                               * Never rising; one more, which is 0 */
    uint32_t *base_sums;      /* per block, by number: the sum of the base before it; one more */
    successor_maps maps;
    size_t scratch_bytes;
} rank_context;

/* Whether *c can be made for a form and a language model. */
bool rank_context_serves(const law_form *form, const tem_language *language);

/* Fails with TEM_ERR_MEMORY. Free with rank_context_free. */
tem_status rank_context_init(rank_context *c, const law_form *form, const tem_language *language,
                             tem_error *error);
void rank_context_free(rank_context *c);

/* One draw. Its arrays are in a scratch of scratch_bytes, which is zeroed before its first draw.
 * It tells the word: whoever has it erases it. */
typedef struct rank_draw {
    const rank_context *c;
    const position_weights *at;
    uint32_t word;
    const uint16_t *path;
    uint32_t list, blocks; /* of the stage */
    uint64_t floor;
    u256_wide near, middle, far; /* the sizes of the three parts; together below 2^126 */

    uint64_t *values;       /* per entry of the list: its weight, up to `known` */
    uint64_t *block_values; /* per block of the stage: the weight of its words */
    uint32_t *numbers;      /* per entry of the list */
    uint32_t known;
    uint64_t *listed;      /* a bit per number; 0 between uses */
    uint16_t *block_order; /* per block: its place on the path and 1; 0 between uses */
} rank_draw;

/* Begins a draw for `word`, which is no TEM_NO_WORD. scratch: at a multiple of 8. */
void rank_draw_begin(rank_draw *d, const rank_context *c, void *scratch, const position_weights *at,
                     uint32_t word);

/* Sets list, blocks, floor, and the sizes of the parts. */
void rank_draw_set_stage(rank_draw *d, const rank_stage *stage);

/* Whether the point at this height is in the column of the output with this number, drawn from the
 * part `all`; and of the word number `offset` of block `i` of the path, drawn from that block. */
bool rank_draw_keeps(const rank_draw *d, uint32_t number, uint64_t height);
bool rank_draw_keeps_in_block(const rank_draw *d, uint32_t i, uint32_t offset, uint64_t height);

/* Draws for up to `rounds` rounds. *over: one of them accepted; then *out is the id. */
void rank_draw_run(rank_draw *d, unsigned rounds, tem_rng *rng, uint32_t *out, bool *over);

#endif
