/* order_groups.c - joins near words to groups that share one order of the blocks.
 *
 * Two words that share it differ in their lists alone. So their laws are near, too: the loss
 * between nearest neighbors falls from 5.6 to 5.1 (docs/RANK.md). */
#include "core/memory.h"
#include "core/status.h"
#include "order/order_build.h"
#include "space/kernels/kernels.h"

#include <stdlib.h>

/* A pair of near words. */
typedef struct joined_pair {
    int64_t product;
    uint32_t place; /* in the array `near`: decides ties */
} joined_pair;

/* The closest pair first. */
static int compare_pairs(const void *a, const void *b) {
    const joined_pair *x = a, *y = b;
    if (x->product != y->product)
        return x->product > y->product ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Sets of words: each points to another word of its set, or to itself. */
typedef struct joined_words {
    uint32_t *parents, *sizes;
} joined_words;

static uint32_t find_set(const joined_words *s, uint32_t word) {
    while (s->parents[word] != word) {
        s->parents[word] = s->parents[s->parents[word]];
        word = s->parents[word];
    }
    return word;
}

/* Joins the words of pairs, the closest first, as long as no set has more than `most` words. */
static void join_pairs(const joined_words *s, const joined_pair *pairs, uint32_t count,
                       const uint32_t *near, uint32_t most) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = find_set(s, pairs[i].place / ORDER_JOINED);
        const uint32_t b = find_set(s, near[pairs[i].place]);
        if (a == b || s->sizes[a] + s->sizes[b] > most)
            continue;
        s->parents[a] = b;
        s->sizes[b] += s->sizes[a];
    }
}

/* Collects the pairs of each word with its near words number `first` to `end` - 1. */
static uint32_t collect_pairs(const unit_points *p, const uint32_t *near, unsigned first,
                              unsigned end, joined_pair *pairs) {
    const kernels *k = kernels_active();
    uint32_t count = 0;
    for (uint32_t w = 0; w < p->count; w++)
        for (unsigned i = first; i < end; i++) {
            const uint32_t place = w * ORDER_JOINED + i;
            if (near[place] != ORDER_NONE)
                pairs[count++] = (joined_pair){
                    k->dot_i16(unit_row(p, w), unit_row(p, near[place]), p->row_elements), place};
        }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    return count;
}

/* Numbers the sets in the order of their first words. */
static uint32_t number_sets(const joined_words *s, uint32_t words, uint32_t *groups) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++)
        groups[w] = ORDER_NONE;
    for (uint32_t w = 0; w < words; w++) {
        const uint32_t set = find_set(s, w);
        if (groups[set] == ORDER_NONE)
            groups[set] = count++; /* kept at the word that stands for the set */
        s->sizes[w] = groups[set];
    }
    for (uint32_t w = 0; w < words; w++)
        groups[w] = s->sizes[w];
    return count;
}

tem_status order_make_groups(const unit_points *p, const uint32_t *near, uint32_t most,
                             uint32_t *groups, uint32_t *group_count, tem_error *error) {
    const joined_words sets = {core_alloc(p->count, sizeof *sets.parents),
                               core_alloc(p->count, sizeof *sets.sizes)};
    joined_pair *pairs = core_alloc((size_t)p->count * (ORDER_JOINED - 1), sizeof *pairs);
    tem_status status = TEM_OK;
    if (sets.parents == NULL || sets.sizes == NULL || pairs == NULL) {
        status = core_fail_memory(error);
    } else {
        for (uint32_t w = 0; w < p->count; w++) {
            sets.parents[w] = w;
            sets.sizes[w] = 1;
        }
        join_pairs(&sets, pairs, collect_pairs(p, near, 0, 1, pairs), near, most);
        join_pairs(&sets, pairs, collect_pairs(p, near, 1, ORDER_JOINED, pairs), near, most);
        *group_count = number_sets(&sets, p->count, groups);
    }
    core_free(sets.parents);
    core_free(sets.sizes);
    core_free(pairs);
    return status;
}
