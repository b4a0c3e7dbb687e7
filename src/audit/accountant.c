/* accountant.c - the loss of a model's mechanisms, and their effects on words. */
#include "audit/accountant.h"

#include "audit/reachable.h"
#include "audit/summary.h"
#include "core/memory.h"
#include "core/status.h"
#include "trust/trusted.h"

#include <math.h>
#include <string.h>

static tem_status take_weights(tem_accountant *a, const uint32_t *values, tem_error *error) {
    const tem_status status = model_output_weights(a->model, values, &a->weights, error);
    uint32_t positive = 0;
    a->is_equal = true;
    for (uint32_t id = 0; status == TEM_OK && id < a->model->words.count; id++) {
        const uint32_t weight = a->weights == NULL ? 1 : a->weights[id];
        positive += weight > 0;
        a->is_equal &= weight == 1 || model_is_excluded(a->model, id);
    }
    return status != TEM_OK || positive > 0
               ? status
               : core_fail(error, TEM_ERR_RANGE, "at least one weight must be above 0");
}

/* PRIVACY: a model file may claim that all triangles of its matrix were checked. tem does not rely
 * on that and checks them again. */
static tem_status check_metric(const tem_model *model, bool *is_metric, tem_error *error) {
    uint64_t triangles = 0;
    *is_metric = true;
    return !model->space.metric->has_vectors
               ? space_check_matrix(&model->space, &triangles, is_metric, error)
               : TEM_OK;
}

tem_status accountant_create(const tem_model *model, const uint32_t *values, const tem_run *run,
                             tem_accountant **accountant, tem_error *error) {
    /* PRIVACY: every proof about a model also relies on its lists, so the model must be trusted. */
    TRY(trusted_or_refused(model, error));
    tem_accountant *a = core_alloc_zero(1, sizeof *a);
    if (a == NULL)
        return core_fail_memory(error);
    a->model = model;
    tem_status status = take_weights(a, values, error);
    if (status == TEM_OK)
        status = check_metric(model, &a->is_metric, error);
    if (status == TEM_OK)
        status = reachable_find(model, &a->reachable, &a->reachable_count, error);
    if (status == TEM_OK)
        status = profile_make(&model->space, a->weights, run, &a->profile, error);
    if (status != TEM_OK) {
        accountant_free(a);
        return status;
    }
    *accountant = a;
    return TEM_OK;
}

void accountant_free(tem_accountant *a) {
    if (a == NULL)
        return;
    profile_free(&a->profile);
    core_free(a->reachable);
    core_free(a->weights);
    core_free(a);
}

static bool same_weights(const uint32_t *a, const uint32_t *b, uint32_t count) {
    if (a == NULL || b == NULL)
        return a == b;
    return memcmp(a, b, count * sizeof *a) == 0;
}

tem_status accountant_check(const tem_accountant *a, const tem_mechanism *m, tem_error *error) {
    TRY(mechanism_check_exponential(m, error));
    if (m->model != a->model || !same_weights(mechanism_weights(m), a->weights, m->count))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the mechanism must have the accountant's model and weights");
    return TEM_OK;
}

loss_inputs accountant_inputs(const tem_accountant *a) {
    return (loss_inputs){&a->model->space, &a->model->index, &a->profile, a->weights};
}

tem_audit accountant_audit_of(const tem_accountant *a, const realised_loss *r) {
    const uint32_t count = a->model->words.count;
    const uint64_t pairs = (uint64_t)count * (count - 1) / 2;
    return (tem_audit){.realised = r->most,
                       .realised_least = r->least,
                       .worst_a = r->worst.a,
                       .worst_b = r->worst.b,
                       .worst_distance = r->worst.distance,
                       .local = r->local,
                       .is_metric = a->is_metric,
                       .pairs_examined = r->examined,
                       .pairs_pruned = pairs - r->examined};
}

tem_status accountant_audit(const tem_accountant *a, const tem_mechanism *m, const tem_run *run,
                            tem_audit *audit, tem_error *error) {
    TRY(accountant_check(a, m, error));
    const loss_inputs known = accountant_inputs(a);
    realised_loss found = {0};
    tem_status status =
        realised_find(&known, mechanism_form(m)->exponent, INFINITY, run, &found, error);
    if (status == TEM_OK)
        *audit = accountant_audit_of(a, &found);
    return status;
}

