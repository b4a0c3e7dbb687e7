/* estimate.c - shares of sets of words in original texts, from released text, with intervals.
 *
 * Let pi be the expected shares of the inputs, p = transpose(P) pi those of the outputs, and g the
 * members of a set. For a group of N released words with shares c the estimate is
 *
 *     theta = sum of pi g + sum over y of h(y) (c(y) - p(y)).
 *
 * Assume that the input words of the group are N independent draws from shares q that nobody knows,
 * of which only q <= ratio * pi is known. Let r = P h - g, less its mean under pi. For one word,
 * estimate less truth is h(Y) - g(W) + constant. Its mean is sum of q r. Its variance is, by the
 * law of total variance, E Var(h(Y) | W) + Var r(W), and E Var(h(Y) | W) <= Var h(Y). So
 *
 *     bias:       at most the largest |sum of q r| over all such q (worst_case.h)
 *     deviation:  at most sqrt((Var h(Y) + the largest sum of q r^2) / N)
 *
 * For Var h(Y) tem takes the larger of the variances under c and under p: in a small group c may
 * have none of the rare words for which h is large.
 *
 * A set of rare words is in a small group once, or not at all, and the normal distribution says
 * nothing about that. So the interval is wider by one word: the range of the members divided by N.
 *
 * If not q but the shares in the text itself are below ratio * pi, the same interval holds, and the
 * term with r^2 is not needed. That assumption alone would be wrong for nearly every small group: a
 * rare word that occurs once in 200 words is more frequent there than any ratio allows.
 *
 * Each step of least_squares.h lowers r and raises h. tem takes, for each group and set, the step
 * with the least half-width, bias + 1.96 deviation, where the variance is the one under p. So the
 * choice depends on public numbers and on N alone. It is the same for all draws, and the interval
 * of the chosen step is as good as if the step had been fixed before. */
#include "learn/estimate.h"

#include "core/memory.h"
#include "core/status.h"
#include "learn/group_counts.h"
#include "learn/least_squares.h"
#include "learn/posterior.h"
#include "learn/step_progress.h"
#include "learn/worst_case.h"

#include <math.h>
#include <string.h>

enum { STEPS_DEFAULT = 30, RATIO_DEFAULT = 4 };

static const double QUANTILE = 1.96; /* of the normal distribution, 95 % within */
static const double TELLS = 0.9;     /* of the width without released text */

/* One set, and what the current step says about it. */
typedef struct set_state {
    double least, largest; /* of its members */
    double mean;           /* sum of pi g */
    double bias;
    double square; /* the largest sum of q r^2 */
    double noise;  /* the variance of h under p */
} set_state;

/* One set in one group. */
typedef struct pick {
    double first; /* width before the first step, that of no released text */
    double least; /* the least half-width expected so far */
    tem_estimate estimate;
} pick;

typedef struct estimation {
    const tem_channel *channel;
    group_counts counts;
    double *expected;
    worst_case worst;
    least_squares solver;
    uint32_t set_count;
    set_state *sets;
    pick *picks; /* group by group */
} estimation;

static void estimation_free(estimation *s) {
    core_free(s->picks);
    core_free(s->sets);
    least_squares_free(&s->solver);
    worst_case_free(&s->worst);
    core_free(s->expected);
    group_counts_free(&s->counts);
}

static tem_status check_whole(const double *counts, size_t numbers, tem_error *error) {
    for (size_t k = 0; k < numbers; k++)
        if (counts[k] != floor(counts[k]))
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "a count of released words is not a whole number");
    return TEM_OK;
}

static void describe_sets(estimation *s, const double *members) {
    for (uint32_t i = 0; i < s->set_count; i++) {
        set_state *set = &s->sets[i];
        *set = (set_state){.least = members[i], .largest = members[i]};
        for (uint32_t w = 0; w <= s->channel->count; w++) {
            const double g = members[(size_t)w * s->set_count + i];
            set->least = fmin(set->least, g);
            set->largest = fmax(set->largest, g);
            set->mean += s->expected[w] * g;
        }
    }
}

