/* dense.c - fully connected layers, ReLU and cross entropy. */
#include "dense.h"

#include "blas.h"
#include "failure.h"

#include <math.h>
#include <stdlib.h>

tem_status dense_create(uint32_t in, uint32_t out, chance *c, dense *d, tem_error *error) {
    const tem_status status = blas_open(error);
    if (status != TEM_OK)
        return status;
    const uint32_t count = adam_padded((in + 1) * out);
    float *all = adam_floats((uint64_t)4 * count);
    if (all == NULL)
        return eval_out_of_memory(error);
    *d = (dense){.in = in, .out = out, .count = count, .weights = all, .bias = all + in * out};
    d->gradients = all + count;
    d->mean = d->gradients + count;
    d->square = d->mean + count;
    const double limit = 1 / sqrt(in);
    for (uint32_t i = 0; i < (in + 1) * out; i++)
        all[i] = (float)((2 * chance_unit(c) - 1) * limit);
    return TEM_OK;
}

void dense_free(dense *d) {
    free(d->weights);
    *d = (dense){0};
}

void dense_forward(const dense *d, const float *x, uint32_t stride, uint32_t rows, float *y) {
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < d->out; i++)
            y[row * d->out + i] = d->bias[i];
    blas_multiply(false, true, rows, d->out, d->in, x, stride, d->weights, d->in, 1, y);
}

void dense_backward(dense *d, const float *x, uint32_t stride, const float *dy, uint32_t rows,
                    float *dx) {
    blas_multiply(true, false, d->out, d->in, rows, dy, d->out, x, stride, 0, d->gradients);
    float *bias = d->gradients + d->in * d->out;
    for (uint32_t i = 0; i < d->out; i++) {
        bias[i] = 0;
        for (uint32_t row = 0; row < rows; row++)
            bias[i] += dy[row * d->out + i];
    }
    if (dx != NULL)
        blas_multiply(false, false, rows, d->in, d->out, dy, d->out, d->weights, d->in, 0, dx);
}

void dense_step(dense *d, const adam_schedule *s, uint32_t t) {
    adam_step(s, t, d->weights, d->mean, d->square, d->gradients, d->count);
}

void relu_forward(float *y, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        y[i] = y[i] > 0 ? y[i] : 0;
}

void relu_backward(const float *y, float *dy, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

static void softmax_row(float *scores, uint32_t classes) {
    float most = scores[0], sum = 0;
    for (uint32_t i = 1; i < classes; i++)
        most = scores[i] > most ? scores[i] : most;
    for (uint32_t i = 0; i < classes; i++)
        sum += scores[i] = expf(scores[i] - most);
    for (uint32_t i = 0; i < classes; i++)
        scores[i] /= sum;
}

void softmax(float *scores, uint32_t rows, uint32_t classes) {
    for (uint32_t row = 0; row < rows; row++)
        softmax_row(scores + (size_t)row * classes, classes);
}

double cross_entropy(float *probabilities, const uint32_t *labels, uint32_t rows,
                     uint32_t classes) {
    double loss = 0;
    for (uint32_t row = 0; row < rows; row++) {
        float *p = probabilities + (size_t)row * classes;
        loss -= log(fmax(p[labels[row]], 1e-38));
        p[labels[row]] -= 1;
        for (uint32_t i = 0; i < classes; i++)
            p[i] /= (float)rows;
    }
    return loss / rows;
}
