/* command_privatize.c - tem privatize: replaces the words of a text by private ones. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "fields_option.h"
#include "format_names.h"
#include "language_option.h"
#include "mechanism_options.h"
#include "outputs.h"
#include "prior_option.h"
#include "report_page.h"
#include "signal_set.h"
#include "talk.h"
#include "tem_account.h"
#include "tem_command.h"
#include "trust.h"
#include "wrap.h"

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
    fields_option fields;
    tem_balance balance;
    tem_fields *found; /* the fields of the records */
    page_options page;
    tem_findings *findings; /* for a report in HTML; else NULL */
    const char *oov_name, *punctuation_name, *format_name, *missing_name, *report_path, *seed_text;
    const char *delimiter, *style_name, *repeat_name;
    bool strip_tags, keep_lines, shuffle, counts, dry_run, force, no_verify;
} privatize_request;

static void print_help(const option_spec *table) {
    wrap("usage: tem privatize --epsilon E [OPTIONS] [FILE...]\n"
         "\n"
         "Replaces every word by a word drawn at random, near words being likelier. Reads the\n"
         "files, or standard input ('-', or no FILE). Writes to standard output, or to -o OUT.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  echo \"the movie was wonderful\" | tem privatize --epsilon 2\n"
         "  tem privatize --epsilon 2 reviews.txt -o private.txt --report report.json\n"
         "  tem privatize --epsilon 2 reviews.txt -o private.txt --report report.html\n"
         "  tem privatize --epsilon 2 --field text --drop-field mail in.csv -o out.csv.gz\n"
         "  tem privatize --epsilon 2 --format jsonl --field body < in.jsonl > out.jsonl\n"
         "  tem privatize --epsilon 2 --ledger spent.jsonl --budget 1000 in.txt -o out.txt\n"
         "\n"
         "epsilon is the privacy loss per unit of distance between words: for two words at\n"
         "distance d, the probabilities of an output differ by a factor of at most exp(E d).\n"
         "'tem explain --epsilon E WORD' shows what that means for a word. The costs of the words\n"
         "of a text add up.\n"
         "tem does not hide the number of words in each line or field; it hides how they were\n"
         "written.");
}

/* Keeps the private text out of core files, and out of the debuggers of other processes. */
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
    const int format = format_parse("privatize", r->format_name, &r->job.format);
    if (format != EXIT_DONE)
        return format;
    if (r->style_name != NULL &&
        tem_style_parse(r->style_name, &r->job.text.style, &error) != TEM_OK)
        return talk_usage("privatize", "--style: %s", error.message);
    if (r->repeat_name != NULL &&
        tem_repeat_parse(r->repeat_name, &r->job.text.repeat, &error) != TEM_OK)
        return talk_usage("privatize", "--repeat: %s", error.message);
    if (r->missing_name != NULL &&
        tem_missing_parse(r->missing_name, &r->job.missing, &error) != TEM_OK)
        return talk_usage("privatize", "--missing: %s", error.message);
    return EXIT_DONE;
}

/* Checks the inputs before anything is released. */
static int check_inputs(const privatize_request *r) {
    for (size_t i = 0; i < r->job.input_count; i++) {
        const char *path = r->job.inputs[i];
        if (strcmp(path, "-") != 0 && access(path, R_OK) != 0) {
            const bool is_missing = errno == ENOENT;
            fprintf(stderr, "tem: %s: cannot open: %s\n", path, strerror(errno));
            if (is_missing)
                fputs("Arguments are files to read; -o names the file to write. To privatize a "
                      "text, use a pipe: echo TEXT | tem privatize ...\n",
                      stderr);
            return EXIT_FAILED;
        }
        /* PRIVACY: a page that names words of the private text, or counts them, would tell about
         * it. */
        if (outputs_are_same(path, r->page.prior) || outputs_are_same(path, r->page.probe))
            return talk_usage("privatize", "--prior and --probe must be public, not an input");
        if (outputs_are_same(path, r->page.public_text))
            return talk_usage("privatize", "--public must be public, not an input");
        /* PRIVACY: a map that was made from the private text would tell about it. */
        if (outputs_are_same(path, r->choice.remap_prior))
            return talk_usage("privatize", "--remap names an input: the prior must be public");
        if (outputs_are_same(path, r->choice.never_path))
            return talk_usage("privatize", "--never names an input: the words must be public");
    }
    return EXIT_DONE;
}

