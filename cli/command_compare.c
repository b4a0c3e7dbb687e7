/* command_compare.c - tem compare: all mechanisms side by side at equal attack. */
#include "commands.h"
#include "common_options.h"
#include "comparison_show.h"
#include "default_model.h"
#include "eval.h"
#include "format_names.h"
#include "outputs.h"
#include "plot.h"
#include "prior_option.h"
#include "show.h"
#include "talk.h"
#include "trust.h"
#include "wrap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TARGETS_MAX = 16, MECHANISMS_MAX = 64, PAIRS_MIN = 1000, PAIRS_MAX = 10000000 };
enum { PAIRS_DEFAULT = 50000, SEED_DEFAULT = 1 };

typedef struct compare_request {
    common_options common;
    const char *operand, *at, *mechanisms, *list_path, *prior_name, *plot_path;
    const char *labelled, *text, *label;
    option_list numbers;
    uint64_t pairs, seed;
    bool json, exact, force;
    comparison_target target;
    double wanted[TARGETS_MAX];
    size_t wanted_count;
    const tem_mechanism_properties *chosen[MECHANISMS_MAX];
    size_t chosen_count;
} compare_request;

/* -------------------------------------------------------------------- options -- */

/* Copies the part of a list before the next comma, and moves past it. False at the end, or if the
 * part does not fit. */
static bool take_part(const char **list, char *part, size_t bytes) {
    const size_t length = strcspn(*list, ",");
    if (**list == '\0' || length >= bytes)
        return false;
    memcpy(part, *list, length);
    part[length] = '\0';
    *list += length + ((*list)[length] == ',');
    return true;
}

/* Reads "guess=0.06,0.12". */
static int read_targets(compare_request *r) {
    static const comparison_target kinds[] = {COMPARISON_GUESS, COMPARISON_SELF,
                                              COMPARISON_EPSILON};
    const char *list = NULL;
    char part[64];
    for (size_t i = 0; r->at != NULL && i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(comparison_target_name(kinds[i]));
        if (strncmp(r->at, comparison_target_name(kinds[i]), length) == 0 && r->at[length] == '=') {
            r->target = kinds[i];
            list = r->at + length + 1;
        }
    }
    if (list == NULL)
        return talk_usage("compare", "at which attack? --at guess=0.12, --at self=0.3 or --at "
                                     "epsilon=2; several numbers with commas");
    while (r->wanted_count < TARGETS_MAX && take_part(&list, part, sizeof part)) {
        double *wanted = &r->wanted[r->wanted_count++];
        if (!options_decimal(part, wanted) || *wanted <= 0 ||
            (r->target != COMPARISON_EPSILON && !(*wanted >= 0.001 && *wanted <= 0.999)))
            return talk_usage("compare", "--at takes %s",
                              r->target == COMPARISON_EPSILON
                                  ? "epsilons above 0"
                                  : "probabilities from 0.001 to 0.999");
    }
    if (*list != '\0' || r->wanted_count == 0)
        return talk_usage("compare", "--at takes 1 to %d numbers, separated by commas",
                          TARGETS_MAX);
    return EXIT_DONE;
}

static int read_mechanisms(compare_request *r) {
    const char *list = r->mechanisms;
    char part[64];
    for (unsigned i = 0; list == NULL && tem_mechanism_at(i) != NULL; i++)
        if (r->chosen_count < MECHANISMS_MAX)
            r->chosen[r->chosen_count++] = tem_mechanism_at(i);
    while (list != NULL && *list != '\0' && r->chosen_count < MECHANISMS_MAX) {
        const mechanism_choice choice = {.mechanism = part};
        const tem_mechanism_properties *found =
            take_part(&list, part, sizeof part) ? mechanism_chosen(&choice) : NULL;
        if (found == NULL)
            return talk_usage("compare", "--mechanisms takes names separated by commas; 'tem "
                                         "mechanisms' lists them");
        r->chosen[r->chosen_count++] = found;
    }
    return r->chosen_count > 0 ? EXIT_DONE
                               : talk_usage("compare", "--mechanisms names no mechanism");
}

