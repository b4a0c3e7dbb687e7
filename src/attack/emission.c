/* emission.c - the likelihood P(y | w) of all inputs w for one output y. */
#include "attack/emission.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "rng/rng.h"

#include <math.h>

/* P(y | input) of one output y, less what every output has (emission.base). The pairs of an output
 * lie one after the other. */
typedef struct likely_pair {
    uint32_t input;
    float value;
} likely_pair;

/* Without an exponential law, P(y | w) = base(w) g(y) + the value of the pair (w, y), if there is
 * one. */
struct emission {
    const tem_mechanism *mechanism;
    uint32_t words;

    tem_channel *channel; /* the exponential law; NULL: pairs */

    uint64_t *starts; /* per output: its pairs are starts[y] to starts[y + 1] - 1 */
    likely_pair *pairs;
    double *base;      /* per input */
    double *marginals; /* per output: g(y) of tem_attack_create */
};

/* ----------------------------------------------------------------- law -- */

/* The distances of all words from y. Roots of many squares at once take a third of the time. */
static void find_distances(const emission *e, uint32_t y, tem_dist *out) {
    const space *s = &e->mechanism->model->space;
    if (!squares_have_products(&e->channel->squares)) {
        space_distances(s, y, 0, e->words, out);
        return;
    }
    for (uint32_t w = 0; w < e->words; w++)
        out[w] = (uint32_t)space_raw(s, y, w); /* below 2^32: squares.h */
    space_distances_of_squares(s, out, e->words, out);
}

static void likelihoods_by_law(const emission *e, emission_room *room, uint32_t y, double *out) {
    const tem_channel *c = e->channel;
    const double weight = weights_at(c->weights, y);
    find_distances(e, y, room->distances);
    c->weigh(&c->weighing, room->distances, e->words, out);
    for (uint32_t w = 0; w < e->words; w++)
        out[w] *= weight / c->z[w];
    out[e->words] = weight / channel_weight_sum(c);
}

/* --------------------------------------------------------------- pairs -- */

/* Draws are made in groups of inputs, one group per item of a loop on threads. Each group has its
 * own random stream, so the result does not depend on the threads. */
enum { INPUTS_A_GROUP = 64 };
static const uint64_t draw_seed = 20260101;

typedef struct emission_drawing {
    const tem_mechanism *mechanism;
    uint32_t *drawn;  /* per input: its draws */
    uint64_t *firsts; /* per input: the place of its first draw in `outputs` */
    uint32_t *outputs;
    uint32_t inputs;
    atomic_int failure; /* a tem_status */
} emission_drawing;

static void draw_group(void *context, uint64_t item, unsigned thread) {
    emission_drawing *d = context;
    tem_rng rng;
    (void)thread;
    rng_init_seeded(&rng, draw_seed, item);
    const uint64_t first = item * INPUTS_A_GROUP;
    for (uint64_t i = first; i < first + INPUTS_A_GROUP && i < d->inputs; i++) {
        uint32_t *outputs = d->outputs + d->firsts[i];
        const uint32_t word = i == d->mechanism->count ? TEM_NO_WORD : (uint32_t)i;
        for (uint32_t k = 0; k < d->drawn[i]; k++)
            outputs[k] = word;
        if (core_task_stopped() || atomic_load(&d->failure) != TEM_OK)
            break;
        const tem_status status =
            mechanism_draw(d->mechanism, &rng, outputs, outputs, d->drawn[i], NULL);
        if (status != TEM_OK)
            atomic_store(&d->failure, (int)status);
    }
    rng_wipe(&rng);
}

