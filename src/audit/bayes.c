/* bayes.c - how often the best guess at a word from its output is right.
 *
 * f_w P(y | w) = a_y exp(g_w - s m(w, y)) with g_w = ln f_w - ln Z(w). So for an output y the best
 * guess is the word w with the largest value g_w - s m(w, y).
 *
 * The search tries the words of y's list first, since near words are good guesses. For the other
 * words the index has one bound b per range of the vocabulary: no word of the range that is not in
 * the list is nearer to y than b. So the value of such a word w is at most g_w - s min(b, gamma).
 * The search tries the words of a range in descending order of g, and stops when this bound is not
 * above the best value so far. y itself is in its list or, where many words have the distance 0
 * from y, among the other words.
 *
 * Rounding does not change the result. Rounding is monotone, so the computed value of w is at most
 * the computed bound. */
#include "audit/summary.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>

/* A word and its gain, g_w. */
typedef struct guess_gain {
    double gain;
    uint32_t id;
} guess_gain;

typedef struct guess_search {
    const summary_source *source;
    guess_gain *by_id;     /* in the order of ids */
    guess_gain *by_gain;   /* each range in descending order of g */
    double *probabilities; /* per output y: the probability that y is the output and the best guess
                            * is right */
} guess_search;

static int compare_gains(const void *a, const void *b) {
    const guess_gain *x = a, *y = b;
    if (x->gain > y->gain || x->gain < y->gain)
        return x->gain > y->gain ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static const double unit = 0x1p-36; /* of the steps of an exponent */
_Static_assert(EXPONENT_BITS == 36, "the unit");

/* As fmax, but inline: these comparisons took a tenth of the time. */
static double larger(double a, double b) {
    return a > b ? a : b;
}

static double value_at(const guess_search *q, double gain, tem_dist distance) {
    return gain - (double)exponent_at(q->source->exponent, distance) * unit;
}

/* Returns the larger of `best` and the best value in a range. Words of the range that are not in
 * y's list are at the distance `bound` from y, or farther. */
static double search_range(const guess_search *q, uint32_t y, uint32_t range, tem_dist bound,
                           double best) {
    const uint32_t count = q->source->space->count, words = neighbours_range_words(count);
    const uint64_t first = (uint64_t)range * words, end = first + words;
    for (uint64_t i = first; i < end && i < count; i++) {
        const guess_gain *w = &q->by_gain[i];
        if (value_at(q, w->gain, bound) <= best)
            return best;
        best = larger(best, value_at(q, w->gain, space_distance(q->source->space, w->id, y)));
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
    /* summary_make has checked that every list can be read. */
    if (neighbours_get(q->source->index, y, &near, NULL) == TEM_OK)
        for (uint32_t i = 0; i < near.count; i++)
            best = larger(best, value_at(q, q->by_id[near.list[i].id].gain, near.list[i].distance));
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
