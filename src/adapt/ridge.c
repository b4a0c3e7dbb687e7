/* ridge.c - ridge regression of one or more targets on the same vectors, from sums. */
#include "adapt/ridge.h"

#include "core/lapack.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <string.h>

enum { PENALTIES = 13, ALL_PARTS = RIDGE_PARTS }; /* ALL_PARTS: no part is held out */

static double penalty_at(uint32_t i) {
    return pow(10, (int)i - PENALTIES / 2);
}

/* ---- the sums ---- */

tem_status ridge_vectors_init(ridge_vectors *v, uint32_t columns, tem_error *error) {
    const size_t n = columns;
    *v = (ridge_vectors){.columns = columns,
                         .sums = core_alloc_zero(RIDGE_PARTS * n, sizeof *v->sums),
                         .products = core_alloc_zero(RIDGE_PARTS * n * n, sizeof *v->products)};
    return v->sums == NULL || v->products == NULL ? core_fail_memory(error) : TEM_OK;
}

tem_status ridge_target_init(ridge_target *t, uint32_t columns, tem_error *error) {
    *t = (ridge_target){.products =
                            core_alloc_zero(RIDGE_PARTS * (size_t)columns, sizeof *t->products)};
    return t->products == NULL ? core_fail_memory(error) : TEM_OK;
}

void ridge_vectors_free(ridge_vectors *v) {
    core_free(v->sums);
    core_free(v->products);
    *v = (ridge_vectors){0};
}

void ridge_target_free(ridge_target *t) {
    core_free(t->products);
    *t = (ridge_target){.products = NULL};
}

uint32_t ridge_add_vector(ridge_vectors *v, const double *x) {
    const size_t n = v->columns;
    const uint32_t part = (uint32_t)(v->rows++ % RIDGE_PARTS);
    double *sums = v->sums + part * n, *products = v->products + part * n * n;
    v->counts[part] += 1;
    for (size_t i = 0; i < n; i++) {
        sums[i] += x[i];
        for (size_t k = i; k < n; k++)
            products[i * n + k] += x[i] * x[k];
    }
    return part;
}

void ridge_add_target(ridge_target *t, uint32_t part, const double *x, uint32_t columns, double y) {
    double *products = t->products + (size_t)part * columns;
    t->sums[part] += y;
    t->squares[part] += y * y;
    for (uint32_t i = 0; i < columns; i++)
        products[i] += y * x[i];
}

/* ---- one regression ---- */

/* What a regression on some of the parts needs: the mean of x, and the eigenvectors of the sum of
 * (x - mean)(x - mean)'. */
typedef struct training {
    const ridge_vectors *vectors;
    uint32_t held_out; /* a part, or ALL_PARTS */
    double count;
    double *mean;
    double *rows;   /* an eigenvector per row */
    double *values; /* the eigenvalues */
    double scale;   /* their mean, by which penalties are measured */
} training;

static bool is_used(const training *t, uint32_t part) {
    return part != t->held_out;
}

static void sum_up(training *t) {
    const ridge_vectors *v = t->vectors;
    const size_t n = v->columns;
    t->count = 0;
    memset(t->mean, 0, n * sizeof *t->mean);
    memset(t->rows, 0, n * n * sizeof *t->rows);
    for (uint32_t p = 0; p < RIDGE_PARTS; p++) {
        if (!is_used(t, p))
            continue;
        t->count += v->counts[p];
        for (size_t i = 0; i < n; i++)
            t->mean[i] += v->sums[p * n + i];
        for (size_t i = 0; i < n * n; i++)
            t->rows[i] += v->products[p * n * n + i];
    }
    for (size_t i = 0; i < n; i++)
        t->mean[i] /= t->count;
}

/* Makes the matrix of centered products, and replaces it by its eigenvectors. */
static tem_status decompose(training *t, const tem_run *run, tem_error *error) {
    const uint32_t columns = t->vectors->columns;
    const size_t n = columns;
    sum_up(t);
    t->scale = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k < n; k++) {
            const double centred = t->rows[i * n + k] - t->count * t->mean[i] * t->mean[k];
            t->rows[i * n + k] = t->rows[k * n + i] = centred;
        }
    for (size_t i = 0; i < n; i++)
        t->scale += t->rows[i * n + i] / (double)n;
    return lapack_eigenvectors(columns, t->rows, t->values, run, error);
}

/* The products of each eigenvector with the sum of (y - mean y)(x - mean x). *mean_y receives the
 * mean. */
static void project_target(const training *t, const ridge_target *target, double *projected,
                           double *mean_y) {
    const size_t n = t->vectors->columns;
    double sum_y = 0;
    for (uint32_t p = 0; p < RIDGE_PARTS; p++)
        sum_y += is_used(t, p) ? target->sums[p] : 0;
    for (size_t k = 0; k < n; k++) {
        projected[k] = 0;
        for (size_t i = 0; i < n; i++) {
            double product = -sum_y * t->mean[i];
            for (uint32_t p = 0; p < RIDGE_PARTS; p++)
                product += is_used(t, p) ? target->products[p * n + i] : 0;
            projected[k] += t->rows[k * n + i] * product;
        }
    }
    *mean_y = sum_y / t->count;
}

