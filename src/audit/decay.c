/* decay.c - exp(-x) as a double: the table. */
#include "audit/decay.h"

void decay_init(decay *d) {
    for (unsigned level = 0; level <= EXP_LEVELS; level++) {
        double value = 0;
        for (int i = 0; i < 4; i++) /* the least first: each sum rounds once */
            value = value * 0x1p-64 + (double)exp_table[level].limb[i];
        d->levels[level] = value; /* E_j / 2^192: limb 3 counts 2^192 */
    }
}
