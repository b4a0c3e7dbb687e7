/* api_mechanism.c - tem_rng, tem_mechanism and tem_law of tem.h. */
#include "api/certificates.h"
#include "api/given.h"
#include "api/mechanism.h"
#include "api/trusted.h"
#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"
#include "mech/law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tem_status make_rng(tem_rng **rng, tem_rng **made, tem_error *error) {
    if (rng == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the generator is needed");
    *made = core_alloc(1, sizeof **made);
    return *made == NULL ? core_fail_memory(error) : TEM_OK;
}

tem_status tem_rng_create(tem_rng **rng, tem_error *error) {
    tem_rng *made = NULL;
    tem_status status = make_rng(rng, &made, error);
    if (status != TEM_OK)
        return status;
    rng_init_secure(made);
    *rng = made;
    return TEM_OK;
}

tem_status tem_rng_create_insecure(uint64_t seed, uint64_t stream, tem_rng **rng,
                                   tem_error *error) {
    tem_rng *made = NULL;
    tem_status status = make_rng(rng, &made, error);
    if (status != TEM_OK)
        return status;
    rng_init_seeded(made, seed, stream);
    *rng = made;
    return TEM_OK;
}

int tem_rng_is_private(const tem_rng *rng) {
    return rng->source == RNG_SECURE;
}

void tem_rng_free(tem_rng *rng) {
    if (rng == NULL)
        return;
    rng_wipe(rng);
    core_free(rng);
}

static const char *const kind_names[] = {
    [TEM_KIND_TEM] = "tem", [TEM_KIND_EM] = "em", [TEM_KIND_MADLIB] = "madlib"};

const char *tem_kind_name(tem_mechanism_kind kind) {
    return kind >= TEM_KIND_TEM && kind <= TEM_KIND_MADLIB ? kind_names[kind] : "unknown";
}

tem_status tem_kind_parse(const char *name, tem_mechanism_kind *kind, tem_error *error) {
    for (int i = TEM_KIND_TEM; name != NULL && kind != NULL && i <= TEM_KIND_MADLIB; i++)
        if (strcmp(kind_names[i], name) == 0) {
            *kind = (tem_mechanism_kind)i;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT, "the mechanism is tem, em or madlib");
}

const char *mechanism_why_unbounded(const tem_mechanism *m) {
    switch (m->kind) {
    case TEM_KIND_TEM:
    case TEM_KIND_EM:
        return NULL;
    case TEM_KIND_MADLIB:
        return "Madlib is floating point and states no bound between known and unknown words; use "
               "the mechanism tem or em";
    }
    return "the mechanism states no bound; use tem or em";
}

static tem_status check_options(const tem_mechanism_options *o, tem_error *error) {
    if (o->kind != 0 && (o->kind < TEM_KIND_TEM || o->kind > TEM_KIND_MADLIB))
        return core_fail(error, TEM_ERR_ARGUMENT, "the mechanism is tem, em or madlib");
    const bool has_beta = is_given(o->beta);
    const bool has_gamma = is_given(o->gamma);
    if (has_beta && has_gamma)
        return core_fail(error, TEM_ERR_ARGUMENT, "beta or gamma, not both: beta makes a gamma");
    if ((has_beta || has_gamma) && o->kind != 0 && o->kind != TEM_KIND_TEM)
        return core_fail(error, TEM_ERR_ARGUMENT, "beta and gamma belong to the mechanism tem");
    if (o->weights != NULL && o->kind == TEM_KIND_MADLIB)
        return core_fail(error, TEM_ERR_ARGUMENT, "Madlib has no output weights");
    if (o->certificate != NULL && o->kind != 0 && o->kind != TEM_KIND_TEM)
        return core_fail(error, TEM_ERR_ARGUMENT, "a certificate belongs to the mechanism tem");
    return TEM_OK;
}

static tem_status choose_gamma(tem_mechanism *m, const tem_mechanism_options *o, exponent *e,
                               tem_error *error) {
    if (m->kind == TEM_KIND_EM)
        return exponent_gamma_largest(e->s, &e->gamma, error);
    if (is_given(o->gamma))
        return exponent_gamma_given(o->gamma, e->s, &e->gamma, error);
    m->beta = is_given(o->beta) ? o->beta : TEM_BETA_DEFAULT;
    return exponent_gamma_from_beta(m->beta, m->count, e->s, &e->gamma, error);
}

