/* pair_matrix.c - sums over all distances of a vocabulary. */
#include "audit/pair_matrix.h"

#include "core/cpu.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <string.h>

enum {
    STEPS_MAX = 65535,
    BLOCK = SQUARES_BLOCK,
    SUMS = 4,    /* z, m, q, gradient */
    GROUPS = 64, /* groups of rows; the same for any number of threads */
    ROW_SUMS = SUMS * PAIR_LANES,
    TILE = BLOCK * BLOCK
};
_Static_assert(BLOCK % PAIR_ROWS == 0 && BLOCK % PAIR_LANES == 0, "whole groups");

static const pair_loops *loops(void) {
#if defined(__x86_64__)
    const core_cpu cpu = core_cpu_detect();
    return cpu.avx512 ? &pair_loops_avx512 : cpu.avx2fma ? &pair_loops_avx2 : &pair_loops_plain;
#else
    return &pair_loops_plain;
#endif
}

/* ---------------------------------------------------------------- making -- */

/* The size of a step for distances up to `most`. */
static float unit_for(double most) {
    return (float)(most / STEPS_MAX * 1.00001 + 1e-30);
}

/* Computes a tile of distances. Places without a word keep what they had, or get unspecified
 * numbers. */
static void fill_tile(pair_matrix *t, unsigned thread, uint32_t rows, uint32_t columns,
                      uint16_t *steps) {
    const squares *q = &t->squares;
    if (squares_have_products(q)) {
        const uint32_t *tile = squares_meet_squares(q, &t->room, thread, rows, columns);
        const float scale = ldexpf(1 / t->unit, -(int)q->space->step_log2);
        for (uint32_t r = 0; r < squares_block_size(q, rows); r++)
            t->loops->roots(tile + r * BLOCK, BLOCK / PAIR_LANES, scale, steps + r * BLOCK);
        return;
    }
    const tem_dist *tile = squares_meet(q, &t->room, thread, rows, columns);
    const float scale = 1 / (t->unit * TEM_DIST_ONE);
    for (uint32_t r = 0; r < squares_block_size(q, rows); r++)
        for (uint32_t c = 0; c < squares_block_size(q, columns); c++)
            steps[r * BLOCK + c] =
                (uint16_t)fminf((float)tile[r * BLOCK + c] * scale + 0.5f, STEPS_MAX);
}

/* The place of a kept tile. Only tiles with rows <= columns are kept: each pair once. */
static size_t tile_place(const pair_matrix *t, uint32_t rows, uint32_t columns) {
    return (size_t)rows * t->squares.blocks - (size_t)rows * (rows + 1) / 2 + columns;
}

/* The least distance above 0 in a row of a tile. */
static uint16_t nearest_of(const uint16_t *steps) {
    uint16_t least = STEPS_MAX;
    for (uint32_t c = 0; c < BLOCK; c++)
        if (steps[c] > 0 && steps[c] < least)
            least = steps[c];
    return least;
}

/* Computes the tiles of a block of rows, with 0 where there is no word. */
static void keep_block(void *context, uint64_t block, unsigned thread) {
    pair_matrix *t = context;
    const uint32_t rows = (uint32_t)block, row_count = squares_block_size(&t->squares, rows);
    squares_set_rows(&t->squares, &t->room, thread, rows);
    for (uint32_t columns = rows; columns < t->squares.blocks; columns++) {
        const size_t place = tile_place(t, rows, columns);
        const uint32_t column_count = squares_block_size(&t->squares, columns);
        uint16_t *steps = t->steps + place * TILE;
        fill_tile(t, thread, rows, columns, steps);
        for (uint32_t r = 0; r < row_count; r++) {
            for (uint32_t c = column_count; c < BLOCK; c++)
                steps[r * BLOCK + c] = 0;
            t->nearest[place * BLOCK + r] = nearest_of(steps + r * BLOCK);
        }
    }
}

