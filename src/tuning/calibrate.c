/* calibrate.c - the certificate for an epsilon: its exponent, its weights and their effects. */
#include "tuning/calibrate.h"

#include "core/number.h"
#include "core/status.h"
#include "mech/model_mechanism.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the request ---- */

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
    tem_status status = mechanism_create(a->model, options, &m, error);
    if (status == TEM_OK)
        status = accountant_summarise(a, m, prior, NULL, true, run, &summary, error);
    if (status == TEM_OK)
        *effect = (tem_effect){.self = summary.self_median,
                               .support = summary.support_median,
                               .distance = summary.distance_mean,
                               .bayes = summary.bayes};
    mechanism_free(m);
    return status;
}

/* Finds the effects of the certified mechanism and of the paper's. If the certificate has weights,
 * its mechanism needs an accountant with these weights. */
static tem_status find_effects(const tem_accountant *a, const tem_calibration *wanted,
                               const certified_weights *by, const tem_run *run, tem_certificate *c,
                               tem_error *error) {
    const tem_mechanism_options plain = {
        .epsilon = wanted->epsilon, .beta = wanted->beta, .gamma = wanted->gamma};
    const tem_mechanism_options certified = {.epsilon = wanted->epsilon, .certificate = c};
    tem_accountant own = *a;
    own.weights = by->values;
    own.profile = by->profile;
    own.is_equal = false;
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

/* Makes the certificate. Equal weights may be the best, whatever kind the caller asked for: then
 * the certificate has no weights. */
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
    TRY(wanted->prior == NULL ? TEM_OK : find_effects(a, wanted, found, run, &said, error));
    return certificate_make(a->model, &said, certificate, error);
}

static weights_request request_of(const tem_calibration *wanted, double beta) {
    return (weights_request){
        .kind = kind_of(wanted),
        .epsilon = wanted->epsilon,
        .beta = beta,
        .gamma = wanted->gamma,
        .prior = kind_of(wanted) == TEM_WEIGHTS_TUNED ? wanted->prior->frequencies : NULL,
        .iterations = wanted->steps,
        .told = wanted->told,
        .told_context = wanted->told_context};
}

tem_status calibrate(const tem_accountant *a, const tem_calibration *wanted, const tem_run *run,
                     tem_certificate **certificate, tem_audit *audit, tem_error *error) {
    TRY(check_calibration(a, wanted, error));
    tem_status status = check_weights(a, wanted, error);
    if (status != TEM_OK)
        return status;
    const double beta = is_given(wanted->beta)    ? wanted->beta
                        : is_given(wanted->gamma) ? 0
                                                  : TEM_BETA_DEFAULT;
    const loss_inputs known = accountant_inputs(a);
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
    if (status == TEM_OK && audit != NULL)
        *audit = accountant_audit_of(a, &found.proof);
    certified_weights_free(&found);
    return status;
}
