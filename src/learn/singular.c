/* singular.c - the first singular vectors of a large sparse matrix. */
#include "learn/singular.h"

#include "core/lapack.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>

enum {
    MORE_COLUMNS = 10, /* of the block than wanted, plus 1/MORE_SHARE of these */
    MORE_SHARE = 8,
    PANEL = 8, /* columns that a thread multiplies as one item; doubles of a cache line */
    STEPS_MOST = 100,
    NODES = 6,           /* steps of one Chebyshev polynomial */
    ROWS_TOGETHER = 128, /* of a dense matrix that a thread handles as one item */
    PARTS = 16           /* sums over all rows are made in so many parts, then added in order */
};

static const char stage[] = "finding the components";

/* Squares of singular values below this share of the largest one are rounding errors. */
static const double noise = 1e-12;

/* The iteration ends when distance_to_go is at most this. */
static const double stable = 1e-4;

/* ---------------------------------------------------------------- sparse -- */

void sparse_free(sparse *m) {
    core_free(m->starts);
    core_free(m->ids);
    core_free(m->values);
}

/* A product of a sparse matrix or its transpose with a dense one, `columns` numbers to a row. A
 * thread handles PANEL columns, one cache line of each row: if documents are rows and frequent
 * words are the first columns, nearly all accesses meet the lines of frequent words, which stay in
 * its cache. Whole rows of 60 numbers took almost twice the time. One
 * thread adds all of a column, so the order of sums is fixed. */
typedef struct sparse_product {
    const sparse *m;
    const double *in;
    uint32_t columns;
    double *out;
} sparse_product;

/* Whether the run is to stop; asked now and then. */
static bool stopped_at(uint32_t row) {
    enum { ROWS_PER_QUESTION = 1024 };
    return row % ROWS_PER_QUESTION == 0 && core_task_stopped();
}

static inline void add_scaled(double factor, const double *restrict in, double *restrict out) {
    for (uint32_t c = 0; c < PANEL; c++)
        out[c] += factor * in[c];
}

static void multiply_panel(void *context, uint64_t item, unsigned thread) {
    const sparse_product *p = context;
    const sparse *m = p->m;
    const double *in = p->in + item * PANEL;
    (void)thread;
    for (uint32_t r = 0; r < m->rows && !stopped_at(r); r++) {
        double sums[PANEL] = {0};
        for (uint64_t i = m->starts[r]; i < m->starts[r + 1]; i++)
            add_scaled(m->values[i], in + (size_t)m->ids[i] * p->columns, sums);
        memcpy(p->out + (size_t)r * p->columns + item * PANEL, sums, sizeof sums);
    }
}

static void multiply_panel_transposed(void *context, uint64_t item, unsigned thread) {
    const sparse_product *p = context;
    const sparse *m = p->m;
    double *out = p->out + item * PANEL;
    (void)thread;
    for (size_t r = 0; r < m->columns; r++)
        memset(out + r * p->columns, 0, PANEL * sizeof *out);
    for (uint32_t r = 0; r < m->rows && !stopped_at(r); r++) {
        double in[PANEL];
        memcpy(in, p->in + (size_t)r * p->columns + item * PANEL, sizeof in);
        for (uint64_t i = m->starts[r]; i < m->starts[r + 1]; i++)
            add_scaled(m->values[i], in, out + (size_t)m->ids[i] * p->columns);
    }
}

/* ----------------------------------------------------------------- dense -- */

static uint64_t items_of(uint32_t rows) {
    return ((uint64_t)rows + ROWS_TOGETHER - 1) / ROWS_TOGETHER;
}

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
    const sparse *x;
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
    TRY(lapack_products_begin(it->run, error));
    tem_status status = core_parallel(it->run, stage, PARTS, add_products_of_part, &job, error);
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
    TRY(find_products(it, rows, count, error));
    TRY(lapack_eigenvectors(n, it->sums, it->squares, it->run, error));
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
    TRY(lapack_products_begin(it->run, error));
    tem_status status = core_parallel(it->run, stage, items_of(count), turn_item, &job, error);
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

