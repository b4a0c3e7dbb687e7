/* adam.h - Adam (Kingma, Ba 2015) with PyTorch's defaults and in PyTorch's form:
 *
 *     m = b1 m + (1 - b1) g          p -= lr / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 *     v = b2 v + (1 - b2) g^2        b1 = 0.9, b2 = 0.999, eps = 1e-8, lr = 0.001
 *
 * Adam is dense: a parameter keeps moving after its gradient has become 0, until m fades out. For
 * the rows of an embedding this would be most of the work, because most words do not occur in a
 * given step. adam_idle makes up these steps when a row is next needed. While g = 0, m and v shrink
 * by known factors, and sqrt(v) is needed only once. The steps can stop for good once a step leaves
 * every float of the row unchanged, which happens after about a hundred steps. The result differs
 * from taking each step in turn by rounding only (below 1e-6: tests/unit/test_neural.c).
 *
 * Every operation treats one element by itself, so the register width changes no bit. */
#ifndef EVAL_ADAM_H
#define EVAL_ADAM_H

#include "tem.h"

#include <stdbool.h>

/* Rows are padded with zeros to a multiple of this. */
enum { ADAM_LANES = 16 };

/* Factors that depend only on the step number, computed once for all steps. */
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

/* Takes the steps first to last with gradient 0. */
void adam_idle(const adam_schedule *s, uint32_t first, uint32_t last, float *p, float *m, float *v,
               uint32_t count);

/* sum += weight * row. */
void adam_add(float *sum, const float *row, float weight, uint32_t count);

/* Returns `count` zeroed floats, aligned for the functions above; free with free(). Returns NULL if
 * memory is short. */
float *adam_floats(uint64_t count);

/* `count` rounded up to ADAM_LANES. */
uint32_t adam_padded(uint32_t count);

#endif
