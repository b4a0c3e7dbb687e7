/* posterior.c - what stands behind a released word: expected shares, and posterior vectors. */
#include "learn/posterior.h"

#include "core/memory.h"
#include "core/status.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------- expected shares -- */

static double unknown_share(const tem_expectation *expected) {
    const tem_prior_info *info = &expected->prior->info;
    if (expected->unknown >= 0)
        return expected->unknown;
    return info->counted > 0 ? info->unknown / (info->counted + info->unknown) : 0;
}

tem_status expect_shares(const tem_model *model, const tem_expectation *expected, double *shares,
                         tem_error *error) {
    enum { PER_WORD = 2 }; /* each word of a file counts 1/PER_WORD more */
    const tem_prior *prior = expected->prior;
    const uint32_t count = model->words.count;
    if (prior->model != model)
        return core_fail(error, TEM_ERR_ARGUMENT, "the prior belongs to another model");
    if (isnan(expected->unknown) || expected->unknown >= 1)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the share of unknown words must be below 1; below 0 for the prior's own");
    const double unknown = unknown_share(expected), counted = prior->info.counted;
    for (uint32_t w = 0; w < count; w++) {
        const double share = counted > 0 ? (prior->frequencies[w] * counted + 1.0 / PER_WORD) /
                                               (counted + (double)count / PER_WORD)
                                         : prior->frequencies[w];
        shares[w] = share * (1 - unknown);
    }
    shares[count] = unknown;
    return TEM_OK;
}

/* ----------------------------------------------------- posterior vectors -- */

/* Fills the matrix to multiply with transpose(K): row w holds share(w) / Z(w) times x_w and, in one
 * more column, times 1. `mean` receives the mean of all x_w under the shares of known words. */
static void weigh_vectors(const tem_channel *c, const double *shares, const double *vectors,
                          uint32_t columns, double *weighed, double *mean) {
    memset(mean, 0, columns * sizeof *mean);
    double known = 0;
    for (uint32_t w = 0; w < c->count; w++) {
        const double *x = vectors + (size_t)w * columns;
        double *to = weighed + (size_t)w * (columns + 1);
        const double factor = shares[w] / c->z[w];
        for (uint32_t i = 0; i < columns; i++) {
            to[i] = factor * x[i];
            mean[i] += shares[w] * x[i];
        }
        to[columns] = factor;
        known += shares[w];
    }
    for (uint32_t i = 0; i < columns; i++)
        mean[i] /= known;
}

/* m(y) from the sums over the known words behind y, and the unknown ones, whose law is a_y / A; the
 * factor a_y is that of every input, and cancels. */
static void divide_sums(const tem_channel *c, double unknown, const double *mean,
                        const double *sums, uint32_t columns, double *out) {
    const double others = unknown / channel_weight_sum(c);
    for (uint32_t y = 0; y < c->count; y++) {
        const double *sum = sums + (size_t)y * (columns + 1);
        const double total = sum[columns] + others;
        for (uint32_t i = 0; i < columns; i++)
            out[(size_t)y * columns + i] = (sum[i] + others * mean[i]) / total;
    }
}

tem_status posterior_vectors(const tem_channel *channel, const tem_expectation *expected,
                             const double *vectors, uint32_t columns, const tem_run *run,
                             double *out, tem_error *error) {
    const size_t numbers = (size_t)channel->count * (columns + 1);
    double *shares = core_alloc(channel->count + (size_t)1, sizeof *shares);
    double *mean = core_alloc(columns, sizeof *mean);
    double *weighed = core_alloc(numbers, sizeof *weighed);
    double *sums = core_alloc(numbers, sizeof *sums);
    tem_status status = shares == NULL || mean == NULL || weighed == NULL || sums == NULL
                            ? core_fail_memory(error)
                            : expect_shares(channel->mechanism->model, expected, shares, error);
    if (status == TEM_OK) {
        weigh_vectors(channel, shares, vectors, columns, weighed, mean);
        status = channel_multiply(channel, CHANNEL_OUTPUTS, "averaging vectors", weighed,
                                  columns + 1, run, sums, error);
    }
    if (status == TEM_OK)
        divide_sums(channel, shares[channel->count], mean, sums, columns, out);
    core_free(sums);
    core_free(weighed);
    core_free(mean);
    core_free(shares);
    return status;
}

/* --------------------------------------------------- vectors of a model -- */

static double vector_value(const tem_vectors *v, uint32_t row, uint32_t i) {
    const size_t place = (size_t)row * v->dimension + i;
    return v->values != NULL ? v->values[place] : ldexp(v->grid[place], -(int)v->step_log2);
}

/* rows[w] receives the row of word w in the file, or TEM_NO_WORD. Returns how many have one. */
static uint32_t find_rows(const tem_model *model, const tem_vectors *vectors, uint32_t *rows) {
    uint32_t found = 0;
    for (uint32_t w = 0; w < model->words.count; w++) {
        size_t length = 0;
        const char *word = vocab_word(&model->words, w, &length);
        rows[w] = vocab_find(&vectors->words, word, length);
        found += rows[w] != TEM_NO_WORD;
    }
    return found;
}

static void copy_rows(const tem_vectors *vectors, const uint32_t *rows, uint32_t count,
                      uint32_t found, double *mean, double *out) {
    const uint32_t columns = vectors->dimension;
    for (uint32_t w = 0; w < count; w++)
        for (uint32_t i = 0; rows[w] != TEM_NO_WORD && i < columns; i++) {
            out[(size_t)w * columns + i] = vector_value(vectors, rows[w], i);
            mean[i] += out[(size_t)w * columns + i] / found;
        }
    for (uint32_t w = 0; w < count; w++)
        if (rows[w] == TEM_NO_WORD)
            memcpy(out + (size_t)w * columns, mean, columns * sizeof *mean);
}

tem_status align_vectors(const tem_model *model, const tem_vectors *vectors, double *out,
                         uint32_t *missing, tem_error *error) {
    const uint32_t count = model->words.count;
    uint32_t *rows = core_alloc(count, sizeof *rows);
    double *mean = core_alloc_zero(vectors->dimension, sizeof *mean);
    const uint32_t found = rows == NULL ? 0 : find_rows(model, vectors, rows);
    tem_status status = TEM_OK;
    if (rows == NULL || mean == NULL)
        status = core_fail_memory(error);
    else if (found == 0)
        status = core_fail(error, TEM_ERR_FORMAT, "the file has a vector for no word of the model");
    if (status == TEM_OK) {
        copy_rows(vectors, rows, count, found, mean, out);
        *missing = count - found;
    }
    core_free(mean);
    core_free(rows);
    return status;
}
