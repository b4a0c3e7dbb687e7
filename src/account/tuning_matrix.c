/* tuning_matrix.c - sums over all distances of a vocabulary. */
#include "account/tuning_matrix.h"

#include "core/cpu.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "space/squares.h"

#include <math.h>

enum { STEPS_MAX = 65535, ROWS_PER_TASK = 64 };

static const tuning_loops *loops(void) {
#if defined(__x86_64__)
    const core_cpu cpu = core_cpu_detect();
    return cpu.avx512 ? &tuning_loops_avx512 : cpu.avx2 ? &tuning_loops_avx2 : &tuning_loops_plain;
#else
    return &tuning_loops_plain;
#endif
}

/* ---------------------------------------------------------------- making -- */

typedef struct making {
    tuning_matrix *out;
    squares squares;
    squares_room room;
} making;

static void fill_rows(void *context, uint64_t item, unsigned thread) {
    making *k = context;
    const uint32_t rows = (uint32_t)item, first = rows * SQUARES_BLOCK;
    const float scale = 1 / (k->out->unit * TEM_DIST_ONE);
    squares_set_rows(&k->squares, &k->room, thread, rows);
    for (uint32_t columns = 0; columns * SQUARES_BLOCK < k->out->count; columns++) {
        const tem_dist *tile = squares_meet(&k->squares, &k->room, thread, rows, columns);
        for (uint32_t r = 0; r < SQUARES_BLOCK && first + r < k->out->count; r++) {
            uint16_t *to = k->out->steps + (size_t)(first + r) * k->out->stride;
            for (uint32_t c = 0; c < SQUARES_BLOCK; c++) {
                const uint32_t column = columns * SQUARES_BLOCK + c;
                if (column < k->out->count)
                    to[column] = (uint16_t)lrintf((float)tile[r * SQUARES_BLOCK + c] * scale);
            }
        }
    }
}

tem_status tuning_matrix_make(const space *s, uint32_t count, tem_dist reach, const tem_run *run,
                              tuning_matrix *out, tem_error *error) {
    const uint32_t stride = (uint32_t)core_round_up(count, TUNING_LANES);
    tuning_matrix made = {.count = count,
                          .stride = stride,
                          .unit = (float)reach / TEM_DIST_ONE / STEPS_MAX * 1.00001f + 1e-30f,
                          .steps = core_alloc_zero((size_t)count * stride, sizeof *made.steps)};
    making k = {.out = &made};
    tem_status status = made.steps == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK)
        status = squares_init(&k.squares, s, reach, error);
    if (status == TEM_OK)
        status = squares_room_init(&k.room, &k.squares, core_thread_count(run), error);
    const uint64_t tasks = ((uint64_t)count + SQUARES_BLOCK - 1) / SQUARES_BLOCK;
    if (status == TEM_OK)
        status = core_parallel(run, "measuring", tasks, fill_rows, &k, error);
    squares_room_free(&k.room);
    squares_free(&k.squares);
    if (status == TEM_OK)
        *out = made;
    else
        tuning_matrix_free(&made);
    return status;
}

void tuning_matrix_free(tuning_matrix *t) {
    core_free(t->steps);
    *t = (tuning_matrix){0};
}

float *tuning_vector(const tuning_matrix *t) {
    return core_alloc_zero(t->stride, sizeof(float));
}

/* -------------------------------------------------------------- computing -- */

/* What is summed over, and where to: those of the sum at hand. */
typedef struct summing {
    const tuning_call *call;
    const tuning_loops *loops;
    const float *a, *p, *q, *u;
    float limit;
    float *out[3];
    double *row_numbers; /* moments or slopes, one a word */
} summing;

static tuning_row row_of(const summing *s, uint32_t id) {
    const tuning_matrix *t = s->call->matrix;
    return (tuning_row){.steps = t->steps + (size_t)id * t->stride,
                        .groups = t->stride / TUNING_LANES,
                        .unit = t->unit,
                        .gamma = (float)s->call->gamma,
                        .rate = (float)(-s->call->s * 1.4426950408889634)};
}

