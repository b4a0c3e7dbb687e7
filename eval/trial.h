/* trial.h - the data and models that all rows of a trial share, and one row of it. */
#ifndef EVAL_TRIAL_H
#define EVAL_TRIAL_H

#include "attack.h"
#include "classifier.h"
#include "eval.h"
#include "plan.h"

/* What an evaluation works on. */
typedef struct task {
    const tem_model *model;
    corpus train, test;
    uint32_t classes;
    bool membership;  /* halves of train and test, and the membership attack */
    bool random_init; /* each classifier begins with random vectors of its own */
    embedding start;  /* else with these */
    uint32_t epochs;
    uint64_t seed;
    const char *export_to; /* see eval_options */
    pool *threads;
    const tem_run *run;
} task;

void task_free(task *t);

/* Without a membership attack: learn = train, judge = test, the others are empty. */
typedef struct trial {
    const task *task;
    uint32_t number;        /* from 1; 0: none is open */
    corpus learn, others;   /* TR1, TR2 */
    corpus judge, shadowed; /* TE1, TE2 */
    bags learn_bags, others_bags, judge_bags;
    attack attack; /* learned from the shadow model */
} trial;

/* Makes the halves, and the shadow and attack models. Fails with TEM_ERR_FORMAT if a half has no
 * word. */
tem_status trial_open(const task *t, uint32_t number, trial *out, tem_error *error);
void trial_close(trial *t);

/* Does one row: draws, trains, tests, attacks. mechanism NULL: the text as it is. Fills accuracy,
 * the AUCs and what is counted in the draws. */
tem_status trial_row(const trial *t, const tem_mechanism *mechanism, eval_row *row,
                     tem_error *error);

#endif
