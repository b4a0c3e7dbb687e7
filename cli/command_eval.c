/* command_eval.c - tem eval: measures how well a classifier learns from the outputs of a mechanism,
 * and how well attacks succeed. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "eval.h"
#include "format_names.h"
#include "mechanism_options.h"
#include "talk.h"
#include "trust.h"
#include "wrap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS_DEFAULT = 5, SEED_DEFAULT = 1, EPOCHS_DEFAULT = 20, EPOCHS_MAX = 10000 };

static const char quick_epsilons[] = "1,2,3";

/* The options of tem eval. */
typedef struct request {
    common_options common;
    const char *what; /* "imdb" or "classify" */
    const char *data, *train, *test, *format_name, *field, *label, *delimiter, *out;
    const char *mechanisms, *list_path, *epsilons, *only, *export_to;
    const unsigned char *listed;
    const char *learners, *public_text, *vectors;
    eval_files files;
    double penalty;
    uint64_t trials, seed, epochs;
    bool quick, random_init, paper;
} request;

/* "1 h 05 min" or "40 s". */
static const char *time_text(double seconds, char text[32]) {
    const unsigned long minutes = (unsigned long)(seconds / 60);
    if (minutes >= 60)
        snprintf(text, 32, "%lu h %02lu min", minutes / 60, minutes % 60);
    else if (minutes >= 2)
        snprintf(text, 32, "%lu min", minutes);
    else
        snprintf(text, 32, "%.0f s", seconds);
    return text;
}

static void tell_row(void *context, const eval_row *row, uint32_t done, uint32_t total,
                     double seconds_left) {
    const request *r = context;
    char epsilon[32] = "", learner[EVAL_NAME_BYTES + 16] = "", attack[64] = "", took[32], left[32];
    talk_end_progress();
    if (row->epsilon > 0)
        snprintf(epsilon, sizeof epsilon, ", epsilon %g", row->epsilon);
    if (isfinite(row->mia_auc))
        snprintf(attack, sizeof attack, ", membership AUC %.3f", row->mia_auc);
    if (strcmp(row->learner, "paper") != 0)
        snprintf(learner, sizeof learner, ", learner %s", row->learner);
    talk_note(r->common.quiet, "%u/%u %s%s%s, trial %u: accuracy %.2f %%%s (%s; %s left)", done,
              total, row->mechanism, epsilon, learner, row->trial, 100 * row->accuracy, attack,
              time_text(row->seconds, took), time_text(seconds_left, left));
}

static void tell_note(void *context, const char *sentence) {
    const request *r = context;
    talk_end_progress();
    talk_note(r->common.quiet, "tem: %s", sentence);
}

/* Prints results.md on stdout. */
static int print_table(const char *folder) {
    char path[4096], part[4096];
    size_t bytes;
    snprintf(path, sizeof path, "%s/results.md", folder);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror("tem: results.md");
        return EXIT_FAILED;
    }
    while ((bytes = fread(part, 1, sizeof part, file)) > 0)
        fwrite(part, 1, bytes, stdout);
    fclose(file);
    return EXIT_DONE;
}

static tem_status evaluate(const request *r, const tem_model *model, const eval_options *options,
                           tem_error *error) {
    if (strcmp(r->what, "imdb") == 0)
        return eval_imdb(model, r->data, options, error);
    return eval_classify(model, &r->files, options, error);
}

static int run(request *r, const tem_model *model, const tem_run *how) {
    tem_error error;
    const eval_options options = {
        .model_path = default_model_path(),
        .folder = r->out,
        .trials = r->quick && r->trials == 0 ? 1
                  : r->trials == 0           ? TRIALS_DEFAULT
                                             : (uint32_t)r->trials,
        .seed = r->seed,
        .quarter = r->quick && strcmp(r->what, "imdb") == 0,
        .random_init = r->random_init,
        .mechanisms = r->mechanisms,
        .listed = r->listed,
        .epsilons = r->epsilons == NULL && r->quick ? quick_epsilons : r->epsilons,
        .learners = r->learners,
        .public_text = r->public_text,
        .vectors = r->vectors,
        .penalty = r->penalty,
        .only = r->only,
        .epochs = (uint32_t)r->epochs,
        .export_to = r->export_to,
        .run = how,
        .told = tell_row,
        .note = tell_note,
        .context = r,
    };
    const tem_status status = evaluate(r, model, &options, &error);
    talk_end_progress();
    if (status == TEM_ERR_ARGUMENT)
        return talk_usage("eval", "%s", error.message);
    return status == TEM_OK ? print_table(r->out) : talk_error(&error);
}

