/* word_effects.c - effects on words by the law, by rows, or by what an attacker has learned. */
#include "compare/word_effects.h"

#include "audit/form_effects.h"
#include "compare/learned.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- medians ---- */

/* A number of a word, and how frequent the word is. */
typedef struct weighed_number {
    double number, weight;
} weighed_number;

static int compare_numbers(const void *a, const void *b) {
    const weighed_number *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* The least number that, with all smaller ones, has half of the weight, which adds up to 1. */
static double median_of(weighed_number *numbers, uint32_t count) {
    double sum = 0;
    uint32_t i = 0;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    while (i + 1 < count && (sum += numbers[i].weight) < 0.5)
        i++;
    return numbers[i].number;
}

static void find_exposed(const tem_accountant *a, const word_effect *of, tem_effects *out) {
    out->exposed = TEM_NO_WORD;
    out->self_exposed = out->support_exposed = NAN;
    for (uint32_t i = 0; i < a->reachable_count; i++) {
        const uint32_t word = a->reachable[i];
        if (out->exposed == TEM_NO_WORD || of[word].self > out->self_exposed) {
            out->exposed = word;
            out->self_exposed = of[word].self;
            out->support_exposed = of[word].support;
        }
    }
}

tem_status word_effects_gather(const tem_accountant *a, const tem_prior *prior,
                               const word_effect *of, tem_effects *effects, tem_error *error) {
    const uint32_t words = a->model->words.count;
    weighed_number *numbers = core_alloc(words, sizeof *numbers);
    if (numbers == NULL)
        return core_fail_memory(error);
    tem_effects made = {.guess = NAN, .guess_vocabulary = NAN};
    for (uint32_t w = 0; w < words; w++)
        numbers[w] = (weighed_number){of[w].self, prior->frequencies[w]};
    made.self_median = median_of(numbers, words);
    for (uint32_t w = 0; w < words; w++)
        numbers[w] = (weighed_number){of[w].support, prior->frequencies[w]};
    made.support_median = median_of(numbers, words);
    find_exposed(a, of, &made);
    core_free(numbers);
    *effects = made;
    return TEM_OK;
}

/* ---- by rows of the law ---- */

/* The scratch memory of one thread: a row, and for each output y the largest prior(w) P(y | w) and
 * the largest P(y | w) of the rows that this thread has seen. */
typedef struct row_thread {
    double *row, *best, *best_even;
    tem_status status;
    tem_error error;
} row_thread;

typedef struct row_pass {
    const tem_mechanism *mechanism;
    const tem_prior *prior;
    row_thread *threads;
    word_effect *of;
} row_pass;

static void take_row(void *context, uint64_t item, unsigned thread) {
    const row_pass *p = context;
    row_thread *t = &p->threads[thread];
    const uint32_t word = (uint32_t)item, words = p->mechanism->count;
    if (t->status == TEM_OK)
        t->status = mechanism_row(p->mechanism, word, t->row, &t->error);
    if (t->status != TEM_OK)
        return;
    double entropy = 0;
    const double frequency = p->prior->frequencies[word];
    for (uint32_t y = 0; y < words; y++) {
        const double probability = t->row[y];
        entropy -= probability > 0 ? probability * log(probability) : 0;
        t->best_even[y] = fmax(t->best_even[y], probability);
        t->best[y] = fmax(t->best[y], frequency * probability);
    }
    p->of[word] = (word_effect){t->row[word], exp(entropy)};
}

/* Adds up the best of all threads. */
static tem_status add_best(const row_pass *p, unsigned threads, tem_effects *out,
                           tem_error *error) {
    out->guess = out->guess_vocabulary = 0;
    for (unsigned i = 0; i < threads; i++)
        if (p->threads[i].status != TEM_OK) {
            if (error != NULL)
                *error = p->threads[i].error;
            return p->threads[i].status;
        }
    for (uint32_t y = 0; y < p->mechanism->count; y++) {
        double best = 0, even = 0;
        for (unsigned i = 0; i < threads; i++) {
            best = fmax(best, p->threads[i].best[y]);
            even = fmax(even, p->threads[i].best_even[y]);
        }
        out->guess += best;
        out->guess_vocabulary += even / p->mechanism->count;
    }
    return TEM_OK;
}

static tem_status effects_by_rows(const tem_accountant *a, const row_pass *p, unsigned threads,
                                  const tem_run *run, tem_effects *effects, tem_error *error) {
    tem_effects made, best;
    TRY(core_parallel(run, "going through the law", p->mechanism->count, take_row,
                      (void *)(uintptr_t)p, error));
    TRY(add_best(p, threads, &best, error));
    TRY(word_effects_gather(a, p->prior, p->of, &made, error));
    made.guess = best.guess;
    made.guess_vocabulary = best.guess_vocabulary;
    *effects = made;
    return TEM_OK;
}

static tem_status by_rows(const tem_accountant *a, const tem_mechanism *m, const tem_prior *prior,
                          const tem_run *run, tem_effects *effects, tem_error *error) {
    const unsigned threads = core_thread_count(run);
    row_pass p = {.mechanism = m,
                  .prior = prior,
                  .threads = core_alloc_zero(threads, sizeof *p.threads),
                  .of = core_alloc(m->count, sizeof *p.of)};
    bool made = p.threads != NULL && p.of != NULL;
    for (unsigned i = 0; i < threads && p.threads != NULL; i++) {
        row_thread *t = &p.threads[i];
        t->row = core_alloc(m->count, sizeof *t->row);
        t->best = core_alloc_zero(m->count, sizeof *t->best);
        t->best_even = core_alloc_zero(m->count, sizeof *t->best_even);
        made = made && t->row != NULL && t->best != NULL && t->best_even != NULL;
    }
    const tem_status status =
        made ? effects_by_rows(a, &p, threads, run, effects, error) : core_fail_memory(error);
    for (unsigned i = 0; i < threads && p.threads != NULL; i++) {
        core_free(p.threads[i].best_even);
        core_free(p.threads[i].best);
        core_free(p.threads[i].row);
    }
    core_free(p.of);
    core_free(p.threads);
    return status;
}

/* ---- by a form whose Z is the same for all words ---- */

/* Sets the effects but for the guesses: an excluded word is never an output, and all others have
 * the same N_w. */
static tem_status gather_alike(const tem_accountant *a, const tem_mechanism *m,
                               const tem_prior *prior, const tem_form_point *point,
                               tem_effects *effects, tem_error *error) {
    const law_form *form = mechanism_form(m);
    word_effect *of = core_alloc(m->count, sizeof *of);
    if (of == NULL)
        return core_fail_memory(error);
    for (uint32_t w = 0; w < m->count; w++)
        of[w] = (word_effect){weights_at(form->weights, w) > 0 ? point->self : 0, point->support};
    const tem_status status = word_effects_gather(a, prior, of, effects, error);
    core_free(of);
    return status;
}

static tem_status by_form(const tem_accountant *a, const tem_mechanism *m, const tem_prior *prior,
                          const tem_run *run, tem_effects *effects, tem_error *error) {
    tem_form_point some = {0}, even = {0};
    tem_effects made;
    tem_prior *uniform = NULL;
    tem_status status = form_measure(m, prior, run, &some, error);
    if (status == TEM_OK)
        status = prior_create_zipf(a->model, 0, &uniform, error);
    if (status == TEM_OK)
        status = form_measure(m, uniform, run, &even, error);
    if (status == TEM_OK)
        status = gather_alike(a, m, prior, &some, &made, error);
    prior_free(uniform);
    if (status != TEM_OK)
        return status;
    made.guess = some.bayes;
    made.guess_vocabulary = even.bayes;
    *effects = made;
    return TEM_OK;
}

/* ---- by the accountant ---- */

static tem_status by_accountant(const tem_accountant *a, const tem_mechanism *m,
                                const tem_prior *prior, const tem_run *run, tem_effects *effects,
                                tem_error *error) {
    tem_summary some = {0}, even = {0};
    tem_exposure most = {.word = TEM_NO_WORD, .self = NAN, .support = NAN};
    uint32_t found = 0;
    tem_prior *uniform = NULL;
    tem_status status = accountant_summarise(a, m, prior, NULL, true, run, &some, error);
    if (status == TEM_OK)
        status = prior_create_zipf(a->model, 0, &uniform, error);
    if (status == TEM_OK)
        status = accountant_summarise(a, m, uniform, NULL, true, run, &even, error);
    if (status == TEM_OK)
        status = accountant_exposed(a, m, TEM_TARGET_SELF, NULL, 0, run, &most, 1, &found, error);
    prior_free(uniform);
    if (status != TEM_OK)
        return status;
    *effects = (tem_effects){.guess = some.bayes,
                             .guess_vocabulary = even.bayes,
                             .self_median = some.self_median,
                             .support_median = some.support_median,
                             .self_exposed = most.self,
                             .support_exposed = most.support,
                             .exposed = most.word};
    return TEM_OK;
}

tem_status exact_effects(const tem_accountant *a, const tem_mechanism *m, const tem_prior *prior,
                         const tem_run *run, tem_effects *effects, tem_error *error) {
    if (mechanism_is_exponential(m))
        return by_accountant(a, m, prior, run, effects, error);
    const law_form *form = mechanism_form(m);
    return form != NULL && form->total > 0 ? by_form(a, m, prior, run, effects, error)
                                           : by_rows(a, m, prior, run, effects, error);
}

/* ---- by what an attacker has learned ---- */

/* What the pairs of one word add: to its probability to stay, and to its entropy. */
typedef struct seen_sums {
    double self, entropy;
} seen_sums;

/* The law learned for a word is c g(y) with c = k / (count(w) + k), plus the counts. Its entropy is
 * that of c g, corrected where there are counts. */
static word_effect effect_of(const learned_law *l, uint32_t word, const seen_sums *seen) {
    const double c = l->smoothing / (l->drawn[word] + l->smoothing), z = l->totals[word];
    if (!(z > 0))
        return (word_effect){seen->self, exp(seen->entropy)};
    const double model_entropy = log(z) - distance_law_log_sum(&l->distance, word) / z;
    const double self = c * distance_law_self(&l->distance, word) / z;
    return (word_effect){self + seen->self, exp(c * (model_entropy - log(c)) + seen->entropy)};
}

static double entropy_part(double p) {
    return p > 0 ? -p * log(p) : 0;
}

static void add_seen(const learned_law *l, seen_sums *sums) {
    for (uint64_t i = 0; i < l->seen_count; i++) {
        const seen_pair *p = &l->seen[i];
        const double counted = p->count / (l->drawn[p->word] + l->smoothing);
        const double all = learned_law_with_count(l, p->word, p->output, p->count);
        sums[p->word].entropy += entropy_part(all) - entropy_part(all - counted);
        sums[p->word].self += p->word == p->output ? counted : 0;
    }
}

tem_status learned_effects(const tem_learned *l, const tem_run *run, tem_effects *effects,
                           tem_error *error) {
    const uint32_t words = l->mechanism->count;
    seen_sums *sums = core_alloc_zero(words, sizeof *sums);
    word_effect *of = core_alloc(words, sizeof *of);
    tem_status status = sums == NULL || of == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK)
        add_seen(&l->law, sums);
    for (uint32_t w = 0; w < words && status == TEM_OK; w++) {
        of[w] = effect_of(&l->law, w, &sums[w]);
        if (w % 4096 == 0)
            status = core_progress(run, "estimating effects", w, words, error);
    }
    if (status == TEM_OK)
        status = word_effects_gather(l->accountant, l->prior, of, effects, error);
    core_free(of);
    core_free(sums);
    return status;
}
