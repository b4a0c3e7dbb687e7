/* certified_weights.h - integer weights and an exponent, proposed by a search and admitted by a
 * proof. */
#ifndef ACCOUNT_CERTIFIED_WEIGHTS_H
#define ACCOUNT_CERTIFIED_WEIGHTS_H

#include "account/realised.h"
#include "account/tuning.h"

typedef struct certified_weights {
    uint32_t *values; /* one a word; owned */
    exponent exponent;
    realised_loss proof;
    double distance; /* as the search saw it */
} certified_weights;

void certified_weights_free(certified_weights *c);

/* Rounds a proposal to integers and finds the largest exponent, no larger than the proposal's by
 * more than a hair, for which the realised loss is proved to be at most epsilon; *found tells
 * whether there is one not below `floor` of the proposal's. beta > 0: gamma follows from it.
 * PRIVACY: what is proved is proved of the integers. */
tem_status certified_weights_make(const account *equal, const tuning_goal *goal, double beta,
                                  const tuning_point *proposal, double floor, const tem_run *run,
                                  certified_weights *out, bool *found, tem_error *error);

#endif
