/* bayes.c - how often the best guess at a word from its output is right.
 *
 * f_w P(y | w) = a_y exp(g_w - s m(w, y)) with g_w = ln f_w - ln Z(w), so that for an output y
 * the best guess is the w with the largest g_w - s m(w, y). The words of y's list come first,
 * since near words are good guesses. Of the others the index knows a distance b, for each range
 * of the vocabulary, that none of them is nearer than: w can be no better than
 * g_w - s min(b, gamma). So a range's words are tried in descending order of g until that is not
 * above the best so far. y itself is in its list, or, where many words are equal to it, among the
 * others. Rounding does not spoil it: it is monotone, so what is computed for w is at most what is
 * computed for its bound. */
#include "audit/summary.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>

/* A word and its g. */
typedef struct guess_gain {
    double gain;
    uint32_t id;
} guess_gain;

typedef struct guess_search {
    const summary_source *source;
    guess_gain *by_id;     /* in order of ids */
    guess_gain *by_gain;   /* each range in descending order of g */
    double *probabilities; /* for each output, of its being guessed right */
} guess_search;

static int compare_gains(const void *a, const void *b) {
    const guess_gain *x = a, *y = b;
    if (x->gain > y->gain || x->gain < y->gain)
        return x->gain > y->gain ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static double value_at(const guess_search *q, double gain, tem_dist distance) {
    return gain - ldexp((double)exponent_at(q->source->exponent, distance), -EXPONENT_BITS);
}

/* The best of `best` and the words of a range that are not in y's list: those are `bound` away
 * or farther. */
static double search_range(const guess_search *q, uint32_t y, uint32_t range, tem_dist bound,
                           double best) {
    const uint32_t count = q->source->space->count, words = neighbours_range_words(count);
    const uint64_t first = (uint64_t)range * words, end = first + words;
    for (uint64_t i = first; i < end && i < count; i++) {
        const guess_gain *w = &q->by_gain[i];
        if (value_at(q, w->gain, bound) <= best)
            return best;
        best = fmax(best, value_at(q, w->gain, space_distance(q->source->space, w->id, y)));
    }
    return best;
}

static void search_output(void *context, uint64_t item, unsigned thread) {
    const guess_search *q = context;
    const uint32_t y = (uint32_t)item;
    const tem_dist *bounds = neighbours_bounds(q->source->index, y);
    tem_neighbours near = {0};
    (void)thread;
    double best = -INFINITY;
    /* That it can be had was made sure of by summary_make. */
    if (neighbours_get(q->source->index, y, &near, NULL) == TEM_OK)
        for (uint32_t i = 0; i < near.count; i++)
            best = fmax(best, value_at(q, q->by_id[near.list[i].id].gain, near.list[i].distance));
    for (uint32_t range = 0; range < NEIGHBOUR_RANGES; range++)
        if (bounds[range] != UINT32_MAX)
            best = search_range(q, y, range, bounds[range], best);
    q->probabilities[y] = weights_at(q->source->weights, y) * exp(best);
}

static void order_gains(guess_search *q, const double *log_totals) {
    const uint32_t count = q->source->space->count, words = neighbours_range_words(count);
    for (uint32_t id = 0; id < count; id++) {
        q->by_id[id] = (guess_gain){log(q->source->frequencies[id]) - log_totals[id], id};
        q->by_gain[id] = q->by_id[id];
    }
    for (uint64_t first = 0; first < count; first += words)
        qsort(q->by_gain + first, count - first < words ? count - first : words, sizeof *q->by_gain,
              compare_gains);
}

tem_status bayes_success(const summary_source *source, const double *log_totals, const tem_run *run,
                         double *success, tem_error *error) {
    const uint32_t count = source->space->count;
    guess_search q = {.source = source,
                      .by_id = core_alloc(count, sizeof *q.by_id),
                      .by_gain = core_alloc(count, sizeof *q.by_gain),
                      .probabilities = core_alloc(count, sizeof *q.probabilities)};
    tem_status status = TEM_OK;
    if (q.by_id == NULL || q.by_gain == NULL || q.probabilities == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK) {
        order_gains(&q, log_totals);
        status = core_parallel(run, "guessing", count, search_output, &q, error);
    }
    if (status == TEM_OK) {
        double sum = 0;
        for (uint32_t y = 0; y < count; y++)
            sum += q.probabilities[y];
        *success = sum;
    }
    core_free(q.probabilities);
    core_free(q.by_gain);
    core_free(q.by_id);
    return status;
}
