/* verify.c - recomputing a model and its certificates, and updating the user's list of trusted
 * hashes. */
#include "audit/verify.h"

#include "core/status.h"
#include "trust/trust_list.h"
#include "trust/trusted.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the model ---- */

tem_status verify_model(tem_model *model, const tem_run *run, tem_error *error) {
    const tem_status status = model_verify(model, run, error);
    if (status == TEM_OK || status == TEM_ERR_DAMAGED)
        trusted_set(model, status == TEM_OK);
    return status;
}

/* ---- a certificate ---- */

/* PRIVACY: the new proof decides, not the claim of the certificate. */
static tem_status compare_proof(const tem_certificate *c, const realised_loss *found,
                                tem_error *error) {
    if (found->least > c->epsilon || found->least > c->realised)
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the certificate does not hold: computed anew, the loss is at least "
                         "%.9g, above the %.9g that it claims",
                         found->least, c->realised);
    if (!(found->most <= c->realised) || !certificate_leaves_room(found->most, c->epsilon))
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the certificate could not be proved anew: all that is known is a loss of "
                         "at most %.9g, and it claims %.9g",
                         found->most, c->realised);
    return TEM_OK;
}

/* A certificate that names a beta must have the gamma of that beta: a free choice of gamma would
 * decide the largest loss between any two words. One step more or less is allowed, since the
 * logarithm of another machine may round differently. */
static tem_status check_gamma(const tem_certificate *c, uint32_t count, tem_error *error) {
    tem_dist gamma = 0;
    if (c->beta <= 0)
        return TEM_OK;
    const tem_status status = exponent_gamma_from_beta(c->beta, count, c->s, &gamma, error);
    if (status == TEM_OK && (c->gamma > gamma + (uint64_t)1 || gamma > c->gamma + (uint64_t)1))
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the gamma of the certificate is not the one that its beta makes");
    return status;
}

tem_status verify_certificate(const tem_certificate *c, const tem_accountant *a, const tem_run *run,
                              tem_error *error) {
    TRY(certificate_check_model(c, a->model, error));
    TRY(accountant_check_provable(a, error));
    tem_status status = check_gamma(c, a->model->words.count, error);
    if (status != TEM_OK)
        return status;
    loss_inputs known = accountant_inputs(a);
    profile weighted = {0};
    if (c->weights != NULL) {
        status = profile_make(known.space, c->weights, run, &weighted, error);
        known.profile = &weighted;
        known.weights = c->weights;
    }
    const exponent e = {.s = c->s, .gamma = c->gamma};
    realised_loss found;
    if (status == TEM_OK)
        status = realised_find(&known, e, INFINITY, run, &found, error);
    profile_free(&weighted);
    return status == TEM_OK ? compare_proof(c, &found, error) : status;
}

/* ---- model, certificates and the user's list ---- */

/* A running verification. In both error fields the status TEM_OK means no error. */
typedef struct verification {
    const tem_verification *how;
    const tem_run *run;
    tem_error failure; /* the first thing that does not hold, or could not be examined */
    tem_error unnoted; /* the first failure to change the user's list */
} verification;

static void keep_first(tem_error *first, const tem_error *error) {
    if (first->status == TEM_OK)
        *first = *error;
}

/* Whether an error means that the model or the certificate does not hold. Other errors mean that
 * tem could not examine it. */
static bool is_verdict(tem_status status) {
    return status == TEM_ERR_DAMAGED || status == TEM_ERR_CERTIFICATE || status == TEM_ERR_METRIC ||
           status == TEM_ERR_UNSUPPORTED;
}

static void note(verification *v, const char *hash, bool trusted) {
    tem_error error;
    const tem_status status = trust_list_set(hash, trusted, v->run, &error);
    if (status != TEM_OK)
        keep_first(&v->unnoted, &error);
}

static void tell(verification *v, const tem_certificate *certificate, const tem_error *failure) {
    tem_certificate_info info;
    if (failure != NULL)
        keep_first(&v->failure, failure);
    if (v->how->told == NULL)
        return;
    if (certificate != NULL)
        certificate_get_info(certificate, &info);
    v->how->told(v->how->told_context, certificate != NULL ? &info : NULL, failure);
}

