/* command_ngram.c - tem ngram: language models of public texts. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "language_show.h"
#include "ngram_evaluate.h"
#include "ngram_sources.h"
#include "outputs.h"
#include "talk.h"
#include "tem_language.h"
#include "trust.h"
#include "wrap.h"

#include <jansson.h>
#include <string.h>

enum { LANGUAGE_NAME_BYTES = sizeof((tem_language_info *)NULL)->name };

typedef struct ngram_request {
    common_options common;
    ngram_sources from;
    double prune, temper, lift;
    const char *name, *origin, *license;
    const char *output;
    bool force, evaluate, json;
} ngram_request;

static bool makes_language(const ngram_request *r) {
    return language_show_is_named(r->output);
}

/* ---- making ---- */

static void say_what_was_read(const ngram_request *r, const tem_ngram_info *counted) {
    const bool quiet = r->common.quiet;
    if (counted->words > 0)
        talk_note(quiet, "counted %s words of %s documents, %.1f %% of them unknown",
                  talk_count(counted->words), talk_count(counted->documents),
                  100 * (double)counted->unknown / (double)counted->words);
    else if (counted->outside > 0)
        talk_note(quiet, "%s: %s words are not in the model, and left out", r->from.texts[0],
                  talk_count(counted->outside));
}

static void say_what_was_written(const ngram_request *r, const tem_ngram_info *read,
                                 const tem_ngram *ngram, double seconds) {
    tem_ngram_info info;
    tem_ngram_get_info(ngram, &info);
    const bool quiet = r->common.quiet;
    if (info.bigrams + info.trigrams < read->bigrams + read->trigrams) {
        talk_note(quiet, "pruned %s bigrams and %s trigrams",
                  talk_count(read->bigrams - info.bigrams),
                  talk_count(read->trigrams - info.trigrams));
    }
    talk_note(quiet, "wrote %s bigrams and %s trigrams: %.1f s", talk_count(info.bigrams),
              talk_count(info.trigrams), seconds);
    talk_note(quiet || !r->common.verbose || info.words == 0, "discounts: %.4f %.4f %.4f",
              info.discounts[0], info.discounts[1], info.discounts[2]);
}

/* Whoever makes a language model trusts it. */
static tem_status note_trust(const ngram_request *r, const tem_language *language,
                             const tem_run *run, tem_error *error) {
    tem_language_info info;
    tem_language_get_info(language, &info);
    const tem_status status = tem_trust_add(info.hash, run, error);
    if (status == TEM_OK || status == TEM_ERR_CANCELLED)
        return status;
    talk_note(r->common.quiet, "tem: %s%s%s", error->file, error->file[0] != '\0' ? ": " : "",
              error->message);
    talk_note(r->common.quiet,
              "tem: %s: tem could not note that you trust this language model: its hash is %s",
              r->output, info.hash);
    return TEM_OK;
}

/* Whether a name can stand in a language model, and in JSON: UTF-8 without control characters. */
static bool is_good_name(const char *name) {
    bool is_plain = true;
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++)
        is_plain &= *c >= ' ' && *c != 127 && !(*c == 0xc2 && c[1] < 0xa0);
    json_t *json = is_plain ? json_string(name) : NULL; /* NULL: not UTF-8 */
    json_decref(json);
    return json != NULL;
}

/* The name of the file without its ending, for who gives no other: messages and reports have a name
 * then, and not a hash. NULL if it cannot be one. */
static const char *name_of_file(const char *path, char name[LANGUAGE_NAME_BYTES]) {
    static const char ending[] = ".temlm";
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    const size_t bytes = strlen(base) - (sizeof ending - 1);
    if (bytes >= LANGUAGE_NAME_BYTES)
        return NULL;
    memcpy(name, base, bytes);
    name[bytes] = '\0';
    return is_good_name(name) ? name : NULL;
}

