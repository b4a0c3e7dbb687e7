/* custext.c - the mechanisms `custext` and `custext-plus`.
 *
 * Chen, Mo, Wang, Chen, Nie, Wang, Cui 2023, "A Customized Text Sanitization Mechanism with
 * Differential Privacy". The vocabulary is cut into sets: a word that is in no set yet forms one
 * with the k - 1 nearest words that are in no set either (their algorithm 1). A word is replaced by
 * a word of its own set, by the exponential mechanism:
 *
 *     P(y | w) proportional to exp(epsilon u(w,y) / 2),   u = 1 - (d(w,y) - dmin) / (dmax - dmin)
 *
 * dmin and dmax are the least and largest distance of w to a word of the set, and u is 1 for all
 * words if they are equal. u is between 0 and 1, so its sensitivity is 1.
 *
 * Theorem (theirs). P(y | w) <= exp(epsilon) P(y | w') for w and w' of the same set. Proof: u
 * changes by at most 1 in the numerator, and each term of the sum in the denominator changes by a
 * factor of at most exp(epsilon / 2). Between words of different sets there is no bound: no output
 * of one is an output of the other. So an output tells which set the input is in, whatever epsilon
 * is.
 *
 * `custext-plus` is the same, except that the words of a public list (stop words) stay themselves.
 * The theorem then holds between words of a set that are not listed.
 *
 * Here the draw is exact: the exponent of y is an integer x, floor(h (d - dmin) / (dmax - dmin)), h
 * below epsilon / 2 by one step of 2^-36, which pays for the factor 1 + 2^-99 of toss.h. The draw
 * takes a member at random, and keeps it with probability exp(-x), until one is kept. The paper
 * leaves open:
 * - Which word forms the next set. Here it is the one with the lowest id, so that the sets are
 *   public, and depend on the model alone.
 * - What is left at the end. The last set has fewer than k words; if it has one word, that word
 *   stays itself.
 * - Unknown words. They are drawn uniformly from all outputs; no bound is stated for them.
 * - Words that must not be outputs. They are in no set; they are drawn as if in the set of the
 *   nearest output, with their own distances.
 *
 * The authors' code (github.com/sai4july/CusText, CusText/sst2/utils.py and args.py) forms the sets
 * in the order of the word frequencies of the private text, so that the sets depend on it. It
 * releases words without a vector as they are; to numbers among them it adds a number below 1000.
 * With its default vectors it takes a word out of the search by the zero vector, whose product of 0
 * is above every negative product: late sets get words of early sets. Stop words stay themselves
 * whatever the user says: the option is of type bool, for which every text is true. */
#include "mech/custext.h"

#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"
#include "mech/mechanism.h"
#include "mech/toss.h"

#include <math.h>

/* ---- the sets ---- */

/* The sets while they grow. */
typedef struct set_maker {
    custext *c;
    const neighbour_index *index;
    uint32_t k, placed; /* placed: members so far */
    uint64_t *keys;     /* room for all words */
} set_maker;

#define NO_SET UINT32_MAX

static bool is_free(const custext *c, uint32_t id) {
    return c->set_of[id] == NO_SET && weights_at(&c->outputs, id) > 0;
}

static void place(set_maker *m, uint32_t id) {
    m->c->members[m->placed++] = id;
    m->c->set_of[id] = m->c->sets;
}

/* Places up to `missing` free words, the nearest first, by looking at all words. */
static void place_from_all(set_maker *m, uint32_t word, uint32_t missing) {
    uint32_t found = 0;
    for (uint32_t id = 0; id < m->c->space->count; id++)
        if (is_free(m->c, id))
            m->keys[found++] = nearest_key(id, space_distance(m->c->space, word, id));
    if (found > missing)
        nearest_select(m->keys, found, missing);
    const uint32_t taken = found < missing ? found : missing;
    nearest_sort(m->keys, taken);
    for (uint32_t i = 0; i < taken; i++)
        place(m, (uint32_t)m->keys[i]);
}

/* Forms the set of a free word. The list has the nearest words in order, so the search looks beyond
 * it only if too few of its words are free. */
