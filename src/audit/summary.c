/* summary.c - the effects of a mechanism on words that occur with given probabilities.
 *
 * The profile of w has a number G_k at each point p_k: a sum of hat functions of the distances of
 * all words. Choose a factor F_k for each point, and form the sum of G_k F_k / step. If the words
 * of a cell are evenly spread over it, each of them adds (F_k + F_(k+1)) / 2 on average. That is
 * the mean of exp(-s d) over the cell for
 *
 *     F_k = exp(-s p_k) tanh(y)/y,   y = s h / 2,  h the width of a cell,
 *
 * and the mean of d exp(-s d) for -dF_k/ds. Beyond gamma both means are constant. In the cell that
 * contains gamma the mean would be wrong; half of the correction is added to the factor at each end
 * of the cell. The number of words beyond gamma jumps inside this cell, so its factors also correct
 * for the slope of the words' density. */
#include "audit/summary.h"

#include "audit/pair_matrix.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>

enum {
    FEW_WORDS = 2048, /* at most this many words are all computed exactly: 4 million pairs are
                       * quick */
    SAMPLE = 64,      /* at most this many words are compared with their exact results */
    EXPOSED = 2,      /* and these: the words whose N_w and S_w are self_exposed and
                       * support_exposed */
    TILE = 256        /* distances computed at a time */
};

/* The error that is allowed for a number of a sampled word: relative, or in ln S_w. It is a quarter
 * of the error that tem_account.h promises. `beyond` is at most beta, 0.001 as a rule, unless the
 * caller gives gamma. */
static const double tolerance = 2.5e-4, beyond_tolerance = 2.5e-7;

typedef struct sortable {
    double value, frequency;
} sortable;

/* The data that all threads share. */
typedef struct summary_work {
    const summary_source *source;
    summary_factors factors;
    bool exactly; /* every word one output at a time, however long it takes */
    word_law *laws;
    uint32_t sample[SAMPLE + EXPOSED];
    uint32_t quantiles[SAMPLE + EXPOSED]; /* how many quantiles of the frequencies the word stands
                                           * for */
    word_law sampled[SAMPLE + EXPOSED];   /* computed exactly */
    uint32_t samples;
    exposure_rank *ranks;      /* scratch, one per word of the group */
    uint32_t exposed[EXPOSED]; /* by N_w and by S_w; TEM_NO_WORD: the group has no words */
} summary_work;

static double units(tem_dist d) {
    return (double)d / TEM_DIST_ONE;
}

static double slope(const summary_source *q) {
    return exponent_s_value(q->exponent->s);
}

/* --------------------------------------------------- one output at a time -- */

static void add_output(const summary_source *q, uint32_t y, tem_dist d, summary_sums *sums) {
    const uint32_t weight = weights_at(q->weights, y);
    const tem_dist cut = d < q->exponent->gamma ? d : q->exponent->gamma;
    const double mass = weight * exp(-ldexp((double)exponent_at(q->exponent, d), -EXPONENT_BITS));
    if (weight == 0)
        return;
    sums->total += mass;
    sums->moment += mass * units(cut);
    sums->logs += weight == 1 ? 0 : mass * log(weight);
    sums->beyond += d > q->exponent->gamma ? mass : 0;
}

summary_sums summary_sum_exactly(const summary_source *q, uint32_t word) {
    summary_sums sums = {0};
    tem_dist distances[TILE];
    for (uint32_t first = 0; first < q->space->count; first += TILE) {
        const uint32_t left = q->space->count - first, count = left < TILE ? left : TILE;
        space_distances(q->space, word, first, count, distances);
        for (uint32_t i = 0; i < count; i++)
            add_output(q, first + i, distances[i], &sums);
    }
    return sums;
}

/* -------------------------------------------------------- by the profile -- */

/* tanh(y)/y, and its derivative; a series for small y, where the formula would cancel. */
static double tanh_ratio(double y) {
    return tanh(y) / y;
}

