/* certified_weights.c - integer weights: a search proposes them, a proof admits them. */
#include "tuning/calibrate.h"

#include "core/memory.h"
#include "core/status.h"
#include "tem_account.h"
#include "tuning/tuning.h"

#include <math.h>
#include <string.h>

enum { FLATTEN_STEPS = 5, FLATTEN_STEPS_FEW = 3, BALANCE_STEPS = 100 };

/* Steps of the search, if the caller gives no number. With ten times the words, distances are
 * streamed instead of kept, and a step takes more than a hundred times as long. */
enum { TUNING_STEPS = 100, TUNING_STEPS_FEW = 24 };

static const size_t usual_matrix_bytes = (size_t)3 << 30;

static const double balance_tolerance = 1e-5; /* largest residual of K a = 1 */

void certified_weights_free(certified_weights *c) {
    core_free(c->values);
    profile_free(&c->profile);
    c->values = NULL;
}

/* The data of a search, and the best proved candidate so far. */
typedef struct finding {
    const loss_inputs *equal;
    const weights_request *request;
    const tem_run *run;
    pair_matrix matrix;
    tuning_watch watch;
    tuning_goal goal;
    certified_weights best;
    double best_distance; /* expected distance under the prior; without a prior: -s */
} finding;

/* ----------------------------------------------------------------- proving -- */

/* Returns n: tem rounds ln a to multiples of 1/n, so that weights compress well. A large vocabulary
 * gets coarser steps. Its balanced weights get finer steps than its other weights, since coarse
 * rounding would cause most of their remaining slopes. */
static double steps_of_log(const finding *f, bool balanced) {
    return f->matrix.count <= 8192 ? 65536 : balanced ? 4096 : 256;
}

static bool is_output(const finding *f, uint32_t id) {
    return f->equal->weights == NULL || f->equal->weights[id] > 0;
}

/* Rounds weights to integers. The largest becomes 2^32 - 1. No weight becomes 0 but those of
 * excluded words, which are 0. NULL: no memory. */
static uint32_t *round_weights(const finding *f, const float *log_weights, double steps) {
    const uint32_t count = f->matrix.count;
    uint32_t *values = core_alloc(count, sizeof *values);
    double largest = -INFINITY;
    for (uint32_t i = 0; i < count; i++)
        largest = fmax(largest, log_weights[i]);
    for (uint32_t i = 0; values != NULL && i < count; i++) {
        const double rounded = round((log_weights[i] - largest) * steps) / steps;
        const double scaled = exp(rounded) * UINT32_MAX;
        values[i] = scaled >= 1 ? (uint32_t)scaled : 1; /* NaN also becomes 1 */
        if (!is_output(f, i))
            values[i] = 0;
    }
    return values;
}

/* Tries to prove s. *holds tells whether that succeeded; if so, *c receives the exponent and the
 * proof. */
static tem_status try_s(const finding *f, const loss_inputs *a, double s, certified_weights *c,
                        bool *holds, tem_error *error) {
    const weights_request *r = f->request;
    exponent e = {(uint64_t)ldexp(s, EXPONENT_S_BITS), 0};
    const tem_status status =
        realised_try(a, &e, r->epsilon, r->beta, r->gamma, f->run, &c->proof, holds, error);
    if (*holds)
        c->exponent = e;
    return status;
}

/* Finds, by bisection from `least` to `most`, the largest exponent that is proved for the weights
 * of *c. *found tells whether there is one. One profile serves all exponents. */
static tem_status prove_largest(const finding *f, double least, double most, certified_weights *c,
                                bool *found, tem_error *error) {
    bool holds = false;
    tem_status status = profile_make(f->equal->space, c->values, f->run, &c->profile, error);
    const loss_inputs a = {f->equal->space, f->equal->index, &c->profile, c->values};
    *found = false;
    if (status == TEM_OK)
        status = try_s(f, &a, most, c, found, error);
    if (*found)
        least = most;
    while (status == TEM_OK && most - least > least / 1024) {
        const double middle = (least + most) / 2;
        status = try_s(f, &a, middle, c, &holds, error);
        *found |= holds;
        if (holds)
            least = middle;
        else
            most = middle;
    }
    if (status == TEM_OK && *found)
        status = realised_tighten(&a, c->exponent, f->run, &c->proof, error);
    return status;
}

