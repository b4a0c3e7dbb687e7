/* findings.c - what a mechanism does to words, for a report. */
#include "page/findings.h"

#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double findings_levels[FINDINGS_LEVELS] = {0.5, 0.75, 0.9, 0.95, 0.99, 1};

/* The epsilons of the curve, in parts of the mechanism's. */
static const double around[] = {0.25, 0.5, 0.75, 0.9, 1, 1.25, 1.5, 2, 3};
enum { AROUND = sizeof around / sizeof *around };
_Static_assert(AROUND <= (int)TEM_CURVE_MAX, "the points fit");

typedef struct counted_self {
    double self, frequency;
} counted_self;

static int compare_selves(const void *a, const void *b) {
    const double x = ((const counted_self *)a)->self, y = ((const counted_self *)b)->self;
    return (x > y) - (x < y);
}

/* The least N_w such that the words up to it have this share of all; `words` is in ascending
 * order. The frequencies add up to `sum` but for rounding. */
static double level_of(const counted_self *words, uint32_t count, double sum, double level) {
    double found = 0;
    uint32_t i = 0;
    for (; i + 1 < count; i++) {
        found += words[i].frequency;
        if (found >= (level - 1e-12) * sum)
            break;
    }
    return words[i].self;
}

static void set_levels(const counted_self *words, uint32_t count, double levels[FINDINGS_LEVELS]) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += words[i].frequency;
    for (int i = 0; i < FINDINGS_LEVELS; i++)
        levels[i] = level_of(words, count, sum, findings_levels[i]);
}

/* Orders the words that a text can contain by N_w. */
static tem_status set_selves(tem_findings *f, const tem_accountant *a, const tem_prior *prior,
                             const word_law *laws, tem_error *error) {
    const exposure_group group = accountant_group(a, NULL, 0, 1);
    counted_self *words = core_alloc(group.count, sizeof *words);
    f->selves = core_alloc(group.count, sizeof *f->selves);
    const bool made = words != NULL && f->selves != NULL;
    for (uint32_t i = 0; i < group.count && made; i++)
        words[i] =
            (counted_self){fmin(laws[group.words[i]].self, 1), prior->frequencies[group.words[i]]};
    if (made && group.count > 0) {
        qsort(words, group.count, sizeof *words, compare_selves);
        set_levels(words, group.count, f->of_text);
        for (uint32_t i = 0; i < group.count; i++) {
            f->selves[i] = words[i].self;
            words[i].frequency = 1;
        }
        set_levels(words, group.count, f->of_vocabulary);
        f->self_count = group.count;
    }
    core_free(words);
    return made ? TEM_OK : core_fail_memory(error);
}

