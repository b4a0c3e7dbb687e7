/* form_effects.c - N_w, S_w and the best guess for a law with one Z for all words.
 *
 * Every word has the same probabilities in another order, so one word that is an output tells N_w
 * and S_w of all.
 *
 * The best guess at the word behind the output y is the w with the largest f_w K(w, y), f the
 * prior. It is found without a look at all n^2 pairs. best[y] begins with y itself; then the words
 * come in descending order of f, and raise best[y] where they can. A word whose f times the
 * closeness of some entry of its list is not above the least best[y] of all outputs raises none
 * from there on, since closer outputs come first and no output outside the list is closer. With
 * rank on the default model and Zipf's law some hundred words need a whole row. */
#include "audit/form_effects.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>

tem_status form_check_alike(const tem_mechanism *m, tem_error *error) {
    const tem_status status = mechanism_check_form(m, error);
    if (status != TEM_OK || mechanism_form(m)->total > 0)
        return status;
    return core_fail(error, TEM_ERR_UNSUPPORTED,
                     "what holds for every word alike needs the mechanism rank or coin with equal "
                     "output weights, and those of this %s differ",
                     m->ops->properties.name);
}

tem_status form_measure_alike(const tem_mechanism *m, double *self, double *support,
                              tem_error *error) {
    double *row = core_alloc(m->count, sizeof *row), entropy = 0;
    uint32_t word = 0;
    while (weights_at(mechanism_form(m)->weights, word) == 0)
        word++;
    const tem_status status =
        row == NULL ? core_fail_memory(error) : mechanism_row(m, word, row, error);
    for (uint32_t y = 0; status == TEM_OK && y < m->count; y++)
        entropy -= row[y] > 0 ? row[y] * log(row[y]) : 0;
    if (status == TEM_OK) {
        *self = row[word];
        *support = exp(entropy);
    }
    core_free(row);
    return status;
}

/* ---- the best guess ---- */

typedef struct prior_word {
    double frequency;
    uint32_t id;
} prior_word;

typedef struct alike_guess {
    const law_form *form;
    const double *frequencies;
    uint32_t count;
    prior_word *words; /* that the prior has, in descending order of frequency */
    uint32_t word_count;
    double *best; /* per output */
    double *row;
    double least; /* no best[y] of an output is below */
} alike_guess;

static int compare_words(const void *a, const void *b) {
    const prior_word *x = a, *y = b;
    if (x->frequency > y->frequency || x->frequency < y->frequency)
        return x->frequency > y->frequency ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool is_output(const alike_guess *q, uint32_t y) {
    return weights_at(q->form->weights, y) > 0;
}

static void update_least(alike_guess *q) {
    q->least = INFINITY;
    for (uint32_t y = 0; y < q->count; y++)
        if (is_output(q, y))
            q->least = fmin(q->least, q->best[y]);
}

/* Every output is at first guessed to be itself. */
static void begin_search(alike_guess *q) {
    for (uint32_t w = 0; w < q->count; w++) {
        const closeness own = q->form->ops->pair(q->form, w, w);
        q->best[w] = is_output(q, w) ? q->frequencies[w] * closeness_value(q->form, &own) : 0;
        if (q->frequencies[w] > 0)
            q->words[q->word_count++] = (prior_word){q->frequencies[w], w};
    }
    qsort(q->words, q->word_count, sizeof *q->words, compare_words);
    update_least(q);
}

static void take_row(alike_guess *q, const prior_word *w) {
    q->form->ops->row(q->form, w->id, 0, q->count, q->row);
    for (uint32_t y = 0; y < q->count; y++)
        q->best[y] = fmax(q->best[y], w->frequency * q->row[y]);
    update_least(q);
}

static tem_status take_word(alike_guess *q, const prior_word *w, tem_error *error) {
    output_list list;
    TRY(q->form->ops->list(q->form, w->id, &list, error));
    if (w->frequency * closeness_value(q->form, &list.bound) > q->least) {
        take_row(q, w);
        return TEM_OK;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        const listed_output y = q->form->ops->entry(q->form, &list, i);
        const double value = w->frequency * closeness_value(q->form, &y.closeness);
        if (value <= q->least)
            break;
        q->best[y.id] = fmax(q->best[y.id], value);
    }
    return TEM_OK;
}

static tem_status search_words(alike_guess *q, const tem_run *run, tem_error *error) {
    enum { AT_ONCE = 1024 };
    tem_status status = TEM_OK;
    for (uint32_t i = 0; i < q->word_count && status == TEM_OK; i++) {
        if (i % AT_ONCE == 0)
            status = core_progress(run, "guessing", i, q->word_count, error);
        if (status == TEM_OK)
            status = take_word(q, &q->words[i], error);
    }
    return status;
}

/* Excluded words are no outputs: their row is 0 there. */
static double sum_of(const alike_guess *q) {
    double sum = 0;
    for (uint32_t y = 0; y < q->count; y++)
        sum += weights_at(q->form->weights, y) * q->best[y];
    return sum / q->form->total;
}

static tem_status guess(const tem_mechanism *m, const tem_prior *prior, const tem_run *run,
                        double *bayes, tem_error *error) {
    alike_guess q = {.form = mechanism_form(m),
                     .frequencies = prior->frequencies,
                     .count = m->count,
                     .words = core_alloc(m->count, sizeof *q.words),
                     .best = core_alloc(m->count, sizeof *q.best),
                     .row = core_alloc(m->count, sizeof *q.row)};
    tem_status status = TEM_OK;
    if (q.words == NULL || q.best == NULL || q.row == NULL) {
        status = core_fail_memory(error);
    } else {
        begin_search(&q);
        status = search_words(&q, run, error);
    }
    if (status == TEM_OK)
        *bayes = sum_of(&q);
    core_free(q.words);
    core_free(q.best);
    core_free(q.row);
    return status;
}

tem_status form_measure(const tem_mechanism *m, const tem_prior *prior, const tem_run *run,
                        tem_form_point *point, tem_error *error) {
    tem_form_point made = {.epsilon = m->epsilon, .bayes = NAN};
    tem_status status = form_check_alike(m, error);
    if (status == TEM_OK && prior != NULL && prior->model != m->model)
        status = core_fail(error, TEM_ERR_ARGUMENT, "the prior is that of another model");
    if (status != TEM_OK)
        return status;
    made.s = exponent_s_value(mechanism_form(m)->exponent.s);
    made.bound = law_form_bound(mechanism_form(m));
    status = form_measure_alike(m, &made.self, &made.support, error);
    if (status == TEM_OK && prior != NULL)
        status = guess(m, prior, run, &made.bayes, error);
    if (status == TEM_OK)
        *point = made;
    return status;
}
