/* permute_and_flip.c - the mechanism `permute-and-flip`.
 *
 * McKenna, Sheldon 2020, "Permute-and-Flip: A new mechanism for differentially private selection".
 * Their mechanism goes through the outputs in random order and releases the first one whose coin
 * shows heads; the coin of y shows heads with probability exp(-s (q* - q_y)), where q_y is the
 * score of y and q* the best score. Here the score is q_y(w) = -min(d(w,y), gamma), as in `tem`. So
 * the coin of y is heads with probability
 *
 *     p_y = exp(-s (min(d(w,y), gamma) - d*)),    d* = the least min(d(w,z), gamma) of an output z
 *
 * and d* = 0 if w may be an output itself. The paper proves differential privacy for databases that
 * differ in one record and scores of a given sensitivity. The theorem below is the metric version.
 *
 * Theorem. P(y | w) <= exp(2 s min(d(w,w'), gamma)) P(y | w') for all words, unknown ones included.
 * Proof. (1) The mechanism releases the y with the largest q_y + E_y, where the E_y are independent
 * exponential numbers of rate s (Ding, Kifer, Sepahi, Zhang 2021, "The Permute-and-Flip Mechanism
 * is Identical to Report-Noisy-Max with Exponential Noise"). (2) d is a metric, so all scores obey
 * |q_y(w) - q_y(w')| <= min(d(w,w'), gamma) =: D. An unknown word is at distance gamma from every
 * word, which is within the same bound. (3) Fix the noise of all outputs but y. Then y wins if E_y
 * exceeds c(w) = max over z of q_z(w) + E_z, less q_y(w), and c(w') <= c(w) + 2D. (4) P(E > c + 2D)
 * >= exp(-2sD) P(E > c) for every c: with equality if c >= 0, and if c < 0 the left side is at
 * least exp(-2sD) and the right side is exp(-2sD). (5) The average over the noise of the others is
 * the theorem.
 *
 * The draw uses an equivalent form: toss the coins of all outputs, and release one of those that
 * show heads, each with the same probability. The order of the outputs is uniform and independent
 * of the coins. So among the outputs whose coins show heads each is the first with the same
 * probability. The nearest output always shows heads, so there is one to release.
 *
 * The coins are integers (toss.h): heads with probability p_y (1 + h), 0 <= h < 2^-99. This is the
 * same mechanism with scores that are larger by ln(1 + h) / s, so 2^-98 more is lost. If D is not
 * 0, it is at least 2^-16, and 2s <= epsilon - 2^-19 (exponent_s) leaves 2^-35 for it. If D is 0, w
 * and w' have the same distance to every word, and the same law. So the bound holds with epsilon.
 *
 * `tem` with the same s and gamma has the law p_y / S, S the sum of all p. Permute-and-flip never
 * has a larger expected distance than that (McKenna, Sheldon 2020). Its price is the time of a
 * draw, which looks at all words, and a law that tem cannot audit or invert. */
#include "core/memory.h"
#include "core/status.h"
#include "mech/mechanism.h"
#include "mech/toss.h"
#include "tem_account.h"

#include <math.h>
#include <string.h>

typedef struct permute_and_flip {
    const space *space;
    exponent exponent;
    weights outputs; /* 1 for every word that may be drawn, 0 for the others */
} permute_and_flip;

enum { TILE = 256 };

static uint32_t tile_count(const permute_and_flip *m, uint32_t first) {
    const uint32_t left = m->outputs.count - first;
    return left < TILE ? left : TILE;
}

/* The exponent at d*: the least of an output. */
static uint64_t least_exponent(const permute_and_flip *m, uint32_t word) {
    tem_dist distances[TILE], least = UINT32_MAX;
    if (weights_at(&m->outputs, word) > 0)
        return 0;
    for (uint32_t first = 0; first < m->outputs.count; first += TILE) {
        const uint32_t some = tile_count(m, first);
        space_distances(m->space, word, first, some, distances);
        for (uint32_t i = 0; i < some; i++)
            if (weights_at(&m->outputs, first + i) > 0 && distances[i] < least)
                least = distances[i];
    }
    return exponent_at(&m->exponent, least);
}

/* PRIVACY: a coin for every output, and a uniform choice among the heads: the k-th head takes the
 * place of the earlier choice with probability 1/k. */
