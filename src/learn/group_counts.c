/* group_counts.c - how often each word was released in each of several groups of texts. */
#include "learn/group_counts.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

/* Adds up the words of each group. */
static tem_status add_totals(const tem_channel *channel, const double *counts, uint32_t groups,
                             double *totals, tem_error *error) {
    memset(totals, 0, groups * sizeof *totals);
    for (uint32_t y = 0; y < channel->count; y++)
        for (uint32_t i = 0; i < groups; i++) {
            const double count = counts[(size_t)y * groups + i];
            if (!isfinite(count) || count < 0)
                return core_fail(error, TEM_ERR_ARGUMENT,
                                 "a count of released words is not a number, 0 or more");
            if (count > 0 && weights_at(channel->weights, y) == 0)
                return core_fail(error, TEM_ERR_FORMAT,
                                 "a released word is one that this mechanism never outputs: the "
                                 "text was released with another model or other options");
            totals[i] += count;
        }
    for (uint32_t i = 0; i < groups; i++)
        if (!(totals[i] > 0) || !isfinite(totals[i]))
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "each group needs at least one released word");
    return TEM_OK;
}

tem_status group_counts_init(group_counts *g, const tem_channel *channel, const double *counts,
                             uint32_t groups, tem_error *error) {
    *g = (group_counts){.groups = groups,
                        .shares = core_alloc(channel->count, groups * sizeof *g->shares),
                        .totals = core_alloc(groups, sizeof *g->totals)};
    const tem_status status = g->shares == NULL || g->totals == NULL
                                  ? core_fail_memory(error)
                                  : add_totals(channel, counts, groups, g->totals, error);
    if (status != TEM_OK) {
        group_counts_free(g);
        return status;
    }
    for (size_t k = 0; k < (size_t)channel->count * groups; k++)
        g->shares[k] = counts[k] / g->totals[k % groups];
    return TEM_OK;
}

void group_counts_free(group_counts *g) {
    core_free(g->shares);
    core_free(g->totals);
    *g = (group_counts){0};
}

double group_counts_likelihood(const group_counts *g, const tem_channel *channel,
                               const double *predicted) {
    double sum = 0, words = 0;
    for (uint32_t i = 0; i < g->groups; i++) {
        double mean = 0;
        for (uint32_t y = 0; y < channel->count; y++) {
            const size_t place = (size_t)y * g->groups + i;
            if (g->shares[place] > 0)
                mean += g->shares[place] * log(predicted[place]);
        }
        sum += g->totals[i] * mean;
        words += g->totals[i];
    }
    return sum / words;
}
