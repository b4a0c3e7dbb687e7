/* api_language.c - language models of tem_language.h. */
#include "core/reserved.h"
#include "core/status.h"
#include "language/language_file.h"
#include "language/own_language.h"
#include "trust/trust_list.h"

#include <math.h>
#include <string.h>

static tem_status check_name(const char *name, tem_error *error) {
    if (name != NULL && strlen(name) > 63)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the name of a language model has at most 63 bytes");
    if (!language_text_is_plain(name, false))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the name of a language model has no control characters");
    return TEM_OK;
}

static tem_status check_options(const tem_language_options *o, tem_error *error) {
    if (is_for_newer(o, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_name(o->name, error));
    if (!language_text_is_plain(o->origin, true) || !language_text_is_plain(o->license, true))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the texts of a language model have no control characters");
    if (!(o->temper == 0 || (o->temper > 0 && o->temper <= 4)))
        return core_fail(error, TEM_ERR_ARGUMENT, "temper must be above 0 and at most 4");
    if (!(o->lift == 0 || (o->lift >= 1 && o->lift < INFINITY)))
        return core_fail(error, TEM_ERR_ARGUMENT, "lift must be 1 or more");
    return TEM_OK;
}

tem_status tem_language_make(const tem_ngram *ngram, const tem_language_options *options,
                             const tem_run *run, tem_language **language, tem_error *error) {
    static const tem_language_options defaults = {.name = NULL};
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (ngram == NULL || language == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an n-gram model and a place for the language model are needed");
    TRY(check_options(options == NULL ? &defaults : options, error));
    return language_make(ngram, options == NULL ? &defaults : options, run, language, error);
}

tem_status tem_language_open(const tem_model *model, const char *path, tem_language **language,
                             tem_error *error) {
    if (model == NULL || path == NULL || language == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, a path and a place for the language model are needed");
    return language_open(model, path, language, error);
}

/* Language models of a user's own have no file and no hash. */
static tem_status check_ngram(const tem_language *language, tem_error *error) {
    if (language == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a language model is needed");
    return language_is_ngram(language)
               ? TEM_OK
               : core_fail(error, TEM_ERR_ARGUMENT, "the language model is not made of n-grams");
}

tem_status tem_language_save(const tem_language *language, const char *path,
                             tem_overwrite overwrite, const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_ngram(language, error));
    if (path == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a path is needed");
    return language_save(language, path, overwrite, run, error);
}

void tem_language_free(tem_language *language) {
    language_free(language);
}

static void set_trusted(tem_language *language) {
    atomic_store_explicit(&language_state(language)->trusted, true, memory_order_release);
}

tem_status tem_language_verify(tem_language *language, const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_ngram(language, error));
    TRY(language_check(language, run, error));
    set_trusted(language);
    return TEM_OK;
}

int tem_language_is_trusted(const tem_language *language) {
    return language != NULL &&
           (language->ops->check == NULL || language->ops->check(language->state, NULL) == TEM_OK);
}

/* PRIVACY: the hash is that of the header and of the blocks' hashes; every row is compared with
 * these before it is used (language_file.c). */
tem_status tem_language_trust(tem_language *language, const char *hash, tem_error *error) {
    bool listed = false;
    TRY(check_ngram(language, error));
    if (hash == NULL && tem_language_is_trusted(language))
        return TEM_OK;
    const char *path = language_state(language)->path;
    if (hash != NULL && strcmp(hash, language->hash) != 0)
        return core_fail_at(error, TEM_ERR_UNTRUSTED, path, 0, 0,
                            "the hash of this language model is not the one that was named");
    if (hash == NULL)
        TRY(trust_list_has(language->hash, &listed, error));
    if (hash == NULL && !listed)
        return core_fail_at(error, TEM_ERR_UNTRUSTED, path, 0, 0,
                            "you have neither made nor verified this language model");
    set_trusted(language);
    return TEM_OK;
}

void tem_language_trust_own(tem_language *language) {
    if (language == NULL || !language_is_ngram(language))
        return;
    set_trusted(language);
}

tem_status tem_language_find_english(const char *model_path, int model_is_own,
                                     const char *const *folders, size_t count, char *path,
                                     size_t path_bytes, int *is_own, tem_error *error) {
    if (path == NULL || is_own == NULL || (folders == NULL && count > 0))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "directories, and places for the name and its origin are needed");
    for (size_t i = 0; i < count; i++)
        if (folders[i] == NULL)
            return core_fail(error, TEM_ERR_ARGUMENT, "a directory is NULL");
    return language_find_english(model_path, model_is_own != 0, folders, count, path, path_bytes,
                                 is_own, error);
}

void tem_language_get_info(const tem_language *language, tem_language_info *info) {
    if (info == NULL)
        return;
    *info = (tem_language_info){.order = 0};
    if (language != NULL && language_is_ngram(language))
        language_get_info(language, info);
}

const char *tem_language_origin(const tem_language *language) {
    return language != NULL && language_is_ngram(language) ? language_origin(language) : "";
}

const char *tem_language_license(const tem_language *language) {
    return language != NULL && language_is_ngram(language) ? language_license(language) : "";
}

tem_status tem_language_evaluate(const tem_language *language, const tem_model *model,
                                 const char *path, const tem_run *run,
                                 tem_language_evaluation *evaluation, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_ngram(language, error));
    if (model == NULL || path == NULL || evaluation == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, a path and a place for the result are needed");
    return language_evaluate(language, model, path, run, evaluation, error);
}

tem_status tem_language_wrap(const tem_model *model, const tem_language_functions *functions,
                             tem_language **language, tem_error *error) {
    if (model == NULL || functions == NULL || language == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, functions and a place for the language model are needed");
    if (is_for_newer(functions, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_name(functions->name, error));
    return own_language_make(model, functions, language, error);
}
