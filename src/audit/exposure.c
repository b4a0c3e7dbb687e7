/* exposure.c - which words a mechanism protects least. */
#include "audit/exposure.h"

#include <math.h>
#include <stdlib.h>

static int compare_ranks(const void *a, const void *b) {
    const exposure_rank *x = a, *y = b;
    if (x->value > y->value || x->value < y->value)
        return x->value > y->value ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

static exposure_rank rank_of(const word_law *laws, uint32_t word, tem_target by) {
    const word_law *law = &laws[word];
    return (exposure_rank){by == TEM_TARGET_SUPPORT ? -law->entropy : law->self, word};
}

void exposure_order(const word_law *laws, const exposure_group *group, tem_target by,
                    exposure_rank *ranks) {
    for (uint32_t i = 0; i < group->count; i++)
        ranks[i] = rank_of(laws, group->words[i], by);
    qsort(ranks, group->count, sizeof *ranks, compare_ranks);
}

/* Without sorting: choosing an epsilon asks for this word at every step. */
static uint32_t most_exposed(const word_law *laws, const exposure_group *group, tem_target by) {
    exposure_rank most = rank_of(laws, group->words[0], by);
    for (uint32_t i = 1; i < group->count; i++) {
        const exposure_rank rank = rank_of(laws, group->words[i], by);
        most = compare_ranks(&rank, &most) < 0 ? rank : most;
    }
    return most.word;
}

uint32_t exposure_at(const word_law *laws, const exposure_group *group, tem_target by,
                     exposure_rank *ranks) {
    if (group->count == 0)
        return TEM_NO_WORD;
    if (group->quantile >= 1)
        return most_exposed(laws, group, by);
    exposure_order(laws, group, by, ranks);
    /* 0.95 of 20 words is 19 of them, whatever the product rounds to. */
    const uint32_t kept = (uint32_t)ceil(group->quantile * group->count - 1e-9);
    return ranks[group->count - (kept > 0 ? kept : 1)].word;
}
