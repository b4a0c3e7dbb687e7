/* tuning_matrix.c - sums over all distances of a vocabulary. */
#include "account/tuning_matrix.h"

#include "core/cpu.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <string.h>

enum {
    STEPS_MAX = 65535,
    BLOCK = SQUARES_BLOCK,
    GROUPS = 64, /* of rows that are streamed; not the number of threads, so as to give the same bits */
    ROW_SUMS = 3 * TUNING_LANES
};

static const tuning_loops *loops(void) {
#if defined(__x86_64__)
    const core_cpu cpu = core_cpu_detect();
    return cpu.avx512 ? &tuning_loops_avx512 : cpu.avx2 ? &tuning_loops_avx2 : &tuning_loops_plain;
#else
    return &tuning_loops_plain;
#endif
}

/* ---------------------------------------------------------------- making -- */

/* A tile of distances, rows `stride` apart. Places without a word hold anything. */
static void fill_tile(tuning_matrix *t, unsigned thread, uint32_t rows, uint32_t columns,
                      uint16_t *steps, size_t stride) {
    const squares *q = &t->squares;
    if (squares_have_products(q)) {
        const uint32_t *tile = squares_meet_squares(q, &t->room, thread, rows, columns);
        const float scale = ldexpf(1 / t->unit, -(int)q->space->step_log2);
        for (uint32_t r = 0; r < squares_block_size(q, rows); r++)
            t->loops->roots(tile + r * BLOCK, BLOCK / TUNING_LANES, scale, steps + r * stride);
        return;
    }
    const tem_dist *tile = squares_meet(q, &t->room, thread, rows, columns);
    const float scale = 1 / (t->unit * TEM_DIST_ONE);
    for (uint32_t r = 0; r < squares_block_size(q, rows); r++)
        for (uint32_t c = 0; c < squares_block_size(q, columns); c++)
            steps[r * stride + c] = (uint16_t)((float)tile[r * BLOCK + c] * scale + 0.5f);
}

/* The rows of a block, with 0 where there is no word. */
static void keep_block(void *context, uint64_t block, unsigned thread) {
    tuning_matrix *t = context;
    uint16_t *steps = t->steps + block * BLOCK * t->stride;
    squares_set_rows(&t->squares, &t->room, thread, (uint32_t)block);
    for (uint32_t columns = 0; columns < t->squares.blocks; columns++)
        fill_tile(t, thread, (uint32_t)block, columns, steps + (size_t)columns * BLOCK, t->stride);
    for (uint32_t r = 0; r < squares_block_size(&t->squares, (uint32_t)block); r++)
        for (uint32_t c = t->count; c < t->stride; c++)
            steps[(size_t)r * t->stride + c] = 0;
}

/* Memory for all distances, or for a tile a thread. */
static tem_status make_room(tuning_matrix *t, size_t most, tem_error *error) {
    t->kept = (double)t->count * t->stride * sizeof *t->steps <= (double)most;
    t->steps = core_alloc_zero(t->kept ? (size_t)t->count * t->stride
                                       : (size_t)t->threads * BLOCK * BLOCK,
                               sizeof *t->steps);
    t->row_sums = core_alloc((size_t)t->threads * BLOCK * ROW_SUMS, sizeof *t->row_sums);
    return t->steps == NULL || t->row_sums == NULL ? core_fail_memory(error) : TEM_OK;
}

tem_status tuning_matrix_make(const space *s, tem_dist reach, size_t most, const tem_run *run,
                              tuning_matrix *out, tem_error *error) {
    tuning_matrix made = {.count = s->count,
                          .threads = core_thread_count(run),
                          .unit = (float)reach / TEM_DIST_ONE / STEPS_MAX * 1.00001f + 1e-30f,
                          .loops = loops()};
    tem_status status = squares_init(&made.squares, s, reach, error);
    made.stride = made.squares.blocks * BLOCK;
    if (status == TEM_OK)
        status = squares_room_init(&made.room, &made.squares, made.threads, error);
    if (status == TEM_OK)
        status = make_room(&made, most, error);
    if (status == TEM_OK && made.kept)
        status = core_parallel(run, "measuring", made.squares.blocks, keep_block, &made, error);
    if (status == TEM_OK)
        *out = made;
    else
        tuning_matrix_free(&made);
    return status;
}

void tuning_matrix_free(tuning_matrix *t) {
    core_free(t->steps);
    core_free(t->row_sums);
    squares_room_free(&t->room);
    squares_free(&t->squares);
    *t = (tuning_matrix){0};
}

float *tuning_vector(const tuning_matrix *t) {
    return core_alloc_zero(t->stride, sizeof(float));
}

