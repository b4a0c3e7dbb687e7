/* sampler.c - words drawn from the exact law.
 *
 * Rejection from the envelope of envelope.h. A round for a word:
 *
 *     a component of the envelope, with the probability of its size
 *       of the list:  its entry
 *       of a range:   a word y of the range with probability a_y / A_p; rejected if the list
 *                     has it, else kept with probability E_(j_y) / E_(j_p)
 *     the word is released with probability exp(-r), r the fraction of its exponent
 *     any rejection starts the whole again
 *
 * With Z the total of the envelope, one round releases y with probability
 * a_y E_(j_y) exp(-r_y) / Z, for words of the list and others alike; so what is released
 * has the law of sampler.h.
 *
 * PRIVACY: "the whole again" is the point. Retrying within the list only, or giving a range
 * another total than the one it is drawn from, changes the odds between list and tail by
 * word, and breaks the guarantee by a factor of several (the tests plant these faults). No
 * number of rounds is too many: a fallback would be another law.
 *
 * Most of the time goes into waiting for the vectors of words of the tail, which are
 * anywhere in memory. So several draws are pending at once: each round that meets such a
 * word asks for its vector, and goes on after all other pending draws have made a step. */
#include "mech/sampler.h"

#include "core/status.h"

/* By how much the first bits must differ from those of a ratio to be on one side of it. */
enum { FIRST_BITS_MARGIN = 2 };

bool sampler_bernoulli_exp(uint64_t fraction, tem_rng *rng) {
    uint64_t k = 1;
    while (fraction > 0 && rng_below(rng, k << EXPONENT_BITS) < fraction)
        k++;
    return k % 2 == 1;
}

/* The largest number that space_raw gives for a word below a level. */
static uint64_t largest_below(const sampler *m, unsigned level) {
    const exponent *x = &m->envelopes.exponent;
    const uint64_t first = (uint64_t)level << EXPONENT_FRACTION_BITS; /* of the level's exponents */
    const uint64_t distance = (first + x->s - 1) / x->s;
    if (distance == 0 || distance > x->gamma)
        return distance == 0 ? 0 : UINT64_MAX;
    return space_raw_of_distance(m->space, (tem_dist)(distance - 1));
}

static void make_gaps(sampler *m) {
    unsigned gap = EXP_LEVELS;
    for (unsigned k = 0; k < 1u << SAMPLER_GAP_BITS; k++) {
        const uint64_t least = (uint64_t)k << (64 - SAMPLER_GAP_BITS);
        while (gap > 0 && least > exp_table[gap].limb[2] + FIRST_BITS_MARGIN)
            gap--;
        m->gaps[k] = (uint16_t)gap;
    }
}

tem_status sampler_init(sampler *m, const space *s, const neighbour_index *index, exponent x,
                        const uint32_t *values, tem_error *error) {
    *m = (sampler){.space = s};
    const tem_status status = envelopes_init(&m->envelopes, index, x, values, error);
    if (status != TEM_OK)
        return status;
    for (unsigned level = 0; level <= EXP_LEVELS; level++)
        m->nearer[level] = largest_below(m, level);
    m->nearer[EXP_LEVELS + 1] = UINT64_MAX;
    make_gaps(m);
    return TEM_OK;
}

void sampler_free(sampler *m) {
    envelopes_free(&m->envelopes);
}

/* What a pending draw waits for, if for anything. */
typedef enum draw_stage { DRAW_BEGINS, DRAW_AWAITS_COLUMN, DRAW_AWAITS_VECTOR } draw_stage;

/* A word that is being drawn for. */
typedef struct pending_draw {
    uint32_t word;
    size_t place; /* in the output */

    draw_stage stage;
    unsigned range;      /* that a candidate is drawn from */
    uint32_t candidate;  /* or, before it is drawn, the column of the weights to draw it by */
    uint64_t first_bits; /* decides whether it is kept */
} pending_draw;

