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
    GROUPS = 64, /* groups of streamed rows; the same for any number of threads */
    ROW_SUMS = SUMS * PAIR_LANES
};

static const pair_loops *loops(void) {
#if defined(__x86_64__)
    const core_cpu cpu = core_cpu_detect();
    return cpu.avx512 ? &pair_loops_avx512 : cpu.avx2 ? &pair_loops_avx2 : &pair_loops_plain;
#else
    return &pair_loops_plain;
#endif
}

/* ---------------------------------------------------------------- making -- */

/* The size of a step for distances up to `most`. */
static float unit_for(double most) {
    return (float)(most / STEPS_MAX * 1.00001 + 1e-30);
}

/* Computes a tile of distances, with rows `stride` apart. Places without a word hold unspecified
 * numbers. */
static void fill_tile(pair_matrix *t, unsigned thread, uint32_t rows, uint32_t columns,
                      uint16_t *steps, size_t stride) {
    const squares *q = &t->squares;
    if (squares_have_products(q)) {
        const uint32_t *tile = squares_meet_squares(q, &t->room, thread, rows, columns);
        const float scale = ldexpf(1 / t->unit, -(int)q->space->step_log2);
        for (uint32_t r = 0; r < squares_block_size(q, rows); r++)
            t->loops->roots(tile + r * BLOCK, BLOCK / PAIR_LANES, scale, steps + r * stride);
        return;
    }
    const tem_dist *tile = squares_meet(q, &t->room, thread, rows, columns);
    const float scale = 1 / (t->unit * TEM_DIST_ONE);
    for (uint32_t r = 0; r < squares_block_size(q, rows); r++)
        for (uint32_t c = 0; c < squares_block_size(q, columns); c++)
            steps[r * stride + c] =
                (uint16_t)fminf((float)tile[r * BLOCK + c] * scale + 0.5f, STEPS_MAX);
}

/* Computes all rows of a block, with 0 where there is no word. */
static void keep_block(void *context, uint64_t block, unsigned thread) {
    pair_matrix *t = context;
    uint16_t *steps = t->steps + block * BLOCK * t->stride;
    squares_set_rows(&t->squares, &t->room, thread, (uint32_t)block);
    for (uint32_t columns = 0; columns < t->squares.blocks; columns++)
        fill_tile(t, thread, (uint32_t)block, columns, steps + (size_t)columns * BLOCK, t->stride);
    for (uint32_t r = 0; r < squares_block_size(&t->squares, (uint32_t)block); r++)
        for (uint32_t c = t->count; c < t->stride; c++)
            steps[(size_t)r * t->stride + c] = 0;
}

/* Allocates memory for all distances, or for one tile per thread. */
static tem_status make_room(pair_matrix *t, size_t most, tem_error *error) {
    t->kept = (double)t->count * t->stride * sizeof *t->steps <= (double)most;
    t->steps =
        core_alloc_zero(t->kept ? (size_t)t->count * t->stride : (size_t)t->threads * BLOCK * BLOCK,
                        sizeof *t->steps);
    t->row_sums = core_alloc((size_t)t->threads * BLOCK * ROW_SUMS, sizeof *t->row_sums);
    return t->steps == NULL || t->row_sums == NULL ? core_fail_memory(error) : TEM_OK;
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
    core_free(t->row_sums);
    squares_room_free(&t->room);
    squares_free(&t->squares);
    *t = (pair_matrix){0};
}

float *pair_vector(const pair_matrix *t) {
    return core_alloc_zero(t->stride, sizeof(float));
}

static pair_row row_of(const pair_call *call) {
    return (pair_row){.unit = call->matrix->unit,
                      .gamma = (float)call->gamma,
                      .rate = (float)(-call->s * 1.4426950408889634)};
}

static void put(float *out, uint32_t id, float value) {
    if (out != NULL)
        out[id] = value;
}

/* ----------------------------------------------------------- kept distances -- */

/* The inputs and outputs of one sum over all rows. Each kind of sum uses only some of them. */
typedef struct summing summing;
struct summing {
    const pair_call *call;
    const float *a, *p, *h, *u;
    float limit;
    float *out[3];
    double *row_numbers; /* moments or slopes, one per word */
    void (*row)(const summing *s, uint32_t id, const pair_row *row);
};

