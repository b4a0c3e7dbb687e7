/* rank.c - the mechanism `rank`: the law falls off with the rank of the output around the input.
 *
 *     P(y | w) = h(r_w(y)) / H,   h(r) = (1 + r/c)^-s,   H = sum of h(r) over all ranks
 *
 * r_w is the public order around w (order/order.h), h a table of integers (falloff.h). It is the
 * exponential mechanism with the score ln(1 + r/c): each octave of ranks has the weight that s
 * gives it, where balls of distances grow exponentially. docs/PRIVACY.md, "Rank", proves the
 * bounds.
 *
 * PRIVACY: step 2: every input has the same probabilities in another order, so H is the same for
 * all inputs and the factor 2 of the exponential mechanism is not paid: epsilon = s. With output
 * weights that differ, P(y | w) = a_y h / Z(w), Z differs from word to word, and epsilon = 2s.
 *
 * A draw: a rank by its weight, then the output of that rank; with weights, it is kept with
 * probability a_y / (largest weight), else all begins anew. After ROUNDS_MOST rounds the draw is by
 * the sum of all outputs. An unknown word draws by a_y alone. */
#include "core/memory.h"
#include "core/status.h"
#include "mech/falloff.h"
#include "mech/mechanism.h"
#include "tem_account.h"

#include <stdio.h>
#include <string.h>

enum { TILE = 4096, COLUMN_TILE = 1 << 15, ROUNDS_MOST = 4096 };

typedef struct rank_state {
    const rank_order *order;
    falloff falloff;
    double *closenesses; /* the heights as doubles, 1 the largest */
    weights weights;
    uint32_t heaviest; /* the largest weight; 0: all outputs weigh the same */
    bool z_differs;    /* from word to word: they do not, or a language model weighs them */
    law_form form;
    ranked_form ranked;
    char order_hash[17];
} rank_state;

/* ---- the form of the law ---- */

static closeness of_rank(const rank_state *s, uint32_t rank) {
    return (closeness){{{rank < s->falloff.count ? s->falloff.heights[rank] : 0, 0, 0, 0}}, 0};
}

static closeness pair(const law_form *f, uint32_t w, uint32_t y) {
    const rank_state *s = f->state;
    return of_rank(s, order_rank(s->order, w, y));
}

/* The entries of a list begin where the word's places do, which tells the word. */
static tem_status list(const law_form *f, uint32_t w, output_list *out, tem_error *error) {
    const rank_state *s = f->state;
    (void)error;
    *out = (output_list){.entries = order_list_start(s->order, w),
                         .count = s->order->shape.list,
                         .bound = of_rank(s, s->order->shape.list)};
    return TEM_OK;
}

static listed_output entry(const law_form *f, const output_list *list, uint32_t i) {
    const rank_state *s = f->state;
    const uint32_t w = order_list_word(s->order, list->entries);
    return (listed_output){order_word(s->order, w, i), of_rank(s, i)};
}

static proposed_output propose(const law_form *f, uint32_t w, const output_list *list, uint32_t y) {
    const rank_state *s = f->state;
    const uint32_t rank = order_rank(s->order, w, y);
    return (proposed_output){of_rank(s, rank), rank < list->count};
}

static double height(const rank_state *s, uint32_t rank) {
    return rank == ORDER_NONE ? 0 : s->closenesses[rank];
}

static void row(const law_form *f, uint32_t w, uint32_t first, uint32_t count, double *out) {
    const rank_state *s = f->state;
    uint32_t ranks[TILE];
    if (count == s->order->shape.words) {
        order_spread(s->order, w, s->closenesses, out);
        return;
    }
    for (uint32_t done = 0; done < count; done += TILE) {
        const uint32_t some = count - done < TILE ? count - done : TILE;
        order_ranks(s->order, w, first + done, some, ranks);
        for (uint32_t i = 0; i < some; i++)
            out[done + i] = height(s, ranks[i]);
    }
}

static void column(const law_form *f, uint32_t y, uint32_t first, uint32_t count, double *out) {
    const rank_state *s = f->state;
    uint32_t ranks[COLUMN_TILE];
    for (uint32_t done = 0; done < count; done += COLUMN_TILE) {
        const uint32_t some = count - done < COLUMN_TILE ? count - done : COLUMN_TILE;
        order_ranks_of(s->order, y, first + done, some, ranks);
        for (uint32_t i = 0; i < some; i++)
            out[done + i] = height(s, ranks[i]);
    }
}

static const law_form_ops form_ops = {
    .pair = pair, .list = list, .entry = entry, .propose = propose, .row = row, .column = column};