/* s and gamma for epsilon, as the theorem has them, or as a certificate does. */
static tem_status choose_exponent(tem_mechanism *m, const tem_mechanism_options *o, exponent *e,
                                  tem_error *error) {
    if (o->certificate != NULL) {
        m->beta = o->certificate->beta;
        tem_certificate_get_info(o->certificate, &m->certificate);
        return certificate_exponent(m->model, o, e, error);
    }
    const tem_status status = exponent_s(o->epsilon, &e->s, error);
    return status == TEM_OK ? choose_gamma(m, o, e, error) : status;
}

static tem_status make_sampler(tem_mechanism *m, const tem_model *model,
                               const tem_mechanism_options *o, tem_error *error) {
    exponent e = {0, 0};
    tem_status status = choose_exponent(m, o, &e, error);
    if (status == TEM_OK)
        status = sampler_init(&m->sampler, &model->space, &model->index, e,
                              o->certificate != NULL ? o->certificate->weights : o->weights, error);
    return status;
}

tem_status tem_mechanism_create(const tem_model *model, const tem_mechanism_options *options,
                                tem_mechanism **mechanism, tem_error *error) {
    if (model == NULL || options == NULL || mechanism == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, options and a place for the mechanism are needed");
    /* PRIVACY: lists and bounds are as tem_model_verify would find them, or nothing is drawn. */
    tem_status status = trusted_or_refused(model, error);
    if (status == TEM_OK)
        status = check_options(options, error);
    if (status != TEM_OK)
        return status;
    tem_mechanism *m = core_alloc_zero(1, sizeof *m);
    if (m == NULL)
        return core_fail_memory(error);
    m->model = model;
    m->kind = options->kind == 0 ? TEM_KIND_TEM : options->kind;
    m->epsilon = options->epsilon;
    m->count = model->words.count;
    status = m->kind == TEM_KIND_MADLIB
                 ? madlib_init(&m->madlib, &model->space, options->epsilon, error)
                 : make_sampler(m, model, options, error);
    if (status != TEM_OK) {
        tem_mechanism_free(m);
        return status;
    }
    *mechanism = m;
    return TEM_OK;
}

void tem_mechanism_free(tem_mechanism *m) {
    if (m == NULL)
        return;
    sampler_free(&m->sampler);
    madlib_free(&m->madlib);
    core_free(m);
}

/* Beyond gamma the weight of a word is exp(-s gamma) instead of something smaller: at most
 * A exp(-s gamma) in all, as a share of Z(w), which is at least the weight of w itself. */
static double moved_mass(const tem_mechanism *m) {
    if (m->kind != TEM_KIND_EM)
        return 0;
    const exponent *e = &m->sampler.envelopes.exponent;
    uint32_t least = UINT32_MAX;
    for (uint32_t id = 0; id < m->count; id++) {
        const uint32_t weight = weights_at(&m->sampler.envelopes.weights, id);
        least = weight < least ? weight : least;
    }
    const double beyond = exp(-ldexp((double)exponent_at(e, e->gamma), -EXPONENT_BITS));
    return least == 0 ? INFINITY : (double)m->sampler.envelopes.weights.sum * beyond / least;
}

static const char *weights_name(const tem_mechanism *m) {
    if (m->certificate.hash[0] != '\0')
        return m->certificate.weights;
    return m->sampler.envelopes.weights.values == NULL ? "equal" : "own";
}

void tem_mechanism_get_info(const tem_mechanism *m, tem_mechanism_info *info) {
    const exponent *e = &m->sampler.envelopes.exponent;
    const bool bounded = mechanism_why_unbounded(m) == NULL;
    *info = (tem_mechanism_info){
        .kind = m->kind,
        .epsilon = m->epsilon,
        .beta = m->beta,
        .s_steps = e->s,
        .s = exponent_s_value(e->s),
        .gamma_steps = e->gamma,
        .gamma = (double)e->gamma / TEM_DIST_ONE,
        .epsilon_gamma = bounded ? m->epsilon * ((double)e->gamma / TEM_DIST_ONE) : INFINITY,
        .moved_mass = moved_mass(m),
        .weights = weights_name(m),
    };
    memcpy(info->certificate, m->certificate.hash, sizeof info->certificate);
}

const uint32_t *tem_mechanism_weights(const tem_mechanism *m) {
    return m->sampler.envelopes.weights.values;
}

static bool word_exists(const tem_mechanism *m, uint32_t word) {
    return word < m->count || word == TEM_NO_WORD;
}

tem_status tem_mechanism_draw(const tem_mechanism *m, tem_rng *rng, uint32_t word, uint32_t *out,
                              tem_error *error) {
    uint32_t drawn = 0;
    if (out == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the output is needed");
    const tem_status status = tem_mechanism_draw_many(m, rng, &word, &drawn, 1, error);
    if (status == TEM_OK)
        *out = drawn;
    return status;
}

tem_status tem_mechanism_draw_many(const tem_mechanism *m, tem_rng *rng, const uint32_t *words,
                                   uint32_t *out, size_t count, tem_error *error) {
    if (m == NULL || rng == NULL || (count > 0 && (words == NULL || out == NULL)))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a generator, words and a place for the output are needed");
    for (size_t i = 0; i < count; i++)
        if (!word_exists(m, words[i]))
            return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    if (m->kind != TEM_KIND_MADLIB)
        return sampler_draw(&m->sampler, words, count, rng, out, error);
    return madlib_draw(&m->madlib, words, count, rng, out, error);
}

tem_status tem_mechanism_self(const tem_mechanism *m, uint32_t word, double *self,
                              tem_error *error) {
    if (m == NULL || self == NULL || word >= m->count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    if (m->kind == TEM_KIND_MADLIB)
        return core_fail(
            error, TEM_ERR_UNSUPPORTED,
            "the distribution of Madlib has no closed form; it can only be drawn from");
    double total = 0;
    for (uint32_t y = 0; y < m->count; y++) {
        const uint64_t x =
            exponent_at(&m->sampler.envelopes.exponent, space_distance(m->sampler.space, word, y));
        total +=
            weights_at(&m->sampler.envelopes.weights, y) * exp(-ldexp((double)x, -EXPONENT_BITS));
    }
    *self = weights_at(&m->sampler.envelopes.weights, word) / total;
    return TEM_OK;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

tem_status tem_mechanism_self_median(const tem_mechanism *m, double *median, tem_error *error) {
    enum { QUANTILES = 49 };
    double selves[QUANTILES], harmonic = 0, sum = 0;
    if (m == NULL || median == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a mechanism is needed");
    for (uint32_t rank = 1; rank <= m->count; rank++)
        harmonic += 1.0 / rank;
    uint32_t rank = 0, last = 0;
    for (int i = 0; i < QUANTILES; i++, last = rank) {
        while (sum < harmonic * (i + 0.5) / QUANTILES && rank < m->count)
            sum += 1.0 / ++rank;
        tem_status status = TEM_OK;
        if (rank == last)
            selves[i] = selves[i - 1];
        else
            status = tem_mechanism_self(m, rank - 1, &selves[i], error);
        if (status != TEM_OK)
            return status;
    }
    qsort(selves, QUANTILES, sizeof *selves, compare_doubles);
    *median = selves[QUANTILES / 2];
    return TEM_OK;
}

tem_status tem_law_create(const tem_mechanism *m, uint32_t word, unsigned digits, tem_law **law,
                          tem_error *error) {
    if (m == NULL || law == NULL || !word_exists(m, word) || digits < 1 ||
        digits > TEM_LAW_DIGITS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a word of it and 1 to 1000 digits are needed");
    if (m->kind == TEM_KIND_MADLIB)
        return core_fail(
            error, TEM_ERR_UNSUPPORTED,
            "the distribution of Madlib has no closed form; it can only be drawn from");
    return law_make(&m->sampler, word, digits, law, error);
}

void tem_law_free(tem_law *law) {
    law_free(law);
}

double tem_law_probability(const tem_law *law, uint32_t y) {
    return y < law->count ? mpfr_get_d(law->probabilities[y], MPFR_RNDN) : 0;
}

static tem_status print_decimal(mpfr_srcptr value, unsigned digits, char *buffer,
                                size_t buffer_bytes, tem_error *error) {
    if (buffer == NULL || digits < 1 || digits > TEM_LAW_DIGITS_MAX ||
        buffer_bytes < digits + (size_t)32)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "1 to 1000 digits and a buffer of 32 bytes more are needed");
    /* Not mpfr_snprintf: its decimal point is the locale's. */
    if (mpfr_zero_p(value)) {
        strcpy(buffer, "0");
        return TEM_OK;
    }
    mpfr_exp_t exponent_of_ten = 0;
    char text[TEM_LAW_DIGITS_MAX + 2];
    mpfr_get_str(text, &exponent_of_ten, 10, digits, value, MPFR_RNDN); /* 0.text * 10^e */
    snprintf(buffer, buffer_bytes, "%c%s%se%+03ld", text[0], digits > 1 ? "." : "", text + 1,
             (long)exponent_of_ten - 1);
    return TEM_OK;
}

tem_status tem_law_decimal(const tem_law *law, uint32_t y, unsigned digits, char *buffer,
                           size_t buffer_bytes, tem_error *error) {
    if (y >= law->count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return print_decimal(law->probabilities[y], digits, buffer, buffer_bytes, error);
}

tem_status tem_law_outside_decimal(const tem_law *law, const uint32_t *ids, size_t count,
                                   unsigned digits, char *buffer, size_t buffer_bytes,
                                   tem_error *error) {
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= law->count)
            return core_fail(error, TEM_ERR_ARGUMENT, "the ids must be below the number of words");
    unsigned char *inside = core_alloc_zero(law->count, 1);
    if (inside == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        inside[ids[i]] = 1;
    mpfr_t sum;
    mpfr_init2(sum, mpfr_get_prec(law->entropy));
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < law->count; y++)
        if (!inside[y])
            mpfr_add(sum, sum, law->probabilities[y], MPFR_RNDN);
    tem_status status = print_decimal(sum, digits, buffer, buffer_bytes, error);
    mpfr_clear(sum);
    core_free(inside);
    return status;
}

tem_status tem_law_support_decimal(const tem_law *law, unsigned digits, char *buffer,
                                   size_t buffer_bytes, tem_error *error) {
    mpfr_t support;
    mpfr_init2(support, mpfr_get_prec(law->entropy));
    mpfr_exp(support, law->entropy, MPFR_RNDN);
    tem_status status = print_decimal(support, digits, buffer, buffer_bytes, error);
    mpfr_clear(support);
    return status;
}

tem_dist tem_law_distance(const tem_law *law, uint32_t y) {
    return y < law->count ? law->distances[y] : UINT32_MAX;
}

tem_status tem_law_nearest(const tem_law *law, uint32_t *ids, uint32_t count, tem_error *error) {
    if (law == NULL || ids == NULL || count < 1 || count > law->count)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a law and room for 1 to all of its words are needed");
    uint64_t *keys = core_alloc(law->count, sizeof *keys);
    if (keys == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < law->count; id++)
        keys[id] = nearest_key(id, law->distances[id]);
    nearest_select(keys, law->count, count);
    nearest_sort(keys, count);
    for (uint32_t i = 0; i < count; i++)
        ids[i] = (uint32_t)keys[i];
    core_free(keys);
    return TEM_OK;
}

double tem_law_entropy(const tem_law *law) {
    return mpfr_get_d(law->entropy, MPFR_RNDN);
}

double tem_law_support(const tem_law *law) {
    mpfr_t support;
    mpfr_init2(support, mpfr_get_prec(law->entropy));
    mpfr_exp(support, law->entropy, MPFR_RNDN);
    const double nearest = mpfr_get_d(support, MPFR_RNDN);
    mpfr_clear(support);
    return nearest;
}

int tem_mechanism_get_certificate(const tem_mechanism *m, tem_certificate_info *info) {
    if (m->certificate.hash[0] == '\0')
        return 0;
    *info = m->certificate;
    return 1;
}
