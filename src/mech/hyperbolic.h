/* hyperbolic.h - the mechanism that adds noise in the Poincare ball, then takes the nearest word
 * (Feyisetan, Diethe, Drake 2019). hyperbolic.c has the theorem and its proof. */
#ifndef MECH_HYPERBOLIC_H
#define MECH_HYPERBOLIC_H

#include "mech/weights.h"

typedef struct hyperbolic {
    const space *space; /* its metric is that of the ball */
    double epsilon;
    weights outputs;  /* 1 for every word that may be drawn, 0 for the others */
    double *inverses; /* 1 / (2^60 - |Y|^2) of each word; 0 for a word that is never drawn */
} hyperbolic;

/* Prepares draws. outputs: 0 for every word that must not be drawn, 1 for the others; NULL: all may
 * be drawn. Fails with TEM_ERR_RANGE if epsilon is not above dimension - 1, where no such noise
 * exists; TEM_ERR_MEMORY. Free with hyperbolic_free. */
tem_status hyperbolic_init(hyperbolic *h, const space *s, const uint32_t *outputs, double epsilon,
                           tem_error *error);
void hyperbolic_free(hyperbolic *h);

/* Draws the hyperbolic length of the noise: its density is proportional to exp(-epsilon r)
 * sinh(r)^(dimension - 1). */
double hyperbolic_radius(double epsilon, uint32_t dimension, tem_rng *rng);

/* Draws a direction: `dimension` numbers, of length 1, uniform on the sphere. */
void hyperbolic_direction(uint32_t dimension, tem_rng *rng, double *direction);

/* Sets z to the noisy point of a word in steps of the ball, not rounded: the point at the
 * hyperbolic distance `radius` from x, in this direction at the origin, moved there by the isometry
 * that takes the origin to x. |z| may exceed the radius of the ball by a rounding error. */
void hyperbolic_move(const int32_t *x, const double *direction, double radius, uint32_t dimension,
                     double *z);

/* Returns the word nearest to z, exactly; the lower id wins a tie. z: |z| is at most 2^30 + 64
 * steps, so it may be beyond the edge of the ball by the rounding of its numbers. */
uint32_t hyperbolic_nearest(const hyperbolic *h, const int32_t *z);

/* Draws an output for each of `count` words; `out` may be `words` itself. The output of an unknown
 * word, TEM_NO_WORD, is uniform over all words that may be drawn; tem states no bound between it
 * and a known word. */
void hyperbolic_draw(const hyperbolic *h, const uint32_t *words, size_t count, tem_rng *rng,
                     uint32_t *out);

#endif