static uint32_t draw_known(const permute_and_flip *m, uint32_t word, tem_rng *rng) {
    tem_dist distances[TILE];
    const uint64_t least = least_exponent(m, word);
    uint64_t heads = 0;
    uint32_t chosen = TEM_NO_WORD;
    for (uint32_t first = 0; first < m->outputs.count; first += TILE) {
        const uint32_t some = tile_count(m, first);
        space_distances(m->space, word, first, some, distances);
        for (uint32_t i = 0; i < some; i++) {
            if (weights_at(&m->outputs, first + i) == 0)
                continue;
            const uint64_t x = exponent_at(&m->exponent, distances[i]) - least;
            if (toss_exp(x, rng) && rng_below(rng, ++heads) == 0)
                chosen = first + i;
        }
    }
    return chosen;
}

/* An unknown word is at distance gamma from all outputs: all coins show heads. */
static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const permute_and_flip *m = state;
    (void)error;
    for (size_t i = 0; i < count; i++)
        out[i] =
            words[i] == TEM_NO_WORD ? weights_draw(&m->outputs, rng) : draw_known(m, words[i], rng);
    return TEM_OK;
}

/* ---- the law ----
 *
 * With N other heads y is released with probability 1 / (1 + N), the integral of t^N from 0 to 1.
 * So P(y | w) = p_y I(p_y), where I(p_y) is the integral over t of the product over z != y of
 * (1 - t p_z): G(t) / (1 - t p_y), with the product G over all outputs.
 *
 * G is at most exp(-S t), S the sum of all p. So beyond t = FAR / S, if that is below 1, nothing is
 * left that 12 digits show. The range is cut into panels of at most PANEL / S, in which G is as
 * smooth as exp(-PANEL t), and each has NODES nodes of Gauss and Legendre. The tests compare the
 * result with sums over all subsets and over all permutations.
 *
 * Most p are small. For t p <= 1/16 the series of ln(1 - t p) and of 1 / (1 - t p) need TERMS
 * terms, and their sums over all these words serve all nodes. At most 16 FAR words have a larger
 * p. */

enum { NODES = 20, PANELS_MAX = 11, TERMS = 14, FAR = 44, PANEL = 4, SERIES_FROM = 16 };

typedef struct quadrature {
    uint32_t count;
    double end;                        /* of the range of t */
    double t[PANELS_MAX * NODES];      /* the nodes */
    double weight[PANELS_MAX * NODES]; /* and their weights; after put_product times G(t) */
} quadrature;

/* P_NODES(x) and its derivative, by the recurrence of Legendre's polynomials. */
static double legendre(double x, double *derivative) {
    double before = 1, value = x;
    for (int n = 2; n <= NODES; n++) {
        const double next = ((2 * n - 1) * x * value - (n - 1) * before) / n;
        before = value;
        value = next;
    }
    *derivative = NODES * (x * value - before) / (x * x - 1);
    return value;
}

/* Node i of -1 to 1, by Newton's method from a guess that is near enough. */
static double node(uint32_t i, double *weight) {
    double x = cos(3.141592653589793 * (i + 0.75) / (NODES + 0.5)), derivative = 0;
    for (int step = 0; step < 8; step++)
        x -= legendre(x, &derivative) / derivative;
    legendre(x, &derivative);
    *weight = 2 / ((1 - x * x) * derivative * derivative);
    return x;
}

static void put_nodes(quadrature *q, double sum) {
    q->end = sum > FAR ? FAR / sum : 1;
    const double panels = fmin(fmax(ceil(q->end * sum / PANEL), 1), PANELS_MAX);
    const double half = q->end / panels / 2;
    q->count = (uint32_t)panels * NODES;
    for (uint32_t i = 0; i < NODES; i++) {
        double weight = 0;
        const double x = node(i, &weight);
        for (uint32_t panel = 0; panel < (uint32_t)panels; panel++) {
            q->t[panel * NODES + i] = half * (2 * panel + 1 + x);
            q->weight[panel * NODES + i] = half * weight;
        }
    }
}

static bool is_small(const quadrature *q, double p) {
    return p * q->end <= 1.0 / SERIES_FROM;
}

/* sums[k]: the sum of (p end)^k over all small p. */
static void put_power_sums(const quadrature *q, const double *p, uint32_t count,
                           long double sums[TERMS + 1]) {
    memset(sums, 0, (TERMS + 1) * sizeof *sums);
    for (uint32_t y = 0; y < count; y++) {
        double power = 1;
        for (int k = 1; k <= TERMS && is_small(q, p[y]); k++) {
            power *= p[y] * q->end;
            sums[k] += power;
        }
    }
}