/* Computes the expected distance under the prior, from distances of 16 bits. */
static tem_status expected_distance(finding *f, const uint32_t *values, double s, double *distance,
                                    tem_error *error) {
    float *a = pair_vector(&f->matrix), *z = pair_vector(&f->matrix), *m = pair_vector(&f->matrix);
    tem_status status = a == NULL || z == NULL || m == NULL ? core_fail_memory(error) : TEM_OK;
    const pair_call call = {&f->matrix, s, tuning_gamma(&f->goal, s), f->run, false};
    for (uint32_t i = 0; i < f->matrix.count && status == TEM_OK; i++)
        a[i] = values != NULL ? (float)values[i] * 0x1p-32f : is_output(f, i) ? 1 : 0;
    if (status == TEM_OK)
        status = pair_sum(&call, a, z, m, NULL, error);
    *distance = 0;
    for (uint32_t i = 0; i < f->matrix.count && status == TEM_OK; i++)
        *distance += f->request->prior[i] * m[i] / z[i];
    core_free(a);
    core_free(z);
    core_free(m);
    return status;
}

/* Keeps a proved candidate if it is better than the best so far: by its expected distance if there
 * is a prior, else by s. Takes ownership of *c in any case. */
static tem_status offer(finding *f, certified_weights *c, tem_error *error) {
    double distance = -exponent_s_value(c->exponent.s);
    tem_status status = TEM_OK;
    if (f->request->prior != NULL)
        status = expected_distance(f, c->values, exponent_s_value(c->exponent.s), &distance, error);
    if (status == TEM_OK && distance < f->best_distance) {
        certified_weights_free(&f->best);
        f->best = *c;
        f->best_distance = distance;
        *c = (certified_weights){0};
    }
    certified_weights_free(c);
    return status;
}

/* Rounds a proposal, proves it, and offers it. *s receives the exponent that was proved, or 0. */
static tem_status propose(finding *f, const float *log_weights, bool balanced, double least,
                          double most, double *s, tem_error *error) {
    certified_weights c = {.values = round_weights(f, log_weights, steps_of_log(f, balanced))};
    bool found = false;
    tem_status status = c.values == NULL ? core_fail_memory(error)
                                         : prove_largest(f, least, most, &c, &found, error);
    *s = status == TEM_OK && found ? exponent_s_value(c.exponent.s) : 0;
    if (*s > 0)
        return offer(f, &c, error);
    certified_weights_free(&c);
    return status;
}

/* --------------------------------------------------------------- proposing -- */

static void take_logarithms(float *a, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        a[i] = logf(a[i]);
}

/* Sets equal weights, as ln a: 0, and -INFINITY for excluded words, whose weight stays 0. */
static void set_equal(const finding *f, float *a) {
    memset(a, 0, f->matrix.stride * sizeof *a);
    for (uint32_t i = 0; i < f->matrix.count; i++)
        a[i] = is_output(f, i) ? 0 : -INFINITY;
}

/* The largest s for a gamma that the caller gave: beyond it, s gamma is above 64 and no mechanism
 * exists. */
static double largest_s(const finding *f) {
    return f->request->beta > 0 ? INFINITY : 64 / f->request->gamma;
}

/* Tries to find weights that make Z constant at an s just below epsilon. *s receives the exponent
 * that was proved, or 0. */
static tem_status try_balance(finding *f, float *a, double *s, tem_error *error) {
    const double most = fmin(0.9997 * f->request->epsilon, largest_s(f));
    double residual = 0, least = 0;
    for (uint32_t i = 0; i < f->matrix.count; i++)
        a[i] = is_output(f, i) ? 0.5f : 0;
    const tem_status status =
        tuning_balance(&f->matrix, &f->goal, most, BALANCE_STEPS, balance_tolerance, f->run, a,
                       &residual, &least, error);
    *s = 0;
    if (status != TEM_OK || least <= 0)
        return status;
    take_logarithms(a, f->matrix.count);
    return propose(f, a, true, 0.99 * most, most, s, error);
}

/* Makes a few steps towards a constant Z, from equal weights, at exponents between that of equal
 * weights and epsilon. `a` and *s receive the weights (as ln a) and exponent with the largest s
 * that was proved; equal weights and s_equal if none is larger. */
