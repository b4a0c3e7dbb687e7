/* dense.h - fully connected layers, ReLU and cross entropy, in float, on OpenBLAS. OpenBLAS runs
 * one thread, so that the order of a sum depends only on the sizes. */
#ifndef EVAL_DENSE_H
#define EVAL_DENSE_H

#include "adam.h"
#include "chance.h"

/* y = W x + b, with Adam's state. One block of memory holds `count` parameters, gradients, first
 * and second moments; `count` includes padding. */
typedef struct dense {
    uint32_t in, out, count;
    float *weights; /* `out` rows of `in` */
    float *bias;    /* `out` numbers, right after the weights */
    float *gradients, *mean, *square;
} dense;

/* Draws weights and bias uniformly within +-1/sqrt(in), as PyTorch's Linear does. */
tem_status dense_create(uint32_t in, uint32_t out, chance *c, dense *d, tem_error *error);
void dense_free(dense *d);

/* x: rows of d->in, `stride` floats apart; y: rows of d->out. */
void dense_forward(const dense *d, const float *x, uint32_t stride, uint32_t rows, float *y);

/* Computes the layer's gradients from dL/dy, and dL/dx unless dx is NULL (rows of d->in,
 * contiguous). */
void dense_backward(dense *d, const float *x, uint32_t stride, const float *dy, uint32_t rows,
                    float *dx);

void dense_step(dense *d, const adam_schedule *s, uint32_t t);

/* y = max(y, 0); and its reverse: dy = 0 where y is 0. */
void relu_forward(float *y, uint32_t count);
void relu_backward(const float *y, float *dy, uint32_t count);

/* Turns scores into probabilities, in place. */
void softmax(float *scores, uint32_t rows, uint32_t classes);

/* Turns probabilities into the gradient of the mean cross entropy with respect to the scores, in
 * place; returns that mean. */
double cross_entropy(float *probabilities, const uint32_t *labels, uint32_t rows, uint32_t classes);

#endif
