/* sequence_three.c - forward-backward with an n-gram model of order 3 within a beam.
 *
 * A state is a pair of words, too many to look at all. So the passes of order 2, which look at all
 * words and at the words on both sides, choose the `beam` likeliest words of each position. Among
 * these words the passes of order 3 are exact: a beam of all words gives the exact answer.
 *
 * forward(t)[i][j]: word i of position t - 1, word j of position t. Position 0 has one word before
 * it, the begin. */
#include "attack/sequence.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <stdlib.h>
#include <string.h>

typedef struct lattice {
    const sequence *s;
    const uint32_t *released;
    size_t count;
    uint32_t width;      /* words per position */
    uint32_t *ids;       /* position by position, `width` each, ascending */
    double *likelihoods; /* of the same */
    double *covered;     /* per position: the probability of these words by order 2 */
    double *forward;     /* width^2 per position; in the end the products of both passes */
    double *backward;    /* width^2, of one position */
    double *ahead;       /* the same, while it is made */
    double *lower;       /* width^2: p(w | v) of two positions */
    uint64_t *bigrams;   /* the same for the entry of (u, v) */
    double *row;         /* width: p(w | u, v) of all w */
    int32_t *slots;      /* per symbol: the place of the word at this position, or -1 */
} lattice;

static const uint32_t *ids_at(const lattice *l, size_t t) {
    return l->ids + t * l->width;
}

static double *forward_at(const lattice *l, size_t t) {
    return l->forward + t * l->width * l->width;
}

/* ------------------------------------------------------------- the beam -- */

static int compare_ids(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void note_words(void *context, size_t position, const double *probabilities,
                       const double *likelihoods) {
    const lattice *l = context;
    uint32_t *ids = l->ids + position * l->width;
    sequence_top(probabilities, l->s->g->words + 1, l->width, ids);
    qsort(ids, l->width, sizeof *ids, compare_ids);
    l->covered[position] = 0;
    for (uint32_t k = 0; k < l->width; k++) {
        l->likelihoods[position * l->width + k] = likelihoods[ids[k]];
        l->covered[position] += probabilities[ids[k]];
    }
}

/* ------------------------------------------------------ probabilities -- */

/* The words before position t, and their number: those of t - 1, or the begin. */
static uint32_t words_before(const lattice *l, size_t t, const uint32_t **words) {
    *words = t == 0 ? &l->s->g->edge : ids_at(l, t - 1);
    return t == 0 ? 1 : l->width;
}

/* Sets `bigrams` for the pairs of the words before t and at t. */
static void find_bigrams(lattice *l, size_t t) {
    const uint32_t *before = NULL, *here = ids_at(l, t);
    const uint32_t count = words_before(l, t, &before);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < l->width; j++)
            l->bigrams[(size_t)i * l->width + j] = ngram_find(&l->s->g->two, before[i], here[j]);
}

/* Sets `lower` and `slots` for the words at t and after it. */
static void find_lower(lattice *l, size_t t) {
    const uint32_t *here = ids_at(l, t), *after = ids_at(l, t + 1);
    for (uint32_t j = 0; j < l->width; j++)
        for (uint32_t k = 0; k < l->width; k++)
            l->lower[(size_t)j * l->width + k] = ngram_two(l->s->g, here[j], after[k]);
    for (uint32_t k = 0; k < l->width; k++)
        l->slots[after[k]] = (int32_t)k;
}

static void forget_slots(lattice *l, size_t t) {
    for (uint32_t k = 0; k < l->width; k++)
        l->slots[ids_at(l, t + 1)[k]] = -1;
}

/* Adds the extra probabilities of seen trigrams: through the row of the bigram or, if it is long,
 * through the words of the beam. */
