/* trust.c - which models and certificates the command trusts. */
#include "trust.h"

#include "default_model.h"
#include "talk.h"
#include "tem_command.h"

#include <stdio.h>
#include <string.h>

/* ---- models ---- */

tem_status trust_model(tem_model *model, const char *hash, const tem_run *run, tem_error *error) {
    return tem_model_accept(model, hash, default_model_is_own(), run, error);
}

/* Either the list cannot be read (others can write it, or there is no place for it), which the
 * error then says, or the list does not have the model, and the error names the model. */
static void say_untrusted(const tem_error *error) {
    const char *path = default_model_path();
    const bool is_readable = strcmp(error->file, path) == 0;
    if (!is_readable)
        talk_error(error);
    if (is_readable && tem_trust_has_place())
        fprintf(stderr,
                "tem: %s: you have neither built nor verified this model; 'tem verify%s' checks "
                "it, and you trust it from then on\n",
                path, default_model_naming());
    else
        fprintf(stderr,
                "tem: %s: tem cannot note which models you trust: name the hash of this one with "
                "--model-hash HEX; 'tem verify%s' checks the model and prints its hash\n",
                path, default_model_naming());
}

tem_model *trust_open_model(const char *named, const char *hash, const tem_run *run) {
    tem_error error;
    tem_model *model = default_model_open(named);
    if (model == NULL)
        return NULL;
    const tem_status status = trust_model(model, hash, run, &error);
    if (status == TEM_OK)
        return model;
    talk_end_progress();
    if (status == TEM_ERR_UNTRUSTED && hash == NULL)
        say_untrusted(&error);
    else
        talk_error(&error);
    tem_model_free(model);
    return NULL;
}

bool trust_built(const tem_model *model, const char *path, const tem_run *run, bool quiet,
                 char unnoted_hash[65]) {
    char *hash = unnoted_hash;
    tem_error error;
    hash[0] = '\0';
    tem_status status = tem_model_hash(model, run, hash, &error);
    if (status == TEM_OK)
        status = tem_trust_add(hash, run, &error);
    talk_end_progress();
    if (status == TEM_OK) {
        unnoted_hash[0] = '\0';
        return true;
    }
    if (status == TEM_ERR_CANCELLED) {
        talk_error(&error);
        return false;
    }
    talk_note(quiet, "tem: %s%s%s", error.file, error.file[0] != '\0' ? ": " : "", error.message);
    talk_note(quiet,
              "tem: %s: tem could not note that you trust this model: use it with --model-hash %s",
              path, hash);
    return true;
}

/* ---- certificates ---- */

/* Asks the library. Prints an error if others can write the list. Only trust_require prints that
 * there is no place for a list. */
static tem_status ask(const tem_certificate_info *certificate, const tem_model *model,
                      tem_error *error) {
    const tem_status status =
        tem_certificate_trust(certificate, model, default_model_certificates(), error);
    if (status != TEM_OK && status != TEM_ERR_CERTIFICATE && error->file[0] != '\0')
        talk_error(error);
    return status;
}

bool trust_has(const tem_certificate_info *certificate, const tem_model *model) {
    tem_error error;
    return ask(certificate, model, &error) == TEM_OK;
}

bool trust_require(const tem_certificate_info *certificate, const tem_model *model) {
    tem_error error;
    const tem_status status = ask(certificate, model, &error);
    if (status == TEM_OK)
        return true;
    if (error.file[0] == '\0')
        talk_error(&error);
    else
        fprintf(
            stderr,
            "tem: %s: you have neither made nor verified this certificate; 'tem verify%s' checks "
            "it\n",
            default_model_certificates(), default_model_naming());
    return false;
}

bool trust_is_noted(tem_status status, const tem_error *error) {
    if (status == TEM_OK || (error->file[0] == '\0' && default_model_is_own()))
        return true;
    talk_error(error);
    return false;
}

bool trust_ready(void) {
    tem_error error;
    const tem_status status = tem_trust_ready(&error);
    return trust_is_noted(status, &error);
}

bool trust_add(const tem_certificate_info *certificate, const tem_run *run) {
    tem_error error;
    const tem_status status = tem_trust_add(certificate->hash, run, &error);
    return trust_is_noted(status, &error);
}
