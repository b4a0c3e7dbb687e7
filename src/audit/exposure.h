/* exposure.h - which words a mechanism protects least.
 *
 * A word is the more exposed, the more often it stays itself (N_w), or the fewer words its output
 * is spread over (S_w). A median says nothing about the words at the end of these two orders. */
#ifndef AUDIT_EXPOSURE_H
#define AUDIT_EXPOSURE_H

#include "tem_account.h"

/* The effects on one word. */
typedef struct word_law {
    double log_total;        /* ln Z */
    double self, entropy;    /* N_w, ln S_w */
    double distance, beyond; /* E[m], P(d > gamma) */
} word_law;

/* Some words, and the share of them that counts. */
typedef struct exposure_group {
    const uint32_t *words;
    uint32_t count;
    double quantile; /* above 0, at most 1 */
} exposure_group;

/* A word, and how exposed it is: larger is more exposed. */
typedef struct exposure_rank {
    double value;
    uint32_t word;
} exposure_rank;

/* Orders the words of a group, the most exposed first; of words that are equally exposed, the one
 * with the lower id.
 *   laws    one per word of the vocabulary
 *   by      TEM_TARGET_SELF: by N_w; TEM_TARGET_SUPPORT: by S_w
 *   ranks   receives group->count entries */
void exposure_order(const word_law *laws, const exposure_group *group, tem_target by,
                    exposure_rank *ranks);

/* Returns the least exposed word for which this holds: of the group, at least the share `quantile`
 * is not exposed more than that word. With the quantile 1 that is the most exposed word. Returns
 * TEM_NO_WORD for a group without words. The arguments are those of exposure_order. */
uint32_t exposure_at(const word_law *laws, const exposure_group *group, tem_target by,
                     exposure_rank *ranks);

#endif
