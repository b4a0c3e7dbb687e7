/* command_build.c - tem build: makes a model from an embedding file. */
#include "build_options.h"
#include "commands.h"
#include "talk.h"
#include "wrap.h"

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem build VECTORS -o MODEL [OPTIONS]\n"
        "\n"
        "Makes a model: prepares the vectors (--space), rounds them to an exact grid and finds\n"
        "every word's nearest words. VECTORS is GloVe text, word2vec text or binary, fastText\n"
        ".vec, or tem's own .temv, plain or gzip, recognized by content; '-' is standard input.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem build glove.6B.100d.txt -o glove.tem\n"
         "  tem build crawl.vec.gz -o crawl.tem --limit 200000 --neighbours 64\n"
         "  tem build vectors.txt -o clean.tem --exclude exclude-en.txt\n"
         "\n"
         "The model file appears whole or not at all, also if the build is stopped.");
}

static int build(build_choice *b, const common_options *common) {
    const tem_run run = talk_run((unsigned)common->threads, common->quiet);
    tem_model *model = NULL;
    tem_error error;
    char unnoted_hash[65];
    if (build_model(b, common, &run, &model, &error) != TEM_OK)
        return talk_error(&error);
    const int status = build_write(b, common, model, &run, unnoted_hash);
    if (status == EXIT_DONE)
        talk_note(common->quiet,
                  "wrote %s; next: tem choose --self 0.5 -m %s%s%s finds an epsilon for it",
                  b->output, b->output, unnoted_hash[0] != '\0' ? " --model-hash " : "",
                  unnoted_hash);
    tem_model_free(model);
    return status;
}

int command_build(int argc, char *const *argv) {
    build_choice b = BUILD_CHOICE_DEFAULT;
    common_options common = {0};
    const option_spec table[] = {
        {"output", 'o', OPTION_TEXT, &b.output, "MODEL", "the file to write", 0, 0},
        {"metric", 0, OPTION_TEXT, &b.metric_name, "M",
         "euclidean (default), angular, l1, linf or hyperbolic", 0, 0},
        BUILD_OPTIONS(b),
        {"force", 'f', OPTION_FLAG, &b.force, NULL, "overwrite MODEL", 0, 0},
        COMMON_OPTIONS(common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, &b.vectors, 1, &operands, message))
        return talk_usage("build", "%s", message);
    if (common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    int status = build_check("build", &b);
    if (status == EXIT_DONE)
        status = build(&b, &common);
    build_choice_free(&b);
    return status;
}
