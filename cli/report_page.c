/* report_page.c - the report as an HTML page: its options, its numbers and its file. */
#include "report_page.h"

#include "default_model.h"
#include "outputs.h"
#include "prior_option.h"
#include "talk.h"
#include "tem_command.h"
#include "trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool page_is_html(const char *path) {
    return outputs_ends_in(path, ".html") || outputs_ends_in(path, ".htm");
}

/* ---- the words of --probe ---- */

/* Takes the words of the option itself. Leaves out repetitions, and words that the model does not
 * have; a note counts the latter. */
static int read_words(const char *command, const char *text, const tem_model *model, bool quiet,
                      word_ids *out) {
    tem_error error;
    word_ids found = {0};
    if (words_of_line(model, text, &found, &error) != TEM_OK)
        return talk_error(&error);
    uint32_t known = 0, unknown = 0;
    for (uint32_t i = 0; i < found.count; i++) {
        const uint32_t id = found.ids[i];
        bool is_new = id != TEM_NO_WORD;
        for (uint32_t k = 0; k < known && is_new; k++)
            is_new = found.ids[k] != id;
        unknown += id == TEM_NO_WORD;
        if (is_new)
            found.ids[known++] = id;
    }
    found.count = known;
    *out = found;
    talk_note(quiet || unknown == 0,
              "tem: warning: --probe: tem leaves out %u word%s that the vocabulary does not have",
              unknown, unknown == 1 ? "" : "s");
    return known > 0 ? EXIT_DONE
                     : talk_usage(command, "--probe: no word of it is in the vocabulary");
}

static int read_probes(const char *command, const char *probe, const tem_model *model, bool quiet,
                       word_ids *out) {
    if (probe == NULL)
        return EXIT_DONE;
    const int status = access(probe, F_OK) == 0 ? words_option_read(probe, model, quiet, out)
                                                : read_words(command, probe, model, quiet, out);
    if (status == EXIT_DONE && out->count > TEM_PROBES_MAX)
        return talk_usage(command, "--probe takes at most %u words", TEM_PROBES_MAX);
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
    certified_curve curve = {.count = 0};
    tem_error error;
    int status = EXIT_DONE;
    tem_prior *prior = prior_choose(command, prior_text, model, run, quiet, &status);
    if (prior != NULL)
        status = read_probes(command, options->probe, model, quiet, &probes);
    if (prior != NULL && status == EXIT_DONE) {
        find_curve(mechanism, model, prior_text, &curve);
        const tem_findings_options wanted = {.prior = prior,
                                             .prior_name = prior_name(prior_text),
                                             .accountant = accountant,
                                             .probes = probes.ids,
                                             .probe_count = probes.count,
                                             .curve = curve.points,
                                             .curve_count = curve.count};
        const tem_status made = tem_findings_create(mechanism, &wanted, run, findings, &error);
        talk_end_progress();
        if (made != TEM_OK)
            status = talk_error(&error);
    }
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
}

static void put_job(FILE *to, const tem_job *job) {
    if (job->format != 0)
        put_argument(to, "--format", tem_format_name(job->format));
    if (job->field != NULL)
        put_argument(to, "--field", job->field);
    for (size_t i = 0; i < job->more_field_count; i++)
        put_argument(to, "--field", job->more_fields[i]);
    for (size_t i = 0; i < job->dropped_count; i++)
        put_argument(to, "--drop-field", job->dropped[i]);
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
    tem_status status = tem_report_html(findings, &shown, &html, &bytes, &error);
    /* PRIVACY: the page of a run depends on the text, so only the owner of the text may read it. */
    if (status == TEM_OK)
        status = tem_file_write(path, html, bytes, TEM_OVERWRITE,
                                page->job != NULL ? TEM_READERS_OWNER : TEM_READERS_USUAL, &error);
    tem_text_free(html);
    free(command);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}