tem_status accountant_losses(const tem_accountant *a, const tem_mechanism *m, uint32_t count,
                             const tem_run *run, double *losses, tem_error *error) {
    TRY(accountant_check(a, m, error));
    partition z = {0};
    const exponent e = mechanism_form(m)->exponent;
    tem_status status = partition_make(&a->profile, a->weights, e, run, &z, error);
    if (status == TEM_OK)
        status = slopes_by_distance(&a->model->space, &z, count, run, losses, error);
    partition_free(&z);
    for (uint32_t range = 0; range <= count && status == TEM_OK; range++)
        if (losses[range] > 0)
            losses[range] += exponent_s_value(e.s);
    return status;
}

tem_status accountant_check_provable(const tem_accountant *a, tem_error *error) {
    if (!a->is_equal)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "calibration and verification need an accountant with equal weights");
    /* PRIVACY: eps* bounds the loss only if the distances are a metric. */
    if (!a->is_metric)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "not all triangles of this matrix were checked, so nothing can be proved "
                         "of it: only a matrix of up to 400 words can be calibrated");
    return TEM_OK;
}

/* ---- effects on words ---- */

exposure_group accountant_group(const tem_accountant *a, const uint32_t *words, uint32_t word_count,
                                double quantile) {
    const bool given = word_count > 0;
    return (exposure_group){.words = given ? words : a->reachable,
                            .count = given ? word_count : a->reachable_count,
                            .quantile = quantile > 0 ? quantile : 1};
}

/* known: the profile of summary_source. */
static summary_source source_of(const tem_mechanism *m, const profile *known,
                                const tem_prior *prior, const exposure_group *group) {
    const law_form *law = mechanism_form(m);
    return (summary_source){.space = &m->model->space,
                            .index = &m->model->index,
                            .exponent = &law->exponent,
                            .weights = law->weights,
                            .profile = known,
                            .reach = known != NULL ? known->reach : space_reach(&m->model->space),
                            .frequencies = prior->frequencies,
                            .group = *group};
}

static tem_status check_prior(const tem_prior *prior, const tem_model *model, tem_error *error) {
    return prior->model == model
               ? TEM_OK
               : core_fail(error, TEM_ERR_ARGUMENT, "the prior must be of the accountant's model");
}

/* summary_make for callers who do not want the effects on every word. */
static tem_status make_summary(const summary_source *source, bool with_bayes, const tem_run *run,
                               tem_summary *summary, tem_error *error) {
    word_law *laws = core_alloc(source->space->count, sizeof *laws);
    const tem_status status = laws == NULL
                                  ? core_fail_memory(error)
                                  : summary_make(source, with_bayes, run, laws, summary, error);
    core_free(laws);
    return status;
}

static tem_status check_both(const tem_accountant *a, const tem_mechanism *m,
                             const tem_prior *prior, tem_error *error) {
    TRY(accountant_check(a, m, error));
    return check_prior(prior, a->model, error);
}

tem_status accountant_summarise(const tem_accountant *a, const tem_mechanism *m,
                                const tem_prior *prior, const exposure_group *group,
                                bool with_bayes, const tem_run *run, tem_summary *summary,
                                tem_error *error) {
    const tem_status status = check_both(a, m, prior, error);
    const exposure_group all = accountant_group(a, NULL, 0, 1);
    if (status != TEM_OK)
        return status;
    const summary_source source = source_of(m, &a->profile, prior, group != NULL ? group : &all);
    return make_summary(&source, with_bayes, run, summary, error);
}

tem_status accountant_summarise_words(const tem_accountant *a, const tem_mechanism *m,
                                      const tem_prior *prior, const tem_run *run, word_law *laws,
                                      tem_summary *summary, tem_error *error) {
    const tem_status status = check_both(a, m, prior, error);
    const exposure_group all = accountant_group(a, NULL, 0, 1);
    if (status != TEM_OK)
        return status;
    const summary_source source = source_of(m, &a->profile, prior, &all);
    return summary_make(&source, true, run, laws, summary, error);
}

static tem_status summarise_by_profile(const tem_mechanism *m, const tem_prior *prior,
                                       const tem_run *run, tem_summary *summary, tem_error *error) {
    tem_accountant *a = NULL;
    tem_status status = accountant_create(m->model, mechanism_weights(m), run, &a, error);
    if (status == TEM_OK)
        status = accountant_summarise(a, m, prior, NULL, true, run, summary, error);
    accountant_free(a);
    return status;
}

