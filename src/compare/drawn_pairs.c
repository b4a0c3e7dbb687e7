/* drawn_pairs.c - draws words by their shares, and their outputs. */
#include "compare/drawn_pairs.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "rng/rng.h"

/* Pairs of one stream of random numbers. A slow mechanism takes some 0.1 s for them. */
enum { BLOCK = 128 };

typedef struct pair_drawing {
    const tem_mechanism *mechanism;
    const double *sums; /* sums[w]: the share of the words up to w */
    uint32_t inputs;    /* the number of sums */
    pairs_purpose purpose;
    uint64_t seed, count;
    drawn_pair *pairs;
    tem_status *statuses; /* per thread, the first failure */
    tem_error *errors;
} pair_drawing;

/* The least word whose sum reaches x times the last sum; x is above 0, so no word with the
 * probability 0 is drawn. */
static uint32_t word_at(const pair_drawing *d, double x) {
    uint32_t low = 0, high = d->inputs - 1;
    const double wanted = x * d->sums[high];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (d->sums[middle] >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low == d->mechanism->count ? TEM_NO_WORD : low;
}

static void draw_block(void *context, uint64_t item, unsigned thread) {
    pair_drawing *d = context;
    const uint64_t first = item * BLOCK, left = d->count - first;
    const size_t count = left < BLOCK ? left : BLOCK;
    uint32_t words[BLOCK], outputs[BLOCK];
    tem_rng rng;
    if (d->statuses[thread] != TEM_OK)
        return;
    /* Four streams per block: the words and the outputs, to learn and to test. */
    rng_init_seeded(&rng, d->seed, 4 * item + 2 * (uint64_t)d->purpose);
    for (size_t i = 0; i < count; i++)
        words[i] = word_at(d, rng_unit(&rng));
    rng_init_seeded(&rng, d->seed, 4 * item + 2 * (uint64_t)d->purpose + 1);
    d->statuses[thread] =
        mechanism_draw(d->mechanism, &rng, words, outputs, count, &d->errors[thread]);
    for (size_t i = 0; i < count; i++)
        d->pairs[first + i] = (drawn_pair){words[i], outputs[i]};
}

static double *add_up(const double *shares, uint32_t count) {
    double *sums = core_alloc(count, sizeof *sums), sum = 0;
    for (uint32_t w = 0; sums != NULL && w < count; w++)
        sums[w] = sum += shares[w];
    return sums;
}

static tem_status first_failure(const pair_drawing *d, unsigned threads, tem_error *error) {
    for (unsigned i = 0; i < threads; i++)
        if (d->statuses[i] != TEM_OK) {
            if (error != NULL)
                *error = d->errors[i];
            return d->statuses[i];
        }
    return TEM_OK;
}

tem_status drawn_pairs_make(const tem_mechanism *mechanism, const double *shares, bool unknown,
                            pairs_purpose purpose, uint64_t seed, uint64_t count,
                            const tem_run *run, drawn_pair *pairs, tem_error *error) {
    const unsigned threads = core_thread_count(run);
    const uint32_t inputs = mechanism->count + (unknown ? 1 : 0);
    double *sums = add_up(shares, inputs);
    pair_drawing d = {.mechanism = mechanism,
                      .sums = sums,
                      .inputs = inputs,
                      .purpose = purpose,
                      .seed = seed,
                      .count = count,
                      .pairs = pairs,
                      .statuses = core_alloc_zero(threads, sizeof *d.statuses),
                      .errors = core_alloc(threads, sizeof *d.errors)};
    tem_status status = sums == NULL || d.statuses == NULL || d.errors == NULL
                            ? core_fail_memory(error)
                            : core_parallel(run, "drawing pairs", (count + BLOCK - 1) / BLOCK,
                                            draw_block, &d, error);
    if (status == TEM_OK)
        status = first_failure(&d, threads, error);
    core_free(d.errors);
    core_free(d.statuses);
    core_free(sums);
    return status;
}
