/* envelope.c - the envelope of a word's law, and exact draws from it. */
#include "mech/envelope.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

typedef struct word_envelope {
    const envelopes *of;
    tem_neighbours near;
    const tem_dist *bounds;
    uint32_t count;
} word_envelope;

/* The block of a word in envelopes.thresholds: its pivots, the thresholds of its ranges, those of
 * its list. */
static uint32_t *pivots_of(const envelopes *e, uint32_t word) {
    return e->thresholds + e->index->starts[word] + (size_t)word * ENVELOPE_HEAD;
}

static uint32_t *thresholds_of(const envelopes *e, uint32_t word) {
    return pivots_of(e, word) + ENVELOPE_PIVOTS;
}

/* Whether the lists do not overlap, so that every word has its own place for thresholds. */
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
                         "damaged model: its lists overlap; verify the model");
    TRY(weights_init(&e->weights, values, index->count, error));
    const uint64_t thresholds = index->entry_count + (uint64_t)index->count * ENVELOPE_HEAD;
    e->states = core_alloc_zero(index->count, sizeof *e->states);
    /* Not zeroed: the system provides memory only where tem writes. */
    e->thresholds = core_alloc(thresholds, sizeof *e->thresholds);
    if (e->states != NULL && e->thresholds != NULL)
        return TEM_OK;
    envelopes_free(e);
    return core_fail_memory(error);
}

static void erase_thresholds(envelopes *e) {
    for (uint32_t word = 0; word < e->index->count; word++)
        if (atomic_load_explicit(&e->states[word], memory_order_relaxed) != THRESHOLDS_NONE) {
            const uint64_t *starts = &e->index->starts[word];
            explicit_bzero(pivots_of(e, word),
                           (starts[1] - starts[0] + ENVELOPE_HEAD) * sizeof *e->thresholds);
        }
    explicit_bzero((void *)(uintptr_t)e->states, e->index->count * sizeof *e->states);
}

void envelopes_free(envelopes *e) {
    if (e->states != NULL && e->thresholds != NULL)
        erase_thresholds(e);
    weights_free(&e->weights);
    core_free(e->states);
    core_free(e->thresholds);
    *e = (envelopes){0};
}

static tem_status open_envelope(const envelopes *e, uint32_t word, word_envelope *out,
                                tem_error *error) {
    TRY(neighbours_get(e->index, word, &out->near, error));
    out->of = e;
    out->bounds = neighbours_bounds(e->index, word);
    out->count = NEIGHBOUR_RANGES + out->near.count;
    return TEM_OK;
}

static void add_component(const word_envelope *s, uint32_t component, u256 *sum) {
    const envelopes *e = s->of;
    tem_dist distance = 0;
    uint64_t weight = 0;
    if (component < NEIGHBOUR_RANGES) {
        distance = s->bounds[component];
        /* PRIVACY: A_p, the weight of all words of the range, because weights_draw_column chooses
         * among all of them. The smaller weight of the words outside the list would give another
         * law. */
        weight = distance == UINT32_MAX ? 0 : e->weights.range_sums[component];
    } else {
        const tem_neighbour *entry = &s->near.list[component - NEIGHBOUR_RANGES];
        distance = entry->distance;
        weight = weights_at(&e->weights, entry->id);
    }
    u256_add_product(sum, &exp_table[exponent_level(exponent_at(&e->exponent, distance))], weight);
}

/* Refuses a damaged list, as far as weights can tell. If a list named a word twice, a sum could
 * overflow.
 * PRIVACY: a list could also miss words of a range that has no component; such words would never be
 * outputs. */
static tem_status check_list(const word_envelope *s, tem_error *error) {
    const weights *w = &s->of->weights;
    const uint32_t range_words = neighbours_range_words(w->count);
    uint64_t left[NEIGHBOUR_RANGES]; /* weight of each range's words outside the list */
    memcpy(left, w->range_sums, sizeof left);
    for (uint32_t i = 0; i < s->near.count; i++) {
        const uint32_t id = s->near.list[i].id, weight = weights_at(w, id);
        if (weight > left[id / range_words])
            return core_fail(error, TEM_ERR_DAMAGED,
                             "damaged model: a list names a word twice; verify the model");
        left[id / range_words] -= weight;
    }
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++)
        if (s->bounds[range] == UINT32_MAX && left[range] > 0)
            return core_fail(error, TEM_ERR_DAMAGED,
                             "damaged model: a list misses words; verify the model");
    return TEM_OK;
}