static tem_status form_set(set_maker *m, uint32_t word, tem_error *error) {
    const uint32_t start = m->placed;
    tem_neighbours near;
    TRY(neighbours_get(m->index, word, &near, error));
    for (uint32_t i = 0; i < near.count && m->placed - start < m->k; i++)
        if (is_free(m->c, near.list[i].id))
            place(m, near.list[i].id);
    if (m->placed - start < m->k)
        place_from_all(m, word, m->k - (m->placed - start));
    m->c->starts[m->c->sets++] = start;
    return TEM_OK;
}

/* The output nearest to a word. */
static uint32_t nearest_output(const custext *c, uint32_t word) {
    uint64_t least = UINT64_MAX;
    for (uint32_t id = 0; id < c->space->count; id++) {
        const uint64_t key = weights_at(&c->outputs, id) == 0
                                 ? UINT64_MAX
                                 : nearest_key(id, space_distance(c->space, word, id));
        least = key < least ? key : least;
    }
    return (uint32_t)least;
}

static tem_status form_sets(set_maker *m, tem_error *error) {
    custext *c = m->c;
    const uint32_t count = c->space->count;
    tem_status status = TEM_OK;
    for (uint32_t id = 0; id < count; id++)
        c->set_of[id] = NO_SET;
    for (uint32_t id = 0; id < count && status == TEM_OK; id++)
        if (is_free(c, id))
            status = form_set(m, id, error);
    c->starts[c->sets] = m->placed;
    for (uint32_t id = 0; id < count && status == TEM_OK; id++)
        if (weights_at(&c->outputs, id) == 0)
            c->set_of[id] = c->set_of[nearest_output(c, id)];
    return status;
}

tem_status custext_init_sets(custext *c, const neighbour_index *index, const space *s,
                             const uint32_t *outputs, uint32_t k, tem_error *error) {
    c->space = s;
    TRY(weights_init(&c->outputs, outputs, s->count, error));
    set_maker m = {.c = c, .index = index, .k = k};
    m.keys = core_alloc(s->count, sizeof *m.keys);
    c->members = core_alloc(s->count, sizeof *c->members);
    c->starts = core_alloc((size_t)s->count + 1, sizeof *c->starts);
    c->set_of = core_alloc(s->count, sizeof *c->set_of);
    const bool has_room =
        m.keys != NULL && c->members != NULL && c->starts != NULL && c->set_of != NULL;
    const tem_status status = has_room ? form_sets(&m, error) : core_fail_memory(error);
    core_free(m.keys);
    return status;
}

void custext_free(custext *c) {
    core_free(c->stays);
    core_free(c->set_of);
    core_free(c->starts);
    core_free(c->members);
    weights_free(&c->outputs);
}

/* ---- the law ---- */

uint32_t custext_exponents(const custext *c, uint32_t word, uint64_t x[CUSTEXT_K_MAX]) {
    const uint32_t *members = c->members + c->starts[c->set_of[word]];
    const uint32_t count = c->starts[c->set_of[word] + 1] - c->starts[c->set_of[word]];
    tem_dist least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const tem_dist d = space_distance(c->space, word, members[i]);
        least = d < least ? d : least;
        most = d > most ? d : most;
        x[i] = d;
    }
    for (uint32_t i = 0; i < count; i++)
        x[i] = most == least
                   ? 0
                   : (uint64_t)((u256_wide)c->half_epsilon * (x[i] - least) / (most - least));
    return count;
}

static bool stays(const custext *c, uint32_t word) {
    return c->stays != NULL && c->stays[word];
}

/* PRIVACY: a rejection draws another member. The nearest has the exponent 0 and is always kept. */
static uint32_t draw_known(const custext *c, uint32_t word, tem_rng *rng) {
    uint64_t x[CUSTEXT_K_MAX];
    if (stays(c, word))
        return word;
    const uint32_t count = custext_exponents(c, word, x);
    uint32_t i = 0;
    do
        i = (uint32_t)rng_below(rng, count);
    while (!toss_exp(x[i], rng));
    return c->members[c->starts[c->set_of[word]] + i];
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const custext *c = state;
    (void)error;
    for (size_t i = 0; i < count; i++)
        out[i] =
            words[i] == TEM_NO_WORD ? weights_draw(&c->outputs, rng) : draw_known(c, words[i], rng);
    return TEM_OK;
}

