/* bag.c - bags of words, and the Earth Mover's distance between two of them.
 *
 * Each occurrence of a word weighs 1/A in a bag of A words, and 1/B in a bag of B words. With m,
 * the least common multiple of A and B, the weights times m are integers: count * (m / A) and
 * count * (m / B), and both bags weigh m. So the transport problem (transport.h) has integers only,
 * and its least cost divided by m is the distance. For A = B it is the problem of matching the
 * words one to one: the supplies are the counts, and a transport problem with whole supplies has a
 * cheapest plan of whole moves. */
#include "bag/bag.h"

#include "bag/transport.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "index/nearest_keys.h"

#include <math.h>

/* The different words of a document in ascending order, and how often each occurs. */
typedef struct bag {
    uint32_t *ids; /* the last is TEM_NO_WORD if unknown words count and there are any */
    int64_t *counts;
    size_t room; /* of both arrays */
    tem_bag_info info;
} bag;

/* The words of a document are private, so they must not stay in memory. */
static void bag_free(bag *b) {
    core_free_erased(b->counts, b->room * sizeof *b->counts);
    core_free_erased(b->ids, b->room * sizeof *b->ids);
}

/* Makes the ids and counts from sorted keys, which have the id of a word in their upper half. */
static void count_sorted(bag *b, const uint64_t *keys, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t last = b->info.distinct, id = (uint32_t)(keys[i] >> 32);
        if (last > 0 && b->ids[last - 1] == id) {
            b->counts[last - 1]++;
        } else {
            b->ids[last] = id;
            b->counts[last] = 1;
            b->info.distinct++;
        }
    }
}

/* Sorts the words of a document and counts them. nearest_sort sorts in place: qsort may copy the
 * words to memory that nobody erases. Its keys must differ, so each has its place, too. */
static void count_words(bag *b, const uint32_t *words, size_t count, bool unknown_count,
                        uint64_t *keys) {
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        b->info.unknown += words[i] == TEM_NO_WORD;
        if (words[i] != TEM_NO_WORD || unknown_count) {
            keys[kept] = (uint64_t)words[i] << 32 | kept;
            kept++;
        }
    }
    nearest_sort(keys, kept);
    count_sorted(b, keys, kept);
    b->info.words = kept;
}

/* Makes the bag of a document. Free with bag_free, also after a failure. */
static tem_status bag_make(bag *b, const uint32_t *words, size_t count, bool unknown_count,
                           tem_error *error) {
    *b = (bag){.ids = core_alloc(count, sizeof *b->ids),
               .counts = core_alloc(count, sizeof *b->counts),
               .room = count};
    uint64_t *keys = core_alloc(count, sizeof *keys);
    tem_status status = TEM_OK;
    if (b->ids == NULL || b->counts == NULL || keys == NULL)
        status = core_fail_memory(error);
    else
        count_words(b, words, count, unknown_count, keys);
    core_free_erased(keys, count * sizeof *keys);
    if (status == TEM_OK && b->info.words == 0)
        status = core_fail(error, TEM_ERR_ARGUMENT,
                           "a document has no word that the model knows, so it has no distance");
    return status;
}

/* ---- the costs ---- */

typedef struct cost_table {
    const space *space;
    const bag *a, *b;
    tem_dist gamma;
    uint32_t *costs;
} cost_table;

static uint32_t cost_of(const cost_table *t, uint32_t x, uint32_t y) {
    if (x == TEM_NO_WORD || y == TEM_NO_WORD)
        return x == y ? 0 : t->gamma;
    const tem_dist d = space_distance(t->space, x, y);
    return t->gamma > 0 && d > t->gamma ? t->gamma : d;
}

/* A core_task: the costs of one row. */
static void fill_row(void *context, uint64_t row, unsigned thread) {
    (void)thread;
    const cost_table *t = context;
    const uint32_t columns = t->b->info.distinct;
    for (uint32_t c = 0; c < columns; c++)
        t->costs[(size_t)row * columns + c] = cost_of(t, t->a->ids[row], t->b->ids[c]);
}