static void set_form(rank_state *s) {
    s->ranked = (ranked_form){s->order, s->falloff.heights};
    s->form = (law_form){.ops = &form_ops,
                         .state = s,
                         .weights = &s->weights,
                         .ranked = &s->ranked,
                         .exponent = {.s = s->falloff.s},
                         .bits = FALLOFF_TOP_BITS,
                         .spread = falloff_bound(&s->falloff)};
    /* PRIVACY: step 2: Z is the same for all words only if all outputs weigh the same. */
    if (!s->z_differs)
        s->form.total = ldexp((double)falloff_total(&s->falloff), -FALLOFF_TOP_BITS) *
                        weights_at(&s->weights, s->order->sequence[0]);
}

/* ---- setting up ---- */

/* Finds out whether all outputs weigh the same. */
static void look_at_weights(rank_state *s, bool is_in_context) {
    const uint32_t first = weights_at(&s->weights, s->order->sequence[0]);
    bool are_equal = true;
    for (uint32_t i = 0; i < s->order->shape.outputs; i++) {
        const uint32_t weight = weights_at(&s->weights, s->order->sequence[i]);
        are_equal &= weight == first;
        s->heaviest = weight > s->heaviest ? weight : s->heaviest;
    }
    if (are_equal)
        s->heaviest = 0;
    s->z_differs = !are_equal || is_in_context;
}

/* PRIVACY: step 3: epsilon = s per unit of d_r where H is the same for all inputs; 2s elsewhere, by
 * the proof with output weights. */
static unsigned epsilon_of_s(const rank_state *s) {
    return s->z_differs ? 2 : 1;
}

/* PRIVACY: step 3: s <= epsilon; one step of s is subtracted, as for `tem`. */
static tem_status make_falloff(rank_state *s, double epsilon, uint64_t c, tem_error *error) {
    const uint32_t ranks = s->order->shape.outputs;
    const double scaled = floor(ldexp(epsilon / epsilon_of_s(s), FALLOFF_S_BITS)) - 1;
    if (!(scaled >= 1))
        return core_fail(error, TEM_ERR_RANGE,
                         "epsilon is too small for the mechanism rank: it must be at least 2^-18");
    return scaled > FALLOFF_S_MOST
               ? falloff_refuse(c, ranks, epsilon_of_s(s), error)
               : falloff_init(&s->falloff, (uint64_t)scaled, c, ranks, epsilon_of_s(s), error);
}

static tem_status set_closenesses(rank_state *s, tem_error *error) {
    s->closenesses = core_alloc(s->falloff.count, sizeof *s->closenesses);
    if (s->closenesses == NULL)
        return core_fail_memory(error);
    for (uint32_t rank = 0; rank < s->falloff.count; rank++)
        s->closenesses[rank] = ldexp((double)s->falloff.heights[rank], -FALLOFF_TOP_BITS);
    return TEM_OK;
}

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    rank_state *s = state;
    (void)beta;
    if (setup->order == NULL)
        return core_fail(
            error, TEM_ERR_UNSUPPORTED,
            "the model has no order of its words, which the mechanism rank needs: build "
            "it again with an order");
    s->order = setup->order;
    const double c = mechanism_number(setup, "c");
    snprintf(s->order_hash, sizeof s->order_hash, "%s", setup->order_hash);
    tem_status status = order_check(s->order, error);
    if (status == TEM_OK)
        status = weights_init(&s->weights, setup->weights, setup->space->count, error);
    if (status == TEM_OK)
        look_at_weights(s, setup->is_in_context);
    if (status == TEM_OK)
        status = make_falloff(s, setup->epsilon, (uint64_t)(ldexp(c, FALLOFF_C_BITS) + 0.5), error);
    if (status == TEM_OK)
        status = set_closenesses(s, error);
    if (status == TEM_OK)
        set_form(s);
    return status;
}

static void free_state(void *state) {
    rank_state *s = state;
    core_free(s->closenesses);
    falloff_free(&s->falloff);
    weights_free(&s->weights);
}

/* ---- drawing ---- */

/* Draws by weights alone. PRIVACY: step 4: all unknown words have this law. */
static uint32_t draw_unknown(const rank_state *s, tem_rng *rng) {
    return s->heaviest == 0 ? s->order->sequence[rng_below(rng, s->order->shape.outputs)]
                            : weights_draw(&s->weights, rng);
}

/* a_y h(r) of the output y of rank r around w; below 2^94. */
static u256_wide weight_of_rank(const rank_state *s, uint32_t w, uint32_t rank, uint32_t *y) {
    *y = order_word(s->order, w, rank);
    return (u256_wide)s->falloff.heights[rank] * weights_at(&s->weights, *y);
}

