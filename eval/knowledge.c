/* knowledge.c - public knowledge: prior, vectors, penalty. */
#include "knowledge.h"

#include "chance.h"
#include "failure.h"
#include "joined_text.h"
#include "number_text.h"
#include "tem_adapt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_DEFAULT = 50, COLUMNS_MAX = 1024 };

void knowledge_free(knowledge *k) {
    tem_prior_free(k->prior);
    free(k->vectors);
    *k = (knowledge){0};
}

/* The number of columns that "text:K" asks for, COLUMNS_DEFAULT if nobody asked and there is a
 * public text, 0 if the vectors come from a file. */
static tem_status parse_columns(const eval_options *options, uint32_t *columns, tem_error *error) {
    static const char text[] = "text:";
    const char *vectors = options->vectors;
    *columns = vectors == NULL && options->public_text != NULL ? COLUMNS_DEFAULT : 0;
    if (vectors == NULL || strncmp(vectors, text, strlen(text)) != 0)
        return TEM_OK;
    const char *number = vectors + strlen(text);
    const unsigned long value = strtoul(number, NULL, 10);
    if (*number == '\0' || number[strspn(number, "0123456789")] != '\0' || value == 0 ||
        value > COLUMNS_MAX)
        return eval_fail(error, TEM_ERR_ARGUMENT,
                         "vectors are a file, signals, or text:K with K from 1 to %d", COLUMNS_MAX);
    if (options->public_text == NULL)
        return eval_fail(error, TEM_ERR_ARGUMENT, "vectors text:K need a public text");
    *columns = (uint32_t)value;
    return TEM_OK;
}

/* The file of vectors: the one that was named, or the model's path with .temv instead of .tem. */
static tem_status vectors_path(const eval_options *options, char path[4096], tem_error *error) {
    static const char ending[] = ".tem";
    const char *model = options->model_path != NULL ? options->model_path : "";
    const size_t length = strlen(model);
    const bool named = options->vectors != NULL;
    const bool fits = length > strlen(ending) && length + 2 < 4096 &&
                      strcmp(model + length - strlen(ending), ending) == 0;
    if (!named && !fits)
        return eval_fail(error, TEM_ERR_ARGUMENT,
                         "which vectors do the learners use? name a file, or a public text");
    if ((size_t)snprintf(path, 4096, "%s%s", named ? options->vectors : model, named ? "" : "v") >=
        4096)
        return eval_fail(error, TEM_ERR_ARGUMENT, "the path of the vectors is too long");
    return TEM_OK;
}

static tem_status make_room(const tem_model *model, uint32_t columns, knowledge *k,
                            tem_error *error) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    k->columns = columns;
    k->vectors = calloc((size_t)info.words * columns + 1, sizeof *k->vectors);
    return k->vectors == NULL ? eval_out_of_memory(error) : TEM_OK;
}

static uint64_t digest_vectors(const tem_model *model, const knowledge *k) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    chance state = {k->columns};
    for (size_t i = 0; i < (size_t)info.words * k->columns; i++) {
        uint64_t bits;
        memcpy(&bits, &k->vectors[i], sizeof bits);
        state.state = chance_next(&state) ^ bits;
    }
    return chance_next(&state);
}

/* Reads a file of vectors; `name` receives its digest. */
static tem_status load_vectors(const tem_model *model, const eval_options *options, knowledge *k,
                               char name[32], tem_error *error) {
    char path[4096];
    tem_vectors *vectors = NULL;
    uint32_t missing = 0;
    tem_status status = vectors_path(options, path, error);
    if (status == TEM_OK)
        status = tem_vectors_load(path, 0, options->run, &vectors, error);
    if (status == TEM_OK)
        status = make_room(model, tem_vectors_dimension(vectors), k, error);
    if (status == TEM_OK)
        status = tem_model_align_vectors(model, vectors, k->vectors, &missing, error);
    tem_vectors_free(vectors);
    if (status == TEM_OK)
        snprintf(name, 32, "%016" PRIx64, digest_vectors(model, k));
    return status;
}

