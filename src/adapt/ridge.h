/* ridge.h - ridge regression of one or more targets on the same vectors, from sums.
 *
 * The rows are dealt out to ten parts in turn. For each part tem keeps the sums from which a
 * regression follows, not the rows: so a source of any length takes the same memory. Each part is
 * predicted by a regression on the other nine, and the correlation of prediction and target over
 * all parts follows from the same sums. */
#ifndef ADAPT_RIDGE_H
#define ADAPT_RIDGE_H

#include "tem.h"

enum { RIDGE_PARTS = 10 };

/* The sums of all vectors x of each part. */
typedef struct ridge_vectors {
    uint32_t columns;
    uint64_t rows; /* of all parts; the next row belongs to part rows % RIDGE_PARTS */
    double counts[RIDGE_PARTS];
    double *sums;     /* RIDGE_PARTS rows: sum of x */
    double *products; /* RIDGE_PARTS matrices: sum of x x', the upper half */
} ridge_vectors;

/* The sums of one target y of each part. A row in which y is 0 need not be added. */
typedef struct ridge_target {
    double sums[RIDGE_PARTS], squares[RIDGE_PARTS];
    double *products; /* RIDGE_PARTS rows: sum of y x */
} ridge_target;

/* A regression: y is about slope x + a constant, which no caller needs. */
typedef struct ridge_fit {
    double correlation; /* of predictions and targets that were held out */
    double penalty;     /* in parts of the mean variance of a column */
    double *slope;      /* `columns` numbers; owned by the caller */
} ridge_fit;

/* TEM_ERR_MEMORY. Free with the function below, also after a failure. */
tem_status ridge_vectors_init(ridge_vectors *v, uint32_t columns, tem_error *error);
tem_status ridge_target_init(ridge_target *t, uint32_t columns, tem_error *error);
void ridge_vectors_free(ridge_vectors *v);
void ridge_target_free(ridge_target *t);

/* Adds a row, and returns its part. Then the targets of that row are added to this part. */
uint32_t ridge_add_vector(ridge_vectors *v, const double *x);
void ridge_add_target(ridge_target *t, uint32_t part, const double *x, uint32_t columns, double y);

/* Finds, for each target, the penalty with the largest held-out correlation, and the regression on
 * all rows with this penalty. fits[i].slope must have room. If no prediction varies, the
 * correlation is 0. Fails as lapack_eigenvectors does. */
tem_status ridge_solve(const ridge_vectors *v, const ridge_target *targets, uint32_t count,
                       const tem_run *run, ridge_fit *fits, tem_error *error);

#endif