/* A number that no chosen mechanism takes is a mistake. */
static int check_numbers(const compare_request *r, const own_options *own) {
    for (const tem_parameter_value *n = own->numbers; n->name != NULL; n++) {
        bool taken = false;
        for (size_t i = 0; i < r->chosen_count; i++)
            for (const tem_parameter *p = r->chosen[i]->parameters; p->name != NULL; p++)
                taken = taken || strcmp(p->name, n->name) == 0;
        if (!taken || strcmp(n->name, "epsilon") == 0)
            return talk_usage("compare", "--number %s: no mechanism of this comparison takes it",
                              n->name);
    }
    return EXIT_DONE;
}

static int check_request(compare_request *r) {
    int status = read_targets(r);
    if (status == EXIT_DONE)
        status = read_mechanisms(r);
    if (status != EXIT_DONE)
        return status;
    const bool some = r->labelled != NULL || r->text != NULL || r->label != NULL;
    if (some && (r->labelled == NULL || r->text == NULL || r->label == NULL))
        return talk_usage("compare", "--labelled, --text and --label go together");
    if (r->labelled != NULL && format_of_path(r->labelled) == 0)
        return talk_usage("compare", "--labelled takes a file that ends in .tsv, .csv or .jsonl");
    return r->plot_path != NULL ? plot_check("compare", r->plot_path, r->force) : EXIT_DONE;
}

/* -------------------------------------------------------------------- samples -- */

/* The operand is a file if there is one with this name, else a word. *line receives the first line
 * of the file, which the caller frees. */
static int read_operand(const char *operand, const char **word, char **line) {
    size_t capacity = 0;
    *word = NULL;
    *line = NULL;
    if (operand == NULL)
        return EXIT_DONE;
    FILE *file = fopen(operand, "rb");
    if (file == NULL && errno == ENOENT) {
        *word = operand;
        return EXIT_DONE;
    }
    const ssize_t bytes = file == NULL ? -1 : getline(line, &capacity, file);
    if (file == NULL)
        perror("tem: the file");
    else if (bytes < 0)
        fputs("tem: the file is empty\n", stderr);
    if (file != NULL)
        fclose(file);
    if (bytes < 0) {
        free(*line);
        *line = NULL;
        return EXIT_FAILED;
    }
    (*line)[strcspn(*line, "\r\n")] = '\0';
    return EXIT_DONE;
}

/* ------------------------------------------------------------------- measuring -- */

/* "about 2 min", or "about 40 s". */
static const char *time_left(double seconds, char text[32]) {
    if (seconds >= 120)
        snprintf(text, 32, "about %.0f min", seconds / 60);
    else
        snprintf(text, 32, "about %.0f s", seconds);
    return text;
}

static tem_status add_accuracy(const side_by_side *c, eval_labelled *texts, comparison_row *row,
                               tem_error *error) {
    tem_mechanism *mechanism = NULL;
    if (texts == NULL || !row->is_measured)
        return TEM_OK;
    tem_status status = comparison_make(c, row->properties, row->epsilon, &mechanism, error);
    if (status == TEM_OK)
        status = eval_labelled_accuracy(texts, mechanism, &row->accuracy, error);
    tem_mechanism_free(mechanism);
    return status;
}