/* Sorts the draws by output: counts per output, then places. Equal pairs become one. */
static tem_status gather_pairs(emission *e, const emission_drawing *d, uint64_t total,
                               tem_error *error) {
    uint64_t kept = 0;
    for (uint64_t k = 0; k < total; k++)
        e->starts[d->outputs[k] + (uint64_t)1]++;
    for (uint32_t y = 0; y < e->words; y++) {
        e->marginals[y] = ((double)e->starts[y + 1] + 1) / ((double)total + (double)e->words);
        e->starts[y + 1] += e->starts[y];
    }
    uint64_t *next = core_alloc(e->words, sizeof *next);
    e->pairs = core_alloc(total, sizeof *e->pairs);
    if (next == NULL || e->pairs == NULL) {
        core_free(next);
        return core_fail_memory(error);
    }
    memcpy(next, e->starts, e->words * sizeof *next);
    for (uint32_t i = 0; i < d->inputs; i++)
        for (uint32_t k = 0; k < d->drawn[i]; k++) {
            const uint32_t y = d->outputs[d->firsts[i] + k];
            if (next[y] > e->starts[y] && e->pairs[next[y] - 1].input == i)
                e->pairs[next[y] - 1].value++; /* exact: counts are below 2^24 */
            else
                e->pairs[next[y]++] = (likely_pair){i, 1};
        }
    for (uint32_t y = 0; y < e->words; y++) { /* closes the gaps that equal pairs leave */
        const uint64_t first = e->starts[y], count = next[y] - first;
        memmove(e->pairs + kept, e->pairs + first, count * sizeof *e->pairs);
        e->starts[y] = kept;
        kept += count;
    }
    e->starts[e->words] = kept;
    for (uint64_t k = 0; k < kept; k++)
        e->pairs[k].value = (float)(e->pairs[k].value * e->base[e->pairs[k].input]);
    core_free(next);
    return TEM_OK;
}

static void likelihoods_by_pairs(const emission *e, uint32_t y, double *out) {
    for (uint32_t w = 0; w <= e->words; w++)
        out[w] = e->base[w] * e->marginals[y];
    for (uint64_t k = e->starts[y]; k < e->starts[y + 1]; k++)
        out[e->pairs[k].input] += (double)e->pairs[k].value;
}

static bool allocate_pairs(emission *e) {
    e->starts = core_alloc_zero(e->words + (size_t)2, sizeof *e->starts);
    e->base = core_alloc(e->words + (size_t)1, sizeof *e->base);
    e->marginals = core_alloc_zero(e->words + (size_t)1, sizeof *e->marginals);
    return e->starts != NULL && e->base != NULL && e->marginals != NULL;
}

/* How many draws each input gets, and where they begin. Returns their sum. */
static uint64_t share_out(emission *e, const double *shares, uint32_t draws, emission_drawing *d) {
    static const double more_most = 1 << 23;
    uint64_t total = 0;
    for (uint32_t i = 0; i <= e->words; i++) {
        const double more = round(shares[i] * draws * (e->words + 1.0));
        d->firsts[i] = total;
        d->drawn[i] = draws + (uint32_t)fmin(more, more_most);
        e->base[i] = 1 / (d->drawn[i] + 1.0);
        total += d->drawn[i];
    }
    return total;
}

static tem_status draw_all(emission *e, emission_drawing *d, uint64_t total, const tem_run *run,
                           tem_error *error) {
    const uint64_t groups = (e->words + (uint64_t)INPUTS_A_GROUP) / INPUTS_A_GROUP;
    tem_status status =
        core_parallel(run, "drawing for the attacker", groups, draw_group, d, error);
    if (status == TEM_OK && atomic_load(&d->failure) != TEM_OK)
        status = core_fail(error, (tem_status)atomic_load(&d->failure),
                           "drawing for the attacker failed");
    return status == TEM_OK ? gather_pairs(e, d, total, error) : status;
}

static tem_status count_draws(emission *e, const double *shares, uint32_t draws, const tem_run *run,
                              tem_error *error) {
    static const uint64_t draws_most = (uint64_t)1 << 31;
    const uint32_t inputs = e->words + 1;
    emission_drawing d = {.mechanism = e->mechanism,
                          .drawn = core_alloc(inputs, sizeof *d.drawn),
                          .firsts = core_alloc(inputs, sizeof *d.firsts),
                          .inputs = inputs};
    tem_status status = TEM_OK;
    uint64_t total = 0;
    if (!allocate_pairs(e) || d.drawn == NULL || d.firsts == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK) {
        total = share_out(e, shares, draws, &d);
        if (total > draws_most)
            status = core_fail(error, TEM_ERR_RANGE, "more than 2^31 draws for the attacker");
    }
    if (status == TEM_OK) {
        d.outputs = core_alloc(total, sizeof *d.outputs);
        status = d.outputs == NULL ? core_fail_memory(error) : draw_all(e, &d, total, run, error);
    }
    core_free(d.outputs);
    core_free(d.firsts);
    core_free(d.drawn);
    return status;
}

/* ----------------------------------------------------------------- rows -- */

/* All rows would take 9 GB for the default model. So tem keeps the probabilities above a cutoff,
 * and shares out the rest of a row by g. The cutoff is the least of these for which at most
 * PAIRS_MOST pairs are left, 1 GB. */
