/* results.c - rows on disk. */
#include "results.h"

#include "failure.h"
#include "number_text.h"
#include "plan.h"
#include "whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The optional numbers of a row: their names in JSON and CSV, and their columns in results.md. */
static const struct {
    const char *name;
    size_t offset;
    const char *heading;
    double scale;
    int digits;
} values[] = {
    {"accuracy", offsetof(eval_row, accuracy), "accuracy", 100, 2},
    {"mia_auc", offsetof(eval_row, mia_auc), "MIA AUC", 1, 3},
    {"mia_auc_private", offsetof(eval_row, mia_auc_private), "MIA AUC, private text", 1, 3},
    {"self", offsetof(eval_row, self), "self", 1, 3},
    {"bayes", offsetof(eval_row, bayes), "Bayes", 1, 3},
    {"self_drawn", offsetof(eval_row, self_drawn), "self, drawn", 1, 3},
    {"bayes_drawn", offsetof(eval_row, bayes_drawn), "Bayes, drawn", 1, 3},
    {"penalty", offsetof(eval_row, penalty), "penalty", 1, 4},
};

enum { VALUES = sizeof values / sizeof *values };

static double value_of(const eval_row *row, results_value value) {
    double number;
    memcpy(&number, (const char *)row + values[value].offset, sizeof number);
    return number;
}

/* Copies a string of the object into a buffer; false if it is missing or too long. */
static bool take_string(const json_t *object, const char *name, char *out, size_t bytes) {
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL && (size_t)snprintf(out, bytes, "%s", text) < bytes;
}

/* The same for a string that rows of earlier versions do not have. */
static bool take_string_or(const json_t *object, const char *name, const char *otherwise, char *out,
                           size_t bytes) {
    if (json_object_get(object, name) != NULL)
        return take_string(object, name, out, bytes);
    return (size_t)snprintf(out, bytes, "%s", otherwise) < bytes;
}

/* The seed is stored as text, because JSON integers end at 2^63. */
static bool take_seed(const json_t *object, uint64_t *seed) {
    char text[24], *end = NULL;
    if (!take_string(object, "seed", text, sizeof text) || text[0] < '0' || text[0] > '9')
        return false;
    *seed = strtoull(text, &end, 10);
    return *end == '\0';
}

static bool take_trial(const json_t *object, uint32_t *trial) {
    const json_t *number = json_object_get(object, "trial");
    const json_int_t value = json_integer_value(number); /* 0 if it is not an integer */
    *trial = value > 0 && value <= EVAL_TRIALS_MAX ? (uint32_t)value : 0;
    return *trial > 0;
}

static bool row_of_json(const json_t *object, eval_row *row) {
    *row = (eval_row){0};
    const json_t *epsilon = json_object_get(object, "epsilon");
    const json_t *data = json_object_get(object, "data");
    const json_t *seconds = json_object_get(object, "seconds");
    if (!take_string(object, "mechanism", row->mechanism, sizeof row->mechanism) ||
        !take_string(object, "commit", row->commit, sizeof row->commit) ||
        !take_string(object, "model", row->model, sizeof row->model) ||
        !take_string(object, "setting", row->setting, sizeof row->setting) ||
        !take_seed(object, &row->seed) || !take_trial(object, &row->trial) ||
        !json_is_number(seconds) || !(json_is_number(epsilon) || json_is_null(epsilon)))
        return false;
    /* rows of earlier versions have neither field: treat them as having no data */
    if (data != NULL &&
        (!take_string(object, "data", row->data, sizeof row->data) ||
         !take_string(object, "certificate", row->certificate, sizeof row->certificate)))
        return false;
    /* rows of earlier versions have neither of these two: there was one learner and one prior */
    if (!take_string_or(object, "learner", "paper", row->learner, sizeof row->learner) ||
        !take_string_or(object, "prior", "zipf", row->prior, sizeof row->prior))
        return false;
    row->epsilon = json_number_value(epsilon);
    row->seconds = json_number_value(seconds);
    for (size_t i = 0; i < VALUES; i++) {
        const json_t *value = json_object_get(object, values[i].name);
        const double number = json_is_number(value) ? json_number_value(value) : NAN;
        /* rows of earlier versions have no penalty */
        const bool may_be_missing = value == NULL && i == RESULTS_PENALTY;
        if (!json_is_number(value) && !json_is_null(value) && !may_be_missing)
            return false;
        memcpy((char *)row + values[i].offset, &number, sizeof number);
    }
    return true;
}

