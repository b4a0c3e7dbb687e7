/* command_verify.c - tem verify: recompute all that a model claims. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "talk.h"

#include <stdio.h>

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
             "pairs of words, computed anew. Takes about as long as building it.\n");
        options_print_help(stdout, table);
        return EXIT_DONE;
    }
    return verify(&common);
}
