/* command_verify.c - tem verify: recompute all that a model claims. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "talk.h"
#include "trust.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Recomputes one certificate, and believes it from then on. */
static int verify_certificate(const tem_certificate *certificate, const tem_accountant *accountant,
                              const tem_run *run, bool quiet) {
    const char *path = default_model_certificates();
    tem_certificate_info info;
    tem_error error;
    tem_certificate_get_info(certificate, &info);
    if (tem_certificate_verify(certificate, accountant, run, &error) != TEM_OK) {
        if (error.file[0] == '\0')
            snprintf(error.file, sizeof error.file, "%.180s: epsilon %s, %s weights", path,
                     talk_number(info.epsilon), info.weights);
        return talk_error(&error);
    }
    talk_end_progress();
    talk_note(quiet,
              "%s: verified: epsilon %s, %s weights, s = %.6f, gamma = %.4f: realised at most %.9g",
              path, talk_number(info.epsilon), info.weights, info.s, info.gamma,
              tem_round_up(info.realised, 9));
    return trust_add(&info) ? EXIT_DONE : EXIT_FAILED;
}

/* One after the other, also beyond one that fails. */
static int verify_each(const tem_accountant *accountant, const tem_run *run, bool quiet) {
    int status = EXIT_DONE;
    for (uint32_t i = 0;; i++) {
        tem_certificate *certificate = NULL;
        tem_error error;
        if (tem_certificate_load(default_model_certificates(), i, &certificate, &error) != TEM_OK)
            return talk_error(&error);
        if (certificate == NULL)
            return status;
        if (verify_certificate(certificate, accountant, run, quiet) != EXIT_DONE)
            status = EXIT_FAILED;
        tem_certificate_free(certificate);
    }
}

/* The certificates beside the model, if there are any. */
static int verify_certificates(const tem_model *model, const tem_run *run, bool quiet) {
    tem_accountant *accountant = NULL;
    tem_error error;
    if (access(default_model_certificates(), F_OK) != 0 && errno == ENOENT)
        return EXIT_DONE;
    if (tem_accountant_create(model, NULL, run, &accountant, &error) != TEM_OK)
        return talk_error(&error);
    const int status = verify_each(accountant, run, quiet);
    tem_accountant_free(accountant);
    return status;
}

static int verify(const common_options *common) {
    tem_model *model = default_model_open(common->model);
    if (model == NULL)
        return EXIT_FAILED;
    const tem_run run = talk_run((unsigned)common->threads, common->quiet);
    const double start = talk_clock();
    tem_error error;
    tem_model_info info;
    int status = EXIT_DONE;
    tem_model_get_info(model, &info);
    if (tem_model_verify(model, &run, &error) != TEM_OK) {
        if (error.file[0] == '\0')
            snprintf(error.file, sizeof error.file, "%.255s", default_model_path());
        status = talk_error(&error);
    } else {
        talk_note(common->quiet, "%s: verified: hashes, %s words, %s distances, in %.1f s",
                  default_model_path(), talk_count(info.words),
                  talk_count((uint64_t)info.words * (info.words - (uint64_t)1) / 2),
                  talk_clock() - start);
        status = verify_certificates(model, &run, common->quiet);
    }
    tem_model_free(model);
    return status;
}

int command_verify(int argc, char *const *argv) {
    common_options common = {0};
    const option_spec table[] = {
        MODEL_OPTION(common),
        COMMON_OPTIONS(common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, NULL, 0, &operands, message))
        return talk_usage("verify", "%s; a model is named with -m MODEL", message);
    if (common.help) {
        puts("usage: tem verify [OPTIONS]\n"
             "\n"
             "Checks a model: every hash, every word, and every list and bound against all\n"
             "pairs of words, computed anew. Takes about as long as building it.\n"
             "Certificates beside it, in MODEL.cert, are computed anew as well; those that hold\n"
             "are believed, for you, from then on.\n");
        options_print_help(stdout, table);
        return EXIT_DONE;
    }
    return verify(&common);
}
