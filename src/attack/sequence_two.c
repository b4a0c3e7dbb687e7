/* sequence_two.c - forward-backward with an n-gram model of order 2 over all words.
 *
 * p(w | v) = extra2(v, w) + bow2(v) p(w): sparse plus rank one. So a step costs one operation per
 * seen bigram and per word, though it covers all pairs of words. */
#include "attack/sequence.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

typedef struct passes {
    const sequence *s;
    const uint32_t *released;
    size_t count;
    size_t states;       /* words + 1 */
    double *starts;      /* forward vectors of the first positions of the blocks */
    double *block;       /* forward vectors of one block */
    double *likelihoods; /* of one position */
    double *backward;    /* of one position; one more number for the edge */
    double *product;     /* working memory of the same size */
    emission_room room;
} passes;

/* Scales numbers to the sum 1. Numbers that are all 0 become equal: the released words contradict
 * the n-gram model, which then tells nothing. */
static void scale(double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    for (size_t i = 0; i < count; i++)
        x[i] = sum > 0 ? x[i] / sum : 1.0 / (double)count;
}

static void find_likelihoods(passes *p, size_t t) {
    const uint32_t y = p->released[t], unknown = p->s->g->unknown;
    double *out = p->likelihoods;
    if (y == TEM_NO_WORD) {
        for (uint32_t w = 0; w <= unknown; w++)
            out[w] = w == unknown;
        return;
    }
    emission_likelihoods(p->s->emission, &p->room, y, out);
    if (!p->s->draws_unknown)
        out[unknown] = 0;
}

/* The probabilities of the first word. */
static void begin(const passes *p, double *out) {
    const tem_ngram *g = p->s->g;
    for (size_t w = 0; w < p->states; w++)
        out[w] = g->two.bow[g->edge] * g->p[w];
    for (uint64_t i = g->two.starts[g->edge]; i < g->two.starts[g->edge + 1]; i++)
        if (g->two.ids[i] != g->edge)
            out[g->two.ids[i]] += g->two.extra[i];
}

/* out(w) = sum over v of from(v) p(w | v). */
static void move_forward(passes *p, const double *from, double *out) {
    const tem_ngram *g = p->s->g;
    double *sums = p->product, backed = 0;
    memset(sums, 0, (p->states + 1) * sizeof *sums);
    for (size_t v = 0; v < p->states; v++) {
        backed += from[v] * g->two.bow[v];
        if (!(from[v] > 0))
            continue;
        for (uint64_t i = g->two.starts[v]; i < g->two.starts[v + 1]; i++)
            sums[g->two.ids[i]] += from[v] * g->two.extra[i];
    }
    for (size_t w = 0; w < p->states; w++) {
        const double sum = sums[w] + backed * g->p[w];
        out[w] = sum > 0 ? sum : 0; /* a file's rounded numbers may leave less than 0 */
    }
}

/* The forward vector of position t from that of the position before, or from the begin. Leaves
 * the likelihoods of t behind. */
static void step_forward(passes *p, size_t t, const double *before, double *out) {
    if (t == 0)
        begin(p, out);
    else
        move_forward(p, before, out);
    find_likelihoods(p, t);
    for (size_t w = 0; w < p->states; w++)
        out[w] *= p->likelihoods[w];
    scale(out, p->states);
}

/* Computes the forward vectors of the block that begins at `first`; before: that of the position
 * before it. Returns the last one. */
static double *fill_block(passes *p, size_t first, const double *before) {
    const size_t end = first + p->s->block < p->count ? first + p->s->block : p->count;
    double *at = p->block;
    for (size_t t = first; t < end && !core_task_stopped(); t++) {
        at = p->block + (t - first) * p->states;
        step_forward(p, t, before, at);
        before = at;
    }
    return at;
}

/* Makes the backward vector of position t - 1 from that of t: backward(v) = sum over w of
 * p(w | v) P(y | w) backward(w). */
static void step_backward(passes *p) {
    const tem_ngram *g = p->s->g;
    double *ahead = p->product, backed = 0;
    for (size_t w = 0; w < p->states; w++) {
        ahead[w] = p->likelihoods[w] * p->backward[w];
        backed += ahead[w] * g->p[w];
    }
    ahead[g->edge] = 0;
    for (size_t v = 0; v < p->states; v++) {
        double sum = g->two.bow[v] * backed;
        for (uint64_t i = g->two.starts[v]; i < g->two.starts[v + 1]; i++)
            sum += g->two.extra[i] * ahead[g->two.ids[i]];
        p->backward[v] = sum > 0 ? sum : 0;
    }
    scale(p->backward, p->states);
}

