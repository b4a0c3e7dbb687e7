/* envelope.c - what a draw for one word is made from, exactly. */
#include "mech/envelope.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* One word's envelope, share by share. */
typedef struct shares {
    const envelopes *of;
    tem_neighbours near;
    const tem_dist *bounds;
    uint32_t count;
} shares;

static uint32_t *ends_of(const envelopes *e, uint32_t word) {
    return e->ends + e->index->starts[word] + (size_t)word * NEIGHBOUR_PARTS;
}

/* So that each word's ends have a place of their own. */
static bool starts_ascend(const neighbour_index *index) {
    for (uint32_t id = 0; id < index->count; id++)
        if (index->starts[id] > index->starts[id + 1])
            return false;
    return index->starts[index->count] <= index->entry_count;
}

tem_status envelopes_init(envelopes *e, const neighbour_index *index, exponent x,
                          const uint32_t *values, tem_error *error) {
    *e = (envelopes){.index = index, .exponent = x};
    if (!starts_ascend(index))
        return core_fail(error, TEM_ERR_DAMAGED,
                         "damaged model: its lists overlap; run 'tem verify'");
    tem_status status = weights_init(&e->weights, values, index->count, error);
    if (status != TEM_OK)
        return status;
    const uint64_t ends = index->entry_count + (uint64_t)index->count * NEIGHBOUR_PARTS;
    e->states = core_alloc_zero(index->count, sizeof *e->states);
    e->ends = core_alloc(ends, sizeof *e->ends); /* memory only where it is written */
    if (e->states != NULL && e->ends != NULL)
        return TEM_OK;
    envelopes_free(e);
    return core_fail_memory(error);
}

static void erase_ends(envelopes *e) {
    for (uint32_t word = 0; word < e->index->count; word++)
        if (atomic_load_explicit(&e->states[word], memory_order_relaxed) != ENDS_NONE) {
            const uint64_t *starts = &e->index->starts[word];
            explicit_bzero(ends_of(e, word),
                           (starts[1] - starts[0] + NEIGHBOUR_PARTS) * sizeof *e->ends);
        }
    explicit_bzero((void *)(uintptr_t)e->states, e->index->count * sizeof *e->states);
}

void envelopes_free(envelopes *e) {
    if (e->states != NULL && e->ends != NULL)
        erase_ends(e);
    weights_free(&e->weights);
    core_free(e->states);
    core_free(e->ends);
    *e = (envelopes){0};
}

static tem_status shares_of(const envelopes *e, uint32_t word, shares *out, tem_error *error) {
    tem_status status = neighbours_get(e->index, word, &out->near, error);
    if (status != TEM_OK)
        return status;
    out->of = e;
    out->bounds = neighbours_bounds(e->index, word);
    out->count = NEIGHBOUR_PARTS + out->near.count;
    return TEM_OK;
}

static void add_share(const shares *s, uint32_t share, u256 *sum) {
    const envelopes *e = s->of;
    tem_dist distance = 0;
    uint64_t weight = 0;
    if (share < NEIGHBOUR_PARTS) {
        distance = s->bounds[share];
        /* PRIVACY: the weight of the words that weights_draw_column chooses from, all of the
         * part. A smaller one, of the words outside the list only, is another law. */
        weight = distance == UINT32_MAX ? 0 : e->weights.part_sums[share];
    } else {
        const tem_neighbour *entry = &s->near.list[share - NEIGHBOUR_PARTS];
        distance = entry->distance;
        weight = weights_at(&e->weights, entry->id);
    }
    u256_add_product(sum, &exp_table[exponent_level(exponent_at(&e->exponent, distance))], weight);
}

/* A damaged list may name a word twice, and then a sum overflow.
 * PRIVACY: or it may miss words of a part that has no share, which would never come out. */