static tem_status write_language(const ngram_request *r, const tem_ngram *ngram, const tem_run *run,
                                 tem_error *error) {
    char name[LANGUAGE_NAME_BYTES];
    const tem_language_options options = {.name = r->name != NULL ? r->name
                                                                  : name_of_file(r->output, name),
                                          .origin = r->origin,
                                          .license = r->license,
                                          .temper = r->temper,
                                          .lift = r->lift};
    tem_language *language = NULL;
    tem_status status = tem_language_make(ngram, &options, run, &language, error);
    if (status == TEM_OK)
        status = tem_language_save(language, r->output,
                                   r->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING, run, error);
    if (status == TEM_OK)
        status = note_trust(r, language, run, error);
    tem_language_free(language);
    return status;
}

static tem_status write_output(const ngram_request *r, const tem_ngram *ngram, const tem_run *run,
                               tem_error *error) {
    return makes_language(r)
               ? write_language(r, ngram, run, error)
               : tem_ngram_save(ngram, r->output, r->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING, run,
                                error);
}

/* Replaces the n-grams by those that stay. */
static tem_status prune(const ngram_request *r, const tem_run *run, tem_ngram **ngram,
                        tem_error *error) {
    tem_ngram *pruned = NULL;
    if (r->prune == 0)
        return TEM_OK;
    const tem_status status = tem_ngram_prune(*ngram, r->prune, run, &pruned, error);
    if (status == TEM_OK) {
        tem_ngram_free(*ngram);
        *ngram = pruned;
    }
    return status;
}

static int make(const ngram_request *r, const tem_model *model, const tem_run *run) {
    const double start = talk_clock();
    if (!ngram_sources_find(&r->from, r->output))
        return EXIT_FAILED;
    tem_ngram *ngram = NULL;
    tem_ngram_info counted, read;
    tem_error error;
    tem_status status = ngram_sources_read(&r->from, model, run, &ngram, &counted, &error);
    tem_ngram_get_info(ngram, &read);
    if (status == TEM_OK)
        status = prune(r, run, &ngram, &error);
    if (status == TEM_OK)
        status = write_output(r, ngram, run, &error);
    talk_end_progress();
    if (status == TEM_OK) {
        say_what_was_read(r, &counted);
        say_what_was_written(r, &read, ngram, talk_clock() - start);
        talk_note(r->common.quiet || !makes_language(r),
                  "next: tem privatize --language-model %s%s draws text in context", r->output,
                  default_model_naming());
    }
    tem_ngram_free(ngram);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

/* ---- the command ---- */

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem ngram PUBLIC.txt... [OPTIONS] -o LM.temlm\n"
        "       tem ngram PUBLIC.txt... [OPTIONS] -o LM.arpa\n"
        "       tem ngram LM.arpa [OPTIONS] -o LM.temlm\n"
        "       tem ngram --evaluate PUBLIC.txt [LM.temlm...] [OPTIONS]\n"
        "\n"
        "Counts which words of public texts follow which, one document per line, and smooths the\n"
        "counts (interpolated Kneser-Ney). The words are those of the model; all unknown words\n"
        "count as one word.\n"
        "With LM.temlm, a language model, 'tem privatize --language-model LM.temlm' draws text in\n"
        "context. With LM.arpa 'tem attack --ngram' and 'tem choose --context' guess words by\n"
        "context; it is ARPA text, which other programs for language models read and write, too.\n"
        "tem reads ARPA files (also packed by gzip), packed n-grams (.temng) and language models\n"
        "in place of texts, and 'english', the one that comes with tem.\n"
        "The texts must be PUBLIC: the file tells which words they have, and in which order.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem ngram public.txt -o public.temlm\n"
         "  tem ngram public.txt --mix 0.3=english --prune 1e-8 -o mixed.temlm\n"
         "  tem ngram --evaluate public.txt mixed.temlm english\n"
         "\n"
         "A language model of texts of the same kind as yours is worth most. --evaluate shows how\n"
         "well one fits: its perplexity, the number of words that it hesitates between. Measure\n"
         "it on public texts that it was not made of; 'english' is the one that comes with tem.");
}

