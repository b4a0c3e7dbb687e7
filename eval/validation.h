/* validation.h - the part of the training texts by which settings are chosen.
 *
 * One rule for every learner and every mechanism: every fifth text of each class, in the order of
 * the texts, is held out. A learner tries its settings on the other texts, takes the one that
 * predicts the held-out texts best, as they were released, and learns again from all texts. Texts
 * to test on take no part: a choice that looked at them would flatter the accuracy. */
#ifndef EVAL_VALIDATION_H
#define EVAL_VALIDATION_H

#include "linear.h"

#include <stdbool.h>

enum { VALIDATION_STEP = 5 }; /* every how many texts of a class one is held out */

/* Says of each text whether it is held out; free with free(). Labels are below `classes`. Fails
 * with TEM_ERR_MEMORY. */
tem_status validation_mark(const uint32_t *labels, uint32_t count, uint32_t classes,
                           bool **held_out, tem_error *error);

/* The penalties that validation_penalty tries, from the largest. */
enum { VALIDATION_PENALTIES = 11 };
double validation_penalty_at(uint32_t i);

/* Chooses the penalty of linear_train: the one with the least mean cross entropy on the held-out
 * examples; of equal ones the largest. Fails with TEM_ERR_FORMAT if no example is held out, and as
 * linear_train does. Cost: VALIDATION_PENALTIES trainings. */
tem_status validation_penalty(const examples *e, const uint32_t *labels, uint32_t classes,
                              core_team *team, const tem_run *run, double *penalty,
                              tem_error *error);

#endif
