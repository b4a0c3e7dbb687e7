/* command_privatize.c - tem privatize: private text for text. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "format_names.h"
#include "mechanism_options.h"
#include "outputs.h"
#include "talk.h"
#include "tem_command.h"
#include "trust.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct privatize_request {
    common_options common;
    mechanism_choice choice;
    tem_job job;
    tem_balance balance;
    const char *oov_name, *punctuation_name, *format_name, *missing_name, *report_path, *seed_text;
    bool strip_tags, keep_lines, dry_run, force, no_verify;
} privatize_request;

static void print_help(const option_spec *table) {
    puts("usage: tem privatize --epsilon E [OPTIONS] [FILE...]\n"
         "\n"
         "Replaces every word by one drawn from the words near it. Reads the files, or standard\n"
         "input ('-'), and writes to standard output or to -o OUT.\n");
    options_print_help(stdout, table);
    puts("\n"
         "  echo \"the movie was wonderful\" | tem privatize --epsilon 3\n"
         "  tem privatize --epsilon 3 reviews.txt -o private.txt --report report.json\n"
         "  tem privatize --epsilon 3 --format csv --field text in.csv -o out.csv\n"
         "  tem privatize --epsilon 3 --format jsonl --field body < in.jsonl > out.jsonl\n"
         "  tem privatize --epsilon 3 --ledger spent.jsonl --budget 1000 in.txt -o out.txt\n"
         "\n"
         "epsilon is the privacy lost per unit of distance between words: two words at distance\n"
         "d are told apart by a factor of exp(E d) at most. 'tem explain --epsilon E WORD' shows\n"
         "what that means for a word. Whole texts cost the sum over their words.\n"
         "The number of words in each line or field is not hidden; how they were written is.");
}

/* The private text must not end up in a core file, nor in a debugger of another process. */
static void hide_memory(void) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static int parse_names(privatize_request *r) {
    tem_error error;
    if (r->oov_name != NULL && tem_oov_parse(r->oov_name, &r->job.text.oov, &error) != TEM_OK)
        return talk_usage("privatize", "--oov: %s", error.message);
    if (r->punctuation_name != NULL &&
        tem_punctuation_parse(r->punctuation_name, &r->job.text.punctuation, &error) != TEM_OK)
        return talk_usage("privatize", "--punctuation: %s", error.message);
    if (r->format_name != NULL &&
        tem_format_parse(r->format_name, &r->job.format, &error) != TEM_OK)
        return talk_usage("privatize", "--format: %s", error.message);
    if (r->missing_name != NULL &&
        tem_missing_parse(r->missing_name, &r->job.missing, &error) != TEM_OK)
        return talk_usage("privatize", "--missing: %s", error.message);
    return EXIT_DONE;
}

/* What can be known of the inputs before anything is released. */
static int check_inputs(const privatize_request *r) {
    for (size_t i = 0; i < r->job.input_count; i++) {
        const char *path = r->job.inputs[i];
        if (strcmp(path, "-") != 0 && access(path, R_OK) != 0) {
            fprintf(stderr, "tem: %s: cannot open: %s\n", path, strerror(errno));
            return EXIT_FAILED;
        }
        if (r->job.format == 0 && format_is_ending(path))
            return talk_usage("privatize",
                              "%s looks like a table: name its --format and --field, or say "
                              "--format text",
                              path);
    }
    return EXIT_DONE;
}

static int check_ledger(const privatize_request *r, bool fields) {
    const tem_job *job = &r->job;
    if (job->ledger == NULL && job->budget > 0)
        return talk_usage("privatize", "--budget needs --ledger FILE, which says what was spent");
    if (job->ledger == NULL && job->by != NULL)
        return talk_usage("privatize", "--by needs --ledger FILE, in which people are charged");
    if (job->by != NULL && !fields)
        return talk_usage("privatize", "--by needs --format %s, and --field",
                          format_names_with_fields());
    if (job->by != NULL && strcmp(job->by, job->field) == 0)
        return talk_usage("privatize", "--by names the private field: whose records are they?");
    if (job->ledger != NULL && (job->ledger[0] == '\0' || strcmp(job->ledger, "-") == 0))
        return talk_usage("privatize", "--ledger takes the name of a file");
    if (job->ledger != NULL && (outputs_are_same(job->ledger, r->report_path) ||
                                outputs_are_same(job->ledger, job->output)))
        return talk_usage("privatize", "--ledger names the same file as --output or --report");
    return EXIT_DONE;
}