/* ---- the distance ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void multiply_counts(bag *b, uint64_t factor) {
    for (uint32_t i = 0; i < b->info.distinct; i++)
        b->counts[i] *= (int64_t)factor;
}

/* The double nearest to cost / denominator, in units of distance. The quotient has more than 63
 * bits, because the denominator is below 2^62. A 1 in its last bit stands for all that was cut off,
 * so the conversion, which rounds to 53 bits, rounds as if it knew the rest. */
static double as_number(transport_cost cost, uint64_t denominator) {
    int shift = 0;
    while (cost != 0 && cost >> 126 == 0) {
        cost <<= 1;
        shift++;
    }
    transport_cost quotient = cost / denominator;
    uint64_t is_inexact = cost % denominator != 0;
    for (; quotient >> 64 != 0; shift--) {
        is_inexact |= quotient & 1;
        quotient >>= 1;
    }
    return ldexp((double)((uint64_t)quotient | is_inexact), -shift - 16);
}

static void fill(tem_bag_distance *out, const bag *a, const bag *b, bool counts_unknown,
                 transport_cost cost, uint64_t denominator) {
    *out = (tem_bag_distance){.a = a->info, .b = b->info, .denominator = denominator};
    out->numerator_high = (uint64_t)(cost >> 64);
    out->numerator_low = (uint64_t)cost;
    out->distance = as_number(cost, denominator);
    /* PRIVACY: the matching bounds the loss between documents of the same number of words. Unknown
     * words that were left out are matched with each other, at distance 0, so there must be as many
     * of them on both sides. */
    out->has_matching =
        a->info.words == b->info.words && (counts_unknown || a->info.unknown == b->info.unknown);
    out->matching = out->has_matching ? (uint64_t)cost : 0;
}

/* Solves the transport problem of two bags, and multiplies their counts for that. */
static tem_status solve(const tem_model *model, bag *a, bag *b, tem_dist gamma, const tem_run *run,
                        tem_bag_distance *distance, tem_error *error) {
    const uint64_t divisor = common_divisor(a->info.words, b->info.words);
    const uint64_t factor_a = b->info.words / divisor, factor_b = a->info.words / divisor;
    cost_table t = {.space = &model->space, .a = a, .b = b, .gamma = gamma};
    const size_t costs = (size_t)a->info.distinct * b->info.distinct;
    t.costs = core_alloc(costs, sizeof *t.costs);
    if (t.costs == NULL)
        return core_fail_memory(error);
    multiply_counts(a, factor_a);
    multiply_counts(b, factor_b);
    const transport_problem problem = {.rows = a->info.distinct,
                                       .columns = b->info.distinct,
                                       .costs = t.costs,
                                       .supplies = a->counts,
                                       .demands = b->counts};
    transport_plan plan = {.moves = NULL};
    tem_status status = core_parallel(run, "distances", a->info.distinct, fill_row, &t, error);
    if (status == TEM_OK)
        status = transport_solve(&problem, run, &plan, error);
    if (status == TEM_OK)
        fill(distance, a, b, gamma > 0, plan.cost, a->info.words * factor_a);
    transport_plan_free(&plan);
    core_free_erased(t.costs, costs * sizeof *t.costs); /* distances tell words */
    return status;
}

tem_status bag_measure(const tem_model *model, const uint32_t *a, size_t a_count, const uint32_t *b,
                       size_t b_count, tem_dist gamma, const tem_run *run,
                       tem_bag_distance *distance, tem_error *error) {
    bag first = {.ids = NULL}, second = {.ids = NULL};
    tem_status status = bag_make(&first, a, a_count, gamma > 0, error);
    if (status == TEM_OK)
        status = bag_make(&second, b, b_count, gamma > 0, error);
    if (status == TEM_OK)
        status = solve(model, &first, &second, gamma, run, distance, error);
    bag_free(&second);
    bag_free(&first);
    return status;
}
