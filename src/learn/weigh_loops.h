/* weigh_loops.h - exp(-s min(d, gamma)) of many distances d.
 *
 * The same numbers as decay_at (audit/decay.h) gives, by the same steps, but all in doubles, so
 * that compilers make vector code of it: x = s d counts steps of 2^-36 and is at most 2^42, so x is
 * exact in a double, and so are its level and its fraction. The build compiles the one source,
 * weigh_loops.c, once per register width, without fused multiplications: all versions return the
 * same bits. */
#ifndef LEARN_WEIGH_LOOPS_H
#define LEARN_WEIGH_LOOPS_H

#include "tem.h"

typedef struct weighing {
    const double *levels; /* decay.levels */
    double s;             /* steps of 2^-20 */
    tem_dist gamma;
} weighing;

/* Writes the weights of `count` distances to `out`. */
typedef void weigh_loop(const weighing *w, const tem_dist *distances, uint32_t count, double *out);

weigh_loop weigh_plain;
#if defined(__x86_64__)
weigh_loop weigh_avx2, weigh_avx512;
#endif

#endif
