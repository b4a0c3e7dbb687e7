/* profile.c - the distances of all pairs of words, once.
 *
 * Each pair of blocks of words is met once, and counts for both words of a pair. The profiles
 * of the block of rows are a thread's own until it has met all columns; those of the columns
 * are locked while a tile of distances is added. */
#include "account/profile.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "space/root.h"
#include "space/squares.h"

#include <pthread.h>
#include <string.h>

enum {
    BLOCK = SQUARES_BLOCK, /* words: two of them, profiles and vectors, fit the cache */
    CENTRES = 64,          /* words that are tried as the middle of all */
    ROW_BYTES = PROFILE_POINTS * sizeof(double)
};

/* What all threads share. */
typedef struct pass {
    const space *space;
    const uint32_t *weights;
    profile *out;
    uint64_t inverse; /* 2^64 / step, rounded up (2^64 - 1 for 1): divides by a product */
    squares squares;
    int16_t *strips;        /* the vectors of BLOCK rows a thread */
    double *own;            /* BLOCK profiles a thread */
    tem_dist *tiles;        /* BLOCK * BLOCK distances a thread */
    pthread_mutex_t *locks; /* one a block */
} pass;

static double weight_of(const pass *p, uint32_t id) {
    return p->weights == NULL ? 1 : p->weights[id];
}

/* Adds a word of this weight at a distance. The product is exact for 32-bit distances:
 * distance * step < 2^64. */
static void add(const pass *p, double *values, tem_dist distance, double weight) {
    const uint32_t point = (uint32_t)((uint128)distance * p->inverse >> 64);
    const uint32_t past = distance - point * p->out->step;
    values[point] += weight * (p->out->step - past);
    values[point + 1] += weight * past;
}

static void add_tile(const pass *p, uint32_t rows, uint32_t columns, const tem_dist *tile,
                     double *own) {
    const uint32_t row_count = squares_block_size(&p->squares, rows);
    const uint32_t column_count = squares_block_size(&p->squares, columns);
    for (uint32_t r = 0; r < row_count; r++) {
        const uint32_t row = rows * BLOCK + r;
        const double row_weight = weight_of(p, row);
        for (uint32_t c = rows == columns ? r + 1 : 0; c < column_count; c++) {
            const uint32_t column = columns * BLOCK + c;
            const tem_dist distance = tile[(size_t)r * BLOCK + c];
            add(p, own + (size_t)r * PROFILE_POINTS, distance, weight_of(p, column));
            add(p, p->out->values + (size_t)column * PROFILE_POINTS, distance, row_weight);
        }
    }
}

static void add_own(const pass *p, uint32_t block, const double *own) {
    double *values = p->out->values + (size_t)block * BLOCK * PROFILE_POINTS;
    const size_t numbers = (size_t)squares_block_size(&p->squares, block) * PROFILE_POINTS;
    pthread_mutex_lock(&p->locks[block]);
    for (size_t i = 0; i < numbers; i++)
        values[i] += own[i];
    pthread_mutex_unlock(&p->locks[block]);
}

/* One block of rows against itself and all later blocks. */
static void meet_columns(void *context, uint64_t item, unsigned thread) {
    const pass *p = context;
    const uint32_t rows = (uint32_t)item;
    double *own = p->own + (size_t)thread * BLOCK * PROFILE_POINTS;
    tem_dist *tile = p->tiles + (size_t)thread * BLOCK * BLOCK;
    int16_t *strips = p->strips + thread * squares_strip_bytes(&p->squares) / sizeof *strips;
    memset(own, 0, (size_t)BLOCK * ROW_BYTES);
    squares_set_rows(&p->squares, rows, strips);
    for (uint32_t columns = rows; columns < p->squares.blocks; columns++) {
        squares_distances(&p->squares, strips, rows, columns, tile);
        pthread_mutex_lock(&p->locks[columns]);
        add_tile(p, rows, columns, tile, own);
        pthread_mutex_unlock(&p->locks[columns]);
    }
    add_own(p, rows, own);
}

/* A distance that no two words exceed: twice the distance of the farthest word from some word
 * in the middle, by the triangle inequality. */
static uint64_t reach(const space *s) {
    uint64_t least = UINT32_MAX;
    const uint32_t stride = s->count / CENTRES + 1;
    for (uint32_t centre = 0; centre < s->count; centre += stride) {
        uint64_t farthest = 0;
        for (uint32_t id = 0; id < s->count && farthest < least; id++) {
            const tem_dist d = space_distance(s, centre, id);
            farthest = d > farthest ? d : farthest;
        }
        least = farthest < least ? farthest : least;
    }
    return 2 * least < UINT32_MAX ? 2 * least : UINT32_MAX;
}

static tem_status make_locks(pass *p, uint32_t *made) {
    p->locks = core_alloc(p->squares.blocks, sizeof *p->locks);
    if (p->locks == NULL)
        return TEM_ERR_MEMORY;
    for (; *made < p->squares.blocks; ++*made)
        if (pthread_mutex_init(&p->locks[*made], NULL) != 0)
            return TEM_ERR_MEMORY;
    return TEM_OK;
}

static tem_status pass_init(pass *p, unsigned threads, uint32_t *locks, tem_error *error) {
    p->own = core_alloc((size_t)threads * BLOCK, ROW_BYTES);
    p->tiles = core_alloc((size_t)threads * BLOCK * BLOCK, sizeof(tem_dist));
    p->strips = core_alloc(threads, squares_strip_bytes(&p->squares));
    if (p->own == NULL || p->tiles == NULL || p->strips == NULL || make_locks(p, locks) != TEM_OK)
        return core_fail_memory(error);
    return TEM_OK;
}

static void pass_free(pass *p, uint32_t locks) {
    for (uint32_t i = 0; i < locks; i++)
        pthread_mutex_destroy(&p->locks[i]);
    core_free(p->locks);
    core_free(p->strips);
    core_free(p->tiles);
    core_free(p->own);
    squares_free(&p->squares);
}

tem_status profile_make(const space *s, const uint32_t *weights, const tem_run *run, profile *out,
                        tem_error *error) {
    const uint64_t farthest = reach(s);
    const uint32_t step = (uint32_t)(farthest / (PROFILE_POINTS - 1) + 1);
    profile made = {.count = s->count,
                    .step = step,
                    .values = core_alloc_zero((size_t)s->count * PROFILE_POINTS, sizeof(double))};
    pass p = {.space = s,
              .weights = weights,
              .out = &made,
              .inverse = step == 1 ? UINT64_MAX : UINT64_MAX / step + 1};
    uint32_t locks = 0;
    tem_status status = made.values == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK)
        status = squares_init(&p.squares, s, (tem_dist)farthest, error);
    if (status == TEM_OK)
        status = pass_init(&p, core_thread_count(run), &locks, error);
    if (status == TEM_OK)
        status = core_parallel(run, "measuring", p.squares.blocks, meet_columns, &p, error);
    pass_free(&p, locks);
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