static int check_ledger(const privatize_request *r, bool fields) {
    const tem_job *job = &r->job;
    if (job->ledger == NULL && (job->budget > 0 || job->budget_worst > 0))
        return talk_usage("privatize", "%s needs --ledger FILE, which records what was spent",
                          job->budget > 0 ? "--budget" : "--budget-worst");
    if (job->ledger == NULL && job->by != NULL)
        return talk_usage("privatize", "--by needs --ledger FILE, which charges people");
    if (job->by != NULL && !fields)
        return talk_usage("privatize", "--by needs --format %s, and --field",
                          format_names_with_fields());
    for (size_t i = 0; job->by != NULL && i < r->fields.private.count; i++)
        if (strcmp(job->by, r->fields.private.items[i].value) == 0)
            return talk_usage(
                "privatize",
                "--by must name another field than --field: the one that names people");
    if (job->ledger != NULL && (job->ledger[0] == '\0' || strcmp(job->ledger, "-") == 0))
        return talk_usage("privatize", "--ledger takes the name of a file");
    if (job->ledger != NULL && (outputs_are_same(job->ledger, r->report_path) ||
                                outputs_are_same(job->ledger, job->output)))
        return talk_usage("privatize", "--ledger names the same file as --output or --report");
    const bool starts = job->ledger != NULL && !r->dry_run && access(job->ledger, F_OK) != 0;
    if (starts && !outputs_check_directory(job->ledger))
        return EXIT_FAILED;
    return EXIT_DONE;
}

/* Words without their order: what would show places or lines is refused (tem_order in tem.h). */
static int check_order(privatize_request *r) {
    const char *option = r->shuffle ? "--shuffle" : "--counts";
    if (!r->shuffle && !r->counts)
        return EXIT_DONE;
    if (r->shuffle && r->counts)
        return talk_usage("privatize", "use --shuffle or --counts: counts have no order");
    if (language_option_is_given(r->choice.language))
        return language_option_refuse("privatize", option, "use --language-model none");
    if (r->keep_lines)
        return talk_usage("privatize",
                          "%s cannot go with --keep-lines: lines show which words stood together",
                          option);
    if (r->job.text.oov != 0 && r->job.text.oov != TEM_OOV_UNIFORM)
        return talk_usage("privatize", "%s needs --oov uniform: the others show unknown words",
                          option);
    if (r->job.text.punctuation == TEM_PUNCTUATION_KEEP)
        return talk_usage("privatize",
                          "%s needs --punctuation drop or word: keep shows where sentences end",
                          option);
    if (r->counts && r->job.text.style != 0 && r->job.text.style != TEM_STYLE_WORDS)
        return talk_usage("privatize", "--counts cannot go with --style %s",
                          tem_style_name(r->job.text.style));
    if (r->job.text.repeat == TEM_REPEAT_ONCE)
        return talk_usage("privatize",
                          "%s cannot go with --repeat once: outputs that come again would show "
                          "how often a word was said",
                          option);
    r->job.text.order = r->shuffle ? TEM_ORDER_SHUFFLED : TEM_ORDER_COUNTS;
    return EXIT_DONE;
}

static bool wants_page(const privatize_request *r) {
    return r->report_path != NULL && page_is_html(r->report_path);
}

