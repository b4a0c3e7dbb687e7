/* tuning_matrix.c - sums over all distances of a vocabulary. */
#include "account/tuning_matrix.h"

#include "core/cpu.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

enum { STEPS_MAX = 65535 };

static const tuning_loops *loops(void) {
#if defined(__x86_64__)
    const core_cpu cpu = core_cpu_detect();
    return cpu.avx512 ? &tuning_loops_avx512 : cpu.avx2 ? &tuning_loops_avx2 : &tuning_loops_plain;
#else
    return &tuning_loops_plain;
#endif
}

/* ---------------------------------------------------------------- making -- */

static void fill_row(const tuning_matrix *t, const tem_dist *distances, uint32_t count,
                     uint16_t *steps) {
    const float scale = 1 / (t->unit * TEM_DIST_ONE);
    for (uint32_t i = 0; i < count; i++)
        steps[i] = (uint16_t)((float)distances[i] * scale + 0.5f);
}

/* The rows of a block of words, `stride` apart. */
static void fill_block(tuning_matrix *t, uint32_t block, unsigned thread, uint16_t *steps) {
    squares_set_rows(&t->squares, &t->room, thread, block);
    for (uint32_t columns = 0; columns * SQUARES_BLOCK < t->count; columns++) {
        const tem_dist *tile = squares_meet(&t->squares, &t->room, thread, block, columns);
        const uint32_t first = columns * SQUARES_BLOCK, left = t->count - first;
        for (uint32_t r = 0; r < SQUARES_BLOCK && block * SQUARES_BLOCK + r < t->count; r++)
            fill_row(t, tile + r * SQUARES_BLOCK, left < SQUARES_BLOCK ? left : SQUARES_BLOCK,
                     steps + (size_t)r * t->stride + first);
    }
}

static void keep_block(void *context, uint64_t block, unsigned thread) {
    tuning_matrix *t = context;
    fill_block(t, (uint32_t)block, thread, t->steps + block * SQUARES_BLOCK * t->stride);
}

static uint32_t blocks_of(const tuning_matrix *t) {
    return (t->count + SQUARES_BLOCK - 1) / SQUARES_BLOCK;
}

/* Memory for all distances, or for a block of rows a thread. */
static tem_status make_room(tuning_matrix *t, size_t most, tem_error *error) {
    t->kept = (double)t->count * t->stride * sizeof *t->steps <= (double)most;
    t->steps = core_alloc_zero((t->kept ? t->count : t->threads * (size_t)SQUARES_BLOCK) *
                                   (size_t)t->stride,
                               sizeof *t->steps);
    return t->steps == NULL ? core_fail_memory(error) : TEM_OK;
}

tem_status tuning_matrix_make(const space *s, uint32_t count, tem_dist reach, size_t most,
                              const tem_run *run, tuning_matrix *out, tem_error *error) {
    tuning_matrix made = {.count = count,
                          .stride = (uint32_t)core_round_up(count, TUNING_LANES),
                          .threads = core_thread_count(run),
                          .unit = (float)reach / TEM_DIST_ONE / STEPS_MAX * 1.00001f + 1e-30f};
    tem_status status = make_room(&made, most, error);
    if (status == TEM_OK)
        status = squares_init(&made.squares, s, reach, error);
    if (status == TEM_OK)
        status = squares_room_init(&made.room, &made.squares, made.threads, error);
    if (status == TEM_OK && made.kept)
        status = core_parallel(run, "measuring", blocks_of(&made), keep_block, &made, error);
    if (status == TEM_OK)
        *out = made;
    else
        tuning_matrix_free(&made);
    return status;
}

void tuning_matrix_free(tuning_matrix *t) {
    core_free(t->steps);
    squares_room_free(&t->room);
    squares_free(&t->squares);
    *t = (tuning_matrix){0};
}

float *tuning_vector(const tuning_matrix *t) {
    return core_alloc_zero(t->stride, sizeof(float));
}

/* -------------------------------------------------------------- computing -- */

/* What is summed over, and where to: those of the sum at hand. */
typedef struct summing summing;
struct summing {
    const tuning_call *call;
    const tuning_loops *loops;
    const float *a, *p, *q, *u;
    float limit;
    float *out[3];
    double *row_numbers; /* moments or slopes, one a word */
    void (*row)(const summing *s, uint32_t id, const tuning_row *row);
};

static void put(float *out, uint32_t id, float value) {
    if (out != NULL)
        out[id] = value;
}

static void sum_row(const summing *s, uint32_t id, const tuning_row *row) {
    const tuning_sums found = s->loops->sums(row, s->a);
    put(s->out[0], id, found.z);
    put(s->out[1], id, found.m);
    put(s->out[2], id, found.q);
}

static void gradient_row(const summing *s, uint32_t id, const tuning_row *row) {
    s->out[0][id] = s->loops->gradient(row, s->p, s->q);
}

static void excess_row(const summing *s, uint32_t id, const tuning_row *row) {
    const tuning_excess found = s->loops->excess(row, s->u[id], s->u, s->limit);
    s->out[0][id] = found.signed_sum;
    s->row_numbers[id] = found.moment;
}

static void slope_row(const summing *s, uint32_t id, const tuning_row *row) {
    s->row_numbers[id] = s->loops->slope(row, s->u[id], s->u);
}

static void do_block(void *context, uint64_t block, unsigned thread) {
    const summing *s = context;
    tuning_matrix *t = s->call->matrix;
    const size_t rows = t->kept ? block : thread; /* in blocks */
    const uint16_t *steps = t->steps + rows * SQUARES_BLOCK * t->stride;
    tuning_row row = {.groups = t->stride / TUNING_LANES,
                      .unit = t->unit,
                      .gamma = (float)s->call->gamma,
                      .rate = (float)(-s->call->s * 1.4426950408889634)};
    if (!t->kept)
        fill_block(t, (uint32_t)block, thread, t->steps + rows * SQUARES_BLOCK * t->stride);
    const uint32_t first = (uint32_t)block * SQUARES_BLOCK;
    for (uint32_t r = 0; r < SQUARES_BLOCK && first + r < t->count; r++) {
        row.steps = steps + (size_t)r * t->stride;
        s->row(s, first + r, &row);
    }
}

/* The sum of a row for all rows. Where the distances are kept this is quick, and progress is the
 * search's to report: hundreds of these calls are one. */
static tem_status all_rows(summing *s, tem_error *error) {
    const tuning_matrix *t = s->call->matrix;
    const tem_run quiet = {.threads = t->threads};
    tem_run told = s->call->run == NULL ? quiet : *s->call->run;
    told.threads = t->threads;
    s->loops = loops();
    return core_parallel(t->kept ? &quiet : &told, "summing over all pairs", blocks_of(t), do_block,
                         s, error);
}

tem_status tuning_sum(const tuning_call *call, const float *a, float *z, float *m, float *q,
                      tem_error *error) {
    summing s = {.call = call, .a = a, .out = {z, m, q}, .row = sum_row};
    return all_rows(&s, error);
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
    summing s = {
        .call = call, .u = u, .limit = (float)limit, .out = {out}, .row = excess_row};
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