enum { CUTOFFS = 5, PAIRS_MOST = 1 << 27 };
static const double cutoffs[CUTOFFS] = {0x1p-18, 0x1p-16, 0x1p-14, 0x1p-12, 0x1p-10};

typedef struct row_reading {
    emission *e;
    emission_row *row;
    const void *state;
    const double *shares;
    double *rows;     /* one per thread */
    uint64_t *totals; /* per thread and output: g(y) in steps of 2^-62. Sums of integers do not
                       * depend on their order, so results do not depend on the threads */
    double cutoff;    /* of the second reading */
    atomic_uint_fast64_t counts[CUTOFFS]; /* pairs above each cutoff */
    _Atomic(uint64_t) *places;            /* per output: pairs, then the place of the next one */
    atomic_int failure;                   /* a tem_status */
} row_reading;

static const double *read_row(row_reading *r, uint64_t input, unsigned thread) {
    double *row = r->rows + (size_t)thread * r->e->words;
    const tem_status status =
        r->row(r->state, input == r->e->words ? TEM_NO_WORD : (uint32_t)input, row, NULL);
    if (status != TEM_OK)
        atomic_store(&r->failure, (int)status);
    return status == TEM_OK ? row : NULL;
}

/* First reading: counts pairs, and adds up g. */
static void count_row(void *context, uint64_t input, unsigned thread) {
    row_reading *r = context;
    const double *row = read_row(r, input, thread);
    uint64_t *totals = r->totals + (size_t)thread * r->e->words;
    uint64_t counts[CUTOFFS] = {0};
    for (uint32_t y = 0; row != NULL && y < r->e->words; y++) {
        totals[y] += (uint64_t)(r->shares[input] * row[y] * 0x1p62);
        for (int c = 0; c < CUTOFFS && row[y] > cutoffs[c]; c++)
            counts[c]++;
    }
    for (int c = 0; c < CUTOFFS; c++)
        atomic_fetch_add(&r->counts[c], counts[c]);
}

/* Second reading: counts the pairs of each output, and finds what is left of the row. */
static void count_outputs(void *context, uint64_t input, unsigned thread) {
    row_reading *r = context;
    const double *row = read_row(r, input, thread);
    double rest = 0;
    for (uint32_t y = 0; row != NULL && y < r->e->words; y++)
        if (row[y] > r->cutoff)
            atomic_fetch_add_explicit(&r->places[y], 1, memory_order_relaxed);
        else
            rest += row[y];
    r->e->base[input] = rest;
}

/* Third reading: keeps the pairs. Their order within an output depends on the threads, and no
 * result depends on that order. */
static void keep_row(void *context, uint64_t input, unsigned thread) {
    row_reading *r = context;
    emission *e = r->e;
    const double *row = read_row(r, input, thread);
    for (uint32_t y = 0; row != NULL && y < e->words; y++)
        if (row[y] > r->cutoff)
            e->pairs[atomic_fetch_add_explicit(&r->places[y], 1, memory_order_relaxed)] =
                (likely_pair){(uint32_t)input, (float)(row[y] - e->base[input] * e->marginals[y])};
}

static tem_status read_rows(row_reading *r, core_task *task, const char *stage, const tem_run *run,
                            tem_error *error) {
    const tem_status status = core_parallel(run, stage, r->e->words + (uint64_t)1, task, r, error);
    return status == TEM_OK && atomic_load(&r->failure) != TEM_OK
               ? core_fail(error, (tem_status)atomic_load(&r->failure),
                           "the law of a word could not be computed")
               : status;
}

/* Chooses the cutoff, and adds up the sums of the threads. */
static void end_first_reading(row_reading *r, unsigned threads) {
    emission *e = r->e;
    int c = 0;
    while (c < CUTOFFS - 1 && atomic_load(&r->counts[c]) > PAIRS_MOST)
        c++;
    r->cutoff = cutoffs[c];
    for (unsigned t = 0; t < threads; t++)
        for (uint32_t y = 0; y < e->words; y++)
            r->totals[y] += t > 0 ? r->totals[(size_t)t * e->words + y] : 0;
    for (uint32_t y = 0; y < e->words; y++)
        e->marginals[y] = (double)r->totals[y] * 0x1p-62;
}

/* Turns the numbers of pairs of each output into their places. */
static void place_outputs(row_reading *r) {
    emission *e = r->e;
    for (uint32_t y = 0; y < e->words; y++) {
        e->starts[y + 1] = e->starts[y] + atomic_load(&r->places[y]);
        atomic_store(&r->places[y], e->starts[y]);
    }
}