static int check_request(privatize_request *r) {
    if (r->choice.epsilon <= 0)
        return mechanism_ask_epsilon("privatize", r->choice.mechanism, r->choice.calibrated);
    const int status = parse_names(r);
    if (status != EXIT_DONE)
        return status;
    const int ordered = check_order(r);
    if (ordered != EXIT_DONE)
        return ordered;
    if (r->choice.never_path != NULL && r->job.text.oov == TEM_OOV_KEEP_UNSAFE)
        return talk_usage("privatize", "--never cannot go with --oov keep-unsafe, which releases "
                                       "words that the vocabulary does not have, as they are");
    const int guessed = format_guess("privatize", r->job.inputs, r->job.input_count,
                                     r->fields.private.count > 0, &r->job.format);
    if (guessed != EXIT_DONE)
        return guessed;
    const int delimited =
        format_parse_delimiter("privatize", r->delimiter, r->job.format, &r->job.delimiter);
    if (delimited != EXIT_DONE)
        return delimited;
    const bool fields = format_has_fields(r->job.format);
    if (fields && r->fields.private.count == 0)
        return talk_usage("privatize", "which field is private? --field NAME");
    if (!fields && r->fields.private.count + r->fields.dropped.count > 0)
        return talk_usage("privatize", "--%s needs --format %s",
                          r->fields.private.count > 0 ? "field" : "drop-field",
                          format_names_with_fields());
    const int named = fields_option_set("privatize", &r->fields, &r->job);
    if (named != EXIT_DONE)
        return named;
    const int refused = check_ledger(r, fields);
    if (refused != EXIT_DONE)
        return refused;
    if (r->seed_text != NULL && !options_number(r->seed_text, &r->job.insecure_seed))
        return talk_usage("privatize", "--insecure-seed takes a whole number");
    r->job.insecure_seeded = r->seed_text != NULL;
    r->job.text.strip_tags = r->strip_tags;
    r->job.text.keep_lines = r->keep_lines;
    r->job.dry_run = r->dry_run;
    r->job.packing = r->job.output != NULL ? format_packing_of_path(r->job.output) : 0;
    r->job.overwrite = r->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING;
    if (r->job.output != NULL && strcmp(r->job.output, "-") != 0 && !r->dry_run &&
        !outputs_check(r->job.output, r->force))
        return EXIT_FAILED;
    if (r->report_path != NULL && !outputs_check(r->report_path, r->force))
        return EXIT_FAILED;
    if ((r->page.prior != NULL || r->page.probe != NULL) && !wants_page(r))
        return talk_usage("privatize", "--prior and --probe are for a report in HTML: --report "
                                       "FILE.html");
    if (r->page.public_text != NULL &&
        !(wants_page(r) && language_option_is_given(r->choice.language)))
        return talk_usage("privatize", "--public is for a report in HTML on draws in context: "
                                       "--language-model L --report FILE.html");
    if (outputs_are_same(r->report_path, r->job.output))
        return talk_usage("privatize", "--output and --report name the same file");
    return check_inputs(r);
}

/* rank and coin, which protect all words alike where their outputs weigh the same. */
static bool is_alike(const tem_mechanism_properties *p) {
    return p->has_form && !p->is_exponential;
}

/* Whether outputs weigh differently, so that epsilon = 2s. */
static bool is_halved(const tem_mechanism_info *info) {
    return is_alike(info->properties) && info->s < 0.75 * info->epsilon;
}

/* The option for c if it is not the usual one; info->numbers is such as "c=5, never=...". */
static const char *number_given(const tem_mechanism_info *info, char *text, size_t bytes) {
    const int length = (int)strcspn(info->numbers, ",");
    const bool is_other =
        strncmp(info->numbers, "c=", 2) == 0 && !(length == 3 && info->numbers[2] == '1');
    snprintf(text, bytes, "%s%.*s", is_other ? " --number " : "", is_other ? length : 0,
             info->numbers);
    return text;
}

/* What 'tem choose' does not know of the mechanism: it looks at outputs that weigh the same. */
static const char *twice(const tem_mechanism *mechanism, const tem_mechanism_info *info) {
    if (tem_mechanism_language(mechanism) != NULL)
        return " without a language model: take twice that one, and see what it does in context "
               "by 'tem audit --public TEXT'";
    return is_halved(info) ? " without --never: take twice that one" : "";
}

