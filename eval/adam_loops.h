/* adam_loops.h - the inner loops of adam.h. The build compiles the one source adam_loops.c once for
 * each register width. */
#ifndef EVAL_ADAM_LOOPS_H
#define EVAL_ADAM_LOOPS_H

#include "adam.h"

#define ADAM_RATE 0.001
#define ADAM_B1 0.9
#define ADAM_B2 0.999
#define ADAM_EPS 1e-8f

typedef struct adam_loops {
    void (*step)(const adam_schedule *s, uint32_t t, float *p, float *m, float *v, const float *g,
                 uint32_t count);
    void (*idle)(const adam_schedule *s, uint32_t first, uint32_t last, float *p, float *m,
                 float *v, uint32_t count);
    void (*add)(float *sum, const float *row, float weight, uint32_t count);
} adam_loops;

extern const adam_loops adam_loops_plain;
#ifdef ADAM_X86
extern const adam_loops adam_loops_avx2, adam_loops_avx512;
#endif

#endif
