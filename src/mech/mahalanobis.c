/* mahalanobis.c - noise that is longer where the vectors of the words vary more. */
#include "mech/mahalanobis.h"

#include "core/lapack.h"
#include "core/memory.h"
#include "core/status.h"
#include "mech/mechanism.h"

#include <math.h>
#include <string.h>

typedef struct mahalanobis {
    mahalanobis_shape shape;
    madlib noise;
} mahalanobis;

enum { ROWS_TOGETHER = 256 };

/* An eigenvalue below this is rounding: those of S have an error of some 10^-13. */
static const double singular = 1e-9;

/* ---- the matrix ---- */

static void find_mean(const space *s, double *mean) {
    memset(mean, 0, s->dimension * sizeof *mean);
    for (uint32_t id = 0; id < s->count; id++)
        for (uint32_t i = 0; i < s->dimension; i++)
            mean[i] += space_row(s, id)[i]; /* integers below 2^53: exact */
    for (uint32_t i = 0; i < s->dimension; i++)
        mean[i] /= s->count;
}

/* Adds to `sums` the products of the vectors first to first + count - 1, the mean subtracted. */
static void add_products(const space *s, const double *mean, uint32_t first, uint32_t count,
                         double *rows, double *sums) {
    const uint32_t n = s->dimension;
    for (uint32_t row = 0; row < count; row++)
        for (uint32_t i = 0; i < n; i++)
            rows[(size_t)row * n + i] = space_row(s, first + row)[i] - mean[i];
    lapack_add_transposed_product(n, n, count, rows, n, rows, n, sums, n);
}

static tem_status find_sums(const space *s, double *rows, double *sums, tem_error *error) {
    double mean[TEM_DIMENSION_MAX];
    find_mean(s, mean);
    TRY(lapack_products_begin(NULL, error));
    for (uint32_t first = 0; first < s->count; first += ROWS_TOGETHER) {
        const uint32_t left = s->count - first;
        add_products(s, mean, first, left < ROWS_TOGETHER ? left : ROWS_TOGETHER, rows, sums);
    }
    lapack_products_end();
    return TEM_OK;
}

/* Sets `scaled` to S: the covariance, scaled so that its trace is the dimension. */
static tem_status find_covariance(const space *s, double *scaled, tem_error *error) {
    const uint32_t n = s->dimension;
    double *rows = core_alloc(ROWS_TOGETHER, n * sizeof *rows);
    if (rows == NULL)
        return core_fail_memory(error);
    const tem_status status = find_sums(s, rows, scaled, error);
    core_free(rows);
    if (status != TEM_OK)
        return status;
    double trace = 0;
    for (uint32_t i = 0; i < n; i++)
        trace += scaled[(size_t)i * n + i];
    if (!(trace > 0))
        return core_fail(error, TEM_ERR_RANGE, "all words of the model are at one point");
    for (size_t i = 0; i < (size_t)n * n; i++)
        scaled[i] *= n / trace;
    return TEM_OK;
}

/* Sets A from the eigenvectors and eigenvalues of S; the values ascend. */
static void put_root(mahalanobis_shape *m, uint32_t n, double lambda, const double *vectors,
                     const double *values) {
    for (uint32_t i = 0; i < n; i++) {
        const double value = lambda * fmax(values[i], 0) + (1 - lambda);
        m->least = i == 0 ? value : m->least;
        m->most = value;
        for (uint32_t k = 0; k < n; k++)
            m->root[(size_t)k * n + i] = sqrt(value) * vectors[(size_t)i * n + k];
    }
}

static tem_status find_root(mahalanobis_shape *m, const space *s, double lambda, double *matrix,
                            tem_error *error) {
    double values[TEM_DIMENSION_MAX];
    TRY(find_covariance(s, matrix, error));
    TRY(lapack_eigenvectors(s->dimension, matrix, values, NULL, error));
    put_root(m, s->dimension, lambda, matrix, values);
    if (m->least < singular)
        return core_fail(error, TEM_ERR_RANGE,
                         "with this lambda the noise leaves a direction of the vectors unchanged; "
                         "use a smaller lambda");
    return TEM_OK;
}

tem_status mahalanobis_shape_init(mahalanobis_shape *m, const space *s, double lambda,
                                  tem_error *error) {
    const size_t size = (size_t)s->dimension * s->dimension;
    double *matrix = core_alloc_zero(size, sizeof *matrix);
    mahalanobis_shape made = {.root = core_alloc(size, sizeof *made.root)};
    tem_status status = matrix == NULL || made.root == NULL
                            ? core_fail_memory(error)
                            : find_root(&made, s, lambda, matrix, error);
    core_free(matrix);
    if (status == TEM_OK)
        *m = made;
    else
        mahalanobis_shape_free(&made);
    return status;
}

void mahalanobis_shape_free(mahalanobis_shape *m) {
    core_free(m->root);
    *m = (mahalanobis_shape){0};
}

/* ---- the interface ---- */

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    mahalanobis *m = state;
    (void)beta;
    const double lambda = mechanism_number(setup, "lambda");
    TRY(mahalanobis_shape_init(&m->shape, setup->space, lambda, error));
    const double stretch = sqrt(m->shape.most) * (1 + 0x1p-20);
    return madlib_init_shaped(&m->noise, setup->space, setup->weights, setup->epsilon,
                              m->shape.root, stretch, error);
}

static void free_state(void *state) {
    mahalanobis *m = state;
    madlib_free(&m->noise);
    mahalanobis_shape_free(&m->shape);
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const mahalanobis *m = state;
    return madlib_draw(&m->noise, words, count, rng, out, error);
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss per unit of the regularized Mahalanobis distance; the least depends on "
                "the vectors",
     .most = INFINITY},
    {.name = "lambda",
     .meaning = "how far the noise follows the covariance of the vectors; 0: Madlib's noise",
     .most = 1,
     .usual = 0.5},
    {.name = NULL}};

const mechanism_ops mechanism_mahalanobis = {
    .properties = {.name = "mahalanobis",
                   .summary = "noise shaped like the vectors, then the nearest word",
                   .paper = "Xu, Aggarwal, Feyisetan, Teissier 2020",
                   .guarantee = TEM_GUARANTEE_OTHER,
                   .claim =
                       "P(y | w) <= exp(epsilon D(w,w')) P(y | w') for ideal real numbers and "
                       "words of the model, where D is the regularized Mahalanobis distance, "
                       "which is at most d / sqrt(1 - lambda); floating point and unknown words "
                       "are outside the claim",
                   .caveat = "the proof is for another distance than the model's and for real "
                             "numbers, and there is no bound between known and unknown words; use "
                             "the mechanism tem, em, rank or coin",
                   .needs_metric = TEM_EUCLIDEAN,
                   .parameters = parameters},
    .state_bytes = sizeof(mahalanobis),
    .init = init,
    .free = free_state,
    .draw = draw,
    .slow_draws = MADLIB_POINTS_AT_ONCE};
