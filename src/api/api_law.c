/* api_law.c - tem_law of tem.h. */
#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"
#include "mech/law.h"
#include "mech/tem_mechanism.h"

#include <stdio.h>
#include <string.h>

tem_status tem_law_create(const tem_mechanism *m, uint32_t word, unsigned digits, tem_law **law,
                          tem_error *error) {
    if (m == NULL || law == NULL || !mechanism_has_word(m, word) || digits < 1 ||
        digits > TEM_LAW_DIGITS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a word of it and 1 to 1000 digits are needed");
    const tem_status status = mechanism_check_law(m, error);
    return status == TEM_OK ? law_make(mechanism_exponential(m), word, digits, law, error) : status;
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
    if (law == NULL || y >= law->count)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a law and an id below the number of words are needed");
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