/* The command that finds another epsilon.  wish: what 'tem choose' is asked for */
static void name_remedy(const tem_mechanism *mechanism, const char *wish, char *text,
                        size_t bytes) {
    tem_certificate_info certificate;
    tem_mechanism_info info;
    char number[sizeof info.numbers + 16];
    tem_mechanism_get_info(mechanism, &info);
    const bool certified = tem_mechanism_get_certificate(mechanism, &certificate);
    if (is_alike(info.properties))
        snprintf(text, bytes, "'tem choose%s --mechanism %s%s --bayes 0.12' finds one%s",
                 default_model_naming(), info.properties->name,
                 number_given(&info, number, sizeof number), twice(mechanism, &info));
    else if (tem_mechanism_language(mechanism) != NULL)
        snprintf(text, bytes, "'tem audit%s --public TEXT' shows what one does in context",
                 default_model_naming());
    else if (!info.properties->is_exponential)
        snprintf(text, bytes, "'tem compare%s --at guess=0.12' finds one", default_model_naming());
    else if (certified)
        snprintf(text, bytes, "'tem choose%s' lists the effects of each certificate",
                 default_model_naming());
    else
        snprintf(text, bytes, "'tem choose%s %s' finds one", default_model_naming(), wish);
}

/* What the number of a warning is with a language model. */
static const char *beside_language(const tem_mechanism *mechanism) {
    return tem_mechanism_language(mechanism) != NULL
               ? " (without the language model; words that the context expects stay more often)"
               : "";
}

/* Warns of words with nearly no privacy. Looks at a high quantile of the vocabulary: the median
 * word of a text is a frequent word, and rare words stay themselves more often and tell more.
 * PRIVACY: printed also if the user asked for quiet. */
static void warn_about_exposed_words(const tem_mechanism *mechanism) {
    double exposed = 0;
    char remedy[512];
    if (tem_mechanism_self_quantile(mechanism, TEM_SELF_QUANTILE, &exposed, NULL) != TEM_OK ||
        exposed <= TEM_SELF_QUANTILE_LARGE) /* Madlib has no law */
        return;
    name_remedy(mechanism, "--self 0.5 --quantile 0.95", remedy, sizeof remedy);
    talk_note(false,
              "tem: warning: at this epsilon one word in 20 of the vocabulary stays itself more "
              "than about %s %% of the time%s: these words have nearly no privacy. Use a smaller "
              "epsilon; %s.",
              talk_number(tem_round_down(100 * exposed, 3)), beside_language(mechanism), remedy);
}

/* Warns if most of a text stays as it is, or nearly nothing. */
static void warn_about_median_word(const tem_mechanism *mechanism, bool quiet) {
    double median = 0;
    char remedy[512];
    if (quiet || tem_mechanism_self_median(mechanism, &median, NULL) != TEM_OK)
        return;
    if (median > TEM_SELF_MEDIAN_LARGE) {
        name_remedy(mechanism, "--self 0.5", remedy, sizeof remedy);
        talk_note(false,
                  "tem: warning: at this epsilon the median word of a text (words by Zipf's law) "
                  "stays itself about %s %% of the time%s: most of the text comes out unchanged. "
                  "Use a smaller epsilon for more privacy; %s.",
                  talk_number(tem_round_down(100 * median, 3)), beside_language(mechanism), remedy);
    } else if (median < TEM_SELF_MEDIAN_SMALL) {
        talk_note(false,
                  "tem: warning: at this epsilon the median word of a text (words by Zipf's law) "
                  "stays itself only about %.2g %% of the time%s: nearly no text is left. Use a "
                  "larger epsilon.",
                  100 * median, beside_language(mechanism));
    }
}

/* Warns of a text in another language than the model. */
static void warn_about_language(const tem_mechanism *mechanism, const tem_counts *counts) {
    if (!tem_counts_are_foreign(mechanism, counts))
        return;
    const double share = 100 / (double)counts->words;
    talk_note(false,
              "tem: warning: the text is mostly not in the language of the model: %.0f %% of its "
              "words are unknown, and %.0f %% are common English words such as \"the\". An "
              "unknown word becomes any word. Use a model of the language of the text: 'tem build' "
              "makes one from its word vectors.",
              share * (double)counts->unknown, share * (double)counts->function_words);
}

/* PRIVACY: printed also if the user asked for quiet: no bound covers what the file of a language
 * model shows of the text that it was made of. */