/* Z, the sum of all components. It is at least E_512 > 2^99: some word has a weight, and that word
 * is in the list or its range has a component. It is below 2^256: the weights add up to less than
 * 2^63 over the ranges, and to no more over the list, and no E_j is above 2^192. */
static u256 total_of(const word_envelope *s) {
    u256 total = {{0, 0, 0, 0}};
    for (uint32_t component = 0; component < s->count; component++)
        add_component(s, component, &total);
    return total;
}

static tem_status open_and_total(const envelopes *e, uint32_t word, word_envelope *s, u256 *total,
                                 tem_error *error) {
    TRY(open_envelope(e, word, s, error));
    TRY(check_list(s, error));
    *total = total_of(s);
    return TEM_OK;
}

/* ------------------------------------------ select by the whole number -- */

/* Step 1: draws the remainder, uniform below the total Z, and returns the component on which the
 * number first_bits * Z + remainder falls: the first whose threshold times 2^64 is above the
 * number. */
static uint32_t component_exactly(const word_envelope *s, const u256 *total, uint64_t first_bits,
                                  tem_rng *rng) {
    const u256 remainder = rng_below256(rng, total);
    u256 sum = {{0, 0, 0, 0}};
    uint32_t component = 0;
    for (add_component(s, component, &sum);
         !u256_product_less(first_bits, total, &remainder, &sum);)
        add_component(s, ++component, &sum); /* ends: the last sum is the total */
    return component;
}

/* -------------------------------------------- select by the first bits -- */

enum { THRESHOLD_MARGIN = 2 };

static const uint32_t UNDECIDED = UINT32_MAX; /* no enum constant, since it does not fit an int */

/* The threshold x = 2^32 sum / total as an integer c (step 2): a t below c is below x - 1, and a t
 * above c + THRESHOLD_MARGIN is above x.
 *
 * Proof. Let q be the quotient, rounded down, after both numbers were cut to the first 64 bits of
 * the total. The cut takes less than 1 from each number, and the total is at least 2^63 after it.
 * So x is in (q - 2^-31, q + 1 + 2^-31), and c = q - 1 has both properties. Where q - 1 is not
 * between 0 and `highest`, c is the nearer of the two, and has both properties, too. */
static uint32_t threshold_of(const u256 *sum, const u256 *total) {
    const unsigned cut = u256_bits(total) - 64;
    const uint64_t q =
        (uint64_t)(((u256_wide)u256_shifted(sum, cut) << 32) / u256_shifted(total, cut));
    const uint64_t highest = UINT32_MAX - THRESHOLD_MARGIN;
    return q == 0 ? 0 : q - 1 < highest ? (uint32_t)(q - 1) : (uint32_t)highest;
}

/* The entry of a list of `count` whose threshold is pivot i: the first entry, which is selected
 * most often, and then every step-th, where 15 steps are enough for the list. */
static uint32_t pivot_entry(uint32_t count, uint32_t i) {
    const uint32_t step = (count + ENVELOPE_PIVOTS - 3) / (ENVELOPE_PIVOTS - 1);
    return i * step < count ? i * step : count - 1;
}

static tem_status make_thresholds(const envelopes *e, uint32_t word, tem_error *error) {
    word_envelope s;
    u256 total, sum = {{0, 0, 0, 0}};
    TRY(open_and_total(e, word, &s, &total, error));
    uint32_t *thresholds = thresholds_of(e, word);
    for (uint32_t component = 0; component < s.count; component++) {
        add_component(&s, component, &sum);
        thresholds[component] = threshold_of(&sum, &total);
    }
    uint32_t *pivots = pivots_of(e, word);
    for (uint32_t i = 0; i < ENVELOPE_PIVOTS; i++)
        pivots[i] = thresholds[NEIGHBOUR_RANGES + pivot_entry(s.near.count, i)];
    return TEM_OK;
}

/* Sets *ready to whether the thresholds of a word can be used. The first thread that needs them
 * computes them. Another thread that needs them at the same time works without them
 * (component_slowly). */
static tem_status ready_thresholds(const envelopes *e, uint32_t word, bool *ready,
                                   tem_error *error) {
    *ready = false;
    if (e->states == NULL)
        return TEM_OK;
    uint8_t state = atomic_load_explicit(&e->states[word], memory_order_acquire);
    if (state == THRESHOLDS_NONE &&
        atomic_compare_exchange_strong(&e->states[word], &state, THRESHOLDS_BEGUN)) {
        const tem_status status = make_thresholds(e, word, error);
        state = status == TEM_OK ? THRESHOLDS_READY : THRESHOLDS_NONE;
        atomic_store_explicit(&e->states[word], state, memory_order_release);
        if (status != TEM_OK)
            return status;
    }
    *ready = state == THRESHOLDS_READY;
    return TEM_OK;
}

