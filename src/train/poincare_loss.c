/* poincare_loss.c - the loss of one edge, its gradients, and a step against them. */
#include "train/poincare.h"

#include <string.h>

double poincare_loss(const double *numbers, uint32_t dimensions, const uint32_t *words,
                     uint32_t count, poincare_pair *pairs, double *gradients, double *rooms) {
    const double *u = numbers + (size_t)words[0] * dimensions;
    double others = 0; /* sum of exp(-d) over the negatives */
    rooms[0] = poincare_room(u, dimensions);
    const double scale = 1 / rooms[0];
    for (uint32_t i = 1; i < count; i++) {
        const double *v = numbers + (size_t)words[i] * dimensions;
        rooms[i] = poincare_room(v, dimensions);
        pairs[i] = poincare_compare(u, scale, v, rooms[i], dimensions);
        others += i > 1 ? pairs[i].nearness : 0;
    }
    const double total = pairs[1].nearness + others;
    memset(gradients, 0, dimensions * sizeof *gradients);
    for (uint32_t i = 1; i < count; i++) {
        /* The derivative of the loss by the distance. That of the parent is 1 less its share; the
         * sum of the other shares is the same, and keeps its digits where that is near 0. */
        const double times = (i == 1 ? others : -pairs[i].nearness) / total;
        poincare_gradient(&pairs[i], u, numbers + (size_t)words[i] * dimensions, dimensions, times,
                          gradients, gradients + (size_t)i * dimensions);
    }
    return log1p(others / pairs[1].nearness);
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