static void warn_about_public_text(const tem_counts *counts) {
    const char *remedy = "The file of that language model shows much of this text to whoever has "
                         "it. Use one that was made of other texts ('tem ngram')";
    if (tem_counts_are_public(counts))
        talk_note(false,
                  "tem: warning: about %s of the %s document%s of the input are lines of the text "
                  "that the language model was made of. %s.",
                  talk_count(counts->public_documents < counts->documents ? counts->public_documents
                                                                          : counts->documents),
                  talk_count(counts->documents), counts->documents == 1 ? "" : "s", remedy);
}

/* A mechanism whose law does not fall off with the distance has no gamma, but a bound. */
static void say_exponent(bool quiet, const tem_mechanism_info *info) {
    if (info->gamma_steps > 0)
        talk_note(quiet, "s = %.6f, gamma = %.4f", info->s, info->gamma);
    else
        talk_note(quiet, "s = %.6f, at most %.6g between any two inputs", info->s,
                  tem_round_up(info->bound, 6));
}

/* PRIVACY: the condition is printed also if the user asked for quiet. */
static void say_cost(const privatize_request *r, const tem_mechanism_info *info,
                     const tem_counts *counts, bool brief) {
    const char *condition = tem_job_condition(&r->job);
    const bool once = r->job.text.repeat == TEM_REPEAT_ONCE;
    const double words = (double)(once ? counts->charged : counts->words);
    talk_note(brief,
              "The run %s %s per unit of %s (%s x epsilon), at most %s between any two texts%s "
              "(%s x bound).",
              r->dry_run ? "would cost" : "costs",
              talk_count((uint64_t)ceil(words * info->epsilon)), info->properties->unit,
              once ? "words drawn for" : "words", talk_count((uint64_t)ceil(words * info->bound)),
              once ? " whose content words repeat at the same places" : "",
              once ? "words drawn for" : "words");
    talk_note(condition == NULL, "tem: warning: %s.", condition == NULL ? "" : condition);
}

static void say_what_was_done(const privatize_request *r, const tem_mechanism *mechanism,
                              const tem_counts *counts) {
    const bool quiet = r->common.quiet;
    const char *why_not_private = tem_job_why_not_private(mechanism, &r->job);
    tem_mechanism_info of_mechanism;
    const tem_mechanism_info *info = &of_mechanism;
    tem_mechanism_get_info(mechanism, &of_mechanism);
    talk_note(quiet, "%s %s word%s (%s unknown) in %s document%s with %s%s%s at epsilon %g",
              r->dry_run ? "counted" : "privatized", talk_count(counts->words),
              counts->words == 1 ? "" : "s", talk_count(counts->unknown),
              talk_count(counts->documents), counts->documents == 1 ? "" : "s",
              info->certificate[0] != '\0' ? "calibrated " : "", info->properties->name,
              language_option_told(mechanism), info->epsilon);
    talk_note(quiet || counts->words > 0, "tem: warning: %s.",
              counts->documents == 0 ? "the input is empty" : "the input has no word");
    if (!quiet)
        warn_about_language(mechanism, counts);
    warn_about_public_text(counts);
    const bool brief = quiet || !(r->common.verbose || r->dry_run);
    if (why_not_private == NULL) {
        say_exponent(brief, info);
        say_cost(r, info, counts, brief);
    } else /* PRIVACY: printed also if the user asked for quiet. No cost: it would be a bound. */
        talk_note(false, "tem: warning: the output %s private: %s.",
                  r->dry_run ? "would NOT be" : "is NOT", why_not_private);
}

/* Appends how much of a budget is left. */
static void add_what_is_left(const privatize_request *r, char *text, size_t bytes, double left,
                             const char *name, double budget) {
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "; %.15g of the %s of %.15g %s left", left, name, budget,
             r->dry_run ? "would be" : "is");
}

/* Prints what the ledger says after the run. 15 digits of a double are always right.
 *   bounded    a bound holds for this run; a run without one has no budget */