/* Allocates memory for all distances, or for one tile per thread. */
static tem_status make_room(pair_matrix *t, size_t most, tem_error *error) {
    const size_t tiles = tile_place(t, t->squares.blocks - 1, t->squares.blocks - 1) + 1;
    t->kept = (double)tiles * TILE * sizeof *t->steps <= (double)most;
    t->steps = core_alloc_zero((t->kept ? tiles : t->threads) * TILE, sizeof *t->steps);
    t->nearest = core_alloc_zero(t->kept ? tiles * BLOCK : 1, sizeof *t->nearest);
    t->row_sums = core_alloc((size_t)t->threads * BLOCK * ROW_SUMS, sizeof *t->row_sums);
    t->partials = core_alloc((size_t)GROUPS * SUMS * t->stride, sizeof *t->partials);
    return t->steps == NULL || t->nearest == NULL || t->row_sums == NULL || t->partials == NULL
               ? core_fail_memory(error)
               : TEM_OK;
}

tem_status pair_matrix_make(const space *s, const neighbour_index *index, tem_dist reach,
                            size_t most, const tem_run *run, pair_matrix *out, tem_error *error) {
    pair_matrix made = {.count = s->count,
                        .threads = core_thread_count(run),
                        .reach = (double)reach / TEM_DIST_ONE,
                        .loops = loops(),
                        .index = index};
    tem_status status = squares_init(&made.squares, s, reach, error);
    made.stride = made.squares.blocks * BLOCK;
    made.unit = unit_for(made.reach);
    if (status == TEM_OK)
        status = squares_room_init(&made.room, &made.squares, made.threads, error);
    if (status == TEM_OK)
        status = make_room(&made, most, error);
    if (status == TEM_OK && made.kept)
        status = core_parallel(run, "measuring", made.squares.blocks, keep_block, &made, error);
    if (status == TEM_OK)
        *out = made;
    else
        pair_matrix_free(&made);
    return status;
}

void pair_matrix_free(pair_matrix *t) {
    core_free(t->steps);
    core_free(t->nearest);
    core_free(t->row_sums);
    core_free(t->partials);
    squares_room_free(&t->room);
    squares_free(&t->squares);
    *t = (pair_matrix){0};
}

float *pair_vector(const pair_matrix *t) {
    return core_alloc_zero(t->stride, sizeof(float));
}

static pair_row row_of(const pair_call *call) {
    return (pair_row){.groups = BLOCK / PAIR_LANES,
                      .unit = call->matrix->unit,
                      .gamma = (float)call->gamma,
                      .rate = (float)(-call->s * 1.4426950408889634)};
}

/* ---------------------------------------------------- one pass over all pairs -- */

/* One pass over all pairs, each pair once, for the sums of both words. The rows are cut into GROUPS
 * groups, and each group has partial sums of its own. So the order of all additions is the same for
 * any number of threads. */
typedef struct pass pass;
struct pass {
    const pair_call *call;
    void (*tile)(pass *p, unsigned thread, uint64_t group, uint32_t rows, uint32_t columns);
    uint32_t first_sum, end_sum; /* the partial sums that are used */

    const pair_side *words; /* factors; all are there, though a kind may not use them */
    pair_kind kind;

    const float *u; /* of pair_find_excess and pair_find_slope */
    float limit;
    float *least, *most;    /* per block of words, bounds on u */
    double numbers[GROUPS]; /* moments or slopes */
};

static float *partial_of(const pass *p, uint64_t group, uint32_t sum) {
    return p->call->matrix->partials + (group * SUMS + sum) * p->call->matrix->stride;
}

static uint32_t first_block(const pass *p, uint64_t group) {
    return (uint32_t)(group * p->call->matrix->squares.blocks / GROUPS);
}

/* Returns the distances of a tile: kept, or computed now. */
static const uint16_t *tile_of(const pass *p, unsigned thread, uint32_t rows, uint32_t columns) {
    pair_matrix *t = p->call->matrix;
    if (t->kept)
        return t->steps + tile_place(t, rows, columns) * TILE;
    uint16_t *steps = t->steps + (size_t)thread * TILE;
    fill_tile(t, thread, rows, columns, steps);
    for (uint32_t i = 0; i < BLOCK && rows == columns && p->call->others; i++)
        steps[i * BLOCK + i] = STEPS_MAX;
    return steps;
}

static float sum_of_lanes(const float *lanes) {
    float sum = 0;
    for (uint32_t i = 0; i < PAIR_LANES; i++)
        sum += lanes[i];
    return sum;
}

