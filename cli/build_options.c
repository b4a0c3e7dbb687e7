/* build_options.c - the options by which a model is built from vectors, and that model. */
#include "build_options.h"

#include "outputs.h"
#include "show.h"
#include "talk.h"
#include "trust.h"

#include <stdlib.h>
#include <string.h>

/* Reads the words to exclude. A file without words is refused: the model would exclude nothing. */
static int read_excluded(build_choice *b) {
    tem_error error;
    if (word_file_read(b->exclude, &b->excluded, &error) != TEM_OK)
        return talk_error(&error);
    if (b->excluded.count > 0)
        return EXIT_DONE;
    talk_note(false, "tem: %s: the file has no words to exclude", b->exclude);
    return EXIT_FAILED;
}

/* The first option that only a sphere has, or NULL. */
static const char *sphere_option(const build_choice *b) {
    return b->dimensions > 0    ? "--dimensions"
           : b->remove > 0      ? "--remove"
           : b->drop_degenerate ? "--drop-degenerate"
                                : NULL;
}

/* Checks that the options about the space go together. */
static int check_space(const char *command, const build_choice *b) {
    const char *option = sphere_option(b);
    if (b->space == TEM_SPACE_RAW && option != NULL)
        return talk_usage(command,
                          "%s does not go with --space raw, which takes the vectors as they are: "
                          "leave out %s, or use --space sphere",
                          option, option);
    const char *sphere = b->space == TEM_SPACE_SPHERE ? "--space sphere" : option;
    if (sphere != NULL && b->metric != TEM_EUCLIDEAN)
        return talk_usage(command,
                          "%s does not go with --metric %s: a sphere needs the euclidean metric. "
                          "Leave out %s or --metric",
                          sphere, b->metric_name, sphere);
    return EXIT_DONE;
}

/* Reads K, K:B or K:B:G. */
static bool parse_order(const char *text, tem_order_options *order) {
    uint32_t *const numbers[] = {&order->list, &order->block, &order->group};
    if (strcmp(text, "auto") == 0)
        return true;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        const unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
        if (value < 1 || value > TEM_WORDS_MAX)
            return false;
        *numbers[i] = (uint32_t)value;
        if (*end != ':')
            return *end == '\0';
        text = end + 1;
    }
    return false;
}

static int check_order(const char *command, build_choice *b) {
    if (b->order == NULL && b->order_vectors != NULL)
        return talk_usage(command, "--order-vectors needs --order, such as --order auto");
    if (b->order != NULL && !parse_order(b->order, &b->order_options))
        return talk_usage(command, "--order: expected auto, or whole numbers such as 128:16:12");
    return EXIT_DONE;
}

int build_check_names(const char *command, const build_choice *b) {
    if (b->vectors == NULL)
        return talk_usage(command, "which vectors? tem %s VECTORS -o MODEL", command);
    if (b->output == NULL)
        return talk_usage(command, "which file to write? -o MODEL");
    return EXIT_DONE;
}

int build_check(const char *command, build_choice *b) {
    tem_error error;
    if (build_check_names(command, b) != EXIT_DONE)
        return EXIT_USAGE;
    if (tem_metric_parse(b->metric_name, &b->metric, &error) != TEM_OK)
        return talk_usage(command, "--metric: %s", error.message);
    if (b->space_name != NULL && tem_space_parse(b->space_name, &b->space, &error) != TEM_OK)
        return talk_usage(command, "--space: %s", error.message);
    if (check_space(command, b) != EXIT_DONE || check_order(command, b) != EXIT_DONE)
        return EXIT_USAGE;
    if (!outputs_check(b->output, b->force))
        return EXIT_FAILED;
    return b->exclude == NULL ? EXIT_DONE : read_excluded(b);
}

void build_choice_free(build_choice *b) {
    word_file_free(&b->excluded);
}

/* Prints how much the grid has changed distances: epsilon is per unit of distance on the grid. */
static void tell_rounding(const tem_model *model, const tem_model_info *info,
                          const common_options *common) {
    tem_error error;
    double median = 0;
    const double percent = rounding_percent(model, &median);
    talk_note(!common->verbose, "grid step 2^-%u", info->step_log2);
    talk_note(common->quiet || percent <= 0,
              "rounding changes distances by at most %s, %s %% of %.4g, the median distance to the "
              "nearest word",
              talk_distance_up(info->deviation), talk_number(percent), median);
    if (tem_model_check_grid(model, TEM_GRID_WARNED_PERCENT, &error) == TEM_ERR_RANGE)
        talk_note(common->quiet, "tem: warning: %s.", error.message);
}

