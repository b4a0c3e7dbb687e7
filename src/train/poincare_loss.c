/* poincare_loss.c - the loss of one edge, its gradients, and a step against them. */
#include "train/poincare.h"

#include <string.h>

double poincare_loss(const double *numbers, uint32_t dimensions, const uint32_t *words,
                     uint32_t count, poincare_pair *pairs, double *gradients, double *rooms) {
    const double *u = numbers + (size_t)words[0] * dimensions;
    double total = 0; /* of exp(-d) */
    rooms[0] = poincare_room(u, dimensions);
    const double scale = 1 / rooms[0];
    for (uint32_t i = 1; i < count; i++) {
        const double *v = numbers + (size_t)words[i] * dimensions;
        rooms[i] = poincare_room(v, dimensions);
        pairs[i] = poincare_compare(u, scale, v, rooms[i], dimensions);
        total += pairs[i].nearness;
    }
    memset(gradients, 0, dimensions * sizeof *gradients);
    for (uint32_t i = 1; i < count; i++) {
        const double share = pairs[i].nearness / total;
        const double times = i == 1 ? 1 - share : -share; /* derivative of the loss by d */
        poincare_gradient(&pairs[i], u, numbers + (size_t)words[i] * dimensions, dimensions, times,
                          gradients, gradients + (size_t)i * dimensions);
    }
    return poincare_distance(&pairs[1]) + log(total);
}

/* Shortens a point to the length that training allows. */
static void project(double *x, uint32_t dimensions) {
    static const double longest = 1 - TEM_POINCARE_MARGIN;
    const double square = 1 - poincare_room(x, dimensions);
    if (square <= longest * longest)
        return;
    const double factor = longest / sqrt(square);
    for (uint32_t i = 0; i < dimensions; i++)
        x[i] *= factor;
}

void poincare_step(double *x, uint32_t dimensions, double rate, double room,
                   const double *gradient) {
    const double factor = rate * room * room / 4;
    for (uint32_t i = 0; i < dimensions; i++)
        x[i] -= factor * gradient[i];
    project(x, dimensions);
}
