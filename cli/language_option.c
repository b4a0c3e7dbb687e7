/* language_option.c - the option --language-model: a public language model, for draws in context.
 */
#include "language_option.h"

#include "default_model.h"
#include "language_show.h"
#include "ngram_sources.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

bool language_option_is_given(const char *named) {
    return named != NULL && strcmp(named, "none") != 0;
}

static void say_untrusted(const char *path, const tem_error *error) {
    if (strcmp(error->file, path) != 0) {
        talk_error(error);
        return;
    }
    fprintf(stderr,
            "tem: %s: you have neither made nor verified this language model; 'tem verify%s %s' "
            "checks it, and you trust it from then on\n",
            path, default_model_naming(), path);
}

/* N-grams of this or another program are not yet a language model. */
static void say_how_to_convert(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    if (!language_show_is_named(path))
        fprintf(stderr, "tem: 'tem ngram%s %s -o %.*s.temlm' makes one\n", default_model_naming(),
                path, (int)strcspn(name, "."), name);
}

static int refuse(const char *path, const tem_error *error) {
    if (error->status == TEM_ERR_UNTRUSTED) {
        say_untrusted(path, error);
        return EXIT_FAILED;
    }
    const int status = talk_error(error);
    if (error->status == TEM_ERR_FORMAT && ngram_source_is_file(path))
        say_how_to_convert(path);
    if (error->status == TEM_ERR_UNSUPPORTED)
        fprintf(stderr,
                "tem: a language model is for all models with the same words; 'tem ngram%s' makes "
                "one for this model\n",
                default_model_naming());
    return status;
}

int language_option_open(const char *named, const tem_model *model, tem_language **language) {
    tem_error error;
    tem_language *opened = NULL;
    bool is_own = false;
    *language = NULL;
    if (!language_option_is_given(named))
        return EXIT_DONE;
    const char *path = language_show_path(named, &is_own);
    if (path == NULL)
        return EXIT_FAILED;
    tem_status status = tem_language_open(model, path, &opened, &error);
    /* PRIVACY: the tables of the file decide what is drawn. */
    if (status == TEM_OK && is_own)
        tem_language_trust_own(opened);
    else if (status == TEM_OK)
        status = tem_language_trust(opened, NULL, &error);
    if (status == TEM_OK) {
        *language = opened;
        return EXIT_DONE;
    }
    tem_language_free(opened);
    return refuse(path, &error);
}

const char *language_option_told(const tem_mechanism *mechanism) {
    static char told[128];
    tem_language_info info;
    if (tem_mechanism_language(mechanism) == NULL)
        return "";
    tem_language_get_info(tem_mechanism_language(mechanism), &info);
    snprintf(told, sizeof told, " and the language model %.64s",
             info.name[0] != '\0' ? info.name : info.hash);
    return told;
}

int language_option_refuse(const char *command, const char *what, const char *remedy) {
    return talk_usage(command,
                      "%s: with a language model each word is drawn by the words that stand before "
                      "it; %s",
                      what, remedy);
}
