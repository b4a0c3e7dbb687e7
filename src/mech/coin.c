/* coin.c - the mechanism `coin`: keep the word, or take any output, by the toss of a coin.
 *
 * P(w | w) = 1 / (1 + (m - 1) q), and P(y | w) = q / (1 + (m - 1) q) for each of the other m - 1
 * outputs, q = exp(-epsilon): k-ary randomized response (Kairouz, Oh, Viswanath 2014, after Warner
 * 1965). It is the plainest mechanism that there is, and what the others must be compared with: at
 * equal success of an attacker it keeps as much as `tem` does on many tasks (docs/EVALUATION.md).
 *
 * As integers: the word itself weighs h(0) = 2^62, any other output h(1), which is 2^62 q rounded.
 * PRIVACY: the ratio of any two probabilities of an output is at most h(0) / h(1), so the law is
 * ln(h(0)/h(1))-local differentially private. An excluded word behaves like its nearest output, and
 * an unknown word draws uniformly: 1/m is between the two probabilities.
 *
 * A draw: with probability m h(1) / total any output, uniformly; else the word itself. */
#include "core/memory.h"
#include "core/status.h"
#include "mech/falloff.h"
#include "mech/mechanism.h"
#include "tem_account.h"

typedef struct coin_state {
    uint32_t *kept;    /* what each word stays: itself or, if it is excluded, its nearest output */
    uint32_t *outputs; /* their ids */
    uint32_t count;    /* of outputs */
    uint64_t steps;    /* s, in steps of 2^-20 */
    uint64_t heights[2]; /* of the word itself, and of any other output */
    weights weights;
    law_form form;
} coin_state;

/* ---- the form of the law ---- */

static closeness of_height(uint64_t height) {
    return (closeness){{{height, 0, 0, 0}}, 0};
}

static closeness pair(const law_form *f, uint32_t w, uint32_t y) {
    const coin_state *s = f->state;
    return of_height(s->heights[s->kept[w] != y]);
}

static tem_status list(const law_form *f, uint32_t w, output_list *out, tem_error *error) {
    const coin_state *s = f->state;
    (void)error;
    *out = (output_list){
        .entries = &s->kept[w], .count = 1, .bound = of_height(s->count > 1 ? s->heights[1] : 0)};
    return TEM_OK;
}

static listed_output entry(const law_form *f, const output_list *list, uint32_t i) {
    const coin_state *s = f->state;
    return (listed_output){((const uint32_t *)list->entries)[i], of_height(s->heights[0])};
}

static proposed_output propose(const law_form *f, uint32_t w, const output_list *list, uint32_t y) {
    const bool is_kept = *(const uint32_t *)list->entries == y;
    return (proposed_output){pair(f, w, y), is_kept};
}

static double height(const coin_state *s, bool is_kept) {
    return ldexp((double)s->heights[!is_kept], -FALLOFF_TOP_BITS);
}

static void row(const law_form *f, uint32_t w, uint32_t first, uint32_t count, double *out) {
    const coin_state *s = f->state;
    const double other = height(s, false);
    for (uint32_t i = 0; i < count; i++)
        out[i] = other;
    if (s->kept[w] - first < count) /* below `first` it wraps around */
        out[s->kept[w] - first] = height(s, true);
}

static void column(const law_form *f, uint32_t y, uint32_t first, uint32_t count, double *out) {
    const coin_state *s = f->state;
    const double own = height(s, true), other = height(s, false);
    for (uint32_t i = 0; i < count; i++)
        out[i] = s->kept[first + i] == y ? own : other;
}

static const law_form_ops form_ops = {
    .pair = pair, .list = list, .entry = entry, .propose = propose, .row = row, .column = column};

static u256_wide total_of(const coin_state *s) {
    return s->heights[0] + (u256_wide)(s->count - 1) * s->heights[1];
}

/* PRIVACY: with a language model Z differs from word to word, else it is total_of. */
static void set_form(coin_state *s, bool is_in_context) {
    s->form = (law_form){.ops = &form_ops,
                         .state = s,
                         .weights = &s->weights,
                         .exponent = {.s = s->steps},
                         .bits = FALLOFF_TOP_BITS,
                         .spread = falloff_loss(s->heights[0], s->heights[1])};
    if (!is_in_context)
        s->form.total = ldexp((double)total_of(s), -FALLOFF_TOP_BITS);
}

/* ---- setting up ---- */

/* The nearest output of an excluded word, by its list; if all words of the list are excluded, the
 * first output. */
