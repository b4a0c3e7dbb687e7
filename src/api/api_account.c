/* api_account.c - tem_accountant of tem.h. */
#include "audit/accountant.h"
#include "audit/prior.h"
#include "certificate/certified_exponent.h"
#include "core/given.h"
#include "core/memory.h"
#include "core/status.h"
#include "trust/trusted.h"
#include "tuning/certified_weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tem_status copy_weights(tem_accountant *a, const uint32_t *values, tem_error *error) {
    const uint32_t count = a->model->words.count;
    uint32_t positive = 0;
    for (uint32_t id = 0; id < count; id++)
        positive += values[id] > 0;
    if (positive == 0)
        return core_fail(error, TEM_ERR_RANGE, "at least one weight must be above 0");
    a->weights = core_alloc(count, sizeof *values);
    if (a->weights == NULL)
        return core_fail_memory(error);
    memcpy(a->weights, values, count * sizeof *values);
    return TEM_OK;
}

/* PRIVACY: that all triangles were checked is what a file says. They are checked again. */
static tem_status check_metric(const tem_model *model, bool *is_metric, tem_error *error) {
    uint64_t triangles = 0;
    *is_metric = true;
    return !model->space.metric->has_vectors
               ? space_check_matrix(&model->space, &triangles, is_metric, error)
               : TEM_OK;
}