static bool list_has(const tem_neighbours *near, const tem_neighbour *y) {
    uint32_t low = 0, high = near->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const tem_neighbour *entry = &near->list[middle];
        if (entry->distance == y->distance && entry->id == y->id)
            return true;
        if (entry->distance < y->distance || (entry->distance == y->distance && entry->id < y->id))
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* True with probability E_level / E_b, b being bound_level <= level, given the first bits of a
 * number uniform below 2^64 E_b (as in envelope.h). The ratio of two levels is that of E_0 = 2^192
 * and E_(level - b) but for a factor within 1 +- 2^-98, so the latter's first 64 bits decide,
 * unless the given ones are next to them. */
static bool keep_from_tail(unsigned level, unsigned bound_level, uint64_t first_bits,
                           tem_rng *rng) {
    const u256 *whole = &exp_table[bound_level], *kept = &exp_table[level];
    const uint64_t ratio = exp_table[level - bound_level].limb[2];
    if (level == bound_level || (first_bits < ratio && ratio - first_bits > FIRST_BITS_MARGIN))
        return true;
    if (first_bits > ratio && first_bits - ratio > FIRST_BITS_MARGIN)
        return false;
    const u256 remainder = rng_below256(rng, whole);
    return u256_product_less(first_bits, whole, &remainder, kept);
}

/* Whether the candidate of a pending draw is kept; *y receives it if so. */
static tem_status weigh_candidate(const sampler *m, const pending_draw *t, tem_rng *rng,
                                  tem_neighbour *y, bool *kept, tem_error *error) {
    const envelopes *e = &m->envelopes;
    const tem_dist bound = neighbours_bounds(e->index, t->word)[t->range];
    const unsigned bound_level = exponent_level(exponent_at(&e->exponent, bound));
    const unsigned highest = bound_level + m->gaps[t->first_bits >> (64 - SAMPLER_GAP_BITS)];
    const uint64_t raw = space_raw(m->space, t->word, t->candidate);
    *kept = false;
    if (highest < EXP_LEVELS && raw > m->nearer[highest + 1])
        return TEM_OK; /* as keep_from_tail would say */
    *y = (tem_neighbour){t->candidate, space_distance_of_raw(m->space, raw)};
    if (y->distance <= bound) { /* no word of the list is farther than a bound */
        tem_neighbours near;
        const tem_status status = neighbours_get(e->index, t->word, &near, error);
        if (status != TEM_OK || list_has(&near, y))
            return status;
    }
    /* PRIVACY: the envelope is above the law only if no word outside the list is nearer
     * than the bound of its range. */
    if (y->distance < bound)
        return core_fail(error, TEM_ERR_DAMAGED,
                         "damaged model: a word is nearer than the bound on it; verify the model");
    const unsigned level = exponent_level(exponent_at(&e->exponent, y->distance));
    *kept = keep_from_tail(level, bound_level, t->first_bits, rng);
    return TEM_OK;
}

static bool released(const sampler *m, const tem_neighbour *y, tem_rng *rng) {
    return sampler_bernoulli_exp(
        exponent_fraction(exponent_at(&m->envelopes.exponent, y->distance)), rng);
}

static void await_vector(const sampler *m, pending_draw *t, tem_rng *rng) {
    t->candidate = weights_draw_word(&m->envelopes.weights, t->range, t->candidate, rng);
    t->first_bits = rng_word(rng);
    t->stage = DRAW_AWAITS_VECTOR;
    space_prefetch(m->space, t->candidate);
}

static void await_candidate(const sampler *m, pending_draw *t, unsigned range, tem_rng *rng) {
    t->range = range;
    t->candidate = weights_draw_column(&m->envelopes.weights, range, rng);
    t->stage = DRAW_AWAITS_COLUMN;
    if (m->envelopes.weights.columns == NULL)
        await_vector(m, t, rng);
}

/* Goes on with a pending draw until it waits or is over. */
static tem_status advance(const sampler *m, pending_draw *t, tem_rng *rng, uint32_t *out,
                          bool *over, tem_error *error) {
    *over = false;
    if (t->word == TEM_NO_WORD) {
        /* PRIVACY: at distance gamma from every word, exp(-s gamma) cancels. */
        out[t->place] = weights_draw(&m->envelopes.weights, rng);
        *over = true;
        return TEM_OK;
    }
    if (t->stage == DRAW_AWAITS_COLUMN) {
        await_vector(m, t, rng);
        return TEM_OK;
    }
    for (;;) {
        tem_neighbour y = {0, 0};
        bool kept = true;
        tem_status status = TEM_OK;
        if (t->stage == DRAW_AWAITS_VECTOR) {
            t->stage = DRAW_BEGINS;
            status = weigh_candidate(m, t, rng, &y, &kept, error);
        } else {
            uint32_t component = 0;
            status = envelopes_draw(&m->envelopes, t->word, rng, &component, error);
            if (status == TEM_OK && component < NEIGHBOUR_RANGES) {
                await_candidate(m, t, component, rng);
                return TEM_OK;
            }
            if (status == TEM_OK)
                y = envelopes_entry(&m->envelopes, t->word, component);
        }
        if (status != TEM_OK)
            return status;
        if (kept && released(m, &y, rng)) {
            out[t->place] = y.id;
            *over = true;
            return TEM_OK;
        }
    }
}

/* More pending draws ask for more lines than a core can have under way: 16 of them are up to a
 * fifth slower than 8 where a row has ten lines, and no faster where it has four. */
enum { DRAWS_AT_ONCE = 8, AHEAD = 24 };

static pending_draw begin_draw(const sampler *m, const uint32_t *words, size_t count,
                               size_t place) {
    if (place + AHEAD < count && words[place + AHEAD] != TEM_NO_WORD)
        envelopes_prefetch(&m->envelopes, words[place + AHEAD]);
    return (pending_draw){.word = words[place], .place = place};
}

tem_status sampler_draw(const sampler *m, const uint32_t *words, size_t count, tem_rng *rng,
                        uint32_t *out, tem_error *error) {
    pending_draw pending[DRAWS_AT_ONCE];
    size_t begun = 0;
    unsigned active = 0;
    while (active < DRAWS_AT_ONCE && begun < count)
        pending[active++] = begin_draw(m, words, count, begun++);
    for (unsigned i = 0; active > 0; i = i + 1 < active ? i + 1 : 0) {
        bool over = false;
        tem_status status = advance(m, &pending[i], rng, out, &over, error);
        if (status != TEM_OK)
            return status;
        if (over && begun < count)
            pending[i] = begin_draw(m, words, count, begun++);
        else if (over)
            pending[i] = pending[--active];
    }
    return TEM_OK;
}
