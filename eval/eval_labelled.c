/* eval_labelled.c - the accuracy of a classifier on labeled texts, for one mechanism after the
 * other. */
#include "blas.h"
#include "failure.h"
#include "labelled.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct eval_labelled {
    task task;
    trial trial;
    uint32_t asked; /* mechanisms so far; names their rows */
};

/* Reads the texts and cuts them into halves. */
static tem_status read_halves(const tem_model *model, const eval_files *files, uint64_t seed,
                              task *t, tem_error *error) {
    label_names labels = {0};
    corpus all = {0}, halves[2] = {{0}, {0}};
    tem_status status = labelled_read(files->train, files, model, true, &labels, &all, error);
    if (status == TEM_OK && labels.count < 2)
        status = eval_fail_at(error, TEM_ERR_FORMAT, files->train, 0,
                              "all records have the same label; two or more are needed");
    if (status == TEM_OK)
        status = corpus_halve(&all, labels.count, seed, halves, error);
    t->train = halves[0];
    t->test = halves[1];
    t->classes = labels.count;
    corpus_free(&all);
    label_names_free(&labels);
    return status;
}

void eval_labelled_free(eval_labelled *l) {
    if (l == NULL)
        return;
    trial_close(&l->trial);
    task_free(&l->task);
    free(l);
}

tem_status eval_labelled_open(const tem_model *model, const eval_files *files,
                              const eval_options *options, eval_labelled **out, tem_error *error) {
    eval_labelled *l = calloc(1, sizeof *l);
    if (l == NULL)
        return eval_out_of_memory(error);
    task *t = &l->task;
    *t = (task){.model = model, .seed = options->seed, .run = options->run};
    tem_status status = blas_open(error); /* before any thread starts */
    if (status == TEM_OK)
        status = knowledge_create(model, options, true, &t->known, error);
    if (status == TEM_OK)
        status = read_halves(model, files, options->seed, t, error);
    if (status == TEM_OK)
        status = core_team_create(options->run, &t->team, error);
    if (status == TEM_OK)
        status = trial_open(t, 1, &l->trial, error);
    if (status == TEM_OK)
        *out = l;
    else
        eval_labelled_free(l);
    return status;
}

tem_status eval_labelled_accuracy(eval_labelled *l, const tem_mechanism *mechanism,
                                  double *accuracy, tem_error *error) {
    /* Rows of the same name and epsilon share their texts; no two mechanisms here may. */
    eval_row row = {.epsilon = ++l->asked};
    snprintf(row.mechanism, sizeof row.mechanism, "compared");
    const tem_status status = trial_row(&l->trial, &learner_linear, mechanism, &row, error);
    if (status == TEM_OK)
        *accuracy = row.accuracy;
    return status;
}
