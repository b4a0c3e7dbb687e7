/* certificate_match.c - makes certificates, and decides which model and request a certificate is
 * for. */
#include "certificate/certificate.h"

#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

/* ---- making, describing, freeing ---- */

static tem_status hand_out(const tem_certificate *c, tem_certificate **out, tem_error *error) {
    tem_certificate *made = core_alloc(1, sizeof *made);
    if (made == NULL)
        return core_fail_memory(error);
    const tem_status status = certificate_copy(c, made, error);
    if (status == TEM_OK)
        *out = made;
    else
        core_free(made);
    return status;
}

tem_status certificate_make(const tem_model *model, const tem_certificate *said,
                            tem_certificate **out, tem_error *error) {
    tem_certificate c = *said;
    const char *fault = certificate_fault(&c);
    if (fault != NULL)
        return core_fail(error, TEM_ERR_CERTIFICATE, "this would be no certificate: %s", fault);
    model_space_hash(model, c.space);
    return hand_out(&c, out, error);
}

void certificate_write_hash(const tem_certificate *c, char hash[65]) {
    unsigned char bytes[CORE_HASH_BYTES];
    certificate_hash(c, bytes);
    sodium_bin2hex(hash, 2 * sizeof bytes + 1, bytes, sizeof bytes);
}

const char *certificate_weights_name(tem_weights_kind kind) {
    static const char *const names[] = {[TEM_WEIGHTS_EQUAL] = "equal",
                                        [TEM_WEIGHTS_BALANCED] = "balanced",
                                        [TEM_WEIGHTS_TUNED] = "tuned",
                                        [TEM_WEIGHTS_OWN] = "own"};
    return kind >= TEM_WEIGHTS_EQUAL && kind <= TEM_WEIGHTS_OWN ? names[kind] : NULL;
}

void certificate_get_info(const tem_certificate *c, tem_certificate_info *info) {
    *info = (tem_certificate_info){.epsilon = c->epsilon,
                                   .beta = c->beta,
                                   .s_steps = c->s,
                                   .s = ldexp((double)c->s, -CERTIFICATE_S_BITS),
                                   .gamma_steps = c->gamma,
                                   .gamma = (double)c->gamma / TEM_DIST_ONE,
                                   .realised = c->realised,
                                   .weights = c->kind,
                                   .effect = c->effect,
                                   .plain = c->plain};
    memcpy(info->prior, c->prior, sizeof info->prior);
    sodium_bin2hex(info->space, sizeof info->space, c->space, sizeof c->space);
    certificate_write_hash(c, info->hash);
}

void certificate_free(tem_certificate *certificate) {
    if (certificate == NULL)
        return;
    certificate_clear(certificate);
    core_free(certificate);
}

/* ---- which model and options a certificate is for ---- */

static bool differs(double a, double b) {
    return !(a <= b && a >= b);
}

/* Whether the certificate was made for this gamma, which a user gave. */
static bool has_gamma(const tem_certificate *c, double gamma) {
    return c->beta <= 0 && !differs(ceil(gamma * TEM_DIST_ONE), (double)c->gamma);
}

bool certificate_is_for(const tem_certificate *c, const tem_model *model) {
    unsigned char hash[CORE_HASH_BYTES];
    model_space_hash(model, hash);
    return memcmp(hash, c->space, sizeof hash) == 0 &&
           (c->count == 0 || c->count == model->words.count);
}

static const char other_model[] =
    "the certificate is for another model: for other words, vectors, excluded words or another "
    "metric";

/* PRIVACY: the proof of a certificate is about its weights, and the weight of an excluded word is
 * 0. */
static bool gives_excluded_weight(const tem_certificate *c, const tem_model *model) {
    for (uint32_t i = 0; i < model->excluded_count && c->weights != NULL; i++)
        if (c->weights[model->excluded[i]] != 0)
            return true;
    return false;
}

tem_status certificate_check_model(const tem_certificate *c, const tem_model *model,
                                   tem_error *error) {
    if (!certificate_is_for(c, model))
        return core_fail(error, TEM_ERR_CERTIFICATE, "%s", other_model);
    return gives_excluded_weight(c, model)
               ? core_fail(error, TEM_ERR_CERTIFICATE,
                           "the certificate gives a weight to a word that the model excludes")
               : TEM_OK;
}

