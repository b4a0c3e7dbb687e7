/* report_page.c - the report as an HTML page: its options, its numbers and its file. */
#include "report_page.h"

#include "default_model.h"
#include "language_show.h"
#include "outputs.h"
#include "prior_option.h"
#include "talk.h"
#include "tem_command.h"
#include "trust.h"
#include "word_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool page_is_html(const char *path) {
    return outputs_ends_in(path, ".html") || outputs_ends_in(path, ".htm");
}

/* ---- the words of --probe ---- */

/* The words of --probe while they are read. */
typedef struct probe_words {
    word_ids found;
    uint32_t missing; /* words that the model does not have, */
    FILE *names;      /* and where they are written, with commas between them */
} probe_words;

static bool has_id(const word_ids *words, uint32_t id) {
    for (uint32_t i = 0; i < words->count; i++)
        if (words->ids[i] == id)
            return true;
    return false;
}

/* Adds a word, which may have several pieces. Leaves out repetitions of known words, and words
 * beyond the limit, which the caller then refuses. */
static tem_status add_probe(const tem_model *model, const char *word, probe_words *p,
                            tem_error *error) {
    word_ids pieces = {0};
    bool is_missing = false;
    const tem_status status = words_of_line(model, word, &pieces, error);
    for (uint32_t i = 0; i < pieces.count; i++)
        if (pieces.ids[i] == TEM_NO_WORD)
            is_missing = true;
        else if (p->found.count <= TEM_PROBES_MAX && !has_id(&p->found, pieces.ids[i]))
            p->found.ids[p->found.count++] = pieces.ids[i];
    if (is_missing && p->missing <= TEM_PROBES_MAX)
        fprintf(p->names, "%s%s", p->missing++ == 0 ? "" : ", ", word);
    word_ids_free(&pieces);
    return status;
}

/* Takes the words of the option itself: blanks are between them. */
static tem_status add_text(const tem_model *model, const char *text, probe_words *p,
                           tem_error *error) {
    static const char blanks[] = " \t\n";
    char *copy = strdup(text), *rest = NULL;
    tem_status status = TEM_OK;
    if (copy == NULL) {
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
        return TEM_ERR_MEMORY;
    }
    for (char *word = strtok_r(copy, blanks, &rest); word != NULL && status == TEM_OK;
         word = strtok_r(NULL, blanks, &rest))
        status = add_probe(model, word, p, error);
    free(copy);
    return status;
}

static tem_status add_file(const tem_model *model, const char *path, probe_words *p,
                           tem_error *error) {
    word_file file = {0};
    tem_status status = word_file_read(path, &file, error);
    if (status != TEM_OK)
        return status;
    for (uint32_t i = 0; i < file.count && status == TEM_OK; i++) {
        status = add_probe(model, file.words[i], p, error);
        if (status != TEM_OK) {
            snprintf(error->file, sizeof error->file, "%s", path);
            error->byte = 0; /* it counts from the start of the word, not of the file */
        }
    }
    word_file_free(&file);
    return status;
}

static bool is_file(const char *probe) {
    return access(probe, F_OK) == 0;
}

static int judge_probes(const char *command, const probe_words *p, bool quiet) {
    if (p->found.count > TEM_PROBES_MAX || p->missing > TEM_PROBES_MAX)
        return talk_usage(command, "--probe takes at most %u words", TEM_PROBES_MAX);
    if (p->found.count == 0)
        return talk_usage(command, "--probe: no word of it is in the vocabulary");
    talk_note(quiet || p->missing == 0,
              "tem: warning: --probe: the vocabulary does not have %u of the words; the page says "
              "which",
              p->missing);
    return EXIT_DONE;
}

/* Reads the option. *found and *missing receive the words that the model has, and the names of the
 * others; the caller frees both. Returns an exit status. */
static int read_probes(const char *command, const char *probe, const tem_model *model, bool quiet,
                       word_ids *found, char **missing) {
    tem_error error;
    size_t bytes = 0;
    if (probe == NULL)
        return EXIT_DONE;
    /* Room for one word more than is allowed: it shows that there are too many. */
    probe_words p = {.found = {.ids = calloc(TEM_PROBES_MAX + 1, sizeof *found->ids)},
                     .names = open_memstream(missing, &bytes)};
    int status = EXIT_FAILED;
    if (p.found.ids == NULL || p.names == NULL)
        fputs("tem: out of memory\n", stderr);
    else if ((is_file(probe) ? add_file : add_text)(model, probe, &p, &error) != TEM_OK)
        status = talk_error(&error);
    else
        status = judge_probes(command, &p, quiet);
    if (p.names != NULL && fclose(p.names) != 0)
        status = EXIT_FAILED;
    *found = p.found;
    return status;
}