static void say_what_is_left(const privatize_request *r, bool bounded) {
    const tem_balance *b = &r->balance;
    const bool quiet = r->common.quiet;
    char left[224] = "";
    if (r->job.ledger == NULL)
        return;
    if (b->is_mixed && r->job.budget_worst > 0)
        snprintf(left, sizeof left, "; their worst cases do");
    if (r->job.budget > 0)
        add_what_is_left(r, left, sizeof left, b->left, "budget", r->job.budget);
    if (r->job.budget_worst > 0)
        add_what_is_left(r, left, sizeof left, b->worst_left, "worst-case budget",
                         r->job.budget_worst);
    if (left[0] == '\0' && !bounded)
        snprintf(left, sizeof left, "; nothing bounds the charge of this run");
    if (b->is_mixed)
        talk_note(
            quiet,
            "%s: epsilons of earlier charges are in other units or for other models, and do not "
            "add up%s",
            r->job.ledger, left);
    else if (r->job.by == NULL)
        talk_note(quiet, "%s: %.15g spent before%s", r->job.ledger, b->spent_before, left);
    else
        talk_note(quiet, "%s: %s %s %s; the one with the least left had spent %.15g before%s",
                  r->job.ledger, talk_count(b->people), b->people == 1 ? "person" : "people",
                  r->dry_run ? "to be charged" : "charged", b->spent_before, left);
}

/* Prints the charge of a run that failed after it was charged.
 *   kept    the words that the run released before it failed stay in the output */
static void say_what_was_charged(const privatize_request *r, bool kept) {
    if (r->balance.spent > 0)
        fprintf(stderr, "tem: %s: the charge of %.15g for this run stays%s\n", r->job.ledger,
                r->balance.spent, kept ? "" : ", though no output is kept");
}

