/* make_totals.c - computes the table of log_totals.h.
 *
 * For one word w, the distances of all words are looked up in BINS bins. A word between the points
 * of two bins counts for both, for the nearer one more. For equal weights that gives a histogram,
 * which serves all nodes. For the certificates, whose weights differ, each word adds its weight
 * times exp(-s min(d, gamma)), interpolated between the same points. Between two points the chord
 * of exp(-s d) exceeds it by less than (s / BINS_PER_UNIT)^2 / 8: 2e-4 at the last node. */
#include "make_totals.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "log_totals.h"
#include "mech/exponent.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

enum { BINS_PER_UNIT = 320, LEVEL = 19, COLUMNS_MAX = 128 };

typedef struct totals {
    const tem_model *model;
    const tem_certificate *certificates;
    uint32_t certificate_count, columns;
    uint32_t bins;
    double *decays;  /* bins * columns: exp(-s min(d, gamma)) at d = bin / BINS_PER_UNIT */
    double *weights; /* words * certificate_count */
    int16_t *values; /* columns * words, as in log_totals */
    atomic_bool failed;
} totals;

static void fill_decays(const totals *t, uint32_t column, double s, double gamma) {
    for (uint32_t bin = 0; bin < t->bins; bin++)
        t->decays[(size_t)bin * t->columns + column] =
            exp(-s * fmin((double)bin / BINS_PER_UNIT, gamma));
}

static tem_status make_decays(totals *t, tem_error *error) {
    for (unsigned k = 0; k < LOG_NODES; k++) {
        tem_dist gamma = UINT32_MAX;
        const double s = log_node(k);
        const uint64_t steps = (uint64_t)llround(ldexp(s, EXPONENT_S_BITS));
        const tem_status status =
            steps == 0 ? TEM_OK
                       : exponent_gamma_from_beta(TEM_BETA_DEFAULT, t->model->words.count, steps,
                                                  &gamma, error);
        if (status == TEM_OK)
            fill_decays(t, k, s, (double)gamma / TEM_DIST_ONE);
        else if (k > 1) /* near 0 gamma does not fit, and no distance reaches it */
            return status;
        else
            fill_decays(t, k, s, INFINITY);
    }
    for (uint32_t i = 0; i < t->certificate_count; i++) {
        tem_certificate_info info;
        certificate_get_info(&t->certificates[i], &info);
        fill_decays(t, LOG_NODES + i, info.s, info.gamma);
    }
    return TEM_OK;
}

/* A distance as the point of a bin before it, and the part of the way to the next point. */
static uint32_t bin_of(const totals *t, tem_dist distance, double *part) {
    const double place = (double)distance * BINS_PER_UNIT / TEM_DIST_ONE;
    const uint32_t bin = (uint32_t)place < t->bins - 2 ? (uint32_t)place : t->bins - 2;
    *part = place - bin;
    return bin;
}

static void put_log(const totals *t, uint32_t column, uint32_t word, double total) {
    const long steps = lround(log(total) * LOG_STEPS);
    t->values[(size_t)column * t->model->words.count + word] = (int16_t)steps;
}

/* Adds word y to the histogram, and to the sums of the certificates. */
static inline void add_output(const totals *t, uint32_t y, tem_dist distance, double *histogram,
                              double *sums) {
    const uint32_t many = t->certificate_count;
    double part = 0;
    const uint32_t bin = bin_of(t, distance, &part);
    histogram[bin] += 1 - part;
    histogram[bin + 1] += part;
    const double *here = t->decays + (size_t)bin * t->columns + LOG_NODES;
    const double *next = here + t->columns, *weights = t->weights + (size_t)y * many;
    for (uint32_t i = 0; i < many; i++)
        sums[i] += weights[i] * ((1 - part) * here[i] + part * next[i]);
}

