/* diffractor.c - the mechanism `diffractor`.
 *
 * Meisenbacher, Chevli, Matthes 2024, "1-Diffractor: Efficient and Utility-Preserving Text
 * Obfuscation Leveraging Word-Level Metric Differential Privacy". Each of several lists has all
 * words in an order in which near words are close together. One list is chosen at random. The place
 * i of the word in that list gets noise, and the word at the new place is the output. The noise is
 * the truncated geometric mechanism (Ghosh, Roughgarden, Sundararajan 2009): k with probability
 * (1 - a) / (1 + a) a^|k|, a = exp(-epsilon), and a place beyond an end of the list becomes that
 * end. (The paper also offers TEM on the places; it is not here.)
 *
 * Theorem. P(y | w) <= exp(epsilon D(w,w')) P(y | w'), where D is the largest difference of the
 * places of w and w' in a list. Proof: a^|j-i| <= exp(epsilon |i-i'|) a^|j-i'| for every place j,
 * so for the sum over the places that become an end, and for the average over the lists. D is a
 * metric, but not the model's: words that are near in the model can be at opposite ends of a list,
 * and words next to each other in all lists can be far apart. The paper states the bound for the
 * places.
 *
 * The paper chains words: the next word of a list is the nearest one that is not in it yet, from a
 * start word, with lists of several embedding models. An exact chain compares all pairs of words.
 * Here the index of the model gives the order, in milliseconds: the next word is the nearest one of
 * the neighbors of the last word that is not in the list yet; if there is none, a neighbor of the
 * word before it, and so on; if no word has one left, the word with the lowest id. The lists start
 * with words that are equally far apart in the vocabulary. So lists are public, and depend on the
 * model alone. A word that must not be an output has the place of the next output in the chain, or
 * the last place. An unknown word is drawn uniformly from all outputs; no bound is stated for it.
 *
 * The draw uses integers alone: epsilon is rounded down to steps of 2^-20, and the noise is exact
 * (toss_geometric).
 *
 * The authors' code (github.com/sjmeis/Diffractor): the noise of src/diffractor/core.py has the
 * fixed seed 42 unless the user gives another, so whoever knows the program can take it away again;
 * so has the choice of the list and the noise of TEM in Diffractor.py. Stop words and words that no
 * list has are released as they are, in both. src/diffractor/utils.py continues a chain whose last
 * word has no new word among its 50 nearest with an arbitrary word. */
#include "mech/diffractor.h"

#include "core/memory.h"
#include "core/status.h"
#include "mech/mechanism.h"
#include "mech/toss.h"

#include <math.h>
#include <string.h>

/* ---- the lists ---- */

/* A chain while it grows. */
typedef struct chain {
    const neighbour_index *index;
    uint32_t count, length;
    uint32_t *order; /* the words of the chain */
    uint32_t *stack; /* those whose neighbors may not all be in the chain, the last one on top */
    uint32_t *seen;  /* how many neighbors of each word are known to be in the chain */
    unsigned char *has;
} chain;

static void add(chain *c, uint32_t word, uint32_t *top) {
    c->has[word] = 1;
    c->order[c->length++] = word;
    c->stack[(*top)++] = word;
}

/* Adds `word` and all words that can be reached from it. */
static tem_status add_reachable(chain *c, uint32_t word, tem_error *error) {
    uint32_t top = 0;
    add(c, word, &top);
    while (top > 0) {
        const uint32_t last = c->stack[top - 1];
        tem_neighbours near;
        TRY(neighbours_get(c->index, last, &near, error));
        uint32_t *seen = &c->seen[last];
        while (*seen < near.count && c->has[near.list[*seen].id])
            ++*seen;
        if (*seen < near.count)
            add(c, near.list[*seen].id, &top);
        else
            top--;
    }
    return TEM_OK;
}

static tem_status make_chain(chain *c, uint32_t start, tem_error *error) {
    memset(c->has, 0, c->count);
    memset(c->seen, 0, c->count * sizeof *c->seen);
    c->length = 0;
    TRY(add_reachable(c, start, error));
    for (uint32_t id = 0; id < c->count; id++)
        if (!c->has[id])
            TRY(add_reachable(c, id, error));
    return TEM_OK;
}

