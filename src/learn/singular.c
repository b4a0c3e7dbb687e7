/* singular.c - the first singular vectors of a large sparse matrix. */
#include "learn/singular.h"

#include "core/lapack.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>

enum {
    MORE_COLUMNS = 10, /* of the block than wanted: the last ones converge slowly */
    STEPS_LEAST = 8,
    STEPS_MOST = 12,
    ROWS_TOGETHER = 128, /* of a dense matrix that a thread handles as one item */
    PARTS = 16           /* sums over all rows are made in so many parts, then added in order */
};

static const char stage[] = "finding the components";

/* Squares of singular values below this share of the largest one are rounding errors. */
static const double noise = 1e-12;

static const double stable = 1e-4;

/* ---------------------------------------------------------------- sparse -- */

void sparse_free(sparse *m) {
    core_free(m->starts);
    core_free(m->ids);
    core_free(m->values);
}

/* Puts each entry of m at the next free place of its column. Since m is read row by row, the rows
 * ascend in each column. `next` has the first free place of each column. */
static void scatter(const sparse *m, uint64_t *next, sparse *to) {
    for (uint32_t r = 0; r < m->rows; r++)
        for (uint64_t i = m->starts[r]; i < m->starts[r + 1]; i++) {
            const uint64_t place = next[m->ids[i]]++;
            to->ids[place] = r;
            to->values[place] = m->values[i];
        }
}

tem_status sparse_transpose(const sparse *m, sparse *out, tem_error *error) {
    const uint64_t entries = m->starts[m->rows];
    sparse to = {.rows = m->columns,
                 .columns = m->rows,
                 .starts = core_alloc_zero((size_t)m->columns + 1, sizeof *to.starts),
                 .ids = core_alloc(entries, sizeof *to.ids),
                 .values = core_alloc(entries, sizeof *to.values)};
    uint64_t *next = core_alloc(m->columns, sizeof *next);
    if (to.starts == NULL || to.ids == NULL || to.values == NULL || next == NULL) {
        sparse_free(&to);
        core_free(next);
        return core_fail_memory(error);
    }
    for (uint64_t i = 0; i < entries; i++)
        to.starts[m->ids[i] + 1]++;
    for (uint32_t r = 0; r < to.rows; r++) {
        next[r] = to.starts[r];
        to.starts[r + 1] += to.starts[r];
    }
    scatter(m, next, &to);
    core_free(next);
    *out = to;
    return TEM_OK;
}

/* out = m times in; both dense matrices have `columns` numbers to a row. */
typedef struct sparse_product {
    const sparse *m;
    const double *in;
    uint32_t columns;
    double *out;
} sparse_product;

static void multiply_row(const sparse_product *p, uint32_t row) {
    double *restrict out = p->out + (size_t)row * p->columns;
    memset(out, 0, p->columns * sizeof *out);
    for (uint64_t i = p->m->starts[row]; i < p->m->starts[row + 1]; i++) {
        const double *restrict in = p->in + (size_t)p->m->ids[i] * p->columns;
        const double value = p->m->values[i];
        for (uint32_t c = 0; c < p->columns; c++)
            out[c] += value * in[c];
    }
}

static void multiply_rows_of_item(void *context, uint64_t item, unsigned thread) {
    const sparse_product *p = context;
    (void)thread;
    for (uint64_t r = item * ROWS_TOGETHER; r < (item + 1) * ROWS_TOGETHER && r < p->m->rows; r++) {
        if (core_task_stopped())
            return;
        multiply_row(p, (uint32_t)r);
    }
}

static uint64_t items_of(uint32_t rows) {
    return ((uint64_t)rows + ROWS_TOGETHER - 1) / ROWS_TOGETHER;
}

static tem_status multiply(const sparse *m, const double *in, uint32_t columns, const tem_run *run,
                           double *out, tem_error *error) {
    sparse_product p = {.m = m, .in = in, .columns = columns, .out = out};
    return core_parallel(run, stage, items_of(m->rows), multiply_rows_of_item, &p, error);
}

/* ----------------------------------------------------------------- dense -- */

/* A dense matrix with many rows, and what the threads need to turn it. */
typedef struct dense_job {
    double *rows;
    uint32_t count, columns;
    const double *turn; /* columns by columns */
    double *sums;       /* PARTS matrices of columns by columns */
    double *scratch;    /* ROWS_TOGETHER * columns numbers per thread */
} dense_job;

static uint32_t rows_of_item(const dense_job *job, uint64_t item) {
    const uint64_t left = job->count - item * ROWS_TOGETHER;
    return left < ROWS_TOGETHER ? (uint32_t)left : ROWS_TOGETHER;
}