/* Verifies one certificate, and notes and reports the result. A certificate for another model may
 * hold for that model, so its trust stays as it is. */
static tem_status judge_certificate(verification *v, const tem_certificate *certificate,
                                    const tem_accountant *accountant) {
    char hash[65];
    tem_error error;
    const tem_status status = verify_certificate(certificate, accountant, v->run, &error);
    certificate_write_hash(certificate, hash);
    if (status == TEM_OK ||
        (is_verdict(status) && certificate_is_for(certificate, accountant->model)))
        note(v, hash, status == TEM_OK);
    tell(v, certificate, status == TEM_OK ? NULL : &error);
    return status;
}

/* Verifies all certificates, also those after one that does not hold. */
static void judge_certificates(verification *v, const tem_accountant *accountant) {
    tem_status status = TEM_OK;
    for (uint32_t i = 0; status != TEM_ERR_CANCELLED; i++) {
        tem_certificate *certificate = NULL;
        tem_error error;
        if (certificate_load(v->how->certificates, i, &certificate, &error) != TEM_OK)
            tell(v, NULL, &error);
        if (certificate == NULL)
            return;
        status = judge_certificate(v, certificate, accountant);
        certificate_free(certificate);
    }
}

/* Whether anything exists under the name of the file of certificates. */
static bool has_certificates(const verification *v) {
    return v->how->certificates != NULL &&
           (access(v->how->certificates, F_OK) == 0 || errno != ENOENT);
}

static void verify_certificates(verification *v, const tem_model *model) {
    tem_accountant *accountant = NULL;
    tem_error error;
    if (accountant_create(model, NULL, v->run, &accountant, &error) == TEM_OK)
        judge_certificates(v, accountant);
    else
        tell(v, NULL, &error);
    accountant_free(accountant);
}

/* PRIVACY: a proof about a model that does not hold proves nothing, so its certificates lose their
 * trust. Damaged certificates cannot be loaded and hence not be used; the loop goes on to the
 * certificates after them. */
static void distrust_certificates(verification *v) {
    for (uint32_t i = 0; i < CERTIFICATES_MAX; i++) {
        tem_certificate *certificate = NULL;
        char hash[65];
        const tem_status status = certificate_load(v->how->certificates, i, &certificate, NULL);
        if (certificate == NULL && status != TEM_ERR_DAMAGED)
            return;
        if (certificate == NULL)
            continue;
        certificate_write_hash(certificate, hash);
        note(v, hash, false);
        certificate_free(certificate);
    }
}

/* In a file whose sections do not match its header and table, the claimed and the computed hash
 * differ. Users may know the file by either of them, so both lose their trust. */
static void distrust_model(verification *v, const tem_model *model, const char *claimed) {
    unsigned char bytes[CORE_HASH_BYTES];
    char computed[65];
    if (claimed[0] != '\0')
        note(v, claimed, false);
    if (model_hash(model, NULL, bytes, NULL) != TEM_OK)
        return;
    sodium_bin2hex(computed, sizeof computed, bytes, sizeof bytes);
    note(v, computed, false);
}

static void judge_all(verification *v, tem_model *model) {
    tem_model_info info;
    tem_error error;
    model_get_info(model, &info);
    const tem_status status = verify_model(model, v->run, &error);
    if (status == TEM_OK) {
        if (info.hash[0] != '\0')
            note(v, info.hash, true);
        tell(v, NULL, NULL);
        if (has_certificates(v))
            verify_certificates(v, model);
        return;
    }
    if (is_verdict(status))
        distrust_model(v, model, info.hash);
    if (is_verdict(status) && has_certificates(v))
        distrust_certificates(v);
    if (error.file[0] == '\0' && model->path != NULL)
        snprintf(error.file, sizeof error.file, "%s", model->path);
    tell(v, NULL, &error);
}

tem_status verify_all(tem_model *model, const tem_verification *how, const tem_run *run,
                      tem_error *unnoted, tem_error *error) {
    static const tem_verification defaults;
    verification v = {.how = how == NULL ? &defaults : how, .run = run};
    judge_all(&v, model);
    if (unnoted != NULL)
        *unnoted = v.unnoted;
    if (v.failure.status != TEM_OK && error != NULL)
        *error = v.failure;
    return v.failure.status;
}
