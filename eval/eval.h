/* eval.h - the evaluation: how much accuracy a mechanism costs a classifier, and how much an
 * attacker still learns. This is all that the command needs of eval/; docs/EVALUATION.md has the
 * protocol.
 *
 * An evaluation is a plan of rows, one per (mechanism, epsilon, learner, trial). A finished row is
 * a line of DIR/results.jsonl, on disk before the next row begins. An existing row is not computed
 * again. results.csv, results.md and the figures are made from these lines. */
#ifndef EVAL_EVAL_H
#define EVAL_EVAL_H

#include "tem.h"

#include <stdbool.h>

enum { EVAL_NAME_BYTES = 64, EVAL_EPSILONS_MAX = 64, EVAL_TRIALS_MAX = 1000 };

/* One result. An unknown number is NaN. */
typedef struct eval_row {
    char mechanism[EVAL_NAME_BYTES];
    char learner[EVAL_NAME_BYTES]; /* "paper" in rows of earlier versions, which do not have it */
    double epsilon;                /* 0 for "original" */
    uint32_t trial;                /* from 1 */
    double accuracy;
    double mia_auc;         /* membership attack on answers about the original text */
    double mia_auc_private; /* membership attack on answers about the privatized text */
    double self, bayes;     /* tem_summary's self_mean and bayes, under `prior` */
    double self_drawn;      /* share of the training text's words that stayed unchanged */
    double bayes_drawn;     /* share of words guessed by an attacker who learned from other draws */
    double penalty;         /* that the learner was trained with */
    double seconds;
    uint64_t seed;
    char commit[48];      /* of the program */
    char model[65];       /* hash of the model file */
    char data[33];        /* digests of train and test */
    char certificate[65]; /* hash of the mechanism's certificate, or "" */
    char prior[16];       /* "zipf", also in rows of earlier versions; or "public": public text */
    char setting[224];    /* everything else that all rows of a directory share */
} eval_row;

/* Progress callback: the row that was just finished, and the estimated seconds for the remaining
 * rows. The estimate assumes that a row takes as long as earlier rows of the same mechanism. */
typedef void eval_told_fn(void *context, const eval_row *row, uint32_t done, uint32_t total,
                          double seconds_left);

/* Receives a sentence that says what is left out, and why. */
typedef void eval_note_fn(void *context, const char *sentence);

typedef struct eval_options {
    const char *model_path; /* certificates are looked for in model_path.cert; each must be one
                             * that is trusted (tem_certificate_trust) */
    const char *folder;     /* where the results go; made if need be */
    uint32_t trials;        /* 1 to EVAL_TRIALS_MAX */
    uint64_t seed;
    bool quarter;           /* a random quarter of the reviews: four times as fast (eval_imdb) */
    bool random_init;       /* vectors start at random instead of with the model's */
    const char *mechanisms; /* names separated by commas, each perhaps with numbers of its own, as
                              * in mahalanobis:lambda=0.5; NULL: those of the paper */
    const unsigned char *listed; /* the public list of mechanisms that need one; NULL: none */
    const char *epsilons;        /* numbers separated by commas; NULL: each mechanism's own */
    const char *learners;        /* names separated by commas; NULL: paper */
    const char *public_text; /* PUBLIC text: a file with one document per line, or a directory of
                              * .txt files. Prior of `bayes` and of the learners; NULL: Zipf's law.
                              * eval_imdb with learners other than paper: NULL is train/unsup */
    const char *vectors;     /* of the learners other than paper: a file; "text:K": K numbers per
                              * word from the public text (tem_text_vectors); or "signals", those
                              * of an adapted model. NULL: text:50 with a public text; else the file
                              * named as the model, with .temv */
    double penalty;          /* of the linear learners; 0: each chooses its own by a part of the
                              * released training texts (validation.h) */
    const char *only;        /* MECHANISM[:EPSILON[:TRIAL]]: compute these rows again; NULL: none */
    uint32_t epochs;         /* 0: 20 */
    const char *export_to;   /* directory for the texts and vectors of each row, or NULL */
    const tem_run *run;
    eval_told_fn *told;
    eval_note_fn *note;
    void *context;
} eval_options;

/* Runs the paper's experiment on the directory of the standard aclImdb download. Fails with
 * TEM_ERR_ARGUMENT (an unknown mechanism, an invalid number), TEM_ERR_FILE, TEM_ERR_FORMAT (bad
 * data; the directory holds results of another model, data, certificate, seed or setting),
 * TEM_ERR_EXISTS (another evaluation is writing to the directory), TEM_ERR_CERTIFICATE (every
 * requested row needs a certificate and has none), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
tem_status eval_imdb(const tem_model *model, const char *data, const eval_options *options,
                     tem_error *error);

typedef struct eval_files {
    const char *train, *test;
    tem_format format;        /* one whose records have fields */
    const char *text, *label; /* field names */
    char delimiter;           /* as in tem_job */
} eval_files;

/* Measures accuracy only, on labeled texts of any kind: trains on `train` after each mechanism,
 * tests on the original `test`. Fails in the same ways; for bad data the error has file and
 * line. */
tem_status eval_classify(const tem_model *model, const eval_files *files,
                         const eval_options *options, tem_error *error);

/* Labeled texts for several mechanisms: one half to learn from, the other half to test on. */
typedef struct eval_labelled eval_labelled;

/* Reads files->train and cuts it into halves at random; files->test is not used. Of the options it
 * takes model_path, seed, public_text, vectors, penalty and run. Fails as eval_classify does. The
 * model and the run must live as long as the result. */
tem_status eval_labelled_open(const tem_model *model, const eval_files *files,
                              const eval_options *options, eval_labelled **labelled,
                              tem_error *error);
void eval_labelled_free(eval_labelled *labelled);

/* How often the learner "linear" is right on the second half, which is original text, after it has
 * learned from the first half as the mechanism releases it. */
tem_status eval_labelled_accuracy(eval_labelled *labelled, const tem_mechanism *mechanism,
                                  double *accuracy, tem_error *error);

#endif
