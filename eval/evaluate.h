/* evaluate.h - runs the plan of an evaluation. */
#ifndef EVAL_EVALUATE_H
#define EVAL_EVALUATE_H

#include "trial.h"

/* Computes the requested rows that the directory does not have yet. The task's corpora and classes
 * are set; this fills in the rest of the task. Frees nothing. */
tem_status evaluate(task *t, const eval_options *options, tem_error *error);

#endif
