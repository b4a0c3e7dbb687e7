/* gumbel.c - truncated Gumbel noise on the distances of a random number of nearest words. */
#include "mech/gumbel.h"

#include "core/memory.h"
#include "core/status.h"
#include "mech/mechanism.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a Dmin must be above 1. Nearer to 1 than this the scale b is above 10^6 Dmax, and 53 bits no
 * longer resolve the noise. */
static const double above_one = 1 + 1e-6;

/* ---- the numbers ---- */

double gumbel_lambert(double x) {
    double w = log1p(x);
    for (int i = 0; i < 100; i++) { /* Newton's steps for w exp(w) = x; w stays above 0 */
        const double step = (w - x * exp(-w)) / (1 + w);
        w -= step;
        if (fabs(step) <= 1e-15 * w)
            break;
    }
    return w;
}

static double slope(double epsilon, double words, double least) {
    return (epsilon - 2 * (1 + log(words)) / least) / 3;
}

double gumbel_scale(double epsilon, double words, double least, double reach) {
    const double a = slope(epsilon, words, least);
    if (!(a * least >= above_one) || !isfinite(a * reach))
        return 0;
    return 2 * reach / fmin(gumbel_lambert(2 * a * reach), log(a * least));
}

/* Finds the least distance of two words: each list begins with the word itself, or with another
 * word at the same point. */
static tem_status find_least(gumbel *g, tem_error *error) {
    tem_dist least = UINT32_MAX;
    for (uint32_t id = 0; id < g->space->count; id++) {
        tem_neighbours near;
        TRY(neighbours_get(g->index, id, &near, error));
        const tem_dist next = near.count > 1 ? near.list[1].distance : near.bound;
        least = next < least ? next : least;
    }
    g->least = (double)least / TEM_DIST_ONE;
    return TEM_OK;
}

static tem_status find_scale(gumbel *g, double epsilon, tem_error *error) {
    const double words = g->space->count;
    if (g->space->count < 2 || !(g->least > 0))
        return core_fail(error, TEM_ERR_RANGE,
                         "two words of the model are at one point, or there is only one word: the "
                         "noise of this mechanism is defined for words at different points");
    g->reach = (double)space_reach(g->space) / TEM_DIST_ONE;
    g->scale = gumbel_scale(epsilon, words, g->least, g->reach);
    if (!(g->scale > 0)) {
        const double needed = (3 * above_one + 2 * (1 + log(words))) / g->least;
        return core_fail(error, TEM_ERR_RANGE,
                         "the noise of this mechanism is defined for an epsilon of at least %.6g "
                         "for this model: (5 + 2 log n) / the least distance of two words",
                         needed * (1 + 1e-5));
    }
    return TEM_OK;
}

/* Prepares gumbel_draw_k: adds up the probabilities until they no longer matter. */
static void prepare_k(gumbel *g) {
    g->mean = log(g->space->count);
    g->first_k = g->mean * exp(-g->mean);
    double term = g->first_k;
    for (g->all_k = 0, g->most_k = 1;; g->most_k++) {
        g->all_k += term;
        term *= g->mean / (g->most_k + 1);
        if (g->most_k == g->outputs.sum || (g->most_k > g->mean && term < g->all_k * 0x1p-62))
            return;
    }
}

tem_status gumbel_init(gumbel *g, const space *s, const neighbour_index *index,
                       const uint32_t *outputs, double epsilon, tem_error *error) {
    *g = (gumbel){.space = s, .index = index};
    TRY(weights_init(&g->outputs, outputs, s->count, error));
    TRY(find_least(g, error));
    TRY(find_scale(g, epsilon, error));
    prepare_k(g);
    g->lowest = exp(-exp(g->reach / g->scale));
    g->highest = exp(-exp(-g->reach / g->scale));
    return TEM_OK;
}

void gumbel_free(gumbel *g) {
    weights_free(&g->outputs);
}

/* ---- the draws ---- */

uint32_t gumbel_draw_k(const gumbel *g, tem_rng *rng) {
    const double limit = rng_unit(rng) * g->all_k;
    double term = g->first_k, sum = term;
    uint32_t k = 1;
    while (sum < limit && k < g->most_k) {
        term *= g->mean / ++k;
        sum += term;
    }
    return k;
}

