/* least_squares.c - functions of the released word with given means, by conjugate gradients. */
#include "learn/least_squares.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* The mean of x^2 under these shares, in one column. */
static double square_of(const double *shares, const double *x, uint32_t rows, uint32_t columns,
                        uint32_t column) {
    double sum = 0;
    for (uint32_t k = 0; k < rows; k++) {
        const double value = x[(size_t)k * columns + column];
        sum += shares[k] * value * value;
    }
    return sum;
}

/* x += factor y in one column. */
static void add_multiple(double *x, double factor, const double *y, uint32_t rows, uint32_t columns,
                         uint32_t column) {
    for (size_t k = column; k < (size_t)rows * columns; k += columns)
        x[k] += factor * y[k];
}

/* Takes the mean under the expected shares off `rest`. After each step the mean is 0 but for
 * rounding. But P has the singular value 1 there and small ones elsewhere, and later steps are as
 * long as the small ones need: they would multiply this error by thousands. */
static void take_means_off(least_squares *l) {
    const size_t numbers = ((size_t)l->channel->count + 1) * l->columns;
    for (uint32_t i = 0; i < l->columns; i++) {
        double mean = 0;
        for (size_t k = i; k < numbers; k += l->columns)
            mean += l->expected[k / l->columns] * l->rest[k];
        for (size_t k = i; k < numbers; k += l->columns)
            l->rest[k] -= mean;
    }
}

/* Computes the gradient from `rest`, less its mean. Overwrites `image`, which no one needs any
 * more. */
static tem_status make_gradient(least_squares *l, const tem_run *run, tem_error *error) {
    const tem_channel *c = l->channel;
    take_means_off(l);
    for (uint32_t w = 0; w <= c->count; w++)
        for (uint32_t i = 0; i < l->columns; i++)
            l->image[(size_t)w * l->columns + i] =
                l->expected[w] * l->rest[(size_t)w * l->columns + i];
    const tem_status status = channel_forward(c, l->image, l->columns, run, l->gradient, error);
    for (uint32_t y = 0; status == TEM_OK && y < c->count; y++)
        for (uint32_t i = 0; i < l->columns; i++) {
            double *to = &l->gradient[(size_t)y * l->columns + i];
            *to = l->predicted[y] > 0 ? *to / l->predicted[y] : 0;
        }
    return status;
}

tem_status least_squares_init(least_squares *l, const tem_channel *channel, const double *expected,
                              const double *g, uint32_t columns, const tem_run *run,
                              tem_error *error) {
    const size_t inputs = (size_t)channel->count + 1, row = columns * sizeof(double);
    *l = (least_squares){.channel = channel,
                         .expected = expected,
                         .predicted = core_alloc(channel->count, sizeof(double)),
                         .columns = columns,
                         .rest = core_alloc(inputs, row),
                         .image = core_alloc(inputs, row),
                         .h = core_alloc_zero(channel->count, row),
                         .direction = core_alloc(channel->count, row),
                         .gradient = core_alloc(channel->count, row),
                         .slopes = core_alloc(columns, sizeof(double))};
    if (l->predicted == NULL || l->rest == NULL || l->image == NULL || l->h == NULL ||
        l->direction == NULL || l->gradient == NULL || l->slopes == NULL)
        return core_fail_memory(error);
    memcpy(l->rest, g, inputs * row);
    TRY(channel_forward(channel, expected, 1, run, l->predicted, error));
    TRY(make_gradient(l, run, error));
    memcpy(l->direction, l->gradient, channel->count * row);
    for (uint32_t i = 0; i < columns; i++)
        l->slopes[i] = square_of(l->predicted, l->gradient, channel->count, columns, i);
    return TEM_OK;
}

void least_squares_free(least_squares *l) {
    core_free(l->slopes);
    core_free(l->gradient);
    core_free(l->direction);
    core_free(l->h);
    core_free(l->image);
    core_free(l->rest);
    core_free(l->predicted);
    *l = (least_squares){0};
}

/* Goes along the direction to the least square of `rest`. A column whose image is 0 has arrived. */
static void move(least_squares *l) {
    const uint32_t outputs = l->channel->count, inputs = outputs + 1;
    for (uint32_t i = 0; i < l->columns; i++) {
        const double image = square_of(l->expected, l->image, inputs, l->columns, i);
        const double length = image > 0 ? l->slopes[i] / image : 0;
        add_multiple(l->h, length, l->direction, outputs, l->columns, i);
        add_multiple(l->rest, -length, l->image, inputs, l->columns, i);
    }
}

/* direction = gradient + (its square / the square before) * direction */
static void turn(least_squares *l) {
    const uint32_t outputs = l->channel->count;
    for (uint32_t i = 0; i < l->columns; i++) {
        const double slope = square_of(l->predicted, l->gradient, outputs, l->columns, i);
        const double share = l->slopes[i] > 0 ? slope / l->slopes[i] : 0;
        for (size_t k = i; k < (size_t)outputs * l->columns; k += l->columns)
            l->direction[k] = l->gradient[k] + share * l->direction[k];
        l->slopes[i] = slope;
    }
}

tem_status least_squares_step(least_squares *l, const tem_run *run, tem_error *error) {
    TRY(channel_backward(l->channel, l->direction, l->columns, run, l->image, error));
    move(l);
    tem_status status = make_gradient(l, run, error);
    if (status == TEM_OK)
        turn(l);
    return status;
}

double least_squares_variance(const least_squares *l, uint32_t column) {
    return square_of(l->predicted, l->h, l->channel->count, l->columns, column);
}