/* Makes list `l` of a chain: its outputs in order, and the place of each word. */
static void take_list(diffractor *d, const chain *c, uint32_t l) {
    uint32_t *words = d->words + (size_t)l * d->length, passed = 0;
    uint32_t *places = d->places + (size_t)l * d->count;
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t word = c->order[i];
        places[word] = passed < d->length ? passed : d->length - 1;
        if (weights_at(&d->outputs, word) > 0)
            words[passed++] = word;
    }
}

static tem_status make_lists(diffractor *d, chain *c, tem_error *error) {
    c->order = core_alloc(c->count, sizeof *c->order);
    c->stack = core_alloc(c->count, sizeof *c->stack);
    c->seen = core_alloc(c->count, sizeof *c->seen);
    c->has = core_alloc(c->count, 1);
    if (c->order == NULL || c->stack == NULL || c->seen == NULL || c->has == NULL)
        return core_fail_memory(error);
    for (uint32_t l = 0; l < d->lists; l++) {
        TRY(make_chain(c, (uint32_t)((uint64_t)l * c->count / d->lists), error));
        take_list(d, c, l);
    }
    return TEM_OK;
}

tem_status diffractor_init_lists(diffractor *d, const neighbour_index *index, uint32_t count,
                                 const uint32_t *outputs, uint32_t lists, tem_error *error) {
    d->count = count;
    d->lists = lists;
    TRY(weights_init(&d->outputs, outputs, count, error));
    d->length = (uint32_t)d->outputs.sum;
    d->words = core_alloc((size_t)lists * d->length, sizeof *d->words);
    d->places = core_alloc((size_t)lists * count, sizeof *d->places);
    chain c = {.index = index, .count = count};
    const tem_status status =
        d->words == NULL || d->places == NULL ? core_fail_memory(error) : make_lists(d, &c, error);
    core_free(c.has);
    core_free(c.seen);
    core_free(c.stack);
    core_free(c.order);
    return status;
}

void diffractor_free(diffractor *d) {
    core_free(d->powers);
    core_free(d->places);
    core_free(d->words);
    weights_free(&d->outputs);
}

/* ---- the law ---- */

static uint32_t place_of(const diffractor *d, uint32_t l, uint32_t word) {
    return d->places[(size_t)l * d->count + word];
}

/* Draws k with probability (1 - a) / (1 + a) a^|k|: a size and a sign. Of the two zeros one is
 * drawn again. */
static int64_t noise(uint32_t steps, tem_rng *rng) {
    for (;;) {
        const int64_t size = (int64_t)toss_geometric(steps, rng);
        const bool negative = rng_below(rng, 2) == 1;
        if (size > 0 || !negative)
            return negative ? -size : size;
    }
}

static uint32_t draw_known(const diffractor *d, uint32_t word, tem_rng *rng) {
    const uint32_t l = (uint32_t)rng_below(rng, d->lists);
    const int64_t end = (int64_t)d->length - 1;
    int64_t place = place_of(d, l, word) + noise(d->steps, rng);
    place = place < 0 ? 0 : place > end ? end : place;
    return d->words[(size_t)l * d->length + (size_t)place];
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const diffractor *d = state;
    (void)error;
    for (size_t i = 0; i < count; i++)
        out[i] =
            words[i] == TEM_NO_WORD ? weights_draw(&d->outputs, rng) : draw_known(d, words[i], rng);
    return TEM_OK;
}

static tem_status init_powers(diffractor *d, tem_error *error) {
    d->powers = core_alloc(d->length, sizeof *d->powers);
    for (uint32_t k = 0; d->powers != NULL && k < d->length; k++)
        d->powers[k] = exp(-ldexp(d->steps, -EXPONENT_S_BITS) * k);
    return d->powers == NULL ? core_fail_memory(error) : TEM_OK;
}

