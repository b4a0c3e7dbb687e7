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
#include <string.h>

enum {
    BLOCK = SQUARES_BLOCK,
    PAST_BITS = 40 /* of a counted cell */
};

/* The data that all threads share. */
typedef struct counting_pass {
    const uint32_t *weights;
    profile *out;
    uint64_t inverse;  /* 2^64 / step, rounded up (2^64 - 1 for 1), to divide by multiplying */
    uint64_t *counted; /* per thread, PROFILE_POINTS cells for each word of a block; NULL: a weight
                        * is above 1, or the numbers do not fit */
    squares squares;
    squares_room room;
    atomic_bool damaged;
} counting_pass;

/* The place of a distance: between the points `cell` and `cell` + 1, `past` beyond the first. */
typedef struct distance_place {
    uint32_t cell, past;
} distance_place;

/* The quotient is exact for 32-bit distances, since distance * step < 2^64. Only with a step of 1
 * is it one too small, for distances above 0. Then past = step, and the word adds to the same point
 * all the same. */
static inline distance_place place_of(const counting_pass *p, tem_dist distance) {
    const uint32_t cell = (uint32_t)((uint128)distance * p->inverse >> 64);
    return (distance_place){cell, distance - cell * p->out->step};
}

/* Adds words at these distances to a profile. */
static void add_weights(const counting_pass *p, const tem_dist *distances, uint32_t first,
                        uint32_t count, double *values) {
    const uint32_t step = p->out->step;
    for (uint32_t i = 0; i < count; i++) {
        const distance_place at = place_of(p, distances[i]);
        const double weight = p->weights == NULL ? 1 : p->weights[first + i];
        values[at.cell] += weight * (step - at.past);
        values[at.cell + 1] += weight * at.past;
    }
}

/* As add_weights, for weights of 0 and 1. A cell holds the number of its words, times 2^PAST_BITS,
 * plus the sum of their `past`: one addition per word, of integers, is twice as fast as two. */
static void count_words(const counting_pass *p, const tem_dist *distances, uint32_t first,
                        uint32_t count, uint64_t *cells) {
    for (uint32_t i = 0; i < count; i++) {
        const distance_place at = place_of(p, distances[i]);
        const uint64_t weight = p->weights == NULL ? 1 : p->weights[first + i];
        cells[at.cell] += ((uint64_t)1 << PAST_BITS | at.past) * weight;
    }
}

/* Makes a profile of counted cells. All numbers are integers below 2^53, so no sum is rounded. */
static void take_counted(uint32_t step, const uint64_t *cells, double *values) {
    for (uint32_t k = 0; k + 1 < PROFILE_POINTS; k++) {
        const uint64_t words = cells[k] >> PAST_BITS;
        const uint64_t past = cells[k] & (((uint64_t)1 << PAST_BITS) - 1);
        values[k] += (double)(words * step - past);
        values[k + 1] += (double)past;
    }
}

/* Whether every cell has room for all words. */
static bool can_count(const profile *out, const uint32_t *weights) {
    bool fits =
        out->count >> (64 - PAST_BITS) == 0 && (uint64_t)out->count * out->step >> PAST_BITS == 0;
    for (uint32_t id = 0; id < out->count && fits && weights != NULL; id++)
        fits = weights[id] <= 1;
    return fits;
}

/* Whether no distance exceeds the reach. Only vectors that no build makes can exceed it. */
static bool within_reach(const counting_pass *p, const tem_dist *distances, uint32_t count) {
    const tem_dist reach = p->out->reach;
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < count; i++)
        beyond |= distances[i] > reach;
    return beyond == 0;
}

/* A word whose profile a thread computes. */
typedef struct profiled_word {
    double *values;
    uint64_t *cells; /* NULL: not counted */
} profiled_word;

static profiled_word word_of(const counting_pass *p, unsigned thread, uint32_t block, uint32_t r) {
    const size_t id = (size_t)block * BLOCK + r, slot = (size_t)thread * BLOCK + r;
    return (profiled_word){p->out->values + id * PROFILE_POINTS,
                           p->counted == NULL ? NULL : p->counted + slot * PROFILE_POINTS};
}

