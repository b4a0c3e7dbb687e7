/* command_build.c - tem build: makes a model from an embedding file. */
#include "commands.h"
#include "common_options.h"
#include "outputs.h"
#include "show.h"
#include "talk.h"
#include "trust.h"
#include "word_file.h"

#include <string.h>

typedef struct build_request {
    const char *vectors, *output, *metric_name, *exclude;
    word_file excluded;
    tem_metric metric;
    const char *space_name;
    tem_space space;
    uint64_t limit, neighbours, dimensions, remove;
    bool force, allow_coarse, drop_degenerate;
    common_options common;
} build_request;

static void print_help(const option_spec *table) {
    puts(
        "usage: tem build VECTORS -o MODEL [OPTIONS]\n"
        "\n"
        "Makes a model: prepares the vectors (--space), rounds them to an exact grid and finds\n"
        "every word's nearest words. VECTORS is GloVe text, word2vec text or binary, fastText\n"
        ".vec, or tem's own .temv, plain or gzip, recognised by content; '-' is standard input.\n");
    options_print_help(stdout, table);
    puts("\n"
         "  tem build glove.6B.100d.txt -o glove.tem\n"
         "  tem build crawl.vec.gz -o crawl.tem --limit 200000 --neighbours 64\n"
         "  tem build vectors.txt -o clean.tem --exclude exclude-en.txt\n"
         "\n"
         "The model file appears whole or not at all, also if the build is stopped.");
}

/* Reads the words to exclude. A file without words is refused: the model would exclude nothing. */
static int read_excluded(build_request *r) {
    tem_error error;
    if (word_file_read(r->exclude, &r->excluded, &error) != TEM_OK)
        return talk_error(&error);
    if (r->excluded.count > 0)
        return EXIT_DONE;
    talk_note(false, "tem: %s: the file has no words to exclude", r->exclude);
    return EXIT_FAILED;
}

/* The first option that only a sphere has, or NULL. */
static const char *sphere_option(const build_request *r) {
    return r->dimensions > 0    ? "--dimensions"
           : r->remove > 0      ? "--remove"
           : r->drop_degenerate ? "--drop-degenerate"
                                : NULL;
}

/* Checks that the options about the space go together. */
static int check_space(const build_request *r) {
    const char *option = sphere_option(r);
    if (r->space == TEM_SPACE_RAW && option != NULL)
        return talk_usage("build",
                          "%s does not go with --space raw, which takes the vectors as they are: "
                          "leave out %s, or use --space sphere",
                          option, option);
    const char *sphere = r->space == TEM_SPACE_SPHERE ? "--space sphere" : option;
    if (sphere != NULL && r->metric != TEM_EUCLIDEAN)
        return talk_usage("build",
                          "%s does not go with --metric %s: a sphere needs the euclidean metric. "
                          "Leave out %s or --metric",
                          sphere, r->metric_name, sphere);
    return EXIT_DONE;
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
    if (r->space_name != NULL && tem_space_parse(r->space_name, &r->space, &error) != TEM_OK)
        return talk_usage("build", "--space: %s", error.message);
    if (check_space(r) != EXIT_DONE)
        return EXIT_USAGE;
    if (outputs_are_same(r->vectors, r->output))
        return talk_usage("build",
                          "VECTORS and MODEL are the same file, which tem would overwrite");
    if (!outputs_check(r->output, r->force))
        return EXIT_FAILED;
    return r->exclude == NULL ? EXIT_DONE : read_excluded(r);
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

/* Says which space tem took, and why. */
static void tell_space(const tem_model *model, const tem_vectors *vectors, const build_request *r) {
    tem_recipe recipe;
    tem_model_get_recipe(model, &recipe);
    const bool prepared = recipe.given_columns > 0;
    const bool asked = r->space != TEM_SPACE_DEFAULT || r->dimensions > 0 || r->remove > 0;
    const bool given = strcmp(tem_vectors_format(vectors), "tem vectors") == 0;
    const char *why = asked                        ? "as asked for"
                      : given                      ? "as the file has them"
                      : prepared                   ? "default from 1,000 words x 50 on"
                      : r->metric == TEM_EUCLIDEAN ? "fewer than 1,000 words x 50"
                                                   : "default for this metric";
    if (!prepared) {
        talk_note(r->common.quiet, "space raw: the vectors as they are (%s)", why);
        return;
    }
    talk_note(r->common.quiet,
              "space sphere: %u of %u dimensions, %u removed, %.1f %% of the variance (%s)",
              recipe.dimensions, recipe.given_columns, recipe.removed, 100 * recipe.kept, why);
    talk_note(r->common.quiet || recipe.dropped == 0, "left out %s degenerate word%s",
              talk_count(recipe.dropped), recipe.dropped == 1 ? "" : "s");
}

/* Prints how many words of the file of excluded words are excluded, and how many words the
 * vocabulary does not have. */
static void tell_excluded(const tem_model *model, const build_request *r) {
    tem_model_info info;
    uint32_t unknown = 0;
    if (r->exclude == NULL)
        return;
    tem_model_get_info(model, &info);
    for (uint32_t i = 0; i < r->excluded.count; i++) {
        const char *word = r->excluded.words[i];
        unknown += tem_model_find(model, word, strlen(word)) == TEM_NO_WORD;
    }
    talk_note(r->common.quiet,
              "%s: excluded %s of the words; %s not in the vocabulary as written there", r->exclude,
              talk_count(info.excluded), talk_count(unknown));
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
                                       .allow_coarse = r->allow_coarse,
                                       .space = r->space,
                                       .dimensions = (uint32_t)r->dimensions,
                                       .remove = (uint32_t)r->remove,
                                       .drop_degenerate = r->drop_degenerate,
                                       .exclude = (const char *const *)r->excluded.words,
                                       .exclude_count = r->excluded.count};
    status = tem_model_build(*vectors, &options, run, model, error);
    if (status != TEM_OK)
        return status;
    tem_model_info info;
    tem_model_get_info(*model, &info);
    tell_space(*model, *vectors, r);
    talk_note(r->common.quiet, "found the %u nearest words of each in %.1f s (%s, %s)",
              info.neighbours, talk_clock() - built, tem_metric_name(info.metric),
              tem_kernel_name());
    tell_rounding(*model, &info, r);
    tell_excluded(*model, r);
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
        {"space", 0, OPTION_TEXT, &r.space_name, "S",
         "sphere: put all words at one distance from the middle, so that they are\n"
         "protected more alike (default for euclidean, from 1,000 words x 50 on);\n"
         "raw: take the vectors as they are (default otherwise)",
         0, 0},
        {"dimensions", 0, OPTION_COUNT, &r.dimensions, "K",
         "sphere: keep K principal components (default 50)", 1, TEM_DIMENSION_MAX},
        {"remove", 0, OPTION_COUNT, &r.remove, "R",
         "sphere: remove the first R components (default 0)", 0, TEM_DIMENSION_MAX},
        {"drop-degenerate", 0, OPTION_FLAG, &r.drop_degenerate, NULL,
         "sphere: leave out words whose vector has no direction, instead of\n"
         "refusing the file",
         0, 0},
        {"allow-coarse", 0, OPTION_FLAG, &r.allow_coarse, NULL,
         "build although rounding may change distances by more than half of the\n"
         "median distance to the nearest word",
         0, 0},
        {"exclude", 0, OPTION_TEXT, &r.exclude, "FILE",
         "words that must never be outputs, one per line; they stay inputs", 0, 0},
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
    word_file_free(&r.excluded);
    return status;
}
