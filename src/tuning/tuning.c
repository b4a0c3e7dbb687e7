/* tuning.c - the search for output weights and an exponent. */
#include "tuning/tuning.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <string.h>

/* Iterations between two checks whether a point is feasible. A check takes as long as an iteration,
 * except where distances are streamed. */
enum { LOOK_EVERY = 10, LOOK_EVERY_STREAMED = 5 };

/* These numbers were chosen on the raw model (docs/TUNING.md). */
static const double words_of_choice = 33860;
static const double rho_first = 0.03, rho_last = 3;
static const double fade_mean = 0.9, fade_square = 0.99;

/* Calls the callback, if there is a state to report. Returns true if every search must end. */
static bool has_enough(const tuning_goal *goal, const tem_search_state *state) {
    tuning_watch *w = goal->watch;
    if (w != NULL && w->told != NULL && state != NULL && w->told(w->context, state) != 0)
        w->enough = true;
    return w != NULL && w->enough;
}

double tuning_gamma(const tuning_goal *goal, double s) {
    return goal->reach > 0 ? goal->reach / s : goal->gamma;
}

/* Adam's running means of one derivative and of its square. */
typedef struct moments {
    float mean, square;
} moments;

typedef struct weight_search {
    pair_matrix *t;
    const tuning_goal *goal;
    const tem_run *run;
    float *theta, *a, *z, *m, *q, *u, *p, *h, *gradient;
    moments *memory; /* of theta */
    double s, mean_s, square_s;
    double hold;     /* the search holds the slope at this fraction of the allowed slope */
    double distance; /* F at this point */
    double loss;     /* s plus the largest slope, at the last check */
    unsigned iteration, iterations;
    tuning_point best;
} weight_search;

static pair_call call_of(const weight_search *x) {
    return (pair_call){x->t, x->s, tuning_gamma(x->goal, x->s), x->run, false};
}

static double allowed(const weight_search *x) {
    return x->goal->epsilon - x->s;
}

/* ----------------------------------------------------------- one iteration -- */

/* Computes Z, its moments, ln Z and F. Where distances are streamed, a pass over all pairs takes
 * most of the time, so the same pass also computes the gradient, from the derivatives by Z and M at
 * the point before. The first point has none before it, and its gradient is 0. */
static tem_status evaluate(weight_search *x, tem_error *error) {
    const pair_call call = call_of(x);
    for (uint32_t i = 0; i < x->t->count; i++)
        x->a[i] = expf(x->theta[i]);
    const pair_side words = {x->a, x->p, x->h, x->z, x->m, x->q, x->gradient};
    const tem_status status = x->t->kept ? pair_sum(&call, x->a, x->z, x->m, x->q, error)
                                         : pair_stream(&call, &words, error);
    x->distance = 0;
    for (uint32_t i = 0; i < x->t->count && status == TEM_OK; i++) {
        x->u[i] = logf(x->z[i]);
        x->distance += x->goal->prior[i] * x->m[i] / x->z[i];
    }
    return status;
}

/* The derivative of F plus penalty by s. dZ/ds = -M, dM/ds = -Q; gamma is treated as fixed. */
static double slope_by_s(const weight_search *x, double weight, double moment) {
    double sum = weight * moment * x->hold;
    for (uint32_t i = 0; i < x->t->count; i++) {
        const double mean = x->m[i] / x->z[i];
        sum -= x->goal->prior[i] * (x->q[i] / x->z[i] - mean * mean) + x->h[i] * mean;
    }
    return sum;
}

/* Computes the derivatives by theta (x->gradient), by s (*by_s), by Z (x->h) and by M (x->p).
 * `weight` is the weight of the penalty. */
static tem_status differentiate(weight_search *x, double weight, double *by_s, tem_error *error) {
    const pair_call call = call_of(x);
    double moment = 0;
    tem_status status = pair_find_excess(&call, x->u, allowed(x) * x->hold, x->h, &moment, error);
    if (status != TEM_OK)
        return status;
    for (uint32_t i = 0; i < x->t->count; i++)
        x->h[i] *= (float)(2 * weight);
    *by_s = slope_by_s(x, weight, moment);
    for (uint32_t i = 0; i < x->t->count; i++) {
        const float per_total = (float)x->goal->prior[i] / x->z[i];
        x->p[i] = per_total;
        x->h[i] = x->h[i] / x->z[i] - per_total * x->m[i] / x->z[i];
    }
    if (x->t->kept)
        status = pair_gradient(&call, x->p, x->h, x->gradient, error);
    for (uint32_t i = 0; i < x->t->count; i++)
        x->gradient[i] *= x->a[i];
    return status;
}