static void do_block(pass *p, unsigned thread, uint64_t group, uint32_t rows) {
    pair_matrix *t = p->call->matrix;
    float *row_sums = t->row_sums + (size_t)thread * BLOCK * ROW_SUMS;
    memset(row_sums, 0, BLOCK * ROW_SUMS * sizeof *row_sums);
    if (!t->kept)
        squares_set_rows(&t->squares, &t->room, thread, rows);
    for (uint32_t columns = rows; columns < t->squares.blocks; columns++)
        p->tile(p, thread, group, rows, columns);
    for (uint32_t r = 0; r < squares_block_size(&t->squares, rows); r++)
        for (uint32_t k = p->first_sum; k < p->end_sum; k++)
            partial_of(p, group, k)[rows * BLOCK + r] +=
                sum_of_lanes(row_sums + (size_t)r * ROW_SUMS + k * PAIR_LANES);
}

static void do_group(void *context, uint64_t group, unsigned thread) {
    pass *p = context;
    const uint32_t first = first_block(p, group), end = first_block(p, group + 1);
    for (uint32_t k = p->first_sum; k < p->end_sum; k++)
        memset(partial_of(p, group, k) + (size_t)first * BLOCK, 0,
               (p->call->matrix->stride - (size_t)first * BLOCK) * sizeof(float));
    for (uint32_t rows = first; rows < end && !core_task_stopped(); rows++)
        do_block(p, thread, group, rows);
}

/* A pass over kept distances is quick and reports no progress: a search makes hundreds of these and
 * reports its own. */
static tem_status do_pass(pass *p, tem_error *error) {
    const pair_matrix *t = p->call->matrix;
    tem_run run = t->kept || p->call->run == NULL ? (tem_run){0} : *p->call->run;
    run.threads = t->threads;
    return core_parallel(&run, t->kept ? NULL : "summing over all pairs", GROUPS, do_group, p,
                         error);
}

/* A group has nothing for the words before its first row. */
static void add_partials(const pass *p, uint32_t sum, float *out) {
    const pair_matrix *t = p->call->matrix;
    if (out == NULL)
        return;
    memset(out, 0, t->count * sizeof *out);
    for (uint64_t group = 0; group < GROUPS; group++)
        for (uint32_t id = first_block(p, group) * BLOCK; id < t->count; id++)
            out[id] += partial_of(p, group, sum)[id];
}

/* ------------------------------------------------------------------ sums -- */

/* Adds a block of rows and a block of columns to each other's sums. */
static void sum_tile(pass *p, unsigned thread, uint64_t group, uint32_t rows, uint32_t columns) {
    const pair_matrix *t = p->call->matrix;
    const pair_side *w = p->words;
    const size_t at = (size_t)columns * BLOCK;
    const pair_side side = {w->a + at,
                            w->p + at,
                            w->h + at,
                            partial_of(p, group, 0) + at,
                            partial_of(p, group, 1) + at,
                            partial_of(p, group, 2) + at,
                            partial_of(p, group, 3) + at};
    const uint16_t *steps = tile_of(p, thread, rows, columns);
    float *row_sums = t->row_sums + (size_t)thread * BLOCK * ROW_SUMS;
    pair_row row = row_of(p->call);
    for (uint32_t r = 0; r < squares_block_size(&t->squares, rows); r += PAIR_ROWS) {
        pair_numbers own[PAIR_ROWS] = {{0}};
        for (uint32_t i = 0; i < PAIR_ROWS; i++) {
            const uint32_t id = rows * BLOCK + r + i;
            if (rows != columns) /* a tile with rows == columns has each pair twice, so its rows
                                  * alone get sums */
                own[i] = (pair_numbers){w->a[id], w->p[id], w->h[id]};
        }
        row.steps = steps + (size_t)r * BLOCK;
        t->loops->meet[p->kind](&row, own, row_sums + (size_t)r * ROW_SUMS, &side);
    }
}

static tem_status sum_pairs(const pair_call *call, const pair_side *words, pair_kind kind,
                            tem_error *error) {
    pair_matrix *t = call->matrix;
    if (!t->kept) /* distances beyond gamma all count as gamma */
        t->unit = unit_for(fmin(t->reach, call->gamma));
    static const uint32_t sums[PAIR_KINDS][2] = {[PAIR_TOTALS] = {0, 1},
                                                 [PAIR_MOMENTS] = {0, 3},
                                                 [PAIR_GRADIENT] = {3, 4},
                                                 [PAIR_ALL] = {0, 4},
                                                 [PAIR_BEYOND] = {0, 4}};
    pass p = {.call = call,
              .tile = sum_tile,
              .first_sum = sums[kind][0],
              .end_sum = sums[kind][1],
              .words = words,
              .kind = kind};
    const tem_status status = do_pass(&p, error);
    float *const out[SUMS] = {words->z, words->m, words->q, words->gradient};
    for (uint32_t k = p.first_sum; k < p.end_sum && status == TEM_OK; k++)
        add_partials(&p, k, out[k]);
    return status;
}