static tem_status check_list(const shares *s, tem_error *error) {
    const weights *w = &s->of->weights;
    const uint32_t part_words = neighbours_part_words(w->count);
    uint64_t left[NEIGHBOUR_PARTS]; /* of each part's weight, outside the list */
    memcpy(left, w->part_sums, sizeof left);
    for (uint32_t i = 0; i < s->near.count; i++) {
        const uint32_t id = s->near.list[i].id, weight = weights_at(w, id);
        if (weight > left[id / part_words])
            return core_fail(error, TEM_ERR_DAMAGED,
                             "damaged model: a list names a word twice; run 'tem verify'");
        left[id / part_words] -= weight;
    }
    for (unsigned part = 0; part < NEIGHBOUR_PARTS; part++)
        if (s->bounds[part] == UINT32_MAX && left[part] > 0)
            return core_fail(error, TEM_ERR_DAMAGED,
                             "damaged model: a list misses words; run 'tem verify'");
    return TEM_OK;
}

/* At least E_512 > 2^99: some word has a weight, and it is in the list or its part has a
 * share. Below 2^256: the weights add up to less than 2^63 in the parts, and to no more in
 * the list. */
static u256 total_of(const shares *s) {
    u256 total = {{0, 0, 0, 0}};
    for (uint32_t share = 0; share < s->count; share++)
        add_share(s, share, &total);
    return total;
}

static tem_status shares_and_total(const envelopes *e, uint32_t word, shares *s, u256 *total,
                                   tem_error *error) {
    tem_status status = shares_of(e, word, s, error);
    if (status == TEM_OK)
        status = check_list(s, error);
    if (status == TEM_OK)
        *total = total_of(s);
    return status;
}

/* ------------------------------------------------------ by all the digits -- */

/* The share that digit * Z + rest falls on, rest uniform below the total Z: the first whose
 * end times 2^64 is above. */
static uint32_t share_exactly(const shares *s, const u256 *total, uint64_t digit, tem_rng *rng) {
    const u256 rest = rng_below256(rng, total);
    u256 end = {{0, 0, 0, 0}};
    uint32_t share = 0;
    for (add_share(s, share, &end); !u256_product_less(digit, total, &rest, &end);)
        add_share(s, ++share, &end); /* the last end is the total */
    return share;
}

/* ----------------------------------------------------- by the first digit -- */

enum { END_MARGIN = 2 };
static const uint32_t UNDECIDED = UINT32_MAX; /* more than an enum can hold */

/* x = 2^32 sum / total is in (q - 2^-31, q + 1 + 2^-31), q being the quotient of the first 64 bits:
 * each of the two was cut by less than one of at least 2^63. So a t below the result is
 * below x - 1, and a t above the result + END_MARGIN is above x. */
static uint32_t end_of(const u256 *sum, const u256 *total) {
    const unsigned cut = u256_bits(total) - 64;
    const uint64_t q =
        (uint64_t)(((u256_wide)u256_shifted(sum, cut) << 32) / u256_shifted(total, cut));
    const uint64_t highest = UINT32_MAX - END_MARGIN;
    return q == 0 ? 0 : q - 1 < highest ? (uint32_t)(q - 1) : (uint32_t)highest;
}

static tem_status make_ends(const envelopes *e, uint32_t word, tem_error *error) {
    shares s;
    u256 total, sum = {{0, 0, 0, 0}};
    const tem_status status = shares_and_total(e, word, &s, &total, error);
    if (status != TEM_OK)
        return status;
    uint32_t *ends = ends_of(e, word);
    for (uint32_t share = 0; share < s.count; share++) {
        add_share(&s, share, &sum);
        ends[share] = end_of(&sum, &total);
    }
    return TEM_OK;
}

/* Whether a word's ends are there. The thread that first wants them works them out;
 * another that comes meanwhile does without (share_slowly). */