/* Adds the law inside the set of a word. */
static void put_set(const custext *c, uint32_t word, double *probabilities) {
    uint64_t x[CUSTEXT_K_MAX];
    const uint32_t count = custext_exponents(c, word, x), start = c->starts[c->set_of[word]];
    double total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += exp(ldexp(-(double)x[i], -EXPONENT_BITS));
    for (uint32_t i = 0; i < count; i++)
        probabilities[c->members[start + i]] = exp(ldexp(-(double)x[i], -EXPONENT_BITS)) / total;
}

static tem_status row(const void *state, uint32_t word, double *probabilities, tem_error *error) {
    const custext *c = state;
    (void)error;
    for (uint32_t y = 0; y < c->space->count; y++)
        probabilities[y] =
            word == TEM_NO_WORD ? weights_at(&c->outputs, y) / (double)c->outputs.sum : 0;
    if (word != TEM_NO_WORD && stays(c, word))
        probabilities[word] = 1;
    else if (word != TEM_NO_WORD)
        put_set(c, word, probabilities);
    return TEM_OK;
}

/* ---- the interface ---- */

/* Notes the words that stay themselves: listed words that may be outputs. */
static tem_status note_stays(custext *c, const unsigned char *listed, tem_error *error) {
    c->stays = core_alloc(c->space->count, 1);
    if (c->stays == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < c->space->count; id++)
        c->stays[id] = listed[id] && weights_at(&c->outputs, id) > 0;
    return TEM_OK;
}

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    custext *c = state;
    const double k = mechanism_number(setup, "k");
    (void)beta;
    if (k != floor(k))
        return core_fail(error, TEM_ERR_RANGE, "k must be a whole number");
    const double half = floor(ldexp(setup->epsilon, EXPONENT_BITS - 1)) - 1;
    if (!(half >= 1 && half <= ldexp(EXPONENT_MAX_UNITS, EXPONENT_BITS)))
        return core_fail(error, TEM_ERR_RANGE, "epsilon must be between 2^-34 and 128");
    c->half_epsilon = (uint64_t)half;
    const tem_status status =
        custext_init_sets(c, setup->index, setup->space, setup->weights, (uint32_t)k, error);
    return status == TEM_OK && setup->listed != NULL ? note_stays(c, setup->listed, error) : status;
}

static void free_state(void *state) {
    custext_free(state);
}

static const tem_parameter parameters[] = {
    {.name = "epsilon",
     .meaning = "the loss between words of one set, not per unit of distance",
     .least = 0x1p-34,
     .most = 128},
    {.name = "k",
     .meaning = "how many words a set has",
     .least = 1,
     .most = CUSTEXT_K_MAX,
     .usual = 20},
    {.name = NULL}};

const mechanism_ops mechanism_custext = {
    .properties = {.name = "custext",
                   .summary = "sets of k near words, each word by a word of its set",
                   .paper = "Chen, Mo, Wang, Chen, Nie, Wang, Cui 2023",
                   .guarantee = TEM_GUARANTEE_OTHER,
                   .claim =
                       "P(y | w) <= exp(epsilon) P(y | w') for words w and w' of the same set; "
                       "exact integers; no bound between sets",
                   .caveat = "An output of custext tells which set of k words the input is in; use "
                             "the mechanism tem, em, rank or coin",
                   .law_digits = MECHANISM_ROW_DIGITS,
                   .parameters = parameters},
    .state_bytes = sizeof(custext),
    .init = init,
    .free = free_state,
    .draw = draw,
    .row = row};

const mechanism_ops mechanism_custext_plus = {
    .properties = {.name = "custext-plus",
                   .summary = "custext, except that listed words stay themselves",
                   .paper = "Chen, Mo, Wang, Chen, Nie, Wang, Cui 2023",
                   .guarantee = TEM_GUARANTEE_OTHER,
                   .claim = "P(y | w) <= exp(epsilon) P(y | w') for words w and w' of the same set "
                            "that are not listed; exact integers; no bound otherwise",
                   .caveat =
                       "custext-plus releases the listed words as they are, and tells the set "
                       "of every other word; use the mechanism tem, em, rank or coin",
                   .law_digits = MECHANISM_ROW_DIGITS,
                   .list = "the words that stay themselves; must not be made from the private text",
                   .parameters = parameters},
    .state_bytes = sizeof(custext),
    .init = init,
    .free = free_state,
    .draw = draw,
    .row = row};
