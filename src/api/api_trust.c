/* api_trust.c - which models and certificates tem trusts: tem_model_trust, tem_model_accept,
 * tem_certificate_trust and the user's list, of tem.h.
 *
 * PRIVACY: the lists and bounds of a model decide what tem draws. Its matrix decides whether tem
 * can prove anything. A certificate decides which exponent tem uses. A file can claim anything
 * about these. So tem uses a model or certificate from a file only after somebody whom the user
 * trusts has made or verified it. Only this file decides that; the command and the Python package
 * ask it. */
#include "command/tem_command.h"
#include "core/reserved.h"
#include "trust/trusted.h"

#include "core/status.h"
#include "trust/trust_list.h"

#include <sodium.h>
#include <string.h>

static tem_status check_hash(const char *hash, tem_error *error) {
    if (hash != NULL && strlen(hash) == TRUST_HASH_DIGITS &&
        strspn(hash, "0123456789abcdef") == TRUST_HASH_DIGITS)
        return TEM_OK;
    return core_fail(error, TEM_ERR_ARGUMENT,
                     "the hash of a model or certificate has 64 digits, 0 to 9 and a to f");
}

/* ---- models ---- */

int tem_model_is_trusted(const tem_model *model) {
    return model != NULL && atomic_load_explicit(&model->trusted, memory_order_acquire);
}

/* TEM_OK if the computed hash is the one that the caller named or, if the caller named none, is in
 * the user's list; else TEM_ERR_UNTRUSTED. */
static tem_status accept(const tem_model *model, const char *computed, const char *named,
                         tem_error *error) {
    bool listed = false;
    if (named != NULL && strcmp(named, computed) != 0)
        return core_fail_at(error, TEM_ERR_UNTRUSTED, model->path, 0, 0,
                            "the hash of this model is not the one that was named");
    if (named != NULL)
        return TEM_OK;
    const tem_status status = trust_list_has(computed, &listed, error);
    if (status == TEM_OK && !listed)
        return core_fail_at(error, TEM_ERR_UNTRUSTED, model->path, 0, 0,
                            "you have neither built nor verified this model");
    return status;
}

tem_status tem_model_trust(tem_model *model, const char *hash, const tem_run *run,
                           tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    char computed[2 * CORE_HASH_BYTES + 1];
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    tem_status status = hash == NULL ? TEM_OK : check_hash(hash, error);
    if (status != TEM_OK || (hash == NULL && tem_model_is_trusted(model)))
        return status;
    if (model->file.data == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "only the model of a file has a hash to be named");
    /* PRIVACY: model->hash is the hash of the front that tem uses: its numbers and the hashes of
     * the sections. model_check compares these hashes with the bytes of the sections in memory. */
    status = model_check(model, run, error);
    sodium_bin2hex(computed, sizeof computed, model->hash, sizeof model->hash);
    if (status == TEM_OK)
        status = accept(model, computed, hash, error);
    if (status == TEM_OK)
        trusted_set(model, true);
    return status;
}

void tem_model_trust_own(tem_model *model) {
    if (model == NULL)
        return;
    trusted_set(model, true);
    atomic_store_explicit(&model->is_own, true, memory_order_release);
}

tem_status tem_model_accept(tem_model *model, const char *hash, int is_own, const tem_run *run,
                            tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model is needed");
    const tem_status status = hash == NULL && is_own ? model_check(model, run, error)
                                                     : tem_model_trust(model, hash, run, error);
    if (status == TEM_OK && is_own)
        tem_model_trust_own(model);
    return status;
}

tem_status tem_model_hash(const tem_model *model, const tem_run *run, char hash[65],
                          tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    unsigned char bytes[CORE_HASH_BYTES];
    if (model == NULL || hash == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a place for its hash are needed");
    const tem_status status = model_hash(model, run, bytes, error);
    if (status == TEM_OK)
        sodium_bin2hex(hash, 2 * sizeof bytes + 1, bytes, sizeof bytes);
    return status;
}

/* ---- certificates ---- */

/* Whether the model came with the program and `path` is its path with ".cert" added. */
static bool is_beside_own(const tem_model *model, const char *path) {
    if (model->path == NULL || !tem_model_is_trusted(model) ||
        !atomic_load_explicit(&model->is_own, memory_order_acquire))
        return false;
    const size_t length = strlen(model->path);
    return strncmp(path, model->path, length) == 0 && strcmp(path + length, ".cert") == 0;
}

tem_status tem_certificate_trust(const tem_certificate_info *certificate, const tem_model *model,
                                 const char *path, tem_error *error) {
    bool listed = false;
    if (certificate == NULL || model == NULL || path == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a certificate, its model and the file that it is from are needed");
    if (is_beside_own(model, path))
        return TEM_OK;
    tem_status status = check_hash(certificate->hash, error);
    if (status == TEM_OK)
        status = trust_list_has(certificate->hash, &listed, error);
    if (status == TEM_OK && !listed)
        return core_fail_at(error, TEM_ERR_CERTIFICATE, path, 0, 0,
                            "you have neither made nor verified this certificate");
    return status;
}

/* ---- the user's list ---- */

tem_status tem_trust_has(const char *hash, int *has, tem_error *error) {
    bool found = false;
    if (has == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the answer is needed");
    tem_status status = check_hash(hash, error);
    if (status == TEM_OK)
        status = trust_list_has(hash, &found, error);
    if (status == TEM_OK)
        *has = found;
    return status;
}

tem_status tem_trust_ready(tem_error *error) {
    return trust_list_ready(error);
}

int tem_trust_has_place(void) {
    return trust_list_has_place();
}

tem_status tem_trust_add(const char *hash, const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_hash(hash, error));
    return trust_list_set(hash, true, run, error);
}

tem_status tem_trust_remove(const char *hash, const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_hash(hash, error));
    return trust_list_set(hash, false, run, error);
}