static tem_status ready_ends(const envelopes *e, uint32_t word, bool *ready, tem_error *error) {
    *ready = false;
    if (e->states == NULL)
        return TEM_OK;
    uint8_t state = atomic_load_explicit(&e->states[word], memory_order_acquire);
    if (state == ENDS_NONE &&
        atomic_compare_exchange_strong(&e->states[word], &state, ENDS_BEGUN)) {
        const tem_status status = make_ends(e, word, error);
        state = status == TEM_OK ? ENDS_READY : ENDS_NONE;
        atomic_store_explicit(&e->states[word], state, memory_order_release);
        if (status != TEM_OK)
            return status;
    }
    *ready = state == ENDS_READY;
    return TEM_OK;
}

/* The first of `count` ends that is above t; the last if none is. */
static uint32_t first_above(const uint32_t *ends, uint32_t count, uint32_t t) {
    uint32_t first = 0;
    while (count > 1) {
        const uint32_t half = count / 2;
        first += ends[first + half - 1] <= t ? half : 0;
        count -= half;
    }
    return first;
}

/* The share for a first digit of which t is the upper half, or UNDECIDED.
 * PRIVACY: it is decided only if t is clearly on one side of every end. */
static uint32_t share_quickly(const envelopes *e, uint32_t word, uint32_t t) {
    const uint32_t *ends = ends_of(e, word);
    uint32_t beyond = 0, perhaps = 0;
    for (unsigned part = 0; part < NEIGHBOUR_PARTS; part++) {
        beyond += ends[part] + END_MARGIN < t;
        perhaps += ends[part] <= t;
    }
    if (beyond != perhaps)
        return UNDECIDED;
    if (beyond < NEIGHBOUR_PARTS)
        return beyond;
    const uint64_t *starts = &e->index->starts[word];
    const uint32_t share =
        NEIGHBOUR_PARTS + first_above(ends + NEIGHBOUR_PARTS, (uint32_t)(starts[1] - starts[0]), t);
    return t < ends[share] && ends[share - 1] + END_MARGIN < t ? share : UNDECIDED;
}

/* The same without kept ends. It is UNDECIDED for the same t, so that a draw takes as many
 * random words whichever of the two it was made by: what is drawn must not depend on what
 * other threads have drawn for. */
static uint32_t share_slowly(const shares *s, const u256 *total, uint32_t t) {
    u256 sum = {{0, 0, 0, 0}};
    for (uint32_t share = 0; share < s->count; share++) {
        add_share(s, share, &sum);
        const uint32_t end = end_of(&sum, total);
        if (t <= end + END_MARGIN)
            return t < end ? share : UNDECIDED;
    }
    return UNDECIDED;
}

tem_status envelopes_draw(const envelopes *e, uint32_t word, tem_rng *rng, uint32_t *share,
                          tem_error *error) {
    bool ready = false;
    tem_status status = ready_ends(e, word, &ready, error);
    if (status != TEM_OK)
        return status;
    const uint64_t digit = rng_word(rng);
    const uint32_t t = (uint32_t)(digit >> 32);
    *share = ready ? share_quickly(e, word, t) : UNDECIDED;
    if (*share != UNDECIDED)
        return TEM_OK;
    shares s;
    u256 total;
    status = shares_and_total(e, word, &s, &total, error);
    if (status != TEM_OK)
        return status;
    if (!ready && e->states != NULL)
        *share = share_slowly(&s, &total, t);
    if (*share == UNDECIDED)
        *share = share_exactly(&s, &total, digit, rng);
    return TEM_OK;
}

tem_neighbour envelopes_entry(const envelopes *e, uint32_t word, uint32_t share) {
    return e->index->entries[e->index->starts[word] + share - NEIGHBOUR_PARTS];
}

void envelopes_prefetch(const envelopes *e, uint32_t word) {
    const uint32_t *ends = ends_of(e, word);
    if (e->states != NULL)
        __builtin_prefetch(&e->states[word]);
    __builtin_prefetch(ends);
    __builtin_prefetch(ends + NEIGHBOUR_PARTS);
    __builtin_prefetch(e->index->entries + e->index->starts[word]);
}