static json_t *number_or_null(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

static char *json_of_row(const eval_row *row) {
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, row->seed);
    json_t *object = json_pack("{ss so ss si}", "mechanism", row->mechanism, "epsilon",
                               row->epsilon > 0 ? json_real(row->epsilon) : json_null(), "learner",
                               row->learner, "trial", (int)row->trial);
    for (size_t i = 0; i < VALUES; i++)
        json_object_set_new(object, values[i].name,
                            number_or_null(value_of(row, (results_value)i)));
    json_object_set_new(object, "seconds", json_real(row->seconds));
    json_object_set_new(object, "seed", json_string(seed));
    json_object_set_new(object, "commit", json_string(row->commit));
    json_object_set_new(object, "model", json_string(row->model));
    json_object_set_new(object, "data", json_string(row->data));
    json_object_set_new(object, "certificate", json_string(row->certificate));
    json_object_set_new(object, "prior", json_string(row->prior));
    json_object_set_new(object, "setting", json_string(row->setting));
    /* 17 digits, so that reading returns the same number */
    char *text = object != NULL ? json_dumps(object, JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return text;
}

static bool is_of_kind(const eval_row *row, results_kind kind) {
    return row->epsilon == kind.epsilon && strcmp(row->mechanism, kind.mechanism) == 0 &&
           strcmp(row->learner, kind.learner) == 0;
}

static eval_row *find(const results *r, results_kind kind, uint32_t trial) {
    for (uint32_t i = 0; i < r->count; i++)
        if (r->rows[i].trial == trial && is_of_kind(&r->rows[i], kind))
            return &r->rows[i];
    return NULL;
}

const eval_row *results_find(const results *r, results_kind kind, uint32_t trial) {
    return find(r, kind, trial);
}

bool results_only_paper(const results *r) {
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].learner, learner_paper.name) != 0)
            return false;
    return true;
}

static tem_status remember(results *r, const eval_row *row, tem_error *error) {
    const results_kind kind = {row->mechanism, row->learner, row->epsilon};
    eval_row *place = find(r, kind, row->trial);
    if (place == NULL && r->count == r->capacity) {
        const uint32_t capacity = 2 * r->capacity + 64;
        eval_row *rows = realloc(r->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return eval_out_of_memory(error);
        r->rows = rows;
        r->capacity = capacity;
    }
    if (place == NULL)
        place = &r->rows[r->count++];
    *place = *row;
    return TEM_OK;
}

static tem_status read_line(results *r, const char *line, size_t bytes, uint64_t number,
                            const eval_row *like, tem_error *error) {
    eval_row row;
    json_t *object = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, NULL);
    const bool fine = object != NULL && row_of_json(object, &row);
    json_decref(object);
    if (!fine)
        return eval_fail_at(error, TEM_ERR_FORMAT, r->path, number,
                            "this is not a result of an evaluation; use another directory");
    const char *other = strcmp(row.model, like->model) != 0       ? "another model"
                        : strcmp(row.data, like->data) != 0       ? "other data"
                        : row.seed != like->seed                  ? "another seed"
                        : strcmp(row.setting, like->setting) != 0 ? "another setting"
                                                                  : NULL;
    if (other != NULL)
        return eval_fail_at(error, TEM_ERR_FORMAT, r->path, number,
                            "a result from %s; use another directory", other);
    return remember(r, &row, error);
}

static tem_status read_lines(results *r, const char *text, size_t bytes, const eval_row *like,
                             tem_error *error) {
    tem_status status = TEM_OK;
    size_t at = 0;
    for (uint64_t number = 1; at < bytes && status == TEM_OK; number++) {
        const char *end = memchr(text + at, '\n', bytes - at);
        if (end == NULL)
            break;
        status = read_line(r, text + at, (size_t)(end - text) - at, number, like, error);
        at = (size_t)(end - text) + 1;
    }
    if (status == TEM_OK && at < bytes && ftruncate(fileno(r->file), (off_t)at) != 0)
        status =
            eval_fail_at(error, TEM_ERR_FILE, r->path, 0, "cannot remove the incomplete last line");
    return status;
}

/* Opens the file for appending, and locks it for this evaluation. */
static tem_status open_file(results *r, tem_error *error) {
    r->file = fopen(r->path, "abe");
    if (r->file == NULL)
        return eval_fail_at(error, TEM_ERR_FILE, r->path, 0, "cannot write results");
    if (flock(fileno(r->file), LOCK_EX | LOCK_NB) == 0)
        return TEM_OK;
    return errno == EWOULDBLOCK
               ? eval_fail_at(error, TEM_ERR_EXISTS, r->path, 0,
                              "another evaluation is writing to it; wait, or use another "
                              "directory")
               : eval_fail_at(error, TEM_ERR_FILE, r->path, 0, "cannot lock it");
}