/* Draws from the law of w by the sum of all outputs: some milliseconds for 34,000 of them. */
static uint32_t draw_summed(const rank_state *s, uint32_t w, tem_rng *rng) {
    u256_wide total = 0;
    uint32_t y = 0;
    for (uint32_t rank = 0; rank < s->falloff.count; rank++)
        total += weight_of_rank(s, w, rank, &y);
    const u256 bound = {{(uint64_t)total, (uint64_t)(total >> 64), 0, 0}};
    const u256 drawn = rng_below256(rng, &bound);
    u256_wide left = (u256_wide)drawn.limb[1] << 64 | drawn.limb[0];
    for (uint32_t rank = 0;; rank++) {
        const u256_wide weight = weight_of_rank(s, w, rank, &y);
        if (left < weight)
            return y;
        left -= weight;
    }
}

/* PRIVACY: a rejection begins the whole draw anew, so the law is a_y h(r_w(y)) / Z(w). draw_summed
 * has the same law, and so have both together: the output does not depend on how many rounds
 * rejected. Without it there is no bound on the rounds where the outputs near w weigh little. */
static uint32_t draw_weighted(const rank_state *s, uint32_t w, tem_rng *rng) {
    for (unsigned round = 0; round < ROUNDS_MOST; round++) {
        const uint32_t y = order_word(s->order, w, alias_draw(&s->falloff.ranks, rng));
        if (rng_below(rng, s->heaviest) < weights_at(&s->weights, y))
            return y;
    }
    return draw_summed(s, w, rng);
}

/* Draws ranks, then looks up their words together. */
static void draw_some(const rank_state *s, const uint32_t *words, size_t count, tem_rng *rng,
                      uint32_t *out) {
    uint32_t drawn[ORDER_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        drawn[i] =
            words[i] == TEM_NO_WORD ? draw_unknown(s, rng) : alias_draw(&s->falloff.ranks, rng);
    order_words_of(s->order, words, drawn, count);
    memcpy(out, drawn, count * sizeof *out); /* `out` may be `words` */
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const rank_state *s = state;
    (void)error;
    for (size_t i = 0; s->heaviest > 0 && i < count; i++)
        out[i] = words[i] == TEM_NO_WORD ? draw_unknown(s, rng) : draw_weighted(s, words[i], rng);
    for (size_t i = 0; s->heaviest == 0 && i < count; i += ORDER_AT_ONCE)
        draw_some(s, words + i, count - i < ORDER_AT_ONCE ? count - i : ORDER_AT_ONCE, rng,
                  out + i);
    return TEM_OK;
}

static const law_form *form(const void *state) {
    const rank_state *s = state;
    return &s->form;
}

/* PRIVACY: step 7: d_r depends on the order and on c, so charges for others are in another unit. c
 * is the one of the heights, in steps of 2^-16 below 2^11: ten digits tell all of them apart. */
static void unit(const void *state, char *text, size_t bytes) {
    const rank_state *s = state;
    snprintf(text, bytes, "rank/c=%.10g/%s", ldexp((double)s->falloff.c, -FALLOFF_C_BITS),
             s->order_hash);
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss per unit of d_r, which compares the ranks around two words",
     .least = 0x1p-18,
     .most = FALLOFF_EPSILON_MOST},
    {.name = "c",
     .meaning = "the rank at which the law begins to fall off",
     .least = 0.0625,
     .most = 1024,
     .usual = 1},
    {.name = NULL}};

const mechanism_ops mechanism_rank = {
    .properties = {.name = "rank",
                   .summary = "near words by their rank: every word is protected exactly alike",
                   .paper = "McSherry, Talwar 2007, with the score ln(1 + rank/c)",
                   .guarantee = TEM_GUARANTEE_EXACT,
                   .unit = "rank",
                   .claim =
                       "P(y | w) <= exp(epsilon d_r(w,w')) P(y | w') for known words, and "
                       "exp(B) between any two inputs, unknown ones included, exp(2B) with weights "
                       "that differ; exact integers",
                   .law_digits = TEM_LAW_DIGITS_MAX,
                   .takes_weights = 1,
                   .parameters = parameters},
    .state_bytes = sizeof(rank_state),
    .init = init,
    .free = free_state,
    .draw = draw,
    .claim_in_context = "P(y | w, past) <= exp(epsilon d_r(w,w')) P(y | w', past) for known words, "
                        "and exp(2B) between any two inputs, unknown ones included, whatever the "
                        "past is; exact integers",
    .unit = unit,
    .form = form};
