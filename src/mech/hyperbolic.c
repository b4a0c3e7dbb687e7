/* hyperbolic.c - noise in hyperbolic space, then the nearest word.
 *
 * Paper: Feyisetan, Diethe, Drake (2019), "Leveraging Hierarchical Representations for Preserving
 * Privacy and Utility in Text". Words are points of the Poincare ball. The mechanism draws a point
 * z near the point x of the word, and returns the word nearest to z.
 *
 * Theorem. Let z have the density exp(-epsilon d(x, z)) / C against the invariant measure of
 * hyperbolic space of k dimensions, epsilon > k - 1. Then for all words w, w' and outputs y
 *     P(y | w) <= exp(epsilon d(w, w')) P(y | w').
 * Proof. C is the integral of exp(-epsilon d(x, z)) over z. An isometry that takes x to x' leaves
 * the measure and the distances as they are, so C is the same for all x. The ratio of the densities
 * of z is exp(epsilon (d(x', z) - d(x, z))) <= exp(epsilon d(x, x')) by the triangle inequality.
 * The output is a function of z alone, so the ratio holds for it, too. The d of the model is not
 * below this d (metric_hyperbolic.c). QED. In polar coordinates around x the measure is
 * sinh(r)^(k-1) dr times that of the sphere, so C is finite exactly if epsilon > k - 1. At or
 * below, the space grows at least as fast with r as the density falls, and tem refuses.
 *
 * How tem draws. The direction is uniform. The radius has the density exp(-epsilon r)
 * sinh(r)^(k-1). With t = exp(-2 r) this is t^(a-1) (1 - t)^(k-1) dt, a = (epsilon - k + 1) / 2: t
 * is Beta(a, k). For a whole k, Beta(a, k) is the law of a product of independent Beta(a + i, 1), i
 * = 0 to k - 1, and -ln of a Beta(b, 1) is an exponential of mean 1 / b. So r is a sum of k
 * independent exponentials of the means 1 / (epsilon - k + 1 + 2 i). A Moebius addition then takes
 * the origin to x; it is an isometry.
 *
 * Departures from the paper.
 *  - The paper draws by Metropolis and Hastings, which only approaches the law. tem draws from the
 *    law itself, as far as floating point goes.
 *  - The paper's normalizer, (1 + epsilon) / (2 F(1, epsilon; 2 + epsilon; -1)), is that of one
 *    dimension against the length dx of the ball's coordinates. That measure is not invariant: C
 *    would depend on x, and the proof would give only 2 epsilon. tem uses the invariant measure.
 *  - The nearest word is exact.
 *
 * What goes wrong in simple implementations.
 *  - Adding the noise to the vector as if the ball were flat. Noise of the same hyperbolic length
 *    is much shorter near the edge than at the origin, and a plain sum leaves the ball.
 *  - Clipping points that are outside to a radius such as 1 - 1e-5. Here no point is clipped. Which
 *    word is nearest to z depends on |z - y|^2 / (1 - |y|^2) alone, because all y share the factor
 *    1 - |z|^2. That quotient also has a meaning where z, rounded to 2^-30, is on the edge or
 *    beyond it by a step: there it compares words by how near they are to that end of the space.
 *    Rounding z is a function of z alone, so the proof covers it.
 *  - 1 - |x|^2 in floating point. Here it is an exact integer, and hyperbolic_move subtracts no
 *    numbers that nearly cancel.
 *
 * The theorem is for ideal real numbers. tem draws with 53-bit numbers and libm, so it claims no
 * bound for what it draws, as for Madlib. */
#include "mech/hyperbolic.h"

#include "core/memory.h"
#include "core/status.h"
#include "mech/mechanism.h"
#include "space/ball.h"
#include "space/integer_math.h"

#include <math.h>
#include <string.h>

enum { SLOW_DRAWS = 32 }; /* 82,000 words of 10 dimensions: about a millisecond per draw */

/* ---- the state ---- */

static void put_inverses(hyperbolic *h) {
    const space *s = h->space;
    for (uint32_t id = 0; id < s->count; id++) {
        const uint64_t room = BALL_SQUARE - ball_square(space_point(s, id), s->dimension);
        h->inverses[id] = weights_at(&h->outputs, id) == 0 ? 0 : 1 / (double)room;
    }
}

