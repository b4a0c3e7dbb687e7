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

/* ---- a start ---- */

/* How near the certificate is as a start; INFINITY: it is none. Below 2: weights change a lot with
 * epsilon. */
static double start_distance(const tem_certificate *certificate, const tem_calibration *wanted) {
    tem_certificate_info info;
    tem_certificate_get_info(certificate, &info);
    if (strcmp(info.weights, "tuned") != 0 || strcmp(info.prior, wanted->prior_name) != 0)
        return INFINITY;
    const double ratio = fabs(log(info.epsilon / wanted->epsilon));
    return ratio < log(1.3) ? ratio : INFINITY;
}

/* Whether the certificate is one for this model: only then do its weights belong to its words. */
static bool is_for(const tem_certificate *certificate, const tem_model *model) {
    tem_certificate_info info;
    tem_certificate_get_info(certificate, &info);
    const tem_mechanism_options options = {.epsilon = info.epsilon, .certificate = certificate};
    tem_mechanism *mechanism = NULL;
    const bool works = tem_mechanism_create(model, &options, &mechanism, NULL) == TEM_OK;
    tem_mechanism_free(mechanism);
    return works;
}

static tem_certificate *find_start(const tem_model *model, const tem_calibration *wanted) {
    tem_certificate *best = NULL;
    if (wanted->weights != TEM_WEIGHTS_TUNED || !has_certificates())
        return NULL;
    for (uint32_t i = 0;; i++) {
        tem_certificate *c = NULL;
        if (tem_certificate_load(default_model_certificates(), i, &c, NULL) != TEM_OK || c == NULL)
            return best;
        const double distance = start_distance(c, wanted);
        if (isfinite(distance) && (best == NULL || distance < start_distance(best, wanted)) &&
            is_for(c, model)) {
            tem_certificate_free(best);
            best = c;
        } else {
            tem_certificate_free(c);
        }
    }
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

tem_certificate *calibration_make(const tem_accountant *accountant, const tem_model *model,
                                  const tem_calibration *wanted, double minutes, const tem_run *run,
                                  bool quiet) {
    watch w = {.end = talk_clock() + 60 * minutes, .quiet = quiet};
    tem_calibration search = *wanted;
    tem_certificate *start = find_start(model, wanted), *certificate = NULL;
    tem_certificate_info info;
    tem_error error;
    search.start = start;
    search.told = told;
    search.told_context = &w;
    if (wanted->weights != TEM_WEIGHTS_EQUAL)
        talk_be_patient();
    tem_status status = tem_accountant_calibrate(accountant, &search, run, &certificate, &error);
    tem_certificate_free(start);
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