/* Computes all columns of one word. */
static void add_word(const totals *t, uint32_t word, tem_dist *distances, double *histogram) {
    double sums[COLUMNS_MAX] = {0};
    const uint32_t count = t->model->words.count;
    memset(histogram, 0, t->bins * sizeof *histogram);
    space_distances(&t->model->space, word, 0, count, distances);
    for (uint32_t y = 0; y < count; y++)
        if (!model_is_excluded(t->model, y))
            add_output(t, y, distances[y], histogram, sums + LOG_NODES);
    for (uint32_t bin = 0; bin < t->bins; bin++)
        for (unsigned k = 0; k < LOG_NODES && histogram[bin] > 0; k++)
            sums[k] += histogram[bin] * t->decays[(size_t)bin * t->columns + k];
    for (uint32_t column = 0; column < t->columns; column++)
        put_log(t, column, word, sums[column]);
}

enum { WORDS_AT_ONCE = 64 };

static void add_words(void *context, uint64_t item, unsigned thread) {
    totals *t = context;
    const uint32_t count = t->model->words.count, first = (uint32_t)item * WORDS_AT_ONCE;
    tem_dist *distances = core_alloc(count, sizeof *distances);
    double *histogram = core_alloc(t->bins, sizeof *histogram);
    (void)thread;
    if (distances == NULL || histogram == NULL)
        t->failed = true;
    else
        for (uint32_t w = first; w < count && w < first + WORDS_AT_ONCE; w++)
            add_word(t, w, distances, histogram);
    core_free(histogram);
    core_free(distances);
}

/* The weights of a certificate are integers with a sum below 2^63, so ln Z is below 44. */
static void take_weights(const totals *t) {
    const uint32_t count = t->model->words.count, many = t->certificate_count;
    for (uint32_t i = 0; i < many; i++)
        for (uint32_t y = 0; y < count; y++)
            t->weights[(size_t)y * many + i] = t->certificates[i].weights[y];
}

/* Packs the columns as log_totals.h says. */
static tem_status pack(const totals *t, core_buffer *out, tem_error *error) {
    const size_t count = t->model->words.count, all = count * t->columns;
    const size_t room = ZSTD_compressBound(2 * all);
    unsigned char *bytes = core_alloc(2 * all, 1);
    tem_status status = TEM_OK;
    if (bytes == NULL || !core_buffer_reserve(out, room)) {
        core_free(bytes);
        return core_fail_memory(error);
    }
    for (size_t i = 0; i < all; i++) {
        const unsigned k = (unsigned)(i / count);
        int16_t value = t->values[i];
        if (k > 0 && k < LOG_NODES)
            value = (int16_t)(value - log_predicted(k, t->values[i - count],
                                                    k < 2 ? 0 : t->values[i - 2 * count]));
        bytes[i] = (unsigned char)(value & 0xff);
        bytes[all + i] = (unsigned char)((uint16_t)value >> 8);
    }
    const size_t size = ZSTD_compress(out->data + out->size, room, bytes, 2 * all, LEVEL);
    if (ZSTD_isError(size))
        status = core_fail_memory(error);
    else
        out->size += size;
    core_free(bytes);
    return status;
}

tem_status make_log_totals(const tem_model *model, const tem_certificate *certificates,
                           uint32_t count, core_buffer *out, tem_error *error) {
    const uint32_t words = model->words.count;
    totals t = {.model = model,
                .certificates = certificates,
                .certificate_count = count,
                .columns = LOG_NODES + count};
    t.bins = (uint32_t)((uint64_t)space_reach(&model->space) * BINS_PER_UNIT / TEM_DIST_ONE) + 3;
    t.decays = core_alloc((size_t)t.columns * t.bins, sizeof *t.decays);
    t.weights = core_alloc((size_t)words * count, sizeof *t.weights);
    t.values = core_alloc((size_t)t.columns * words, sizeof *t.values);
    tem_status status = TEM_OK;
    if (t.decays == NULL || t.weights == NULL || t.values == NULL || t.columns > COLUMNS_MAX)
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = make_decays(&t, error);
    if (status == TEM_OK) {
        take_weights(&t);
        status = core_parallel(NULL, "adding up", (words + WORDS_AT_ONCE - 1) / WORDS_AT_ONCE,
                               add_words, &t, error);
    }
    if (status == TEM_OK && t.failed)
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = pack(&t, out, error);
    core_free(t.values);
    core_free(t.weights);
    core_free(t.decays);
    return status;
}