/* ---- the curve of a calibrated mechanism: one point for each certificate ---- */

typedef struct certified_curve {
    tem_point points[TEM_CURVE_MAX];
    uint32_t count;
} certified_curve;

/* Inserts a point in the order of epsilon, unless there is one at this epsilon or no room. */
static void add_point(certified_curve *c, const tem_certificate_info *info) {
    uint32_t at = 0;
    while (at < c->count && c->points[at].epsilon < info->epsilon)
        at++;
    if (c->count == TEM_CURVE_MAX || (at < c->count && !(c->points[at].epsilon > info->epsilon)))
        return;
    memmove(&c->points[at + 1], &c->points[at], (c->count - at) * sizeof *c->points);
    c->points[at] =
        (tem_point){.epsilon = info->epsilon,
                    .summary = {.bayes = info->effect.bayes, .self_median = info->effect.self}};
    c->count++;
}

/* Takes the certificates beside the model that are trusted and of the same kind: their weights,
 * beta and prior are those of the page. */
static void find_curve(const tem_mechanism *mechanism, const tem_model *model, const char *prior,
                       certified_curve *curve) {
    tem_certificate_info own;
    if (!tem_mechanism_get_certificate(mechanism, &own))
        return;
    for (uint32_t i = 0;; i++) {
        tem_certificate *certificate = NULL;
        tem_certificate_info info;
        if (tem_certificate_load(default_model_certificates(), i, &certificate, NULL) != TEM_OK ||
            certificate == NULL)
            return;
        tem_certificate_get_info(certificate, &info);
        const bool fits = tem_certificate_is_for(certificate, model);
        tem_certificate_free(certificate);
        if (fits && trust_has(&info, model) && info.weights == own.weights &&
            memcmp(&info.beta, &own.beta, sizeof info.beta) == 0 &&
            strcmp(info.prior, prior_name(prior)) == 0)
            add_point(curve, &info);
    }
}

/* ---- the numbers ---- */

int page_measure(const char *command, const tem_mechanism *mechanism, const tem_model *model,
                 const page_options *options, const tem_accountant *accountant, const tem_run *run,
                 bool quiet, tem_findings **findings) {
    const char *prior_text = options->prior != NULL ? options->prior : PRIOR_DEFAULT;
    word_ids probes = {0};
    char *missing = NULL;
    certified_curve curve = {.count = 0};
    tem_error error;
    int status = EXIT_DONE;
    tem_prior *prior = prior_choose(command, prior_text, model, run, quiet, &status);
    if (prior != NULL)
        status = read_probes(command, options->probe, model, quiet, &probes, &missing);
    if (prior != NULL && status == EXIT_DONE) {
        find_curve(mechanism, model, prior_text, &curve);
        const tem_findings_options wanted = {.prior = prior,
                                             .prior_name = prior_name(prior_text),
                                             .accountant = accountant,
                                             .probes = probes.ids,
                                             .probe_count = probes.count,
                                             .missing_probes = missing,
                                             .curve = curve.points,
                                             .curve_count = curve.count,
                                             .public_text = options->public_text};
        const tem_status made = tem_findings_create(mechanism, &wanted, run, findings, &error);
        talk_end_progress();
        if (made != TEM_OK)
            status = talk_error(&error);
    }
    free(missing);
    word_ids_free(&probes);
    tem_prior_free(prior);
    return status;
}

/* ---- the command that the page shows ---- */

/* Writes an argument so that a shell takes it as one word. */
static void put_argument(FILE *to, const char *option, const char *argument) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=%/+-";
    const bool is_plain = argument[0] != '\0' && strspn(argument, plain) == strlen(argument);
    fprintf(to, " %s %s", option, is_plain ? "" : "'");
    for (const char *c = argument; *c != '\0'; c++)
        if (*c == '\'')
            fputs("'\\''", to);
        else
            fputc(*c, to);
    fputs(is_plain ? "" : "'", to);
}

static void put_choice(FILE *to, const mechanism_choice *choice) {
    fprintf(to, " --epsilon %s", talk_number(choice->epsilon));
    if (choice->beta > 0)
        fprintf(to, " --beta %s", talk_number(choice->beta));
    if (choice->gamma > 0)
        fprintf(to, " --gamma %s", talk_number(choice->gamma));
    if (choice->mechanism != NULL)
        put_argument(to, "--mechanism", choice->mechanism);
    fputs(choice->calibrated ? " --calibrated" : "", to);
    if (choice->weights_name != NULL)
        put_argument(to, "--weights", choice->weights_name);
    for (size_t i = 0; i < choice->numbers.count; i++)
        put_argument(to, "--number", choice->numbers.items[i].value);
    fputs(choice->list_path != NULL ? " --list FILE" : "", to);
    fputs(choice->never_path != NULL ? " --never FILE" : "", to);
    if (choice->language != NULL && language_show_is_named(choice->language))
        fputs(" --language-model FILE.temlm", to);
    else if (choice->language != NULL)
        put_argument(to, "--language-model", choice->language);
    if (choice->remap_prior != NULL)
        put_argument(to, "--remap", prior_name(choice->remap_prior));
}