static double *scratch_of(const dense_job *job, unsigned thread) {
    return job->scratch + (size_t)thread * ROWS_TOGETHER * job->columns;
}

/* Adds the products of all pairs of columns over every PARTS-th group of rows. */
static void add_products_of_part(void *context, uint64_t part, unsigned thread) {
    const dense_job *job = context;
    const uint32_t columns = job->columns;
    double *turned = scratch_of(job, thread);
    for (uint64_t item = part; item < items_of(job->count); item += PARTS) {
        if (core_task_stopped())
            return;
        const uint32_t count = rows_of_item(job, item);
        const double *rows = job->rows + item * ROWS_TOGETHER * columns;
        for (uint32_t c = 0; c < columns; c++)
            for (uint32_t r = 0; r < count; r++)
                turned[(size_t)c * count + r] = rows[(size_t)r * columns + c];
        lapack_add_product(columns, columns, count, turned, count, rows, columns,
                           job->sums + part * columns * columns, columns);
    }
}

/* Replaces the rows of one item by their products with job->turn. */
static void turn_item(void *context, uint64_t item, unsigned thread) {
    const dense_job *job = context;
    const uint32_t count = rows_of_item(job, item), columns = job->columns;
    double *rows = job->rows + item * ROWS_TOGETHER * columns, *copy = scratch_of(job, thread);
    memcpy(copy, rows, (size_t)count * columns * sizeof *copy);
    memset(rows, 0, (size_t)count * columns * sizeof *rows);
    lapack_add_product(count, columns, columns, copy, columns, job->turn, columns, rows, columns);
}

/* ------------------------------------------------------------- iteration -- */

/* The state of an iteration. X has a row per document and a column per word. */
typedef struct iteration {
    const sparse *x, *transposed;
    const tem_run *run;
    uint32_t wanted, columns;
    double *right; /* a row per column of X, `columns` numbers to a row */
    double *next;  /* the same: X transposed times `left` */
    double *left;  /* a row per row of X */
    double *sums, *scratch;
    double *turn;    /* columns by columns: a row per column to turn, a column per eigenvector */
    double *squares; /* eigenvalues: squares of singular values, the largest first */
} iteration;

static dense_job dense_job_of(const iteration *it, double *rows, uint32_t count) {
    return (dense_job){.rows = rows,
                       .count = count,
                       .columns = it->columns,
                       .turn = it->turn,
                       .sums = it->sums,
                       .scratch = it->scratch};
}

/* it->sums receives the products of all pairs of columns of a matrix. */
static tem_status find_products(iteration *it, double *rows, uint32_t count, tem_error *error) {
    dense_job job = dense_job_of(it, rows, count);
    const size_t size = (size_t)it->columns * it->columns;
    memset(it->sums, 0, PARTS * size * sizeof *it->sums);
    tem_status status = lapack_products_begin(error);
    if (status != TEM_OK)
        return status;
    status = core_parallel(it->run, stage, PARTS, add_products_of_part, &job, error);
    lapack_products_end();
    for (size_t part = 1; part < PARTS; part++)
        for (size_t i = 0; i < size; i++)
            it->sums[i] += it->sums[part * size + i];
    return status;
}

/* Finds the eigenvectors of the products of a matrix: it->turn turns its columns so that they are
 * orthogonal, and it->squares are the squares of their lengths then, the largest first. */
