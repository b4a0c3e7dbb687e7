/* command_verify.c - tem verify: recomputes a model and its certificates, and adds them to the
 * user's list of trusted hashes, or removes them. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "language_show.h"
#include "talk.h"
#include "tem_account.h"
#include "trust.h"
#include "wrap.h"

#include <stdio.h>

/* What the callback needs to print results. */
typedef struct verifying {
    tem_model_info model;
    tem_order_info order;
    double start;
    bool quiet, model_holds;
} verifying;

static void tell_model(verifying *v, const tem_error *failure) {
    if (failure != NULL) {
        talk_error(failure);
        return;
    }
    v->model_holds = true;
    talk_note(v->quiet, "%s: verified: hashes, %s words, %s distances, in %.1f s",
              default_model_path(), talk_count(v->model.words),
              talk_count((uint64_t)v->model.words * (v->model.words - (uint64_t)1) / 2),
              talk_clock() - v->start);
    if (v->order.outputs > 0)
        talk_note(v->quiet,
                  "%s: the order around each word has each of %s outputs once, which is all that "
                  "the proof of rank needs; the vectors that say which are near are not in the "
                  "file, so tem does not recompute the order",
                  default_model_path(), talk_count(v->order.outputs));
}

static void tell_certificate(const verifying *v, const tem_certificate_info *info,
                             const tem_error *failure) {
    const char *path = default_model_certificates();
    if (failure == NULL) {
        talk_note(
            v->quiet,
            "%s: verified: epsilon %s, %s weights, s = %.6f, gamma = %.4f: realized at most %.9g",
            path, talk_number(info->epsilon), tem_weights_name(info->weights), info->s, info->gamma,
            tem_round_up(info->realised, 9));
        return;
    }
    tem_error error = *failure;
    if (error.file[0] == '\0')
        snprintf(error.file, sizeof error.file, "%.180s: epsilon %s, %s weights", path,
                 talk_number(info->epsilon), tem_weights_name(info->weights));
    talk_error(&error);
}

static void told(void *context, const tem_certificate_info *certificate, const tem_error *failure) {
    verifying *v = context;
    talk_end_progress();
    if (certificate == NULL)
        tell_model(v, failure);
    else
        tell_certificate(v, certificate, failure);
}

/* Prints whether the user trusts the model and its certificates now. */
static void say_what_is_trusted(const verifying *v, bool wrong) {
    const char *path = default_model_path();
    if (v->model_holds)
        talk_note(v->quiet, "%s: you trust this model from now on; its hash is %s", path,
                  v->model.hash);
    else if (wrong && default_model_is_own())
        fprintf(stderr,
                "tem: %s: this model came with tem, and tem uses it as long as the file exists: "
                "install tem again\n",
                path);
    else if (wrong)
        fprintf(stderr, "tem: %s: you trust neither this model nor its certificates any more\n",
                path);
}

/* The list could not be changed. A model that passed can still be named by its hash. */
static void say_unnoted(const verifying *v) {
    if (v->model_holds)
        fprintf(stderr,
                "tem: %s: the model passed, but tem could not note that you trust it: use it with "
                "--model-hash %s\n",
                default_model_path(), v->model.hash);
}

static int verify(const common_options *common) {
    tem_model *model = default_model_open(common->model);
    if (model == NULL)
        return EXIT_FAILED;
    const tem_run run = talk_run((unsigned)common->threads, common->quiet);
    verifying v = {.start = talk_clock(), .quiet = common->quiet};
    tem_error error, unnoted = {.status = TEM_OK};
    const tem_verification how = {
        .certificates = default_model_certificates(), .told = told, .told_context = &v};
    tem_model_get_info(model, &v.model);
    tem_model_get_order(model, &v.order);
    const tem_status status = tem_trust_verify(model, &how, &run, &unnoted, &error);
    tem_model_free(model);
    talk_end_progress();
    if (!trust_is_noted(unnoted.status, &unnoted)) {
        say_unnoted(&v);
        return EXIT_FAILED;
    }
    say_what_is_trusted(&v, status == TEM_ERR_DAMAGED);
    return status == TEM_OK ? EXIT_DONE : EXIT_FAILED;
}

int command_verify(int argc, char *const *argv) {
    common_options common = {0};
    const option_spec table[] = {
        MODEL_OPTION(common),
        COMMON_OPTIONS(common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    const char *language = NULL;
    if (!options_parse(argc, argv, table, &language, 1, &operands, message))
        return talk_usage("verify", "%s (a model is named with -m MODEL)", message);
    if (common.help) {
        wrap("usage: tem verify [OPTIONS]\n"
             "       tem verify LM.temlm [OPTIONS]\n"
             "\n"
             "Checks every hash and every word of a model, and compares every list and bound with\n"
             "all pairs of words, computed anew. This takes about as long as building the model.\n"
             "Then recomputes the certificates in MODEL.cert: about 3 s of CPU time for each\n"
             "certificate of the default model.\n"
             "If the model passes, you trust it from then on, and other commands use it; the same\n"
             "holds for each certificate. If a certificate fails, you no longer trust it. If the\n"
             "model fails, you no longer trust the model or any of its certificates.\n"
             "\n"
             "Of a language model, LM.temlm, tem checks every hash and every table. Only what is\n"
             "fluent depends on where it comes from, and no guarantee: you may trust any public\n"
             "text that you like to read.\n");
        options_print_help(stdout, table);
        return EXIT_DONE;
    }
    if (operands > 0 && !language_show_is_meant(language))
        return talk_usage(
            "verify", "'%s' is no language model, NAME.temlm; a model is named with -m", language);
    if (operands > 0)
        return language_show_verify(language, common.model, (unsigned)common.threads, common.quiet);
    return verify(&common);
}
