/* adam.c - the step factors, and the choice of the compiled loops for this CPU. */
#include "adam.h"

#include "adam_loops.h"
#include "failure.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const adam_loops *loops(void) {
#ifdef ADAM_X86
    static const adam_loops *_Atomic chosen;
    const adam_loops *known = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (known == NULL) { /* a race is harmless: all threads write the same */
        known = __builtin_cpu_supports("avx512f") ? &adam_loops_avx512
                : __builtin_cpu_supports("avx2")  ? &adam_loops_avx2
                                                  : &adam_loops_plain;
        atomic_store_explicit(&chosen, known, memory_order_relaxed);
    }
    return known;
#else
    return &adam_loops_plain;
#endif
}

uint32_t adam_padded(uint32_t count) {
    return (count + ADAM_LANES - 1) / ADAM_LANES * ADAM_LANES;
}

float *adam_floats(uint64_t count) {
    const uint64_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    float *floats = count < UINT64_MAX / 8 ? aligned_alloc(64, bytes > 0 ? bytes : 64) : NULL;
    if (floats != NULL)
        memset(floats, 0, bytes);
    return floats;
}

void adam_schedule_free(adam_schedule *s) {
    free(s->rate);
    free(s->spread);
    free(s->fade_m);
    free(s->fade_v);
    free(s->fade_sd);
    *s = (adam_schedule){0};
}

tem_status adam_schedule_create(uint32_t steps, adam_schedule *s, tem_error *error) {
    const uint64_t count = steps + (uint64_t)1;
    *s = (adam_schedule){steps,
                         adam_floats(count),
                         adam_floats(count),
                         adam_floats(count),
                         adam_floats(count),
                         adam_floats(count)};
    if (s->rate == NULL || s->spread == NULL || s->fade_m == NULL || s->fade_v == NULL ||
        s->fade_sd == NULL) {
        adam_schedule_free(s);
        return eval_out_of_memory(error);
    }
    for (uint32_t t = 0; t <= steps; t++) {
        s->rate[t] = t == 0 ? 0 : (float)(ADAM_RATE / (1 - pow(ADAM_B1, t)));
        s->spread[t] = t == 0 ? 0 : (float)(1 / sqrt(1 - pow(ADAM_B2, t)));
        s->fade_m[t] = (float)pow(ADAM_B1, t);
        s->fade_v[t] = (float)pow(ADAM_B2, t);
        s->fade_sd[t] = (float)pow(ADAM_B2, t / 2.0);
    }
    return TEM_OK;
}

void adam_step(const adam_schedule *s, uint32_t t, float *p, float *m, float *v, const float *g,
               uint32_t count) {
    loops()->step(s, t, p, m, v, g, count);
}

void adam_idle(const adam_schedule *s, uint32_t first, uint32_t last, float *p, float *m, float *v,
               uint32_t count) {
    if (first <= last)
        loops()->idle(s, first, last, p, m, v, count);
}

void adam_add(float *sum, const float *row, float weight, uint32_t count) {
    loops()->add(sum, row, weight, count);
}
