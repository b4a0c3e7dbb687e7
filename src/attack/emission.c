/* emission.c - the likelihood P(y | w) of all inputs w for one output y. */
#include "attack/emission.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "rng/rng.h"

#include <math.h>

/* What somebody has learned from pairs. */
typedef struct learning {
    uint32_t *outputs; /* 0: the word is never an output; else 1. NULL: all 1 */
    profile profile;
    learned_law law;
} learning;

/* P(y | input) of one output y, less what every output has (emission.base). The pairs of an output
 * lie one after the other. */
typedef struct likely_pair {
    uint32_t input;
    float value;
} likely_pair;

/* One source of likelihoods: `channel`, `columns`, `learned`, or else rows, of which P(y | w) =
 * base(w) g(y) + the value of the pair (w, y), if there is one. */
struct emission {
    const tem_model *model;
    uint32_t words;
    bool squares_fit; /* of the space */

    tem_channel *channel;         /* of a form whose Z differs by word */
    const tem_mechanism *columns; /* that computes them */
    learning *learned;

    uint64_t *starts; /* per output: its pairs are starts[y] to starts[y + 1] - 1 */
    likely_pair *pairs;
    double *base;      /* per input */
    double *marginals; /* per output: g(y) of tem_attack_create */
};

/* ----------------------------------------------------------------- law -- */

/* The distances of all words from y. Roots of many squares at once take a third of the time. */
static void find_distances(const emission *e, uint32_t y, tem_dist *out) {
    const space *s = &e->model->space;
    if (!e->squares_fit) {
        space_distances(s, y, 0, e->words, out);
        return;
    }
    for (uint32_t w = 0; w < e->words; w++)
        out[w] = (uint32_t)space_raw(s, y, w);
    space_distances_of_squares(s, out, e->words, out);
}

static void likelihoods_by_law(const emission *e, emission_room *room, uint32_t y, double *out) {
    const tem_channel *c = e->channel;
    const double weight = weights_at(c->weights, y);
    if (c->by_distance) {
        find_distances(e, y, room->distances);
        c->weigh(&c->weighing, room->distances, e->words, out);
    } else {
        law_form_column(c->form, y, 0, e->words, out);
    }
    for (uint32_t w = 0; w < e->words; w++)
        out[w] *= weight / c->z[w];
    out[e->words] = weight / channel_weight_sum(c);
}

/* ------------------------------------------------------------- learned -- */

static void likelihoods_as_learned(const emission *e, emission_room *room, uint32_t y,
                                   double *out) {
    find_distances(e, y, room->distances);
    learned_law_column(&e->learned->law, y, room->distances, out);
}

static void learning_free(learning *l) {
    if (l == NULL)
        return;
    learned_law_free(&l->law);
    profile_free(&l->profile);
    core_free(l->outputs);
    core_free(l);
}

/* Learns from the pairs, which it sorts. l->outputs is set. */
static tem_status learn(learning *l, const tem_model *model, drawn_pair *pairs, uint64_t count,
                        const tem_run *run, tem_error *error) {
    TRY(profile_make(&model->space, l->outputs, run, &l->profile, error));
    return learned_law_make(&model->space, &l->profile, l->outputs, pairs, count, 0, &l->law,
                            error);
}

/* Draws pairs and learns from them. */
static tem_status learn_by_drawing(learning *l, const tem_mechanism *mechanism,
                                   const double *shares, uint64_t count, const tem_run *run,
                                   tem_error *error) {
    static const uint64_t seed = 20260101;
    drawn_pair *pairs = core_alloc(count, sizeof *pairs);
    tem_status status = pairs == NULL ? core_fail_memory(error)
                                      : drawn_pairs_make(mechanism, shares, true, PAIRS_TO_LEARN,
                                                         seed, count, run, pairs, error);
    if (status == TEM_OK)
        status = model_output_weights(mechanism->model, NULL, &l->outputs, error);
    if (status == TEM_OK)
        status = learn(l, mechanism->model, pairs, count, run, error);
    core_free(pairs);
    return status;
}

/* ----------------------------------------------------------------- rows -- */

static void likelihoods_by_rows(const emission *e, uint32_t y, double *out) {
    for (uint32_t w = 0; w <= e->words; w++)
        out[w] = e->base[w] * e->marginals[y];
    for (uint64_t k = e->starts[y]; k < e->starts[y + 1]; k++)
        out[e->pairs[k].input] += (double)e->pairs[k].value;
}