static int check_evaluation(const ngram_request *r) {
    if (r->output != NULL || r->from.mix.count > 0 || r->prune > 0)
        return talk_usage("ngram", "--evaluate writes nothing, and mixes nothing");
    if (r->from.text_count == 0)
        return talk_usage("ngram", "--evaluate: which text? It must be public");
    return EXIT_DONE;
}

/* Options that only say something of language models. */
static int check_language_options(const ngram_request *r) {
    const char *given = r->temper > 0        ? "--temper"
                        : r->lift > 0        ? "--lift"
                        : r->name != NULL    ? "--name"
                        : r->origin != NULL  ? "--origin"
                        : r->license != NULL ? "--license"
                                             : NULL;
    if (given != NULL && !makes_language(r))
        return talk_usage("ngram", "%s is for language models: -o NAME.temlm", given);
    if (r->temper > 4)
        return talk_usage("ngram", "--temper is above 0, and at most 4");
    if (r->lift > 0 && r->lift < 1)
        return talk_usage("ngram", "--lift is 1 or more");
    return EXIT_DONE;
}

static int check_request(const ngram_request *r) {
    if (r->evaluate)
        return check_evaluation(r);
    if (r->json)
        return talk_usage("ngram", "--json is for --evaluate");
    int status = ngram_sources_check(&r->from);
    if (status != EXIT_DONE)
        return status;
    if (r->output == NULL)
        return talk_usage("ngram", "where to? -o LM.temlm, or -o LM.arpa");
    status = check_language_options(r);
    if (status != EXIT_DONE)
        return status;
    return outputs_check(r->output, r->force) ? EXIT_DONE : EXIT_FAILED;
}

static int run_request(const ngram_request *r) {
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    tem_model *model = r->evaluate ? default_model_open(r->common.model)
                                   : trust_open_model(r->common.model, r->common.model_hash, &run);
    int status = EXIT_FAILED;
    if (model != NULL && r->evaluate)
        status = ngram_evaluate(model, r->from.texts, r->from.text_count, r->json, &run);
    else if (model != NULL)
        status = make(r, model, &run);
    tem_model_free(model);
    return status;
}

int command_ngram(int argc, char *const *argv) {
    ngram_request r = {.from.order = TEM_NGRAM_ORDER_DEFAULT};
    const option_spec table[] = {
        {"output", 'o', OPTION_TEXT, &r.output, "FILE",
         "the file to write: a language model if it ends in .temlm, else ARPA", 0, 0},
        {"order", 0, OPTION_COUNT, &r.from.order, "N",
         "1: words alone, 2: bigrams, 3: bigrams and trigrams (default 3)", 1, 3},
        {"mix", 0, OPTION_FILES, &r.from.mix, "SHARE=FILE",
         "mix with this text or n-gram model, as this share of all; may be given several times", 0,
         0},
        {"prune", 0, OPTION_POSITIVE, &r.prune, "T",
         "leave out n-grams without which the perplexity rises by less than T times itself, such "
         "as 1e-8",
         0, 0},
        {"temper", 0, OPTION_POSITIVE, &r.temper, "T",
         "language model: raise probabilities to the power of T, up to 4 (default 1)", 0, 0},
        {"lift", 0, OPTION_POSITIVE, &r.lift, "L",
         "language model: the context makes a word at most L times as likely as it is without", 0,
         0},
        {"name", 0, OPTION_TEXT, &r.name, "TEXT",
         "language model: its name, in reports (default: that of the file)", 0, 0},
        {"origin", 0, OPTION_TEXT, &r.origin, "TEXT", "language model: what it was made of", 0, 0},
        {"license", 0, OPTION_TEXT, &r.license, "TEXT", "language model: under which terms", 0, 0},
        {"evaluate", 0, OPTION_FLAG, &r.evaluate, NULL,
         "show how well language models fit a public text (default: english)", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object (--evaluate)", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the output", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    if (!options_parse(argc, argv, table, r.from.texts, NGRAM_TEXTS_MAX, &r.from.text_count,
                       message))
        return talk_usage("ngram", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    const int status = check_request(&r);
    return status == EXIT_DONE ? run_request(&r) : status;
}
