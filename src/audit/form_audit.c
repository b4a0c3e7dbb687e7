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

enum { RANDOM_PAIRS = 2000, TILE = 2048 };

/* No more closenesses than this are looked at for the nearest words: some ten seconds. */
static const uint64_t closenesses_most = (uint64_t)1 << 27;

typedef struct loss_pair {
    uint32_t a, b;
    double loss;
} loss_pair;

typedef struct pair_pass {
    const law_form *form;
    uint32_t words;
    loss_pair *pairs;
} pair_pass;

/* ---- pairs ---- */

/* The largest ratio of the closenesses of two words to the outputs first .. first + count - 1.
 * Excluded words are no outputs. */
static double largest_ratio(const law_form *f, const loss_pair *p, uint32_t first, uint32_t count) {
    double x[TILE], y[TILE], largest = 1;
    f->ops->row(f, p->a, first, count, x);
    f->ops->row(f, p->b, first, count, y);
    for (uint32_t i = 0; i < count; i++)
        if (weights_at(f->weights, first + i) > 0)
            largest = fmax(largest, fmax(x[i] / y[i], y[i] / x[i]));
    return largest;
}

static void measure_pair(void *context, uint64_t item, unsigned thread) {
    const pair_pass *pass = context;
    loss_pair *p = &pass->pairs[item];
    double largest = 1;
    (void)thread;
    for (uint32_t first = 0; first < pass->words; first += TILE) {
        const uint32_t left = pass->words - first;
        largest = fmax(largest, largest_ratio(pass->form, p, first, left < TILE ? left : TILE));
    }
    p->loss = log(largest);
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

/* All words with their nearest words; in a large vocabulary words at equal distances of their
 * ids. */
static tem_status choose_nearest(const tem_model *model, uint32_t count, loss_pair *pairs,
                                 tem_error *error) {
    tem_status status = TEM_OK;
    for (uint32_t i = 0; i < count && status == TEM_OK; i++) {
        pairs[i].a = (uint32_t)((uint64_t)i * model->words.count / count);
        status = find_nearest(model, &pairs[i], error);
    }
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

/* Pairs of two different words, the same in every audit. */
static void choose_random(uint32_t words, loss_pair *pairs) {
    uint64_t state = 1;
    for (uint32_t i = 0; i < RANDOM_PAIRS; i++) {
        const uint32_t a = (uint32_t)(next_number(&state) % words);
        const uint32_t step = 1 + (uint32_t)(next_number(&state) % (words - 1));
        pairs[i] = (loss_pair){.a = a, .b = (uint32_t)(((uint64_t)a + step) % words)};
    }
}

static uint32_t nearest_count(uint32_t words) {
    const uint64_t most = closenesses_most / words;
    return most < words ? (uint32_t)most : words;
}

static tem_status measure_pairs(const tem_mechanism *m, const tem_run *run, loss_pair *pairs,
                                tem_form_audit *audit, tem_error *error) {
    const uint32_t words = m->count, count = nearest_count(words);
    pair_pass pass = {.form = mechanism_form(m), .words = words, .pairs = pairs};
    TRY(choose_nearest(m->model, count, pairs, error));
    TRY(core_parallel(run, "comparing nearest words", count, measure_pair, &pass, error));
    audit->nearest = losses_of(pairs, count, 0);
    choose_random(words, pairs);
    tem_status status =
        core_parallel(run, "comparing random pairs", RANDOM_PAIRS, measure_pair, &pass, error);
    if (status == TEM_OK)
        audit->random = losses_of(pairs, RANDOM_PAIRS, 2.5758);
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

tem_status form_audit(const tem_mechanism *m, const tem_run *run, tem_form_audit *audit,
                      tem_error *error) {
    TRY(check(m, error));
    tem_form_audit made = {.bound = law_form_bound(mechanism_form(m))};
    const uint32_t count = nearest_count(m->count);
    loss_pair *pairs = core_alloc(count > RANDOM_PAIRS ? count : RANDOM_PAIRS, sizeof *pairs);
    tem_status status = pairs == NULL ? core_fail_memory(error)
                                      : form_measure_alike(m, &made.self, &made.support, error);
    if (status == TEM_OK)
        status = measure_pairs(m, run, pairs, &made, error);
    core_free(pairs);
    if (status == TEM_OK)
        *audit = made;
    return status;
}