static tem_status find_turn(iteration *it, double *rows, uint32_t count, tem_error *error) {
    const uint32_t n = it->columns;
    tem_status status = find_products(it, rows, count, error);
    if (status == TEM_OK)
        status = lapack_eigenvectors(n, it->sums, it->squares, error);
    if (status != TEM_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            it->turn[(size_t)k * n + i] = it->sums[(size_t)(n - 1 - i) * n + k];
    for (uint32_t i = 0; i < n / 2; i++) {
        const double kept = it->squares[i];
        it->squares[i] = it->squares[n - 1 - i];
        it->squares[n - 1 - i] = kept;
    }
    return TEM_OK;
}

static tem_status turn_columns(iteration *it, double *rows, uint32_t count, tem_error *error) {
    dense_job job = dense_job_of(it, rows, count);
    tem_status status = lapack_products_begin(error);
    if (status != TEM_OK)
        return status;
    status = core_parallel(it->run, stage, items_of(count), turn_item, &job, error);
    lapack_products_end();
    return status;
}

static bool is_noise(const iteration *it, uint32_t column) {
    return !(it->squares[column] > noise * it->squares[0]);
}

/* Divides each column of it->turn by the length that it gives; a column of noise becomes 0. */
static void make_lengths_one(iteration *it) {
    for (uint32_t i = 0; i < it->columns; i++) {
        const double factor = is_noise(it, i) ? 0 : 1 / sqrt(it->squares[i]);
        for (uint32_t k = 0; k < it->columns; k++)
            it->turn[(size_t)k * it->columns + i] *= factor;
    }
}

/* Turns the columns of it->right so that those of X it->right are orthogonal: the Rayleigh-Ritz
 * step. it->left receives these, with length 1. */
static tem_status find_left(iteration *it, tem_error *error) {
    tem_status status = multiply(it->x, it->right, it->columns, it->run, it->left, error);
    if (status == TEM_OK)
        status = find_turn(it, it->left, it->x->rows, error);
    if (status == TEM_OK)
        status = turn_columns(it, it->right, it->x->columns, error);
    if (status != TEM_OK)
        return status;
    make_lengths_one(it);
    return turn_columns(it, it->left, it->x->rows, error);
}

/* How far the wanted columns are from singular vectors: the largest length of
 * (X transposed left) / value - right. */
static double distance_to_go(const iteration *it) {
    double most = 0;
    for (uint32_t i = 0; i < it->wanted; i++) {
        const double value = sqrt(fmax(it->squares[i], 0));
        double sum = 0;
        for (size_t r = 0; r < it->x->columns && !is_noise(it, i); r++) {
            const size_t at = r * it->columns + i;
            const double gap = it->next[at] / value - it->right[at];
            sum += gap * gap;
        }
        most = fmax(most, sqrt(sum));
    }
    return most;
}

static tem_status make_orthonormal(iteration *it, double *rows, uint32_t count, tem_error *error) {
    const tem_status status = find_turn(it, rows, count, error);
    if (status != TEM_OK)
        return status;
    make_lengths_one(it);
    return turn_columns(it, rows, count, error);
}

/* A fixed sequence between -1 and 1 (Knuth's MMIX). It says nothing about the text. */
static void fill_start(const iteration *it) {
    uint64_t state = 1;
    for (size_t i = 0; i < (size_t)it->x->columns * it->columns; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        it->right[i] = ldexp((double)(state >> 11), -52) - 1;
    }
}

static tem_status iterate(iteration *it, tem_error *error) {
    fill_start(it);
    tem_status status = make_orthonormal(it, it->right, it->x->columns, error);
    for (uint32_t step = 1; status == TEM_OK; step++) {
        status = find_left(it, error);
        if (status == TEM_OK)
            status = multiply(it->transposed, it->left, it->columns, it->run, it->next, error);
        if (status != TEM_OK || step == STEPS_MOST ||
            (step >= STEPS_LEAST && distance_to_go(it) <= stable))
            break;
        double *swapped = it->right;
        it->right = it->next;
        it->next = swapped;
        status = make_orthonormal(it, it->right, it->x->columns, error);
    }
    return status;
}

static void free_iteration(iteration *it) {
    core_free(it->right);
    core_free(it->next);
    core_free(it->left);
    core_free(it->sums);
    core_free(it->scratch);
    core_free(it->turn);
    core_free(it->squares);
}

static bool alloc_iteration(iteration *it) {
    const size_t n = it->columns;
    it->right = core_alloc(it->x->columns * n, sizeof *it->right);
    it->next = core_alloc(it->x->columns * n, sizeof *it->next);
    it->left = core_alloc(it->x->rows * n, sizeof *it->left);
    it->sums = core_alloc(PARTS * n * n, sizeof *it->sums);
    it->scratch = core_alloc(core_thread_count(it->run), ROWS_TOGETHER * n * sizeof *it->scratch);
    it->turn = core_alloc(n * n, sizeof *it->turn);
    it->squares = core_alloc(n, sizeof *it->squares);
    return it->right != NULL && it->next != NULL && it->left != NULL && it->sums != NULL &&
           it->scratch != NULL && it->turn != NULL && it->squares != NULL;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

tem_status singular_vectors(const sparse *m, const sparse *transposed, uint32_t wanted,
                            const tem_run *run, double *out, tem_error *error) {
    iteration it = {.x = m,
                    .transposed = transposed,
                    .run = run,
                    .wanted = wanted,
                    .columns = least(wanted + MORE_COLUMNS, least(m->rows, m->columns))};
    tem_status status = alloc_iteration(&it) ? iterate(&it, error) : core_fail_memory(error);
    for (size_t r = 0; status == TEM_OK && r < m->columns; r++)
        for (uint32_t i = 0; i < wanted; i++)
            out[r * wanted + i] = is_noise(&it, i) ? 0 : it.right[r * it.columns + i];
    free_iteration(&it);
    return status;
}