static tem_status find_kept(const coin_state *s, const neighbour_index *index, uint32_t word,
                            uint32_t *kept, tem_error *error) {
    tem_neighbours near;
    const tem_status status = neighbours_get(index, word, &near, error);
    *kept = s->outputs[0];
    for (uint32_t i = 0; status == TEM_OK && i < near.count; i++)
        if (weights_at(&s->weights, near.list[i].id) > 0) {
            *kept = near.list[i].id;
            break;
        }
    return status;
}

static tem_status find_outputs(coin_state *s, const mechanism_setup *setup, tem_error *error) {
    const uint32_t words = setup->space->count;
    tem_status status = TEM_OK;
    s->kept = core_alloc(words, sizeof *s->kept);
    s->outputs = core_alloc(words, sizeof *s->outputs);
    if (s->kept == NULL || s->outputs == NULL)
        return core_fail_memory(error);
    for (uint32_t w = 0; w < words; w++)
        if (weights_at(&s->weights, w) > 0)
            s->outputs[s->count++] = s->kept[w] = w;
    for (uint32_t w = 0; w < words && status == TEM_OK; w++)
        if (weights_at(&s->weights, w) == 0)
            status = find_kept(s, setup->index, w, &s->kept[w], error);
    return status;
}

/* PRIVACY: epsilon = s where Z is the same for all inputs, 2s where it differs. One step of s is
 * subtracted: it pays for the rounding of h(1), which raises h(0) / h(1) by a factor below
 * 1 + 2^-20 (docs/PRIVACY.md, "Coin"). */
static tem_status choose_heights(coin_state *s, const mechanism_setup *setup, tem_error *error) {
    const int bits = setup->is_in_context ? FALLOFF_S_BITS - 1 : FALLOFF_S_BITS;
    const double steps = floor(ldexp(setup->epsilon, bits)) - 1;
    if (steps >= 1 && steps <= FALLOFF_S_MOST) {
        s->steps = (uint64_t)steps;
        s->heights[0] = (uint64_t)1 << FALLOFF_TOP_BITS;
        s->heights[1] = falloff_exp(s->steps);
    }
    if (s->heights[1] >= (uint64_t)1 << FALLOFF_LEAST_BITS)
        return TEM_OK;
    return core_fail(error, TEM_ERR_RANGE,
                     "epsilon must be between 2^-18 and %d for the mechanism coin",
                     setup->is_in_context ? 58 : 29);
}

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    coin_state *s = state;
    (void)beta;
    tem_status status = weights_init(&s->weights, setup->weights, setup->space->count, error);
    if (status == TEM_OK)
        status = find_outputs(s, setup, error);
    if (status == TEM_OK)
        status = choose_heights(s, setup, error);
    if (status == TEM_OK)
        set_form(s, setup->is_in_context);
    return status;
}

static void free_state(void *state) {
    coin_state *s = state;
    weights_free(&s->weights);
    core_free(s->kept);
    core_free(s->outputs);
}

/* ---- drawing ---- */

/* Whether the coin says "any output", exactly: below(total) < m h(1). */
static bool toss(const coin_state *s, tem_rng *rng) {
    const u256_wide total = total_of(s), any = (u256_wide)s->count * s->heights[1];
    const u256 bound = {{(uint64_t)total, (uint64_t)(total >> 64), 0, 0}};
    const u256 drawn = rng_below256(rng, &bound);
    return ((u256_wide)drawn.limb[1] << 64 | drawn.limb[0]) < any;
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const coin_state *s = state;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        const bool is_any = words[i] == TEM_NO_WORD || toss(s, rng);
        out[i] = is_any ? s->outputs[rng_below(rng, s->count)] : s->kept[words[i]];
    }
    return TEM_OK;
}

static const law_form *form(const void *state) {
    const coin_state *s = state;
    return &s->form;
}

static const tem_parameter parameters[] = {
    {.name = "epsilon", .meaning = "the loss between any two words", .least = 0x1p-18, .most = 29},
    {.name = NULL}};

const mechanism_ops mechanism_coin = {
    .properties = {.name = "coin",
                   .summary = "keep the word or take any other, by the toss of a coin",
                   .paper = "Warner 1965; Kairouz, Oh, Viswanath 2014",
                   .guarantee = TEM_GUARANTEE_EXACT,
                   .unit = "word",
                   .claim = "P(y | w) <= exp(epsilon) P(y | w') for any two inputs, unknown ones "
                            "included; exact integers",
                   .law_digits = TEM_LAW_DIGITS_MAX,
                   .parameters = parameters},
    .state_bytes = sizeof(coin_state),
    .init = init,
    .free = free_state,
    .draw = draw,
    .claim_in_context =
        "P(y | w, past) <= exp(epsilon) P(y | w', past) for any two inputs, unknown "
        "ones included, whatever the past is; exact integers",
    .form = form};