static void sum_row(const summing *s, uint32_t id, const pair_row *row) {
    const pair_sums found = s->call->matrix->loops->sums(row, s->a);
    put(s->out[0], id, found.z);
    put(s->out[1], id, found.m);
    put(s->out[2], id, found.q);
}

static void gradient_row(const summing *s, uint32_t id, const pair_row *row) {
    s->out[0][id] = s->call->matrix->loops->gradient(row, s->p, s->h);
}

static void excess_row(const summing *s, uint32_t id, const pair_row *row) {
    const pair_excess found = s->call->matrix->loops->excess(row, s->u[id], s->u, s->limit);
    s->out[0][id] = found.signed_sum;
    s->row_numbers[id] = found.moment;
}

static void slope_row(const summing *s, uint32_t id, const pair_row *row) {
    s->row_numbers[id] = s->call->matrix->loops->slope(row, s->u[id], s->u);
}

static void do_block(void *context, uint64_t block, unsigned thread) {
    (void)thread;
    const summing *s = context;
    const pair_matrix *t = s->call->matrix;
    pair_row row = row_of(s->call);
    row.groups = t->stride / PAIR_LANES;
    const uint32_t first = (uint32_t)block * BLOCK;
    for (uint32_t r = 0; r < squares_block_size(&t->squares, (uint32_t)block); r++) {
        row.steps = t->steps + (size_t)(first + r) * t->stride;
        s->row(s, first + r, &row);
    }
}

/* Computes the sums of all rows. One call is quick and reports no progress: a search makes hundreds
 * of these calls and reports its own. */
static tem_status all_rows(summing *s, tem_error *error) {
    const pair_matrix *t = s->call->matrix;
    const tem_run quiet = {.threads = t->threads};
    return core_parallel(&quiet, NULL, t->squares.blocks, do_block, s, error);
}

static tem_status with_row_numbers(summing *s, tem_error *error) {
    s->row_numbers = core_alloc(s->call->matrix->count, sizeof *s->row_numbers);
    return s->row_numbers == NULL ? core_fail_memory(error) : all_rows(s, error);
}

static tem_status excess_of_all(const pair_call *call, const float *u, double limit, float *out,
                                double *moment, tem_error *error) {
    summing s = {.call = call, .u = u, .limit = (float)limit, .out = {out}, .row = excess_row};
    const tem_status status = with_row_numbers(&s, error);
    for (uint32_t id = 0; id < call->matrix->count && status == TEM_OK; id++)
        *moment += s.row_numbers[id];
    core_free(s.row_numbers);
    return status;
}

static tem_status slope_of_all(const pair_call *call, const float *u, double *slope,
                               tem_error *error) {
    summing s = {.call = call, .u = u, .row = slope_row};
    const tem_status status = with_row_numbers(&s, error);
    for (uint32_t id = 0; id < call->matrix->count && status == TEM_OK; id++)
        *slope = fmax(*slope, s.row_numbers[id]);
    core_free(s.row_numbers);
    return status;
}

tem_status pair_gradient(const pair_call *call, const float *p, const float *h, float *out,
                         tem_error *error) {
    summing s = {.call = call, .p = p, .h = h, .out = {out}, .row = gradient_row};
    return all_rows(&s, error);
}

/* ------------------------------------------------------- streamed distances -- */

/* One pass over all pairs. It computes each distance once, for the sums of both words. The rows are
 * cut into GROUPS groups, and each group has partial sums of its own. So the order of all additions
 * is the same for any number of threads. */
typedef struct stream {
    const pair_call *call;
    const pair_side *words; /* its outputs may be NULL */
    float *partials;        /* GROUPS * SUMS * stride */
} stream;

static float *partial_of(const stream *s, uint64_t group, uint32_t sum) {
    return s->partials + (group * SUMS + sum) * s->call->matrix->stride;
}

/* Adds a block of rows and a block of columns to each other's sums. */
static void stream_tile(const stream *s, unsigned thread, uint32_t rows, uint32_t columns,
                        float *row_sums, const pair_side *side) {
    pair_matrix *t = s->call->matrix;
    uint16_t *steps = t->steps + (size_t)thread * BLOCK * BLOCK;
    pair_row row = row_of(s->call);
    row.groups = BLOCK / PAIR_LANES;
    fill_tile(t, thread, rows, columns, steps, BLOCK);
    for (uint32_t i = 0; i < BLOCK && rows == columns && s->call->others; i++)
        steps[i * BLOCK + i] = STEPS_MAX;
    for (uint32_t r = 0; r < squares_block_size(&t->squares, rows); r++) {
        const uint32_t id = rows * BLOCK + r;
        pair_numbers own = {s->words->a[id], s->words->p[id], s->words->h[id]};
        if (rows == columns) /* such a tile has each pair twice, so its rows alone get sums */
            own = (pair_numbers){0};
        row.steps = steps + r * BLOCK;
        t->loops->meet(&row, &own, row_sums + (size_t)r * ROW_SUMS, side);
    }
}

