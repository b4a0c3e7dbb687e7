/* santext_plus.c - the mechanism `santext-plus`.
 *
 * Yue, Du, Wang, Li, Sun, Chow 2021, "Differential Privacy for Text Analytics via Natural Text
 * Sanitization": SanText+. A list V_S of the vocabulary is sensitive. The law over V_S is
 *
 *     L(y | w) proportional to exp(-epsilon d(w,y) / 2),   y in V_S.
 *
 * A sensitive word is drawn from L. Any other word stays itself with probability 1 - p, and with
 * probability p it is drawn from L.
 *
 * Theorem (theirs, "utility-optimized metric local differential privacy"). For y in V_S,
 * P(y | w) <= exp(epsilon d(w,w')) / p P(y | w'), and without the factor 1/p if w is not sensitive
 * or w' is. Proof: L is the exponential mechanism, so L(y | w) <= exp(epsilon d) L(y | w').
 * P(y | w) is L for a sensitive word and p L for the others. For y outside V_S there is no bound:
 * only y itself has the output y, so that output tells the input.
 *
 * Here L is the exact law of `em` over V_S: the sampler with weight 1 for the words of V_S and 0
 * for the others. p is rounded up to steps of 2^-53. Two things that the paper leaves open:
 * - A word that must not be an output cannot stay itself. It is treated as a sensitive input.
 * - An unknown word is drawn uniformly from V_S, as if at distance gamma from all of it; the bound
 *   holds for it with gamma in the place of d.
 *
 * The list must be public. The authors' code (github.com/xiangyue9607/SanText, run_SanText.py)
 * makes it from the private text: the rarest half of that text's words. So which words stay
 * themselves tells which words are frequent in the text. Its vocabulary is that of the private
 * text, too, and SanText.py replaces a word without a vector by any word of the private text,
 * sensitive or not, with or without a vector. */
#include "core/memory.h"
#include "core/status.h"
#include "mech/law_row.h"
#include "mech/mechanism.h"
#include "mech/sampler_form.h"

#include <math.h>

enum { P_BITS = 53 };

typedef struct santext_plus {
    sampler law;          /* L */
    unsigned char *stays; /* 1 for each word that stays itself with probability 1 - p */
    uint64_t p;           /* in steps of 2^-53 */
} santext_plus;

static uint32_t output_weight(const mechanism_setup *setup, uint32_t id) {
    return setup->weights == NULL || setup->weights[id] > 0;
}

static tem_status init_law(santext_plus *m, const mechanism_setup *setup, tem_error *error) {
    const uint32_t count = setup->space->count;
    uint32_t *values = core_alloc(count, sizeof *values), listed = 0;
    exponent e = {0, 0};
    tem_status status = values == NULL ? core_fail_memory(error) : TEM_OK;
    for (uint32_t id = 0; id < count && status == TEM_OK; id++) {
        values[id] = setup->listed[id] ? output_weight(setup, id) : 0;
        listed += values[id];
    }
    if (status == TEM_OK && listed == 0)
        status = core_fail(error, TEM_ERR_RANGE, "no word of the list may be an output");
    if (status == TEM_OK)
        status = exponent_s(setup->epsilon, &e.s, error);
    if (status == TEM_OK)
        status = exponent_gamma_largest(e.s, &e.gamma, error);
    if (status == TEM_OK)
        status = sampler_init(&m->law, setup->space, setup->index, e, values, error);
    core_free(values);
    return status;
}

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    santext_plus *m = state;
    const uint32_t count = setup->space->count;
    (void)beta;
    m->p = (uint64_t)ceil(ldexp(mechanism_number(setup, "p"), P_BITS));
    m->stays = core_alloc(count, 1);
    if (m->stays == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < count; id++)
        m->stays[id] = !setup->listed[id] && output_weight(setup, id) > 0;
    return init_law(m, setup, error);
}

static void free_state(void *state) {
    santext_plus *m = state;
    sampler_free(&m->law);
    core_free(m->stays);
}

/* Whether to draw for a word from L. */
static bool is_drawn(const santext_plus *m, uint32_t word, tem_rng *rng) {
    return word == TEM_NO_WORD || !m->stays[word] || rng_below(rng, (uint64_t)1 << P_BITS) < m->p;
}

enum { WORDS_AT_ONCE = 256 };

/* Draws for at most WORDS_AT_ONCE words. */
static tem_status draw_some(const santext_plus *m, const uint32_t *words, size_t count,
                            tem_rng *rng, uint32_t *out, tem_error *error) {
    uint32_t drawn[WORDS_AT_ONCE];
    bool asked[WORDS_AT_ONCE];
    size_t some = 0;
    for (size_t i = 0; i < count; i++) {
        asked[i] = is_drawn(m, words[i], rng);
        if (asked[i])
            drawn[some++] = words[i];
    }
    const tem_status status = sampler_draw(&m->law, drawn, some, rng, drawn, error);
    some = 0;
    for (size_t i = 0; i < count && status == TEM_OK; i++)
        out[i] = asked[i] ? drawn[some++] : words[i];
    return status;
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    for (size_t done = 0; done < count; done += WORDS_AT_ONCE) {
        const size_t some = count - done < WORDS_AT_ONCE ? count - done : WORDS_AT_ONCE;
        TRY(draw_some(state, words + done, some, rng, out + done, error));
    }
    return TEM_OK;
}

static tem_status row(const void *state, uint32_t word, double *probabilities, tem_error *error) {
    const santext_plus *m = state;
    const law_form form = sampler_form(&m->law);
    (void)error;
    law_row(&form, word, probabilities);
    if (word == TEM_NO_WORD || !m->stays[word])
        return TEM_OK;
    for (uint32_t y = 0; y < m->law.space->count; y++)
        probabilities[y] *= ldexp((double)m->p, -P_BITS);
    probabilities[word] = ldexp((double)(((uint64_t)1 << P_BITS) - m->p), -P_BITS);
    return TEM_OK;
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss per unit of distance, of the law over the listed words",
     .least = 0x1p-18,
     .most = 0x1p23},
    {.name = "p",
     .meaning = "how often a word that is not listed is replaced",
     .least = 0.0001,
     .most = 1,
     .usual = 0.3},
    {.name = NULL}};

const mechanism_ops mechanism_santext_plus = {
    .properties =
        {.name = "santext-plus",
         .summary = "listed words by santext; other words mostly stay themselves",
         .paper = "Yue, Du, Wang, Li, Sun, Chow 2021",
         .guarantee = TEM_GUARANTEE_OTHER,
         .claim = "P(y | w) <= exp(epsilon d(w,w')) P(y | w') / p for every y of the list; exact "
                  "integers; no bound for other outputs",
         .caveat = "An output outside the list of santext-plus is the input word itself; use the "
                   "mechanism tem, em, rank or coin",
         .law_digits = MECHANISM_ROW_DIGITS,
         .list = "the sensitive words; must not be made from the private text",
         .parameters = parameters},
    .state_bytes = sizeof(santext_plus),
    .init = init,
    .free = free_state,
    .draw = draw,
    .row = row};