/* Says which space tem took, and why. */
static void tell_space(const tem_model *model, const tem_vectors *vectors, const build_choice *b,
                       bool quiet) {
    tem_recipe recipe;
    tem_model_get_recipe(model, &recipe);
    const bool prepared = recipe.given_columns > 0;
    const bool asked = b->space != TEM_SPACE_DEFAULT || b->dimensions > 0 || b->remove > 0;
    const bool given = strcmp(tem_vectors_format(vectors), "tem vectors") == 0;
    const char *why = asked                        ? "as asked for"
                      : given                      ? "as the file has them"
                      : prepared                   ? "default from 1,000 words x 50 on"
                      : b->metric == TEM_EUCLIDEAN ? "fewer than 1,000 words x 50"
                                                   : "default for this metric";
    if (!prepared) {
        talk_note(quiet, "space raw: the vectors as they are (%s)", why);
        return;
    }
    talk_note(quiet, "space sphere: %u of %u dimensions, %u removed, %.1f %% of the variance (%s)",
              recipe.dimensions, recipe.given_columns, recipe.removed, 100 * recipe.kept, why);
    talk_note(quiet || recipe.dropped == 0, "left out %s degenerate word%s",
              talk_count(recipe.dropped), recipe.dropped == 1 ? "" : "s");
}

/* Prints how many words of the file of excluded words are excluded, and how many words the
 * vocabulary does not have. */
static void tell_excluded(const tem_model *model, const build_choice *b, bool quiet) {
    tem_model_info info;
    uint32_t unknown = 0;
    if (b->exclude == NULL)
        return;
    tem_model_get_info(model, &info);
    for (uint32_t i = 0; i < b->excluded.count; i++) {
        const char *word = b->excluded.words[i];
        unknown += tem_model_find(model, word, strlen(word)) == TEM_NO_WORD;
    }
    talk_note(quiet, "%s: excluded %s of the words; %s not in the vocabulary as written there",
              b->exclude, talk_count(info.excluded), talk_count(unknown));
}

/* Folds one excluded word in its place. */
static tem_status fold_excluded_word(char **word, tem_error *error) {
    char *folded = NULL;
    const tem_status status = tem_word_fold(*word, strlen(*word), &folded, error);
    if (status != TEM_OK)
        return status;
    char *copy = strdup(folded);
    tem_text_free(folded);
    if (copy == NULL) {
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
        return TEM_ERR_MEMORY;
    }
    free(*word);
    *word = copy;
    return TEM_OK;
}

/* Excluded words are words of the vocabulary, so they are folded with it. */
static tem_status fold_excluded(build_choice *b, tem_error *error) {
    for (uint32_t i = 0; i < b->excluded.count; i++) {
        const tem_status status = fold_excluded_word(&b->excluded.words[i], error);
        if (status == TEM_ERR_FORMAT) {
            snprintf(error->file, sizeof error->file, "%s", b->exclude);
            error->line = b->excluded.lines[i];
        }
        if (status != TEM_OK)
            return status;
    }
    return TEM_OK;
}

/* Vectors on the grid keep their words: they are as a model has them. */
static bool has_folding(const build_choice *b, const tem_vectors *vectors) {
    return !b->no_fold && strcmp(tem_vectors_format(vectors), "tem vectors") != 0;
}

static tem_status fold_words(build_choice *b, const common_options *common, tem_vectors *vectors,
                             tem_error *error) {
    tem_folding done;
    tem_status status = tem_vectors_fold(vectors, &done, error);
    if (status == TEM_OK)
        status = fold_excluded(b, error);
    if (status == TEM_OK)
        talk_note(common->quiet || done.changed == 0,
                  "folded %s word%s as text is folded; left out %s that an earlier word equals "
                  "(--no-fold keeps all)",
                  talk_count(done.changed), done.changed == 1 ? "" : "s",
                  talk_count(done.left_out));
    return status;
}

