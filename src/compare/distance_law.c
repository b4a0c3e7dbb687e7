/* distance_law.c - fits a law that depends on the distance alone. */
#include "compare/distance_law.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = DISTANCE_KNOTS + 1, SELF = DISTANCE_KNOTS, STEPS_MAX = 100 };

/* The penalty on second differences, in pairs: a bend of 1 in ln f costs as much as one pair whose
 * likelihood falls by this factor of e. */
static const double bend_cost = 2;

/* A fit in progress. theta[j] is ln f at the knot j, theta[SELF] is ln f_self. */
typedef struct law_fit {
    const profile *profile;
    const uint32_t *outputs;
    uint32_t knots[DISTANCE_KNOTS]; /* points, ascending, all different */
    uint32_t knot_count;
    uint32_t left[PROFILE_POINTS]; /* the knot at or before a point */
    double share[PROFILE_POINTS];  /* of the knot after it in the point's ln f */
    double observed[SIZE];         /* sums of the hats over the pairs */
    uint32_t *words;               /* the different words of the pairs, */
    double *counts;                /* and how often each was drawn */
    uint32_t word_count;
    double theta[SIZE];
} law_fit;

static bool is_output(const law_fit *fit, uint32_t word) {
    return fit->outputs == NULL || fit->outputs[word] > 0;
}