/* Multiplies each weight by G(t). */
static void put_product(quadrature *q, const double *p, uint32_t count) {
    long double sums[TERMS + 1], logs[PANELS_MAX * NODES] = {0};
    put_power_sums(q, p, count, sums);
    for (uint32_t i = 0; i < q->count; i++)
        for (int k = TERMS; k > 0; k--) /* Horner: -(t/end) (sums[1] + (t/end) (sums[2]/2 + ...)) */
            logs[i] = (logs[i] - sums[k] / k) * (q->t[i] / q->end);
    for (uint32_t y = 0; y < count; y++)
        for (uint32_t i = 0; i < q->count && !is_small(q, p[y]); i++)
            logs[i] += log1p(-q->t[i] * p[y]);
    for (uint32_t i = 0; i < q->count; i++)
        q->weight[i] *= exp((double)logs[i]);
}

/* I(p) for a p that is not small. */
static double integral(const quadrature *q, double p) {
    double sum = 0;
    for (uint32_t i = 0; i < q->count; i++)
        sum += q->weight[i] / (1 - q->t[i] * p);
    return sum;
}

/* Replaces each p by p I(p). */
static void put_law(const quadrature *q, double *p, uint32_t count) {
    double moments[TERMS + 1] = {0};
    for (uint32_t i = 0; i < q->count; i++) {
        double power = q->weight[i];
        for (int k = 0; k <= TERMS; k++, power *= q->t[i] / q->end)
            moments[k] += power;
    }
    for (uint32_t y = 0; y < count; y++) {
        double sum = 0;
        for (int k = TERMS; k >= 0; k--)
            sum = sum * p[y] * q->end + moments[k];
        p[y] *= is_small(q, p[y]) ? sum : integral(q, p[y]);
    }
}

/* Sets p to the probabilities of heads and returns their sum. */
static double put_coins(const permute_and_flip *m, uint32_t word, double *p) {
    tem_dist distances[TILE];
    const uint64_t least = least_exponent(m, word);
    long double sum = 0;
    for (uint32_t y = 0; y < m->outputs.count; y++) {
        if (y % TILE == 0)
            space_distances(m->space, word, y, tile_count(m, y), distances);
        const uint64_t x = exponent_at(&m->exponent, distances[y % TILE]);
        p[y] =
            weights_at(&m->outputs, y) == 0 ? 0 : exp(ldexp(-(double)(x - least), -EXPONENT_BITS));
        sum += p[y];
    }
    return (double)sum;
}

static tem_status row(const void *state, uint32_t word, double *probabilities, tem_error *error) {
    const permute_and_flip *m = state;
    const uint32_t count = m->outputs.count;
    (void)error;
    for (uint32_t y = 0; y < count && word == TEM_NO_WORD; y++)
        probabilities[y] = weights_at(&m->outputs, y) / (double)m->outputs.sum;
    if (word == TEM_NO_WORD)
        return TEM_OK;
    quadrature q;
    put_nodes(&q, put_coins(m, word, probabilities));
    put_product(&q, probabilities, count);
    put_law(&q, probabilities, count);
    return TEM_OK;
}

/* ---- the interface ---- */

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    permute_and_flip *m = state;
    m->space = setup->space;
    TRY(mechanism_choose_exponent(setup, &m->exponent, beta, error));
    return weights_init(&m->outputs, setup->weights, setup->space->count, error);
}

static void free_state(void *state) {
    weights_free(&((permute_and_flip *)state)->outputs);
}

static const exponent *bound(const void *state) {
    return &((const permute_and_flip *)state)->exponent;
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss per unit of distance",
     .least = 0x1p-18,
     .most = 0x1p23},
    {.name = "beta",
     .meaning = "as for tem: gamma is what tem computes from it",
     .most = 1,
     .usual = TEM_BETA_DEFAULT},
    {.name = "gamma",
     .meaning = "the distance beyond which all words are equally far; instead of beta",
     .most = 65536},
    {.name = NULL}};

const mechanism_ops mechanism_permute_and_flip = {
    .properties = {.name = "permute-and-flip",
                   .summary = "a coin for each word, then one of the heads; slow",
                   .paper = "McKenna, Sheldon 2020",
                   .guarantee = TEM_GUARANTEE_EXACT,
                   .unit = "distance",
                   .claim = "P(y | w) <= exp(epsilon min(d(w,w'), gamma)) P(y | w') for all words, "
                            "unknown ones included; exact integers",
                   .law_digits = MECHANISM_ROW_DIGITS,
                   .takes_gamma = 1,
                   .parameters = parameters},
    .state_bytes = sizeof(permute_and_flip),
    .init = init,
    .free = free_state,
    .draw = draw,
    .slow_draws = 16,
    .row = row,
    .bound = bound};