static tem_status read_law(row_reading *r, unsigned threads, const tem_run *run, tem_error *error) {
    emission *e = r->e;
    tem_status status = read_rows(r, count_row, "computing laws", run, error);
    if (status == TEM_OK) {
        end_first_reading(r, threads);
        status = read_rows(r, count_outputs, "computing laws again", run, error);
    }
    if (status != TEM_OK)
        return status;
    place_outputs(r);
    e->pairs = core_alloc(e->starts[e->words], sizeof *e->pairs);
    return e->pairs == NULL ? core_fail_memory(error)
                            : read_rows(r, keep_row, "keeping laws", run, error);
}

static tem_status keep_rows(emission *e, emission_row *row, const void *state, const double *shares,
                            const tem_run *run, tem_error *error) {
    const unsigned threads = core_thread_count(run);
    row_reading r = {.e = e,
                     .row = row,
                     .state = state,
                     .shares = shares,
                     .rows = core_alloc(threads, e->words * sizeof *r.rows),
                     .totals = core_alloc_zero(threads, e->words * sizeof *r.totals),
                     .places = core_alloc_zero(e->words, sizeof *r.places)};
    const bool ready = allocate_pairs(e) && r.rows != NULL && r.totals != NULL && r.places != NULL;
    const tem_status status = ready ? read_law(&r, threads, run, error) : core_fail_memory(error);
    core_free(r.places);
    core_free(r.totals);
    core_free(r.rows);
    return status;
}

/* -------------------------------------------------------------- object -- */

static emission *make(const tem_mechanism *mechanism) {
    emission *e = core_alloc_zero(1, sizeof *e);
    if (e != NULL)
        *e = (emission){.mechanism = mechanism, .words = mechanism->count};
    return e;
}

void emission_free(emission *e) {
    if (e == NULL)
        return;
    core_free(e->marginals);
    core_free(e->base);
    core_free(e->pairs);
    core_free(e->starts);
    channel_free(e->channel);
    core_free(e);
}

tem_status emission_by_draws(const tem_mechanism *mechanism, const double *shares, uint32_t draws,
                             const tem_run *run, emission **out, tem_error *error) {
    emission *e = make(mechanism);
    const tem_status status =
        e == NULL ? core_fail_memory(error) : count_draws(e, shares, draws, run, error);
    if (status == TEM_OK)
        *out = e;
    else
        emission_free(e);
    return status;
}

tem_status emission_by_rows(const tem_mechanism *mechanism, emission_row *row, const void *state,
                            const double *shares, const tem_run *run, emission **out,
                            tem_error *error) {
    emission *e = make(mechanism);
    const tem_status status =
        e == NULL ? core_fail_memory(error) : keep_rows(e, row, state, shares, run, error);
    if (status == TEM_OK)
        *out = e;
    else
        emission_free(e);
    return status;
}

/* The row of a mechanism with its map. */
static tem_status row_of(const void *mechanism, uint32_t word, double *probabilities,
                         tem_error *error) {
    return mechanism_row(mechanism, word, probabilities, error);
}

tem_status emission_create(const tem_mechanism *mechanism, const double *shares, uint32_t draws,
                           const tem_run *run, emission **out, tem_error *error) {
    if (mechanism_exponential(mechanism) == NULL && mechanism->ops->properties.law_digits > 0)
        return emission_by_rows(mechanism, row_of, mechanism, shares, run, out, error);
    if (mechanism_exponential(mechanism) == NULL)
        return emission_by_draws(mechanism, shares, draws, run, out, error);
    emission *e = make(mechanism);
    const tem_status status =
        e == NULL ? core_fail_memory(error) : channel_create(mechanism, run, &e->channel, error);
    if (status == TEM_OK)
        *out = e;
    else
        emission_free(e);
    return status;
}

bool emission_room_init(emission_room *room, const emission *e) {
    room->distances = core_alloc(e->words, sizeof *room->distances);
    return room->distances != NULL;
}

void emission_room_free(emission_room *room) {
    core_free(room->distances);
}

bool emission_has(const emission *e, uint32_t y) {
    return e->channel == NULL ? !model_is_excluded(e->mechanism->model, y)
                              : weights_at(e->channel->weights, y) > 0;
}

void emission_likelihoods(const emission *e, emission_room *room, uint32_t y, double *out) {
    if (e->channel != NULL)
        likelihoods_by_law(e, room, y, out);
    else
        likelihoods_by_pairs(e, y, out);
}
