/* command_verify.c - tem verify: recompute all that a model claims. */
#include "commands.h"
#include "default_model.h"
#include "options.h"
#include "talk.h"

#include <stdio.h>

static int verify(const char *named, unsigned threads, bool quiet) {
    tem_model *model = default_model_open(named);
    if (model == NULL)
        return EXIT_FAILED;
    const tem_run run = talk_run(threads, quiet);
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
        talk_note(quiet, "%s: verified: hashes, %s words, %s distances, in %.1f s",
                  default_model_path(), talk_count(info.words),
                  talk_count((uint64_t)info.words * (info.words - (uint64_t)1) / 2),
                  talk_clock() - start);
    }
    tem_model_free(model);
    return status;
}

int command_verify(int argc, char *const *argv) {
    const char *named = NULL;
    uint64_t threads = 0;
    bool quiet = false, help = false;
    const option_spec table[] = {
        {"model", 'm', OPTION_TEXT, &named, "MODEL",
         "the model (default: $TEM_MODEL, else the "
         "default model)",
         0, 0},
        {"threads", 0, OPTION_COUNT, &threads, "N", "use N threads (default: all processors)", 1,
         1024},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "say nothing unless it fails", 0, 0},
        {"help", 'h', OPTION_FLAG, &help, NULL, "show this", 0, 0},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0},
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, NULL, 0, &operands, message))
        return talk_usage("verify", "%s; a model is named with -m MODEL", message);
    if (help) {
        puts("usage: tem verify [OPTIONS]\n"
             "\n"
             "Checks a model: every hash, every word, and every list and bound against all\n"
             "pairs of words, computed anew. Takes about as long as building it.\n");
        options_print_help(stdout, table);
        return EXIT_DONE;
    }
    return verify(named, (unsigned)threads, quiet);
}
