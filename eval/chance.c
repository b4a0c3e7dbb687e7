/* chance.c - the random numbers of an experiment. */
#include "chance.h"

#include <math.h>

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t chance_seed(uint64_t seed, uint64_t trial, chance_purpose purpose) {
    return mix(mix(mix(seed) + trial) + (uint64_t)purpose);
}

uint64_t chance_next(chance *c) {
    return mix(c->state += 0x9e3779b97f4a7c15u);
}

double chance_unit(chance *c) {
    return (double)(chance_next(c) >> 11) * 0x1p-53;
}

double chance_normal(chance *c) {
    const double radius = sqrt(-2 * log(1 - chance_unit(c)));
    return radius * cos(6.283185307179586 * chance_unit(c));
}

void chance_shuffle(chance *c, uint32_t *items, uint32_t count) {
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t other = (uint32_t)(((chance_next(c) >> 32) * i) >> 32);
        const uint32_t kept = items[i - 1];
        items[i - 1] = items[other];
        items[other] = kept;
    }
}
