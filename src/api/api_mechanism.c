/* api_mechanism.c - tem_mechanism of tem.h and tem_law of tem_account.h. */
#include "core/memory.h"
#include "core/reserved.h"
#include "core/status.h"
#include "mech/law.h"
#include "mech/model_mechanism.h"

#include <math.h>

/* ---- tem_mechanism ---- */

const tem_mechanism_properties *tem_mechanism_at(unsigned i) {
    const mechanism_ops *found = mechanism_at(i);
    return found == NULL ? NULL : mechanism_properties(found);
}

tem_status tem_mechanism_create(const tem_model *model, const tem_mechanism_options *options,
                                tem_mechanism **mechanism, tem_error *error) {
    if (is_for_newer(options, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || options == NULL || mechanism == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, options and a place for the mechanism are needed");
    return mechanism_create(model, options, mechanism, error);
}

void tem_mechanism_free(tem_mechanism *mechanism) {
    mechanism_free(mechanism);
}

void tem_mechanism_get_info(const tem_mechanism *mechanism, tem_mechanism_info *info) {
    if (info == NULL)
        return;
    *info = (tem_mechanism_info){.epsilon_gamma = INFINITY, .bound = INFINITY};
    if (mechanism != NULL)
        mechanism_get_info(mechanism, info);
}

const tem_language *tem_mechanism_language(const tem_mechanism *mechanism) {
    return mechanism == NULL ? NULL : mechanism->context.language;
}

const uint32_t *tem_mechanism_weights(const tem_mechanism *mechanism) {
    return mechanism == NULL ? NULL : mechanism_weights(mechanism);
}

tem_status tem_mechanism_draw(const tem_mechanism *mechanism, tem_rng *rng, uint32_t word,
                              uint32_t *out, tem_error *error) {
    uint32_t drawn = 0;
    if (out == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the output is needed");
    const tem_status status = tem_mechanism_draw_many(mechanism, rng, &word, &drawn, 1, error);
    if (status == TEM_OK)
        *out = drawn;
    return status;
}

tem_status tem_mechanism_draw_many(const tem_mechanism *mechanism, tem_rng *rng,
                                   const uint32_t *words, uint32_t *out, size_t count,
                                   tem_error *error) {
    if (mechanism == NULL || rng == NULL || (count > 0 && (words == NULL || out == NULL)))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a generator, words and a place for the output are needed");
    return mechanism_draw(mechanism, rng, words, out, count, error);
}

tem_status tem_mechanism_self(const tem_mechanism *mechanism, uint32_t word, double *self,
                              tem_error *error) {
    if (mechanism == NULL || self == NULL || word >= mechanism->count)
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    return mechanism_self(mechanism, word, self, error);
}

tem_status tem_mechanism_self_quantile(const tem_mechanism *mechanism, double quantile,
                                       double *self, tem_error *error) {
    if (mechanism == NULL || self == NULL || !(quantile > 0 && quantile <= 1))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a quantile above 0 and up to 1, and a place for the "
                         "probability are needed");
    return mechanism_self_quantile(mechanism, quantile, self, error);
}

tem_status tem_mechanism_self_median(const tem_mechanism *mechanism, double *median,
                                     tem_error *error) {
    if (mechanism == NULL || median == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a mechanism is needed");
    return mechanism_self_median(mechanism, median, error);
}

int tem_mechanism_get_certificate(const tem_mechanism *mechanism, tem_certificate_info *info) {
    if (mechanism == NULL || info == NULL || mechanism->certificate.hash[0] == '\0')
        return 0;
    *info = mechanism->certificate;
    return 1;
}

/* ---- tem_law ---- */

static tem_status make_law_from_row(const tem_mechanism *m, uint32_t word, tem_law **law,
                                    tem_error *error) {
    double *row = core_alloc(m->count, sizeof *row);
    tem_status status = row == NULL ? core_fail_memory(error) : mechanism_row(m, word, row, error);
    if (status == TEM_OK)
        status = law_make_from_row(&m->model->space, word, row, law, error);
    core_free(row);
    return status;
}

tem_status tem_law_create(const tem_mechanism *mechanism, uint32_t word, unsigned digits,
                          tem_law **law, tem_error *error) {
    if (mechanism == NULL || law == NULL || !mechanism_has_word(mechanism, word) || digits < 1 ||
        digits > TEM_LAW_DIGITS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a word of it and 1 to 1000 digits are needed");
    const law_form *form = mechanism_form(mechanism);
    const unsigned own = mechanism_law_digits(mechanism->ops);
    const unsigned most =
        mechanism->remap != NULL && own > 0 ? (unsigned)MECHANISM_ROW_DIGITS : own;
    if (most > 0 && digits > most)
        return core_fail(error, TEM_ERR_RANGE, "the law of the mechanism %s has %u digits",
                         mechanism->ops->properties.name, most);
    return form != NULL ? law_make(form, &mechanism->model->space, word, digits, law, error)
                        : make_law_from_row(mechanism, word, law, error);
}

tem_status tem_law_create_after(const tem_mechanism *mechanism, const uint32_t *past, size_t count,
                                uint32_t word, unsigned digits, tem_law **law, tem_error *error) {
    if (mechanism == NULL || law == NULL || (count > 0 && past == NULL) ||
        !mechanism_has_word(mechanism, word) || digits < 1 || digits > TEM_LAW_DIGITS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a past, a word and 1 to 1000 digits are needed");
    uint64_t *values = core_alloc(mechanism->count, sizeof *values);
    tem_status status = values == NULL
                            ? core_fail_memory(error)
                            : mechanism_weights_after(mechanism, past, count, values, error);
    if (status == TEM_OK)
        status = law_make_weighed(mechanism->context.form, values, &mechanism->model->space, word,
                                  digits, law, error);
    core_free(values);
    return status;
}

void tem_law_free(tem_law *law) {
    law_free(law);
}

double tem_law_probability(const tem_law *law, uint32_t y) {
    return law != NULL && y < law->count ? mpfr_get_d(law->probabilities[y], MPFR_RNDN) : 0;
}

tem_dist tem_law_distance(const tem_law *law, uint32_t y) {
    return law != NULL && y < law->count ? law->distances[y] : UINT32_MAX;
}

double tem_law_entropy(const tem_law *law) {
    return law == NULL ? NAN : mpfr_get_d(law->entropy, MPFR_RNDN);
}

double tem_law_support(const tem_law *law) {
    return law == NULL ? NAN : law_support(law);
}

tem_status tem_law_nearest(const tem_law *law, uint32_t *ids, uint32_t count, tem_error *error) {
    if (law == NULL || ids == NULL || count < 1 || count > law->count)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a law and room for 1 to all of its words are needed");
    return law_nearest(law, ids, count, error);
}

static tem_status check_decimal(const tem_law *law, unsigned digits, const char *buffer,
                                size_t buffer_bytes, tem_error *error) {
    if (law == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a law is needed");
    if (buffer == NULL || digits < 1 || digits > TEM_LAW_DIGITS_MAX ||
        buffer_bytes < digits + (size_t)32)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "1 to 1000 digits and a buffer of 32 bytes more are needed");
    return TEM_OK;
}

tem_status tem_law_decimal(const tem_law *law, uint32_t y, unsigned digits, char *buffer,
                           size_t buffer_bytes, tem_error *error) {
    if (law == NULL || y >= law->count)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a law and an id below the number of words are needed");
    const tem_status status = check_decimal(law, digits, buffer, buffer_bytes, error);
    if (status == TEM_OK)
        law_print(law->probabilities[y], digits, buffer, buffer_bytes);
    return status;
}

tem_status tem_law_outside_decimal(const tem_law *law, const uint32_t *ids, size_t count,
                                   unsigned digits, char *buffer, size_t buffer_bytes,
                                   tem_error *error) {
    TRY(check_decimal(law, digits, buffer, buffer_bytes, error));
    if (ids == NULL && count > 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "ids are needed");
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= law->count)
            return core_fail(error, TEM_ERR_ARGUMENT, "the ids must be below the number of words");
    return law_print_outside(law, ids, count, digits, buffer, buffer_bytes, error);
}

tem_status tem_law_support_decimal(const tem_law *law, unsigned digits, char *buffer,
                                   size_t buffer_bytes, tem_error *error) {
    const tem_status status = check_decimal(law, digits, buffer, buffer_bytes, error);
    if (status == TEM_OK)
        law_print_support(law, digits, buffer, buffer_bytes);
    return status;
}