static tem_status try_flattening(finding *f, double s_equal, float *a, double *s,
                                 tem_error *error) {
    static const double fractions[] = {0.5, 0.25, 0.75};
    const size_t count =
        f->matrix.kept ? sizeof fractions / sizeof *fractions : 1; /* streamed: sums are slow */
    const unsigned steps = f->matrix.kept ? FLATTEN_STEPS : FLATTEN_STEPS_FEW;
    float *flat = pair_vector(&f->matrix);
    tem_status status = flat == NULL ? core_fail_memory(error) : TEM_OK;
    set_equal(f, a);
    *s = s_equal;
    for (size_t i = 0; i < count && status == TEM_OK && !f->watch.enough; i++) {
        const double way = s_equal + fractions[i] * (f->request->epsilon - s_equal);
        const double at = fmin(way, largest_s(f));
        double proved = 0;
        set_equal(f, flat);
        status = tuning_flatten(&f->matrix, &f->goal, at, steps, f->run, flat, error);
        if (status == TEM_OK)
            status = propose(f, flat, false, s_equal, f->request->epsilon, &proved, error);
        if (status == TEM_OK && proved > *s) {
            memcpy(a, flat, f->matrix.stride * sizeof *a);
            *s = proved;
        }
    }
    core_free(flat);
    return status;
}

/* The least s that is worth a proof. Where distances are streamed, the search ignored pairs that
 * are in no list, and the proof may lower s by more. */
static double least_worth(const finding *f, const tuning_point *point, double s_equal) {
    const bool sure = f->matrix.kept && isfinite(point->distance);
    return sure ? fmax(s_equal, 0.97 * point->s) : s_equal;
}

/* Searches, starting from flattened weights `a` and s. */
static tem_status try_tuning(finding *f, double s_equal, float *a, double s, tem_error *error) {
    const unsigned usual = f->matrix.kept ? TUNING_STEPS : TUNING_STEPS_FEW;
    const unsigned steps = f->request->iterations > 0 ? f->request->iterations : usual;
    tuning_point point = {a, s, INFINITY};
    TRY(tuning_search(&f->matrix, &f->goal, s, steps, f->run, &point, error));
    return propose(f, a, false, least_worth(f, &point, s_equal), point.s, &s, error);
}

/* -------------------------------------------------------- the whole search -- */

static tem_status find_all(finding *f, float *a, tem_error *error) {
    certified_weights plain = {0};
    tem_status status =
        realised_calibrate(f->equal, f->request->epsilon, f->request->beta, f->request->gamma,
                           f->run, &plain.exponent, &plain.proof, error);
    const double s_equal = exponent_s_value(plain.exponent.s);
    f->goal.s_least = s_equal; /* a smaller s gains only by outputs that say less about the input:
                                * docs/TUNING.md */
    f->goal.s_most = fmin(0.9995 * f->request->epsilon, largest_s(f));
    double s = 0;
    if (status == TEM_OK)
        status = offer(f, &plain, error);
    if (status == TEM_OK)
        status = try_balance(f, a, &s, error);
    if (status != TEM_OK || s > 0)
        return status; /* another optimizer found no better weights: docs/TUNING.md */
    status = try_flattening(f, s_equal, a, &s, error);
    return status == TEM_OK && f->request->kind == TEM_WEIGHTS_TUNED && !f->watch.enough
               ? try_tuning(f, s_equal, a, s, error)
               : status;
}

tem_status certified_weights_find(const loss_inputs *equal, const weights_request *r,
                                  const tem_run *run, certified_weights *out, tem_error *error) {
    const uint32_t count = equal->space->count;
    finding f = {.equal = equal,
                 .request = r,
                 .run = run,
                 .watch = {r->told, r->told_context, false},
                 .best_distance = INFINITY};
    f.goal = (tuning_goal){
        r->epsilon, r->beta > 0 ? log1p(-r->beta) + log(count - 1.0) - log(r->beta) : 0,
        r->gamma,   r->prior,
        0,          0,
        &f.watch};
    tem_status status = pair_matrix_make(equal->space, equal->index, equal->profile->reach,
                                         r->matrix_bytes > 0 ? r->matrix_bytes : usual_matrix_bytes,
                                         run, &f.matrix, error);
    float *a = status == TEM_OK ? pair_vector(&f.matrix) : NULL;
    if (status == TEM_OK)
        status = a == NULL ? core_fail_memory(error) : find_all(&f, a, error);
    core_free(a);
    pair_matrix_free(&f.matrix);
    if (status == TEM_OK)
        *out = f.best;
    else
        certified_weights_free(&f.best);
    return status;
}