static void add(const counting_pass *p, const tem_dist *distances, uint32_t first, uint32_t count,
                const profiled_word *to) {
    if (to->cells != NULL)
        count_words(p, distances, first, count, to->cells);
    else
        add_weights(p, distances, first, count, to->values);
}

/* Adds the words of a block of columns to the profiles of a block of rows. A word does not add to
 * its own profile. Returns false if a distance exceeds the reach. */
static bool add_tile(const counting_pass *p, unsigned thread, uint32_t rows, uint32_t columns,
                     const tem_dist *tile) {
    const uint32_t width = squares_block_size(&p->squares, columns), first = columns * BLOCK;
    for (uint32_t r = 0; r < squares_block_size(&p->squares, rows); r++) {
        const tem_dist *distances = tile + (size_t)r * BLOCK;
        const profiled_word to = word_of(p, thread, rows, r);
        if (!within_reach(p, distances, width))
            return false;
        add(p, distances, first, rows == columns ? r : width, &to);
        if (rows == columns)
            add(p, distances + r + 1, first + r + 1, width - r - 1, &to);
    }
    return true;
}

static void clear_counted(const counting_pass *p, unsigned thread) {
    if (p->counted != NULL)
        memset(word_of(p, thread, 0, 0).cells, 0,
               (size_t)BLOCK * PROFILE_POINTS * sizeof *p->counted);
}

static void finish_counted(const counting_pass *p, unsigned thread, uint32_t rows) {
    for (uint32_t r = 0; p->counted != NULL && r < squares_block_size(&p->squares, rows); r++) {
        const profiled_word word = word_of(p, thread, rows, r);
        take_counted(p->out->step, word.cells, word.values);
    }
}

/* Computes the profiles of the words of one block. */
static void profile_block(void *context, uint64_t item, unsigned thread) {
    counting_pass *p = context;
    const uint32_t rows = (uint32_t)item;
    const squares *q = &p->squares;
    squares_set_rows(q, &p->room, thread, rows);
    clear_counted(p, thread);
    for (uint32_t columns = 0; columns < q->blocks; columns++) {
        if (columns % SQUARES_PER_QUESTION == 0 && core_task_stopped())
            return;
        const tem_dist *tile = squares_meet(q, &p->room, thread, rows, columns);
        if (!add_tile(p, thread, rows, columns, tile)) {
            atomic_store(&p->damaged, true);
            return;
        }
    }
    finish_counted(p, thread, rows);
}

/* Returns the number of points up to the last one that is not 0 in every profile. */
static uint32_t count_used(const profile *p) {
    uint32_t used = 0;
    for (uint32_t id = 0; id < p->count; id++)
        for (uint32_t k = PROFILE_POINTS; k > used; k--)
            if (profile_of(p, id)[k - 1] > 0)
                used = k;
    return used;
}

tem_status profile_make(const space *s, const uint32_t *weights, const tem_run *run, profile *out,
                        tem_error *error) {
    const tem_dist reach = space_reach(s);
    const uint32_t step = reach / (PROFILE_POINTS - 1) + 1;
    profile made = {.count = s->count,
                    .step = step,
                    .reach = reach,
                    .values = core_alloc_zero((size_t)s->count * PROFILE_POINTS, sizeof(double))};
    counting_pass p = {.weights = weights,
                       .out = &made,
                       .inverse = step == 1 ? UINT64_MAX : UINT64_MAX / step + 1};
    const bool counts = can_count(&made, weights);
    if (counts)
        p.counted =
            core_alloc((size_t)core_thread_count(run) * BLOCK * PROFILE_POINTS, sizeof *p.counted);
    tem_status status =
        made.values == NULL || (counts && p.counted == NULL) ? core_fail_memory(error) : TEM_OK;
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
    core_free(p.counted);
    if (status == TEM_OK) {
        made.used = count_used(&made);
        *out = made;
    } else
        profile_free(&made);
    return status;
}

void profile_free(profile *p) {
    core_free(p->values);
    *p = (profile){0};
}
