/* build_language.c - makes the language model `english.temlm`, while tem itself is built.
 *
 * usage: tem-build-language NGRAMS MODEL LICENSE LANGUAGE
 *
 * NGRAMS are n-grams of general English (tools/make-english), in any format that tem reads; MODEL
 * is the default model. As with tem-build-model, the program links only the rooms that decide the
 * bytes. */
#include "io/file.h"
#include "language/language_file.h"
#include "language/ngram.h"
#include "model/model.h"
#include "trust/trust_list.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "english"
#define ORIGIN "en-us.lm.bin of CMU Sphinx, as in Debian's pocketsphinx-en-us 0.8+5prealpha+1-15"

enum { LICENSE_MOST = 1 << 16 };

static void end_by_signal(int number) {
    file_remove_temporaries();
    _exit(128 + number);
}

/* Reads the terms, which travel in the file. */
static tem_status read_license(const char *path, char license[LICENSE_MOST], tem_error *error) {
    file_view file = {0};
    tem_status status = file_open(path, NULL, &file, error);
    if (status != TEM_OK)
        return status;
    const size_t bytes = file.size < LICENSE_MOST ? file.size : LICENSE_MOST - 1;
    memcpy(license, file.data, bytes);
    license[bytes] = '\0';
    file_close(&file);
    return TEM_OK;
}

/* Whoever builds it trusts it, as with models. Where nobody can note that, it is used all the same,
 * as the program's own. */
static void note_trust(const tem_language *language) {
    tem_error unnoted;
    if (trust_list_set(language->hash, true, NULL, &unnoted) != TEM_OK)
        fprintf(stderr,
                "tem-build-language: cannot note that you trust the language model: %s%s%s\n",
                unnoted.file, unnoted.file[0] != '\0' ? ": " : "", unnoted.message);
}

static tem_status make(char *const *arguments, tem_error *error) {
    static char license[LICENSE_MOST];
    const tem_language_options options = {.name = NAME, .origin = ORIGIN, .license = license};
    tem_model *model = NULL;
    tem_ngram *ngram = NULL;
    tem_language *language = NULL;
    tem_status status = read_license(arguments[3], license, error);
    if (status == TEM_OK)
        status = model_open(arguments[2], &model, error);
    if (status == TEM_OK)
        status = ngram_load(model, arguments[1], NULL, &ngram, error);
    if (status == TEM_OK)
        status = language_make(ngram, &options, NULL, &language, error);
    if (status == TEM_OK)
        status = language_save(language, arguments[4], TEM_OVERWRITE, NULL, error);
    if (status == TEM_OK)
        note_trust(language);
    language_free(language);
    ngram_free(ngram);
    model_free(model);
    return status;
}

int main(int argc, char **argv) {
    tem_error error;
    if (argc != 5) {
        fputs("usage: tem-build-language NGRAMS MODEL LICENSE LANGUAGE\n", stderr);
        return EXIT_FAILURE;
    }
    signal(SIGINT, end_by_signal);
    signal(SIGTERM, end_by_signal);
    if (make(argv, &error) == TEM_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "tem-build-language: %s%s%s\n", error.file, error.file[0] != '\0' ? ": " : "",
            error.message);
    return EXIT_FAILURE;
}
