/* command_ngram.c - tem ngram: which words of public texts follow which. */
#include "commands.h"
#include "common_options.h"
#include "outputs.h"
#include "talk.h"
#include "tem_attack.h"
#include "trust.h"
#include "wrap.h"

#include <string.h>

enum { TEXTS_MAX = 64 };

typedef struct ngram_request {
    common_options common;
    uint64_t order;
    const char *texts[TEXTS_MAX];
    size_t text_count;
    const char *output;
    bool force;
} ngram_request;

static void say_what_was_done(const ngram_request *r, const tem_ngram *ngram, double seconds) {
    tem_ngram_info info;
    tem_ngram_get_info(ngram, &info);
    const bool quiet = r->common.quiet;
    talk_note(quiet, "counted %s words of %s documents, %.1f %% of them unknown",
              talk_count(info.words), talk_count(info.documents),
              100 * (double)info.unknown / (double)info.words);
    talk_note(quiet, "wrote %s bigrams and %s trigrams: %.1f s", talk_count(info.bigrams),
              talk_count(info.trigrams), seconds);
    talk_note(quiet || !r->common.verbose, "discounts: %.4f %.4f %.4f", info.discounts[0],
              info.discounts[1], info.discounts[2]);
}

static int make(const ngram_request *r, const tem_model *model, const tem_run *run) {
    const double start = talk_clock();
    tem_ngram *ngram = NULL;
    tem_error error;
    tem_status status =
        tem_ngram_train(model, r->texts, r->text_count, (uint32_t)r->order, run, &ngram, &error);
    if (status == TEM_OK)
        status = tem_ngram_save(ngram, r->output, r->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING, run,
                                &error);
    talk_end_progress();
    if (status == TEM_OK)
        say_what_was_done(r, ngram, talk_clock() - start);
    tem_ngram_free(ngram);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem ngram PUBLIC.txt... [OPTIONS] -o LM.arpa\n"
        "\n"
        "Counts which words of public texts follow which, one document per line, and smooths the\n"
        "counts (interpolated Kneser-Ney). 'tem attack --ngram LM.arpa' and 'tem choose --context\n"
        "LM.arpa' guess words by context with it. The words are those of the model; all unknown\n"
        "words count as one word.\n"
        "The texts must be PUBLIC: the file tells which words they have, and in which order.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem ngram public.txt -o public.arpa\n"
         "  tem attack released.txt --epsilon 2 --prior public.txt --ngram public.arpa\n"
         "\n"
         "LM.arpa is ARPA text, which other programs for language models read and write, too.");
}

static int check_request(const ngram_request *r) {
    if (r->text_count == 0)
        return talk_usage("ngram", "which texts? They must be public; '-' is standard input");
    if (r->output == NULL)
        return talk_usage("ngram", "where to? -o LM.arpa");
    return outputs_check(r->output, r->force) ? EXIT_DONE : EXIT_FAILED;
}

int command_ngram(int argc, char *const *argv) {
    ngram_request r = {.order = TEM_NGRAM_ORDER_DEFAULT};
    const option_spec table[] = {
        {"order", 0, OPTION_COUNT, &r.order, "N", "2: bigrams, 3: bigrams and trigrams (default 3)",
         2, 3},
        {"output", 'o', OPTION_TEXT, &r.output, "FILE", "the file to write", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the output", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    if (!options_parse(argc, argv, table, r.texts, TEXTS_MAX, &r.text_count, message))
        return talk_usage("ngram", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    int status = check_request(&r);
    if (status != EXIT_DONE)
        return status;
    const tem_run run = talk_run((unsigned)r.common.threads, r.common.quiet);
    tem_model *model = trust_open_model(r.common.model, r.common.model_hash, &run);
    status = model != NULL ? make(&r, model, &run) : EXIT_FAILED;
    tem_model_free(model);
    return status;
}