tem_status tem_accountant_create(const tem_model *model, const uint32_t *values, const tem_run *run,
                                 tem_accountant **accountant, tem_error *error) {
    if (model == NULL || accountant == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model and a place for the accountant are needed");
    /* PRIVACY: what is proved of a model is proved of its lists, too. */
    tem_status status = trusted_or_refused(model, error);
    if (status != TEM_OK)
        return status;
    tem_accountant *a = core_alloc_zero(1, sizeof *a);
    if (a == NULL)
        return core_fail_memory(error);
    a->model = model;
    status = values == NULL ? TEM_OK : copy_weights(a, values, error);
    if (status == TEM_OK)
        status = check_metric(model, &a->is_metric, error);
    if (status == TEM_OK)
        status = profile_make(&model->space, a->weights, run, &a->profile, error);
    if (status != TEM_OK) {
        tem_accountant_free(a);
        return status;
    }
    *accountant = a;
    return TEM_OK;
}

void tem_accountant_free(tem_accountant *a) {
    if (a == NULL)
        return;
    profile_free(&a->profile);
    core_free(a->weights);
    core_free(a);
}

static bool same_weights(const uint32_t *a, const uint32_t *b, uint32_t count) {
    if (a == NULL || b == NULL)
        return a == b;
    return memcmp(a, b, count * sizeof *a) == 0;
}

tem_status accountant_check(const tem_accountant *a, const tem_mechanism *m, tem_error *error) {
    const tem_status status = mechanism_check_law(m, error);
    if (status != TEM_OK)
        return status;
    if (m->model != a->model || !same_weights(tem_mechanism_weights(m), a->weights, m->count))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the mechanism must have the accountant's model and weights");
    return TEM_OK;
}

account accountant_account(const tem_accountant *a) {
    return (account){&a->model->space, &a->model->index, &a->profile, a->weights};
}

static tem_audit audit_of(const tem_accountant *a, const realised_loss *r) {
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

static tem_status check_call(const tem_accountant *a, const tem_mechanism *m, const void *out,
                             tem_error *error) {
    if (a == NULL || m == NULL || out == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an accountant, a mechanism and a place for the result are needed");
    return accountant_check(a, m, error);
}

tem_status tem_accountant_audit(const tem_accountant *a, const tem_mechanism *m, const tem_run *run,
                                tem_audit *audit, tem_error *error) {
    tem_status status = check_call(a, m, audit, error);
    if (status != TEM_OK)
        return status;
    const account known = accountant_account(a);
    realised_loss found = {0};
    status = realised_find(&known, mechanism_exponential(m)->envelopes.exponent, INFINITY, run,
                           &found, error);
    if (status == TEM_OK)
        *audit = audit_of(a, &found);
    return status;
}

tem_status tem_accountant_losses(const tem_accountant *a, const tem_mechanism *m, uint32_t count,
                                 const tem_run *run, double *losses, tem_error *error) {
    tem_status status = check_call(a, m, losses, error);
    if (status == TEM_OK && count == 0)
        status = core_fail(error, TEM_ERR_ARGUMENT, "at least one range is needed");
    if (status != TEM_OK)
        return status;
    partition z = {0};
    const exponent e = mechanism_exponential(m)->envelopes.exponent;
    status = partition_make(&a->profile, a->weights, e, run, &z, error);
    if (status == TEM_OK)
        status = slopes_by_distance(&a->model->space, &z, count, run, losses, error);
    partition_free(&z);
    for (uint32_t range = 0; range <= count && status == TEM_OK; range++)
        if (losses[range] > 0)
            losses[range] += exponent_s_value(e.s);
    return status;
}

tem_status accountant_check_provable(const tem_accountant *a, tem_error *error) {
    if (a->weights != NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "calibration and verification need an accountant with equal weights");
    /* PRIVACY: eps* is what is lost only if the distances are a metric. */
    if (!a->is_metric)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "not all triangles of this matrix were checked, so nothing can be proved "
                         "of it: only a matrix of up to 400 words can be calibrated");
    return TEM_OK;
}

static tem_status check_calibration(const tem_accountant *a, const tem_calibration *wanted,
                                    tem_error *error) {
    if (is_given(wanted->beta) && is_given(wanted->gamma))
        return core_fail(error, TEM_ERR_ARGUMENT, "beta or gamma, not both: beta makes a gamma");
    if (wanted->beta < 0 || isnan(wanted->beta))
        return core_fail(error, TEM_ERR_RANGE, "beta must be between 0 and 1");
    return accountant_check_provable(a, error);
}

static tem_weights_kind kind_of(const tem_calibration *wanted) {
    return wanted->weights == 0 ? TEM_WEIGHTS_EQUAL : wanted->weights;
}

static tem_status check_weights(const tem_accountant *a, const tem_calibration *wanted,
                                tem_error *error) {
    const tem_weights_kind kind = kind_of(wanted);
    if (kind < TEM_WEIGHTS_EQUAL || kind > TEM_WEIGHTS_TUNED)
        return core_fail(error, TEM_ERR_ARGUMENT, "weights are equal, balanced or tuned");
    if (kind == TEM_WEIGHTS_TUNED && wanted->prior == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "tuned weights need a prior");
    if (wanted->prior != NULL && wanted->prior->model != a->model)
        return core_fail(error, TEM_ERR_ARGUMENT, "the prior must be of the same model");
    if (wanted->prior != NULL && (wanted->prior_name == NULL || wanted->prior_name[0] == '\0' ||
                                  strlen(wanted->prior_name) >= CERTIFICATE_PRIOR_BYTES ||
                                  !certificate_is_name(wanted->prior_name)))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the name of a prior has 1 to %d bytes, UTF-8 without control characters",
                         CERTIFICATE_PRIOR_BYTES - 1);
    return TEM_OK;
}

/* ---- effects ---- */

static tem_status find_effect(const tem_accountant *a, const tem_mechanism_options *options,
                              const tem_prior *prior, const tem_run *run, tem_effect *effect,
                              tem_error *error) {
    tem_mechanism *m = NULL;
    tem_summary summary;
    tem_status status = tem_mechanism_create(a->model, options, &m, error);
    if (status == TEM_OK)
        status = tem_accountant_summarise(a, m, prior, 1, run, &summary, error);
    if (status == TEM_OK)
        *effect = (tem_effect){.self = summary.self_median,
                               .support = summary.support_median,
                               .distance = summary.distance_mean,
                               .bayes = summary.bayes};
    tem_mechanism_free(m);
    return status;
}

/* What the certified and the paper's mechanism do. Weights have an accountant of their own. */
static tem_status find_effects(const tem_accountant *a, const tem_calibration *wanted,
                               const certified_weights *by, const tem_run *run, tem_certificate *c,
                               tem_error *error) {
    const tem_mechanism_options plain = {
        .epsilon = wanted->epsilon, .beta = wanted->beta, .gamma = wanted->gamma};
    const tem_mechanism_options certified = {.epsilon = wanted->epsilon, .certificate = c};
    const tem_accountant own = {a->model, by->values, by->profile, a->is_metric};
    tem_effect found = {0}, of_plain = {0};
    tem_status status =
        find_effect(by->values == NULL ? a : &own, &certified, wanted->prior, run, &found, error);
    if (status == TEM_OK)
        status = find_effect(a, &plain, wanted->prior, run, &of_plain, error);
    if (status == TEM_OK) {
        c->effect = found;
        c->plain = of_plain;
        snprintf(c->prior, sizeof c->prior, "%s", wanted->prior_name);
    }
    return status;
}

/* ---- calibration ---- */

/* Equal weights may be the best there is, whatever was sought: then the certificate has none. */
static tem_status make_certificate(const tem_accountant *a, const tem_calibration *wanted,
                                   double beta, const certified_weights *found, const tem_run *run,
                                   tem_certificate **certificate, tem_error *error) {
    tem_certificate said = {.epsilon = wanted->epsilon,
                            .beta = beta,
                            .s = found->exponent.s,
                            .gamma = found->exponent.gamma,
                            .realised = found->proof.most,
                            .kind = kind_of(wanted),
                            .count = found->values == NULL ? 0 : a->model->words.count,
                            .weights = found->values};
    model_space_hash(a->model, said.space);
    const tem_status status =
        wanted->prior == NULL ? TEM_OK : find_effects(a, wanted, found, run, &said, error);
    return status == TEM_OK ? certificate_make(a->model, &said, certificate, error) : status;
}

static weights_request request_of(const tem_calibration *wanted, double beta) {
    return (weights_request){.kind = kind_of(wanted),
                             .epsilon = wanted->epsilon,
                             .beta = beta,
                             .gamma = wanted->gamma,
                             .prior = kind_of(wanted) == TEM_WEIGHTS_TUNED ? wanted->prior->shares
                                                                           : NULL,
                             .iterations = wanted->steps,
                             .told = wanted->told,
                             .told_context = wanted->told_context};
}

tem_status tem_accountant_calibrate(const tem_accountant *a, const tem_calibration *wanted,
                                    const tem_run *run, tem_certificate **certificate,
                                    tem_error *error) {
    if (a == NULL || wanted == NULL || certificate == NULL)
        return core_fail(
            error, TEM_ERR_ARGUMENT,
            "an accountant, what is wanted and a place for the certificate are needed");
    tem_status status = check_calibration(a, wanted, error);
    if (status == TEM_OK)
        status = check_weights(a, wanted, error);
    if (status != TEM_OK)
        return status;
    const double beta = is_given(wanted->beta)    ? wanted->beta
                        : is_given(wanted->gamma) ? 0
                                                  : TEM_BETA_DEFAULT;
    const account known = accountant_account(a);
    certified_weights found = {0};
    if (kind_of(wanted) == TEM_WEIGHTS_EQUAL) {
        status = realised_calibrate(&known, wanted->epsilon, beta, wanted->gamma, run,
                                    &found.exponent, &found.proof, error);
    } else {
        const weights_request request = request_of(wanted, beta);
        status = certified_weights_find(&known, &request, run, &found, error);
    }
    if (status == TEM_OK)
        status = make_certificate(a, wanted, beta, &found, run, certificate, error);
    if (status == TEM_OK && wanted->audit != NULL)
        *wanted->audit = audit_of(a, &found.proof);
    certified_weights_free(&found);
    return status;
}
