/* language_option.c - the option --language-model: a public language model, for draws in context.
 */
#include "language_option.h"

#include "default_model.h"
#include "talk.h"
#include "tem_command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char english_file[] = "english.temlm";

bool language_option_is_given(const char *named) {
    return named != NULL && strcmp(named, "none") != 0;
}

/* The path of general English. *is_own: the file came with the program.
 * PRIVACY: tem trusts a file by its place only beside the model that it trusts by its place. */
static const char *find_english(bool *is_own) {
    static char path[PATH_MAX + sizeof english_file];
    const char *model = default_model_path(), *slash = strrchr(model, '/');
    const int directory = slash != NULL ? (int)(slash - model + 1) : 0;
    snprintf(path, sizeof path, "%.*s%s", directory, model, english_file);
    *is_own = default_model_is_own();
    if (access(path, F_OK) == 0)
        return path;
    fprintf(stderr,
            "tem: %s: %s\nEnglish belongs to the default model. 'tem ngram' makes a language model "
            "of public texts: --language-model FILE.temlm\n",
            path, strerror(errno));
    return NULL;
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

static int refuse(const char *path, const tem_error *error) {
    if (error->status == TEM_ERR_UNTRUSTED) {
        say_untrusted(path, error);
        return EXIT_FAILED;
    }
    const int status = talk_error(error);
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
    const char *path = strcmp(named, "english") == 0 ? find_english(&is_own) : named;
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