tem_status results_open(const char *folder, const eval_row *like, results *r, tem_error *error) {
    results made = {.rows = NULL};
    char *text = NULL;
    size_t bytes = 0;
    if ((size_t)snprintf(made.path, sizeof made.path, "%s/results.jsonl", folder) >=
        sizeof made.path)
        return eval_fail_at(error, TEM_ERR_ARGUMENT, folder, 0, "the name is too long");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return eval_fail_at(error, TEM_ERR_FILE, folder, 0, "cannot create the directory");
    tem_status status = open_file(&made, error);
    if (status == TEM_OK)
        status = whole_file_read(made.path, &text, &bytes, error);
    if (status == TEM_OK)
        status = read_lines(&made, text, bytes, like, error);
    free(text);
    if (status == TEM_OK)
        *r = made;
    else
        results_free(&made);
    return status;
}

void results_free(results *r) {
    if (r->file != NULL)
        fclose(r->file);
    free(r->rows);
    *r = (results){.rows = NULL};
}

tem_status results_append(results *r, const eval_row *row, tem_error *error) {
    char *line = json_of_row(row);
    if (line == NULL)
        return eval_out_of_memory(error);
    const bool done =
        fprintf(r->file, "%s\n", line) > 0 && fflush(r->file) == 0 && fsync(fileno(r->file)) == 0;
    if (!done)
        eval_fail_at(error, TEM_ERR_FILE, r->path, 0, "cannot write the result");
    free(line);
    return done ? remember(r, row, error) : TEM_ERR_FILE;
}

double student_quantile(uint32_t freedom) {
    static const double table[] = {NAN,   12.706, 4.303, 3.182, 2.776, 2.571, 2.447,
                                   2.365, 2.306,  2.262, 2.228, 2.201, 2.179, 2.160,
                                   2.145, 2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
    if (freedom < sizeof table / sizeof *table)
        return table[freedom];
    const double z = 1.959964, n = freedom; /* the quantile as a series in 1/n */
    return z + (z * z * z + z) / (4 * n) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

results_mean results_over_trials(const results *r, results_kind kind, results_value value) {
    double sum = 0, squares = 0;
    results_mean m = {0, NAN, NAN};
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < r->count; i++) {
            const eval_row *row = &r->rows[i];
            const double number = value_of(row, value);
            if (!is_of_kind(row, kind) || !isfinite(number))
                continue;
            m.trials += pass == 0;
            sum += pass == 0 ? number : 0;
            squares += pass == 1 ? (number - m.mean) * (number - m.mean) : 0;
        }
        m.mean = m.trials > 0 ? sum / m.trials : NAN;
    }
    if (m.trials > 1)
        m.half = student_quantile(m.trials - 1) * sqrt(squares / (m.trials - 1) / m.trials);
    return m;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

uint32_t results_epsilons(const results *r, const char *mechanism, const char *by, double *epsilons,
                          uint32_t most) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t known = 0;
        while (known < count && epsilons[known] != r->rows[i].epsilon)
            known++;
        if (known == count && count < most && strcmp(r->rows[i].mechanism, mechanism) == 0 &&
            strcmp(r->rows[i].learner, by) == 0)
            epsilons[count++] = r->rows[i].epsilon;
    }
    qsort(epsilons, count, sizeof *epsilons, compare_doubles);
    return count;
}

/* ---------------------------------------------------------------- tables */

static void print_csv_number(FILE *out, double number) {
    if (isfinite(number))
        fprintf(out, "%.6g", number);
    fputc(',', out);
}

static void print_csv(FILE *out, const void *context) {
    const results *r = context;
    fputs("mechanism,epsilon,trial,accuracy,mia_auc,mia_auc_private,self,bayes,"
          "self_drawn,bayes_drawn,penalty,commit,seed,model,data,certificate,learner,prior\n",
          out);
    char epsilon[NUMBER_TEXT_BYTES];
    for (uint32_t i = 0; i < r->count; i++) {
        const eval_row *row = &r->rows[i];
        fprintf(out, "%s,%s,%u,", row->mechanism,
                row->epsilon > 0 ? number_text(row->epsilon, epsilon) : "", row->trial);
        for (size_t k = 0; k < VALUES; k++)
            print_csv_number(out, value_of(row, (results_value)k));
        fprintf(out, "%s,%" PRIu64 ",%s,%s,%s,%s,%s\n", row->commit, row->seed, row->model,
                row->data, row->certificate, row->learner, row->prior);
    }
}