static double tanh_ratio_slope(double y) {
    if (y < 0.05)
        return y * (-2.0 / 3 + y * y * (8.0 / 15 - y * y * (34.0 / 105)));
    const double t = tanh(y);
    return ((1 - t * t) * y - t) / (y * y);
}

/* The means of exp(-s m) and m exp(-s m) over the cell that begins at p and contains gamma.
 * Simpson's rule, since the closed formula would cancel. */
static void average_cell(double s, double p, double gamma, double width, double *total,
                         double *moment) {
    enum { INTERVALS = 64 };
    const double inside = (gamma - p) / width;
    *total = (1 - inside) * exp(-s * gamma);
    *moment = *total * gamma;
    for (int i = 0; i <= INTERVALS; i++) {
        const double m = p + (gamma - p) * i / INTERVALS;
        const double rule = i == 0 || i == INTERVALS ? 1 : i % 2 == 1 ? 4 : 2;
        const double mass = exp(-s * m) * rule / (3 * INTERVALS) * inside;
        *total += mass;
        *moment += mass * m;
    }
}

/* Corrects the factors at both ends of the cell k, which contains gamma, so that the mean is
 * right. */
static void mend_cell(summary_factors *f, uint32_t k, double s, double p, double gamma,
                      double width) {
    double total = 0, moment = 0;
    average_cell(s, p, gamma, width, &total, &moment);
    const double t = (gamma - p) / width;
    const double more_total = (total - (f->total[k] + f->total[k + 1]) / 2) / 2;
    const double more_moment = (moment - (f->moment[k] + f->moment[k + 1]) / 2) / 2;
    const double more_beyond = (0.5 - t) / 2, density = t * (1 - t) / 2 - 1.0 / 12;
    const double edge = exp(-s * gamma);
    for (uint32_t i = k; i <= k + 1; i++) {
        f->total[i] += more_total;
        f->moment[i] += more_moment;
        f->beyond[i] += (more_beyond + (i == k ? -density : density)) * edge;
    }
}

static void set_thirds(double s, summary_factors *f) {
    for (int third = 0; third < 3; third++)
        for (int i = 0; i < 1 << SUMMARY_THIRD_BITS; i++)
            f->thirds[third][i] = exp(-s * ldexp(i, third * SUMMARY_THIRD_BITS) / TEM_DIST_ONE);
}

static double decay_by_thirds(const summary_factors *f, tem_dist d) {
    const uint32_t mask = (1 << SUMMARY_THIRD_BITS) - 1;
    return f->thirds[0][d & mask] * f->thirds[1][d >> SUMMARY_THIRD_BITS & mask] *
           f->thirds[2][d >> 2 * SUMMARY_THIRD_BITS];
}

void summary_set_factors(const summary_source *q, summary_factors *f) {
    set_thirds(slope(q), f);
    const double s = slope(q), width = units(q->profile->step), y = s * width / 2;
    const double gamma = units(q->exponent->gamma), edge = exp(-s * gamma);
    const double ratio = tanh_ratio(y), ratio_slope = tanh_ratio_slope(y) * width / 2;
    const uint32_t last = (q->exponent->gamma - 1) / q->profile->step; /* point before gamma */
    f->edge = last;
    for (uint32_t k = 0; k < PROFILE_POINTS; k++) {
        const double p = k * width, value = exp(-s * p);
        const bool within = k <= last;
        f->total[k] = within ? value * ratio : edge;
        f->moment[k] = within ? value * (p * ratio - ratio_slope) : edge * gamma;
        f->beyond[k] = within ? 0 : edge;
    }
    if (last + 1 < PROFILE_POINTS)
        mend_cell(f, last, s, last * width, gamma, width);
}

/* The sum of values[k] factors[k] for k from `first` to `end` - 1. LANES sums at a time: the
 * additions of a single sum would wait for each other. */
