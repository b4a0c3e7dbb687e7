/* tem_em.c - the mechanisms `tem` and `em`: the exact sampler with an exponent.
 *
 * `tem` is the Truncated Exponential Mechanism (Carvalho, Vasiloudis, Feyisetan 2021). `em` is the
 * exponential mechanism: TEM with the largest gamma that the integers allow, s gamma <= 64.
 * docs/PRIVACY.md proves both.
 *
 * `santext` is another name of `em`. SanText (Yue, Du, Wang, Li, Sun, Chow 2021, "Differential
 * Privacy for Text Analytics via Natural Text Sanitization") draws y from the whole vocabulary with
 * probability proportional to exp(-epsilon d(x, y) / 2), which is the exponential mechanism with
 * the score -d. Its theorem is that of `em`: exp(epsilon d(x, x')) in the metric d. The authors'
 * code (github.com/xiangyue9607/SanText, run_SanText.py and SanText.py) departs from the theorem:
 * its vocabulary is that of the private text, the softmax is float32, the seed is 42 unless the
 * user gives another, and a word without a vector is replaced by any word of the private text, so
 * that such a word can be released as it was. Here the vocabulary is the model's, the law is exact,
 * and an unknown word has the law a_y / A. */
#include "core/status.h"
#include "mech/mechanism.h"
#include "mech/sampler_form.h"
#include "tem_account.h"

typedef struct tem_state {
    sampler sampler;
    law_form form;
} tem_state;

tem_status mechanism_choose_exponent(const mechanism_setup *setup, exponent *e, double *beta,
                                     tem_error *error) {
    if (setup->certified != NULL) {
        *e = *setup->certified;
        return TEM_OK;
    }
    TRY(exponent_s(setup->epsilon, &e->s, error));
    if (setup->gamma != 0)
        return exponent_gamma_given(setup->gamma, e->s, &e->gamma, error);
    *beta = setup->beta != 0 ? setup->beta : TEM_BETA_DEFAULT;
    return exponent_gamma_from_beta(*beta, setup->space->count, e->s, &e->gamma, error);
}

static tem_status choose_em(const mechanism_setup *setup, exponent *e, tem_error *error) {
    TRY(exponent_s(setup->epsilon, &e->s, error));
    return exponent_gamma_largest(e->s, &e->gamma, error);
}

static tem_status init_with(tem_state *state, const mechanism_setup *setup, exponent e,
                            tem_error *error) {
    const tem_status status =
        sampler_init(&state->sampler, setup->space, setup->index, e, setup->weights, error);
    state->form = sampler_form(&state->sampler);
    return status;
}

static tem_status init_tem(void *state, const mechanism_setup *setup, double *beta,
                           tem_error *error) {
    exponent e = {0, 0};
    TRY(mechanism_choose_exponent(setup, &e, beta, error));
    return init_with(state, setup, e, error);
}

static tem_status init_em(void *state, const mechanism_setup *setup, double *beta,
                          tem_error *error) {
    exponent e = {0, 0};
    (void)beta;
    TRY(choose_em(setup, &e, error));
    return init_with(state, setup, e, error);
}

static void free_state(void *state) {
    tem_state *t = state;
    sampler_free(&t->sampler);
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const tem_state *t = state;
    return sampler_draw(&t->sampler, words, count, rng, out, error);
}

static const law_form *form(const void *state) {
    const tem_state *t = state;
    return &t->form;
}

static const char exact_claim[] =
    "P(y | w) <= exp(epsilon min(d(w,w'), gamma)) P(y | w') for all words, unknown ones included; "
    "exact integers";

static const char exact_claim_in_context[] =
    "P(y | w, past) <= exp(epsilon min(d(w,w'), gamma)) P(y | w', past) for all words, unknown "
    "ones included, and whatever the past is; exact integers";

#define EPSILON                                                                                    \
    .name = "epsilon", .meaning = "the loss per unit of distance", .least = 0x1p-18, .most = 0x1p23

static const tem_parameter tem_parameters[] = {
    {EPSILON},
    {.name = "beta",
     .meaning = "how often the output may lie beyond gamma, with equal weights",
     .most = 1,
     .usual = TEM_BETA_DEFAULT},
    {.name = "gamma",
     .meaning = "the distance beyond which all words are equally far; instead of beta",
     .most = 65536},
    {.name = NULL}};

static const tem_parameter em_parameters[] = {{EPSILON}, {.name = NULL}};

const mechanism_ops mechanism_tem = {
    .properties = {.name = "tem",
                   .summary = "the Truncated Exponential Mechanism",
                   .paper = "Carvalho, Vasiloudis, Feyisetan 2021",
                   .guarantee = TEM_GUARANTEE_EXACT,
                   .unit = "distance",
                   .claim = exact_claim,
                   .law_digits = TEM_LAW_DIGITS_MAX,
                   .is_exponential = 1,
                   .takes_gamma = 1,
                   .takes_weights = 1,
                   .takes_certificate = 1,
                   .parameters = tem_parameters},
    .state_bytes = sizeof(tem_state),
    .init = init_tem,
    .free = free_state,
    .draw = draw,
    .claim_in_context = exact_claim_in_context,
    .form = form};

const mechanism_ops mechanism_em = {
    .properties = {.name = "em",
                   .summary = "the exponential mechanism: TEM with gamma = 64/s",
                   .paper = "McSherry, Talwar 2007",
                   .guarantee = TEM_GUARANTEE_EXACT,
                   .unit = "distance",
                   .claim = exact_claim,
                   .law_digits = TEM_LAW_DIGITS_MAX,
                   .is_exponential = 1,
                   .takes_weights = 1,
                   .parameters = em_parameters},
    .state_bytes = sizeof(tem_state),
    .init = init_em,
    .free = free_state,
    .draw = draw,
    .claim_in_context = exact_claim_in_context,
    .form = form};

const mechanism_ops mechanism_santext = {
    .properties = {.name = "santext",
                   .summary = "another name for em, the exponential mechanism",
                   .paper = "Yue, Du, Wang, Li, Sun, Chow 2021",
                   .guarantee = TEM_GUARANTEE_EXACT,
                   .unit = "distance",
                   .claim = exact_claim,
                   .law_digits = TEM_LAW_DIGITS_MAX,
                   .is_exponential = 1,
                   .parameters = em_parameters},
    .state_bytes = sizeof(tem_state),
    .init = init_em,
    .free = free_state,
    .draw = draw,
    .claim_in_context = exact_claim_in_context,
    .form = form};