static tem_status measure_rows(const compare_request *r, const side_by_side *c,
                               eval_labelled *texts, comparison_table *t, tem_error *error) {
    const size_t total = r->wanted_count * r->chosen_count;
    const double start = talk_clock();
    tem_status status = TEM_OK;
    char left[32];
    for (size_t i = 0; i < total && status == TEM_OK; i++) {
        comparison_row *row = &t->rows[i];
        status = comparison_measure(c, r->chosen[i % r->chosen_count],
                                    r->wanted[i / r->chosen_count], row, error);
        t->count = i + 1;
        if (status == TEM_OK)
            status = add_accuracy(c, texts, row, error);
        talk_end_progress();
        if (status == TEM_OK && i + 1 < total)
            talk_note(r->common.quiet, "%zu/%zu %s: %.1f s; %s left", i + 1, total,
                      row->properties->name, row->seconds,
                      time_left((talk_clock() - start) / (double)(i + 1) * (double)(total - i - 1),
                                left));
    }
    return status;
}

static int show(const compare_request *r, const comparison_table *t) {
    if (!r->json)
        comparison_print(t);
    else if (!print_as_json(comparison_as_json(t)))
        return EXIT_FAILED;
    return r->plot_path != NULL ? comparison_plot(t, r->plot_path) : EXIT_DONE;
}

static tem_status open_labelled(const compare_request *r, const side_by_side *c,
                                eval_labelled **texts, tem_error *error) {
    const eval_files files = {.train = r->labelled,
                              .text = r->text,
                              .label = r->label,
                              .format = r->labelled != NULL ? format_of_path(r->labelled) : 0};
    const eval_options options = {
        .model_path = default_model_path(), .seed = r->seed, .run = c->run};
    return r->labelled == NULL ? TEM_OK
                               : eval_labelled_open(c->model, &files, &options, texts, error);
}

static int compare(const compare_request *r, side_by_side *c) {
    comparison_table t = {.about = c,
                          .prior_name = r->prior_name,
                          .labelled = r->labelled,
                          .rows = calloc(r->wanted_count * r->chosen_count, sizeof *t.rows)};
    eval_labelled *texts = NULL;
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    tem_status status = t.rows == NULL ? TEM_ERR_MEMORY : TEM_OK;
    if (status == TEM_OK)
        status = open_labelled(r, c, &texts, &error);
    if (status == TEM_OK)
        status = tem_accountant_create(c->model, NULL, c->run, &c->accountant, &error);
    if (status == TEM_OK)
        status = tem_prior_create_zipf(c->model, 0, &c->even, &error);
    if (status == TEM_OK)
        status = measure_rows(r, c, texts, &t, &error);
    talk_end_progress();
    const int shown = status == TEM_OK ? show(r, &t) : talk_error(&error);
    for (size_t i = 0; i < t.count; i++)
        comparison_row_free(&t.rows[i]);
    free(t.rows);
    eval_labelled_free(texts);
    return shown;
}