/* The length of the first steps. The more steps there are, the shorter they can be. Over all steps
 * ln a can change by about 0.6 sqrt(iterations), and s by 0.15 epsilon. */
static double rate_weights(const weight_search *x) {
    return 0.6 / sqrt(x->iterations);
}

static double rate_s(const weight_search *x) {
    return 0.15 * x->goal->epsilon / x->iterations;
}

static double part_done(const weight_search *x) {
    return (double)x->iteration / x->iterations;
}

/* Falls from 1 to 0.05. */
static double cooling(const weight_search *x) {
    return 0.5 * (1 + cos(3.141592653589793 * part_done(x))) * 0.95 + 0.05;
}

/* The weight of the penalty, which grows during the search. It is larger in a small vocabulary,
 * where fewer pairs share the penalty. */
static double rho(const weight_search *x) {
    const double crowd = sqrt(words_of_choice / x->t->count);
    return crowd * rho_first * pow(rho_last / rho_first, part_done(x));
}

static void step(weight_search *x, double by_s) {
    const double first = 1 - pow(fade_mean, x->iteration),
                 second = 1 - pow(fade_square, x->iteration);
    const float rate = (float)(rate_weights(x) * cooling(x) / first);
    for (uint32_t i = 0; i < x->t->count; i++) {
        moments *k = &x->memory[i];
        const float g = x->gradient[i];
        k->mean = (float)fade_mean * k->mean + (float)(1 - fade_mean) * g;
        k->square = (float)fade_square * k->square + (float)(1 - fade_square) * g * g;
        x->theta[i] -= rate * k->mean / (sqrtf(k->square / (float)second) + 1e-12f);
    }
    x->mean_s = fade_mean * x->mean_s + (1 - fade_mean) * by_s;
    x->square_s = fade_square * x->square_s + (1 - fade_square) * by_s * by_s;
    const double move =
        rate_s(x) * cooling(x) * x->mean_s / first / (sqrt(x->square_s / second) + 1e-12);
    x->s = fmin(x->goal->s_most, fmax(x->goal->s_least, x->s - move));
}

/* Checks whether this point keeps epsilon, by distances of 16 bits. Keeps the best point, and
 * adapts `hold`. */
static tem_status look(weight_search *x, tem_error *error) {
    const pair_call call = call_of(x);
    double slope = 0;
    TRY(pair_find_slope(&call, x->u, &slope, error));
    const double used = slope / allowed(x);
    x->loss = x->s + slope;
    if (used <= 1 && x->distance < x->best.distance) {
        memcpy(x->best.log_weights, x->theta, x->t->count * sizeof *x->theta);
        x->best.s = x->s;
        x->best.distance = x->distance;
    }
    x->hold = used > 1      ? fmax(0.5, x->hold - 0.2 * (used - 1))
              : used < 0.99 ? fmin(1, x->hold + 0.2 * (1 - used))
                            : x->hold;
    return TEM_OK;
}

static bool is_looked_at(const weight_search *x) {
    const unsigned every = x->t->kept ? LOOK_EVERY : LOOK_EVERY_STREAMED;
    return x->iteration % every == 0 || x->iteration == x->iterations;
}

static tem_status iterate(weight_search *x, tem_error *error) {
    double by_s = 0;
    tem_status status = evaluate(x, error);
    if (status == TEM_OK && is_looked_at(x))
        status = look(x, error);
    if (status == TEM_OK)
        status = differentiate(x, rho(x), &by_s, error);
    if (status == TEM_OK)
        step(x, by_s);
    if (status == TEM_OK)
        status = core_progress(x->run, "tuning", x->iteration, x->iterations, error);
    return status;
}

static bool tell(const weight_search *x) {
    const tem_search_state state = {"tuning",    x->iteration, x->iterations,   x->s,
                                    x->distance, x->loss,      x->best.distance};
    return has_enough(x->goal, &state);
}

/* --------------------------------------------------------- the whole search -- */

static tem_status search_init(weight_search *x, tem_error *error) {
    float **const vectors[] = {&x->theta, &x->a, &x->z, &x->m,       &x->q,
                               &x->u,     &x->p, &x->h, &x->gradient};
    bool enough = true;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = pair_vector(x->t);
        enough &= *vectors[i] != NULL;
    }
    x->memory = core_alloc_zero(x->t->count, sizeof *x->memory);
    return enough && x->memory != NULL ? TEM_OK : core_fail_memory(error);
}

