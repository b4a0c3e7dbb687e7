/* adam.h - Adam (Kingma, Ba 2015) with PyTorch's defaults and in PyTorch's form:
 *
 *     m = b1 m + (1 - b1) g          p -= lr / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 *     v = b2 v + (1 - b2) g^2        b1 = 0.9, b2 = 0.999, eps = 1e-8, lr = 0.001
 *
 * Dense: a parameter moves on after its gradient has become 0, as long as m lasts. For the rows of
 * an embedding that is most of the work: in each step most words do not occur. Their steps are made
 * up for when they are next needed (adam_idle). Until then g = 0, so m and v shrink by known
 * factors, sqrt(v) is needed once, and the steps end for good when one leaves every float of the
 * row as it was, which is after about a hundred. The result differs from that of making each step
 * by rounding only (below 1e-6: tests/unit/test_neural.c).
 *
 * Every operation is for one element by itself, so that the width of the machine's registers
 * changes no bit. */
#ifndef EVAL_ADAM_H
#define EVAL_ADAM_H

#include "tem.h"

#include <stdbool.h>

/* Rows are padded with zeros to a multiple of this. */
enum { ADAM_LANES = 16 };

/* Factors that depend on the number of the step only, worked out once for all steps. */
typedef struct adam_schedule {
    uint32_t steps;
    float *rate;    /* [t]: lr / (1 - b1^t), t from 1 */
    float *spread;  /* [t]: 1 / sqrt(1 - b2^t) */
    float *fade_m;  /* [k]: b1^k */
    float *fade_v;  /* [k]: b2^k */
    float *fade_sd; /* [k]: b2^(k/2) */
} adam_schedule;

tem_status adam_schedule_create(uint32_t steps, adam_schedule *s, tem_error *error);
void adam_schedule_free(adam_schedule *s);

/* Step t for `count` parameters, a multiple of ADAM_LANES. */
void adam_step(const adam_schedule *s, uint32_t t, float *p, float *m, float *v, const float *g,
               uint32_t count);

/* The steps first to last with gradient 0. */
void adam_idle(const adam_schedule *s, uint32_t first, uint32_t last, float *p, float *m, float *v,
               uint32_t count);

/* sum += weight * row. */
void adam_add(float *sum, const float *row, float weight, uint32_t count);

/* count floats, zero, aligned for the functions above; free with free(). NULL if memory is
 * short. */
float *adam_floats(uint64_t count);

/* `count` rounded up to ADAM_LANES. */
uint32_t adam_padded(uint32_t count);

#endif
