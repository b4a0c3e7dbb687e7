/* adam_loops.c - the inner loops. ADAM_LOOPS is the name of the table that this compilation
 * defines. */
#include "adam_loops.h"

/* Sixteen floats at a time, whatever the register width. */
typedef float lanes __attribute__((vector_size(ADAM_LANES * sizeof(float)), may_alias));

/* Steps between two checks whether anything still changes: a check costs about as much as a
 * step. */
enum { LOOK_EVERY = 8 };

static inline lanes roots(lanes x) {
    for (int i = 0; i < ADAM_LANES; i++)
        x[i] = __builtin_sqrtf(x[i]);
    return x;
}

static inline bool equal(lanes a, lanes b) {
    int differ = 0;
    for (int i = 0; i < ADAM_LANES; i++)
        differ |= a[i] != b[i];
    return !differ;
}

static void step(const adam_schedule *s, uint32_t t, float *p, float *m, float *v, const float *g,
                 uint32_t count) {
    const float b1 = (float)ADAM_B1, c1 = (float)(1 - ADAM_B1);
    const float b2 = (float)ADAM_B2, c2 = (float)(1 - ADAM_B2);
    const float rate = s->rate[t], spread = s->spread[t];
    for (uint32_t i = 0; i < count; i += ADAM_LANES) {
        const lanes gradient = *(const lanes *)(g + i);
        const lanes mean = *(lanes *)(m + i) * b1 + gradient * c1;
        const lanes square = *(lanes *)(v + i) * b2 + gradient * gradient * c2;
        *(lanes *)(m + i) = mean;
        *(lanes *)(v + i) = square;
        *(lanes *)(p + i) -= rate * mean / (roots(square) * spread + ADAM_EPS);
    }
}

/* Takes one group of lanes through all steps, in registers. */
static inline lanes idle_group(const adam_schedule *s, uint32_t first, uint32_t steps, lanes p,
                               lanes m, lanes deviation) {
    for (uint32_t k = 1; k <= steps;) {
        const lanes before = p;
        const uint32_t until = steps - k < LOOK_EVERY ? steps : k + LOOK_EVERY - 1;
        for (; k <= until; k++) {
            const float up = s->rate[first + k - 1] * s->fade_m[k];
            const float down = s->spread[first + k - 1] * s->fade_sd[k];
            p -= m * up / (deviation * down + ADAM_EPS);
        }
        if (equal(before, p)) /* updates only shrink: no later one would change p either */
            break;
    }
    return p;
}

static void idle(const adam_schedule *s, uint32_t first, uint32_t last, float *p, float *m,
                 float *v, uint32_t count) {
    const uint32_t steps = last - first + 1;
    const float fade_m = s->fade_m[steps], fade_v = s->fade_v[steps];
    for (uint32_t i = 0; i < count; i += ADAM_LANES) {
        const lanes mean = *(lanes *)(m + i), square = *(lanes *)(v + i);
        *(lanes *)(p + i) = idle_group(s, first, steps, *(lanes *)(p + i), mean, roots(square));
        *(lanes *)(m + i) = mean * fade_m;
        *(lanes *)(v + i) = square * fade_v;
    }
}

static void add(float *sum, const float *row, float weight, uint32_t count) {
    for (uint32_t i = 0; i < count; i += ADAM_LANES)
        *(lanes *)(sum + i) += weight * *(const lanes *)(row + i);
}

const adam_loops ADAM_LOOPS = {step, idle, add};