tem_status hyperbolic_init(hyperbolic *h, const space *s, const uint32_t *outputs, double epsilon,
                           tem_error *error) {
    /* PRIVACY: at or below dimension - 1 no density exp(-epsilon d) exists, and any other noise
     * would be outside the proof. */
    if (!isfinite(epsilon) || !(epsilon > s->dimension - 1.0))
        return core_fail(error, TEM_ERR_RANGE,
                         "in %u dimensions this noise exists only for an epsilon above %u: use a "
                         "larger epsilon, vectors of fewer dimensions, or the mechanism tem",
                         s->dimension, s->dimension - 1);
    h->space = s;
    h->epsilon = epsilon;
    TRY(weights_init(&h->outputs, outputs, s->count, error));
    h->inverses = core_alloc(s->count, sizeof *h->inverses);
    if (h->inverses == NULL)
        return core_fail_memory(error);
    put_inverses(h);
    return TEM_OK;
}

void hyperbolic_free(hyperbolic *h) {
    core_free(h->inverses);
    weights_free(&h->outputs);
}

/* ---- the noise ---- */

double hyperbolic_radius(double epsilon, uint32_t dimension, tem_rng *rng) {
    const double least = epsilon - (dimension - 1.0);
    double radius = 0;
    for (uint32_t i = 0; i < dimension; i++)
        radius -= log(rng_unit(rng)) / (least + 2.0 * i);
    return radius;
}

/* Standard normals (Box, Muller), divided by their length. */
void hyperbolic_direction(uint32_t dimension, tem_rng *rng, double *direction) {
    double square = 0;
    while (!(square > 0)) { /* the zero vector has no direction */
        square = 0;
        for (uint32_t i = 0; i < dimension; i++) {
            const double size = sqrt(-2 * log(rng_unit(rng)));
            direction[i] = size * cos(6.283185307179586 * rng_unit(rng));
            square += direction[i] * direction[i];
        }
    }
    for (uint32_t i = 0; i < dimension; i++)
        direction[i] /= sqrt(square);
}

/* Whether |z| is at most 2^30 + 16 steps. False for numbers that are not finite. */
static bool is_in_reach(const double *z, uint32_t dimension) {
    const double most = ldexp(1, BALL_STEP_LOG2) + 16;
    double square = 0;
    for (uint32_t i = 0; i < dimension; i++)
        square += z[i] * z[i];
    return square <= most * most;
}

/* The Moebius sum of x and v = tanh(radius / 2) direction. With s = x + v, a = 1 - |x|^2 and b =
 * 1 - |v|^2 it is (|s|^2 x + a s) / (|s|^2 + a b). In this form nothing cancels but in s itself,
 * whose numbers are off by 2^-52 at most. Only where |s| is about 2^-52, too, would that matter: x
 * and v are then within 2^-52 of opposite ends of the space. The function returns the end that v
 * has. */
void hyperbolic_move(const int32_t *x, const double *direction, double radius, uint32_t dimension,
                     double *z) {
    const double step = ldexp(1, -BALL_STEP_LOG2), length = tanh(radius / 2);
    const double room = (double)(BALL_SQUARE - ball_square(x, dimension)) * step * step;
    const double room_of_noise = 1 / (cosh(radius / 2) * cosh(radius / 2));
    double square = 0;
    for (uint32_t i = 0; i < dimension; i++) {
        z[i] = x[i] * step + length * direction[i];
        square += z[i] * z[i];
    }
    const double below = square + room * room_of_noise;
    for (uint32_t i = 0; i < dimension; i++)
        z[i] = (square * x[i] + room * z[i] / step) / below;
    const bool is_lost = !is_in_reach(z, dimension);
    for (uint32_t i = 0; i < dimension && is_lost; i++)
        z[i] = direction[i] / step;
}

/* Draws the noisy point of a word, rounded.
 * PRIVACY: noise and output together reveal the word. The function erases the noise. */