static void put_text_options(FILE *to, const tem_text_options *text) {
    if (text->oov != 0)
        put_argument(to, "--oov", tem_oov_name(text->oov));
    if (text->punctuation != 0)
        put_argument(to, "--punctuation", tem_punctuation_name(text->punctuation));
    fputs(text->keep_lines ? " --keep-lines" : "", to);
    fputs(text->order == TEM_ORDER_SHUFFLED ? " --shuffle"
          : text->order == TEM_ORDER_COUNTS ? " --counts"
                                            : "",
          to);
    fputs(text->strip_tags ? " --strip-tags" : "", to);
    if (text->style != 0)
        put_argument(to, "--style", tem_style_name(text->style));
    if (text->repeat != 0)
        put_argument(to, "--repeat", tem_repeat_name(text->repeat));
}

static void put_job(FILE *to, const tem_job *job) {
    if (job->format != 0)
        put_argument(to, "--format", tem_format_name(job->format));
    if (job->field != NULL)
        put_argument(to, "--field", job->field);
    for (size_t i = 0; i < job->more_field_count; i++)
        put_argument(to, "--field", job->more_fields[i]);
    for (size_t i = 0; i < job->dropped_count; i++)
        put_argument(to,
                     i < job->dropped_count - job->dropped_if_present ? "--drop-field"
                                                                      : "--drop-field-if-present",
                     job->dropped[i]);
    if (job->delimiter == '\t')
        put_argument(to, "--delimiter", "tab");
    else if (job->delimiter != 0)
        put_argument(to, "--delimiter", (const char[]){job->delimiter, '\0'});
    if (job->missing != 0)
        put_argument(to, "--missing", tem_missing_name(job->missing));
    put_text_options(to, &job->text);
    if (job->ledger != NULL)
        fputs(" --ledger LEDGER", to);
    if (job->budget > 0)
        fprintf(to, " --budget %s", talk_number(job->budget));
    if (job->budget_worst > 0)
        fprintf(to, " --budget-worst %s", talk_number(job->budget_worst));
    if (job->by != NULL)
        put_argument(to, "--by", job->by);
    if (job->insecure_seeded)
        fprintf(to, " --insecure-seed %llu", (unsigned long long)job->insecure_seed);
    fputs(job->dry_run ? " --dry-run" : "", to);
    fputs(" --report REPORT.html FILE", to);
}

/* Returns the command, which the caller frees; NULL if memory is short.
 * PRIVACY: names of files are not in it, except the last part of the name of a public prior. */
static char *command_of(const tem_report_page *page, const mechanism_choice *choice,
                        const page_options *options) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (to == NULL)
        return NULL;
    fputs(page->job != NULL ? "tem privatize" : "tem audit", to);
    fputs(default_model_is_own() ? "" : " -m MODEL", to);
    put_choice(to, choice);
    if (options->prior != NULL)
        put_argument(to, "--prior", prior_name(options->prior));
    if (options->probe != NULL && is_file(options->probe))
        fputs(" --probe WORDS", to);
    else if (options->probe != NULL)
        put_argument(to, "--probe", options->probe);
    fputs(options->public_text != NULL ? " --public PUBLIC" : "", to);
    if (page->job != NULL && choice->allow_no_guarantee)
        fputs(" --allow-no-guarantee", to);
    if (page->job != NULL)
        put_job(to, page->job);
    else
        fputs(" --html REPORT.html", to);
    const bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

int page_save(const char *path, const tem_findings *findings, const tem_report_page *page,
              const mechanism_choice *choice, const page_options *options) {
    char *command = command_of(page, choice, options);
    tem_report_page shown = *page;
    char *html = NULL;
    size_t bytes = 0;
    tem_error error;
    shown.command = command;
    shown.language = default_model_is_own() ? "English" : NULL;
    tem_status status = tem_report_html(findings, &shown, &html, &bytes, &error);
    /* PRIVACY: the page of a run depends on the text, so only the owner of the text may read it. */
    if (status == TEM_OK)
        status = tem_file_write(path, html, bytes, TEM_OVERWRITE,
                                page->job != NULL ? TEM_READERS_OWNER : TEM_READERS_USUAL, &error);
    tem_text_free(html);
    free(command);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}
