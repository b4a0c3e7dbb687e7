/* partition.c - lower and upper bounds on ln Z(w) of every word. */
#include "audit/partition.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "space/integer_math.h"

#include <mpfr.h>

enum { WORDS_PER_TASK = 512, LANES = 8, CHUNK = 1024 };
_Static_assert(PROFILE_POINTS % LANES == 0, "whole lanes");

/* The factors for the points of a profile: f(p_k) / step, and v_k / step (partition.h). */
typedef struct point_values {
    double most[PROFILE_POINTS], least[PROFILE_POINTS];
} point_values;

typedef struct task_context {
    const profile *profile;
    const point_values *values;
    partition *out;
} task_context;

static double weight_at(const partition *z, uint32_t id) {
    return z->weights == NULL ? 1 : z->weights[id];
}

/* PRIVACY: a bound on the relative error of a computed Z. Z is a sum of positive terms.
 *   roundings  the most roundings, each of 2^-53, that one term goes through
 *   decays     how many values exp(-x) are factors of one term
 * set_bounds adds two more roundings. Let t be the sum of all these errors. The error of Z,
 * products of errors included, is at most t / (1 - t) (test_margins, test_slack). */
static double slack(uint32_t roundings, uint32_t decays) {
    const double t = (roundings + 2.0) * 0x1p-53 + decays * DECAY_ERROR;
    return t / (1 - t);
}

/* For Z from the profile, the roundings are, in this order:
 *   1          a weight times a part of a step
 *   count - 2  the sum of these over count - 1 words, the first of which is added to 0
 *   2          the value of a point: two exp(-x) multiplied, then divided by the step
 *   1          the product of the number of the profile and this value
 *   lanes      the sums within the lanes, and the sum of the lanes
 *   1          adding the word itself */
static double slack_of_profile(uint32_t count) {
    const uint32_t lanes = PROFILE_POINTS / LANES - 1 + LANES - 1;
    return slack(1 + (count - 2) + 2 + 1 + lanes + 1, 2);
}

/* For Z summed word by word: a weight times exp(-x), and the sums. */
static double slack_of_sum(uint32_t count) {
    return slack(1 + (count - 1), 1);
}

/* exp(-x^2/8), x in steps of 2^-36, rounded down. */
static double hoeffding(const decay *d, uint64_t x) {
    const uint128 square = (uint128)x * x >> (EXPONENT_BITS + 3);
    const uint64_t most = (uint64_t)EXPONENT_MAX_UNITS << EXPONENT_BITS;
    return square >= most ? 0 : decay_at(d, (uint64_t)square + 1);
}

static void set_values(const partition *z, const profile *p, point_values *v) {
    const exponent *e = &z->exponent;
    const double flat = decay_at(&z->decay, exponent_at(e, e->gamma));
    const double below = hoeffding(&z->decay, exponent_at(e, p->step));
    for (uint32_t k = 0; k < PROFILE_POINTS; k++) {
        const uint64_t point = (uint64_t)k * p->step;
        const tem_dist cut = point < e->gamma ? (tem_dist)point : e->gamma;
        const double value = decay_at(&z->decay, exponent_at(e, cut));
        double least = point > e->gamma ? flat : value * below;
        if (point + p->step > e->gamma && least > flat)
            least = flat;
        v->most[k] = value / p->step;
        v->least[k] = least / p->step;
    }
}

static double product(const double *a, const double *b) {
    double sums[LANES] = {0}, sum = 0;
    for (uint32_t k = 0; k < PROFILE_POINTS; k += LANES)
        for (uint32_t lane = 0; lane < LANES; lane++)
            sums[lane] += a[k + lane] * b[k + lane];
    for (uint32_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

static double logarithm(mpfr_t scratch, double z, mpfr_rnd_t rounding) {
    mpfr_set_d(scratch, z, MPFR_RNDN); /* exact: 53 bits */
    mpfr_log(scratch, scratch, rounding);
    return mpfr_get_d(scratch, rounding);
}

/* Sets the bounds of a word from computed bounds on Z. `error` bounds their relative error, the two
 * roundings in this function included. */
static void set_bounds(partition *z, uint32_t id, double least, double most, double error) {
    mpfr_t scratch;
    mpfr_init2(scratch, 53);
    z->least[id] = logarithm(scratch, least * (1 - error), MPFR_RNDD);
    z->most[id] = logarithm(scratch, most * (1 + error), MPFR_RNDU);
    mpfr_clear(scratch);
}

static void bound_words(void *context, uint64_t item, unsigned thread) {
    (void)thread;
    const task_context *t = context;
    partition *z = t->out;
    const uint32_t first = (uint32_t)item * WORDS_PER_TASK;
    const uint32_t end = z->count - first > WORDS_PER_TASK ? first + WORDS_PER_TASK : z->count;
    for (uint32_t id = first; id < end; id++) {
        const double *numbers = profile_of(t->profile, id);
        const double own = weight_at(z, id);
        set_bounds(z, id, own + product(numbers, t->values->least),
                   own + product(numbers, t->values->most), slack_of_profile(z->count));
    }
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* this thread ends with the loop */
}

tem_status partition_make(const profile *p, const uint32_t *weights, exponent e, const tem_run *run,
                          partition *out, tem_error *error) {
    partition z = {.exponent = e,
                   .weights = weights,
                   .count = p->count,
                   .reach = p->reach,
                   .least = core_alloc(p->count, sizeof *z.least),
                   .most = core_alloc(p->count, sizeof *z.most),
                   .refined = core_alloc_zero(p->count, sizeof *z.refined)};
    point_values *values = core_alloc(1, sizeof *values);
    tem_status status = TEM_OK;
    if (z.least == NULL || z.most == NULL || z.refined == NULL || values == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK) {
        decay_init(&z.decay);
        set_values(&z, p, values);
        task_context t = {p, values, &z};
        const uint64_t tasks = ((uint64_t)p->count + WORDS_PER_TASK - 1) / WORDS_PER_TASK;
        status = core_parallel(run, "summing", tasks, bound_words, &t, error);
    }
    core_free(values);
    if (status == TEM_OK)
        *out = z;
    else
        partition_free(&z);
    return status;
}

void partition_free(partition *z) {
    core_free(z->least);
    core_free(z->most);
    core_free(z->refined);
    z->least = z->most = NULL;
    z->refined = NULL;
}

void partition_refine(partition *z, const space *s, uint32_t id) {
    tem_dist distances[CHUNK];
    double sum = 0;
    for (uint32_t first = 0; first < z->count; first += CHUNK) {
        const uint32_t count = z->count - first < CHUNK ? z->count - first : CHUNK;
        space_distances(s, id, first, count, distances);
        for (uint32_t i = 0; i < count; i++)
            sum += weight_at(z, first + i) *
                   decay_at(&z->decay, exponent_at(&z->exponent, distances[i]));
    }
    set_bounds(z, id, sum, sum, slack_of_sum(z->count));
    z->refined[id] = 1;
}
