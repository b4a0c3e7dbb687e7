/* toss.h - exact coins and integers for mechanisms that are not the sampler.
 *
 * Both functions use integers alone. Numbers of exponents are in steps of 2^-36 (exponent.h). */
#ifndef MECH_TOSS_H
#define MECH_TOSS_H

#include "mech/exponent.h"
#include "rng/rng.h"

/* Returns true with the probability E_j exp(-r) / 2^192 exactly, where x = j/8 + r (exponent.h):
 * exp(-x), or more by a factor below 1 + 2^-99. It is 1 for x = 0. x: at most 64, in steps of
 * 2^-36. */
bool toss_exp(uint64_t x, tem_rng *rng);

/* Draws k = 0, 1, 2, ... with probability (1 - a) a^k, a = exp(-steps / 2^20), exactly (Canonne,
 * Kamath, Steinke 2020, algorithm 2). steps > 0. */
uint64_t toss_geometric(uint32_t steps, tem_rng *rng);

#endif
