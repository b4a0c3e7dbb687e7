/* trust.c - which certificates this user's programs believe. */
#include "trust.h"

#include "default_model.h"
#include "talk.h"

#include <stdio.h>

/* A list that others can write is told of; that there is no place for one, only by `require`. */
static bool is_listed(const tem_certificate_info *certificate, tem_error *error) {
    int has = 0;
    const tem_status status = tem_trust_has(certificate->hash, &has, error);
    if (status != TEM_OK && error->file[0] != '\0')
        talk_error(error);
    return status == TEM_OK && has;
}

bool trust_has(const tem_certificate_info *certificate) {
    tem_error error;
    return default_model_is_own() || is_listed(certificate, &error);
}

bool trust_require(const tem_certificate_info *certificate) {
    tem_error error = {.status = TEM_OK};
    if (default_model_is_own() || is_listed(certificate, &error))
        return true;
    if (error.status != TEM_OK && error.file[0] == '\0')
        talk_error(&error);
    else
        fprintf(stderr,
                "tem: %s: you have neither made nor verified this certificate; 'tem verify%s' checks "
                "it\n",
                default_model_certificates(), default_model_naming());
    return false;
}

/* Where there is no place for a list, the certificates that came with the program need none. */
static bool is_done(tem_status status, const tem_error *error) {
    if (status == TEM_OK || (error->file[0] == '\0' && default_model_is_own()))
        return true;
    talk_error(error);
    return false;
}

bool trust_ready(void) {
    tem_error error;
    const tem_status status = tem_trust_ready(&error);
    return is_done(status, &error);
}

bool trust_add(const tem_certificate_info *certificate) {
    tem_error error;
    const tem_status status = tem_trust_add(certificate->hash, &error);
    return is_done(status, &error);
}
