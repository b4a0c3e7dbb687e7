/* certified_weights.c - integer weights, proposed by a search and admitted by a proof. */
#include "account/certified_weights.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>

/* The first trial is at the proposal's s; then each a thousandth below the one before. */
static const double descent = 0.999;

void certified_weights_free(certified_weights *c) {
    core_free(c->values);
    c->values = NULL;
}

/* The largest becomes 2^32 - 1. Words that would be rounded to nothing keep a weight of 1. */
static uint32_t *round_weights(const tuning_point *p, uint32_t count) {
    uint32_t *values = core_alloc(count, sizeof *values);
    float largest = -INFINITY;
    for (uint32_t i = 0; i < count; i++)
        largest = fmaxf(largest, p->log_weights[i]);
    for (uint32_t i = 0; values != NULL && i < count; i++) {
        const double scaled = exp((double)p->log_weights[i] - largest) * UINT32_MAX;
        values[i] = scaled < 1 ? 1 : (uint32_t)scaled;
    }
    return values;
}

static tem_status gamma_of(const tuning_goal *goal, double beta, uint32_t count, exponent *e,
                           tem_error *error) {
    return beta > 0 ? exponent_gamma_from_beta(beta, count, e->s, &e->gamma, error)
                    : exponent_gamma_given(goal->gamma, e->s, &e->gamma, error);
}

tem_status certified_weights_make(const account *equal, const tuning_goal *goal, double beta,
                                  const tuning_point *proposal, double floor, const tem_run *run,
                                  certified_weights *out, bool *found, tem_error *error) {
    const double limit = goal->epsilon * (1 - 0x1p-50);
    certified_weights made = {.values = round_weights(proposal, equal->space->count),
                              .distance = proposal->distance};
    profile weighted = {0};
    tem_status status = made.values == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK)
        status = profile_make(equal->space, made.values, run, &weighted, error);
    const account account_of_weights = {equal->space, equal->index, &weighted, made.values};
    *found = false;
    for (double s = proposal->s; status == TEM_OK && !*found && s >= floor * proposal->s;
         s *= descent) {
        made.exponent.s = (uint64_t)ldexp(s, EXPONENT_S_BITS);
        status = gamma_of(goal, beta, equal->space->count, &made.exponent, error);
        if (status == TEM_OK)
            status = realised_find(&account_of_weights, made.exponent, limit, run, &made.proof,
                                   error);
        *found = status == TEM_OK && made.proof.most <= limit;
    }
    profile_free(&weighted);
    if (status == TEM_OK && *found)
        *out = made;
    else
        certified_weights_free(&made);
    return status;
}