static void put_point(const hyperbolic *h, uint32_t word, tem_rng *rng, int32_t *point) {
    const uint32_t dimension = h->space->dimension;
    double direction[TEM_DIMENSION_MAX], z[TEM_DIMENSION_MAX];
    const double radius = hyperbolic_radius(h->epsilon, dimension, rng);
    hyperbolic_direction(dimension, rng, direction);
    hyperbolic_move(space_point(h->space, word), direction, radius, dimension, z);
    for (uint32_t i = 0; i < dimension; i++)
        point[i] = (int32_t)lrint(z[i]);
    explicit_bzero(direction, dimension * sizeof *direction);
    explicit_bzero(z, dimension * sizeof *z);
}

/* ---- the nearest word ---- */

/* Whether square / room of a is below that of b. Exact: the products are below 2^123. */
static bool is_nearer(const hyperbolic *h, uint32_t a, uint64_t square_a, uint32_t b,
                      uint64_t square_b) {
    const space *s = h->space;
    const uint64_t room_a = BALL_SQUARE - ball_square(space_point(s, a), s->dimension);
    const uint64_t room_b = BALL_SQUARE - ball_square(space_point(s, b), s->dimension);
    return (uint128)square_a * room_b < (uint128)square_b * room_a;
}

/* A score has four roundings of 2^-53, so it is right up to a factor of 1 +- 2^-50. The loop skips
 * a word only if its score is above the best by a factor of 1 + 2^-48; then it is farther. */
uint32_t hyperbolic_nearest(const hyperbolic *h, const int32_t *z) {
    const space *s = h->space;
    uint32_t best = TEM_NO_WORD;
    uint64_t best_square = 0;
    double limit = INFINITY;
    for (uint32_t id = 0; id < s->count; id++) {
        if (!(h->inverses[id] > 0))
            continue;
        const uint64_t square = ball_square_between(space_point(s, id), z, s->dimension);
        const double score = (double)square * h->inverses[id];
        if (score > limit || (best != TEM_NO_WORD && !is_nearer(h, id, square, best, best_square)))
            continue;
        best = id;
        best_square = square;
        limit = score * (1 + 0x1p-48);
    }
    return best;
}

void hyperbolic_draw(const hyperbolic *h, const uint32_t *words, size_t count, tem_rng *rng,
                     uint32_t *out) {
    int32_t point[TEM_DIMENSION_MAX];
    for (size_t i = 0; i < count; i++)
        if (words[i] == TEM_NO_WORD) {
            out[i] = weights_draw(&h->outputs, rng);
        } else {
            put_point(h, words[i], rng, point);
            out[i] = hyperbolic_nearest(h, point);
        }
    explicit_bzero(point, h->space->dimension * sizeof *point);
}

/* ---- the interface ---- */

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    (void)beta;
    return hyperbolic_init(state, setup->space, setup->weights, setup->epsilon, error);
}

static void free_state(void *state) {
    hyperbolic_free(state);
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    (void)error;
    hyperbolic_draw(state, words, count, rng, out);
    return TEM_OK;
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss per unit of distance; above the number of dimensions less 1",
     .most = INFINITY},
    {.name = NULL}};

const mechanism_ops mechanism_hyperbolic = {
    .properties = {.name = "hyperbolic",
                   .summary = "noise in hyperbolic space, then the nearest word",
                   .paper = "Feyisetan, Diethe, Drake 2019",
                   .guarantee = TEM_GUARANTEE_IDEAL,
                   .unit = "distance",
                   .claim = "P(y | w) <= exp(epsilon d(w,w')) P(y | w') for ideal real numbers and "
                            "words of the model, d being the hyperbolic distance; its floating "
                            "point is outside the claim, and so are unknown words",
                   .caveat = "the mechanism hyperbolic is floating point and states no bound "
                             "between known and unknown words; use the mechanism tem, em, rank "
                             "or coin",
                   .needs_metric = TEM_HYPERBOLIC,
                   .parameters = parameters},
    .state_bytes = sizeof(hyperbolic),
    .init = init,
    .free = free_state,
    .draw = draw,
    .slow_draws = SLOW_DRAWS};
