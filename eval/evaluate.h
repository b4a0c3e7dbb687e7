/* evaluate.h - going through the plan of an evaluation. */
#ifndef EVAL_EVALUATE_H
#define EVAL_EVALUATE_H

#include "trial.h"

/* Does what the options ask for and the folder does not have, on a task whose corpora and classes
 * are set; fills in the rest of it. Frees nothing. */
tem_status evaluate(task *t, const eval_options *options, tem_error *error);

#endif