tem_status certificate_check_options(const tem_model *model, const tem_mechanism_options *o,
                                     tem_error *error) {
    const tem_certificate *c = o->certificate;
    if (o->weights != NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the weights are the certificate's: give none beside it");
    /* PRIVACY: the proof of a certificate holds for its own space, s and gamma and for its own
     * epsilon. The loss is not monotone in s, so the proof says nothing about values near them. */
    TRY(certificate_check_model(c, model, error));
    if (differs(o->epsilon, c->epsilon))
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the certificate is for epsilon %.17g and no other", c->epsilon);
    if ((is_given(o->beta) && differs(o->beta, c->beta)) ||
        (is_given(o->gamma) && !has_gamma(c, o->gamma)))
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the certificate is for another beta or gamma; give those it was made "
                         "with, or none");
    return TEM_OK;
}

/* ---- files ---- */

tem_status certificate_load(const char *path, uint32_t i, tem_certificate **certificate,
                            tem_error *error) {
    bool there = false;
    tem_certificate *made = core_alloc(1, sizeof *made);
    if (made == NULL)
        return core_fail_memory(error);
    const tem_status status = certificate_load_one(path, i, made, &there, error);
    if (status != TEM_OK || !there)
        core_free(made);
    if (status == TEM_OK)
        *certificate = there ? made : NULL;
    return status;
}

static tem_status check_wanted(const tem_calibration *w, tem_error *error) {
    if (!isfinite(w->epsilon) || w->epsilon <= 0)
        return core_fail(error, TEM_ERR_RANGE, "epsilon must be a positive number");
    if (w->weights != 0 && (w->weights < TEM_WEIGHTS_EQUAL || w->weights > TEM_WEIGHTS_TUNED))
        return core_fail(error, TEM_ERR_ARGUMENT, "weights are equal, balanced or tuned");
    return is_given(w->beta) && is_given(w->gamma)
               ? core_fail(error, TEM_ERR_ARGUMENT, "beta or gamma, not both: beta makes a gamma")
               : TEM_OK;
}

static bool answers(const tem_certificate *c, const tem_calibration *w) {
    if (differs(c->epsilon, w->epsilon) || (w->weights != 0 && w->weights != c->kind))
        return false;
    if (is_given(w->gamma))
        return has_gamma(c, w->gamma);
    return !differs(c->beta, is_given(w->beta) ? w->beta : TEM_BETA_DEFAULT);
}

/* The place of a kind where the request leaves it open: balanced weights before equal before tuned
 * ones. At equal success of the best guess equal weights expose single words least, but prove the
 * larger epsilon; tuned ones expose them most (docs/TUNING.md). */
static int place_of(tem_weights_kind kind) {
    return kind == TEM_WEIGHTS_BALANCED ? 1 : kind == TEM_WEIGHTS_EQUAL ? 2 : 3;
}

/* The certificate for this model that answers the request; of several, the kind with the first
 * place; NULL if there is none. *other receives whether a certificate for another
 * model answers the request. */
static const tem_certificate *pick(const tem_certificate *list, uint32_t count,
                                   const tem_model *model, const tem_calibration *w, bool *other) {
    const tem_certificate *best = NULL;
    *other = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!answers(&list[i], w))
            continue;
        if (!certificate_is_for(&list[i], model))
            *other = true;
        else if (best == NULL || place_of(list[i].kind) < place_of(best->kind))
            best = &list[i];
    }
    return best;
}

tem_status certificate_find(const char *path, const tem_model *model, const tem_calibration *wanted,
                            tem_certificate **certificate, tem_error *error) {
    tem_certificate *list = NULL;
    uint32_t count = 0;
    bool other = false;
    tem_error why;
    TRY(check_wanted(wanted, error));
    tem_status status = certificates_load(path, &list, &count, &why);
    if (status != TEM_OK && why.os_error != ENOENT) {
        if (error != NULL)
            *error = why;
        return status;
    }
    const tem_certificate *found = pick(list, count, model, wanted, &other);
    if (found != NULL)
        status = hand_out(found, certificate, error);
    else
        status =
            core_fail_at(error, TEM_ERR_CERTIFICATE, path, 0, 0, "%s",
                         other ? other_model : "no certificate for this epsilon and beta or gamma");
    certificates_free(list, count);
    return status;
}