/* How many of the thresholds are at or below t. They ascend, so this is where the first one above t
 * is. To count is faster than to search: no branch depends on t, and no load on another. */
static inline uint32_t at_or_below(const uint32_t *thresholds, uint32_t count, uint32_t t) {
    uint32_t passed = 0;
    for (uint32_t i = 0; i < count; i++)
        passed += thresholds[i] <= t;
    return passed;
}

/* The first entry of a list of `count` whose threshold is above t, or the last one if none is. */
static uint32_t first_above(const uint32_t *pivots, const uint32_t *list, uint32_t count,
                            uint32_t t) {
    const uint32_t passed = at_or_below(pivots, ENVELOPE_PIVOTS, t);
    if (passed == 0 || passed == ENVELOPE_PIVOTS)
        return passed == 0 ? 0 : count - 1;
    const uint32_t first = pivot_entry(count, passed - 1) + 1, end = pivot_entry(count, passed);
    return first + at_or_below(list + first, end - first, t);
}

/* Returns the component that is selected if t is the upper half of first_bits, or UNDECIDED.
 * PRIVACY: t decides only if it is clearly on one side of every threshold. The thresholds ascend,
 * so those next to the component are enough. */
static uint32_t component_quickly(const envelopes *e, uint32_t word, uint32_t t) {
    const uint32_t *thresholds = thresholds_of(e, word);
    uint32_t component = at_or_below(thresholds, NEIGHBOUR_RANGES, t);
    if (component == NEIGHBOUR_RANGES) {
        const uint64_t *starts = &e->index->starts[word];
        component += first_above(pivots_of(e, word), thresholds + NEIGHBOUR_RANGES,
                                 (uint32_t)(starts[1] - starts[0]), t);
    }
    const bool above_last = component == 0 || thresholds[component - 1] + THRESHOLD_MARGIN < t;
    return above_last && t < thresholds[component] ? component : UNDECIDED;
}

/* The same without kept thresholds. The function is UNDECIDED for exactly the same t as
 * component_quickly. So a draw uses the same number of random words with either function, and the
 * output does not depend on the words for which other threads have drawn. */
static uint32_t component_slowly(const word_envelope *s, const u256 *total, uint32_t t) {
    u256 sum = {{0, 0, 0, 0}};
    for (uint32_t component = 0; component < s->count; component++) {
        add_component(s, component, &sum);
        const uint32_t threshold = threshold_of(&sum, total);
        if (t <= threshold + THRESHOLD_MARGIN)
            return t < threshold ? component : UNDECIDED;
    }
    return UNDECIDED;
}

tem_status envelopes_draw(const envelopes *e, uint32_t word, tem_rng *rng, uint32_t *component,
                          tem_error *error) {
    bool ready = false;
    TRY(ready_thresholds(e, word, &ready, error));
    const uint64_t first_bits = rng_word(rng);
    const uint32_t t = (uint32_t)(first_bits >> 32);
    *component = ready ? component_quickly(e, word, t) : UNDECIDED;
    if (*component != UNDECIDED)
        return TEM_OK;
    word_envelope s;
    u256 total;
    TRY(open_and_total(e, word, &s, &total, error));
    if (!ready && e->states != NULL)
        *component = component_slowly(&s, &total, t);
    if (*component == UNDECIDED)
        *component = component_exactly(&s, &total, first_bits, rng);
    return TEM_OK;
}

tem_neighbour envelopes_entry(const envelopes *e, uint32_t word, uint32_t component) {
    return e->index->entries[e->index->starts[word] + component - NEIGHBOUR_RANGES];
}

void envelopes_prefetch_early(const envelopes *e, uint32_t word) {
    __builtin_prefetch(&e->index->starts[word]);
    if (e->states != NULL)
        __builtin_prefetch(&e->states[word]);
}

void envelopes_prefetch(const envelopes *e, uint32_t word) {
    __builtin_prefetch(pivots_of(e, word));
    __builtin_prefetch(thresholds_of(e, word));
    __builtin_prefetch(neighbours_bounds(e->index, word));
    __builtin_prefetch(e->index->entries + e->index->starts[word]);
}
