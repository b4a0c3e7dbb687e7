/* emission.c - the likelihood P(y | w) of all inputs w for one output y. */
#include "attack/emission.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "rng/rng.h"

#include <math.h>

/* A drawn pair, and how often it was drawn. The pairs of an output lie one after the other. */
typedef struct drawn_pair {
    uint32_t input, count;
} drawn_pair;

struct emission {
    const tem_mechanism *mechanism;
    uint32_t words;

    tem_channel *channel; /* the exponential law; NULL: counts of draws */

    uint64_t *starts; /* per output: its pairs are starts[y] to starts[y + 1] - 1 */
    drawn_pair *pairs;
    uint32_t *drawn;   /* per input: its draws */
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

/* --------------------------------------------------------------- draws -- */

/* Draws are made in groups of inputs, one group per item of a loop on threads. Each group has its
 * own random stream, so the result does not depend on the threads. */
enum { INPUTS_A_GROUP = 64 };
static const uint64_t draw_seed = 20260101;

typedef struct drawing {
    const tem_mechanism *mechanism;
    const uint32_t *drawn; /* per input */
    uint64_t *firsts;      /* per input: the place of its first draw in `outputs` */
    uint32_t *outputs;
    uint32_t inputs;
    atomic_int failure; /* a tem_status */
} drawing;

static void draw_group(void *context, uint64_t item, unsigned thread) {
    drawing *d = context;
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
static tem_status gather_pairs(emission *e, const drawing *d, uint64_t total, tem_error *error) {
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
                e->pairs[next[y] - 1].count++;
            else
                e->pairs[next[y]++] = (drawn_pair){i, 1};
        }
    for (uint32_t y = 0; y < e->words; y++) { /* closes the gaps that equal pairs leave */
        const uint64_t first = e->starts[y], count = next[y] - first;
        memmove(e->pairs + kept, e->pairs + first, count * sizeof *e->pairs);
        e->starts[y] = kept;
        kept += count;
    }
    e->starts[e->words] = kept;
    core_free(next);
    return TEM_OK;
}

static void likelihoods_by_draws(const emission *e, uint32_t y, double *out) {
    for (uint32_t w = 0; w <= e->words; w++)
        out[w] = e->marginals[y] / (e->drawn[w] + 1.0);
    for (uint64_t k = e->starts[y]; k < e->starts[y + 1]; k++)
        out[e->pairs[k].input] += e->pairs[k].count / (e->drawn[e->pairs[k].input] + 1.0);
}

/* How many draws each input gets, and where they begin. Returns their sum. */
static uint64_t share_out(emission *e, const double *shares, uint32_t draws, uint64_t *firsts) {
    uint64_t total = 0;
    for (uint32_t i = 0; i <= e->words; i++) {
        const double more = round(shares[i] * draws * (e->words + 1.0));
        firsts[i] = total;
        e->drawn[i] = draws + (uint32_t)fmin(more, 1 << 30);
        total += e->drawn[i];
    }
    return total;
}

static tem_status draw_all(emission *e, drawing *d, uint64_t total, const tem_run *run,
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
    e->starts = core_alloc_zero(inputs + (size_t)1, sizeof *e->starts);
    e->drawn = core_alloc(inputs, sizeof *e->drawn);
    e->marginals = core_alloc(inputs, sizeof *e->marginals);
    uint64_t *firsts = core_alloc(inputs, sizeof *firsts);
    drawing d = {.mechanism = e->mechanism, .drawn = e->drawn, .firsts = firsts, .inputs = inputs};
    tem_status status = TEM_OK;
    uint64_t total = 0;
    if (e->starts == NULL || e->drawn == NULL || e->marginals == NULL || firsts == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK) {
        total = share_out(e, shares, draws, firsts);
        if (total > draws_most)
            status = core_fail(error, TEM_ERR_RANGE, "more than 2^31 draws for the attacker");
    }
    if (status == TEM_OK) {
        d.outputs = core_alloc(total, sizeof *d.outputs);
        status = d.outputs == NULL ? core_fail_memory(error) : draw_all(e, &d, total, run, error);
    }
    core_free(d.outputs);
    core_free(firsts);
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
    core_free(e->drawn);
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

tem_status emission_create(const tem_mechanism *mechanism, const double *shares, uint32_t draws,
                           const tem_run *run, emission **out, tem_error *error) {
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
        likelihoods_by_draws(e, y, out);
}