/* Writes the report, whole or not at all. Returns an exit status; prints what went wrong. */
static int write_report(const privatize_request *r, const tem_mechanism *mechanism,
                        const tem_counts *counts) {
    const tem_balance *balance = r->job.ledger != NULL ? &r->balance : NULL;
    const tem_report_page page = {
        .job = &r->job, .counts = counts, .balance = balance, .fields = r->found};
    if (r->findings != NULL)
        return page_save(r->report_path, r->findings, &page, &r->choice, &r->page);
    char *text = NULL;
    size_t bytes = 0;
    tem_error error;
    tem_status status =
        tem_report_json(mechanism, &r->job, counts, balance, r->found, &text, &bytes, &error);
    /* PRIVACY: the report depends on the text, so only the owner of the text may read it. */
    if (status == TEM_OK)
        status =
            tem_file_write(r->report_path, text, bytes, TEM_OVERWRITE, TEM_READERS_OWNER, &error);
    tem_text_free(text);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static int run_job(privatize_request *r, const tem_mechanism *mechanism, const tem_model *model,
                   const tem_run *run) {
    tem_counts counts = {0};
    tem_error error;
    const char *why_not_private = tem_job_why_not_private(mechanism, &r->job);
    if ((r->job.budget > 0 || r->job.budget_worst > 0) && why_not_private != NULL)
        return talk_usage("privatize", "%s: tem can keep no budget: %s",
                          r->job.budget > 0 ? "--budget" : "--budget-worst", why_not_private);
    warn_about_exposed_words(mechanism);
    warn_about_median_word(mechanism, r->common.quiet);
    /* Before the run: without its report, a run releases nothing. */
    const int measured = wants_page(r) ? page_measure("privatize", mechanism, model, &r->page, NULL,
                                                      run, r->common.quiet, &r->findings)
                                       : EXIT_DONE;
    if (measured != EXIT_DONE)
        return measured;
    const tem_status status =
        tem_privatize_files(mechanism, &r->job, run, &counts, &r->balance, r->found, &error);
    talk_end_progress();
    const bool to_file = r->job.output != NULL && strcmp(r->job.output, "-") != 0;
    const bool released = status == TEM_OK || (!to_file && counts.documents > 0);
    int reported = EXIT_DONE;
    if (released)
        say_what_was_done(r, mechanism, &counts);
    if (released && !r->common.quiet)
        fields_option_tell(r->found, r->dry_run);
    /* Print this also if tem refused the run: the name may be mistyped, and the file exists now. */
    talk_note(r->common.quiet || !r->balance.created, "started a new ledger, %s", r->job.ledger);
    /* A stream that stopped at its budget has released exactly the words that were charged. */
    if (status == TEM_OK || (status == TEM_ERR_BUDGET && !to_file && r->balance.spent > 0))
        say_what_is_left(r, why_not_private == NULL);
    else
        say_what_was_charged(r, !to_file);
    if (released && r->report_path != NULL)
        reported = write_report(r, mechanism, &counts);
    return status == TEM_OK ? reported : talk_error(&error);
}

/* Opens the model and trusts it. Returns NULL on failure, after printing why; *status receives the
 * exit status.
 * PRIVACY: a hash that was not computed from the file identifies nothing. So only the model that is
 * trusted by its place, beside the program, can be used without computing its hash. */
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

/* With rank, outputs that are never released make the others weigh differently. */
static void tell_never(const tem_mechanism *mechanism, const mechanism_choice *choice, bool quiet) {
    tem_mechanism_info info;
    tem_mechanism_get_info(mechanism, &info);
    talk_note(quiet || choice->never_path == NULL || tem_mechanism_language(mechanism) != NULL ||
                  !is_halved(&info),
              "with --never outputs weigh differently, so epsilon = 2s: twice the epsilon keeps s");
}

/* Prints what an adapted model keeps on purpose. */
static void tell_signals(const tem_model *model, const mechanism_choice *choice, bool quiet) {
    signal_set signals = {.count = 0};
    tem_error error;
    if (!quiet && signal_set_list(model, &signals, &error) == TEM_OK && signals.count > 0) {
        char *names = signal_set_names(signals.list, signals.count);
        talk_note(names == NULL,
                  "The model keeps on purpose: %s. 'tem audit%s --epsilon %s%s' shows how well an "
                  "attacker tells %s.",
                  names, default_model_naming(), talk_number(choice->epsilon),
                  choice->calibrated ? " --calibrated" : "", signals.count == 1 ? "it" : "them");
        free(names);
    }
    signal_set_free(&signals);
}

static int privatize(privatize_request *r) {
    hide_memory();
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    int status = EXIT_FAILED;
    tem_model *model = open_model(r, &run, &status);
    if (model == NULL)
        return status;
    r->choice.run = &run;
    tem_mechanism *mechanism = mechanism_choose("privatize", model, &r->choice, &status);
    tem_error error;
    if (mechanism != NULL && tem_fields_create(&r->found, &error) != TEM_OK)
        status = talk_error(&error);
    else if (mechanism != NULL) {
        tell_never(mechanism, &r->choice, r->common.quiet);
        tell_signals(model, &r->choice, r->common.quiet);
        status = run_job(r, mechanism, model, &run);
    }
    tem_fields_free(r->found);
    tem_findings_free(r->findings);
    mechanism_close(mechanism);
    tem_model_free(model);
    return status;
}

int command_privatize(int argc, char *const *argv) {
    privatize_request r = {.job = {.output = NULL}};
    char field_help[160], format_help[256];
    snprintf(format_help, sizeof format_help,
             "%s;\nwith --field also by the ending of the files: .csv, .jsonl.gz, ...",
             format_names_all());
    snprintf(field_help, sizeof field_help, "%s: a private field;\nmay be given several times",
             format_names_listed());
    const option_spec table[] = {
        MECHANISM_OPTIONS(r.choice),
        OWN_OPTIONS(r.choice),
        LANGUAGE_OPTION(r.choice),
        REMAP_OPTION(r.choice),
        NO_GUARANTEE_OPTION(r.choice),
        {"oov", 0, OPTION_TEXT, &r.oov_name, "POLICY",
         "unknown words: uniform (default: drawn from all words), drop, mask,\n"
         "keep-unsafe (released unchanged); only uniform is private",
         0, 0},
        {"punctuation", 0, OPTION_TEXT, &r.punctuation_name, "POLICY",
         "drop (default), keep (released unchanged: not private), or word (drawn\n"
         "like words)",
         0, 0},
        {"format", 0, OPTION_TEXT, &r.format_name, "F", format_help, 0, 0},
        {"field", 0, OPTION_LIST, &r.fields.private, "NAME", field_help, 0, 0},
        {"drop-field", 0, OPTION_LIST, &r.fields.dropped, "NAME",
         "leave this field out of the output; may be given several times", 0, 0},
        {"drop-field-if-present", 0, OPTION_LIST, &r.fields.dropped, "NAME",
         "the same for a field that no record need have", 0, 0},
        {"delimiter", 0, OPTION_TEXT, &r.delimiter, "C",
         "csv: the character between fields, or tab (default: comma or semicolon,\n"
         "whichever the fields of the header need)",
         0, 0},
        {"style", 0, OPTION_TEXT, &r.style_name, "S",
         "words; joined (default with a language model): don't for do n't; or sentence:\n"
         "joined, with a capital, I and a full stop; they tell nothing about the text",
         0, 0},
        {"repeat", 0, OPTION_TEXT, &r.repeat_name, "R",
         "each (default: every word is drawn for), or once: a content word that a\n"
         "document says again gets the output that it had, and costs once; this shows\n"
         "where words repeat, and the bound holds only between texts that repeat alike",
         0, 0},
        {"missing", 0, OPTION_TEXT, &r.missing_name, "POLICY",
         "jsonl: what null becomes: empty (default: \"\") or keep (stays null)", 0, 0},
        {"keep-lines", 0, OPTION_FLAG, &r.keep_lines, NULL,
         "csv, jsonl: keep the lines within a field (default: make them one line)", 0, 0},
        {"shuffle", 0, OPTION_FLAG, &r.shuffle, NULL,
         "put the words of each document into a random order, so that the guarantee\n"
         "holds in the Earth Mover's metric ('tem distance')",
         0, 0},
        {"counts", 0, OPTION_FLAG, &r.counts, NULL,
         "instead of text, write how often each word was drawn, as a JSON object\n"
         "per document: no order is left",
         0, 0},
        {"strip-tags", 0, OPTION_FLAG, &r.strip_tags, NULL, "leave out HTML tags", 0, 0},
        {"dry-run", 0, OPTION_FLAG, &r.dry_run, NULL, "count words and costs, write nothing", 0, 0},
        {"report", 0, OPTION_TEXT, &r.report_path, "FILE",
         "write a report of the run: FILE.html for people, which takes seconds more,\n"
         "else as JSON; it depends on the private text",
         0, 0},
        PRIOR_OPTION(r.page.prior),
        PROBE_OPTION(r.page),
        {"public", 0, OPTION_FILE, &r.page.public_text, "FILE",
         "HTML report, with a language model: show how often words stay themselves in\n"
         "this PUBLIC text, one document per line",
         0, 0},
        {"ledger", 0, OPTION_TEXT, &r.job.ledger, "FILE",
         "record the cost of the run in FILE before it is spent; runs share FILE", 0, 0},
        {"budget", 0, OPTION_POSITIVE, &r.job.budget, "E",
         "with --ledger: refuse to bring the sum of all runs, each words times\n"
         "epsilon, above E",
         0, 0},
        {"budget-worst", 0, OPTION_POSITIVE, &r.job.budget_worst, "E",
         "with --ledger: the same for the worst case, words times the bound between any\n"
         "two inputs; it adds up runs of all models and mechanisms",
         0, 0},
        {"by", 0, OPTION_TEXT, &r.job.by, "FIELD",
         "with --ledger: a budget for each person; FIELD names the person", 0, 0},
        {"output", 'o', OPTION_TEXT, &r.job.output, "OUT",
         "write to OUT, which appears when the run is complete; .gz and .zst are\n"
         "compressed",
         0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite OUT and the report", 0, 0},
        {"no-verify", 0, OPTION_FLAG, &r.no_verify, NULL,
         "do not check the hashes of the model that came with tem first", 0, 0},
        {"insecure-seed", 0, OPTION_TEXT, &r.seed_text, "N",
         "for experiments: repeatable draws, NOT private", 0, 0},
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
        r.job.format = r.job.format != 0 ? r.job.format : TEM_FORMAT_TEXT;
        if (status == EXIT_DONE)
            status = privatize(&r);
    }
    free(inputs);
    return status;
}
