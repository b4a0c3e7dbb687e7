/* build_options.h - the options by which a model is built from vectors, and that model: for the
 * commands 'tem build' and 'tem adapt'. */
#ifndef CLI_BUILD_OPTIONS_H
#define CLI_BUILD_OPTIONS_H

#include "common_options.h"
#include "tem.h"
#include "word_file.h"

typedef struct build_choice {
    const char *vectors, *output, *exclude, *metric_name, *space_name, *order, *order_vectors;
    uint64_t limit, neighbours, dimensions, remove;
    bool force, allow_coarse, drop_degenerate, no_fold;
    /* build_check sets these: */
    tem_metric metric;
    tem_space space;
    word_file excluded;
    tem_order_options order_options;
} build_choice;

#define BUILD_CHOICE_DEFAULT                                                                       \
    { .metric_name = "euclidean", .neighbours = TEM_NEIGHBOURS_DEFAULT }

/* Rows of an option table, after those of --output and --metric. */
#define BUILD_OPTIONS(choice)                                                                      \
    {"limit",      0, OPTION_COUNT, &(choice).limit, "N", "take only the first N words", 2,        \
     TEM_WORDS_MAX},                                                                               \
        {"neighbours",                                                                             \
         0,                                                                                        \
         OPTION_COUNT,                                                                             \
         &(choice).neighbours,                                                                     \
         "K",                                                                                      \
         "list the K nearest words of each word, itself included (default 256);\n"                 \
         "a longer list makes draws faster and takes 8 K bytes per word; no\n"                     \
         "guarantee depends on it",                                                                \
         1,                                                                                        \
         TEM_WORDS_MAX},                                                                           \
        {"space",                                                                                  \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         &(choice).space_name,                                                                     \
         "S",                                                                                      \
         "sphere: put all words at one distance from the middle, so that they are\n"               \
         "protected more alike (default for euclidean, from 1,000 words x 50 on);\n"               \
         "raw: take the vectors as they are (default otherwise)",                                  \
         0,                                                                                        \
         0},                                                                                       \
        {"dimensions",                                                                             \
         0,                                                                                        \
         OPTION_COUNT,                                                                             \
         &(choice).dimensions,                                                                     \
         "K",                                                                                      \
         "sphere: keep K principal components (default 50)",                                       \
         1,                                                                                        \
         TEM_DIMENSION_MAX},                                                                       \
        {"remove",                                                                                 \
         0,                                                                                        \
         OPTION_COUNT,                                                                             \
         &(choice).remove,                                                                         \
         "R",                                                                                      \
         "sphere: remove the first R components (default 0)",                                      \
         0,                                                                                        \
         TEM_DIMENSION_MAX},                                                                       \
        {"drop-degenerate",                                                                        \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         &(choice).drop_degenerate,                                                                \
         NULL,                                                                                     \
         "sphere: leave out words whose vector has no direction, instead of\n"                     \
         "refusing the file",                                                                      \
         0,                                                                                        \
         0},                                                                                       \
        {"allow-coarse",                                                                           \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         &(choice).allow_coarse,                                                                   \
         NULL,                                                                                     \
         "build although rounding may change distances by more than half of the\n"                 \
         "median distance to the nearest word",                                                    \
         0,                                                                                        \
         0},                                                                                       \
        {"no-fold",                                                                                \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         &(choice).no_fold,                                                                        \
         NULL,                                                                                     \
         "leave the words as the file has them (default: fold them as text is folded,\n"           \
         "Paris to paris; of equal words the first one stays)",                                    \
         0,                                                                                        \
         0},                                                                                       \
        {"order",                                                                                  \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         &(choice).order,                                                                          \
         "K[:B[:G]]",                                                                              \
         "order all words around each word, for the mechanism rank: a list of K\n"                 \
         "words, all others in blocks of B, whose order up to G near words share\n"                \
         "(auto: 128:16:12, or what fits the vocabulary)",                                         \
         0,                                                                                        \
         0},                                                                                       \
        {"order-vectors",                                                                          \
         0,                                                                                        \
         OPTION_FILE,                                                                              \
         &(choice).order_vectors,                                                                  \
         "FILE",                                                                                   \
         "other vectors of the same words that decide the order (default: VECTORS,\n"              \
         "with all their columns)",                                                                \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "exclude", 0, OPTION_FILE, &(choice).exclude, "FILE",                                      \
            "words that must never be outputs, one per line; they stay inputs", 0, 0               \
    }

/* Checks that vectors and output are named. Returns an exit status; prints what is wrong. */
int build_check_names(const char *command, const build_choice *choice);

/* Completes the choice before any vector is read, and reads the words to exclude. Returns an exit
 * status; prints what is wrong. Free with build_choice_free, also after a failure. */
int build_check(const char *command, build_choice *choice);
void build_choice_free(build_choice *choice);

/* Reads the vectors, folds their words and the excluded ones, and builds the model; says what it
 * did, unless quiet. Fails as tem_vectors_load, tem_vectors_fold and tem_model_build do. */
tem_status build_model(build_choice *choice, const common_options *common, const tem_run *run,
                       tem_model **model, tem_error *error);

/* Writes the model to the output, and notes that the user trusts it. `unnoted_hash` is as in
 * trust_built. Returns an exit status; prints what went wrong. */
int build_write(const build_choice *choice, const common_options *common, const tem_model *model,
                const tem_run *run, char unnoted_hash[65]);

#endif
