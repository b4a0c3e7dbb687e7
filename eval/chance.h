/* chance.h - the random numbers of an experiment: shuffles and initial weights. Seeded, and so
 * never for anything private.
 *
 * Splitmix64: a counter and a mixing function (Steele, Lea, Flood 2014). */
#ifndef EVAL_CHANCE_H
#define EVAL_CHANCE_H

#include <stdint.h>

typedef struct chance {
    uint64_t state;
} chance;

/* What a seed is used for: each use has numbers of its own. */
typedef enum chance_purpose {
    CHANCE_SPLIT = 1,      /* which reviews are in which half */
    CHANCE_TARGET,         /* the model under test: weights, order of the examples */
    CHANCE_SHADOW,         /* the attacker's model of it */
    CHANCE_ATTACK,         /* the attack model */
    CHANCE_DRAW,           /* the mechanism; a stream for each document */
    CHANCE_TARGET_VECTORS, /* what a model's vectors begin with, if at random */
    CHANCE_SHADOW_VECTORS,
} chance_purpose;

/* How every number of an experiment follows from (seed, trial). */
uint64_t chance_seed(uint64_t seed, uint64_t trial, chance_purpose purpose);

uint64_t chance_next(chance *c);

/* Uniform on [0, 1), in steps of 2^-53. */
double chance_unit(chance *c);

/* Standard normal. */
double chance_normal(chance *c);

/* All orders equally likely, up to 2^-32. */
void chance_shuffle(chance *c, uint32_t *items, uint32_t count);

#endif
