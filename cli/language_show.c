/* language_show.c - files of language models: which one is meant, and what 'tem info' and 'tem
 * verify' say of one. */
#include "language_show.h"

#include "default_model.h"
#include "outputs.h"
#include "talk.h"
#include "tem_command.h"
#include "trust.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

bool language_show_is_named(const char *path) {
    return outputs_ends_in(path, ".temlm");
}

bool language_show_is_meant(const char *named) {
    return language_show_is_named(named) || strcmp(named, "english") == 0;
}

/* PRIVACY: tem trusts a file by its place only beside the model that it trusts by its place, and
 * where it was installed itself. */
const char *language_show_path(const char *named, bool *is_own) {
    static char path[PATH_MAX];
    char folder[PATH_MAX];
    const char *const folders[] = {folder};
    int own = 0;
    tem_error error;
    *is_own = false;
    if (strcmp(named, "english") != 0)
        return named;
    const size_t count = default_model_folder(folder) ? 1 : 0;
    if (tem_language_find_english(default_model_path(), default_model_is_own(), folders, count,
                                  path, sizeof path, &own, &error) != TEM_OK) {
        fputs("tem: english.temlm is neither beside the model nor beside tem; it belongs to the "
              "default model, and 'make' builds it. 'tem ngram' makes language models of public "
              "texts: --language-model FILE.temlm\n",
              stderr);
        return NULL;
    }
    *is_own = own != 0;
    return path;
}

/* What the commands look at. */
typedef struct shown_language {
    const char *path;
    bool is_own;
    tem_model *model;
    tem_language *language;
    tem_language_info info;
} shown_language;

static void close_both(shown_language *l) {
    tem_language_free(l->language);
    tem_model_free(l->model);
}

/* Returns an exit status; the caller calls close_both in any case. */
static int open_both(shown_language *l, const char *named, const char *model) {
    tem_error error;
    l->model = default_model_open(model);
    if (l->model == NULL)
        return EXIT_FAILED;
    l->path = language_show_path(named, &l->is_own);
    if (l->path == NULL)
        return EXIT_FAILED;
    if (tem_language_open(l->model, l->path, &l->language, &error) != TEM_OK) {
        talk_error(&error);
        if (error.status == TEM_ERR_UNSUPPORTED)
            fprintf(stderr, "tem: the model in use is %s; -m names another one\n",
                    default_model_path());
        return EXIT_FAILED;
    }
    tem_language_get_info(l->language, &l->info);
    return EXIT_DONE;
}

/* ---- tem info ---- */

static bool is_trusted(const shown_language *l, tem_error *error) {
    return l->is_own || tem_language_trust(l->language, NULL, error) == TEM_OK;
}

static void print_trust(const shown_language *l) {
    tem_error error;
    if (is_trusted(l, &error))
        printf("trusted     yes: %s\n",
               l->is_own ? "it came with tem" : "you have made or verified it");
    else if (error.status == TEM_ERR_UNTRUSTED && strcmp(error.file, l->path) == 0)
        printf("trusted     no: you have neither made nor verified it; 'tem verify %s%s' checks "
               "it\n",
               l->path, default_model_naming());
    else
        printf("trusted     no: %s\n", error.message);
}

/* The first line of a text that may have many. */
static void print_text(const char *label, const char *text) {
    const size_t line = strcspn(text, "\n");
    if (text[0] != '\0')
        printf("%s%.*s%s\n", label, (int)line, text, text[line] != '\0' ? " ... (--json)" : "");
}