static bool allocate_rows(emission *e) {
    e->starts = core_alloc_zero(e->words + (size_t)2, sizeof *e->starts);
    e->base = core_alloc(e->words + (size_t)1, sizeof *e->base);
    e->marginals = core_alloc_zero(e->words + (size_t)1, sizeof *e->marginals);
    return e->starts != NULL && e->base != NULL && e->marginals != NULL;
}

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
    const bool ready = allocate_rows(e) && r.rows != NULL && r.totals != NULL && r.places != NULL;
    const tem_status status = ready ? read_law(&r, threads, run, error) : core_fail_memory(error);
    core_free(r.places);
    core_free(r.totals);
    core_free(r.rows);
    return status;
}

/* -------------------------------------------------------------- object -- */

static emission *make(const tem_model *model) {
    emission *e = core_alloc_zero(1, sizeof *e);
    if (e != NULL)
        *e = (emission){.model = model,
                        .words = model->words.count,
                        .squares_fit = squares_fit(&model->space, space_reach(&model->space))};
    return e;
}

void emission_free(emission *e) {
    if (e == NULL)
        return;
    core_free(e->marginals);
    core_free(e->base);
    core_free(e->pairs);
    core_free(e->starts);
    learning_free(e->learned);
    channel_free(e->channel);
    core_free(e);
}

/* Hands the object out, or frees it after a failure. */
static tem_status hand_out(emission *e, tem_status status, emission **out) {
    if (status == TEM_OK)
        *out = e;
    else
        emission_free(e);
    return status;
}

/* Makes an emission that will learn. NULL: no memory. */
static emission *make_learner(const tem_model *model) {
    emission *e = make(model);
    if (e != NULL && (e->learned = core_alloc_zero(1, sizeof *e->learned)) == NULL) {
        emission_free(e);
        e = NULL;
    }
    return e;
}

tem_status emission_by_drawing(const tem_mechanism *mechanism, const double *shares, uint64_t pairs,
                               const tem_run *run, emission **out, tem_error *error) {
    emission *e = make_learner(mechanism->model);
    return e == NULL
               ? core_fail_memory(error)
               : hand_out(e, learn_by_drawing(e->learned, mechanism, shares, pairs, run, error),
                          out);
}

tem_status emission_by_pairs(const tem_model *model, drawn_pair *pairs, uint64_t count,
                             const tem_run *run, emission **out, tem_error *error) {
    emission *e = make_learner(model);
    return e == NULL ? core_fail_memory(error)
                     : hand_out(e, learn(e->learned, model, pairs, count, run, error), out);
}

tem_status emission_by_rows(const tem_model *model, emission_row *row, const void *state,
                            const double *shares, const tem_run *run, emission **out,
                            tem_error *error) {
    emission *e = make(model);
    return e == NULL ? core_fail_memory(error)
                     : hand_out(e, keep_rows(e, row, state, shares, run, error), out);
}

/* The row of a mechanism with its map. */
static tem_status row_of(const void *mechanism, uint32_t word, double *probabilities,
                         tem_error *error) {
    return mechanism_row(mechanism, word, probabilities, error);
}

tem_status emission_create(const tem_mechanism *mechanism, const double *shares, uint64_t pairs,
                           const tem_run *run, emission **out, tem_error *error) {
    const bool has_columns = mechanism_has_columns(mechanism);
    const bool has_form = mechanism_form(mechanism) != NULL;
    TRY(mechanism_check_independent(
        mechanism, "tem cannot invert a law of the word alone: choose another mechanism", error));
    if (!has_form && !has_columns)
        return mechanism_law_digits(mechanism->ops) > 0
                   ? emission_by_rows(mechanism->model, row_of, mechanism, shares, run, out, error)
                   : emission_by_drawing(mechanism, shares, pairs, run, out, error);
    emission *e = make(mechanism->model);
    if (e == NULL)
        return core_fail_memory(error);
    e->columns = has_columns ? mechanism : NULL;
    return hand_out(e, has_columns ? TEM_OK : channel_create(mechanism, run, &e->channel, error),
                    out);
}

bool emission_room_init(emission_room *room, const emission *e) {
    room->distances = core_alloc(e->words, sizeof *room->distances);
    return room->distances != NULL;
}

void emission_room_free(emission_room *room) {
    core_free(room->distances);
}

bool emission_has(const emission *e, uint32_t y) {
    const law_form *f = e->channel != NULL   ? e->channel->form
                        : e->columns != NULL ? mechanism_form(e->columns)
                                             : NULL;
    if (f != NULL)
        return weights_at(f->weights, y) > 0;
    return e->learned != NULL ? learned_law_is_output(&e->learned->law, y)
                              : !model_is_excluded(e->model, y);
}

void emission_likelihoods(const emission *e, emission_room *room, uint32_t y, double *out) {
    if (e->channel != NULL)
        likelihoods_by_law(e, room, y, out);
    else if (e->columns != NULL)
        mechanism_column(e->columns, y, out);
    else if (e->learned != NULL)
        likelihoods_as_learned(e, room, y, out);
    else
        likelihoods_by_rows(e, y, out);
}