static void add_extras(lattice *l, size_t t, uint64_t bigram) {
    enum { LONG = 16 };
    const ngram_rows *three = &l->s->g->three;
    const uint64_t first = three->starts[bigram], end = three->starts[bigram + 1];
    if (end - first > (uint64_t)LONG * l->width) {
        for (uint32_t k = 0; k < l->width; k++) {
            const uint64_t entry = ngram_find(three, bigram, ids_at(l, t + 1)[k]);
            l->row[k] += entry == NGRAM_NONE ? 0 : three->extra[entry];
        }
        return;
    }
    for (uint64_t e = first; e < end; e++)
        if (l->slots[three->ids[e]] >= 0)
            l->row[l->slots[three->ids[e]]] += three->extra[e];
}

/* Sets `row` to p(w | u, v) for the words w after t; u is word i before t, v word j at t. */
static void find_row(lattice *l, size_t t, uint32_t i, uint32_t j) {
    const uint64_t bigram = l->bigrams[(size_t)i * l->width + j];
    const double *lower = l->lower + (size_t)j * l->width;
    const double bow = bigram == NGRAM_NONE ? 1 : l->s->g->three.bow[bigram];
    for (uint32_t k = 0; k < l->width; k++)
        l->row[k] = bow * lower[k];
    if (bigram != NGRAM_NONE)
        add_extras(l, t, bigram);
}

/* ---------------------------------------------------------------- passes -- */

static void scale(double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    for (size_t i = 0; i < count && sum > 0; i++)
        x[i] /= sum;
}

static void begin(lattice *l) {
    const tem_ngram *g = l->s->g;
    double *first = forward_at(l, 0);
    memset(first, 0, (size_t)l->width * l->width * sizeof *first);
    for (uint32_t j = 0; j < l->width; j++)
        first[j] = ngram_two(g, g->edge, l->ids[j]) * l->likelihoods[j];
    scale(first, l->width);
}

/* Makes the forward matrix of t + 1. */
static void step_forward(lattice *l, size_t t) {
    const uint32_t *before = NULL, count = words_before(l, t, &before), width = l->width;
    const double *from = forward_at(l, t), *likelihoods = l->likelihoods + (t + 1) * width;
    double *to = forward_at(l, t + 1);
    memset(to, 0, (size_t)width * width * sizeof *to);
    find_bigrams(l, t);
    find_lower(l, t);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < width; j++) {
            const double share = from[(size_t)i * width + j];
            if (!(share > 0))
                continue;
            find_row(l, t, i, j);
            for (uint32_t k = 0; k < width; k++)
                to[(size_t)j * width + k] += share * l->row[k];
        }
    for (size_t j = 0; j < width; j++)
        for (uint32_t k = 0; k < width; k++)
            to[j * width + k] *= likelihoods[k];
    scale(to, (size_t)width * width);
    forget_slots(l, t);
}

/* The backward matrix of the last position: the end follows. */
static void end(lattice *l) {
    const tem_ngram *g = l->s->g;
    const uint32_t *before = NULL, *here = ids_at(l, l->count - 1);
    const uint32_t count = words_before(l, l->count - 1, &before);
    find_bigrams(l, l->count - 1);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < l->width; j++) {
            const size_t at = (size_t)i * l->width + j;
            l->backward[at] = ngram_three(g, l->bigrams[at], here[j], g->edge);
        }
    scale(l->backward, (size_t)count * l->width);
}

/* Makes the backward matrix of t from that of t + 1. */
static void step_backward(lattice *l, size_t t) {
    const uint32_t *before = NULL, count = words_before(l, t, &before), width = l->width;
    const double *likelihoods = l->likelihoods + (t + 1) * width;
    find_bigrams(l, t);
    find_lower(l, t);
    for (uint32_t j = 0; j < width; j++)
        for (uint32_t k = 0; k < width; k++)
            l->backward[(size_t)j * width + k] *= likelihoods[k];
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < width; j++) {
            double sum = 0;
            find_row(l, t, i, j);
            for (uint32_t k = 0; k < width; k++)
                sum += l->row[k] * l->backward[(size_t)j * width + k];
            l->ahead[(size_t)i * width + j] = sum > 0 ? sum : 0;
        }
    memcpy(l->backward, l->ahead, (size_t)count * width * sizeof *l->ahead);
    scale(l->backward, (size_t)count * width);
    forget_slots(l, t);
}

