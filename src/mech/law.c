/* law.c - the probabilities of a law, to any number of digits.
 *
 * MPFR rounds every operation correctly, so the error is a matter of counting. A probability goes
 * through four rounded operations (exp, two products, one quotient) and a sum of `count` positive
 * terms. Each rounding has a relative error of at most 2^-precision. The precision is 48 bits more
 * than the digits need: enough for 2^31 words, with a large reserve. */
#include "mech/law.h"

#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sets out to `weight` times a closeness, times 2^bits of its form. */
static void set_weight(mpfr_t out, mpfr_t scratch, const closeness *c, uint64_t weight) {
    mpfr_set_uj(scratch, c->fraction, MPFR_RNDN);
    mpfr_div_2ui(scratch, scratch, EXPONENT_BITS, MPFR_RNDN);
    mpfr_neg(scratch, scratch, MPFR_RNDN);
    mpfr_exp(scratch, scratch, MPFR_RNDN);
    mpfr_set_ui(out, 0, MPFR_RNDN);
    for (int i = 3; i >= 0; i--) { /* exact: the precision is 256 bits or more */
        mpfr_mul_2ui(out, out, 64, MPFR_RNDN);
        mpfr_add_ui(out, out, c->whole.limb[i], MPFR_RNDN);
    }
    mpfr_mul(out, out, scratch, MPFR_RNDN);
    mpfr_set_uj(scratch, weight, MPFR_RNDN); /* exact */
    mpfr_mul(out, out, scratch, MPFR_RNDN);
}

/* An unknown word is equally close to all words. values: the weights; NULL: those of the form. */
static void set_weights(const law_form *f, const uint64_t *values, const space *s, tem_law *law,
                        mpfr_t total, mpfr_t scratch) {
    const bool is_known = law->word != TEM_NO_WORD;
    const tem_dist unknown = f->exponent.gamma > 0 ? f->exponent.gamma : UINT32_MAX;
    mpfr_set_ui(total, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < law->count; y++) {
        const closeness c =
            is_known ? f->ops->pair(f, law->word, y) : (closeness){{{1, 0, 0, 0}}, 0};
        law->distances[y] = is_known ? space_distance(s, law->word, y) : unknown;
        set_weight(law->probabilities[y], scratch, &c,
                   values == NULL ? weights_at(f->weights, y) : values[y]);
        mpfr_add(total, total, law->probabilities[y], MPFR_RNDN);
    }
}

static void normalise(tem_law *law, mpfr_t total, mpfr_t scratch) {
    mpfr_set_ui(law->entropy, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < law->count; y++) {
        mpfr_div(law->probabilities[y], law->probabilities[y], total, MPFR_RNDN);
        if (mpfr_zero_p(law->probabilities[y]))
            continue;
        mpfr_log(scratch, law->probabilities[y], MPFR_RNDN);
        mpfr_mul(scratch, scratch, law->probabilities[y], MPFR_RNDN);
        mpfr_sub(law->entropy, law->entropy, scratch, MPFR_RNDN);
    }
}

static tem_law *allocate(uint32_t word, uint32_t count, mpfr_prec_t precision) {
    const size_t bytes = core_round_up(mpfr_custom_get_size(precision), 16);
    tem_law *law = core_alloc_zero(1, sizeof *law);
    if (law == NULL)
        return NULL;
    law->word = word;
    law->count = count;
    law->probabilities = core_alloc(count, sizeof *law->probabilities);
    law->distances = core_alloc(count, sizeof *law->distances);
    law->limbs = core_alloc((size_t)count + 1, bytes);
    if (law->probabilities == NULL || law->distances == NULL || law->limbs == NULL) {
        law_free(law);
        return NULL;
    }
    char *limbs = law->limbs;
    for (uint32_t y = 0; y <= count; y++, limbs += bytes) {
        mpfr_custom_init(limbs, precision);
        mpfr_custom_init_set(y < count ? law->probabilities[y] : law->entropy, MPFR_ZERO_KIND, 0,
                             precision, limbs);
    }
    return law;
}