tem_status pair_stream(const pair_call *call, const pair_side *words, tem_error *error) {
    return sum_pairs(call, words, PAIR_ALL, error);
}

tem_status pair_stream_beyond(const pair_call *call, const pair_side *words, tem_error *error) {
    return sum_pairs(call, words, PAIR_BEYOND, error);
}

tem_status pair_sum(const pair_call *call, const float *a, float *z, float *m, float *q,
                    tem_error *error) {
    const pair_side words = {a, a, a, z, m, q, NULL};
    return sum_pairs(call, &words, m == NULL && q == NULL ? PAIR_TOTALS : PAIR_MOMENTS, error);
}

tem_status pair_gradient(const pair_call *call, const float *p, const float *h, float *out,
                         tem_error *error) {
    const pair_side words = {p, p, h, NULL, NULL, NULL, out};
    return sum_pairs(call, &words, PAIR_GRADIENT, error);
}

/* ------------------------------------------------- slopes of kept distances -- */

static tem_status bound_blocks(pass *p, tem_error *error) {
    const pair_matrix *t = p->call->matrix;
    p->least = core_alloc(t->squares.blocks, sizeof *p->least);
    p->most = core_alloc(t->squares.blocks, sizeof *p->most);
    if (p->least == NULL || p->most == NULL)
        return core_fail_memory(error);
    for (uint32_t block = 0; block < t->squares.blocks; block++) {
        const float *u = p->u + (size_t)block * BLOCK;
        p->least[block] = p->most[block] = u[0];
        for (uint32_t i = 1; i < squares_block_size(&t->squares, block); i++) {
            p->least[block] = fminf(p->least[block], u[i]);
            p->most[block] = fmaxf(p->most[block], u[i]);
        }
    }
    return TEM_OK;
}

/* As fminf and fmaxf, but inline. */
static float smaller(float a, float b) {
    return a < b ? a : b;
}

static float larger(float a, float b) {
    return a > b ? a : b;
}

/* The largest rise and the least distance above 0 between a word and the words of a block. Rounding
 * is monotone, so the numbers of every pair are within these, as computed. */
typedef struct row_bounds {
    float rise, m;
} row_bounds;

static row_bounds bounds_of(const pass *p, const pair_row *row, size_t place, uint32_t r, float u,
                            uint32_t columns) {
    const pair_matrix *t = p->call->matrix;
    return (row_bounds){
        larger(fabsf(u - p->least[columns]), fabsf(u - p->most[columns])),
        smaller((float)t->nearest[place * BLOCK + r] * row->unit, row->gamma),
    };
}

static void excess_tile(pass *p, unsigned thread, uint64_t group, uint32_t rows, uint32_t columns) {
    (void)thread;
    const pair_matrix *t = p->call->matrix;
    const size_t place = tile_place(t, rows, columns);
    float *sums = partial_of(p, group, 0);
    pair_row row = row_of(p->call);
    for (uint32_t r = 0; r < squares_block_size(&t->squares, rows); r++) {
        const uint32_t id = rows * BLOCK + r;
        const row_bounds b = bounds_of(p, &row, place, r, p->u[id], columns);
        if (b.rise <= p->limit * b.m)
            continue; /* every v is 0 */
        row.steps = t->steps + place * TILE + (size_t)r * BLOCK;
        const pair_excess found =
            t->loops->excess(&row, p->u[id], p->u + (size_t)columns * BLOCK, p->limit,
                             rows == columns ? NULL : sums + (size_t)columns * BLOCK);
        sums[id] += found.signed_sum;
        p->numbers[group] += (rows == columns ? 1 : 2) * (double)found.moment;
    }
}

