/* trial.h - the data and models that all rows of a trial share, and one row of it. */
#ifndef EVAL_TRIAL_H
#define EVAL_TRIAL_H

#include "attack.h"
#include "classifier.h"
#include "eval.h"
#include "plan.h"

/* The data and settings of an evaluation. */
typedef struct task {
    const tem_model *model;
    corpus train, test;
    uint32_t classes;
    bool membership;  /* split train and test into halves and run the membership attack */
    bool random_init; /* each classifier starts with its own random vectors */
    embedding start;  /* initial vectors otherwise */
    uint32_t epochs;
    uint64_t seed;
    const char *export_to; /* see eval_options */
    core_team *team;
    const tem_run *run;
} task;

void task_free(task *t);

/* Without a membership attack, learn = train, judge = test, and the other corpora are empty. */
typedef struct trial {
    const task *task;
    uint32_t number;        /* from 1; 0: no trial is open */
    corpus learn, others;   /* TR1, TR2 */
    corpus judge, shadowed; /* TE1, TE2 */
    bags learn_bags, others_bags, judge_bags;
    attack attack; /* learned from the shadow model */
} trial;

/* Splits the data into halves, and trains the shadow and attack models. Fails with TEM_ERR_FORMAT
 * if a half has no word. */
tem_status trial_open(const task *t, uint32_t number, trial *out, tem_error *error);
void trial_close(trial *t);

/* Computes one row: draws, trains, tests, attacks. mechanism NULL means the original text. Fills
 * accuracy, the AUCs and the counts of the draws. */
tem_status trial_row(const trial *t, const tem_mechanism *mechanism, eval_row *row,
                     tem_error *error);

#endif
