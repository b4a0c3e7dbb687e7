/* chance.h - the random numbers of an experiment: shuffles and initial weights. They are seeded, so
 * never use them for anything private.
 *
 * Splitmix64: a counter and a mixing function (Steele, Lea, Flood 2014). */
#ifndef EVAL_CHANCE_H
#define EVAL_CHANCE_H

#include <stdint.h>

typedef struct chance {
    uint64_t state;
} chance;

/* Purposes of a seed: each has its own stream of numbers. */
typedef enum chance_purpose {
    CHANCE_SPLIT = 1,      /* which reviews are in which half */
    CHANCE_TARGET,         /* the model under test: weights, order of the examples */
    CHANCE_SHADOW,         /* the attacker's copy of that model */
    CHANCE_ATTACK,         /* the attack model */
    CHANCE_DRAW,           /* the mechanism; one stream per document */
    CHANCE_TARGET_VECTORS, /* initial vectors of a model, if random */
    CHANCE_SHADOW_VECTORS,
} chance_purpose;

/* The seed of all random numbers for one trial and purpose of an experiment. */
uint64_t chance_seed(uint64_t seed, uint64_t trial, chance_purpose purpose);

uint64_t chance_next(chance *c);

/* Uniform on [0, 1), in steps of 2^-53. */
double chance_unit(chance *c);

/* Standard normal. */
double chance_normal(chance *c);

/* Shuffles: all orders are equally likely, up to 2^-32. */
void chance_shuffle(chance *c, uint32_t *items, uint32_t count);

#endif
