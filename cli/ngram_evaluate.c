/* ngram_evaluate.c - tem ngram --evaluate: how well language models fit a public text. */
#include "ngram_evaluate.h"

#include "language_show.h"
#include "talk.h"
#include "tem_command.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static int measure(const tem_model *model, const char *text, const char *named, const tem_run *run,
                   tem_language_evaluation *result) {
    bool is_own = false;
    tem_language *language = NULL;
    tem_error error;
    const char *path = language_show_path(named, &is_own);
    if (path == NULL)
        return EXIT_FAILED;
    tem_status status = tem_language_open(model, path, &language, &error);
    if (status == TEM_OK)
        status = tem_language_evaluate(language, model, text, run, result, &error);
    tem_language_free(language);
    talk_end_progress();
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static void print_head(const char *text, const tem_language_evaluation *e) {
    printf("%s: %s documents, ", text, talk_count(e->documents));
    printf("%s words, %.1f %% of them unknown\n", talk_count(e->words),
           100 * (double)e->unknown / (double)e->words);
    printf("%10s %16s   language model\n", "perplexity", "without context");
}

static void add_json(json_t *list, const char *named, const tem_language_evaluation *e) {
    json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "language", named, "perplexity",
                                          e->perplexity, "without", e->without));
}

static int print_json(const char *text, const tem_language_evaluation *e, json_t *list) {
    json_t *root =
        json_pack("{s:s, s:I, s:I, s:I, s:O}", "text", text, "documents", (json_int_t)e->documents,
                  "words", (json_int_t)e->words, "unknown", (json_int_t)e->unknown, "models", list);
    const bool done = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0;
    json_decref(root);
    if (!done) {
        fputs("tem: cannot write JSON (are the paths valid UTF-8?)\n", stderr);
        return EXIT_FAILED;
    }
    putchar('\n');
    return EXIT_DONE;
}

int ngram_evaluate(const tem_model *model, const char *const *operands, size_t count, bool json,
                   const tem_run *run) {
    static const char *const english[] = {"english"};
    const char *text = operands[0];
    const char *const *names = count > 1 ? operands + 1 : english;
    const size_t models = count > 1 ? count - 1 : 1;
    json_t *list = json_array();
    tem_language_evaluation e = {.words = 0};
    int status = EXIT_DONE;
    if (models > 1 && strcmp(text, "-") == 0)
        status = talk_usage("ngram", "--evaluate: standard input can be read only once; name one "
                                     "language model");
    for (size_t i = 0; i < models && status == EXIT_DONE; i++) {
        status = measure(model, text, names[i], run, &e);
        if (status == EXIT_DONE && json)
            add_json(list, names[i], &e);
        if (status != EXIT_DONE || json)
            continue;
        if (i == 0)
            print_head(text, &e);
        printf("%10.1f %16.1f   %s\n", e.perplexity, e.without, names[i]);
    }
    if (status == EXIT_DONE && json)
        status = print_json(text, &e, list);
    json_decref(list);
    return status;
}