static void print_info(const shown_language *l) {
    const tem_language_info *i = &l->info;
    printf("language    %s\n", l->path);
    print_text("name        ", i->name);
    printf("size        %s\n", talk_bytes(i->bytes));
    printf("order       %u\n", i->order);
    printf("words       %s\n", talk_count(i->words));
    if (i->order >= 2)
        printf("bigrams     %s\n", talk_count(i->bigrams));
    if (i->order >= 3) {
        printf("trigrams    %s after ", talk_count(i->trigrams));
        printf("%s pairs of words\n", talk_count(i->histories));
    }
    if (i->temper != 1)
        printf("temper      %s\n", talk_number(i->temper));
    if (i->lift > 0)
        printf("lift        an n-gram counts at most %s times the probability of its last word\n",
               talk_number(i->lift));
    print_text("origin      ", tem_language_origin(l->language));
    print_text("license     ", tem_language_license(l->language));
    if (i->sources > 0)
        printf("made of     %s text%s that tem has read, and refuses %s as an input\n",
               talk_count(i->sources), i->sources == 1 ? "" : "s", i->sources == 1 ? "it" : "them");
    printf("hash        %s\n", i->hash);
    print_trust(l);
}

static int print_json(const shown_language *l) {
    const tem_language_info *i = &l->info;
    tem_error error;
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:s, s:s, s:I, s:I, s:s, s:b}",
        "language", l->path, "name", i->name, "bytes", (json_int_t)i->bytes, "order",
        (json_int_t)i->order, "words", (json_int_t)i->words, "bigrams", (json_int_t)i->bigrams,
        "histories", (json_int_t)i->histories, "trigrams", (json_int_t)i->trigrams, "temper",
        i->temper, "lift", i->lift > 0 ? json_real(i->lift) : json_null(), "origin",
        tem_language_origin(l->language), "license", tem_language_license(l->language), "sources",
        (json_int_t)i->sources, "source_lines", (json_int_t)i->source_lines, "hash", i->hash,
        "trusted", is_trusted(l, &error));
    const bool done = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0;
    json_decref(root);
    if (!done) {
        fputs("tem: cannot write JSON (are the path and the texts valid UTF-8?)\n", stderr);
        return EXIT_FAILED;
    }
    putchar('\n');
    return EXIT_DONE;
}

int language_show_info(const char *named, const char *model, bool json) {
    shown_language l = {.path = named};
    int status = open_both(&l, named, model);
    if (status == EXIT_DONE && json)
        status = print_json(&l);
    else if (status == EXIT_DONE)
        print_info(&l);
    close_both(&l);
    return status;
}

/* ---- tem verify ---- */

/* The file is damaged: whoever trusted its hash does so no longer. */
static void distrust(const shown_language *l, const tem_run *run) {
    tem_error error;
    if (tem_trust_remove(l->info.hash, run, &error) == TEM_OK)
        fprintf(stderr, "tem: %s: you do not trust this language model any more\n", l->path);
}

static int verify(const shown_language *l, const tem_run *run, bool quiet) {
    const double start = talk_clock();
    tem_error error;
    const tem_status status = tem_language_verify(l->language, run, &error);
    talk_end_progress();
    if (status != TEM_OK) {
        talk_error(&error);
        if (status == TEM_ERR_DAMAGED)
            distrust(l, run);
        return EXIT_FAILED;
    }
    talk_note(quiet, "%s: verified: hashes, %s bigrams, %s trigrams, in %.1f s", l->path,
              talk_count(l->info.bigrams), talk_count(l->info.trigrams), talk_clock() - start);
    if (tem_trust_add(l->info.hash, run, &error) != TEM_OK) {
        talk_error(&error);
        fprintf(stderr,
                "tem: %s: the language model passed, but tem could not note that you trust it\n",
                l->path);
        return EXIT_FAILED;
    }
    talk_note(quiet, "%s: you trust this language model from now on; its hash is %s", l->path,
              l->info.hash);
    return EXIT_DONE;
}

int language_show_verify(const char *named, const char *model, unsigned threads, bool quiet) {
    const tem_run run = talk_run(threads, quiet);
    shown_language l = {.path = named};
    int status = open_both(&l, named, model);
    if (status == EXIT_DONE)
        status = verify(&l, &run, quiet);
    close_both(&l);
    return status;
}
