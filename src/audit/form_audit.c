/* form_audit.c - audits a law with one Z for all words: that of `rank` or `coin`.
 *
 * All words have the same Z, so the loss of a pair of words at an output is
 * |ln K(w, y) - ln K(w', y)|, and its maximum over the outputs comes from two rows of the
 * closeness. The bound of the form holds for all pairs; the losses of the pairs that are looked at
 * are exact, up to 2^-46 relative to K. */
#include "audit/form_audit.h"

#include "audit/form_effects.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "index/neighbours.h"
#include "trust/trusted.h"

#include <math.h>
#include <stdlib.h>

enum { RANDOM_PAIRS = 2000, LANES = 8 };

#define DEVIATIONS 2.5758 /* 99 % of a normal variable are within so many */

typedef struct loss_pair {
    uint32_t a, b;
    double loss;
} loss_pair;

typedef struct pair_pass {
    const law_form *form;
    uint32_t words;
    loss_pair *pairs;
    double *rows; /* two for each thread: from one word to the next there are `padded` numbers */
    uint32_t padded;
} pair_pass;

/* ---- pairs ---- */

/* The largest ratio of two closenesses to the same output, in lanes that a compiler turns into
 * vectors. Where a word is no output both are 1. */
static double largest_ratio(const double *x, const double *y, uint32_t padded) {
    double most[LANES], largest = 1;
    for (int k = 0; k < LANES; k++)
        most[k] = 1;
    for (uint32_t i = 0; i < padded; i += LANES)
        for (uint32_t k = 0; k < LANES; k++) {
            const double a = x[i + k], b = y[i + k];
            const double ratio = a > b ? a / b : b / a;
            most[k] = ratio > most[k] ? ratio : most[k];
        }
    for (int k = 0; k < LANES; k++)
        largest = fmax(largest, most[k]);
    return largest;
}

/* A whole row at once: a piece of it would cost rank a sorted list. */
static void take_row(const pair_pass *pass, uint32_t word, double *row) {
    const law_form *f = pass->form;
    f->ops->row(f, word, 0, pass->words, row);
    for (uint32_t y = 0; f->weights->values != NULL && y < pass->words; y++)
        row[y] = f->weights->values[y] > 0 ? row[y] : 1;
}

static void measure_pair(void *context, uint64_t item, unsigned thread) {
    const pair_pass *pass = context;
    loss_pair *p = &pass->pairs[item];
    double *x = pass->rows + (size_t)2 * thread * pass->padded, *y = x + pass->padded;
    take_row(pass, p->a, x);
    take_row(pass, p->b, y);
    p->loss = log(largest_ratio(x, y, pass->padded));
}

static int compare_losses(const void *a, const void *b) {
    const loss_pair *x = a, *y = b;
    return x->loss != y->loss ? (x->loss > y->loss) - (x->loss < y->loss)
           : x->a != y->a     ? (x->a > y->a) - (x->a < y->a)
                              : (x->b > y->b) - (x->b < y->b);
}

/* The loss with the rank part * count among the sorted pairs, moved by `by` standard deviations of
 * that rank in a random sample. */
static double quantile_of(const loss_pair *sorted, uint32_t count, double part, double by) {
    const double at = part * count + by * sqrt(count * part * (1 - part));
    const double kept = fmin(fmax(ceil(at), 1), count);
    return sorted[(uint32_t)kept - 1].loss;
}

static tem_losses losses_of(loss_pair *pairs, uint32_t count, double deviations) {
    static const double parts[TEM_LOSS_QUANTILES] = {0.05, 0.5, 0.95};
    tem_losses made = {.pairs = count, .worst_a = TEM_NO_WORD, .worst_b = TEM_NO_WORD};
    if (count == 0)
        return made;
    qsort(pairs, count, sizeof *pairs, compare_losses);
    for (uint32_t i = 0; i < count; i++)
        made.mean += pairs[i].loss / count;
    for (int i = 0; i < TEM_LOSS_QUANTILES; i++) {
        made.quantiles[i] = quantile_of(pairs, count, parts[i], 0);
        made.low[i] = quantile_of(pairs, count, parts[i], -deviations);
        made.high[i] = quantile_of(pairs, count, parts[i], deviations);
    }
    made.worst = pairs[count - 1].loss;
    made.worst_a = pairs[count - 1].a;
    made.worst_b = pairs[count - 1].b;
    return made;
}

/* ---- which pairs ---- */