/* Hands over the probabilities of the positions of a block, the last one first, and leaves the
 * backward vector of the position before it. */
static void end_block(passes *p, size_t first, sequence_marginal *each, void *context) {
    const size_t end = first + p->s->block < p->count ? first + p->s->block : p->count;
    for (size_t t = end; t > first && !core_task_stopped(); t--) {
        double *both = p->block + (t - 1 - first) * p->states;
        for (size_t w = 0; w < p->states; w++)
            both[w] *= p->backward[w];
        scale(both, p->states);
        find_likelihoods(p, t - 1);
        each(context, t - 1, both, p->likelihoods);
        step_backward(p);
    }
}

static void run_passes(passes *p, sequence_marginal *each, void *context) {
    const tem_ngram *g = p->s->g;
    const size_t block = p->s->block, blocks = (p->count + block - 1) / block;
    const size_t bytes = p->states * sizeof *p->starts;
    for (size_t b = 0; b < blocks; b++) {
        if (b > 0) /* p->block + its last vector, which `starts` keeps */
            memcpy(p->starts + b * p->states, p->block + (block - 1) * p->states, bytes);
        fill_block(p, b * block, b == 0 ? NULL : p->starts + b * p->states);
    }
    for (size_t v = 0; v < p->states; v++)
        p->backward[v] = ngram_two(g, (uint32_t)v, g->edge);
    scale(p->backward, p->states);
    for (size_t b = blocks; b > 0 && !core_task_stopped(); b--) {
        if (b < blocks)
            fill_block(p, (b - 1) * block, b == 1 ? NULL : p->starts + (b - 1) * p->states);
        end_block(p, (b - 1) * block, each, context);
    }
}

tem_status sequence_two(const sequence *s, const uint32_t *released, size_t count,
                        sequence_marginal *each, void *context, tem_error *error) {
    const size_t states = s->g->words + (size_t)1;
    const size_t blocks = (count + s->block - 1) / s->block;
    if (count == 0)
        return TEM_OK;
    passes p = {.s = s,
                .released = released,
                .count = count,
                .states = states,
                .starts = core_alloc(blocks, states * sizeof(double)),
                .block = core_alloc(count < s->block ? count : s->block, states * sizeof(double)),
                .likelihoods = core_alloc(states, sizeof(double)),
                .backward = core_alloc(states + 1, sizeof(double)),
                .product = core_alloc(states + 1, sizeof(double))};
    const bool ready = emission_room_init(&p.room, s->emission) && p.starts != NULL &&
                       p.block != NULL && p.likelihoods != NULL && p.backward != NULL &&
                       p.product != NULL;
    if (ready)
        run_passes(&p, each, context);
    emission_room_free(&p.room);
    core_free(p.product);
    core_free(p.backward);
    core_free(p.likelihoods);
    core_free(p.block);
    core_free(p.starts);
    return ready ? TEM_OK : core_fail_memory(error);
}

/* --------------------------------------------------------------- guesses -- */

uint32_t sequence_best(const double *probabilities, uint32_t words, double *largest) {
    uint32_t best = 0;
    for (uint32_t w = 1; w < words; w++)
        if (probabilities[w] > probabilities[best])
            best = w;
    *largest = probabilities[best];
    return best;
}

void sequence_top(const double *probabilities, uint32_t states, uint32_t count, uint32_t *ids) {
    uint32_t kept = 0;
    for (uint32_t w = 0; w < states; w++) {
        if (kept == count && !(probabilities[w] > probabilities[ids[count - 1]]))
            continue;
        uint32_t at = kept < count ? kept++ : count - 1;
        for (; at > 0 && probabilities[w] > probabilities[ids[at - 1]]; at--)
            ids[at] = ids[at - 1];
        ids[at] = w;
    }
}

typedef struct guessing {
    const sequence *s;
    const uint32_t *released;
    uint32_t *guesses;
    double *success;
} guessing;

static void note_guess(void *context, size_t position, const double *probabilities,
                       const double *likelihoods) {
    const guessing *q = context;
    (void)likelihoods;
    if (q->released[position] == TEM_NO_WORD) {
        q->guesses[position] = TEM_NO_WORD;
        q->success[position] = 0;
        return;
    }
    q->guesses[position] = sequence_best(probabilities, q->s->g->words, &q->success[position]);
}

tem_status sequence_guess_two(const sequence *s, const uint32_t *released, size_t count,
                              uint32_t *guesses, double *success, tem_error *error) {
    guessing q = {s, released, guesses, success};
    return sequence_two(s, released, count, note_guess, &q, error);
}