static void slope_tile(pass *p, unsigned thread, uint64_t group, uint32_t rows, uint32_t columns) {
    (void)thread;
    const pair_matrix *t = p->call->matrix;
    const size_t place = tile_place(t, rows, columns);
    double *steepest = &p->numbers[group];
    pair_row row = row_of(p->call);
    for (uint32_t r = 0; r < squares_block_size(&t->squares, rows); r++) {
        const float u = p->u[rows * BLOCK + r];
        const row_bounds b = bounds_of(p, &row, place, r, u, columns);
        if (b.rise / b.m <= *steepest)
            continue;
        row.steps = t->steps + place * TILE + (size_t)r * BLOCK;
        *steepest = fmax(*steepest, t->loops->slope(&row, u, p->u + (size_t)columns * BLOCK));
    }
}

static tem_status excess_of_all(const pair_call *call, const float *u, double limit, float *out,
                                double *moment, tem_error *error) {
    pass p = {.call = call, .tile = excess_tile, .end_sum = 1, .u = u, .limit = (float)limit};
    tem_status status = bound_blocks(&p, error);
    if (status == TEM_OK)
        status = do_pass(&p, error);
    if (status == TEM_OK)
        add_partials(&p, 0, out);
    for (uint32_t group = 0; group < GROUPS; group++)
        *moment += p.numbers[group];
    core_free(p.least);
    core_free(p.most);
    return status;
}

static tem_status slope_of_all(const pair_call *call, const float *u, double *slope,
                               tem_error *error) {
    pass p = {.call = call, .tile = slope_tile, .u = u};
    tem_status status = bound_blocks(&p, error);
    if (status == TEM_OK)
        status = do_pass(&p, error);
    for (uint32_t group = 0; group < GROUPS; group++)
        *slope = fmax(*slope, p.numbers[group]);
    core_free(p.least);
    core_free(p.most);
    return status;
}

/* ------------------------------------------- slopes of the pairs in the lists -- */

/* A word, another word of its list, rise = u[id] - u[other], and m, their distance cut at gamma. */
typedef struct near_pair {
    uint32_t id, other;
    double rise, m;
} near_pair;

typedef void near_task(void *context, const near_pair *pair);

/* Calls `task` for all pairs in the lists at a distance above 0. The loop takes a second for
 * millions of words. */
static tem_status near_pairs(const pair_call *call, const float *u, near_task *task, void *context,
                             tem_error *error) {
    const pair_matrix *t = call->matrix;
    tem_status status = TEM_OK;
    for (uint32_t id = 0; id < t->count && status == TEM_OK; id++) {
        tem_neighbours list = {0};
        status = neighbours_get(t->index, id, &list, error);
        for (uint32_t i = 0; i < list.count && status == TEM_OK; i++) {
            const uint32_t other = list.list[i].id;
            const double m = fmin((double)list.list[i].distance / TEM_DIST_ONE, call->gamma);
            if (m > 0)
                task(context, &(near_pair){id, other, (double)u[id] - u[other], m});
        }
    }
    return status;
}

typedef struct near_excess {
    double limit, moment;
    float *out;
} near_excess;

static void add_excess(void *context, const near_pair *p) {
    near_excess *x = context;
    const double over = fabs(p->rise) - x->limit * p->m;
    if (over <= 0)
        return;
    const float signed_over = (float)copysign(over, p->rise);
    x->out[p->id] += signed_over;
    x->out[p->other] -= signed_over;
    x->moment += 2 * over * p->m;
}

static void take_slope(void *context, const near_pair *p) {
    double *slope = context;
    *slope = fmax(*slope, fabs(p->rise) / p->m);
}

/* -------------------------------------------------------- kept or streamed -- */

tem_status pair_find_excess(const pair_call *call, const float *u, double limit, float *out,
                            double *moment, tem_error *error) {
    *moment = 0;
    if (call->matrix->kept)
        return excess_of_all(call, u, limit, out, moment, error);
    near_excess x = {limit, 0, out};
    memset(out, 0, call->matrix->count * sizeof *out);
    const tem_status status = near_pairs(call, u, add_excess, &x, error);
    *moment = x.moment;
    return status;
}

tem_status pair_find_slope(const pair_call *call, const float *u, double *slope, tem_error *error) {
    *slope = 0;
    return call->matrix->kept ? slope_of_all(call, u, slope, error)
                              : near_pairs(call, u, take_slope, slope, error);
}