double gumbel_draw_noise(const gumbel *g, tem_rng *rng) {
    const double at = g->lowest + rng_unit(rng) * (g->highest - g->lowest);
    return fmin(fmax(-g->scale * log(-log(at)), -g->reach), g->reach);
}

/* Draws among the first k of `count` words that may be outputs. *found receives how many of the k
 * there are; if that is less than k, the output is not drawn. */
static uint32_t draw_among(const gumbel *g, const tem_neighbour *list, uint32_t count, uint32_t k,
                           tem_rng *rng, uint32_t *found) {
    uint32_t best = TEM_NO_WORD, outputs = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < count && outputs < k; i++)
        outputs += weights_at(&g->outputs, list[i].id) > 0;
    *found = outputs;
    for (uint32_t i = 0, seen = 0; outputs == k && seen < k; i++) {
        if (weights_at(&g->outputs, list[i].id) == 0)
            continue;
        const double score = (double)list[i].distance / TEM_DIST_ONE + gumbel_draw_noise(g, rng);
        if (seen++ == 0 || score < least) {
            least = score;
            best = list[i].id;
        }
    }
    return best;
}

static int compare_neighbours(const void *a, const void *b) {
    const tem_neighbour *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Draws from all words, in order: for a k beyond the word's list. Rare: k is about log n, and a
 * list has a hundred words or more unless most of them are excluded. */
static tem_status draw_from_all(const gumbel *g, uint32_t word, uint32_t k, tem_rng *rng,
                                uint32_t *out, tem_error *error) {
    const uint32_t count = g->space->count;
    tem_neighbour *all = core_alloc(count, sizeof *all);
    if (all == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < count; id++)
        all[id] = (tem_neighbour){.id = id, .distance = space_distance(g->space, word, id)};
    qsort(all, count, sizeof *all, compare_neighbours);
    uint32_t found = 0;
    *out = draw_among(g, all, count, k, rng, &found);
    core_free_erased(all, count * sizeof *all);
    return TEM_OK;
}

static tem_status draw_one(const gumbel *g, uint32_t word, tem_rng *rng, uint32_t *out,
                           tem_error *error) {
    tem_neighbours near;
    TRY(neighbours_get(g->index, word, &near, error));
    const uint32_t k = gumbel_draw_k(g, rng);
    uint32_t found = 0;
    const uint32_t drawn = draw_among(g, near.list, near.count, k, rng, &found);
    if (found < k)
        return draw_from_all(g, word, k, rng, out, error);
    *out = drawn;
    return TEM_OK;
}

tem_status gumbel_draw(const gumbel *g, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    tem_status status = TEM_OK;
    for (size_t i = 0; i < count && status == TEM_OK; i++)
        if (words[i] == TEM_NO_WORD)
            out[i] = weights_draw(&g->outputs, rng);
        else
            status = draw_one(g, words[i], rng, &out[i], error);
    return status;
}

/* ---- the interface ---- */

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    (void)beta;
    return gumbel_init(state, setup->space, setup->index, setup->weights, setup->epsilon, error);
}

static void free_state(void *state) {
    gumbel_free(state);
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    return gumbel_draw(state, words, count, rng, out, error);
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "sets the noise, and bounds nothing; the least depends on the vectors",
     .most = INFINITY},
    {.name = NULL}};

const mechanism_ops mechanism_gumbel = {
    .properties = {.name = "gumbel",
                   .summary = "Gumbel noise on the distances of a random number of nearest words",
                   .paper = "Xu, Aggarwal, Feyisetan, Teissier 2021",
                   .guarantee = TEM_GUARANTEE_NONE,
                   .caveat = "its paper states a bound that does not hold for all models: a word "
                             "that is far down in the order of the nearest words is less likely "
                             "than the bound says; use the mechanism tem, em, rank or coin",
                   .parameters = parameters},
    .state_bytes = sizeof(gumbel),
    .init = init,
    .free = free_state,
    .draw = draw,
    .slow_draws = 64};
