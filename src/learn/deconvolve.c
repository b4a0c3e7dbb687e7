/* deconvolve.c - expectation maximization for the shares of input words.
 *
 * A group has released words with the shares c. Let q be a guess at the shares of its input words.
 * The word behind a released y is w with probability q(w) P(y | w) / pred(y), pred = transpose(P)
 * q. The mean of this over the released words is the next guess:
 *
 *     q(w) <- q(w) sum over y of P(y | w) c(y) / pred(y)
 *
 * Each step raises the likelihood, sum of c ln pred (Dempster, Laird, Rubin 1977). In the limit q
 * fits the noise of the draws, so the number of steps is what keeps q near the expected shares. */
#include "learn/deconvolve.h"

#include "core/memory.h"
#include "core/status.h"
#include "learn/group_counts.h"
#include "learn/posterior.h"
#include "learn/step_progress.h"

#include <math.h>
#include <string.h>

enum { STEPS_DEFAULT = 100, FALLS_MAX = 3 };

typedef struct deconvolution {
    const tem_channel *channel;
    uint32_t groups;
    group_counts counts;
    group_counts held_out; /* of no group if there are none */
    double *q;             /* a row per input, `groups` numbers to a row */
    double *factors;       /* by which the step multiplies q */
    double *predicted;     /* a row per output: pred, then c / pred */
    double *best;          /* the q of the best step; NULL without held-out words */
} deconvolution;

static size_t input_numbers(const deconvolution *s) {
    return ((size_t)s->channel->count + 1) * s->groups;
}

static size_t output_numbers(const deconvolution *s) {
    return (size_t)s->channel->count * s->groups;
}

static void deconvolution_free(deconvolution *s) {
    core_free(s->best);
    core_free(s->predicted);
    core_free(s->factors);
    core_free(s->q);
    group_counts_free(&s->held_out);
    group_counts_free(&s->counts);
}

static tem_status deconvolution_init(deconvolution *s, const double *counts, const double *held_out,
                                     tem_error *error) {
    tem_status status = group_counts_init(&s->counts, s->channel, counts, s->groups, error);
    if (status == TEM_OK && held_out != NULL)
        status = group_counts_init(&s->held_out, s->channel, held_out, s->groups, error);
    if (status != TEM_OK)
        return status;
    s->q = core_alloc(input_numbers(s), sizeof *s->q);
    s->factors = core_alloc(input_numbers(s), sizeof *s->factors);
    s->predicted = core_alloc(output_numbers(s), sizeof *s->predicted);
    s->best = held_out == NULL ? NULL : core_alloc(input_numbers(s), sizeof *s->best);
    if (s->q == NULL || s->factors == NULL || s->predicted == NULL ||
        (held_out != NULL && s->best == NULL))
        return core_fail_memory(error);
    return TEM_OK;
}

/* Sets q of each group to the expected shares. */
static tem_status start(deconvolution *s, const tem_expectation *expected, tem_error *error) {
    double *shares = s->factors; /* not in use yet */
    const tem_status status = expect_shares(s->channel->mechanism->model, expected, shares, error);
    for (uint32_t w = 0; status == TEM_OK && w <= s->channel->count; w++)
        for (uint32_t i = 0; i < s->groups; i++)
            s->q[(size_t)w * s->groups + i] = shares[w];
    return status;
}

/* Multiplies q by the factors. The sum of each column stays 1 but for rounding, which the division
 * takes out. */
static void apply_factors(deconvolution *s) {
    for (uint32_t i = 0; i < s->groups; i++) {
        double sum = 0;
        for (size_t k = i; k < input_numbers(s); k += s->groups)
            sum += s->q[k] *= s->factors[k];
        for (size_t k = i; k < input_numbers(s); k += s->groups)
            s->q[k] /= sum;
    }
}

/* One step of expectation maximization. `predicted` holds pred of q. */
static tem_status step(deconvolution *s, const tem_run *run, tem_error *error) {
    for (size_t k = 0; k < output_numbers(s); k++)
        s->predicted[k] = s->counts.shares[k] > 0 ? s->counts.shares[k] / s->predicted[k] : 0;
    const tem_status status =
        channel_backward(s->channel, s->predicted, s->groups, run, s->factors, error);
    if (status == TEM_OK)
        apply_factors(s);
    return status;
}

static tem_status predict(deconvolution *s, const tem_run *run, tem_error *error) {
    return channel_forward(s->channel, s->q, s->groups, run, s->predicted, error);
}

/* Makes exactly how->steps steps. */
static tem_status make_steps(deconvolution *s, const tem_run *run, tem_deconvolution *how,
                             tem_error *error) {
    tem_status status = predict(s, run, error);
    for (uint32_t k = 0; status == TEM_OK && k < how->steps; k++) {
        status = step(s, run, error);
        if (status == TEM_OK)
            status = predict(s, run, error);
    }
    if (status == TEM_OK)
        how->likelihood = group_counts_likelihood(&s->counts, s->channel, s->predicted);
    return status;
}

/* Makes at most how->steps steps, sets q to that of the step at which the held-out words are
 * likeliest, and *how to the number and the likelihood of this step. */
static tem_status find_best(deconvolution *s, const tem_run *run, tem_deconvolution *how,
                            tem_error *error) {
    const uint32_t steps = how->steps;
    double before = -INFINITY;
    how->likelihood = -INFINITY;
    for (uint32_t k = 0, falls = 0;; k++) {
        TRY(predict(s, run, error));
        const double now = group_counts_likelihood(&s->held_out, s->channel, s->predicted);
        if (now > how->likelihood) {
            how->steps = k;
            how->likelihood = now;
            memcpy(s->best, s->q, input_numbers(s) * sizeof *s->q);
        }
        falls = now < before ? falls + 1 : 0;
        before = now;
        if (falls == FALLS_MAX || k == steps)
            break;
        TRY(step(s, run, error));
    }
    memcpy(s->q, s->best, input_numbers(s) * sizeof *s->q);
    return TEM_OK;
}

tem_status deconvolve(const tem_channel *channel, const tem_expectation *expected,
                      const double *counts, const double *held_out, uint32_t groups,
                      const tem_run *run, tem_deconvolution *how, double *shares,
                      tem_error *error) {
    deconvolution s = {.channel = channel, .groups = groups};
    tem_deconvolution result = {.steps = how->steps == 0 ? STEPS_DEFAULT : how->steps};
    step_progress progress;
    step_progress_init(&progress, run, "deconvolving", 2 * (uint64_t)result.steps + 1);
    tem_status status = deconvolution_init(&s, counts, held_out, error);
    if (status == TEM_OK)
        status = start(&s, expected, error);
    if (status == TEM_OK)
        status = held_out == NULL ? make_steps(&s, &progress.run, &result, error)
                                  : find_best(&s, &progress.run, &result, error);
    if (status == TEM_OK) {
        memcpy(shares, s.q, input_numbers(&s) * sizeof *shares);
        *how = result;
    }
    deconvolution_free(&s);
    return status;
}
