/* worst_case.c - the largest mean of a function over all shares that the ratio allows. */
#include "learn/worst_case.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>

tem_status worst_case_init(worst_case *w, const double *expected, uint32_t inputs, double ratio,
                           tem_error *error) {
    *w = (worst_case){.inputs = inputs,
                      .expected = expected,
                      .ratio = ratio,
                      .entries = core_alloc(inputs, sizeof *w->entries)};
    return w->entries == NULL ? core_fail_memory(error) : TEM_OK;
}

void worst_case_free(worst_case *w) {
    core_free(w->entries);
    w->entries = NULL;
}

static int by_value(const void *a, const void *b) {
    const double x = ((const worst_case_entry *)a)->value;
    const double y = ((const worst_case_entry *)b)->value;
    return (x > y) - (x < y);
}

/* What q gives to an entry when `left` of 1 is still to be given away. */
static double give(const worst_case *w, const worst_case_entry *entry, double *left) {
    const double share = fmin(w->ratio * entry->share, *left);
    *left -= share;
    return share;
}

static double least_mean(const worst_case *w) {
    double mean = 0, left = 1;
    for (uint32_t k = 0; k < w->inputs && left > 0; k++)
        mean += give(w, &w->entries[k], &left) * w->entries[k].value;
    return mean;
}

static double largest_mean(const worst_case *w) {
    double mean = 0, left = 1;
    for (uint32_t k = w->inputs; k-- > 0 && left > 0;)
        mean += give(w, &w->entries[k], &left) * w->entries[k].value;
    return mean;
}

/* The largest squares are at both ends of the entries. */
static double largest_square(const worst_case *w) {
    double mean = 0, left = 1;
    for (uint32_t low = 0, high = w->inputs; low < high && left > 0;) {
        const bool is_low = fabs(w->entries[low].value) > fabs(w->entries[high - 1].value);
        const worst_case_entry *entry = is_low ? &w->entries[low++] : &w->entries[--high];
        mean += give(w, entry, &left) * entry->value * entry->value;
    }
    return mean;
}

void worst_case_find(worst_case *w, const double *r, uint32_t stride, double *size,
                     double *square) {
    for (uint32_t k = 0; k < w->inputs; k++)
        w->entries[k] = (worst_case_entry){.value = r[(size_t)k * stride], .share = w->expected[k]};
    qsort(w->entries, w->inputs, sizeof *w->entries, by_value);
    *size = fmax(largest_mean(w), -least_mean(w));
    *square = largest_square(w);
}