static int check_request(privatize_request *r) {
    if (r->choice.epsilon <= 0)
        return mechanism_ask_epsilon("privatize", r->choice.calibrated);
    const int status = parse_names(r);
    if (status != EXIT_DONE)
        return status;
    const bool fields = format_has_fields(r->job.format);
    if (fields && r->job.field == NULL)
        return talk_usage("privatize", "which field is private? --field NAME");
    if (!fields && r->job.field != NULL)
        return talk_usage("privatize", "--field needs --format %s", format_names_with_fields());
    const int refused = check_ledger(r, fields);
    if (refused != EXIT_DONE)
        return refused;
    if (r->seed_text != NULL && !options_number(r->seed_text, &r->job.insecure_seed))
        return talk_usage("privatize", "--insecure-seed takes a whole number");
    r->job.insecure_seeded = r->seed_text != NULL;
    r->job.text.strip_tags = r->strip_tags;
    r->job.text.keep_lines = r->keep_lines;
    r->job.dry_run = r->dry_run;
    r->job.overwrite = r->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING;
    if (r->job.output != NULL && strcmp(r->job.output, "-") != 0 && !r->dry_run &&
        !outputs_check(r->job.output, r->force))
        return EXIT_FAILED;
    if (r->report_path != NULL && !outputs_check(r->report_path, r->force))
        return EXIT_FAILED;
    if (outputs_are_same(r->report_path, r->job.output))
        return talk_usage("privatize", "--output and --report name the same file");
    return check_inputs(r);
}

/* Tells of what is in effect no privacy, or no text. It takes longer to find out than to cut
 * megabytes of text, so where nothing would be told it is not asked. */
static void warn_about_epsilon(const tem_mechanism *mechanism, bool quiet) {
    double median = 0;
    if (quiet || tem_mechanism_self_median(mechanism, &median, NULL) != TEM_OK)
        return; /* Madlib: not known */
    tem_certificate_info certificate;
    const bool certified = tem_mechanism_get_certificate(mechanism, &certificate);
    if (median > TEM_SELF_MEDIAN_LARGE)
        talk_note(quiet,
                  "tem: warning: at this epsilon most words stay themselves (%.3f of the time): "
                  "nearly no privacy. A smaller epsilon changes more%s.",
                  median,
                  certified ? ": with certificates try 1 to 1.5; 'tem choose' lists what each does"
                            : "");
    else if (median < TEM_SELF_MEDIAN_SMALL)
        talk_note(quiet,
                  "tem: warning: at this epsilon most words become any word (themselves %.4f of "
                  "the time): nearly no text is left. A larger epsilon keeps more.",
                  median);
}

static void say_what_was_done(const privatize_request *r, const tem_mechanism *mechanism,
                              const tem_counts *counts) {
    const bool quiet = r->common.quiet;
    const char *why_not_private = tem_job_why_not_private(mechanism, &r->job);
    tem_mechanism_info of_mechanism;
    const tem_mechanism_info *info = &of_mechanism;
    tem_mechanism_get_info(mechanism, &of_mechanism);
    talk_note(quiet, "%s %s word%s (%s unknown) in %s document%s with %s%s at epsilon %g",
              r->dry_run ? "counted" : "privatized", talk_count(counts->words),
              counts->words == 1 ? "" : "s", talk_count(counts->unknown),
              talk_count(counts->documents), counts->documents == 1 ? "" : "s",
              info->certificate[0] != '\0' ? "calibrated " : "", info->properties->name,
              info->epsilon);
    const bool brief = quiet || !(r->common.verbose || r->dry_run);
    if (why_not_private == NULL)
        talk_note(brief, "s = %.6f, gamma = %.4f; cost %s per unit of distance, %s at most",
                  info->s, info->gamma,
                  talk_count((uint64_t)ceil((double)counts->words * info->epsilon)),
                  talk_count((uint64_t)ceil((double)counts->words * info->epsilon_gamma)));
    else /* PRIVACY: also where the user asked for quiet; and no cost, which would be a bound */
        talk_note(false, "tem: warning: the output %s private: %s.",
                  r->dry_run ? "would NOT be" : "is NOT", why_not_private);
}