/* Takes the signals of an adapted model as vectors. */
static tem_status take_signals(const tem_model *model, knowledge *k, tem_error *error) {
    tem_adapted adapted;
    tem_model_info info;
    tem_model_get_adapted(model, &adapted);
    tem_model_get_info(model, &info);
    if (adapted.signals == 0)
        return eval_fail(error, TEM_ERR_ARGUMENT, "vectors signals need an adapted model");
    double *values = calloc(info.words, sizeof *values);
    tem_status status =
        values == NULL ? eval_out_of_memory(error) : make_room(model, adapted.signals, k, error);
    for (uint32_t i = 0; i < adapted.signals && status == TEM_OK; i++) {
        status = tem_model_signal_values(model, i, values, error);
        for (size_t w = 0; w < info.words && status == TEM_OK; w++)
            k->vectors[w * adapted.signals + i] = values[w];
    }
    free(values);
    return status;
}

static tem_status make_vectors(const tem_model *model, const eval_options *options,
                               const joined_text *text, knowledge *k, char name[32],
                               tem_error *error) {
    uint32_t columns = 0;
    tem_status status = parse_columns(options, &columns, error);
    if (status != TEM_OK)
        return status;
    k->penalty = options->penalty;
    if (options->vectors != NULL && strcmp(options->vectors, "signals") == 0) {
        snprintf(name, 32, "signals");
        return take_signals(model, k, error);
    }
    if (columns == 0)
        return load_vectors(model, options, k, name, error);
    snprintf(name, 32, "text:%u", columns);
    status = make_room(model, columns, k, error);
    return status == TEM_OK
               ? tem_text_vectors(model, text->path, columns, options->run, k->vectors, error)
               : status;
}

static tem_status make_prior(const tem_model *model, const eval_options *options,
                             const joined_text *text, knowledge *k, tem_error *error) {
    k->prior_name = text->file >= 0 ? "public" : "zipf";
    const tem_status status =
        text->file >= 0 ? tem_prior_load(model, text->path, options->run, &k->prior, error)
                        : tem_prior_create_zipf(model, 1, &k->prior, error);
    /* name the user's file, not the copy in memory */
    if (status != TEM_OK && text->file >= 0 && error != NULL)
        snprintf(error->file, sizeof error->file, "%s", options->public_text);
    return status;
}

static void describe(const joined_text *text, bool with_vectors, const char *vectors,
                     knowledge *k) {
    char prior[24] = "zipf", penalty[NUMBER_TEXT_BYTES];
    const char *named = k->penalty > 0 ? number_text(k->penalty, penalty) : "by validation";
    if (text->file >= 0)
        snprintf(prior, sizeof prior, "%016" PRIx64, text->digest);
    if (with_vectors)
        snprintf(k->about, sizeof k->about, ", prior %s, learners' vectors %s, penalty %s", prior,
                 vectors, named);
    else if (text->file >= 0)
        snprintf(k->about, sizeof k->about, ", prior %s", prior);
}

tem_status knowledge_create(const tem_model *model, const eval_options *options, bool with_vectors,
                            knowledge *k, tem_error *error) {
    knowledge made = {0};
    joined_text text = {.file = -1};
    char vectors[32] = "";
    tem_status status = TEM_OK;
    if (options->public_text != NULL)
        status = joined_text_open(options->public_text, options->run, &text, error);
    if (status == TEM_OK)
        status = make_prior(model, options, &text, &made, error);
    if (status == TEM_OK && with_vectors)
        status = make_vectors(model, options, &text, &made, vectors, error);
    if (status == TEM_OK) {
        describe(&text, with_vectors, vectors, &made);
        *k = made;
    } else {
        knowledge_free(&made);
    }
    joined_text_close(&text);
    return status;
}