static double sum_products(const double *values, const double *factors, uint32_t first,
                           uint32_t end) {
    enum { LANES = 4 };
    double sums[LANES] = {0}, sum = 0;
    for (; first + LANES <= end; first += LANES)
        for (uint32_t lane = 0; lane < LANES; lane++)
            sums[lane] += values[first + lane] * factors[first + lane];
    for (; first < end; first++)
        sum += values[first] * factors[first];
    for (uint32_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

/* Adds the sums over the profile from the point `first` on. `nearer` is the part of the number at
 * `first` that comes from words before that point, and is left out. */
static void add_profile(const summary_source *q, const summary_factors *f, uint32_t word,
                        uint32_t first, double nearer, summary_sums *sums) {
    const double *values = profile_of(q->profile, word);
    const double step = q->profile->step;
    const uint32_t end = q->profile->used, next = first + 1;
    if (first >= end)
        return;
    const double here = values[first] - nearer;
    sums->total += (here * f->total[first] + sum_products(values, f->total, next, end)) / step;
    sums->moment += (here * f->moment[first] + sum_products(values, f->moment, next, end)) / step;
    sums->beyond += (here * f->beyond[first] +
                     sum_products(values, f->beyond, next > f->edge ? next : f->edge, end)) /
                    step;
}

/* The list has every word that is nearer than its bound, so the words of all cells before the cell
 * of the bound are known one by one. */
summary_sums summary_sum_by_profile(const summary_source *q, const summary_factors *f,
                                    uint32_t word) {
    const uint32_t step = q->profile->step;
    tem_neighbours near = {0};
    summary_sums sums = {0};
    add_output(q, word, 0, &sums);
    /* check_lists has checked that every list can be read. */
    if (neighbours_get(q->index, word, &near, NULL) != TEM_OK)
        near.count = 0;
    const uint32_t first = near.bound / step < PROFILE_POINTS ? near.bound / step : PROFILE_POINTS;
    double nearer = 0;
    for (uint32_t i = 0; i < near.count && near.list[i].distance / step < first; i++) {
        const tem_dist d = near.list[i].distance;
        if (near.list[i].id == word)
            continue;
        const tem_dist cut = d < q->exponent->gamma ? d : q->exponent->gamma;
        const double weight = weights_at(q->weights, near.list[i].id);
        const double mass = weight * decay_by_thirds(f, cut);
        sums.total += mass;
        sums.moment += mass * units(cut);
        sums.beyond += d > q->exponent->gamma ? mass : 0;
        nearer += d / step + 1 == first ? weight * (d % step) : 0;
    }
    add_profile(q, f, word, first, nearer, &sums);
    return sums;
}

/* -------------------------------------------------------------- one word -- */

static word_law law_of(const summary_source *q, uint32_t word, const summary_sums *sums) {
    const double mean = sums->moment / sums->total;
    return (word_law){.log_total = log(sums->total),
                      .self = weights_at(q->weights, word) / sums->total,
                      .entropy = log(sums->total) + slope(q) * mean - sums->logs / sums->total,
                      .distance = mean,
                      .beyond =
                          fmax(0, sums->beyond / sums->total)}; /* rounding may make it negative */
}

word_law summary_law_exactly(const summary_source *q, uint32_t word) {
    const summary_sums sums = summary_sum_exactly(q, word);
    return law_of(q, word, &sums);
}

/* ------------------------------------------------- in one pass over all pairs -- */

/* Numbers of all words. Masses are in units of 2^32, so that they are below 1. */
typedef struct all_words {
    pair_matrix matrix;
    float *mass, *log_mass, *nothing; /* a, a ln a, 0 */
    float *z, *m, *beyond, *logs;
    double far; /* the distance at which the pass counts the word itself */
} all_words;

static tem_status all_words_init(all_words *x, const summary_source *q, const tem_run *run,
                                 tem_error *error) {
    const tem_status status =
        pair_matrix_make(q->space, q->index, q->reach, 0, run, &x->matrix, error);
    float **const vectors[] = {&x->mass, &x->log_mass, &x->nothing, &x->z,
                               &x->m,    &x->beyond,   &x->logs};
    bool made = status == TEM_OK;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors && made; i++)
        made = (*vectors[i] = pair_vector(&x->matrix)) != NULL;
    return status != TEM_OK || made ? status : core_fail_memory(error);
}

static void all_words_free(all_words *x) {
    float *const vectors[] = {x->mass, x->log_mass, x->nothing, x->z, x->m, x->beyond, x->logs};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        core_free(vectors[i]);
    pair_matrix_free(&x->matrix);
}

/* Computes the sums of a word from the pass. Where there is little noise the word itself is nearly
 * certain, so it is added here in double precision. The pass counts the word itself at the distance
 * x->far, with the factor `edge`; that is subtracted. */
static summary_sums sums_of(const summary_source *q, const all_words *x, uint32_t word,
                            double edge) {
    const uint32_t weight = weights_at(q->weights, word);
    const double own = weight * edge;
    summary_sums sums = {0};
    add_output(q, word, 0, &sums);
    sums.total += ldexp(x->z[word], 32) - own;
    sums.moment += ldexp(x->m[word], 32) - own * x->far;
    sums.logs += ldexp(x->logs[word], 32) - (weight > 1 ? own * log(weight) : 0);
    if (q->exponent->gamma < q->reach)
        sums.beyond += ldexp(x->beyond[word], 32) - own;
    return sums;
}

tem_status summary_sum_all(const summary_source *q, const tem_run *run, summary_sums *sums,
                           tem_error *error) {
    const double s = slope(q), gamma = units(q->exponent->gamma);
    all_words x = {0};
    tem_status status = all_words_init(&x, q, run, error);
    for (uint32_t y = 0; y < q->space->count && status == TEM_OK; y++) {
        const uint32_t weight = weights_at(q->weights, y);
        x.mass[y] = (float)weight * 0x1p-32f;
        x.log_mass[y] = weight > 0 ? x.mass[y] * (float)log(weight) : 0;
    }
    const pair_call call = {&x.matrix, s, gamma, run, true};
    const pair_side words = {.a = x.mass,
                             .p = x.nothing,
                             .h = x.log_mass,
                             .z = x.z,
                             .m = x.m,
                             .q = x.beyond,
                             .gradient = x.logs};
    if (status == TEM_OK)
        status = pair_stream_beyond(&call, &words, error);
    x.far = fmin(x.matrix.reach, gamma);
    for (uint32_t word = 0; word < q->space->count && status == TEM_OK; word++)
        sums[word] = sums_of(q, &x, word, exp(-s * x.far));
    all_words_free(&x);
    return status;
}

/* ------------------------------------------------------------- all words -- */

static void summarise_word(void *context, uint64_t item, unsigned thread) {
    summary_work *w = context;
    const uint32_t word = (uint32_t)item;
    (void)thread;
    if (w->exactly) {
        w->laws[word] = summary_law_exactly(w->source, word);
        return;
    }
    const summary_sums sums = summary_sum_by_profile(w->source, &w->factors, word);
    w->laws[word] = law_of(w->source, word, &sums);
}

static tem_status summarise_all(summary_work *w, const tem_run *run, tem_error *error) {
    const uint32_t count = w->source->space->count;
    summary_sums *sums = core_alloc(count, sizeof *sums);
    const tem_status status =
        sums == NULL ? core_fail_memory(error) : summary_sum_all(w->source, run, sums, error);
    for (uint32_t word = 0; word < count && status == TEM_OK; word++)
        w->laws[word] = law_of(w->source, word, &sums[word]);
    core_free(sums);
    return status;
}

static void summarise_sample(void *context, uint64_t item, unsigned thread) {
    summary_work *w = context;
    (void)thread;
    w->sampled[item] = summary_law_exactly(w->source, w->sample[item]);
}

/* Chooses the words at evenly spaced quantiles of the frequencies. */
static void choose_sample(summary_work *w) {
    const uint32_t count = w->source->space->count;
    double sum = w->source->frequencies[0];
    uint32_t id = 0;
    for (int i = 0; i < SAMPLE; i++) {
        while (sum < (i + 0.5) / SAMPLE && id + 1 < count)
            sum += w->source->frequencies[++id];
        if (w->samples == 0 || w->sample[w->samples - 1] != id)
            w->sample[w->samples++] = id;
        w->quantiles[w->samples - 1]++;
    }
}

/* Finds the word of the group whose N_w, and the one whose S_w, the summary reports. */
static void find_exposed(summary_work *w) {
    const exposure_group *group = &w->source->group;
    w->exposed[0] = exposure_at(w->laws, group, TEM_TARGET_SELF, w->ranks);
    w->exposed[1] = exposure_at(w->laws, group, TEM_TARGET_SUPPORT, w->ranks);
}

/* Adds the words that find_exposed has found to the sample: rare words may be among them, for which
 * the other words of the sample do not stand. */
static void add_exposed(summary_work *w) {
    for (int i = 0; i < EXPOSED; i++)
        if (w->exposed[i] != TEM_NO_WORD)
            w->sample[w->samples++] = w->exposed[i];
}

static bool is_near(double found, double truth, double room) {
    return fabs(found - truth) <= room * fabs(truth);
}

/* Whether the results for the sampled words are within the tolerance. */
static bool sample_agrees(const summary_work *w) {
    double beyond = 0, beyond_truth = 0;
    for (uint32_t i = 0; i < w->samples; i++) {
        const word_law *found = &w->laws[w->sample[i]], *truth = &w->sampled[i];
        if (fabs(found->log_total - truth->log_total) > tolerance ||
            fabs(found->entropy - truth->entropy) > tolerance * fmin(1, truth->entropy) + 1e-12 ||
            !is_near(found->distance, truth->distance, tolerance))
            return false;
        beyond += w->quantiles[i] * found->beyond;
        beyond_truth += w->quantiles[i] * truth->beyond;
    }
    return fabs(beyond - beyond_truth) <= tolerance * beyond_truth + beyond_tolerance * SAMPLE;
}

static tem_status check_lists(const neighbour_index *index, tem_error *error) {
    tem_neighbours near;
    tem_status status = TEM_OK;
    for (uint32_t id = 0; id < index->count && status == TEM_OK; id++)
        status = neighbours_get(index, id, &near, error);
    return status;
}

static tem_status summarise_words(summary_work *w, const tem_run *run, tem_error *error) {
    const uint32_t count = w->source->space->count;
    const bool by_profile = weights_are_equal(w->source->weights);
    w->exactly = count <= FEW_WORDS;
    if (by_profile)
        summary_set_factors(w->source, &w->factors);
    tem_status status = !w->exactly && !by_profile
                            ? summarise_all(w, run, error)
                            : core_parallel(run, "summing", count, summarise_word, w, error);
    if (status == TEM_OK)
        find_exposed(w);
    if (status != TEM_OK || w->exactly)
        return status;
    choose_sample(w);
    add_exposed(w);
    status = core_parallel(run, "comparing", w->samples, summarise_sample, w, error);
    if (status != TEM_OK || sample_agrees(w))
        return status;
    w->exactly = true;
    status = core_parallel(run, "summing one by one", count, summarise_word, w, error);
    if (status == TEM_OK)
        find_exposed(w);
    return status;
}

/* ------------------------------------------------------------ the summary -- */

static int compare_sortable(const void *a, const void *b) {
    const double x = ((const sortable *)a)->value, y = ((const sortable *)b)->value;
    return (x > y) - (x < y);
}

/* The least value such that the words up to it have half of the frequencies. Sorts `values`. */
static double median(sortable *values, uint32_t count) {
    double sum = 0;
    uint32_t i = 0;
    qsort(values, count, sizeof *values, compare_sortable);
    for (; i + 1 < count; i++) {
        sum += values[i].frequency;
        if (sum >= 0.5 - 1e-12) /* the frequencies add up to 1 but for rounding */
            break;
    }
    return values[i].value;
}

static void report_exposed(const summary_work *w, tem_summary *out) {
    const bool any = w->exposed[0] != TEM_NO_WORD;
    out->self_exposed = any ? w->laws[w->exposed[0]].self : NAN;
    out->support_exposed = any ? exp(w->laws[w->exposed[1]].entropy) : NAN;
}

static void average(const summary_work *w, sortable *scratch, tem_summary *out) {
    const uint32_t count = w->source->space->count;
    const double *frequencies = w->source->frequencies;
    *out = (tem_summary){.bayes = NAN};
    for (uint32_t id = 0; id < count; id++) {
        out->self_mean += frequencies[id] * w->laws[id].self;
        out->entropy_mean += frequencies[id] * w->laws[id].entropy;
        out->distance_mean += frequencies[id] * w->laws[id].distance;
        out->beyond_mean += frequencies[id] * w->laws[id].beyond;
    }
    for (uint32_t id = 0; id < count; id++)
        scratch[id] = (sortable){w->laws[id].self, frequencies[id]};
    out->self_median = median(scratch, count);
    for (uint32_t id = 0; id < count; id++)
        scratch[id] = (sortable){w->laws[id].entropy, frequencies[id]};
    out->support_median = exp(median(scratch, count));
    report_exposed(w, out);
}

static tem_status find_bayes(const summary_work *w, const tem_run *run, double *success,
                             tem_error *error) {
    const uint32_t count = w->source->space->count;
    double *log_totals = core_alloc(count, sizeof *log_totals);
    if (log_totals == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < count; id++)
        log_totals[id] = w->laws[id].log_total;
    const tem_status status = bayes_success(w->source, log_totals, run, success, error);
    core_free(log_totals);
    return status;
}

/* Computes the laws of all words into w->laws. */
static tem_status make_laws(summary_work *w, const tem_run *run, tem_error *error) {
    const uint32_t grouped = w->source->group.count;
    w->ranks = core_alloc(grouped > 0 ? grouped : 1, sizeof *w->ranks);
    TRY(w->ranks == NULL ? core_fail_memory(error) : check_lists(w->source->index, error));
    return summarise_words(w, run, error);
}

static void work_free(summary_work *w) {
    if (w != NULL)
        core_free(w->ranks);
    core_free(w);
}

tem_status summary_laws(const summary_source *source, const tem_run *run, word_law *laws,
                        tem_error *error) {
    summary_work *w = core_alloc_zero(1, sizeof *w);
    if (w == NULL)
        return core_fail_memory(error);
    w->source = source;
    w->laws = laws;
    const tem_status status = make_laws(w, run, error);
    work_free(w);
    return status;
}

tem_status summary_make(const summary_source *source, bool with_bayes, const tem_run *run,
                        word_law *laws, tem_summary *out, tem_error *error) {
    const uint32_t count = source->space->count;
    tem_summary made = {0};
    sortable *scratch = core_alloc(count, sizeof *scratch);
    summary_work *w = core_alloc_zero(1, sizeof *w);
    if (w != NULL)
        *w = (summary_work){.source = source, .laws = laws};
    tem_status status =
        w == NULL || scratch == NULL ? core_fail_memory(error) : make_laws(w, run, error);
    if (status == TEM_OK)
        average(w, scratch, &made);
    if (status == TEM_OK && with_bayes)
        status = find_bayes(w, run, &made.bayes, error);
    if (status == TEM_OK)
        *out = made;
    work_free(w);
    core_free(scratch);
    return status;
}