/* What the ledger says now. Numbers as they are read: 15 digits are always right. */
static void say_what_is_left(const privatize_request *r) {
    const tem_balance *b = &r->balance;
    const bool quiet = r->common.quiet;
    char left[96] = "";
    if (r->job.ledger == NULL)
        return;
    talk_note(quiet || !b->created, "started a new ledger, %s", r->job.ledger);
    if (r->job.budget > 0)
        snprintf(left, sizeof left, "; %.15g of the budget of %.15g %s left", b->left,
                 r->job.budget, r->dry_run ? "would be" : "is");
    if (r->job.by == NULL)
        talk_note(quiet, "%s: %.15g spent before%s", r->job.ledger, b->spent_before, left);
    else
        talk_note(quiet, "%s: %s %s %s; the one who has spent most had spent %.15g before%s",
                  r->job.ledger, talk_count(b->people), b->people == 1 ? "person" : "people",
                  r->dry_run ? "to be charged" : "charged", b->spent_before, left);
}

/* A run that failed after it was charged. */
static void say_what_was_charged(const privatize_request *r, bool kept) {
    if (r->balance.spent > 0)
        fprintf(stderr, "tem: %s: stays charged with %.15g for this run%s\n", r->job.ledger,
                r->balance.spent, kept ? "" : ", of which nothing is kept");
}