/* The guess of position t from the products of both passes. */
static void guess(lattice *l, size_t t, uint32_t *out, double *success) {
    const uint32_t *before = NULL, count = words_before(l, t, &before);
    const double *forward = forward_at(l, t);
    double total = 0, best = -1;
    uint32_t best_id = TEM_NO_WORD;
    for (uint32_t j = 0; j < l->width; j++) {
        double sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += forward[(size_t)i * l->width + j] * l->backward[(size_t)i * l->width + j];
        total += sum;
        if (sum > best && ids_at(l, t)[j] != l->s->g->unknown) {
            best = sum;
            best_id = ids_at(l, t)[j];
        }
    }
    const bool shown = l->released[t] == TEM_NO_WORD;
    *out = shown ? TEM_NO_WORD : best_id;
    *success = shown || !(total > 0) || best < 0 ? 0 : l->covered[t] * best / total;
}

static void run_passes(lattice *l, uint32_t *guesses, double *success) {
    begin(l);
    for (size_t t = 0; t + 1 < l->count && !core_task_stopped(); t++)
        step_forward(l, t);
    end(l);
    for (size_t t = l->count; t > 0 && !core_task_stopped(); t--) {
        guess(l, t - 1, &guesses[t - 1], &success[t - 1]);
        if (t > 1)
            step_backward(l, t - 2);
    }
}

static bool allocate(lattice *l) {
    const size_t square = (size_t)l->width * l->width;
    l->ids = core_alloc(l->count, l->width * sizeof *l->ids);
    l->likelihoods = core_alloc(l->count, l->width * sizeof *l->likelihoods);
    l->covered = core_alloc(l->count, sizeof *l->covered);
    l->forward = core_alloc(l->count, square * sizeof *l->forward);
    l->backward = core_alloc(square, sizeof *l->backward);
    l->ahead = core_alloc(square, sizeof *l->ahead);
    l->lower = core_alloc(square, sizeof *l->lower);
    l->bigrams = core_alloc(square, sizeof *l->bigrams);
    l->row = core_alloc(l->width, sizeof *l->row);
    l->slots = core_alloc(l->s->g->symbols, sizeof *l->slots);
    for (uint32_t s = 0; l->slots != NULL && s < l->s->g->symbols; s++)
        l->slots[s] = -1;
    return l->ids != NULL && l->likelihoods != NULL && l->covered != NULL && l->forward != NULL &&
           l->backward != NULL && l->ahead != NULL && l->lower != NULL && l->bigrams != NULL &&
           l->row != NULL && l->slots != NULL;
}

static void release(lattice *l) {
    core_free(l->slots);
    core_free(l->row);
    core_free(l->bigrams);
    core_free(l->lower);
    core_free(l->ahead);
    core_free(l->backward);
    core_free(l->forward);
    core_free(l->covered);
    core_free(l->likelihoods);
    core_free(l->ids);
}

tem_status sequence_guess_three(const sequence *s, const uint32_t *released, size_t count,
                                uint32_t *guesses, double *success, tem_error *error) {
    if (count > SEQUENCE_TRIGRAM_MOST)
        return core_fail(error, TEM_ERR_RANGE,
                         "a document has more than %d words, too many for trigrams",
                         SEQUENCE_TRIGRAM_MOST);
    if (count == 0)
        return TEM_OK;
    const uint32_t states = s->g->words + 1;
    lattice l = {
        .s = s, .released = released, .count = count, .width = s->beam < states ? s->beam : states};
    tem_status status = allocate(&l) ? sequence_two(s, released, count, note_words, &l, error)
                                     : core_fail_memory(error);
    if (status == TEM_OK && !core_task_stopped())
        run_passes(&l, guesses, success);
    release(&l);
    return status;
}
