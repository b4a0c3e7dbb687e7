/* pair_loops.c - the inner loops of pair_matrix.h. The build sets PAIR_LOOPS to the name of the
 * table that this compilation defines. */
#include "audit/pair_loops.h"

#include <stddef.h>

typedef float lanes __attribute__((vector_size(PAIR_LANES * sizeof(float)), may_alias));
typedef int32_t whole __attribute__((vector_size(PAIR_LANES * sizeof(int32_t)), may_alias));
typedef uint16_t halves
    __attribute__((vector_size(PAIR_LANES * sizeof(uint16_t)), may_alias, aligned(2)));

typedef uint32_t squares
    __attribute__((vector_size(PAIR_LANES * sizeof(uint32_t)), may_alias, aligned(4)));

static inline lanes load(const float *from) {
    return *(const lanes *)from;
}

static inline lanes least(lanes a, lanes b) {
    return (lanes)(((whole)a & (a < b)) | ((whole)b & ~(a < b)));
}

static inline lanes most(lanes a, lanes b) {
    return (lanes)(((whole)a & (a > b)) | ((whole)b & ~(a > b)));
}

static inline lanes distances(const pair_row *row, uint32_t group) {
    const halves steps = *(const halves *)(row->steps + (size_t)group * PAIR_LANES);
    const lanes far = {0};
    return least(__builtin_convertvector(__builtin_convertvector(steps, whole), lanes) * row->unit,
                 far + row->gamma);
}

/* 2^x for x from -126 to 0, with an error of 2e-7. The nearest integer to x goes into the exponent
 * of the float; a polynomial gives the power of the rest, which is between -1/2 and 1/2. */
static inline lanes power_of_two(lanes x) {
    const float rounder = 12582912; /* 1.5 * 2^23: adding it rounds x to an integer */
    const lanes n = (x + rounder) - rounder, r = x - n;
    const lanes p =
        1 + r * (0.69314718f +
                 r * (0.24022651f + r * (0.05550411f + r * (0.0096181291f + r * 0.0013333558f))));
    const whole exponent = (__builtin_convertvector(n, whole) + 127) << 23;
    return p * (lanes)exponent;
}

static inline float sum(lanes x) {
    float total = 0;
    for (int i = 0; i < PAIR_LANES; i++)
        total += x[i];
    return total;
}

static pair_sums sums(const pair_row *row, const float *a) {
    lanes z = {0}, first = {0}, second = {0};
    for (uint32_t group = 0; group < row->groups; group++) {
        const lanes m = distances(row, group);
        const lanes mass = power_of_two(m * row->rate) * load(a + (size_t)group * PAIR_LANES);
        z += mass;
        first += mass * m;
        second += mass * m * m;
    }
    return (pair_sums){sum(z), sum(first), sum(second)};
}

static float gradient(const pair_row *row, const float *p, const float *q) {
    lanes total = {0};
    for (uint32_t group = 0; group < row->groups; group++) {
        const size_t at = (size_t)group * PAIR_LANES;
        const lanes m = distances(row, group);
        total += power_of_two(m * row->rate) * (m * load(p + at) + load(q + at));
    }
    return sum(total);
}

static inline lanes magnitude(lanes x) {
    return (lanes)((whole)x & 0x7fffffff);
}

static pair_excess excess(const pair_row *row, float u, const float *others, float limit) {
    lanes total = {0}, moment = {0};
    const lanes zero = {0};
    for (uint32_t group = 0; group < row->groups; group++) {
        const lanes m = distances(row, group);
        const lanes rise = u - load(others + (size_t)group * PAIR_LANES);
        const lanes over = most(magnitude(rise) - limit * m, zero);
        const lanes v = (lanes)((whole)over & (m > 0)); /* not the padding */
        total += (lanes)((whole)v | ((whole)rise & INT32_MIN));
        moment += v * m;
    }
    return (pair_excess){sum(total), sum(moment)};
}

static float slope(const pair_row *row, float u, const float *others) {
    lanes steepest = {0};
    for (uint32_t group = 0; group < row->groups; group++) {
        const lanes m = distances(row, group);
        const lanes rise = magnitude(u - load(others + (size_t)group * PAIR_LANES));
        const lanes ratio = rise / m;
        steepest = most((lanes)((whole)ratio & (m > 0)), steepest);
    }
    float largest = 0;
    for (int i = 0; i < PAIR_LANES; i++)
        largest = steepest[i] > largest ? steepest[i] : largest;
    return largest;
}

static void roots(const uint32_t *from, uint32_t groups, float scale, uint16_t *steps) {
    const lanes largest = (lanes){0} + 65535;
    for (uint32_t group = 0; group < groups; group++) {
        const squares s = *(const squares *)(from + (size_t)group * PAIR_LANES);
        lanes root = __builtin_convertvector(s, lanes);
        for (int i = 0; i < PAIR_LANES; i++)
            root[i] = __builtin_sqrtf(root[i]);
        const whole rounded = __builtin_convertvector(least(root * scale + 0.5f, largest), whole);
        *(halves *)(steps + (size_t)group * PAIR_LANES) = __builtin_convertvector(rounded, halves);
    }
}

static inline void add(float *to, lanes what) {
    *(lanes *)to += what;
}

static void meet(const pair_row *row, const pair_numbers *own, float *row_sums,
                 const pair_side *columns) {
    lanes *const total = (lanes *)row_sums;
    lanes z = total[0], first = total[1], second = total[2], gradient = total[3];
    for (uint32_t group = 0; group < row->groups; group++) {
        const size_t at = (size_t)group * PAIR_LANES;
        const lanes m = distances(row, group);
        const lanes k = power_of_two(m * row->rate), km = k * m, kmm = km * m;
        const lanes a = load(columns->a + at);
        z += k * a;
        first += km * a;
        second += kmm * a;
        gradient += km * load(columns->p + at) + k * load(columns->h + at);
        add(columns->z + at, k * own->a);
        add(columns->m + at, km * own->a);
        add(columns->q + at, kmm * own->a);
        add(columns->gradient + at, km * own->p + k * own->h);
    }
    total[0] = z;
    total[1] = first;
    total[2] = second;
    total[3] = gradient;
}

const pair_loops PAIR_LOOPS = {
    .roots = roots,
    .sums = sums,
    .gradient = gradient,
    .excess = excess,
    .slope = slope,
    .meet = meet,
};
