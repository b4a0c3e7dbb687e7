/* calibration.c - making certificates. */
#include "calibration.h"

#include "default_model.h"
#include "outputs.h"
#include "talk.h"
#include "trust.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool has_certificates(void) {
    return access(default_model_certificates(), F_OK) == 0 || errno != ENOENT;
}

bool calibration_ready(void) {
    const char *path = default_model_certificates();
    tem_certificate *first = NULL;
    tem_error error;
    if (!outputs_check(path, true)) {
        fputs("tem: link or copy the model into a folder of yours, and name it with -m\n", stderr);
        return false;
    }
    if (!trust_ready())
        return false;
    if (has_certificates() && tem_certificate_load(path, 0, &first, &error) != TEM_OK) {
        talk_error(&error);
        return false;
    }
    tem_certificate_free(first);
    return true;
}

bool calibration_is_for(const tem_certificate_info *info, const tem_model *model) {
    tem_calibration wanted = {
        .epsilon = info->epsilon, .beta = info->beta, .gamma = info->beta > 0 ? 0 : info->gamma};
    tem_certificate *found = NULL;
    tem_certificate_info other;
    if (tem_weights_parse(info->weights, &wanted.weights, NULL) != TEM_OK ||
        tem_certificate_find(default_model_certificates(), model, &wanted, &found, NULL) != TEM_OK)
        return false;
    tem_certificate_get_info(found, &other);
    tem_certificate_free(found);
    return strcmp(other.hash, info->hash) == 0;
}

/* ---- the search ---- */

typedef struct watch {
    double end; /* on talk_clock */
    bool quiet, said;
} watch;

static void say_enough(watch *w, const char *why) {
    talk_end_progress();
    talk_note(w->quiet, "tem: %s: the search ends, and the best it has found is proved%s", why,
              talk_interrupted() ? "; once more ends the command" : "");
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

tem_certificate *calibration_make(const tem_accountant *accountant, const tem_calibration *wanted,
                                  double minutes, const tem_run *run, bool quiet) {
    watch w = {.end = talk_clock() + 60 * minutes, .quiet = quiet};
    tem_calibration search = *wanted;
    tem_certificate *certificate = NULL;
    tem_certificate_info info;
    tem_error error;
    search.told = told;
    search.told_context = &w;
    if (wanted->weights != TEM_WEIGHTS_EQUAL)
        talk_be_patient();
    tem_status status = tem_accountant_calibrate(accountant, &search, run, &certificate, &error);
    if (status == TEM_OK)
        status = tem_certificate_save(certificate, default_model_certificates(), &error);
    talk_end_progress();
    if (status != TEM_OK) {
        talk_error(&error);
        tem_certificate_free(certificate);
        return NULL;
    }
    tem_certificate_get_info(certificate, &info);
    if (trust_add(&info))
        return certificate;
    tem_certificate_free(certificate);
    return NULL;
}