/* Says how many words no text can contain, and warns if these are many. */
static void tell_unreachable(const tem_model *model, const tem_model_info *info,
                             const build_choice *b, const tem_vectors *vectors, bool quiet) {
    uint32_t count = 0;
    if (quiet || tem_model_count_unreachable(model, &count, NULL) != TEM_OK || count == 0)
        return;
    talk_note(quiet,
              "%sno text can contain %s of the %s words (%s %%), because tem %scuts text at word "
              "boundaries. They are outputs, and never inputs.%s",
              count > info->words / 100 ? "tem: warning: " : "", talk_count(count),
              talk_count(info->words), talk_number(tem_round_up(100.0 * count / info->words, 2)),
              has_folding(b, vectors) ? "" : "folds text to one case and ",
              b->no_fold ? " Without --no-fold tem folds the words, too." : "");
}

static tem_status read_vectors(build_choice *b, const common_options *common, const tem_run *run,
                               tem_vectors **vectors, tem_error *error) {
    const double start = talk_clock();
    const tem_status status = tem_vectors_load(b->vectors, b->limit, run, vectors, error);
    if (status == TEM_OK)
        talk_note(common->quiet, "read %s words x %u (%s) in %.1f s",
                  talk_count(tem_vectors_count(*vectors)), tem_vectors_dimension(*vectors),
                  tem_vectors_format(*vectors), talk_clock() - start);
    if (status != TEM_OK || !has_folding(b, *vectors))
        return status;
    const tem_status folded = fold_words(b, common, *vectors, error);
    if (folded != TEM_OK)
        tem_vectors_free(*vectors);
    return folded;
}

/* The vectors that decide the order, with words as the model has them; NULL: there are none. */
static tem_status read_order_vectors(const build_choice *b, const tem_run *run,
                                     tem_vectors **vectors, tem_error *error) {
    *vectors = NULL;
    if (b->order_vectors == NULL)
        return TEM_OK;
    tem_status status = tem_vectors_load(b->order_vectors, 0, run, vectors, error);
    if (status == TEM_OK && has_folding(b, *vectors))
        status = tem_vectors_fold(*vectors, NULL, error);
    return status;
}

static void tell_model(const tem_model *model, const tem_vectors *vectors, const build_choice *b,
                       const common_options *common, double seconds) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    tell_space(model, vectors, b, common->quiet);
    talk_note(common->quiet, "found the %u nearest words of each in %.1f s (%s, %s)",
              info.neighbours, seconds, tem_metric_name(info.metric), tem_kernel_name());
    tell_rounding(model, &info, common);
    tell_excluded(model, b, common->quiet);
    tell_unreachable(model, &info, b, vectors, common->quiet);
}

tem_status build_model(build_choice *b, const common_options *common, const tem_run *run,
                       tem_model **model, tem_error *error) {
    tem_vectors *vectors = NULL;
    tem_status status = read_vectors(b, common, run, &vectors, error);
    if (status != TEM_OK)
        return status;
    const double start = talk_clock();
    tem_order_options order = b->order_options;
    tem_vectors *order_vectors = NULL;
    status = read_order_vectors(b, run, &order_vectors, error);
    order.vectors = order_vectors;
    const tem_build_options options = {.metric = b->metric,
                                       .neighbours = (uint32_t)b->neighbours,
                                       .allow_coarse = b->allow_coarse,
                                       .space = b->space,
                                       .dimensions = (uint32_t)b->dimensions,
                                       .remove = (uint32_t)b->remove,
                                       .drop_degenerate = b->drop_degenerate,
                                       .exclude = (const char *const *)b->excluded.words,
                                       .exclude_count = b->excluded.count,
                                       .order = b->order != NULL ? &order : NULL};
    if (status == TEM_OK)
        status = tem_model_build(vectors, &options, run, model, error);
    if (status == TEM_OK)
        tell_model(*model, vectors, b, common, talk_clock() - start);
    tem_vectors_free(vectors);
    tem_vectors_free(order_vectors);
    return status;
}

int build_write(const build_choice *b, const common_options *common, const tem_model *model,
                const tem_run *run, char unnoted_hash[65]) {
    tem_error error;
    if (tem_model_save(model, b->output, b->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING, run,
                       &error) != TEM_OK)
        return talk_error(&error);
    return trust_built(model, b->output, run, common->quiet, unnoted_hash) ? EXIT_DONE
                                                                           : EXIT_FAILED;
}