static float sum_of_lanes(const float *lanes) {
    float sum = 0;
    for (uint32_t i = 0; i < PAIR_LANES; i++)
        sum += lanes[i];
    return sum;
}

/* Streams a block of rows against itself and all later blocks. */
static void stream_block(const stream *s, unsigned thread, uint64_t group, uint32_t rows) {
    pair_matrix *t = s->call->matrix;
    const pair_side *w = s->words;
    float *row_sums = t->row_sums + (size_t)thread * BLOCK * ROW_SUMS;
    memset(row_sums, 0, BLOCK * ROW_SUMS * sizeof *row_sums);
    squares_set_rows(&t->squares, &t->room, thread, rows);
    for (uint32_t columns = rows; columns < t->squares.blocks; columns++) {
        const size_t at = (size_t)columns * BLOCK;
        const pair_side side = {w->a + at,
                                w->p + at,
                                w->h + at,
                                partial_of(s, group, 0) + at,
                                partial_of(s, group, 1) + at,
                                partial_of(s, group, 2) + at,
                                partial_of(s, group, 3) + at};
        stream_tile(s, thread, rows, columns, row_sums, &side);
    }
    for (uint32_t r = 0; r < squares_block_size(&t->squares, rows); r++)
        for (uint32_t k = 0; k < SUMS; k++)
            partial_of(s, group, k)[rows * BLOCK + r] +=
                sum_of_lanes(row_sums + (size_t)r * ROW_SUMS + k * PAIR_LANES);
}

static void stream_group(void *context, uint64_t group, unsigned thread) {
    const stream *s = context;
    const uint64_t blocks = s->call->matrix->squares.blocks;
    for (uint64_t rows = group * blocks / GROUPS; rows < (group + 1) * blocks / GROUPS; rows++)
        if (!core_task_stopped())
            stream_block(s, thread, group, (uint32_t)rows);
}

static void add_partials(const stream *s, uint32_t sum, float *out) {
    const pair_matrix *t = s->call->matrix;
    if (out == NULL)
        return;
    memset(out, 0, t->count * sizeof *out);
    for (uint64_t group = 0; group < GROUPS; group++)
        for (uint32_t id = 0; id < t->count; id++)
            out[id] += partial_of(s, group, sum)[id];
}

tem_status pair_stream(const pair_call *call, const pair_side *words, tem_error *error) {
    pair_matrix *t = call->matrix;
    t->unit = unit_for(fmin(t->reach, call->gamma)); /* distances beyond gamma all count as gamma */
    stream s = {call, words,
                core_alloc_zero((size_t)GROUPS * SUMS * t->stride, sizeof *s.partials)};
    tem_run run = call->run == NULL ? (tem_run){0} : *call->run;
    run.threads = t->threads;
    const tem_status status = s.partials == NULL ? core_fail_memory(error)
                                                 : core_parallel(&run, "summing over all pairs",
                                                                 GROUPS, stream_group, &s, error);
    float *const out[SUMS] = {words->z, words->m, words->q, words->gradient};
    for (uint32_t k = 0; k < SUMS && status == TEM_OK; k++)
        add_partials(&s, k, out[k]);
    core_free(s.partials);
    return status;
}

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

tem_status pair_sum(const pair_call *call, const float *a, float *z, float *m, float *q,
                    tem_error *error) {
    if (call->matrix->kept) {
        summing s = {.call = call, .a = a, .out = {z, m, q}, .row = sum_row};
        return all_rows(&s, error);
    }
    float *nothing = pair_vector(call->matrix);
    const pair_side words = {a, nothing, nothing, z, m, q, NULL};
    const tem_status status =
        nothing == NULL ? core_fail_memory(error) : pair_stream(call, &words, error);
    core_free(nothing);
    return status;
}

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