static tuning_row row_of(const tuning_call *call) {
    return (tuning_row){.unit = call->matrix->unit,
                        .gamma = (float)call->gamma,
                        .rate = (float)(-call->s * 1.4426950408889634)};
}

static void put(float *out, uint32_t id, float value) {
    if (out != NULL)
        out[id] = value;
}

/* -------------------------------------------------- distances that are kept -- */

/* What is summed over, and where to: those of the sum at hand. */
typedef struct summing summing;
struct summing {
    const tuning_call *call;
    const float *a, *p, *q, *u;
    float limit;
    float *out[3];
    double *row_numbers; /* moments or slopes, one a word */
    void (*row)(const summing *s, uint32_t id, const tuning_row *row);
};

static void sum_row(const summing *s, uint32_t id, const tuning_row *row) {
    const tuning_sums found = s->call->matrix->loops->sums(row, s->a);
    put(s->out[0], id, found.z);
    put(s->out[1], id, found.m);
    put(s->out[2], id, found.q);
}

static void gradient_row(const summing *s, uint32_t id, const tuning_row *row) {
    s->out[0][id] = s->call->matrix->loops->gradient(row, s->p, s->q);
}

static void excess_row(const summing *s, uint32_t id, const tuning_row *row) {
    const tuning_excess found =
        s->call->matrix->loops->excess(row, s->u[id], s->u, s->limit);
    s->out[0][id] = found.signed_sum;
    s->row_numbers[id] = found.moment;
}

static void slope_row(const summing *s, uint32_t id, const tuning_row *row) {
    s->row_numbers[id] = s->call->matrix->loops->slope(row, s->u[id], s->u);
}

static void do_block(void *context, uint64_t block, unsigned thread) {
    (void)thread;
    const summing *s = context;
    const tuning_matrix *t = s->call->matrix;
    tuning_row row = row_of(s->call);
    row.groups = t->stride / TUNING_LANES;
    const uint32_t first = (uint32_t)block * BLOCK;
    for (uint32_t r = 0; r < squares_block_size(&t->squares, (uint32_t)block); r++) {
        row.steps = t->steps + (size_t)(first + r) * t->stride;
        s->row(s, first + r, &row);
    }
}

/* The sum of a row for all rows. It is quick, and progress is the search's to report: hundreds of
 * these calls are one. */
static tem_status all_rows(summing *s, tem_error *error) {
    const tuning_matrix *t = s->call->matrix;
    const tem_run quiet = {.threads = t->threads};
    return core_parallel(&quiet, NULL, t->squares.blocks, do_block, s, error);
}

/* --------------------------------------------- distances that are streamed -- */

/* One pass over all pairs. Columns may be but the first words. */
typedef struct stream {
    const tuning_call *call;
    const float *a;       /* of the columns, for the rows */
    const float *p, *h;   /* of the rows, for the columns; or NULL: nothing */
    uint32_t column_blocks;
    bool triangle;        /* each pair once: a block meets those after it as rows only */
    float *out[3];        /* of the rows */
    float *parts;         /* of the columns, for each group of rows by itself: GROUPS * stride */
} stream;

/* A block of rows meets a block of columns. */
static void stream_tile(const stream *s, unsigned thread, uint32_t rows, uint32_t columns,
                        float *row_sums, float *part) {
    tuning_matrix *t = s->call->matrix;
    uint16_t *steps = t->steps + (size_t)thread * BLOCK * BLOCK;
    const bool itself = s->triangle && rows == columns; /* each of its pairs is met twice */
    const size_t first = (size_t)columns * BLOCK;
    tuning_row row = row_of(s->call);
    row.groups = BLOCK / TUNING_LANES;
    fill_tile(t, thread, rows, columns, steps, BLOCK);
    for (uint32_t r = 0; r < squares_block_size(&t->squares, rows); r++) {
        const uint32_t id = rows * BLOCK + r;
        row.steps = steps + r * BLOCK;
        t->loops->meet(&row, s->a + first, s->p == NULL || itself ? 0 : s->p[id],
                       s->h == NULL || itself ? 0 : s->h[id], row_sums + (size_t)r * ROW_SUMS,
                       part + first);
    }
}

static float sum_of_lanes(const float *lanes) {
    float sum = 0;
    for (uint32_t i = 0; i < TUNING_LANES; i++)
        sum += lanes[i];
    return sum;
}

