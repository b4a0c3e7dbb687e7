/* api_certificate.c - tem_certificate of tem.h and tem_account.h. */
#include "audit/verify.h"
#include "core/reserved.h"
#include "core/status.h"

void tem_certificate_get_info(const tem_certificate *certificate, tem_certificate_info *info) {
    if (info == NULL)
        return;
    *info = (tem_certificate_info){0};
    if (certificate != NULL)
        certificate_get_info(certificate, info);
}

void tem_certificate_free(tem_certificate *certificate) {
    certificate_free(certificate);
}

int tem_certificate_is_for(const tem_certificate *certificate, const tem_model *model) {
    return certificate != NULL && model != NULL && certificate_is_for(certificate, model);
}

tem_status tem_certificate_verify(const tem_certificate *certificate,
                                  const tem_accountant *accountant, const tem_run *run,
                                  tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (certificate == NULL || accountant == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a certificate and an accountant are needed");
    return verify_certificate(certificate, accountant, run, error);
}

tem_status tem_certificate_save(const tem_certificate *certificate, const char *path,
                                const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (certificate == NULL || path == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a certificate and a path are needed");
    return certificate_add(certificate, path, run, error);
}

tem_status tem_certificate_load(const char *path, uint32_t i, tem_certificate **certificate,
                                tem_error *error) {
    if (path == NULL || certificate == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a path and a place for the certificate are needed");
    return certificate_load(path, i, certificate, error);
}

tem_status tem_certificate_find(const char *path, const tem_model *model,
                                const tem_calibration *wanted, tem_certificate **certificate,
                                tem_error *error) {
    if (is_for_newer(wanted, error))
        return TEM_ERR_ARGUMENT;
    if (path == NULL || model == NULL || wanted == NULL || certificate == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a path, a model, what is wanted and a place for it are needed");
    return certificate_find(path, model, wanted, certificate, error);
}
