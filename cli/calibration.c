/* calibration.c - makes certificates. */
#include "calibration.h"

#include "default_model.h"
#include "outputs.h"
#include "talk.h"
#include "tem_command.h"
#include "trust.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool has_certificates(void) {
    return access(default_model_certificates(), F_OK) == 0 || errno != ENOENT;
}

/* Whether every certificate of the file can be read. Prints why not. */
static bool are_whole(const char *path) {
    tem_certificate *certificate = NULL;
    tem_error error;
    for (uint32_t i = 0; tem_certificate_load(path, i, &certificate, &error) == TEM_OK; i++) {
        if (certificate == NULL)
            return true;
        tem_certificate_free(certificate);
    }
    talk_error(&error);
    return false;
}

bool calibration_ready(void) {
    const char *path = default_model_certificates();
    if (!outputs_check(path, true)) {
        fprintf(stderr,
                "tem: tem writes certificates beside the model: copy the model into a directory of "
                "yours, and use the copy:\n"
                "  cp %s my.tem\n"
                "  tem verify -m my.tem\n"
                "  tem calibrate -m my.tem --epsilon E\n"
                "  tem privatize -m my.tem --epsilon E --calibrated ...\n",
                default_model_path());
        return false;
    }
    if (!trust_ready())
        return false;
    return !has_certificates() || are_whole(path);
}

tem_status calibration_mechanism(const tem_certificate *certificate, const tem_model *model,
                                 tem_mechanism **mechanism, tem_error *error) {
    tem_certificate_info info;
    tem_certificate_get_info(certificate, &info);
    const tem_mechanism_options options = {.epsilon = info.epsilon, .certificate = certificate};
    return tem_mechanism_create(model, &options, mechanism, error);
}

tem_certificate *calibration_find(const tem_model *model, const tem_calibration *wanted) {
    tem_certificate *certificate = NULL;
    tem_certificate_info info;
    if (tem_certificate_find(default_model_certificates(), model, wanted, &certificate, NULL) !=
        TEM_OK)
        return NULL;
    tem_certificate_get_info(certificate, &info);
    if (trust_has(&info, model) && wanted->prior_name != NULL &&
        strcmp(info.prior, wanted->prior_name) == 0)
        return certificate;
    tem_certificate_free(certificate);
    return NULL;
}

tem_status calibration_summarise(const tem_model *model, const tem_accountant *equal,
                                 const tem_certificate *certificate, const tem_prior *prior,
                                 const tem_run *run, tem_summary *summary, tem_error *error) {
    tem_mechanism *mechanism = NULL;
    tem_certificate_info info;
    tem_certificate_get_info(certificate, &info);
    tem_status status = calibration_mechanism(certificate, model, &mechanism, error);
    if (status == TEM_OK)
        status = info.weights == TEM_WEIGHTS_EQUAL
                     ? tem_accountant_summarise(equal, mechanism, prior, 1, run, summary, error)
                     : tem_summarise_once(mechanism, prior, run, summary, error);
    tem_mechanism_free(mechanism);
    return status;
}

/* ---- the search ---- */

typedef struct watch {
    double end; /* on talk_clock */
    bool quiet, said;
} watch;

static void say_enough(watch *w, const char *why) {
    talk_end_progress();
    talk_note(w->quiet, "tem: %s: the search ends, and tem proves its best result%s", why,
              talk_interrupted() ? "; Ctrl-C again ends the command" : "");
    w->said = true;
}

static int told(void *context, const tem_search_state *state) {
    watch *w = context;
    if (isfinite(state->best))
        talk_say_beside_bar("  distance %.4f, s %.4f, loss %.4f", state->best, state->s,
                            state->loss);
    const bool late = talk_clock() > w->end;
    if ((late || talk_interrupted()) && !w->said)
        say_enough(w, late ? "time is up" : "interrupted");
    return w->said;
}

/* A search that was ended early must not replace the result of a complete one. *better receives the
 * existing certificate if it is as good or better, after printing so; else NULL. */
static tem_status find_better(const tem_model *model, const tem_accountant *accountant,
                              const tem_calibration *wanted, const tem_certificate *found,
                              const tem_run *run, bool quiet, tem_certificate **better,
                              tem_error *error) {
    tem_certificate *known = calibration_find(model, wanted);
    tem_certificate_info info;
    tem_summary before;
    *better = NULL;
    if (known == NULL)
        return TEM_OK;
    tem_certificate_get_info(found, &info);
    const tem_status status =
        calibration_summarise(model, accountant, known, wanted->prior, run, &before, error);
    talk_end_progress();
    if (status == TEM_OK && before.distance_mean <= info.effect.distance) {
        talk_note(quiet,
                  "tem: the existing certificate stays: its expected distance is %.4f, that of the "
                  "new one %.4f",
                  before.distance_mean, info.effect.distance);
        *better = known;
        return TEM_OK;
    }
    tem_certificate_free(known);
    return status;
}

/* Writes the certificate and trusts it. Returns false on failure, after printing why. */
static bool keep(const tem_certificate *certificate, const tem_run *run) {
    tem_certificate_info info;
    tem_error error;
    if (tem_certificate_save(certificate, default_model_certificates(), run, &error) != TEM_OK) {
        talk_error(&error);
        return false;
    }
    tem_certificate_get_info(certificate, &info);
    return trust_add(&info, run);
}

/* Proves the loss of an existing certificate again. A certificate whose weights are not equal needs
 * an accountant with these weights. */
static tem_status audit_again(const tem_model *model, const tem_accountant *equal,
                              const tem_certificate *certificate, const tem_run *run,
                              tem_audit *audit, tem_error *error) {
    tem_mechanism *mechanism = NULL;
    tem_accountant *own = NULL;
    tem_status status = calibration_mechanism(certificate, model, &mechanism, error);
    if (status == TEM_OK && tem_mechanism_weights(mechanism) != NULL)
        status = tem_accountant_create(model, tem_mechanism_weights(mechanism), run, &own, error);
    if (status == TEM_OK)
        status = tem_accountant_audit(own != NULL ? own : equal, mechanism, run, audit, error);
    tem_accountant_free(own);
    tem_mechanism_free(mechanism);
    return status;
}

tem_certificate *calibration_make(const tem_model *model, const tem_accountant *accountant,
                                  const tem_calibration *wanted, double minutes, bool patient,
                                  const tem_run *run, bool quiet, tem_audit *audit) {
    watch w = {.end = talk_clock() + 60 * minutes, .quiet = quiet};
    tem_calibration search = *wanted;
    tem_certificate *certificate = NULL, *better = NULL;
    tem_error error;
    search.told = told;
    search.told_context = &w;
    if (patient && wanted->weights != TEM_WEIGHTS_EQUAL)
        talk_be_patient();
    tem_status status =
        tem_accountant_calibrate(accountant, &search, run, &certificate, audit, &error);
    talk_end_progress();
    if (status == TEM_OK && w.said)
        status = find_better(model, accountant, wanted, certificate, run, quiet, &better, &error);
    if (better != NULL && audit != NULL)
        status = audit_again(model, accountant, better, run, audit, &error);
    talk_end_progress();
    if (status != TEM_OK) {
        talk_error(&error);
        tem_certificate_free(certificate);
        tem_certificate_free(better);
        return NULL;
    }
    if (better == NULL && keep(certificate, run))
        return certificate;
    tem_certificate_free(certificate);
    return better;
}