static tem_status summarise_by_pairs(const tem_mechanism *m, const tem_prior *prior,
                                     const tem_run *run, tem_summary *summary, tem_error *error) {
    exposure_group all = {.quantile = 1};
    uint32_t *reachable = NULL;
    tem_status status = trusted_or_refused(m->model, error);
    if (status == TEM_OK)
        status = check_prior(prior, m->model, error);
    if (status == TEM_OK)
        status = reachable_find(m->model, &reachable, &all.count, error);
    if (status == TEM_OK) {
        all.words = reachable;
        const summary_source source = source_of(m, NULL, prior, &all);
        status = make_summary(&source, true, run, summary, error);
    }
    core_free(reachable);
    return status;
}

tem_status accountant_summarise_once(const tem_mechanism *m, const tem_prior *prior,
                                     const tem_run *run, tem_summary *summary, tem_error *error) {
    TRY(mechanism_check_exponential(m, error));
    return weights_are_equal(mechanism_form(m)->weights)
               ? summarise_by_profile(m, prior, run, summary, error)
               : summarise_by_pairs(m, prior, run, summary, error);
}

/* Finds the `max` most exposed words by the laws of all words, and then computes these words
 * exactly, since users see them by name. */
static tem_status take_most(const summary_source *q, tem_target by, const word_law *laws,
                            tem_exposure *most, uint32_t max, tem_error *error) {
    word_law *exact = core_alloc(q->space->count, sizeof *exact);
    uint32_t *words = core_alloc(max, sizeof *words);
    exposure_rank *ranks = core_alloc(q->group.count, sizeof *ranks);
    const bool made = exact != NULL && words != NULL && ranks != NULL;
    if (made)
        exposure_order(laws, &q->group, by, ranks);
    for (uint32_t i = 0; i < max && made; i++) {
        words[i] = ranks[i].word;
        exact[words[i]] = summary_law_exactly(q, words[i]);
    }
    const exposure_group chosen = {words, max, 1};
    if (made)
        exposure_order(exact, &chosen, by, ranks);
    for (uint32_t i = 0; i < max && made; i++)
        most[i] = (tem_exposure){.word = ranks[i].word,
                                 .self = exact[ranks[i].word].self,
                                 .support = exp(exact[ranks[i].word].entropy)};
    core_free(ranks);
    core_free(words);
    core_free(exact);
    return made ? TEM_OK : core_fail_memory(error);
}

tem_status accountant_take_exposed(const tem_accountant *a, const tem_mechanism *m,
                                   const tem_prior *prior, const word_law *laws,
                                   const uint32_t *words, uint32_t word_count, tem_exposure *most,
                                   uint32_t max, uint32_t *count, tem_error *error) {
    const exposure_group group = accountant_group(a, words, word_count, 1);
    const summary_source source = source_of(m, &a->profile, prior, &group);
    const uint32_t found = max < group.count ? max : group.count;
    const tem_status status =
        found > 0 ? take_most(&source, TEM_TARGET_SELF, laws, most, found, error) : TEM_OK;
    if (status == TEM_OK)
        *count = found;
    return status;
}

tem_status accountant_exposed(const tem_accountant *a, const tem_mechanism *m, tem_target by,
                              const uint32_t *words, uint32_t word_count, const tem_run *run,
                              tem_exposure *most, uint32_t max, uint32_t *count, tem_error *error) {
    const exposure_group group = accountant_group(a, words, word_count, 1);
    const uint32_t found = max < group.count ? max : group.count;
    tem_prior *even = NULL;
    word_law *laws = NULL;
    tem_status status = accountant_check(a, m, error);
    if (status == TEM_OK)
        status = prior_create_zipf(a->model, 0, &even, error);
    if (status == TEM_OK && (laws = core_alloc(a->model->words.count, sizeof *laws)) == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK) {
        const summary_source source = source_of(m, &a->profile, even, &group);
        status = summary_laws(&source, run, laws, error);
        if (status == TEM_OK && found > 0)
            status = take_most(&source, by, laws, most, found, error);
    }
    core_free(laws);
    prior_free(even);
    if (status == TEM_OK)
        *count = found;
    return status;
}