static tem_status multiply(const iteration *it, core_task *task, const double *in, double *out,
                           tem_error *error) {
    sparse_product p = {.m = it->x, .in = in, .columns = it->columns, .out = out};
    return core_parallel(it->run, stage, it->columns / PANEL, task, &p, error);
}

/* Turns the columns of it->right so that those of X it->right are orthogonal: the Rayleigh-Ritz
 * step. it->left receives these, with length 1. */
static tem_status find_left(iteration *it, tem_error *error) {
    TRY(multiply(it, multiply_panel, it->right, it->left, error));
    TRY(find_turn(it, it->left, it->x->rows, error));
    TRY(turn_columns(it, it->right, it->x->columns, error));
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
    TRY(find_turn(it, rows, count, error));
    make_lengths_one(it);
    return turn_columns(it, rows, count, error);
}

/* The number that this step subtracts from A = X transposed X: NODES steps in a row have the zeros
 * of the Chebyshev polynomial on [0, top]. Together they multiply singular vectors whose squared
 * value is below `top` by the least possible factor, compared with those above. The squared values
 * of texts fall so slowly that 40 steps without it came only to a distance of 0.007, for 50 columns
 * of 50,000 film reviews; with it 25 steps come to 0.00002. */
static double node_of(uint32_t step, double top) {
    const double pi = 3.14159265358979323846;
    return top / 2 * (1 + cos((step % NODES + 0.5) / NODES * pi));
}

/* it->right becomes (A - node) right, and each column is divided by the factor by which this
 * stretches its singular vector. So near the end all columns keep length 1. */
static void step_right(iteration *it, double node) {
    for (uint32_t i = 0; i < it->columns; i++) {
        const double value = sqrt(fmax(it->squares[i], 0));
        const double scale = is_noise(it, i) ? 0 : 1 / (it->squares[i] - node);
        for (size_t r = 0; r < it->x->columns; r++) {
            double *to = &it->right[r * it->columns + i];
            *to = scale * (value * it->next[r * it->columns + i] - node * *to);
        }
    }
}

/* Begins with X transposed times a fixed sequence between -1 and 1 (Knuth's MMIX), which says
 * nothing about the text. So columns of X without an entry have exactly 0 in all vectors. */
static tem_status find_start(iteration *it, tem_error *error) {
    uint64_t state = 1;
    for (size_t i = 0; i < (size_t)it->x->rows * it->columns; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        it->left[i] = ldexp((double)(state >> 11), -52) - 1;
    }
    TRY(multiply(it, multiply_panel_transposed, it->left, it->right, error));
    return make_orthonormal(it, it->right, it->x->columns, error);
}

static tem_status iterate(iteration *it, tem_error *error) {
    tem_status status = find_start(it, error);
    for (uint32_t step = 1; status == TEM_OK; step++) {
        status = find_left(it, error);
        if (status == TEM_OK)
            status = multiply(it, multiply_panel_transposed, it->left, it->next, error);
        if (status != TEM_OK || step == STEPS_MOST || distance_to_go(it) <= stable)
            break;
        step_right(it, node_of(step, fmax(it->squares[it->columns - 1], 0)));
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

tem_status singular_vectors(const sparse *m, uint32_t wanted, const tem_run *run, double *out,
                            tem_error *error) {
    const size_t columns = core_round_up(wanted + MORE_COLUMNS + wanted / MORE_SHARE, PANEL);
    iteration it = {.x = m, .run = run, .wanted = wanted, .columns = (uint32_t)columns};
    tem_status status = alloc_iteration(&it) ? iterate(&it, error) : core_fail_memory(error);
    for (size_t r = 0; status == TEM_OK && r < m->columns; r++)
        for (uint32_t i = 0; i < wanted; i++)
            out[r * wanted + i] = is_noise(&it, i) ? 0 : it.right[r * columns + i];
    free_iteration(&it);
    return status;
}
