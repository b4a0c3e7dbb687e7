/* api_verify.c - tem_model_verify and tem_trust_verify of tem.h. */
#include "audit/accountant.h"
#include "certificate/certified_exponent.h"
#include "core/status.h"
#include "trust/trusted.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the model ---- */

/* What the hashes cannot tell: whether the content is what tem would have built. */
static tem_status verify_space(const tem_model *m, tem_error *error) {
    const space *s = &m->space;
    if (s->metric->has_vectors) {
        tem_status status = space_check_rows(s, error);
        return status == TEM_OK ? space_check_range(s, error) : status;
    }
    /* Building freezes no distance as UINT32_MAX, and the search for neighbours takes
     * that for "nothing found": its lists would not be full. */
    for (uint64_t i = 0; i < space_pair_count(s->count); i++)
        if (s->matrix[i] == UINT32_MAX)
            return core_fail(error, TEM_ERR_DAMAGED, "a distance of the matrix is infinite");
    uint64_t checked = 0;
    bool exhaustive = false;
    tem_status status = space_check_matrix(s, &checked, &exhaustive, error);
    if (status == TEM_OK && (checked != m->triangles || exhaustive != m->triangles_exhaustive))
        status = core_fail(error, TEM_ERR_DAMAGED, "the count of checked triangles is wrong");
    return status;
}

static tem_status verify_model(const tem_model *model, const tem_run *run, tem_error *error) {
    tem_status status = model_check(model, run, error);
    if (status == TEM_OK)
        status = vocab_verify(&model->words, error);
    if (status == TEM_OK)
        status = verify_space(model, error);
    if (status == TEM_OK)
        status = neighbours_verify(&model->index, &model->space, model->neighbours, run, error);
    /* Anything but "could not look" means that the model is not one tem would build. */
    if (status == TEM_ERR_RANGE || status == TEM_ERR_METRIC) {
        status = TEM_ERR_DAMAGED;
        if (error != NULL)
            error->status = status;
    }
    return status;
}

tem_status tem_model_verify(tem_model *model, const tem_run *run, tem_error *error) {
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    const tem_status status = verify_model(model, run, error);
    if (status == TEM_OK || status == TEM_ERR_DAMAGED)
        trusted_set(model, status == TEM_OK);
    return status;
}

/* ---- model, certificates and the user's list ---- */

/* A verification under way. An error of status TEM_OK stands for none. */
typedef struct verification {
    const tem_verification *how;
    const tem_run *run;
    tem_error failure; /* the first of what does not hold, or could not be looked at */
    tem_error unnoted; /* the first failure of the list */
} verification;

static void keep_first(tem_error *first, const tem_error *error) {
    if (first->status == TEM_OK)
        *first = *error;
}

/* Whether an error says that something is wrong, not that it could not be looked at. */
static bool is_verdict(tem_status status) {
    return status == TEM_ERR_DAMAGED || status == TEM_ERR_CERTIFICATE || status == TEM_ERR_METRIC ||
           status == TEM_ERR_UNSUPPORTED;
}

static void note(verification *v, const char *hash, bool trusted) {
    tem_error error;
    const tem_status status =
        trusted ? tem_trust_add(hash, v->run, &error) : tem_trust_remove(hash, v->run, &error);
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
        tem_certificate_get_info(certificate, &info);
    v->how->told(v->how->told_context, certificate != NULL ? &info : NULL, failure);
}

/* One for another model may hold there: its trust is not touched. */
static tem_status judge_certificate(verification *v, const tem_certificate *certificate,
                                    const tem_accountant *accountant) {
    char hash[65];
    tem_error error;
    const tem_status status = tem_certificate_verify(certificate, accountant, v->run, &error);
    certificate_write_hash(certificate, hash);
    if (status == TEM_OK ||
        (is_verdict(status) && tem_certificate_is_for(certificate, accountant->model)))
        note(v, hash, status == TEM_OK);
    tell(v, certificate, status == TEM_OK ? NULL : &error);
    return status;
}

/* One after the other, also beyond one that does not hold. */
static void judge_certificates(verification *v, const tem_accountant *accountant) {
    tem_status status = TEM_OK;
    for (uint32_t i = 0; status != TEM_ERR_CANCELLED; i++) {
        tem_certificate *certificate = NULL;
        tem_error error;
        if (tem_certificate_load(v->how->certificates, i, &certificate, &error) != TEM_OK)
            tell(v, NULL, &error);
        if (certificate == NULL)
            return;
        status = judge_certificate(v, certificate, accountant);
        tem_certificate_free(certificate);
    }
}

/* Whether something has the name of the file of certificates. */
static bool has_certificates(const verification *v) {
    return v->how->certificates != NULL &&
           (access(v->how->certificates, F_OK) == 0 || errno != ENOENT);
}

static void verify_certificates(verification *v, const tem_model *model) {
    tem_accountant *accountant = NULL;
    tem_error error;
    if (tem_accountant_create(model, NULL, v->run, &accountant, &error) == TEM_OK)
        judge_certificates(v, accountant);
    else
        tell(v, NULL, &error);
    tem_accountant_free(accountant);
}

/* PRIVACY: what was proved on a model that does not hold is proved on nothing. Damaged certificates
 * cannot be loaded, hence not be used; the others are looked for beyond them. */
static void distrust_certificates(verification *v) {
    for (uint32_t i = 0; i < CERTIFICATES_MAX; i++) {
        tem_certificate *certificate = NULL;
        char hash[65];
        const tem_status status = tem_certificate_load(v->how->certificates, i, &certificate, NULL);
        if (certificate == NULL && status != TEM_ERR_DAMAGED)
            return;
        if (certificate == NULL)
            continue;
        certificate_write_hash(certificate, hash);
        note(v, hash, false);
        tem_certificate_free(certificate);
    }
}

/* Of a file whose sections do not match its front, both hashes may be somebody's idea of it. */
static void distrust_model(verification *v, const tem_model *model, const char *claimed) {
    char computed[65];
    if (claimed[0] != '\0')
        note(v, claimed, false);
    if (tem_model_hash(model, NULL, computed, NULL) == TEM_OK)
        note(v, computed, false);
}

static void verify_all(verification *v, tem_model *model) {
    tem_model_info info;
    tem_error error;
    tem_model_get_info(model, &info);
    const tem_status status = tem_model_verify(model, v->run, &error);
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

tem_status tem_trust_verify(tem_model *model, const tem_verification *how, const tem_run *run,
                            tem_error *error) {
    static const tem_verification defaults;
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    verification v = {.how = how == NULL ? &defaults : how, .run = run};
    verify_all(&v, model);
    if (v.how->unnoted != NULL)
        *v.how->unnoted = v.unnoted;
    if (v.failure.status != TEM_OK && error != NULL)
        *error = v.failure;
    return v.failure.status;
}
