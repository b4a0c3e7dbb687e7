/* sampler.c - draws words from the exact law.
 *
 * The sampler proposes words from the envelope (envelope.h), and accepts or rejects them. It works
 * in rounds. j and r are the level and the fraction of an exponent: j_y and r_y for the word y, j_p
 * at the bound of range p. The steps have the numbers of docs/PRIVACY.md, "The draw has this law",
 * where step 5 is the conclusion:
 *
 *   1, 2  Select a component of the envelope, with the probability of its size divided by Z
 *         (envelopes_draw). If the component belongs to an entry y of the list, go to step 6.
 *   3     Otherwise it belongs to a range p. Draw a word y of the range with probability a_y / A_p
 *         (await_candidate, await_vector). Reject y if it is in the list. Otherwise keep y with
 *         probability E_(j_y) / E_(j_p) (weigh_candidate, keep_from_tail).
 *   4     A shortcut in step 3: reject most words before their distance is known (make_gaps,
 *         largest_below).
 *   6     Release y with probability exp(-r_y) (released).
 *   7     After any rejection start a new round at step 1 (advance).
 *
 * With Z the sum of the envelope's components, one round releases y with probability a_y E_(j_y)
 * exp(-r_y) / Z, whether y is in the list or not. So the released word has the law of sampler.h.
 *
 * PRIVACY: a rejection must restart the whole round. Two shortcuts look right and are not: to retry
 * within the list only, or to give a range another total than that of the words that are drawn from
 * it. Either changes the odds between list and tail by an amount that depends on the input word,
 * and breaks the guarantee by a factor of several (the tests plant these faults). There is no limit
 * on the number of rounds: a fallback after some rounds would be another law.
 *
 * Most of the time goes into waiting for the vectors of words of the tail, which are anywhere in
 * memory. So the sampler has several pending draws. A round that needs such a vector prefetches it,
 * and continues after every other pending draw has made a step. */
#include "mech/sampler.h"

#include "core/status.h"

/* First bits that differ by more than this from the first bits of a ratio decide alone on which
 * side of the ratio the number is. */
enum { FIRST_BITS_MARGIN = 2 };

bool sampler_bernoulli_exp(uint64_t fraction, tem_rng *rng) {
    uint64_t k = 1;
    while (fraction > 0 && rng_below(rng, k << EXPONENT_BITS) < fraction)
        k++;
    return k % 2 == 1;
}

/* The largest number that space_raw returns for a word below a level: 0 for level 0, which has no
 * word below it, and UINT64_MAX if no word reaches the level. */
static uint64_t largest_below(const sampler *m, unsigned level) {
    const exponent *x = &m->envelopes.exponent;
    const uint64_t first = (uint64_t)level << EXPONENT_FRACTION_BITS; /* least x of the level */
    const uint64_t distance = (first + x->s - 1) / x->s;
    if (distance == 0 || distance > x->gamma)
        return distance == 0 ? 0 : UINT64_MAX;
    return space_raw_of_distance(m->space, (tem_dist)(distance - 1));
}

/* Step 4: gaps[k] is the largest number of levels at which first bits that begin with k may still
 * keep a word. */
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
    TRY(envelopes_init(&m->envelopes, index, x, values, error));
    for (unsigned level = 0; level <= EXP_LEVELS; level++)
        m->nearer[level] = largest_below(m, level);
    m->nearer[EXP_LEVELS + 1] = UINT64_MAX;
    make_gaps(m);
    return TEM_OK;
}

void sampler_free(sampler *m) {
    envelopes_free(&m->envelopes);
}

/* What a pending draw waits for: nothing, a column of the weights, or a vector. */
typedef enum draw_stage { DRAW_BEGINS, DRAW_AWAITS_COLUMN, DRAW_AWAITS_VECTOR } draw_stage;

/* A draw in progress for one word. */
typedef struct pending_draw {
    uint32_t word;
    size_t place; /* in the output */

    draw_stage stage;
    unsigned range;      /* of the candidate */
    uint32_t candidate;  /* the proposed word; in DRAW_AWAITS_COLUMN the column to draw it by */
    uint64_t first_bits; /* 64 random bits that decide whether the candidate is kept */
} pending_draw;

/* The order of a list: by distance, then by id. */
static uint64_t order_of(const tem_neighbour *y) {
    return (uint64_t)y->distance << 32 | y->id;
}

/* Whether y is in the list. Each step looks at up to 15 entries, none of which depends on another:
 * a search by halves would wait for one entry after the other. */
static bool list_has(const tem_neighbours *near, const tem_neighbour *y) {
    enum { PARTS = 16 };
    const tem_neighbour *list = near->list;
    const uint64_t order = order_of(y);
    uint32_t left = near->count;
    while (left > PARTS) {
        const uint32_t part = (left + PARTS - 1) / PARTS;
        uint32_t passed = 0; /* parts that end before y */
        for (uint32_t end = part; end < left; end += part)
            passed += order_of(&list[end - 1]) < order;
        list += passed * part;
        left = left - passed * part < part ? left - passed * part : part;
    }
    bool found = false;
    for (uint32_t i = 0; i < left; i++)
        found |= order_of(&list[i]) == order;
    return found;
}

/* Step 3: returns true with probability E_level / E_b, where b is bound_level <= level. first_bits
 * are the first 64 bits of a number that is uniform below 2^64 E_b: first_bits * E_b plus a
 * remainder, as in envelope.h. The result is true if this number is below 2^64 E_level.
 *
 * The ratios E_level / E_b and E_(level - b) / 2^192 differ by a factor within 1 +- 2^-98. So the
 * first 64 bits of the second ratio decide, unless first_bits are next to them. Only then the
 * function draws the remainder. */
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