static int run(const compare_request *r) {
    const tem_run how = talk_run((unsigned)r->common.threads, r->common.quiet);
    char *line = NULL;
    own_options own = {.listed = NULL};
    side_by_side c = {.own = &own,
                      .target = r->target,
                      .pairs = r->pairs,
                      .tests = r->pairs * 2 / 5,
                      .seed = r->seed,
                      .force_exact = r->exact,
                      .run = &how,
                      .quiet = r->common.quiet};
    int status = read_operand(r->operand, &c.word, &line);
    tem_model *model = NULL;
    c.line = line;
    if (status == EXIT_DONE &&
        (model = trust_open_model(r->common.model, r->common.model_hash, &how)) == NULL)
        status = EXIT_FAILED;
    c.model = model;
    if (status == EXIT_DONE && c.word != NULL &&
        tem_model_find(model, c.word, strlen(c.word)) == TEM_NO_WORD)
        status = talk_usage("compare", "the operand is neither a file nor a word of the model");
    if (status == EXIT_DONE)
        status = own_options_read("compare", &r->numbers, r->list_path, model, &own);
    if (status == EXIT_DONE)
        status = check_numbers(r, &own);
    if (status == EXIT_DONE)
        c.prior = prior_choose("compare", r->prior_name, model, &how, r->common.quiet, &status);
    if (status == EXIT_DONE && (c.word != NULL || line != NULL))
        fputs(
            "tem: warning: the draws of the word or line are NOT private: their seed is known, and "
            "some mechanisms protect nothing.\n",
            stderr);
    if (status == EXIT_DONE)
        status = compare(r, &c);
    tem_prior_free(c.even);
    tem_prior_free(c.prior);
    tem_accountant_free(c.accountant);
    own_options_free(&own);
    tem_model_free(model);
    if (line != NULL)
        explicit_bzero(line, strlen(line));
    free(line);
    return status;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem compare --at guess=P[,P...] | self=P | epsilon=E [OPTIONS]\n"
         "                   [WORD | FILE]\n"
         "\n"
         "Shows all mechanisms side by side where an attacker is right equally often: an epsilon\n"
         "does not mean the same for two of them. The attacker makes the best possible guess by\n"
         "the law of the mechanism; where tem cannot compute the law, they learn it from pairs of\n"
         "words and outputs that they draw. It is an attack, not a proof; 'tem mechanisms' says\n"
         "what is proved. docs/COMPARE.md explains the table.\n"
         "With WORD it shows some draws of the word, with FILE its first line after each\n"
         "mechanism. These draws are seeded: they are not private.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem compare --at guess=0.12 wonderful\n"
         "  tem compare --at guess=0.12,0.17,0.3 --mechanisms tem,madlib --plot curves.svg\n"
         "  tem compare --at self=0.3 --prior public.txt --labelled reviews.tsv \\\n"
         "              --text review --label stars\n"
         "\n"
         "The prior and the list must be public, never the text that you want to protect.");
}

int command_compare(int argc, char *const *argv) {
    compare_request r = {.prior_name = PRIOR_DEFAULT, .pairs = PAIRS_DEFAULT, .seed = SEED_DEFAULT};
    const option_spec table[] = {
        {"at", 0, OPTION_TEXT, &r.at, "TARGET",
         "what all mechanisms have in common: guess=P, the attacker is right with\n"
         "probability P; self=P, words of the prior stay themselves with probability P on\n"
         "average; or epsilon=E",
         0, 0},
        {"mechanisms", 0, OPTION_TEXT, &r.mechanisms, "LIST",
         "names separated by commas (default: all)", 0, 0},
        {"number", 0, OPTION_LIST, &r.numbers, "NAME=X",
         "a number of the mechanisms that take it, such as lambda=0.5; several times", 0, 0},
        {"list", 0, OPTION_FILE, &r.list_path, "FILE",
         "the public list of words for the mechanisms that need one, one per line", 0, 0},
        PRIOR_OPTION(r.prior_name),
        {"pairs", 0, OPTION_COUNT, &r.pairs, "N",
         "pairs that the attacker learns from; it is tested on 2/5 as many fresh\n"
         "ones (default 50000)",
         PAIRS_MIN, PAIRS_MAX},
        {"exact", 0, OPTION_FLAG, &r.exact, NULL,
         "compute the law also where that takes more than 2 minutes of CPU time", 0, 0},
        {"labelled", 0, OPTION_FILE, &r.labelled, "FILE",
         "labeled texts, .tsv or .jsonl: also show how well a classifier learns\n"
         "from one half after each mechanism, tested on the other half",
         0, 0},
        {"text", 0, OPTION_TEXT, &r.text, "FIELD", "--labelled: the field that has the text", 0, 0},
        {"label", 0, OPTION_TEXT, &r.label, "FIELD", "--labelled: the field that has the label", 0,
         0},
        {"insecure-seed", 0, OPTION_COUNT, &r.seed, "N", "seed of all draws (default 1)", 0,
         UINT32_MAX},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object", 0, 0},
        {"plot", 0, OPTION_TEXT, &r.plot_path, "FILE",
         "draw the mean cosine of word and output: FILE.svg or FILE.png", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the plot", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, &r.operand, 1, &operands, message))
        return talk_usage("compare", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    const int status = check_request(&r);
    return status == EXIT_DONE ? run(&r) : status;
}
