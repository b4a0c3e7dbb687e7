/* report.c - what a run did, as JSON. */
#include "report.h"

#include "effects.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A number, or null for infinity, which JSON does not have. */
static json_t *number_or_null(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

/* Pieces that went out as they were, by a policy that the user named. */
static uint64_t released_unseen(const tem_job *job, const tem_counts *counts) {
    return (job->text.oov == TEM_OOV_KEEP_UNSAFE ? counts->unknown : 0) +
           (job->text.punctuation == TEM_PUNCTUATION_KEEP ? counts->punctuation : 0);
}

static void set(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

/* What the ledger says, if there is one. */
static void set_ledger(json_t *report, const tem_job *job, const tem_balance *balance) {
    if (job->ledger == NULL)
        return;
    set(report, "ledger", json_string(job->ledger));
    set(report, "by", job->by != NULL ? json_string(job->by) : json_null());
    set(report, "people",
        job->by != NULL ? json_integer((json_int_t)balance->people) : json_null());
    set(report, "spent_before", json_real(balance->spent_before));
    set(report, "budget", job->budget > 0 ? json_real(job->budget) : json_null());
    set(report, "left", number_or_null(balance->left));
}

static json_t *make_report(const tem_mechanism *mechanism, const tem_model *model,
                           const tem_job *job, const tem_counts *counts,
                           const tem_balance *balance) {
    tem_mechanism_info info_of_mechanism;
    const tem_mechanism_info *info = &info_of_mechanism;
    tem_mechanism_get_info(mechanism, &info_of_mechanism);
    const bool has_exponent = info->s_steps > 0;
    const char *why_not_private = tem_job_why_not_private(mechanism, job);
    const double words = (double)counts->words;
    tem_model_info model_info;
    tem_certificate_info certificate;
    char now[32];
    const time_t seconds = time(NULL);
    struct tm parts;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
    tem_model_get_info(model, &model_info);
    const bool certified = tem_mechanism_get_certificate(mechanism, &certificate) != 0;

    json_t *report = json_object();
    set(report, "time", json_string(now));
    set(report, "mechanism", json_string(info->properties->name));
    set(report, "private", json_boolean(why_not_private == NULL));
    set(report, "why_not_private",
        why_not_private != NULL ? json_string(why_not_private) : json_null());
    set(report, "released_unseen", json_integer((json_int_t)released_unseen(job, counts)));
    set(report, "dry_run", json_boolean(job->dry_run));
    set(report, "epsilon", json_real(info->epsilon));
    set(report, "s", has_exponent ? json_real(info->s) : json_null());
    set(report, "gamma", has_exponent ? json_real(info->gamma) : json_null());
    set(report, "beta", info->beta > 0 ? json_real(info->beta) : json_null());
    set(report, "epsilon_gamma", number_or_null(info->epsilon_gamma));
    set(report, "weights", json_string(info->weights));
    set(report, "words", json_integer((json_int_t)counts->words));
    set(report, "unknown", json_integer((json_int_t)counts->unknown));
    set(report, "documents", json_integer((json_int_t)counts->documents));
    set(report, "oov",
        json_string(tem_oov_name(job->text.oov != 0 ? job->text.oov : TEM_OOV_UNIFORM)));
    set(report, "punctuation",
        json_string(tem_punctuation_name(job->text.punctuation != 0 ? job->text.punctuation
                                                                    : TEM_PUNCTUATION_DROP)));
    set(report, "missing",
        json_string(tem_missing_name(job->missing != 0 ? job->missing : TEM_MISSING_EMPTY)));
    set(report, "keep_lines", json_boolean(job->text.keep_lines));
    set(report, "spent", json_real(words * info->epsilon));
    set(report, "spent_worst",
        why_not_private == NULL ? json_real(words * info->epsilon_gamma) : json_null());
    set(report, "model", json_string(model_info.hash));
    set(report, "certificate", certified ? json_string(certificate.hash) : json_null());
    set(report, "effects", certified ? effects_as_json(&certificate) : json_null());
    set_ledger(report, job, balance);
    return report;
}

int report_write(const char *path, const tem_mechanism *mechanism, const tem_model *model,
                 const tem_job *job, const tem_counts *counts, const tem_balance *balance) {
    json_t *report = make_report(mechanism, model, job, counts, balance);
    char *text = json_dumps(report, JSON_INDENT(1));
    json_decref(report);
    if (text == NULL) {
        fprintf(stderr, "tem: %s: no memory for the report\n", path);
        return EXIT_FAILED;
    }
    const size_t length = strlen(text);
    text[length] = '\n'; /* in place of the NUL, which nobody needs any more */
    tem_error error;
    /* PRIVACY: it depends on the text, and is for the owner of the text. */
    const tem_status status =
        tem_file_write(path, text, length + 1, TEM_OVERWRITE, TEM_READERS_OWNER, &error);
    free(text);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}
