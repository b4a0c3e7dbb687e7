/* told.c - how well the best attacker tells numbers of words from the output.
 *
 * With p(w), the prior over known words, and the law, the joint probability of a word w and the
 * output y is p(w) P(y | w). An attacker who sees y guesses
 *   - the side of the mean that is likelier. They are right with the probability
 *         sum over y of the larger of P(above, y) and P(not above, y);
 *   - the mean E[x | y] of the number x. It explains sum over y of P(y) (E[x | y] - mean)^2 of the
 *     variance, and no other estimate explains more.
 * P(y | w) = a_y K(w, y) / Z(w), so one product with K gives, for every y and without the factor
 * a_y, the sums of p(w) / Z(w) K(w, y) over all words, over those above the mean, and with the
 * factor x - mean. */
#include "learn/told.h"

#include "core/memory.h"
#include "core/status.h"
#include "learn/posterior.h"

#include <math.h>
#include <string.h>

/* The computed mean has an error of about 2^-46 for 300,000 words. A number that close to it counts
 * as the mean, which is not above itself: numbers -1, 0, 1 for three equally frequent words. */
#define MEAN_ROUNDED_UP (1 + 0x1p-40)

/* One number of each word. The results do not change if all numbers are shifted and scaled. So tem
 * maps them to 0 to 1: no sum overflows, and numbers that are nearly equal keep their digits. */
typedef struct told_column {
    double low, high;       /* the least and the largest that the prior expects */
    double mean, variance;  /* under the prior, as mapped */
    double above;           /* probability of a number above the mean */
    double side, explained; /* sums over the outputs */
} told_column;

static double mapped(const told_column *c, double x) {
    const double half = isfinite(c->high - c->low) ? 1 : 0.5;
    return (x * half - c->low * half) / (c->high * half - c->low * half);
}

static bool is_above(const told_column *c, double t) {
    return t > c->mean * MEAN_ROUNDED_UP;
}

/* The shares of the known words, which then add up to 1. */
static tem_status known_shares(const tem_channel *channel, const tem_expectation *expected,
                               double *shares, tem_error *error) {
    const tem_status status = expect_shares(channel->mechanism->model, expected, shares, error);
    double known = 0;
    for (uint32_t w = 0; status == TEM_OK && w < channel->count; w++)
        known += shares[w];
    for (uint32_t w = 0; status == TEM_OK && w < channel->count; w++)
        shares[w] /= known;
    return status;
}

/* Mean, variance and side of the numbers that are `stride` apart, under the prior. */
static told_column describe(const double *shares, uint32_t count, const double *numbers,
                            uint32_t stride) {
    told_column c = {.low = INFINITY, .high = -INFINITY};
    for (uint32_t w = 0; w < count; w++)
        if (shares[w] > 0) {
            c.low = fmin(c.low, numbers[(size_t)w * stride]);
            c.high = fmax(c.high, numbers[(size_t)w * stride]);
        }
    if (!(c.low < c.high))
        return c;
    for (uint32_t w = 0; w < count; w++)
        if (shares[w] > 0)
            c.mean += shares[w] * mapped(&c, numbers[(size_t)w * stride]);
    for (uint32_t w = 0; w < count; w++)
        if (shares[w] > 0) {
            const double t = mapped(&c, numbers[(size_t)w * stride]);
            c.variance += shares[w] * (t - c.mean) * (t - c.mean);
            c.above += is_above(&c, t) ? shares[w] : 0;
        }
    return c;
}

/* Fills the matrix to multiply with transpose(K). Row w holds p(w) / Z(w), and for each number the
 * same if it is above its mean, otherwise 0, and the same times the number less its mean. */
static void weigh_numbers(const tem_channel *channel, const double *shares, const double *numbers,
                          const told_column *list, uint32_t columns, double *weighed) {
    const size_t stride = 2 * (size_t)columns + 1;
    memset(weighed, 0, channel->count * stride * sizeof *weighed);
    for (uint32_t w = 0; w < channel->count; w++) {
        double *to = weighed + w * stride;
        to[0] = shares[w] / channel->z[w];
        for (uint32_t i = 0; shares[w] > 0 && i < columns; i++)
            if (list[i].variance > 0) {
                const double t = mapped(&list[i], numbers[(size_t)w * columns + i]);
                to[2 * i + 1] = is_above(&list[i], t) ? to[0] : 0;
                to[2 * i + 2] = to[0] * (t - list[i].mean);
            }
    }
}

/* Adds up what each output tells. */
static void add_outputs(const tem_channel *channel, const double *sums, told_column *list,
                        uint32_t columns) {
    const size_t stride = 2 * (size_t)columns + 1;
    for (uint32_t y = 0; y < channel->count; y++) {
        const double *sum = sums + y * stride;
        const double weight = weights_at(channel->weights, y);
        for (uint32_t i = 0; sum[0] > 0 && i < columns; i++) {
            const double above = sum[2 * i + 1], excess = sum[2 * i + 2];
            list[i].side += weight * fmax(above, sum[0] - above);
            list[i].explained += weight * (excess / sum[0]) * excess;
        }
    }
}

/* The limits cut off rounding errors alone. */
static tem_told result_of(const told_column *c) {
    if (!(c->variance > 0))
        return (tem_told){.side = 1, .side_blind = 1};
    const double blind = fmax(c->above, 1 - c->above);
    return (tem_told){.side = fmin(fmax(c->side, blind), 1),
                      .side_blind = blind,
                      .variance = fmin(c->explained / c->variance, 1)};
}

tem_status told_numbers(const tem_channel *channel, const tem_expectation *expected,
                        const double *numbers, uint32_t columns, const tem_run *run, tem_told *told,
                        tem_error *error) {
    const size_t cells = channel->count * (2 * (size_t)columns + 1);
    double *shares = core_alloc(channel->count + (size_t)1, sizeof *shares);
    told_column *list = core_alloc(columns, sizeof *list);
    double *weighed = core_alloc(cells, sizeof *weighed);
    double *sums = core_alloc(cells, sizeof *sums);
    tem_status status = shares == NULL || list == NULL || weighed == NULL || sums == NULL
                            ? core_fail_memory(error)
                            : known_shares(channel, expected, shares, error);
    for (uint32_t i = 0; status == TEM_OK && i < columns; i++)
        list[i] = describe(shares, channel->count, numbers + i, columns);
    if (status == TEM_OK) {
        weigh_numbers(channel, shares, numbers, list, columns, weighed);
        status = channel_multiply(channel, CHANNEL_OUTPUTS, "telling numbers", weighed,
                                  2 * columns + 1, run, sums, error);
    }
    if (status == TEM_OK)
        add_outputs(channel, sums, list, columns);
    for (uint32_t i = 0; status == TEM_OK && i < columns; i++)
        told[i] = result_of(&list[i]);
    core_free(sums);
    core_free(weighed);
    core_free(list);
    core_free(shares);
    return status;
}