/* Whether any row tells something in this column. tem eval classify, for example, attacks nothing;
 * and the original text is always guessed, by definition. */
static bool is_filled(const results *r, size_t value) {
    const bool about_words = value >= RESULTS_SELF && value <= RESULTS_BAYES_DRAWN;
    for (uint32_t i = 0; i < r->count; i++) {
        const eval_row *row = &r->rows[i];
        if (isfinite(value_of(row, (results_value)value)) &&
            !(about_words && strcmp(row->mechanism, "original") == 0))
            return true;
    }
    return false;
}

/* Prints "0.7462 ± 0.0031"; the interval only if there are enough trials. */
static void print_cell(FILE *out, results_mean m, double scale, int digits) {
    if (m.trials == 0)
        fputs(" |", out);
    else if (isnan(m.half))
        fprintf(out, " %.*f |", digits, m.mean * scale);
    else
        fprintf(out, " %.*f ± %.*f |", digits, m.mean * scale, digits, m.half * scale);
}

static void print_md_row(const results *r, results_kind kind, FILE *out) {
    char text[NUMBER_TEXT_BYTES];
    fprintf(out, "| %s |", kind.mechanism);
    if (kind.epsilon > 0)
        fprintf(out, " %s", number_text(kind.epsilon, text));
    fprintf(out, " | %s | %u |", kind.learner,
            results_over_trials(r, kind, RESULTS_ACCURACY).trials);
    for (size_t k = 0; k < VALUES; k++) {
        results_mean m = results_over_trials(r, kind, (results_value)k);
        /* self and bayes are computed from the law, so the same in every trial; a penalty is a
         * setting, and no measurement */
        if (k == RESULTS_SELF || k == RESULTS_BAYES || k == RESULTS_PENALTY)
            m.half = NAN;
        if (is_filled(r, k))
            print_cell(out, m, values[k].scale, values[k].digits);
    }
    fputc('\n', out);
}

/* One row for each epsilon. */
static void print_md_rows(const results *r, const char *mechanism, const char *by, FILE *out) {
    double epsilons[EVAL_EPSILONS_MAX];
    const uint32_t count = results_epsilons(r, mechanism, by, epsilons, EVAL_EPSILONS_MAX);
    for (uint32_t i = 0; i < count; i++)
        print_md_row(r, (results_kind){mechanism, by, epsilons[i]}, out);
}

static bool several_commits(const results *r) {
    for (uint32_t i = 1; i < r->count; i++)
        if (strcmp(r->rows[i].commit, r->rows[0].commit) != 0)
            return true;
    return false;
}

/* Only columns that some row fills. */
static void print_md_head(const results *r, FILE *out) {
    fputs("| mechanism | epsilon | learner | trials |", out);
    for (size_t k = 0; k < VALUES; k++)
        if (is_filled(r, k))
            fprintf(out, " %s |", values[k].heading);
    fputs("\n|---|---|---|---|", out);
    for (size_t k = 0; k < VALUES; k++)
        fputs(is_filled(r, k) ? "---|" : "", out);
    fputc('\n', out);
}

static void print_md(FILE *out, const void *context) {
    const results *r = context;
    fputs("Mean over the trials, ± half of the 95 % confidence interval (Student's t). Accuracy in "
          "percent. All trials are of the same texts, so the interval covers draws, first weights "
          "and halves, and no other texts. Drawn with a seeded generator: an experiment, not "
          "private.\n\n",
          out);
    if (several_commits(r))
        fputs("The rows are from different commits of the program; results.csv says which.\n\n",
              out);
    if (r->count > 0 && strcmp(r->rows[0].prior, "zipf") != 0)
        fputs("self and Bayes: the prior is the word frequencies of the public text.\n\n", out);
    print_md_head(r, out);
    for (size_t i = 0; plan_mechanism_at(i) != NULL; i++)
        for (size_t k = 0; learner_at(k) != NULL; k++)
            print_md_rows(r, plan_mechanism_at(i)->name, learner_at(k)->name, out);
}

static tem_status write_table(const results *r, const char *folder, const char *name,
                              whole_file_printer *print, tem_error *error) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name); /* shorter than results.jsonl */
    return whole_file_print(path, print, r, error);
}

tem_status results_write_tables(const results *r, const char *folder, tem_error *error) {
    const tem_status status = write_table(r, folder, "results.csv", print_csv, error);
    return status == TEM_OK ? write_table(r, folder, "results.md", print_md, error) : status;
}