static double largest(const double *values, uint32_t count) {
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

/* ---- the curve ---- */

static void add_point(tem_findings *f, double epsilon, const tem_summary *summary) {
    f->curve_epsilon[f->curve_count] = epsilon;
    f->curve_guess[f->curve_count] = fmin(summary->bayes, 1);
    f->curve_self[f->curve_count++] = fmin(summary->self_median, 1);
}

/* Adds the point of another epsilon, unless no mechanism exists there. */
static tem_status compute_point(tem_findings *f, const tem_accountant *a, const tem_prior *prior,
                                double epsilon, const tem_run *run, tem_error *error) {
    const tem_mechanism_options options = {
        .mechanism = f->info.properties->name,
        .epsilon = epsilon,
        .beta = f->info.beta,
        .gamma = f->info.properties->takes_gamma && !(f->info.beta > 0) ? f->info.gamma : 0,
        .weights = f->mechanism->has_own_weights ? mechanism_weights(f->mechanism) : NULL};
    tem_mechanism *other = NULL;
    tem_summary summary;
    tem_status status = mechanism_create(f->mechanism->model, &options, &other, error);
    if (status == TEM_ERR_RANGE)
        return TEM_OK;
    if (status == TEM_OK)
        status = accountant_summarise(a, other, prior, NULL, true, run, &summary, error);
    if (status == TEM_OK)
        add_point(f, epsilon, &summary);
    mechanism_free(other);
    return status;
}

static tem_status set_curve(tem_findings *f, const tem_accountant *a, const tem_findings_options *o,
                            const tem_run *run, tem_error *error) {
    const bool is_certified = f->info.certificate[0] != '\0';
    tem_status status = TEM_OK;
    for (uint32_t i = 0; i < o->curve_count; i++)
        add_point(f, o->curve[i].epsilon, &o->curve[i].summary);
    for (int i = 0; i < AROUND && o->curve_count == 0 && !is_certified && status == TEM_OK; i++)
        if (around[i] < 1 || around[i] > 1)
            status = compute_point(f, a, o->prior,
                                   number_round_down(f->info.epsilon * around[i], 4), run, error);
        else
            add_point(f, f->info.epsilon, &f->summary);
    return status;
}

/* ---- all numbers ---- */

static tem_status set_words(tem_findings *f, const tem_accountant *a, const tem_findings_options *o,
                            const tem_run *run, tem_error *error) {
    word_law *laws = core_alloc(a->model->words.count, sizeof *laws);
    f->probes = core_alloc(o->probe_count, sizeof *f->probes);
    tem_status status =
        laws == NULL || f->probes == NULL
            ? core_fail_memory(error)
            : accountant_summarise_words(a, &f->drawn, o->prior, run, laws, &f->summary, error);
    if (status == TEM_OK)
        status = set_selves(f, a, o->prior, laws, error);
    if (status == TEM_OK)
        status = accountant_take_exposed(a, &f->drawn, o->prior, laws, NULL, 0, f->exposed,
                                         FINDINGS_EXPOSED, &f->exposed_count, error);
    if (status == TEM_OK && o->probe_count > 0)
        status = accountant_take_exposed(a, &f->drawn, o->prior, laws, o->probes,
                                         (uint32_t)o->probe_count, f->probes,
                                         (uint32_t)o->probe_count, &f->probe_count, error);
    core_free(laws);
    return status;
}

static tem_status set_numbers(tem_findings *f, const tem_accountant *a,
                              const tem_findings_options *o, const tem_run *run, tem_error *error) {
    tem_status status = accountant_audit(a, &f->drawn, run, &f->audit, error);
    if (status == TEM_OK)
        status = set_words(f, a, o, run, error);
    if (status == TEM_OK)
        status = set_curve(f, a, o, run, error);
    f->chance = largest(o->prior->frequencies, o->prior->count);
    f->has_numbers = status == TEM_OK;
    return status;
}

static tem_status compute(tem_findings *f, const tem_findings_options *o, const tem_run *run,
                          tem_error *error) {
    tem_accountant *own = NULL;
    tem_status status = model_nearest_median(f->mechanism->model, &f->nearest, error);
    if (status == TEM_OK && o->public_text != NULL)
        status = context_exposure(f->mechanism, o->public_text, TEM_CONTEXT_PLACES_DEFAULT, run,
                                  &f->context, f->places, FINDINGS_PLACES, &f->place_count, error);
    if (status != TEM_OK)
        return status;
    f->has_context = o->public_text != NULL;
    if (!mechanism_is_exponential(&f->drawn)) {
        /* Both stay NaN if the mechanism's law cannot be computed. */
        mechanism_self_median(&f->drawn, &f->estimated_median, NULL);
        mechanism_self_quantile(&f->drawn, TEM_SELF_QUANTILE, &f->estimated_exposed, NULL);
        return TEM_OK;
    }
    if (o->accountant == NULL)
        status = accountant_create(f->mechanism->model, mechanism_weights(f->mechanism), run, &own,
                                   error);
    if (status == TEM_OK)
        status = set_numbers(f, own != NULL ? own : o->accountant, o, run, error);
    accountant_free(own);
    return status;
}

static char *copy_text(const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *copy = core_alloc(bytes, 1);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

tem_status findings_create(const tem_mechanism *mechanism, const tem_findings_options *options,
                           const tem_run *run, tem_findings **findings, tem_error *error) {
    const char *missing = options->missing_probes != NULL ? options->missing_probes : "";
    tem_findings *f = core_alloc_zero(1, sizeof *f);
    if (f != NULL)
        *f = (tem_findings){.mechanism = mechanism,
                            .prior_name = copy_text(options->prior_name),
                            .missing_probes = copy_text(missing),
                            .estimated_median = NAN,
                            .estimated_exposed = NAN};
    tem_status status = f == NULL || f->prior_name == NULL || f->missing_probes == NULL
                            ? core_fail_memory(error)
                            : TEM_OK;
    if (status == TEM_OK) {
        f->drawn = *mechanism;
        f->drawn.remap = NULL;
        mechanism_get_info(mechanism, &f->info);
        model_get_info(mechanism->model, &f->model);
        status = compute(f, options, run, error);
    }
    if (status == TEM_OK)
        *findings = f;
    else
        findings_free(f);
    return status;
}

void findings_free(tem_findings *f) {
    if (f == NULL)
        return;
    core_free(f->prior_name);
    core_free(f->missing_probes);
    core_free(f->selves);
    core_free(f->probes);
    core_free(f);
}
