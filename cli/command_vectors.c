/* command_vectors.c - tem vectors: word vectors from a public text. */
#include "commands.h"
#include "common_options.h"
#include "outputs.h"
#include "talk.h"
#include "tem_learn.h"
#include "trust.h"
#include "vector_file.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS_DEFAULT = 50, COLUMNS_MAX = 1024 };

typedef struct vectors_request {
    common_options common;
    uint64_t columns;
    const char *text, *output;
    bool force;
} vectors_request;

static uint32_t count_found(const word_vectors *v) {
    uint32_t found = 0;
    for (uint32_t w = 0; w < v->words; w++) {
        bool is_found = false;
        for (uint32_t i = 0; i < v->columns && !is_found; i++)
            is_found = v->numbers[(size_t)w * v->columns + i] != 0;
        found += is_found;
    }
    return found;
}

static int make(const vectors_request *r, const tem_model *model, const tem_run *run) {
    const double start = talk_clock();
    tem_model_info info;
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    tem_model_get_info(model, &info);
    const uint32_t words = (uint32_t)info.words, columns = (uint32_t)r->columns;
    double *numbers = calloc((size_t)words * columns, sizeof *numbers);
    if (numbers == NULL)
        return talk_error(&error);
    const tem_status made = tem_text_vectors(model, r->text, columns, run, numbers, &error);
    talk_end_progress();
    const word_vectors v = {model, words, columns, numbers, NULL};
    int status = made == TEM_OK ? EXIT_DONE : talk_error(&error);
    if (status == EXIT_DONE)
        status = vector_file_write(r->output, r->force, &v, run, r->common.quiet);
    if (status == EXIT_DONE)
        talk_note(r->common.quiet,
                  "vectors of %s words, %u columns each; %s of the words occur in %s: %.1f s",
                  talk_count(words), columns, talk_count(count_found(&v)), r->text,
                  talk_clock() - start);
    free(numbers);
    return status;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem vectors PUBLIC.txt [OPTIONS] -o FILE.vec|FILE.npy\n"
         "\n"
         "Makes word vectors from a text, one document per line: words that occur in the same\n"
         "documents get similar vectors. 'tem posterior --vectors FILE.vec' takes them.\n"
         "The text must be PUBLIC: the vectors tell which words it has, and which of them occur\n"
         "together. Never use a text that you want to protect.\n");
    options_print_help(stdout, table);
    wrap(
        "\n"
        "  tem vectors public.txt -o public.vec\n"
        "  tem posterior --epsilon 2 --prior public.txt --vectors public.vec -o p.vec\n"
        "\n"
        "A word that does not occur gets the vector 0. FILE.npy is a float32 matrix of NumPy with\n"
        "a row for each word of the model; FILE.words gets the words, one per line.");
}

int command_vectors(int argc, char *const *argv) {
    vectors_request r = {.columns = COLUMNS_DEFAULT};
    const option_spec table[] = {
        {"dimensions", 0, OPTION_COUNT, &r.columns, "K", "numbers per word (default 50)", 1,
         COLUMNS_MAX},
        {"output", 'o', OPTION_TEXT, &r.output, "FILE", "the file to write: FILE.vec or FILE.npy",
         0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the output", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, &r.text, 1, &operands, message))
        return talk_usage("vectors", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    if (operands == 0)
        return talk_usage("vectors", "which text? It must be public; '-' is standard input");
    int status = vector_file_check("vectors", r.output, r.force);
    if (status != EXIT_DONE)
        return status;
    const tem_run run = talk_run((unsigned)r.common.threads, r.common.quiet);
    tem_model *model = trust_open_model(r.common.model, r.common.model_hash, &run);
    status = model != NULL ? make(&r, model, &run) : EXIT_FAILED;
    tem_model_free(model);
    return status;
}
