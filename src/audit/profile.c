/* profile.c - one pass over the distances of all pairs of words.
 *
 * A task is a block of rows, against all blocks of columns. So each pair is computed twice, once
 * for each of its words. Adding to the profiles of both words at once was no faster, since the
 * profiles of the columns do not stay in the nearest cache; and it needs locks. */
#include "audit/profile.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "space/integer_math.h"
#include "space/squares.h"

#include <stdatomic.h>

enum { BLOCK = SQUARES_BLOCK };

/* The data that all threads share. */
typedef struct counting_pass {
    const uint32_t *weights;
    profile *out;
    uint64_t inverse; /* 2^64 / step, rounded up (2^64 - 1 for 1), to divide by multiplying */
    squares squares;
    squares_room room;
    atomic_bool damaged;
} counting_pass;

/* Adds words at these distances to a profile. The quotient is exact for 32-bit distances, since
 * distance * step < 2^64. Only with a step of 1 is it one too small, for distances above 0. Then
 * past = step, and the word adds to the same point all the same. */
static void add(const counting_pass *p, const tem_dist *distances, uint32_t first, uint32_t count,
                double *values) {
    const uint32_t step = p->out->step;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t point = (uint32_t)((uint128)distances[i] * p->inverse >> 64);
        const uint32_t past = distances[i] - point * step;
        const double weight = p->weights == NULL ? 1 : p->weights[first + i];
        values[point] += weight * (step - past);
        values[point + 1] += weight * past;
    }
}

/* Whether no distance exceeds the reach. Only vectors that no build makes can exceed it. */
static bool within_reach(const counting_pass *p, const tem_dist *distances, uint32_t count) {
    tem_dist largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = distances[i] > largest ? distances[i] : largest;
    return largest <= p->out->reach;
}

/* Computes the profiles of the words of one block. A word does not add to its own profile. */
static void profile_block(void *context, uint64_t item, unsigned thread) {
    counting_pass *p = context;
    const uint32_t rows = (uint32_t)item, first = rows * BLOCK;
    const squares *q = &p->squares;
    squares_set_rows(q, &p->room, thread, rows);
    for (uint32_t columns = 0; columns < q->blocks; columns++) {
        if (columns % SQUARES_PER_QUESTION == 0 && core_task_stopped())
            return;
        const tem_dist *tile = squares_meet(q, &p->room, thread, rows, columns);
        for (uint32_t r = 0; r < squares_block_size(q, rows); r++) {
            double *values = p->out->values + (size_t)(first + r) * PROFILE_POINTS;
            const tem_dist *distances = tile + (size_t)r * BLOCK;
            const uint32_t before = rows == columns ? r : squares_block_size(q, columns);
            if (!within_reach(p, distances, squares_block_size(q, columns))) {
                atomic_store(&p->damaged, true);
                return;
            }
            add(p, distances, columns * BLOCK, before, values);
            if (rows == columns)
                add(p, distances + r + 1, first + r + 1, squares_block_size(q, rows) - r - 1,
                    values);
        }
    }
}

tem_status profile_make(const space *s, const uint32_t *weights, const tem_run *run, profile *out,
                        tem_error *error) {
    const tem_dist farthest = space_reach(s);
    const uint32_t step = farthest / (PROFILE_POINTS - 1) + 1;
    profile made = {.count = s->count,
                    .step = step,
                    .reach = farthest,
                    .values = core_alloc_zero((size_t)s->count * PROFILE_POINTS, sizeof(double))};
    counting_pass p = {.weights = weights,
                       .out = &made,
                       .inverse = step == 1 ? UINT64_MAX : UINT64_MAX / step + 1};
    tem_status status = made.values == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK)
        status = squares_init(&p.squares, s, made.reach, error);
    if (status == TEM_OK)
        status = squares_room_init(&p.room, &p.squares, core_thread_count(run), error);
    if (status == TEM_OK)
        status = core_parallel(run, "measuring", p.squares.blocks, profile_block, &p, error);
    if (status == TEM_OK && atomic_load(&p.damaged))
        status = core_fail(error, TEM_ERR_DAMAGED, "the distances of the model are no metric");
    squares_room_free(&p.room);
    squares_free(&p.squares);
    if (status == TEM_OK)
        *out = made;
    else
        profile_free(&made);
    return status;
}

void profile_free(profile *p) {
    core_free(p->values);
    *p = (profile){0};
}