static int compare_points(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Puts knots at the ends of the profile and at quantiles of the pairs' points, which it sorts. */
static void place_knots(law_fit *fit, uint32_t *points, uint64_t count) {
    const uint32_t last = fit->profile->used > 1 ? fit->profile->used - 1 : 1;
    qsort(points, count, sizeof *points, compare_points);
    fit->knots[fit->knot_count++] = 0;
    for (uint32_t i = 1; i + 1 < DISTANCE_KNOTS && count > 0; i++) {
        const uint32_t point = points[(count - 1) * i / (DISTANCE_KNOTS - 1)];
        if (point > fit->knots[fit->knot_count - 1] && point < last)
            fit->knots[fit->knot_count++] = point;
    }
    fit->knots[fit->knot_count++] = last;
}

static void place_points(law_fit *fit) {
    uint32_t j = 0;
    for (uint32_t k = 0; k < PROFILE_POINTS; k++) {
        while (j + 2 < fit->knot_count && k >= fit->knots[j + 1])
            j++;
        const double width = fit->knots[j + 1] - fit->knots[j];
        fit->left[k] = j;
        fit->share[k] = fmin((k - fit->knots[j]) / width, 1);
    }
}

static double log_at(const law_fit *fit, uint32_t point) {
    const uint32_t j = fit->left[point];
    return fit->theta[j] + fit->share[point] * (fit->theta[j + 1] - fit->theta[j]);
}

static void observe(law_fit *fit, double point) {
    const uint32_t cell =
        (uint32_t)point < PROFILE_POINTS - 1 ? (uint32_t)point : PROFILE_POINTS - 2;
    for (uint32_t side = 0; side < 2; side++) {
        const double part = side == 0 ? 1 - (point - cell) : point - cell;
        const uint32_t j = fit->left[cell + side];
        fit->observed[j] += part * (1 - fit->share[cell + side]);
        fit->observed[j + 1] += part * fit->share[cell + side];
    }
}

/* The derivatives of the log likelihood at the current theta. */
typedef struct law_slopes {
    double value, gradient[SIZE], curvature[SIZE][SIZE]; /* the negative second derivatives */
} law_slopes;

/* Takes one word's part: -count * ln Z(w), and its derivatives. */
static void add_word(const law_fit *fit, const double *f, uint32_t word, double count,
                     law_slopes *out) {
    const double *cells = profile_of(fit->profile, word);
    double mean[SIZE] = {0}, square[SIZE] = {0}, beside[SIZE] = {0};
    mean[SELF] = square[SELF] = is_output(fit, word) ? exp(fit->theta[SELF]) : 0;
    double total = mean[SELF];
    for (uint32_t k = 0; k < fit->profile->used; k++) {
        const double mass = cells[k] / fit->profile->step * f[k], share = fit->share[k];
        const uint32_t j = fit->left[k];
        total += mass;
        mean[j] += mass * (1 - share);
        mean[j + 1] += mass * share;
        square[j] += mass * (1 - share) * (1 - share);
        square[j + 1] += mass * share * share;
        beside[j] += mass * share * (1 - share);
    }
    if (!(total > 0))
        return;
    out->value -= count * log(total);
    for (uint32_t a = 0; a < SIZE; a++) {
        out->gradient[a] -= count * mean[a] / total;
        out->curvature[a][a] += count * square[a] / total;
        if (a + 1 < SIZE) {
            out->curvature[a][a + 1] += count * beside[a] / total;
            out->curvature[a + 1][a] += count * beside[a] / total;
        }
        for (uint32_t b = 0; b < SIZE; b++)
            out->curvature[a][b] -= count * (mean[a] / total) * (mean[b] / total);
    }
}

/* Takes the penalty on bends, per unit of the mean distance between knots. */
static void add_penalty(const law_fit *fit, law_slopes *out) {
    const double usual = (double)fit->knots[fit->knot_count - 1] / (fit->knot_count - 1);
    for (uint32_t j = 1; j + 1 < fit->knot_count; j++) {
        const double before = usual / (fit->knots[j] - fit->knots[j - 1]),
                     after = usual / (fit->knots[j + 1] - fit->knots[j]);
        const double factors[3] = {before, -before - after, after};
        double bend = 0;
        for (uint32_t i = 0; i < 3; i++)
            bend += factors[i] * fit->theta[j - 1 + i];
        out->value -= bend_cost / 2 * bend * bend;
        for (uint32_t i = 0; i < 3; i++) {
            out->gradient[j - 1 + i] -= bend_cost * bend * factors[i];
            for (uint32_t k = 0; k < 3; k++)
                out->curvature[j - 1 + i][j - 1 + k] += bend_cost * factors[i] * factors[k];
        }
    }
}

static void find_slopes(const law_fit *fit, law_slopes *out) {
    double f[PROFILE_POINTS];
    *out = (law_slopes){0};
    for (uint32_t k = 0; k < PROFILE_POINTS; k++)
        f[k] = exp(log_at(fit, k));
    for (uint32_t a = 0; a < SIZE; a++) {
        out->value += fit->observed[a] * fit->theta[a];
        out->gradient[a] = fit->observed[a];
    }
    for (uint32_t i = 0; i < fit->word_count; i++)
        add_word(fit, f, fit->words[i], fit->counts[i], out);
    add_penalty(fit, out);
    for (uint32_t a = 0; a < SIZE; a++)
        out->curvature[a][a] += 1e-6; /* a common factor of f changes nothing: hold it */
}

/* Solves curvature * step = gradient by Cholesky. Leaves the step 0 if the matrix is not
 * positive. */
static void find_step(law_slopes *d, double step[SIZE]) {
    double(*l)[SIZE] = d->curvature;
    memset(step, 0, SIZE * sizeof *step);
    for (uint32_t i = 0; i < SIZE; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = l[i][j];
            for (uint32_t k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 0))
                return;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    for (uint32_t i = 0; i < SIZE; i++) {
        double sum = d->gradient[i];
        for (uint32_t k = 0; k < i; k++)
            sum -= l[i][k] * step[k];
        step[i] = sum / l[i][i];
    }
    for (uint32_t i = SIZE; i-- > 0;) {
        double sum = step[i];
        for (uint32_t k = i + 1; k < SIZE; k++)
            sum -= l[k][i] * step[k];
        step[i] = sum / l[i][i];
    }
}

/* Keeps exp within the range of a double, and a single step short. */
static void move(law_fit *fit, const double *from, const double *step, double length) {
    for (uint32_t a = 0; a < SIZE; a++)
        fit->theta[a] = fmax(from[a] + length * fmax(-20, fmin(20, step[a])), -300);
}

/* Newton's method; a step that does not raise the likelihood is halved. */
static void climb(law_fit *fit) {
    law_slopes now, next;
    double from[SIZE], step[SIZE];
    find_slopes(fit, &now);
    for (int i = 0; i < STEPS_MAX; i++) {
        double length = 1;
        memcpy(from, fit->theta, sizeof from);
        find_step(&now, step);
        for (move(fit, from, step, length), find_slopes(fit, &next);
             !(next.value >= now.value) && length > 1e-4; find_slopes(fit, &next))
            move(fit, from, step, length /= 4);
        if (!(next.value > now.value)) {
            memcpy(fit->theta, from, sizeof from);
            return;
        }
        const bool done = next.value - now.value < 1e-3;
        now = next;
        if (done)
            return;
    }
}

/* The largest f becomes 1. Beyond the last knot no word lies; f stays as it is there. */
static void take_law(const law_fit *fit, distance_law *out) {
    double most = fit->theta[SELF];
    *out = (distance_law){.profile = fit->profile, .outputs = fit->outputs};
    for (uint32_t k = 0; k < PROFILE_POINTS; k++)
        most = fmax(most, log_at(fit, k));
    out->self = exp(fit->theta[SELF] - most);
    for (uint32_t k = 0; k < PROFILE_POINTS; k++)
        out->at[k] = exp(log_at(fit, k) - most);
    double largest = 0;
    for (uint32_t k = PROFILE_POINTS; k-- > 0;)
        out->most_from[k] = largest = fmax(largest, out->at[k]);
}

/* Counts the words of the pairs, and the hats of their distances. */
static void count_pairs(law_fit *fit, const space *s, const drawn_pair *pairs, uint64_t count,
                        uint32_t *points) {
    uint64_t others = 0;
    for (uint64_t i = 0; i < count; i++)
        if (pairs[i].word != TEM_NO_WORD && pairs[i].word != pairs[i].output)
            points[others++] =
                space_distance(s, pairs[i].word, pairs[i].output) / fit->profile->step;
    place_knots(fit, points, others);
    place_points(fit);
    for (uint64_t i = 0; i < count; i++)
        if (pairs[i].word == pairs[i].output)
            fit->observed[SELF]++;
        else if (pairs[i].word != TEM_NO_WORD)
            observe(fit,
                    (double)space_distance(s, pairs[i].word, pairs[i].output) / fit->profile->step);
}

static void count_words(law_fit *fit, const drawn_pair *pairs, uint64_t count, double *by_word) {
    for (uint64_t i = 0; i < count; i++)
        if (pairs[i].word != TEM_NO_WORD)
            by_word[pairs[i].word]++;
    for (uint32_t word = 0; word < fit->profile->count; word++)
        if (by_word[word] > 0) {
            fit->words[fit->word_count] = word;
            fit->counts[fit->word_count++] = by_word[word];
        }
}

tem_status distance_law_learn(const space *s, const profile *known, const uint32_t *outputs,
                              const drawn_pair *pairs, uint64_t count, distance_law *out,
                              tem_error *error) {
    law_fit fit = {.profile = known,
                   .outputs = outputs,
                   .words = core_alloc(s->count, sizeof *fit.words),
                   .counts = core_alloc(s->count, sizeof *fit.counts)};
    uint32_t *points = core_alloc(count, sizeof *points);
    double *by_word = core_alloc_zero(s->count, sizeof *by_word);
    const bool made = fit.words != NULL && fit.counts != NULL && points != NULL && by_word != NULL;
    if (made) {
        count_pairs(&fit, s, pairs, count, points);
        count_words(&fit, pairs, count, by_word);
        climb(&fit);
        take_law(&fit, out);
    }
    core_free(by_word);
    core_free(points);
    core_free(fit.counts);
    core_free(fit.words);
    return made ? TEM_OK : core_fail_memory(error);
}

double distance_law_total(const distance_law *law, uint32_t word) {
    const double *cells = profile_of(law->profile, word);
    double total = 0;
    for (uint32_t k = 0; k < law->profile->used; k++)
        total += cells[k] * law->at[k];
    return distance_law_self(law, word) + total / law->profile->step;
}

static double times_log(double f) {
    return f > 0 ? f * log(f) : 0;
}

double distance_law_log_sum(const distance_law *law, uint32_t word) {
    const double *cells = profile_of(law->profile, word);
    double total = 0;
    for (uint32_t k = 0; k < law->profile->used; k++)
        if (cells[k] > 0)
            total += cells[k] * times_log(law->at[k]);
    return times_log(distance_law_self(law, word)) + total / law->profile->step;
}
