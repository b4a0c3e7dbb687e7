/* weigh_loops.c - exp(-s min(d, gamma)) of many distances d. The build sets WEIGH to the name of
 * the function that this compilation defines. */
#include "learn/weigh_loops.h"

#include "mech/exponent.h"

void WEIGH(const weighing *w, const tem_dist *distances, uint32_t count, double *restrict out) {
    const double *restrict levels = w->levels;
    const double s = w->s;
    const uint32_t gamma = w->gamma;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t d = distances[i] < gamma ? distances[i] : gamma;
        const double x = s * (double)d;
        const int32_t level = (int32_t)(x * 0x1p-33);
        const double r = x * 0x1p-36 - (double)level * 0.125;
        double sum = 1 - r * (1.0 / 10);
        sum = 1 - r * (1.0 / 9) * sum;
        sum = 1 - r * (1.0 / 8) * sum;
        sum = 1 - r * (1.0 / 7) * sum;
        sum = 1 - r * (1.0 / 6) * sum;
        sum = 1 - r * (1.0 / 5) * sum;
        sum = 1 - r * (1.0 / 4) * sum;
        sum = 1 - r * (1.0 / 3) * sum;
        sum = 1 - r * (1.0 / 2) * sum;
        sum = 1 - r * sum;
        out[i] = levels[level] * sum;
    }
}

_Static_assert(EXPONENT_FRACTION_BITS == 33 && EXPONENT_BITS == 36, "the powers of 2 above");
