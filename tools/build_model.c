/* build_model.c - makes a model as 'tem build --quiet --force' does, while tem itself is built.
 *
 * usage: tem-build-model VECTORS MODEL NEIGHBORS [EXCLUDED [ORDER_VECTORS]]
 *
 * The program links the rooms that decide the bytes of a model, and no others (src/meson.build). So
 * only an edit in one of these rooms makes ninja build the default model again; with `tem` in its
 * place any edit would. tests/check-build compares its models with those of `tem build`. */
#include "../cli/word_file.h"
#include "io/file.h"
#include "model/model.h"
#include "model/vectors.h"
#include "trust/trust_list.h"

#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end_by_signal(int number) {
    file_remove_temporaries();
    _exit(128 + number);
}

/* order_vectors NULL: the model gets no order. */
static tem_status build(const char *path, const char *order_vectors, tem_build_options options,
                        tem_model **model, tem_error *error) {
    tem_vectors *vectors = NULL, *ordering = NULL;
    tem_status status = vectors_load(path, 0, NULL, &vectors, error);
    if (status == TEM_OK && order_vectors != NULL)
        status = vectors_load(order_vectors, 0, NULL, &ordering, error);
    const tem_order_options order = {.vectors = ordering};
    options.order = order_vectors != NULL ? &order : NULL;
    if (status == TEM_OK)
        status = model_build(vectors, &options, NULL, model, error);
    vectors_free(vectors);
    vectors_free(ordering);
    return status;
}

/* Whoever builds a model trusts it. Where nobody can note that, the model is used all the same, by
 * its hash or as the program's own. */
static tem_status note_trust(const tem_model *model, tem_error *error) {
    unsigned char hash[CORE_HASH_BYTES];
    char digits[TRUST_HASH_DIGITS + 1];
    const tem_status status = model_hash(model, NULL, hash, error);
    if (status != TEM_OK)
        return status;
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    tem_error unnoted;
    if (trust_list_set(digits, true, NULL, &unnoted) != TEM_OK)
        fprintf(stderr, "tem-build-model: cannot note that you trust the model: %s%s%s\n",
                unnoted.file, unnoted.file[0] != '\0' ? ": " : "", unnoted.message);
    return TEM_OK;
}

/* arguments: at least 6, NULL where they were left out. */
static tem_status make(char *const *arguments, tem_error *error) {
    const char *vectors = arguments[1], *output = arguments[2], *excluded = arguments[4];
    word_file words = {.words = NULL};
    tem_model *model = NULL;
    tem_status status = excluded == NULL ? TEM_OK : word_file_read(excluded, &words, error);
    const tem_build_options options = {.metric = TEM_EUCLIDEAN,
                                       .neighbours = (uint32_t)strtoul(arguments[3], NULL, 10),
                                       .exclude = (const char *const *)words.words,
                                       .exclude_count = words.count};
    if (status == TEM_OK)
        status = build(vectors, arguments[5], options, &model, error);
    if (status == TEM_OK)
        status = model_save(model, output, TEM_OVERWRITE, NULL, error);
    if (status == TEM_OK)
        status = note_trust(model, error);
    model_free(model);
    word_file_free(&words);
    return status;
}

int main(int argc, char **argv) {
    enum { ARGUMENTS = 6 };
    char *arguments[ARGUMENTS] = {NULL};
    tem_error error;
    if (argc < 4 || argc > ARGUMENTS) {
        fputs("usage: tem-build-model VECTORS MODEL NEIGHBORS [EXCLUDED [ORDER_VECTORS]]\n",
              stderr);
        return EXIT_FAILURE;
    }
    memcpy(arguments, argv, (size_t)argc * sizeof *argv);
    signal(SIGINT, end_by_signal);
    signal(SIGTERM, end_by_signal);
    if (make(arguments, &error) == TEM_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "tem-build-model: %s%s%s\n", error.file, error.file[0] != '\0' ? ": " : "",
            error.message);
    return EXIT_FAILURE;
}
