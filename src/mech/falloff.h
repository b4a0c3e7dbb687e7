/* falloff.h - how the law of `rank` falls off: the weight of each rank, as an integer.
 *
 * h(r) = (1 + r/c)^-s for the ranks r = 0 to count - 1, times 2^62 and rounded to the nearest
 * integer. The integers are computed with integers alone, so every machine has the same ones.
 *
 * PRIVACY: these integers are the law: step 5 of the proof (docs/PRIVACY.md, "Rank"). Draws,
 * probabilities, bounds and audits take them from here. So no rounding stands between what is
 * proved and what is drawn. */
#ifndef MECH_FALLOFF_H
#define MECH_FALLOFF_H

#include "rng/alias.h"

enum {
    FALLOFF_TOP_BITS = 62,   /* h(0) = 2^62 */
    FALLOFF_LEAST_BITS = 20, /* every h(r) is at least 2^20 */
    FALLOFF_S_BITS = 20,     /* s is in steps of 2^-20 */
    FALLOFF_C_BITS = 16,     /* c is in steps of 2^-16 */
    FALLOFF_S_MOST = 1 << 26,
    FALLOFF_EPSILON_MOST = 64,
    FALLOFF_C_LEAST = 1 << 12,
    FALLOFF_C_MOST = 1 << 26
};

typedef struct falloff {
    uint64_t s, c;     /* in steps */
    uint32_t count;    /* ranks */
    uint64_t *heights; /* h(r): never rising with r */
    alias ranks;       /* draws r with probability h(r) / H */
} falloff;

/* Makes the table. count: 1 to 2^31. Fails with TEM_ERR_RANGE if s is not 1 to FALLOFF_S_MOST, c
 * not FALLOFF_C_LEAST to FALLOFF_C_MOST, or as falloff_refuse if h at the last rank would be below
 * 2^20. TEM_ERR_MEMORY. Free with falloff_free. */
tem_status falloff_init(falloff *f, uint64_t s, uint64_t c, uint32_t count, unsigned epsilon_of_s,
                        tem_error *error);
void falloff_free(falloff *f);

/* Fails with TEM_ERR_RANGE: the message names the largest s for so many ranks and, as epsilon_of_s
 * times s, the largest epsilon. */
tem_status falloff_refuse(uint64_t c, uint32_t count, unsigned epsilon_of_s, tem_error *error);

/* H, the sum of all h(r). */
static inline u256_wide falloff_total(const falloff *f) {
    return f->ranks.total;
}

/* B = ln(h(0) / h(count - 1)), rounded up: no output is more than e^B times as likely for one known
 * word as for another. */
double falloff_bound(const falloff *f);

/* ln(high / low), rounded up; both at least 2^20. */
double falloff_loss(uint64_t high, uint64_t low);

/* 2^62 exp(-s), s in steps of 2^-20 below 2^26, rounded to the nearest integer. */
uint64_t falloff_exp(uint64_t s);

#endif