static void solve_one(const training *t, const double *projected, double penalty, double *slope) {
    const size_t n = t->vectors->columns;
    memset(slope, 0, n * sizeof *slope);
    for (size_t k = 0; k < n; k++) {
        const double size = fmax(t->values[k], 0) + penalty * t->scale;
        const double factor = size > 0 ? projected[k] / size : 0; /* 0: the vectors do not vary */
        for (size_t i = 0; i < n; i++)
            slope[i] += factor * t->rows[k * n + i];
    }
}

/* ---- predictions of what was held out ---- */

/* Sums over all predictions z and targets y, from which the correlation follows. */
typedef struct agreement {
    double count, y, yy, z, zz, yz;
} agreement;

static double product_of(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* slope' (sum of x x') slope, of which the upper half is stored. */
static double square_of(const double *upper, const double *slope, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += slope[i] * slope[i] * upper[i * n + i];
        if (i + 1 < n)
            sum += 2 * slope[i] * product_of(upper + i * n + i + 1, slope + i + 1, n - i - 1);
    }
    return sum;
}

/* Adds the part that was held out, where the prediction is z = slope x + constant. */
static void add_agreement(agreement *a, const training *t, const ridge_target *target,
                          const double *slope, double constant) {
    const ridge_vectors *v = t->vectors;
    const size_t n = v->columns, p = t->held_out;
    const double rows = v->counts[p], plain = product_of(slope, v->sums + p * n, n);
    a->count += rows;
    a->y += target->sums[p];
    a->yy += target->squares[p];
    a->z += plain + rows * constant;
    a->zz += square_of(v->products + p * n * n, slope, n) + 2 * constant * plain +
             rows * constant * constant;
    a->yz += product_of(slope, target->products + p * n, n) + constant * target->sums[p];
}

/* 0 if predictions or targets do not vary beyond rounding. */
static double correlation_of(const agreement *a) {
    const double vary_y = a->yy - a->y * a->y / a->count, vary_z = a->zz - a->z * a->z / a->count;
    if (!(vary_y > 1e-12 * a->yy && vary_z > 1e-12 * a->zz))
        return 0;
    const double r = (a->yz - a->y * a->z / a->count) / (sqrt(vary_y) * sqrt(vary_z));
    return fmin(fmax(r, -1), 1);
}

/* ---- the search for the penalty ---- */

/* Working memory of ridge_solve. */
typedef struct search {
    training training;
    double *projected, *slope;
    agreement *agreements; /* PENALTIES per target */
} search;

static void predict_part(search *s, const ridge_target *targets, uint32_t count) {
    const training *t = &s->training;
    for (uint32_t i = 0; i < count; i++) {
        double mean_y = 0;
        project_target(t, &targets[i], s->projected, &mean_y);
        for (uint32_t k = 0; k < PENALTIES; k++) {
            solve_one(t, s->projected, penalty_at(k), s->slope);
            const double constant = mean_y - product_of(s->slope, t->mean, t->vectors->columns);
            add_agreement(&s->agreements[i * PENALTIES + k], t, &targets[i], s->slope, constant);
        }
    }
}

static void choose_penalty(const agreement *agreements, ridge_fit *fit) {
    fit->correlation = -2;
    for (uint32_t k = 0; k < PENALTIES; k++) {
        const double r = correlation_of(&agreements[k]);
        if (r > fit->correlation) {
            fit->correlation = r;
            fit->penalty = penalty_at(k);
        }
    }
}

static tem_status search_all(search *s, const ridge_target *targets, uint32_t count,
                             const tem_run *run, ridge_fit *fits, tem_error *error) {
    tem_status status = TEM_OK;
    for (uint32_t p = 0; p <= ALL_PARTS && status == TEM_OK; p++) {
        s->training.held_out = p;
        status = core_progress(run, "learning signals", p, ALL_PARTS + 1, error);
        if (status == TEM_OK)
            status = decompose(&s->training, run, error);
        if (status == TEM_OK && p < ALL_PARTS)
            predict_part(s, targets, count);
    }
    for (uint32_t i = 0; i < count && status == TEM_OK; i++) {
        double mean_y = 0;
        choose_penalty(s->agreements + (size_t)i * PENALTIES, &fits[i]);
        project_target(&s->training, &targets[i], s->projected, &mean_y);
        solve_one(&s->training, s->projected, fits[i].penalty, fits[i].slope);
    }
    return status;
}

tem_status ridge_solve(const ridge_vectors *v, const ridge_target *targets, uint32_t count,
                       const tem_run *run, ridge_fit *fits, tem_error *error) {
    const size_t n = v->columns;
    search s = {.training = {.vectors = v,
                             .mean = core_alloc(n, sizeof(double)),
                             .rows = core_alloc(n * n, sizeof(double)),
                             .values = core_alloc(n, sizeof(double))},
                .projected = core_alloc(n, sizeof(double)),
                .slope = core_alloc(n, sizeof(double)),
                .agreements = core_alloc_zero((size_t)count * PENALTIES, sizeof(agreement))};
    const training *t = &s.training;
    const bool has_room = t->mean != NULL && t->rows != NULL && t->values != NULL &&
                          s.projected != NULL && s.slope != NULL && s.agreements != NULL;
    const tem_status status =
        has_room ? search_all(&s, targets, count, run, fits, error) : core_fail_memory(error);
    core_free(s.training.mean);
    core_free(s.training.rows);
    core_free(s.training.values);
    core_free(s.projected);
    core_free(s.slope);
    core_free(s.agreements);
    return status;
}