/* Steps 3 and 4: decides whether to keep the candidate of a pending draw. If so, *y receives it
 * with its distance. Fails with TEM_ERR_DAMAGED if the model contradicts itself. */
static tem_status weigh_candidate(const sampler *m, const pending_draw *t, tem_rng *rng,
                                  tem_neighbour *y, bool *kept, tem_error *error) {
    const envelopes *e = &m->envelopes;
    const tem_dist bound = neighbours_bounds(e->index, t->word)[t->range];
    const unsigned bound_level = exponent_level(exponent_at(&e->exponent, bound));
    const unsigned highest = bound_level + m->gaps[t->first_bits >> (64 - SAMPLER_GAP_BITS)];
    const uint64_t raw = space_raw(m->space, t->word, t->candidate);
    *kept = false;
    if (highest < EXP_LEVELS && raw > m->nearer[highest + 1])
        return TEM_OK; /* keep_from_tail would reject it, too */
    *y = (tem_neighbour){t->candidate, space_distance_of_raw(m->space, raw)};
    if (y->distance <= bound) { /* no word of the list is beyond a bound */
        tem_neighbours near;
        const tem_status status = neighbours_get(e->index, t->word, &near, error);
        if (status != TEM_OK || list_has(&near, y))
            return status;
    }
    /* PRIVACY: the envelope is nowhere below the law only if no word outside the list is nearer
     * than the bound of its range. */
    if (y->distance < bound)
        return core_fail(error, TEM_ERR_DAMAGED,
                         "damaged model: a word is nearer than the bound on it; verify the model");
    const unsigned level = exponent_level(exponent_at(&e->exponent, y->distance));
    *kept = keep_from_tail(level, bound_level, t->first_bits, rng);
    return TEM_OK;
}

/* Step 6: whether to release y. */
static bool released(const sampler *m, const tem_neighbour *y, tem_rng *rng) {
    return sampler_bernoulli_exp(
        exponent_fraction(exponent_at(&m->envelopes.exponent, y->distance)), rng);
}

/* Step 3: draws the candidate by its column, draws the first bits, and prefetches the candidate's
 * vector. */
static void await_vector(const sampler *m, pending_draw *t, tem_rng *rng) {
    t->candidate = weights_draw_word(&m->envelopes.weights, t->range, t->candidate, rng);
    t->first_bits = rng_word(rng);
    t->stage = DRAW_AWAITS_VECTOR;
    space_prefetch(m->space, t->candidate);
    space_prefetch(m->space, t->word);
}

/* Step 3: starts to draw a candidate from a range. With equal weights there is no column to wait
 * for. */
static void await_candidate(const sampler *m, pending_draw *t, unsigned range, tem_rng *rng) {
    t->range = range;
    t->candidate = weights_draw_column(&m->envelopes.weights, range, rng);
    t->stage = DRAW_AWAITS_COLUMN;
    if (m->envelopes.weights.columns == NULL)
        await_vector(m, t, rng);
}

/* Continues a pending draw until it has to wait or is over. *over: the output is in out[t->place].
 * Each pass of the loop makes one attempt; a rejection leads to a new round (step 7). */
static tem_status advance(const sampler *m, pending_draw *t, tem_rng *rng, uint32_t *out,
                          bool *over, tem_error *error) {
    *over = false;
    if (t->word == TEM_NO_WORD) {
        /* PRIVACY: an unknown word is at distance gamma from every word, so exp(-s gamma) cancels
         * (step 2 of the proof). */
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

/* DRAWS_AT_ONCE draws are pending at the same time. More of them request more cache lines than a
 * core can fetch at once: 16 draws are up to a fifth slower than 8 where a row has ten cache lines,
 * and no faster where it has four. A draw that begins prefetches the envelope of the word AHEAD
 * places after its own, and where to find it EARLY places before. */
enum { DRAWS_AT_ONCE = 8, AHEAD = 24, EARLY = 48 };

static void begin_draw(const sampler *m, const uint32_t *words, size_t count, size_t place,
                       pending_draw *t) {
    if (place + EARLY < count && words[place + EARLY] != TEM_NO_WORD)
        envelopes_prefetch_early(&m->envelopes, words[place + EARLY]);
    if (place + AHEAD < count && words[place + AHEAD] != TEM_NO_WORD)
        envelopes_prefetch(&m->envelopes, words[place + AHEAD]);
    t->word = words[place];
    t->place = place;
    t->stage = DRAW_BEGINS;
}

tem_status sampler_draw(const sampler *m, const uint32_t *words, size_t count, tem_rng *rng,
                        uint32_t *out, tem_error *error) {
    pending_draw pending[DRAWS_AT_ONCE];
    size_t begun = 0;
    unsigned active = 0;
    while (active < DRAWS_AT_ONCE && begun < count)
        begin_draw(m, words, count, begun++, &pending[active++]);
    for (unsigned i = 0; active > 0; i = i + 1 < active ? i + 1 : 0) {
        bool over = false;
        TRY(advance(m, &pending[i], rng, out, &over, error));
        if (over && begun < count)
            begin_draw(m, words, count, begun++, &pending[i]);
        else if (over)
            pending[i] = pending[--active];
    }
    return TEM_OK;
}
