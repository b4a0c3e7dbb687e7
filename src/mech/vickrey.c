/* vickrey.c - noise on the vector, then the nearest word or the second nearest.
 *
 * Xu, Aggarwal, Feyisetan, Teissier 2021, "On a Utilitarian Approach to Privacy Preserving Text
 * Generation". The noise is Madlib's. Let d1 <= d2 be the distances of the two nearest words from
 * the noisy vector. The output is
 *
 *     the second nearest word with probability  t d1 / (t d1 + (1 - t) d2),
 *     the nearest one otherwise.
 *
 * With t = 0 this is Madlib; with t = 1 the output is always the second nearest word. Where both
 * products are 0, so that the formula says nothing, tem takes the probability t.
 *
 * `vickrey` chooses between the two words nearest to the noisy vector, whatever the input is. It
 * keeps Madlib's theorem, P(y | w) <= exp(epsilon d(w,w')) P(y | w') for real numbers: the choice
 * sees the noisy vector and fresh random bits, and nothing else of the input.
 *
 * `vickrey-exclude` chooses between the two words nearest to the noisy vector that are not the
 * input. There the choice sees the input. P(w | w) = 0, and P(w | w') > 0 for every other word w'
 * with another vector: whoever sees w knows that the input was not w. No epsilon bounds that.
 *
 * The paper's text was not at hand. The formula is that of pypantera, which cites it, with the
 * words in order. The paper speaks of the first and the second nearest neighbor of the noised
 * input, as `vickrey` does; that it excludes the input could not be confirmed.
 *
 * Public code: Kekkodf/pypantera (pypantera/src/EmbeddingPerturbationMechanism/vickrey.py) does not
 * exclude the input. It takes the two nearest words by argpartition, which promises no order of
 * them; an exchange of d1 and d2 was not seen. sjmeis/MLDP (src/mldp_text/mechanisms.py)
 * excludes the input where it is the nearest word, weighs words by exp(-t d) instead of the formula
 * above, with squared distances if it searches by FAISS, and returns unknown words unchanged.
 *
 * Where tem departs from the paper: as Madlib does (madlib.h). */
#include "core/memory.h"
#include "core/status.h"
#include "mech/madlib.h"
#include "mech/mechanism.h"

#include <math.h>
#include <string.h>

typedef struct vickrey {
    madlib noise;
    double t;
    bool excludes;
} vickrey;

static double probability_of_second(double t, const point_two *two) {
    const double second = t * two->first_distance, first = (1 - t) * two->second_distance;
    return first + second > 0 ? second / (first + second) : t;
}

/* PRIVACY: the two words and their distances tell where the noisy vector was. The caller erases
 * them. */
static void choose_of_two(const vickrey *v, const point_two *two, size_t count, tem_rng *rng,
                          uint32_t *out) {
    for (size_t i = 0; i < count; i++) {
        const bool second =
            two[i].second != TEM_NO_WORD && rng_unit(rng) <= probability_of_second(v->t, &two[i]);
        out[i] = second ? two[i].second : two[i].first;
    }
}

static tem_status choose(const void *context, const uint32_t *words, const int64_t *points,
                         size_t count, tem_rng *rng, uint32_t *out, tem_error *error) {
    const vickrey *v = context;
    if (count == 0)
        return TEM_OK;
    point_two *two = core_alloc(count, sizeof *two);
    if (two == NULL)
        return core_fail_memory(error);
    /* PRIVACY: `vickrey` must not let the choice depend on the word. */
    const tem_status status = point_search_run_two(&v->noise.search, points, count,
                                                   v->excludes ? words : NULL, two, error);
    if (status == TEM_OK)
        choose_of_two(v, two, count, rng, out);
    core_free_erased(two, count * sizeof *two);
    return status;
}

/* ---- the interface ---- */

static tem_status init(void *state, const mechanism_setup *setup, bool excludes, tem_error *error) {
    vickrey *v = state;
    v->t = mechanism_number(setup, "t");
    v->excludes = excludes;
    TRY(madlib_init(&v->noise, setup->space, setup->weights, setup->epsilon, error));
    if (v->noise.outputs.sum < 2)
        return core_fail(error, TEM_ERR_RANGE, "the mechanism needs two words that may be outputs");
    return TEM_OK;
}

static tem_status init_all(void *state, const mechanism_setup *setup, double *beta,
                           tem_error *error) {
    (void)beta;
    return init(state, setup, false, error);
}

static tem_status init_excluding(void *state, const mechanism_setup *setup, double *beta,
                                 tem_error *error) {
    (void)beta;
    return init(state, setup, true, error);
}

static void free_state(void *state) {
    vickrey *v = state;
    madlib_free(&v->noise);
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const vickrey *v = state;
    return madlib_draw_by(&v->noise, choose, v, words, count, rng, out, error);
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss per unit of distance; the least depends on the vectors",
     .most = INFINITY},
    {.name = "t",
     .meaning = "how much the second nearest word is preferred; 0: never taken, 1: always",
     .most = 1,
     .usual = 0.75},
    {.name = NULL}};

static const tem_parameter excluding_parameters[] = {
    {.name = "epsilon",
     .meaning = "the scale of the noise, and no bound; the least depends on the vectors",
     .most = INFINITY},
    {.name = "t",
     .meaning = "how much the second nearest word is preferred; 0: never taken, 1: always",
     .most = 1,
     .usual = 0.75},
    {.name = NULL}};

const mechanism_ops mechanism_vickrey = {
    .properties = {.name = "vickrey",
                   .summary = "noise on the vector, then one of the two nearest words",
                   .paper = "Xu, Aggarwal, Feyisetan, Teissier 2021",
                   .guarantee = TEM_GUARANTEE_IDEAL,
                   .unit = "distance",
                   .claim = "P(y | w) <= exp(epsilon d(w,w')) P(y | w') for ideal real numbers and "
                            "words of the model; its floating point is outside the claim, and so "
                            "are unknown words",
                   .caveat = "Vickrey is floating point and states no bound between known and "
                             "unknown words; use the mechanism tem, em, rank or coin",
                   .needs_metric = TEM_EUCLIDEAN,
                   .parameters = parameters},
    .state_bytes = sizeof(vickrey),
    .init = init_all,
    .free = free_state,
    .draw = draw,
    .slow_draws = MADLIB_POINTS_AT_ONCE};

const mechanism_ops mechanism_vickrey_exclude = {
    .properties = {.name = "vickrey-exclude",
                   .summary = "vickrey, except that the output is never the input word",
                   .paper = "a variant of Xu, Aggarwal, Feyisetan, Teissier 2021",
                   .guarantee = TEM_GUARANTEE_NONE,
                   .caveat = "a word never becomes itself, so an output rules out one input for "
                             "certain and no epsilon bounds the loss; use the mechanism tem, em, "
                             "rank or coin",
                   .needs_metric = TEM_EUCLIDEAN,
                   .parameters = excluding_parameters},
    .state_bytes = sizeof(vickrey),
    .init = init_excluding,
    .free = free_state,
    .draw = draw,
    .slow_draws = MADLIB_POINTS_AT_ONCE};
