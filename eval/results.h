/* results.h - rows on disk: results.jsonl, and the tables made from it. */
#ifndef EVAL_RESULTS_H
#define EVAL_RESULTS_H

#include "eval.h"

#include <stdbool.h>
#include <stdio.h>

/* The rows of one kind of text and learner: one per trial. */
typedef struct results_kind {
    const char *mechanism, *learner;
    double epsilon;
} results_kind;

typedef struct results {
    char path[4096]; /* path of results.jsonl */
    FILE *file;      /* results.jsonl, open for appending and locked */
    eval_row *rows;  /* the last row for each (mechanism, epsilon, learner, trial) */
    uint32_t count, capacity;
} results;

/* Reads folder/results.jsonl and keeps it open; creates directory and file if they are missing.
 * Removes an incomplete last line, which an interrupted run leaves. Any other line that is not a
 * row fails with TEM_ERR_FORMAT; so does a row whose model, data, seed or setting differs from
 * `like`. Fails with TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_EXISTS (another process has it open). */
tem_status results_open(const char *folder, const eval_row *like, results *r, tem_error *error);
void results_free(results *r);

/* Finds a row; NULL if there is none. */
const eval_row *results_find(const results *r, results_kind kind, uint32_t trial);

/* Appends a row, and returns when it is on disk. */
tem_status results_append(results *r, const eval_row *row, tem_error *error);

/* Writes results.csv and results.md into the directory. */
tem_status results_write_tables(const results *r, const char *folder, tem_error *error);

/* The numbers of a row. */
typedef enum results_value {
    RESULTS_ACCURACY,
    RESULTS_MIA,
    RESULTS_MIA_PRIVATE,
    RESULTS_SELF,
    RESULTS_BAYES,
    RESULTS_SELF_DRAWN,
    RESULTS_BAYES_DRAWN,
    RESULTS_PENALTY,
} results_value;

/* Mean over the trials that have the number, and half the width of its 95 % confidence interval by
 * Student's t (NaN for fewer than two trials). */
typedef struct results_mean {
    uint32_t trials;
    double mean, half;
} results_mean;

results_mean results_over_trials(const results *r, results_kind kind, results_value value);

/* Lists the distinct epsilons of a mechanism and learner, ascending; returns their number, at most
 * `most`. */
uint32_t results_epsilons(const results *r, const char *mechanism, const char *by, double *epsilons,
                          uint32_t most);

/* Whether all rows are of the learner "paper". */
bool results_only_paper(const results *r);

/* t such that Student's distribution with `freedom` degrees has 2.5 % above it. */
double student_quantile(uint32_t freedom);

#endif
