/* command_build.c - tem build: makes a model from an embedding file. */
#include "commands.h"
#include "common_options.h"
#include "outputs.h"
#include "show.h"
#include "talk.h"
#include "trust.h"

typedef struct build_request {
    const char *vectors, *output, *metric_name;
    tem_metric metric;
    uint64_t limit, neighbours;
    bool force, allow_coarse;
    common_options common;
} build_request;

static void print_help(const option_spec *table) {
    puts("usage: tem build VECTORS -o MODEL [OPTIONS]\n"
         "\n"
         "Makes a model: rounds the vectors to an exact grid and finds every word's nearest\n"
         "words. VECTORS is GloVe text, word2vec text or binary, fastText .vec, or tem's own\n"
         ".temv, plain or gzip, recognised by content; '-' is standard input.\n");
    options_print_help(stdout, table);
    puts("\n"
         "  tem build glove.6B.100d.txt -o glove.tem\n"
         "  tem build crawl.vec.gz -o crawl.tem --limit 200000 --neighbours 64\n"
         "\n"
         "The model file appears whole or not at all, also if the build is stopped.");
}

/* Completes the request. Returns EXIT_DONE, or the exit status with which to end. */
static int check_request(build_request *r, size_t operands) {
    tem_error error;
    if (operands == 0)
        return talk_usage("build", "which vectors? tem build VECTORS -o MODEL");
    if (r->output == NULL)
        return talk_usage("build", "which file to write? -o MODEL");
    if (tem_metric_parse(r->metric_name, &r->metric, &error) != TEM_OK)
        return talk_usage("build", "--metric: %s", error.message);
    if (outputs_are_same(r->vectors, r->output))
        return talk_usage("build",
                          "VECTORS and MODEL are the same file, which tem would overwrite");
    return outputs_check(r->output, r->force) ? EXIT_DONE : EXIT_FAILED;
}

/* Prints how much the grid has changed distances: epsilon is per unit of distance on the grid. */
static void tell_rounding(const tem_model *model, const tem_model_info *info,
                          const build_request *r) {
    tem_error error;
    double median = 0;
    const double percent = rounding_percent(model, &median);
    talk_note(!r->common.verbose, "grid step 2^-%u", info->step_log2);
    talk_note(r->common.quiet || percent <= 0,
              "rounding changes distances by at most %s, %s %% of %.4g, the median distance to the "
              "nearest word",
              talk_distance_up(info->deviation), talk_number(percent), median);
    if (tem_model_check_grid(model, TEM_GRID_WARNED_PERCENT, &error) == TEM_ERR_RANGE)
        talk_note(r->common.quiet, "tem: warning: %s.", error.message);
}

static tem_status build(const build_request *r, const tem_run *run, tem_vectors **vectors,
                        tem_model **model, tem_error *error) {
    const double start = talk_clock();
    tem_status status = tem_vectors_load(r->vectors, r->limit, run, vectors, error);
    if (status != TEM_OK)
        return status;
    talk_note(r->common.quiet, "read %s words x %u (%s) in %.1f s",
              talk_count(tem_vectors_count(*vectors)), tem_vectors_dimension(*vectors),
              tem_vectors_format(*vectors), talk_clock() - start);

    const double built = talk_clock();
    const tem_build_options options = {.metric = r->metric,
                                       .neighbours = (uint32_t)r->neighbours,
                                       .allow_coarse = r->allow_coarse};
    status = tem_model_build(*vectors, &options, run, model, error);
    if (status != TEM_OK)
        return status;
    tem_model_info info;
    tem_model_get_info(*model, &info);
    talk_note(r->common.quiet, "found the %u nearest words of each in %.1f s (%s, %s)",
              info.neighbours, talk_clock() - built, tem_metric_name(info.metric),
              tem_kernel_name());
    tell_rounding(*model, &info, r);
    return tem_model_save(*model, r->output, r->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING, run,
                          error);
}

int command_build(int argc, char *const *argv) {
    build_request r = {.metric_name = "euclidean", .neighbours = TEM_NEIGHBOURS_DEFAULT};
    const option_spec table[] = {
        {"output", 'o', OPTION_TEXT, &r.output, "MODEL", "the file to write", 0, 0},
        {"metric", 0, OPTION_TEXT, &r.metric_name, "M", "euclidean (default), angular, l1 or linf",
         0, 0},
        {"limit", 0, OPTION_COUNT, &r.limit, "N", "take only the first N words", 2, TEM_WORDS_MAX},
        {"neighbours", 0, OPTION_COUNT, &r.neighbours, "K",
         "list the K nearest words of each word, itself included (default 256);\n"
         "a longer list makes draws faster and takes 8 K bytes per word; no\n"
         "guarantee depends on it",
         1, TEM_WORDS_MAX},
        {"allow-coarse", 0, OPTION_FLAG, &r.allow_coarse, NULL,
         "build although rounding may change distances by more than half of the\n"
         "median distance to the nearest word",
         0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite MODEL", 0, 0},
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, &r.vectors, 1, &operands, message))
        return talk_usage("build", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    const int refused = check_request(&r, operands);
    if (refused != EXIT_DONE)
        return refused;

    const tem_run run = talk_run((unsigned)r.common.threads, r.common.quiet);
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    tem_error error;
    char unnoted_hash[65];
    int status = EXIT_DONE;
    if (build(&r, &run, &vectors, &model, &error) != TEM_OK)
        status = talk_error(&error);
    else if (!trust_built(model, r.output, &run, r.common.quiet, unnoted_hash))
        status = EXIT_FAILED;
    else
        talk_note(r.common.quiet,
                  "wrote %s; next: tem choose --self 0.5 -m %s%s%s finds an epsilon for it",
                  r.output, r.output, unnoted_hash[0] != '\0' ? " --model-hash " : "",
                  unnoted_hash);
    tem_model_free(model);
    tem_vectors_free(vectors);
    return status;
}