static void search_free(weight_search *x) {
    float *const vectors[] = {x->theta, x->a, x->z, x->m, x->q, x->u, x->p, x->h, x->gradient};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        core_free(vectors[i]);
    core_free(x->memory);
}

tem_status tuning_search(pair_matrix *t, const tuning_goal *goal, double s, unsigned iterations,
                         const tem_run *run, tuning_point *start, tem_error *error) {
    weight_search x = {.t = t,
                       .goal = goal,
                       .run = run,
                       .s = s,
                       .hold = 0.99,
                       .iterations = iterations,
                       .best = {start->log_weights, start->s, start->distance}};
    tem_status status = search_init(&x, error);
    if (status == TEM_OK)
        memcpy(x.theta, start->log_weights, t->count * sizeof *x.theta);
    bool on = !has_enough(goal, NULL);
    for (x.iteration = 1; x.iteration <= iterations && status == TEM_OK && on; x.iteration++) {
        status = iterate(&x, error);
        on = status == TEM_OK && !tell(&x);
    }
    if (status == TEM_OK && !isfinite(x.best.distance)) { /* may be feasible with a smaller s */
        memcpy(x.best.log_weights, x.theta, t->count * sizeof *x.theta);
        x.best.s = x.s;
    }
    start->s = x.best.s;
    start->distance = x.best.distance;
    search_free(&x);
    return status;
}

tem_status tuning_flatten(pair_matrix *t, const tuning_goal *goal, double s, unsigned steps,
                          const tem_run *run, float *log_weights, tem_error *error) {
    const pair_call call = {t, s, tuning_gamma(goal, s), run, false};
    float *a = pair_vector(t), *z = pair_vector(t), *sums = pair_vector(t), *back = pair_vector(t);
    tem_status status =
        a == NULL || z == NULL || sums == NULL || back == NULL ? core_fail_memory(error) : TEM_OK;
    for (uint32_t i = 0; i < t->count && status == TEM_OK; i++)
        a[i] = 1;
    if (status == TEM_OK)
        status = pair_sum(&call, a, sums, NULL, NULL, error);
    for (uint32_t i = 0; i < t->count && status == TEM_OK; i++)
        a[i] = expf(log_weights[i]);
    bool on = !has_enough(goal, NULL);
    for (unsigned k = 0; k < steps && status == TEM_OK && on; k++) {
        status = pair_sum(&call, a, z, NULL, NULL, error);
        for (uint32_t i = 0; i < t->count; i++)
            z[i] = 1 / z[i];
        if (status == TEM_OK)
            status = pair_sum(&call, z, back, NULL, NULL, error);
        for (uint32_t i = 0; i < t->count; i++)
            a[i] *= back[i] / sums[i];
        on = !has_enough(goal, &(tem_search_state){"flattening", k + 1, steps, s, NAN, NAN, NAN});
    }
    for (uint32_t i = 0; i < t->count && status == TEM_OK; i++)
        log_weights[i] = logf(a[i]);
    core_free(a);
    core_free(z);
    core_free(sums);
    core_free(back);
    return status;
}

/* ---------------------------------------------------------------- balance -- */

/* Conjugate gradients for K a = 1. */
typedef struct balance {
    const pair_call *call;
    double *solution, *residual, *direction;
    float *scratch, *product;
    unsigned char *is_output; /* 0: the word keeps the weight 0, and has no equation */
    double square;            /* squared length of the residual */
} balance;

static tem_status balance_init(balance *b, pair_matrix *t, tem_error *error) {
    b->solution = core_alloc_zero(t->count, sizeof *b->solution);
    b->residual = core_alloc_zero(t->count, sizeof *b->residual);
    b->direction = core_alloc_zero(t->count, sizeof *b->direction);
    b->scratch = pair_vector(t);
    b->product = pair_vector(t);
    b->is_output = core_alloc_zero(t->count, 1);
    return b->solution == NULL || b->residual == NULL || b->direction == NULL ||
                   b->scratch == NULL || b->product == NULL || b->is_output == NULL
               ? core_fail_memory(error)
               : TEM_OK;
}

static void balance_free(balance *b) {
    core_free(b->solution);
    core_free(b->residual);
    core_free(b->direction);
    core_free(b->scratch);
    core_free(b->product);
    core_free(b->is_output);
}

