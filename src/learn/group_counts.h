/* group_counts.h - how often each word was released in each of several groups of texts. */
#ifndef LEARN_GROUP_COUNTS_H
#define LEARN_GROUP_COUNTS_H

#include "learn/channel.h"

#include <stdbool.h>

typedef struct group_counts {
    uint32_t groups;
    double *shares; /* a row per output, `groups` numbers to a row; each column adds up to 1 */
    double *totals; /* released words of each group; above 0 */
} group_counts;

/* Checks the counts and divides them by the total of their group. Fails with TEM_ERR_ARGUMENT (a
 * count is not finite or below 0, a group has no word), TEM_ERR_FORMAT (the mechanism never outputs
 * one of the words), TEM_ERR_MEMORY. Free with group_counts_free. */
tem_status group_counts_init(group_counts *g, const tem_channel *channel, const double *counts,
                             uint32_t groups, tem_error *error);
void group_counts_free(group_counts *g);

/* Mean ln(probability) of a released word, each word of each group counting alike. `predicted` has
 * the probabilities, laid out as the shares. */
double group_counts_likelihood(const group_counts *g, const tem_channel *channel,
                               const double *predicted);

#endif
