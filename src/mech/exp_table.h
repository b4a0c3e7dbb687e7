/* exp_table.h - exp(-x) in steps of 1/8, as integers.
 *
 * E_j = ceil(2^192 exp(-j/8)), j = 0 to 512: the weight of level j. An exponent x is
 * split into its level j = floor(8x) and the fraction r = x - j/8 < 1/8; the law that is
 * sampled gives x the weight E_j exp(-r), which exceeds 2^192 exp(-x) by a factor below
 * 1 + 2^-99, since E_512 > 2^99. */
#ifndef MECH_EXP_TABLE_H
#define MECH_EXP_TABLE_H

#include "core/u256.h"

enum { EXP_LEVELS = 512, EXP_LEVELS_PER_UNIT_LOG2 = 3 };

extern const u256 exp_table[EXP_LEVELS + 1];

#endif