/* Computes product = K x for the outputs, and 0 for the other words. */
static tem_status multiply(balance *b, const double *x, tem_error *error) {
    for (uint32_t i = 0; i < b->call->matrix->count; i++)
        b->scratch[i] = (float)x[i];
    const tem_status status = pair_sum(b->call, b->scratch, b->product, NULL, NULL, error);
    for (uint32_t i = 0; i < b->call->matrix->count; i++)
        b->product[i] = b->is_output[i] ? b->product[i] : 0;
    return status;
}

/* Computes residual = 1 - K a, and starts the conjugate gradients again from it. */
static tem_status take_rest(balance *b, tem_error *error) {
    const tem_status status = multiply(b, b->solution, error);
    b->square = 0;
    for (uint32_t i = 0; i < b->call->matrix->count; i++) {
        b->residual[i] = b->direction[i] = b->is_output[i] ? 1 - b->product[i] : 0;
        b->square += b->residual[i] * b->residual[i];
    }
    return status;
}

static double largest_rest(const balance *b) {
    double largest = 0;
    for (uint32_t i = 0; i < b->call->matrix->count; i++)
        largest = fmax(largest, fabs(b->residual[i]));
    return largest;
}

/* Makes one step. *on becomes false if the direction has no positive curvature, or on failure. */
static tem_status balance_step(balance *b, bool *on, tem_error *error) {
    const uint32_t count = b->call->matrix->count;
    const tem_status status = multiply(b, b->direction, error);
    double curvature = 0, square = 0;
    for (uint32_t i = 0; i < count; i++)
        curvature += b->direction[i] * b->product[i];
    *on = status == TEM_OK && curvature > 0;
    if (!*on)
        return status;
    const double length = b->square / curvature;
    for (uint32_t i = 0; i < count; i++) {
        b->solution[i] += length * b->direction[i];
        b->residual[i] -= length * b->product[i];
        square += b->residual[i] * b->residual[i];
    }
    for (uint32_t i = 0; i < count; i++)
        b->direction[i] = b->residual[i] + square / b->square * b->direction[i];
    b->square = square;
    return status;
}

static bool is_negative(const balance *b) {
    for (uint32_t i = 0; i < b->call->matrix->count; i++)
        if (b->solution[i] < 0)
            return true;
    return false;
}

tem_status tuning_balance(pair_matrix *t, const tuning_goal *goal, double s, unsigned steps,
                          double tolerance, const tem_run *run, float *a, double *residual,
                          double *least, tem_error *error) {
    enum {
        ANEW = 25,         /* steps after which the residual is computed again, not updated */
        NEGATIVE_MOST = 2, /* streamed: end after so many steps in a row with a negative weight. The
                            * first step may overshoot although there is a solution */
        NEGATIVE_KEPT = 20 /* the same where distances are kept and a step is quick */
    };
    unsigned negative = 0;
    const pair_call call = {t, s, tuning_gamma(goal, s), run, false};
    balance b = {.call = &call};
    bool on = !has_enough(goal, NULL);
    tem_status status = balance_init(&b, t, error);
    for (uint32_t i = 0; i < t->count && status == TEM_OK; i++)
        b.is_output[i] = (b.solution[i] = a[i]) > 0;
    for (unsigned k = 0; k < steps && status == TEM_OK && on; k++) {
        if (k % ANEW == 0)
            status = take_rest(&b, error);
        if (status == TEM_OK && largest_rest(&b) <= tolerance)
            break;
        if (status == TEM_OK)
            status = balance_step(&b, &on, error);
        if (status == TEM_OK)
            status = core_progress(run, "balancing", k, steps, error);
        negative = is_negative(&b) ? negative + 1 : 0;
        on &= negative < (t->kept ? NEGATIVE_KEPT : NEGATIVE_MOST);
        on &= !has_enough(goal, &(tem_search_state){"balancing", k + 1, steps, s, NAN, NAN, NAN});
    }
    *residual = *least = INFINITY;
    for (uint32_t i = 0; i < t->count && status == TEM_OK; i++) {
        a[i] = (float)b.solution[i];
        *least = b.is_output[i] ? fmin(*least, b.solution[i]) : *least;
    }
    if (status == TEM_OK && *least > 0)
        status = take_rest(&b, error);
    if (status == TEM_OK && *least > 0)
        *residual = largest_rest(&b);
    balance_free(&b);
    return status;
}