/* Writes the report, whole or not at all. Returns an exit status, after saying what went wrong. */
static int write_report(const privatize_request *r, const tem_mechanism *mechanism,
                        const tem_counts *counts) {
    const tem_balance *balance = r->job.ledger != NULL ? &r->balance : NULL;
    char *text = NULL;
    size_t bytes = 0;
    tem_error error;
    tem_status status = tem_report_json(mechanism, &r->job, counts, balance, &text, &bytes, &error);
    /* PRIVACY: it depends on the text, and is for the owner of the text. */
    if (status == TEM_OK)
        status =
            tem_file_write(r->report_path, text, bytes, TEM_OVERWRITE, TEM_READERS_OWNER, &error);
    tem_text_free(text);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static int run_job(privatize_request *r, const tem_mechanism *mechanism, const tem_run *run) {
    tem_counts counts = {0};
    tem_error error;
    const char *why_not_private = tem_job_why_not_private(mechanism, &r->job);
    if (r->job.budget > 0 && why_not_private != NULL)
        return talk_usage("privatize", "--budget: no budget can be kept: %s", why_not_private);
    warn_about_epsilon(mechanism, r->common.quiet);
    const tem_status status =
        tem_privatize_files(mechanism, &r->job, run, &counts, &r->balance, &error);
    talk_end_progress();
    const bool to_file = r->job.output != NULL && strcmp(r->job.output, "-") != 0;
    const bool released = status == TEM_OK || (!to_file && counts.documents > 0);
    int reported = EXIT_DONE;
    if (released)
        say_what_was_done(r, mechanism, &counts);
    /* A stream that stopped at its budget has released what was charged, to the word. */
    if (status == TEM_OK || (status == TEM_ERR_BUDGET && !to_file && r->balance.spent > 0))
        say_what_is_left(r);
    else
        say_what_was_charged(r, !to_file);
    if (released && r->report_path != NULL)
        reported = write_report(r, mechanism, &counts);
    return status == TEM_OK ? reported : talk_error(&error);
}

/* The model, trusted; NULL and *status after saying why not.
 * PRIVACY: a hash that nobody has computed names nothing. Only a model that is trusted by its place
 * can do without. */
static tem_model *open_model(const privatize_request *r, const tem_run *run, int *status) {
    if (!r->no_verify)
        return trust_open_model(r->common.model, r->common.model_hash, run);
    tem_model *model = default_model_open(r->common.model);
    if (model != NULL && default_model_is_own() && r->common.model_hash == NULL) {
        tem_model_trust_own(model);
        return model;
    }
    if (model != NULL)
        *status = talk_usage(
            "privatize",
            "--no-verify works only for the model that came with tem; tem knows any other "
            "model by the hash of its file, which it must compute");
    tem_model_free(model);
    return NULL;
}

static int privatize(privatize_request *r) {
    hide_memory();
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    int status = EXIT_FAILED;
    tem_model *model = open_model(r, &run, &status);
    if (model == NULL)
        return status;
    tem_mechanism *mechanism = mechanism_choose("privatize", model, &r->choice, &status);
    if (mechanism != NULL)
        status = run_job(r, mechanism, &run);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return status;
}

int command_privatize(int argc, char *const *argv) {
    privatize_request r = {.job = {.output = NULL}};
    char field_help[160];
    snprintf(field_help, sizeof field_help, "%s: the private field", format_names_listed());
    const option_spec table[] = {
        MECHANISM_OPTIONS(r.choice),
        {"oov", 0, OPTION_TEXT, &r.oov_name, "POLICY",
         "unknown words: uniform (default: drawn from all words), drop, mask,\n"
         "keep-unsafe (released as they are); only uniform is private",
         0, 0},
        {"punctuation", 0, OPTION_TEXT, &r.punctuation_name, "POLICY",
         "drop (default), keep (released as it is: not private), word (drawn for)", 0, 0},
        {"format", 0, OPTION_TEXT, &r.format_name, "F", format_names_all(), 0, 0},
        {"field", 0, OPTION_TEXT, &r.job.field, "NAME", field_help, 0, 0},
        {"missing", 0, OPTION_TEXT, &r.missing_name, "POLICY",
         "jsonl: null becomes empty (default: \"\"), or keep: it stays null", 0, 0},
        {"keep-lines", 0, OPTION_FLAG, &r.keep_lines, NULL,
         "csv, jsonl: keep the lines within a field; default: one line", 0, 0},
        {"strip-tags", 0, OPTION_FLAG, &r.strip_tags, NULL, "leave out HTML tags", 0, 0},
        {"dry-run", 0, OPTION_FLAG, &r.dry_run, NULL, "count words and costs, write nothing", 0, 0},
        {"report", 0, OPTION_TEXT, &r.report_path, "FILE",
         "write what was done as JSON; it depends on the private text", 0, 0},
        {"ledger", 0, OPTION_TEXT, &r.job.ledger, "FILE",
         "write what is spent into FILE, before it is spent; runs share it", 0, 0},
        {"budget", 0, OPTION_POSITIVE, &r.job.budget, "E",
         "with --ledger: refuse what would make the sum of all runs, each words\n"
         "times epsilon, exceed E",
         0, 0},
        {"by", 0, OPTION_TEXT, &r.job.by, "FIELD",
         "with --ledger: a budget for each person, whom this field names", 0, 0},
        {"output", 'o', OPTION_TEXT, &r.job.output, "OUT",
         "write to OUT, which appears when all is done", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite OUT and the report", 0, 0},
        {"no-verify", 0, OPTION_FLAG, &r.no_verify, NULL,
         "do not compare the model that came with tem with its hashes first", 0, 0},
        {"insecure-seed", 0, OPTION_TEXT, &r.seed_text, "N",
         "experiments only: repeatable, NOT private", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    const char **inputs = malloc((size_t)argc * sizeof *inputs);
    if (inputs == NULL)
        return EXIT_FAILED;
    int status = EXIT_DONE;
    if (!options_parse(argc, argv, table, inputs, (size_t)argc, &r.job.input_count, message))
        status = talk_usage("privatize", "%s", message);
    else if (r.common.help)
        print_help(table);
    else {
        r.job.inputs = inputs;
        status = check_request(&r);
        if (status == EXIT_DONE)
            status = privatize(&r);
    }
    free(inputs);
    return status;
}
