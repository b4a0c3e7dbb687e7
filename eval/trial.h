/* trial.h - the data and models that all rows of a trial share, and one row of it. */
#ifndef EVAL_TRIAL_H
#define EVAL_TRIAL_H

#include "attack.h"
#include "eval.h"
#include "learner.h"
#include "plan.h"

/* The data and settings of an evaluation. */
typedef struct task {
    const tem_model *model;
    corpus train, test;
    uint32_t classes;
    bool membership;  /* split train and test into halves and run the membership attack */
    bool random_init; /* each classifier starts with its own random vectors */
    embedding start;  /* initial vectors otherwise */
    knowledge known;  /* of the learners other than "paper" */
    uint32_t epochs;
    uint64_t seed;
    const char *export_to; /* see eval_options */
    core_team *team;
    const tem_run *run;
} task;

void task_free(task *t);

/* The text that a row's target learns from, and similar text that it does not see, both drawn by
 * one mechanism. Rows that differ in the learner share them. */
typedef struct drawn_texts {
    char mechanism[EVAL_NAME_BYTES]; /* "": none */
    double epsilon;
    corpus learn, others;
    bags learn_bags, others_bags;
    double self_drawn, bayes_drawn;
} drawn_texts;

/* Without a membership attack, learn = train, judge = test, and the other corpora are empty. */
typedef struct trial {
    const task *task;
    uint32_t number;        /* from 1; 0: no trial is open */
    corpus learn, others;   /* TR1, TR2 */
    corpus judge, shadowed; /* TE1, TE2 */
    bags learn_bags, others_bags, judge_bags, shadowed_bags;
    attack attacks[LEARNERS_MAX]; /* learned from the shadow model of each learner, on first use */
    bool is_attacked[LEARNERS_MAX];
    drawn_texts drawn; /* of the last row */
} trial;

/* Splits the data into halves. Fails with TEM_ERR_FORMAT if a half has no word. */
tem_status trial_open(const task *t, uint32_t number, trial *out, tem_error *error);
void trial_close(trial *t);

/* Computes one row: draws, trains, tests, attacks. mechanism NULL means the original text; else it
 * is the one that the row names. Fills accuracy, the AUCs and the counts of the draws. */
tem_status trial_row(trial *t, const learner *by, const tem_mechanism *mechanism, eval_row *row,
                     tem_error *error);

#endif