static tem_status estimation_init(estimation *s, const tem_estimate_options *options,
                                  const double *counts, uint32_t groups, const double *members,
                                  const tem_run *run, tem_error *error) {
    const uint32_t inputs = s->channel->count + 1;
    const double ratio = options->ratio == 0 ? RATIO_DEFAULT : options->ratio;
    TRY(group_counts_init(&s->counts, s->channel, counts, groups, error));
    tem_status status = check_whole(counts, (size_t)s->channel->count * groups, error);
    if (status != TEM_OK)
        return status;
    s->expected = core_alloc(inputs, sizeof *s->expected);
    s->sets = core_alloc(s->set_count, sizeof *s->sets);
    s->picks = core_alloc_zero(s->set_count, groups * sizeof *s->picks);
    status =
        s->expected == NULL || s->sets == NULL || s->picks == NULL
            ? core_fail_memory(error)
            : expect_shares(s->channel->mechanism->model, &options->expected, s->expected, error);
    if (status == TEM_OK)
        status = worst_case_init(&s->worst, s->expected, inputs, ratio, error);
    if (status == TEM_OK)
        status = least_squares_init(&s->solver, s->channel, s->expected, members, s->set_count, run,
                                    error);
    if (status == TEM_OK)
        describe_sets(s, members);
    return status;
}

static double clip(double x, const set_state *set) {
    return fmin(fmax(x, set->least), set->largest);
}

/* By how much one word of a group of N can change the mean of the members. */
static double one_word(const set_state *set, double words) {
    return (set->largest - set->least) / words;
}

/* The estimate for a group and set i by the current h. */
static tem_estimate make_estimate(const estimation *s, uint32_t group, uint32_t i) {
    const set_state *set = &s->sets[i];
    double difference = 0, mean = 0, square = 0;
    for (uint32_t y = 0; y < s->channel->count; y++) {
        const double h = s->solver.h[(size_t)y * s->set_count + i];
        const double c = s->counts.shares[(size_t)y * s->counts.groups + group];
        difference += h * (c - s->solver.predicted[y]);
        mean += c * h;
        square += c * h * h;
    }
    const double variance = fmax(square - mean * mean, set->noise);
    const double deviation = sqrt((variance + set->square) / s->counts.totals[group]);
    const double theta = set->mean + difference;
    const double half = set->bias + QUANTILE * deviation + one_word(set, s->counts.totals[group]);
    return (tem_estimate){.share = clip(theta, set),
                          .low = clip(theta - half, set),
                          .high = clip(theta + half, set),
                          .bias = set->bias,
                          .deviation = deviation,
                          .expected = set->mean};
}

/* Takes the current step for group and set i if it is the best so far. Returns whether a later step
 * can be better: |h| rises with every step, so not if its noise alone is as wide as the best. */
static bool consider(estimation *s, uint32_t group, uint32_t i, bool is_first) {
    const set_state *set = &s->sets[i];
    pick *p = &s->picks[(size_t)group * s->set_count + i];
    const double words = s->counts.totals[group];
    const double half = set->bias + QUANTILE * sqrt((set->noise + set->square) / words);
    if (is_first || half < p->least) {
        p->least = half;
        p->estimate = make_estimate(s, group, i);
    }
    if (is_first)
        p->first = p->estimate.high - p->estimate.low;
    return QUANTILE * sqrt(set->noise / words) < p->least;
}

/* Considers the current step for all groups and sets. Returns whether a later step can be better
 * for any of them. */
static bool consider_all(estimation *s, bool is_first) {
    bool can_be_better = false;
    for (uint32_t i = 0; i < s->set_count; i++) {
        set_state *set = &s->sets[i];
        worst_case_find(&s->worst, s->solver.rest + i, s->set_count, &set->bias, &set->square);
        set->noise = least_squares_variance(&s->solver, i);
        for (uint32_t group = 0; group < s->counts.groups; group++)
            can_be_better |= consider(s, group, i, is_first);
    }
    return can_be_better;
}

static void hand_out(const estimation *s, tem_estimate *out) {
    for (size_t k = 0; k < (size_t)s->counts.groups * s->set_count; k++) {
        const pick *p = &s->picks[k];
        out[k] = p->estimate;
        out[k].tells = p->estimate.high - p->estimate.low < TELLS * p->first;
    }
}

tem_status estimate_shares(const tem_channel *channel, const tem_estimate_options *options,
                           const double *counts, uint32_t groups, const double *members,
                           uint32_t sets, const tem_run *run, tem_estimate *out, tem_error *error) {
    const uint32_t steps = options->steps == 0 ? STEPS_DEFAULT : options->steps;
    estimation s = {.channel = channel, .set_count = sets};
    step_progress progress;
    step_progress_init(&progress, run, "estimating", 2 * (uint64_t)steps + 2);
    tem_status status = estimation_init(&s, options, counts, groups, members, &progress.run, error);
    if (status == TEM_OK) {
        bool go_on = consider_all(&s, true);
        for (uint32_t k = 0; k < steps && go_on && status == TEM_OK; k++) {
            status = least_squares_step(&s.solver, &progress.run, error);
            go_on = status == TEM_OK && consider_all(&s, false);
        }
    }
    if (status == TEM_OK)
        hand_out(&s, out);
    estimation_free(&s);
    return status;
}