/* What is wrong with the options, or NULL. */
static const char *complaint(const request *r) {
    const bool imdb = r->what != NULL && strcmp(r->what, "imdb") == 0;
    const bool classify = r->what != NULL && strcmp(r->what, "classify") == 0;
    const bool some = r->train || r->test || r->format_name || r->field || r->label;
    const bool all = r->train && r->test && r->field && r->label;
    if (!imdb && !classify)
        return "which evaluation? tem eval imdb, or tem eval classify";
    if (imdb && (r->data == NULL || some))
        return "tem eval imdb takes --data DIR, the unpacked aclImdb directory, and no other files";
    if (r->paper && (classify || r->common.model != NULL))
        return "--paper is for tem eval imdb, and it names the model: leave out -m";
    if (classify && (!all || r->data != NULL))
        return "tem eval classify takes --train, --test, --field and --label";
    return r->out == NULL ? "where do the results go? --out DIR" : NULL;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem eval imdb --data DIR --out DIR [OPTIONS]\n"
         "       tem eval classify --train FILE --test FILE\n"
         "                         --field NAME --label FIELD --out DIR [OPTIONS]\n"
         "\n"
         "tem eval imdb trains a sentiment classifier on half of the IMDB reviews, unchanged and "
         "after\n"
         "each mechanism, tests it on original reviews, and attacks it (membership inference).\n"
         "\n"
         "tem eval classify does the same without the attack on your own labeled texts.\n"
         "\n"
         "tem writes each result as a line of DIR/results.jsonl as soon as it has it; a run that\n"
         "was stopped continues where it was. At the end it makes results.csv, results.md and\n"
         "figures. The draws are seeded: this is an experiment, and its texts are not private.\n"
         "\n"
         "Learners: paper is the paper's classifier; linear has fixed vectors; posterior and\n"
         "deconvolved use the law of the mechanism. Public text gives the prior and the vectors.\n"
         "It must be public; imdb takes the unlabeled reviews, train/unsup. Without public text\n"
         "the prior is Zipf's law, and the vectors are the file MODEL.temv beside MODEL.tem.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem eval imdb --data aclImdb --out results --quick\n"
         "  tem eval imdb --data aclImdb --out results --only tem:2:1");
}

/* Sets the files of classify. Returns an exit status; prints what is wrong. */
static int name_files(request *r) {
    const char *const paths[] = {r->train, r->test};
    tem_error error;
    if (strcmp(r->what, "classify") != 0)
        return EXIT_DONE;
    r->files =
        (eval_files){.train = r->train, .test = r->test, .text = r->field, .label = r->label};
    if (r->format_name != NULL &&
        tem_format_parse(r->format_name, &r->files.format, &error) != TEM_OK)
        return talk_usage("eval", "--format: %s", error.message);
    const int guessed = format_guess("eval", paths, 2, true, &r->files.format);
    if (guessed != EXIT_DONE)
        return guessed;
    if (!format_has_fields(r->files.format))
        return talk_usage("eval", "which format? --format %s", format_names_with_fields());
    return format_parse_delimiter("eval", r->delimiter, r->files.format, &r->files.delimiter);
}

