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

void exposure_order(const word_law *laws, const exposure_group *group, tem_target by,
                    exposure_rank *ranks) {
    for (uint32_t i = 0; i < group->count; i++) {
        const word_law *law = &laws[group->words[i]];
        ranks[i] =
            (exposure_rank){by == TEM_TARGET_SUPPORT ? -law->entropy : law->self, group->words[i]};
    }
    qsort(ranks, group->count, sizeof *ranks, compare_ranks);
}

uint32_t exposure_at(const word_law *laws, const exposure_group *group, tem_target by,
                     exposure_rank *ranks) {
    if (group->count == 0)
        return TEM_NO_WORD;
    exposure_order(laws, group, by, ranks);
    /* 0.95 of 20 words is 19 of them, whatever the product rounds to. */
    const uint32_t kept = (uint32_t)ceil(group->quantile * group->count - 1e-9);
    return ranks[group->count - (kept > 0 ? kept : 1)].word;
}
