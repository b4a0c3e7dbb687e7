/* linear.h - multinomial logistic regression: the weights that minimize
 *     mean cross entropy + penalty * half the sum of squared weights,
 * where the weights of the bias are not counted. The loss is convex; L-BFGS (Nocedal 1980) finds
 * its minimum. */
#ifndef EVAL_LINEAR_H
#define EVAL_LINEAR_H

#include "ranges.h"

/* Examples: `count` rows of `columns` numbers; the last number of each row is 1, for the bias. */
typedef struct examples {
    uint32_t count, columns;
    const float *rows;
} examples;

typedef struct linear {
    uint32_t columns, classes;
    float *weights; /* `columns` rows of `classes` numbers; the last row is the bias */
    double loss;    /* at the end of the training */
} linear;

/* Trains. The result is the same for any number of threads. Labels are below `classes`. Fails with
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
tem_status linear_train(const examples *e, const uint32_t *labels, uint32_t classes, double penalty,
                        core_team *team, const tem_run *run, linear *out, tem_error *error);
void linear_free(linear *l);

/* Returns the class probabilities of each example, row by row; free with free(). */
tem_status linear_predict(const linear *l, const examples *e, float **out, tem_error *error);

#endif
