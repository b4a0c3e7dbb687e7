/* learned_law.c - learns the law of a mechanism from pairs. */
#include "compare/learned_law.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>

void learned_law_free(learned_law *l) {
    core_free(l->starts);
    core_free(l->seen);
    core_free(l->drawn);
    core_free(l->totals);
}

/* ---- counting ---- */

static int compare_pairs(const void *a, const void *b) {
    const drawn_pair *x = a, *y = b;
    if (x->output != y->output)
        return x->output < y->output ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

/* Sorts the pairs and counts equal ones. */
static void count_seen(learned_law *l, drawn_pair *pairs, uint64_t count) {
    const uint32_t words = l->space->count;
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t input = learned_law_input(l, pairs[i].word);
        l->drawn[input]++;
        if (i > 0 && compare_pairs(&pairs[i - 1], &pairs[i]) == 0) {
            l->seen[l->seen_count - 1].count++;
            continue;
        }
        l->seen[l->seen_count++] = (seen_pair){input, pairs[i].output, 1};
        l->starts[pairs[i].output + 1]++;
    }
    for (uint32_t y = 0; y < words; y++)
        l->starts[y + 1] += l->starts[y];
}

/* ---- the law of the distance ---- */

double learned_law_weight(const learned_law *l, uint32_t word, uint32_t y) {
    if (word == y)
        return distance_law_self(&l->distance, y);
    return learned_law_is_output(l, y)
               ? distance_law_at(&l->distance, space_distance(l->space, word, y))
               : 0;
}

/* g(y | input). */
static double model_of(const learned_law *l, uint32_t input, uint32_t y) {
    if (!(l->totals[input] > 0))
        return 0;
    const double weight =
        input < l->space->count ? learned_law_weight(l, input, y) : learned_law_is_output(l, y);
    return weight / l->totals[input];
}

static void find_totals(learned_law *l) {
    const uint32_t words = l->space->count;
    l->totals[words] = 0;
    for (uint32_t w = 0; w < words; w++) {
        l->totals[w] = distance_law_total(&l->distance, w);
        l->totals[words] += learned_law_is_output(l, w);
    }
}

/* ---- smoothing ---- */

/* How likely the pairs are if each is predicted from all others, for one k. */
static double predict(const learned_law *l, const double *model, double k) {
    double sum = 0;
    for (uint64_t i = 0; i < l->seen_count; i++) {
        const seen_pair *p = &l->seen[i];
        sum += p->count * (log(p->count - 1 + k * model[i]) - log(l->drawn[p->word] - 1 + k));
    }
    return sum;
}

/* Sets k to the power of sqrt(10) that predicts best. */
static tem_status choose_smoothing(learned_law *l, tem_error *error) {
    double *model = core_alloc(l->seen_count, sizeof *model), best = -INFINITY;
    if (model == NULL)
        return core_fail_memory(error);
    for (uint64_t i = 0; i < l->seen_count; i++)
        model[i] = fmax(model_of(l, l->seen[i].word, l->seen[i].output), 1e-300);
    for (int power = -4; power <= 16; power++) {
        const double k = pow(10, power / 2.0), value = predict(l, model, k);
        if (value > best) {
            best = value;
            l->smoothing = k;
        }
    }
    core_free(model);
    return TEM_OK;
}

/* ---- learning ---- */

tem_status learned_law_make(const space *s, const profile *known, const uint32_t *outputs,
                            drawn_pair *pairs, uint64_t count, double smoothing, learned_law *out,
                            tem_error *error) {
    const size_t inputs = s->count + (size_t)1;
    *out = (learned_law){.space = s,
                         .smoothing = smoothing,
                         .totals = core_alloc(inputs, sizeof *out->totals),
                         .drawn = core_alloc_zero(inputs, sizeof *out->drawn),
                         .seen = core_alloc(count, sizeof *out->seen),
                         .starts = core_alloc_zero(inputs, sizeof *out->starts)};
    if (out->totals == NULL || out->drawn == NULL || out->seen == NULL || out->starts == NULL)
        return core_fail_memory(error);
    TRY(distance_law_learn(s, known, outputs, pairs, count, &out->distance, error));
    count_seen(out, pairs, count);
    find_totals(out);
    return smoothing > 0 ? TEM_OK : choose_smoothing(out, error);
}

/* ---- the law ---- */

double learned_law_with_count(const learned_law *l, uint32_t word, uint32_t y, uint32_t count) {
    const uint32_t input = learned_law_input(l, word);
    return (count + l->smoothing * model_of(l, input, y)) / (l->drawn[input] + l->smoothing);
}

double learned_law_probability(const learned_law *l, uint32_t word, uint32_t y) {
    const uint32_t input = learned_law_input(l, word);
    uint32_t count = 0;
    for (uint64_t i = l->starts[y]; i < l->starts[y + 1]; i++)
        if (l->seen[i].word == input)
            count = l->seen[i].count;
    return learned_law_with_count(l, word, y, count);
}

void learned_law_column(const learned_law *l, uint32_t y, const tem_dist *distances, double *out) {
    const uint32_t words = l->space->count;
    const double k = learned_law_is_output(l, y) ? l->smoothing : 0;
    for (uint32_t w = 0; w < words; w++)
        out[w] = distance_law_at(&l->distance, distances[w]);
    out[y] = distance_law_self(&l->distance, y);
    out[words] = 1;
    for (uint32_t w = 0; w <= words; w++)
        out[w] = l->totals[w] > 0 ? k * out[w] / l->totals[w] : 0;
    for (uint64_t i = l->starts[y]; i < l->starts[y + 1]; i++)
        out[l->seen[i].word] += l->seen[i].count;
    for (uint32_t w = 0; w <= words; w++)
        out[w] /= l->drawn[w] + l->smoothing;
}