tem_status law_make(const law_form *form, const space *s, uint32_t word, unsigned digits,
                    tem_law **out, tem_error *error) {
    return law_make_weighed(form, NULL, s, word, digits, out, error);
}

tem_status law_make_weighed(const law_form *form, const uint64_t *values, const space *s,
                            uint32_t word, unsigned digits, tem_law **out, tem_error *error) {
    const mpfr_prec_t wanted = (mpfr_prec_t)ceil(digits * 3.3219280948873623) + 48;
    const mpfr_prec_t precision = wanted < 256 ? 256 : wanted;
    tem_law *law = allocate(word, s->count, precision);
    if (law == NULL)
        return core_fail_memory(error);
    mpfr_t total, scratch;
    mpfr_init2(total, precision);
    mpfr_init2(scratch, precision);
    set_weights(form, values, s, law, total, scratch);
    normalise(law, total, scratch);
    mpfr_clear(scratch);
    mpfr_clear(total);
    *out = law;
    return TEM_OK;
}

tem_status law_make_from_row(const space *s, uint32_t word, const double *row, tem_law **out,
                             tem_error *error) {
    enum { PRECISION = 64 };
    tem_law *law = allocate(word, s->count, PRECISION);
    if (law == NULL)
        return core_fail_memory(error);
    mpfr_t one, scratch;
    mpfr_init2(one, PRECISION);
    mpfr_init2(scratch, PRECISION);
    mpfr_set_ui(one, 1, MPFR_RNDN);
    for (uint32_t y = 0; y < law->count; y++) {
        law->distances[y] = word == TEM_NO_WORD ? UINT32_MAX : space_distance(s, word, y);
        mpfr_set_d(law->probabilities[y], row[y], MPFR_RNDN);
    }
    normalise(law, one, scratch);
    mpfr_clear(scratch);
    mpfr_clear(one);
    *out = law;
    return TEM_OK;
}

void law_free(tem_law *law) {
    if (law == NULL)
        return;
    core_free(law->limbs);
    core_free(law->distances);
    core_free(law->probabilities);
    core_free(law);
}

/* ---- questions ---- */

tem_status law_nearest(const tem_law *law, uint32_t *ids, uint32_t count, tem_error *error) {
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

static void set_support(mpfr_t support, const tem_law *law) {
    mpfr_init2(support, mpfr_get_prec(law->entropy));
    mpfr_exp(support, law->entropy, MPFR_RNDN);
}

double law_support(const tem_law *law) {
    mpfr_t support;
    set_support(support, law);
    const double nearest = mpfr_get_d(support, MPFR_RNDN);
    mpfr_clear(support);
    return nearest;
}

/* ---- printing ---- */

void law_print(mpfr_srcptr value, unsigned digits, char *buffer, size_t buffer_bytes) {
    /* mpfr_snprintf would print the decimal point of the locale. */
    if (mpfr_zero_p(value)) {
        strcpy(buffer, "0");
        return;
    }
    mpfr_exp_t exponent_of_ten = 0;
    char text[TEM_LAW_DIGITS_MAX + 2];
    mpfr_get_str(text, &exponent_of_ten, 10, digits, value, MPFR_RNDN); /* 0.text * 10^e */
    snprintf(buffer, buffer_bytes, "%c%s%se%+03ld", text[0], digits > 1 ? "." : "", text + 1,
             (long)exponent_of_ten - 1);
}

void law_print_support(const tem_law *law, unsigned digits, char *buffer, size_t buffer_bytes) {
    mpfr_t support;
    set_support(support, law);
    law_print(support, digits, buffer, buffer_bytes);
    mpfr_clear(support);
}

tem_status law_print_outside(const tem_law *law, const uint32_t *ids, size_t count, unsigned digits,
                             char *buffer, size_t buffer_bytes, tem_error *error) {
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
    law_print(sum, digits, buffer, buffer_bytes);
    mpfr_clear(sum);
    core_free(inside);
    return TEM_OK;
}