int command_eval(int argc, char *const *argv) {
    request r = {.seed = SEED_DEFAULT, .epochs = EPOCHS_DEFAULT};
    const option_spec table[] = {
        {"data", 0, OPTION_TEXT, &r.data, "DIR", "imdb: the unpacked aclImdb directory", 0, 0},
        {"train", 0, OPTION_TEXT, &r.train, "FILE", "classify: labeled texts to learn from", 0, 0},
        {"test", 0, OPTION_TEXT, &r.test, "FILE", "classify: labeled texts to test on", 0, 0},
        {"format", 0, OPTION_TEXT, &r.format_name, "F",
         "classify: tsv, csv or jsonl (default: by the ending of the files)", 0, 0},
        {"field", 0, OPTION_TEXT, &r.field, "NAME", "classify: the field that has the text", 0, 0},
        {"delimiter", 0, OPTION_TEXT, &r.delimiter, "C",
         "classify, csv: the character between fields, as for privatize", 0, 0},
        {"label", 0, OPTION_TEXT, &r.label, "FIELD", "classify: the field that has the label", 0,
         0},
        {"out", 'o', OPTION_TEXT, &r.out, "DIR",
         "directory for the results; a run continues the results in it", 0, 0},
        {"mechanisms", 0, OPTION_TEXT, &r.mechanisms, "LIST",
         "some of original,madlib,tem,equal,balanced,tuned (default: all), and others that\n"
         "'tem mechanisms' lists, with their own numbers as in mahalanobis:lambda=0.5",
         0, 0},
        {"list", 0, OPTION_TEXT, &r.list_path, "FILE",
         "the public list of words for the mechanisms that need one, one per line", 0, 0},
        {"epsilons", 0, OPTION_TEXT, &r.epsilons, "LIST",
         "such as 1,2,3 (default: 0.5 to 10, madlib to 24)", 0, 0},
        {"learners", 0, OPTION_TEXT, &r.learners, "LIST",
         "some of paper,linear,posterior,deconvolved (default: paper)", 0, 0},
        {"public", 0, OPTION_TEXT, &r.public_text, "PATH",
         "PUBLIC text: a file with one document per line, or a directory of .txt files", 0, 0},
        {"vectors", 0, OPTION_TEXT, &r.vectors, "V",
         "of linear and posterior: a file; text:K, from the public text (default text:50);\n"
         "or signals, those of an adapted model",
         0, 0},
        {"penalty", 0, OPTION_POSITIVE, &r.penalty, "X",
         "of linear and posterior (default: each chooses its own by every fifth released\n"
         "training text of a label)",
         0, 0},
        {"trials", 0, OPTION_COUNT, &r.trials, "N", "repetitions (default 5)", 1, EVAL_TRIALS_MAX},
        {"paper", 0, OPTION_FLAG, &r.paper, NULL,
         "imdb: use the raw model, which 'make raw' builds, as docs/EVALUATION.md does", 0, 0},
        {"quick", 0, OPTION_FLAG, &r.quick, NULL,
         "one trial, at epsilon 1, 2 and 3; imdb: on a quarter of the reviews", 0, 0},
        {"only", 0, OPTION_TEXT, &r.only, "ROW",
         "compute these rows again: MECHANISM[:EPSILON[:TRIAL]]", 0, 0},
        {"epochs", 0, OPTION_COUNT, &r.epochs, "N", "epochs of each training (default 20)", 1,
         EPOCHS_MAX},
        {"random-init", 0, OPTION_FLAG, &r.random_init, NULL,
         "start the classifier with random vectors, not with the model's", 0, 0},
        {"export", 0, OPTION_TEXT, &r.export_to, "DIR",
         "write each row's texts there, in fastText's format", 0, 0},
        {"insecure-seed", 0, OPTION_COUNT, &r.seed, "N", "seed of all random numbers (default 1)",
         0, UINT64_MAX},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, &r.what, 1, &operands, message))
        return talk_usage("eval", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    if (complaint(&r) != NULL)
        return talk_usage("eval", "%s", complaint(&r));
    if (r.paper && (r.common.model = default_model_raw()) == NULL)
        return EXIT_FAILED;
    const int files = name_files(&r);
    if (files != EXIT_DONE)
        return files;
    const tem_run how = talk_run((unsigned)r.common.threads, r.common.quiet);
    tem_model *model = trust_open_model(r.common.model, r.common.model_hash, &how);
    if (model == NULL)
        return EXIT_FAILED;
    own_options own;
    const option_list none = {.count = 0};
    int status = own_options_read("eval", &none, r.list_path, model, &own);
    r.listed = own.listed;
    if (status == EXIT_DONE)
        status = run(&r, model, &how);
    own_options_free(&own);
    tem_model_free(model);
    return status;
}
