/* eval.h - the evaluation: what a mechanism costs a classifier, and what an attacker still finds
 * out. All that the command needs to know of eval/; docs/EVALUATION.md has the protocol.
 *
 * An evaluation is a plan of rows, one a (mechanism, epsilon, trial). A row that is done is a line
 * of FOLDER/results.jsonl, on the disk before the next is begun; one that is there is not done
 * again. results.csv and results.md are made from these lines, and so are the figures. */
#ifndef EVAL_EVAL_H
#define EVAL_EVAL_H

#include "tem.h"

#include <stdbool.h>

enum { EVAL_NAME_BYTES = 24, EVAL_EPSILONS_MAX = 64, EVAL_TRIALS_MAX = 1000 };

/* One result. A number that is not known is NaN. */
typedef struct eval_row {
    char mechanism[EVAL_NAME_BYTES];
    double epsilon; /* 0 for "original" */
    uint32_t trial; /* from 1 */
    double accuracy;
    double mia_auc;         /* membership attack, asked about the text as it was */
    double mia_auc_private; /* the same, asked about the privatised text */
    double self, bayes;     /* tem_summary's self_mean and bayes, words by Zipf's law */
    double self_drawn;      /* share of the training text's words that stayed themselves */
    double bayes_drawn;     /* share that an attacker guesses who learned from other draws */
    double seconds;
    uint64_t seed;
    char commit[48];      /* of the program */
    char model[65];       /* hash of the model file */
    char data[33];        /* digests of train and test */
    char certificate[65]; /* hash of the one that the mechanism is from, or "" */
    char setting[64];     /* what else all rows of a folder have in common */
} eval_row;

/* What the evaluation tells while it runs: a row that is done, and the seconds that the rows still
 * to do will take if they take as long as those of the same mechanism before. */
typedef void eval_told_fn(void *context, const eval_row *row, uint32_t done, uint32_t total,
                          double seconds_left);

/* A sentence about something that is left out, and why. */
typedef void eval_note_fn(void *context, const char *sentence);

typedef struct eval_options {
    const char *model_path; /* certificates are looked for in model_path.cert; each must be one
                             * that is trusted (tem_certificate_trust) */
    const char *folder;     /* where the results go; made if need be */
    uint32_t trials;        /* 1 to EVAL_TRIALS_MAX */
    uint64_t seed;
    bool quarter;           /* of the reviews, at random: four times as fast (eval_imdb) */
    bool random_init;       /* vectors begin at random, not with the model's */
    const char *mechanisms; /* names with commas between; NULL: all */
    const char *epsilons;   /* numbers with commas between; NULL: each mechanism's own */
    const char *only;       /* MECHANISM[:EPSILON[:TRIAL]]: do these rows again; NULL: no */
    uint32_t epochs;        /* 0: 20 */
    const char *export_to;  /* a folder for the texts and vectors of each row, or NULL */
    const tem_run *run;
    eval_told_fn *told;
    eval_note_fn *note;
    void *context;
} eval_options;

/* The paper's experiment, on the folder of the standard aclImdb download. Fails with
 * TEM_ERR_ARGUMENT (an unknown mechanism, a number that is none), TEM_ERR_FILE, TEM_ERR_FORMAT (the
 * data; results in the folder of another model, data, certificate, seed or setting),
 * TEM_ERR_EXISTS (another evaluation is writing into the folder), TEM_ERR_CERTIFICATE (only rows
 * were asked for that need one), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
tem_status eval_imdb(const tem_model *model, const char *data, const eval_options *options,
                     tem_error *error);

typedef struct eval_files {
    const char *train, *test;
    tem_format format;        /* TEM_FORMAT_TSV or TEM_FORMAT_JSONL */
    const char *text, *label; /* names of fields */
} eval_files;

/* Accuracy alone, on labelled texts of any kind: trained on `train` after each mechanism, tested on
 * `test` as it is. Fails in the same ways; bad data with file and line. */
tem_status eval_classify(const tem_model *model, const eval_files *files,
                         const eval_options *options, tem_error *error);

#endif
