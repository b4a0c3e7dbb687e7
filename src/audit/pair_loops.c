/* pair_loops.c - the inner loops of pair_matrix.h. The build sets PAIR_LOOPS to the name of the
 * table that this compilation defines. */
#include "audit/pair_loops.h"

#include <stdbool.h>
#include <stddef.h>
#if defined(__FMA__)
#include <immintrin.h>
#endif

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

/* Where the compiler makes several instructions of one, the instruction has a name here. */
#if defined(__AVX512F__)
static inline lanes widen(const uint16_t *steps) {
    return (lanes)_mm512_cvtepi32_ps(
        _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)steps)));
}

static inline lanes cut(lanes x, float most_allowed) {
    return (lanes)_mm512_min_ps((__m512)x, _mm512_set1_ps(most_allowed));
}
#else
static inline lanes widen(const uint16_t *steps) {
    return __builtin_convertvector(__builtin_convertvector(*(const halves *)steps, whole), lanes);
}

static inline lanes cut(lanes x, float most_allowed) {
    const lanes zero = {0};
    return least(x, zero + most_allowed);
}
#endif

/* a b + c, rounded once where the processor can do that in one instruction. */
#if defined(__AVX512F__)
static inline lanes fused(lanes a, lanes b, lanes c) {
    return (lanes)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
#elif defined(__FMA__)
typedef union lane_halves {
    lanes all;
    __m256 half[2];
} lane_halves;

static inline lanes fused(lanes a, lanes b, lanes c) {
    const lane_halves x = {a}, y = {b}, z = {c};
    return (lane_halves){.half = {_mm256_fmadd_ps(x.half[0], y.half[0], z.half[0]),
                                  _mm256_fmadd_ps(x.half[1], y.half[1], z.half[1])}}
        .all;
}
#else
static inline lanes fused(lanes a, lanes b, lanes c) {
    return a * b + c;
}
#endif

static inline lanes everywhere(float x) {
    return (lanes){0} + x;
}

static inline lanes distances(const pair_row *row, uint32_t group) {
    return cut(widen(row->steps + (size_t)group * PAIR_LANES) * row->unit, row->gamma);
}

/* 2^(m rate) for exponents from -126 to 0, with an error of 2e-7. A polynomial gives the power of
 * the rest of the exponent, which is between -1/2 and 1/2. The nearest integer n is added to the
 * exponent of that float: after adding `rounder`, n is in the last bits, and the shift moves it to
 * the exponent and all other bits out. */
static inline lanes power_of_two(lanes m, float rate) {
    const float rounder = 12582912; /* 1.5 * 2^23: adding it rounds to an integer */
    const lanes rates = everywhere(rate), rounded = fused(m, rates, everywhere(rounder));
    const lanes r = fused(m, rates, rounder - rounded);
    lanes p = fused(r, everywhere(0.0013333558f), everywhere(0.0096181291f));
    p = fused(p, r, everywhere(0.05550411f));
    p = fused(p, r, everywhere(0.24022651f));
    p = fused(p, r, everywhere(0.69314718f));
    p = fused(p, r, everywhere(1));
    return (lanes)((whole)p + ((whole)rounded << 23));
}

static inline float sum(lanes x) {
    float total = 0;
    for (int i = 0; i < PAIR_LANES; i++)
        total += x[i];
    return total;
}

static inline lanes magnitude(lanes x) {
    return (lanes)((whole)x & 0x7fffffff);
}

static inline void add(float *to, lanes what) {
    *(lanes *)to += what;
}

static pair_excess excess(const pair_row *row, float u, const float *others, float limit,
                          float *others_sums) {
    lanes total = {0}, moment = {0};
    const lanes zero = {0};
    for (uint32_t group = 0; group < row->groups; group++) {
        const size_t at = (size_t)group * PAIR_LANES;
        const lanes m = distances(row, group);
        const lanes rise = u - load(others + at);
        const lanes over = most(magnitude(rise) - limit * m, zero);
        const lanes v = (lanes)((whole)over & (m > 0)); /* not the padding */
        const lanes signed_v = (lanes)((whole)v | ((whole)rise & INT32_MIN));
        total += signed_v;
        moment += v * m;
        if (others_sums != NULL)
            add(others_sums + at, -signed_v);
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

/* The sums of one group of columns, or of the lanes of one row. */
typedef struct lane_sums {
    lanes z, m, q, gradient;
} lane_sums;

/* Which sums the callers are compiled for. */
typedef struct chosen_sums {
    bool totals, moments, gradient, beyond;
} chosen_sums;

/* Adds k a m^2, or what counts beyond gamma. */
static inline lanes add_second(lanes sum, lanes mass, lanes first, lanes m, float gamma,
                               bool beyond) {
    if (beyond)
        return sum + (lanes)((whole)mass & (m >= gamma));
    return fused(first, m, sum);
}

/* Adds a pair to the sums of a row and of a column. The callers are compiled once for each choice
 * of sums, which is constant in them. */
static inline void meet_group(lanes m, const pair_row *rows, const pair_numbers *own,
                              const lanes of[3], chosen_sums sums, lane_sums *row,
                              lane_sums *column) {
    const lanes k = power_of_two(m, rows->rate);
    if (sums.totals) {
        row->z = fused(k, of[0], row->z);
        column->z = fused(k, everywhere(own->a), column->z);
    }
    if (sums.moments) {
        const lanes mass = k * of[0], own_mass = k * own->a;
        const lanes first = mass * m, own_first = own_mass * m;
        row->m += first;
        column->m += own_first;
        row->q = add_second(row->q, mass, first, m, rows->gamma, sums.beyond);
        column->q = add_second(column->q, own_mass, own_first, m, rows->gamma, sums.beyond);
    }
    if (sums.gradient) {
        row->gradient = fused(k, fused(m, of[1], of[2]), row->gradient);
        column->gradient =
            fused(k, fused(m, everywhere(own->p), everywhere(own->h)), column->gradient);
    }
}

static inline lane_sums load_columns(const pair_side *columns, size_t at, chosen_sums sums) {
    lane_sums s = {{0}, {0}, {0}, {0}};
    if (sums.totals)
        s.z = load(columns->z + at);
    if (sums.moments)
        s.m = load(columns->m + at), s.q = load(columns->q + at);
    if (sums.gradient)
        s.gradient = load(columns->gradient + at);
    return s;
}

static inline void store_columns(const lane_sums *s, const pair_side *columns, size_t at,
                                 chosen_sums sums) {
    if (sums.totals)
        *(lanes *)(columns->z + at) = s->z;
    if (sums.moments) {
        *(lanes *)(columns->m + at) = s->m;
        *(lanes *)(columns->q + at) = s->q;
    }
    if (sums.gradient)
        *(lanes *)(columns->gradient + at) = s->gradient;
}

__attribute__((always_inline)) static inline void meet(const pair_row *rows,
                                                       const pair_numbers *own, float *row_sums,
                                                       const pair_side *columns, chosen_sums sums) {
    lane_sums of_row[PAIR_ROWS];
    for (int r = 0; r < PAIR_ROWS; r++)
        of_row[r] = ((lane_sums *)row_sums)[r];
    for (uint32_t group = 0; group < rows->groups; group++) {
        const size_t at = (size_t)group * PAIR_LANES;
        const lanes nothing = {0};
        const lanes of[3] = {sums.totals ? load(columns->a + at) : nothing,
                             sums.gradient ? load(columns->p + at) : nothing,
                             sums.gradient ? load(columns->h + at) : nothing};
        lane_sums column = load_columns(columns, at, sums);
#pragma GCC unroll 4
        for (uint32_t r = 0; r < PAIR_ROWS; r++)
            meet_group(distances(rows, r * rows->groups + group), rows, &own[r], of, sums,
                       &of_row[r], &column);
        store_columns(&column, columns, at, sums);
    }
    for (int r = 0; r < PAIR_ROWS; r++)
        ((lane_sums *)row_sums)[r] = of_row[r];
}

static void meet_totals(const pair_row *rows, const pair_numbers *own, float *row_sums,
                        const pair_side *columns) {
    meet(rows, own, row_sums, columns, (chosen_sums){.totals = true});
}

static void meet_moments(const pair_row *rows, const pair_numbers *own, float *row_sums,
                         const pair_side *columns) {
    meet(rows, own, row_sums, columns, (chosen_sums){.totals = true, .moments = true});
}

static void meet_gradient(const pair_row *rows, const pair_numbers *own, float *row_sums,
                          const pair_side *columns) {
    meet(rows, own, row_sums, columns, (chosen_sums){.gradient = true});
}

static void meet_all(const pair_row *rows, const pair_numbers *own, float *row_sums,
                     const pair_side *columns) {
    meet(rows, own, row_sums, columns,
         (chosen_sums){.totals = true, .moments = true, .gradient = true});
}

static void meet_beyond(const pair_row *rows, const pair_numbers *own, float *row_sums,
                        const pair_side *columns) {
    meet(rows, own, row_sums, columns,
         (chosen_sums){.totals = true, .moments = true, .gradient = true, .beyond = true});
}

const pair_loops PAIR_LOOPS = {
    .roots = roots,
    .excess = excess,
    .slope = slope,
    .meet = {[PAIR_TOTALS] = meet_totals,
             [PAIR_MOMENTS] = meet_moments,
             [PAIR_GRADIENT] = meet_gradient,
             [PAIR_ALL] = meet_all,
             [PAIR_BEYOND] = meet_beyond},
};