/* The noise on places, as far as it is the same for all of them. */
typedef struct place_law {
    const double *powers;
    double middle, end; /* P(place j | place i) = middle or end, times a^|j-i| */
    uint32_t last;
} place_law;

static place_law place_law_of(const diffractor *d) {
    const double epsilon = ldexp(d->steps, -EXPONENT_S_BITS), a = exp(-epsilon);
    /* An end has the noise beyond it, too: 1 + a + a^2 + ... times as much. */
    return (place_law){d->powers, -expm1(-epsilon) / (1 + a), 1 / (1 + a), d->length - 1};
}

/* P(place j | place i). A probability below the least double, 10^-308, is 0 here. */
static double place_probability(const place_law *law, uint32_t i, uint32_t j) {
    const double power = law->powers[j > i ? j - i : i - j];
    const double share = j == 0 || j == law->last ? law->end : law->middle;
    return law->last == 0 ? 1 : share * power;
}

static tem_status row(const void *state, uint32_t word, double *probabilities, tem_error *error) {
    const diffractor *d = state;
    (void)error;
    for (uint32_t y = 0; y < d->count; y++)
        probabilities[y] =
            word == TEM_NO_WORD ? weights_at(&d->outputs, y) / (double)d->outputs.sum : 0;
    const place_law law = place_law_of(d);
    for (uint32_t l = 0; l < d->lists && word != TEM_NO_WORD; l++)
        for (uint32_t j = 0; j < d->length; j++)
            probabilities[d->words[(size_t)l * d->length + j]] +=
                place_probability(&law, place_of(d, l, word), j) / d->lists;
    return TEM_OK;
}

static void column(const void *state, uint32_t y, double *likelihoods) {
    const diffractor *d = state;
    const place_law law = place_law_of(d);
    for (uint32_t w = 0; w < d->count; w++) {
        likelihoods[w] = 0;
        for (uint32_t l = 0; l < d->lists; l++)
            likelihoods[w] +=
                place_probability(&law, place_of(d, l, w), place_of(d, l, y)) / d->lists;
    }
    likelihoods[d->count] = weights_at(&d->outputs, y) / (double)d->outputs.sum;
}

/* ---- the interface ---- */

enum { EPSILON_MAX = 1000 };

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    diffractor *d = state;
    const double lists = mechanism_number(setup, "lists");
    (void)beta;
    if (lists != floor(lists))
        return core_fail(error, TEM_ERR_RANGE, "lists must be a whole number");
    const double steps = floor(ldexp(setup->epsilon, EXPONENT_S_BITS));
    if (!(steps >= 1 && steps <= ldexp(EPSILON_MAX, EXPONENT_S_BITS)))
        return core_fail(error, TEM_ERR_RANGE, "epsilon must be between 2^-20 and 1000");
    d->steps = (uint32_t)steps;
    TRY(diffractor_init_lists(d, setup->index, setup->space->count, setup->weights, (uint32_t)lists,
                              error));
    return init_powers(d, error);
}

static void free_state(void *state) {
    diffractor_free(state);
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss per place of a list, not per unit of distance",
     .least = 0x1p-20,
     .most = EPSILON_MAX},
    {.name = "lists",
     .meaning = "how many lists there are",
     .least = 1,
     .most = DIFFRACTOR_LISTS_MAX,
     .usual = 5},
    {.name = NULL}};

const mechanism_ops mechanism_diffractor = {
    .properties = {.name = "diffractor",
                   .summary = "noise on the place of the word in lists of all words",
                   .paper = "Meisenbacher, Chevli, Matthes 2024",
                   .guarantee = TEM_GUARANTEE_OTHER,
                   .claim = "P(y | w) <= exp(epsilon D(w,w')) P(y | w') for known words, D the "
                            "largest difference of their places in a list; exact integers",
                   .caveat = "The bound of diffractor counts places in lists, not the model's "
                             "distance; use the mechanism tem, em, rank or coin",
                   .law_digits = MECHANISM_ROW_DIGITS,
                   .parameters = parameters},
    .state_bytes = sizeof(diffractor),
    .init = init,
    .free = free_state,
    .draw = draw,
    .row = row,
    .column = column};
