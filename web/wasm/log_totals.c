/* log_totals.c - reads the table of ln Z, and interpolates. */
#include "log_totals.h"

#include "core/memory.h"
#include "core/status.h"

#include <zstd.h>

static void unpack_columns(const unsigned char *packed, log_totals *t) {
    const size_t all = (size_t)t->count * t->columns, count = t->count;
    for (size_t i = 0; i < all; i++)
        t->values[i] = (int16_t)(packed[i] | packed[all + i] << 8);
    for (unsigned k = 1; k < LOG_NODES; k++)
        for (size_t w = 0; w < count; w++) {
            int16_t *value = &t->values[k * count + w];
            *value = (int16_t)(*value + log_predicted(k, value[-(ptrdiff_t)count],
                                                      k < 2 ? 0 : value[-2 * (ptrdiff_t)count]));
        }
}

tem_status log_totals_read(const char *frame, size_t bytes, uint32_t count, uint32_t certificates,
                           log_totals *out, tem_error *error) {
    log_totals t = {.count = count, .columns = LOG_NODES + certificates};
    const size_t size = 2 * (size_t)count * t.columns;
    unsigned char *packed = core_alloc(size, 1);
    t.values = core_alloc((size_t)count * t.columns, sizeof *t.values);
    tem_status status = TEM_OK;
    if (packed == NULL || t.values == NULL)
        status = core_fail_memory(error);
    else if (ZSTD_decompress(packed, size, frame, bytes) != size)
        status = core_fail(error, TEM_ERR_DAMAGED, "the table of the model is damaged");
    else
        unpack_columns(packed, &t);
    core_free(packed);
    if (status != TEM_OK) {
        log_totals_free(&t);
        return status;
    }
    *out = t;
    return TEM_OK;
}

void log_totals_free(log_totals *t) {
    core_free(t->values);
    *t = (log_totals){0};
}

static double value_at(const log_totals *t, unsigned column, uint32_t word) {
    return t->values[(size_t)column * t->count + word] / (double)LOG_STEPS;
}

/* The cubic through four nodes (Lagrange). */
void log_totals_plain(const log_totals *t, double s, double *out) {
    const double u = s < LOG_S_MOST ? s / (s + 3) : LOG_U_MOST;
    const double place = u / LOG_U_MOST * (LOG_NODES - 1);
    unsigned first = place < 1 ? 0 : (unsigned)place - 1;
    first = first > LOG_NODES - 4 ? LOG_NODES - 4 : first;
    const double x = place - first; /* the nodes are at 0, 1, 2 and 3 */
    const double factors[4] = {-(x - 1) * (x - 2) * (x - 3) / 6, x * (x - 2) * (x - 3) / 2,
                               -x * (x - 1) * (x - 3) / 2, x * (x - 1) * (x - 2) / 6};
    for (uint32_t w = 0; w < t->count; w++) {
        out[w] = 0;
        for (unsigned i = 0; i < 4; i++)
            out[w] += factors[i] * value_at(t, first + i, w);
    }
}

void log_totals_certified(const log_totals *t, uint32_t certificate, double *out) {
    for (uint32_t w = 0; w < t->count; w++)
        out[w] = value_at(t, LOG_NODES + certificate, w);
}