/* Sets p->b to the word nearest to p->a; p->a itself if there is no other. */
static tem_status find_nearest(const tem_model *model, loss_pair *p, tem_error *error) {
    tem_neighbours near;
    const tem_status status = neighbours_get(&model->index, p->a, &near, error);
    p->b = p->a;
    for (uint32_t i = 0; status == TEM_OK && i < near.count && p->b == p->a; i++)
        p->b = near.list[i].id;
    return status;
}

/* The next number of a fixed sequence that looks random (SplitMix64). Nothing is hidden by it: it
 * chooses public pairs. */
static uint64_t next_number(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* All words with their nearest words; or words at random, each perhaps more than once, as the
 * intervals assume. */
static tem_status choose_nearest(const tem_model *model, uint32_t count, loss_pair *pairs,
                                 tem_error *error) {
    const uint32_t words = model->words.count;
    tem_status status = TEM_OK;
    uint64_t state = 2;
    for (uint32_t i = 0; i < count && status == TEM_OK; i++) {
        pairs[i].a = count == words ? i : (uint32_t)(next_number(&state) % words);
        status = find_nearest(model, &pairs[i], error);
    }
    return status;
}

/* Pairs of two different words, the same in every audit. */
static void choose_random(uint32_t words, loss_pair *pairs) {
    uint64_t state = 1;
    for (uint32_t i = 0; i < RANDOM_PAIRS; i++) {
        const uint32_t a = (uint32_t)(next_number(&state) % words);
        const uint32_t step = 1 + (uint32_t)(next_number(&state) % (words - 1));
        pairs[i] = (loss_pair){.a = a, .b = (uint32_t)(((uint64_t)a + step) % words)};
    }
}

/* All words if their rows have at most so many numbers. */
static uint32_t nearest_count(uint32_t words, uint64_t numbers_most) {
    const uint64_t most = numbers_most / words;
    return most < 1 ? 1 : most < words ? (uint32_t)most : words;
}

static tem_status measure_pairs(const tem_model *model, pair_pass *pass, uint32_t nearest,
                                const tem_run *run, tem_form_audit *audit, tem_error *error) {
    TRY(choose_nearest(model, nearest, pass->pairs, error));
    TRY(core_parallel(run, "comparing nearest words", nearest, measure_pair, pass, error));
    audit->nearest = losses_of(pass->pairs, nearest, nearest < pass->words ? DEVIATIONS : 0);
    choose_random(pass->words, pass->pairs);
    tem_status status =
        core_parallel(run, "comparing random pairs", RANDOM_PAIRS, measure_pair, pass, error);
    if (status == TEM_OK)
        audit->random = losses_of(pass->pairs, RANDOM_PAIRS, DEVIATIONS);
    return status;
}

/* The rows of all threads. Where the loop over lanes goes beyond the last word they say 1. */
static double *make_rows(const tem_run *run, uint32_t padded) {
    const size_t count = (size_t)2 * core_thread_count(run) * padded;
    double *rows = core_alloc(count, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++)
        rows[i] = 1;
    return rows;
}

static tem_status measure_losses(const tem_mechanism *m, uint64_t numbers_most, const tem_run *run,
                                 tem_form_audit *audit, tem_error *error) {
    const uint32_t nearest = nearest_count(m->count, numbers_most);
    const uint32_t padded = (m->count + LANES - 1) / LANES * LANES;
    pair_pass pass = {
        .form = mechanism_form(m),
        .words = m->count,
        .pairs = core_alloc(nearest > RANDOM_PAIRS ? nearest : RANDOM_PAIRS, sizeof *pass.pairs),
        .rows = make_rows(run, padded),
        .padded = padded};
    const tem_status status = pass.pairs == NULL || pass.rows == NULL
                                  ? core_fail_memory(error)
                                  : measure_pairs(m->model, &pass, nearest, run, audit, error);
    core_free(pass.rows);
    core_free(pass.pairs);
    return status;
}

/* ---- all of it ---- */

static tem_status check(const tem_mechanism *m, tem_error *error) {
    tem_status status = trusted_or_refused(m->model, error);
    if (status == TEM_OK)
        status = form_check_alike(m, error);
    if (status == TEM_OK && m->count < 2)
        status = core_fail(error, TEM_ERR_UNSUPPORTED, "an audit needs two words");
    return status;
}

tem_status form_audit(const tem_mechanism *m, uint64_t numbers_most, const tem_run *run,
                      tem_form_audit *audit, tem_error *error) {
    TRY(check(m, error));
    tem_form_audit made = {.bound = law_form_bound(mechanism_form(m))};
    tem_status status = form_measure_alike(m, &made.self, &made.support, error);
    if (status == TEM_OK)
        status = measure_losses(m, numbers_most, run, &made, error);
    if (status == TEM_OK)
        *audit = made;
    return status;
}