static void stream_block(const stream *s, unsigned thread, uint32_t rows, float *part) {
    tuning_matrix *t = s->call->matrix;
    float *row_sums = t->row_sums + (size_t)thread * BLOCK * ROW_SUMS;
    memset(row_sums, 0, BLOCK * ROW_SUMS * sizeof *row_sums);
    squares_set_rows(&t->squares, &t->room, thread, rows);
    for (uint32_t columns = s->triangle ? rows : 0; columns < s->column_blocks; columns++)
        stream_tile(s, thread, rows, columns, row_sums, part);
    for (uint32_t r = 0; r < squares_block_size(&t->squares, rows); r++)
        for (uint32_t k = 0; k < 3; k++)
            put(s->out[k], rows * BLOCK + r,
                sum_of_lanes(row_sums + (size_t)r * ROW_SUMS + k * TUNING_LANES));
}

static void stream_group(void *context, uint64_t group, unsigned thread) {
    const stream *s = context;
    const tuning_matrix *t = s->call->matrix;
    const uint64_t blocks = t->squares.blocks;
    for (uint64_t rows = group * blocks / GROUPS; rows < (group + 1) * blocks / GROUPS; rows++)
        stream_block(s, thread, (uint32_t)rows, s->parts + group * t->stride);
}

/* Adds to `out` what all groups of rows are to each column. */
static void add_parts(const stream *s, float *out) {
    const tuning_matrix *t = s->call->matrix;
    for (uint64_t group = 0; group < GROUPS; group++)
        for (uint32_t id = 0; id < s->column_blocks * BLOCK && id < t->count; id++)
            out[id] += s->parts[group * t->stride + id];
}

/* columns: receives what the rows are to them, added to what it has; or NULL. */
static tem_status stream_pairs(stream *s, float *columns, tem_error *error) {
    const tuning_matrix *t = s->call->matrix;
    tem_run run = s->call->run == NULL ? (tem_run){0} : *s->call->run;
    run.threads = t->threads;
    s->parts = core_alloc_zero((size_t)GROUPS * t->stride, sizeof *s->parts);
    tem_status status =
        s->parts == NULL
            ? core_fail_memory(error)
            : core_parallel(&run, "summing over all pairs", GROUPS, stream_group, s, error);
    if (status == TEM_OK && columns != NULL)
        add_parts(s, columns);
    core_free(s->parts);
    return status;
}

tem_status tuning_stream(const tuning_call *call, uint32_t columns, const tuning_both *x,
                         tem_error *error) {
    stream s = {.call = call,
                .a = x->a,
                .p = x->p,
                .h = x->h,
                .column_blocks = (columns + BLOCK - 1) / BLOCK,
                .out = {x->z, x->m, x->q}};
    memset(x->out, 0, call->matrix->stride * sizeof *x->out);
    return stream_pairs(&s, x->out, error);
}

/* ------------------------------------------------------------- either way -- */

tem_status tuning_sum(const tuning_call *call, const float *a, float *z, float *m, float *q,
                      tem_error *error) {
    if (call->matrix->kept) {
        summing s = {.call = call, .a = a, .out = {z, m, q}, .row = sum_row};
        return all_rows(&s, error);
    }
    stream s = {.call = call,
                .a = a,
                .column_blocks = call->matrix->squares.blocks,
                .triangle = m == NULL && q == NULL,
                .out = {z, m, q}};
    if (s.triangle)
        s.h = a;
    return stream_pairs(&s, s.triangle ? z : NULL, error);
}

tem_status tuning_gradient(const tuning_call *call, const float *p, const float *q, float *out,
                           tem_error *error) {
    summing s = {.call = call, .p = p, .q = q, .out = {out}, .row = gradient_row};
    return all_rows(&s, error);
}

static tem_status with_row_numbers(summing *s, tem_error *error) {
    s->row_numbers = core_alloc(s->call->matrix->count, sizeof *s->row_numbers);
    return s->row_numbers == NULL ? core_fail_memory(error) : all_rows(s, error);
}

tem_status tuning_find_excess(const tuning_call *call, const float *u, double limit, float *out,
                              double *moment, tem_error *error) {
    summing s = {.call = call, .u = u, .limit = (float)limit, .out = {out}, .row = excess_row};
    const tem_status status = with_row_numbers(&s, error);
    *moment = 0;
    for (uint32_t id = 0; id < call->matrix->count && status == TEM_OK; id++)
        *moment += s.row_numbers[id];
    core_free(s.row_numbers);
    return status;
}

tem_status tuning_find_slope(const tuning_call *call, const float *u, double *slope,
                             tem_error *error) {
    summing s = {.call = call, .u = u, .row = slope_row};
    const tem_status status = with_row_numbers(&s, error);
    *slope = 0;
    for (uint32_t id = 0; id < call->matrix->count && status == TEM_OK; id++)
        *slope = s.row_numbers[id] > *slope ? s.row_numbers[id] : *slope;
    core_free(s.row_numbers);
    return status;
}
