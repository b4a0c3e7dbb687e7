/* sampler.c - one word drawn from the exact law.
 *
 * Rejection from an envelope that needs the list of near words only. With j the levels of
 * exponents and b the bound on the words outside the list:
 *
 *     S = sum over the list of a_i E_(j_i)        T = A_tail E_(j_b)
 *     U uniform on [0, S + T)
 *       U < S:  the entry of the list that U falls on
 *       else:   a word outside the list with probability a_y / A_tail, kept with
 *               probability E_(j_y) / E_(j_b)
 *     the word is released with probability exp(-r), r the rest of its exponent
 *     any rejection starts the whole again
 *
 * One round releases y with probability a_y E_(j_y) exp(-r_y) / (S + T), for words of the
 * list and others alike; so what is released has the law of sampler.h.
 *
 * PRIVACY: "the whole again" is the point. Retrying within the list only, or giving the
 * tail another total than the one it is drawn from, changes the odds between list and
 * tail by word, and breaks the guarantee by a factor of several (the tests plant these
 * faults). No number of rounds is too many: a fallback would be another law. */
#include "mech/sampler.h"

#include "core/status.h"

typedef struct envelope {
    u256 list;  /* S */
    u256 total; /* S + T */
    unsigned tail_level;
} envelope;

bool sampler_bernoulli_exp(uint64_t rest, tem_rng *rng) {
    uint64_t k = 1;
    while (rng_below(rng, k << EXPONENT_BITS) < rest)
        k++;
    return k % 2 == 1;
}

/* Entries of a list that have the same level. Lists are sorted by distance, so a level's
 * entries stand together. */
typedef struct level_run {
    uint32_t end; /* one past its last entry */
    unsigned level;
    uint64_t weight; /* of its entries together */
} level_run;

static level_run run_from(const sampler *m, const tem_neighbours *near, uint32_t first) {
    level_run run = {first, exponent_level(exponent_at(&m->exponent, near->list[first].distance)),
                     0};
    do {
        run.weight += weights_at(&m->weights, near->list[run.end].id);
        run.end++;
    } while (run.end < near->count &&
             exponent_level(exponent_at(&m->exponent, near->list[run.end].distance)) == run.level);
    return run;
}

/* TEM_ERR_DAMAGED for a list that names a word twice: it may weigh more than all words,
 * and then a word outside it might be looked for in vain. */
static tem_status make_envelope(const sampler *m, const tem_neighbours *near, envelope *out,
                                tem_error *error) {
    envelope e = {.tail_level = exponent_level(exponent_at(&m->exponent, near->bound))};
    uint64_t tail_weight = m->weights.sum;
    level_run run = {0, 0, 0};
    while (run.end < near->count) {
        run = run_from(m, near, run.end);
        if (run.weight > tail_weight)
            return core_fail(error, TEM_ERR_DAMAGED,
                             "damaged model: a list names a word twice; run 'tem verify'");
        u256_add_product(&e.list, &exp_table[run.level], run.weight);
        tail_weight -= run.weight;
    }
    e.total = e.list;
    u256_add_product(&e.total, &exp_table[e.tail_level], tail_weight);
    *out = e;
    return TEM_OK;
}

/* Takes `weight` shares of E_level off u; false, and u as it was, if u is below that. */
static bool pass_over(u256 *u, unsigned level, uint64_t weight) {
    u256 share = {{0, 0, 0, 0}};
    u256_add_product(&share, &exp_table[level], weight);
    if (u256_less(u, &share))
        return false;
    u256_subtract(u, &share);
    return true;
}

/* The entry of the list that u, below e.list, falls on: first the run, then the entry. */
static const tem_neighbour *pick_from_list(const sampler *m, const tem_neighbours *near, u256 u) {
    uint32_t first = 0;
    level_run run = run_from(m, near, first);
    while (pass_over(&u, run.level, run.weight)) {
        first = run.end;
        run = run_from(m, near, first);
    }
    while (pass_over(&u, run.level, weights_at(&m->weights, near->list[first].id)))
        first++;
    return &near->list[first];
}

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

/* A word outside the list with probability a_y / A_tail. On average at most one word is
 * drawn in vain for each round, since A E_(j_b) <= S + T. */
static tem_status draw_outside(const sampler *m, uint32_t word, const tem_neighbours *near,
                               tem_rng *rng, tem_neighbour *y, tem_error *error) {
    do {
        y->id = weights_draw(&m->weights, rng);
        y->distance = space_distance(m->space, word, y->id);
    } while (list_has(near, y));
    /* PRIVACY: the envelope is above the law only if no word outside the list is nearer
     * than the bound. */
    if (y->distance < near->bound)
        return core_fail(error, TEM_ERR_DAMAGED,
                         "damaged model: a word is nearer than the bound on it; run 'tem verify'");
    return TEM_OK;
}

/* True with probability E_level / E_tail_level. */
static bool keep_from_tail(unsigned level, unsigned tail_level, tem_rng *rng) {
    const u256 v = rng_below256(rng, &exp_table[tail_level]);
    return u256_less(&v, &exp_table[level]);
}

tem_status sampler_draw(const sampler *m, uint32_t word, tem_rng *rng, uint32_t *out,
                        tem_error *error) {
    if (word == TEM_NO_WORD) {
        /* PRIVACY: at distance gamma from every word, exp(-s gamma) cancels. */
        *out = weights_draw(&m->weights, rng);
        return TEM_OK;
    }
    tem_neighbours near;
    envelope e;
    tem_status status = neighbours_get(m->index, word, &near, error);
    if (status == TEM_OK)
        status = make_envelope(m, &near, &e, error);
    if (status != TEM_OK)
        return status;
    for (;;) {
        const u256 u = rng_below256(rng, &e.total);
        tem_neighbour y;
        if (u256_less(&u, &e.list)) {
            y = *pick_from_list(m, &near, u);
        } else {
            status = draw_outside(m, word, &near, rng, &y, error);
            if (status != TEM_OK)
                return status;
            const unsigned level = exponent_level(exponent_at(&m->exponent, y.distance));
            if (!keep_from_tail(level, e.tail_level, rng))
                continue;
        }
        if (sampler_bernoulli_exp(exponent_rest(exponent_at(&m->exponent, y.distance)), rng)) {
            *out = y.id;
            return TEM_OK;
        }
    }
}