static void put(float *out, uint32_t id, float value) {
    if (out != NULL)
        out[id] = value;
}

static void sum_row(const summing *s, uint32_t id) {
    const tuning_row row = row_of(s, id);
    const tuning_sums found = s->loops->sums(&row, s->a);
    put(s->out[0], id, found.z);
    put(s->out[1], id, found.m);
    put(s->out[2], id, found.q);
}

static void gradient_row(const summing *s, uint32_t id) {
    const tuning_row row = row_of(s, id);
    s->out[0][id] = s->loops->gradient(&row, s->p, s->q);
}

static void excess_row(const summing *s, uint32_t id) {
    const tuning_row row = row_of(s, id);
    const tuning_excess found = s->loops->excess(&row, s->u[id], s->u, s->limit);
    s->out[0][id] = found.signed_sum;
    s->row_numbers[id] = found.moment;
}

static void slope_row(const summing *s, uint32_t id) {
    const tuning_row row = row_of(s, id);
    s->row_numbers[id] = s->loops->slope(&row, s->u[id], s->u);
}

typedef struct rows_task {
    const summing *summing;
    void (*row)(const summing *s, uint32_t id);
} rows_task;

static void do_rows(void *context, uint64_t item, unsigned thread) {
    (void)thread;
    const rows_task *t = context;
    const uint32_t count = t->summing->call->matrix->count, first = (uint32_t)item * ROWS_PER_TASK;
    for (uint32_t id = first; id < first + ROWS_PER_TASK && id < count; id++)
        t->row(t->summing, id);
}

static tem_status all_rows(summing *s, void (*row)(const summing *s, uint32_t id),
                           tem_error *error) {
    rows_task task = {s, row};
    s->loops = loops();
    const uint64_t tasks = ((uint64_t)s->call->matrix->count + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    /* Progress is the search's to report: hundreds of these calls are one. */
    const tem_run quiet = {.threads = core_thread_count(s->call->run)};
    return core_parallel(&quiet, "tuning", tasks, do_rows, &task, error);
}

tem_status tuning_sum(const tuning_call *call, const float *a, float *z, float *m, float *q,
                      tem_error *error) {
    summing s = {.call = call, .a = a, .out = {z, m, q}};
    return all_rows(&s, sum_row, error);
}

tem_status tuning_gradient(const tuning_call *call, const float *p, const float *q, float *out,
                           tem_error *error) {
    summing s = {.call = call, .p = p, .q = q, .out = {out}};
    return all_rows(&s, gradient_row, error);
}

static tem_status with_row_numbers(summing *s, void (*row)(const summing *s, uint32_t id),
                                   tem_error *error) {
    s->row_numbers = core_alloc(s->call->matrix->count, sizeof *s->row_numbers);
    return s->row_numbers == NULL ? core_fail_memory(error) : all_rows(s, row, error);
}

tem_status tuning_find_excess(const tuning_call *call, const float *u, double limit, float *out,
                              double *moment, tem_error *error) {
    summing s = {.call = call, .u = u, .limit = (float)limit, .out = {out}};
    const tem_status status = with_row_numbers(&s, excess_row, error);
    *moment = 0;
    for (uint32_t id = 0; id < call->matrix->count && status == TEM_OK; id++)
        *moment += s.row_numbers[id];
    core_free(s.row_numbers);
    return status;
}

tem_status tuning_find_slope(const tuning_call *call, const float *u, double *slope,
                             tem_error *error) {
    summing s = {.call = call, .u = u};
    const tem_status status = with_row_numbers(&s, slope_row, error);
    *slope = 0;
    for (uint32_t id = 0; id < call->matrix->count && status == TEM_OK; id++)
        *slope = s.row_numbers[id] > *slope ? s.row_numbers[id] : *slope;
    core_free(s.row_numbers);
    return status;
}
