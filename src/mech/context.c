/* context.c - draws in context, exactly.
 *
 * A draw proposes outputs from an envelope, and accepts or rejects them. The envelope has a
 * component for each entry i of the word's list, and one for all outputs:
 *
 *     entry i:        a_i whole(K_i)       a_i the weight of the entry, K_i its closeness
 *     all outputs:    A whole(bound)       A the sum of all weights
 *
 * whole(K) is a closeness without its fraction, and `bound` is that of the list. A round:
 *
 *   1  Select a component, with the probability of its size divided by their sum.
 *   2  All outputs: draw y with probability a_y / A. Reject it if it is in the list; else keep it
 *      with probability whole(K_y) / whole(bound).
 *   3  Release y with probability exp(-fraction(K_y)).
 *   4  After any rejection start a new round at step 1.
 *
 * So a round releases y with probability a_y K_y / sum, in the list or not, and the released word
 * has the law. After CONTEXT_ROUNDS rejected rounds the draw sums all outputs (draw_summed), which
 * has the same law: so the law of both together is the same.
 *
 * PRIVACY: a rejection starts the whole round anew. To draw another output for the second component
 * only would change the odds between the list and the others by an amount that depends on the input
 * word. That an output of the list may be proposed by the second component costs at most as many
 * rounds again as a component without the list would need.
 *
 * This serves every form and every language model. Where both allow more, rank_context.c draws from
 * the same law some hundred times faster. */
#include "mech/context.h"

#include "core/memory.h"
#include "core/status.h"
#include "mech/sampler.h"

enum { TILE = 64 };

/* ---- a context ---- */

tem_status context_init(word_context *c, const law_form *form, const tem_language *language,
                        tem_error *error) {
    *c = (word_context){.form = form, .language = language};
    if (!rank_context_serves(form, language))
        return TEM_OK;
    c->ranked = core_alloc_zero(1, sizeof *c->ranked);
    const tem_status status = c->ranked == NULL
                                  ? core_fail_memory(error)
                                  : rank_context_init(c->ranked, form, language, error);
    if (status != TEM_OK)
        context_free(c);
    return status;
}

void context_free(word_context *c) {
    if (c->ranked != NULL)
        rank_context_free(c->ranked);
    core_free(c->ranked);
    *c = (word_context){0};
}

/* Where the scratch of the quick draws begins in the state of a document. */
static size_t scratch_at(const word_context *c) {
    return (c->language->ops->document_bytes + 63) / 64 * 64;
}

size_t context_document_bytes(const word_context *c) {
    return c->ranked == NULL ? c->language->ops->document_bytes
                             : scratch_at(c) + c->ranked->scratch_bytes;
}

/* ---- one draw ---- */

typedef struct one_draw {
    const word_context *c;
    const position_weights *at;
    uint32_t word; /* or TEM_NO_WORD */
    output_list list;
    u256 near; /* the sum of the components of the list */
    u256 all;  /* and of all components */
} one_draw;

/* The weights of outputs; 0 for those that this run never releases.
 * PRIVACY: which words these are is public, and the same for every input. */
static void weigh(const word_context *c, const position_weights *at, const uint32_t *ids,
                  uint32_t count, uint64_t *out) {
    c->language->ops->weights(at, ids, count, out);
    for (uint32_t i = 0; i < count; i++)
        if (weights_at(c->form->weights, ids[i]) == 0)
            out[i] = 0;
}

/* K of an output; 1 for an unknown word, which is equally close to all outputs. */
static closeness closeness_of(const one_draw *d, uint32_t y) {
    const closeness same = {{{1, 0, 0, 0}}, 0};
    return d->word == TEM_NO_WORD ? same : d->c->form->ops->pair(d->c->form, d->word, y);
}

/* a -= b; a >= b. */
static void subtract(u256 *a, const u256 *b) {
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        const u256_wide d = (u256_wide)a->limb[i] - b->limb[i] - borrow;
        a->limb[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
}

static bool is_zero(const u256 *a) {
    return (a->limb[0] | a->limb[1] | a->limb[2] | a->limb[3]) == 0;
}

static tem_status refuse_empty(tem_error *error) {
    return core_fail(error, TEM_ERR_DAMAGED, "the language model leaves no word to draw");
}

static tem_status refuse_word(tem_error *error) {
    return core_fail(error, TEM_ERR_DAMAGED, "the language model drew a word that is none");
}

/* ---- the list ---- */

/* A part of the list with its weights. */
typedef struct list_tile {
    uint32_t count;
    listed_output entries[TILE];
    uint64_t values[TILE];
} list_tile;

static void read_tile(const one_draw *d, uint32_t first, list_tile *t) {
    const law_form *f = d->c->form;
    uint32_t ids[TILE] = {0};
    t->count = d->list.count - first < TILE ? d->list.count - first : TILE;
    for (uint32_t i = 0; i < t->count; i++) {
        t->entries[i] = f->ops->entry(f, &d->list, first + i);
        ids[i] = t->entries[i].id;
    }
    weigh(d->c, d->at, ids, t->count, t->values);
}

/* Sums below 2^63 * 2^192: the weights together are below 2^63, a closeness is at most 2^192. */
static void add_list(one_draw *d) {
    list_tile t;
    d->near = (u256){{0, 0, 0, 0}};
    for (uint32_t first = 0; first < d->list.count; first += TILE) {
        read_tile(d, first, &t);
        for (uint32_t i = 0; i < t.count; i++)
            u256_add_product(&d->near, &t.entries[i].closeness.whole, t.values[i]);
    }
}

/* The entry on which `left` falls, which is below d->near. */
static listed_output find_entry(const one_draw *d, u256 left) {
    list_tile t;
    for (uint32_t first = 0;; first += TILE) {
        read_tile(d, first, &t);
        for (uint32_t i = 0; i < t.count; i++) {
            u256 size = {{0, 0, 0, 0}};
            u256_add_product(&size, &t.entries[i].closeness.whole, t.values[i]);
            if (u256_less(&left, &size))
                return t.entries[i];
            subtract(&left, &size);
        }
    }
}

/* ---- rounds ---- */

/* Step 2: proposes y by its weight alone. */
static tem_status try_any(const one_draw *d, tem_rng *rng, listed_output *y, bool *kept,
                          tem_error *error) {
    const law_form *f = d->c->form;
    y->id = d->c->language->ops->draw(d->at, rng);
    *kept = false;
    if (y->id >= f->weights->count)
        return refuse_word(error);
    if (weights_at(f->weights, y->id) == 0)
        return TEM_OK;
    const proposed_output p = f->ops->propose(f, d->word, &d->list, y->id);
    y->closeness = p.closeness;
    if (p.is_listed)
        return TEM_OK;
    /* PRIVACY: the envelope is nowhere below the law only if no output outside the list is closer
     * than its bound. */
    const u256 *bound = &d->list.bound.whole;
    if (u256_less(bound, &p.closeness.whole))
        return core_fail(error, TEM_ERR_DAMAGED,
                         "damaged model: a word is nearer than the bound on it; verify the model");
    const u256 drawn = rng_below256(rng, bound);
    *kept = u256_less(&drawn, &p.closeness.whole);
    return TEM_OK;
}

/* One round. */
static tem_status try_round(const one_draw *d, tem_rng *rng, uint32_t *out, bool *over,
                            tem_error *error) {
    const u256 drawn = rng_below256(rng, &d->all);
    listed_output y;
    tem_status status = TEM_OK;
    bool kept = true;
    if (u256_less(&drawn, &d->near))
        y = find_entry(d, drawn);
    else
        status = try_any(d, rng, &y, &kept, error);
    *over = status == TEM_OK && kept && sampler_bernoulli_exp(y.closeness.fraction, rng);
    if (*over)
        *out = y.id;
    return status;
}

/* An unknown word draws by weight alone.
 * PRIVACY: all unknown words have this law. */
static tem_status try_unknown(const one_draw *d, tem_rng *rng, uint32_t *out, bool *over,
                              tem_error *error) {
    const uint32_t y = d->c->language->ops->draw(d->at, rng);
    if (y >= d->c->form->weights->count)
        return refuse_word(error);
    *over = weights_at(d->c->form->weights, y) > 0;
    if (*over)
        *out = y;
    return TEM_OK;
}

/* ---- all outputs ---- */

/* The sizes of the outputs from `first` on, without fractions. */
static uint32_t read_sizes(const one_draw *d, uint32_t first, closeness *close, u256 *sizes) {
    const uint32_t left = d->c->form->weights->count - first, count = left < TILE ? left : TILE;
    uint32_t ids[TILE] = {0};
    uint64_t values[TILE];
    for (uint32_t i = 0; i < count; i++)
        ids[i] = first + i;
    weigh(d->c, d->at, ids, count, values);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = (u256){{0, 0, 0, 0}};
        if (values[i] == 0)
            continue;
        close[i] = closeness_of(d, first + i);
        u256_add_product(&sizes[i], &close[i].whole, values[i]);
    }
    return count;
}

/* The output on which `left` falls, which is below the sum of all. */
static listed_output find_output(const one_draw *d, u256 left) {
    closeness close[TILE];
    u256 sizes[TILE];
    for (uint32_t first = 0;; first += TILE) {
        const uint32_t count = read_sizes(d, first, close, sizes);
        for (uint32_t i = 0; i < count; i++) {
            if (u256_less(&left, &sizes[i]))
                return (listed_output){first + i, close[i]};
            subtract(&left, &sizes[i]);
        }
    }
}

/* Draws by the sum of all outputs: some milliseconds for 34,000 of them. A fraction is below 1/8,
 * so a round seldom rejects. */
static tem_status draw_summed(const one_draw *d, tem_rng *rng, uint32_t *out, tem_error *error) {
    closeness close[TILE];
    u256 sizes[TILE], sum = {{0, 0, 0, 0}};
    for (uint32_t first = 0; first < d->c->form->weights->count; first += TILE) {
        const uint32_t count = read_sizes(d, first, close, sizes);
        for (uint32_t i = 0; i < count; i++)
            u256_add_product(&sum, &sizes[i], 1);
    }
    if (is_zero(&sum))
        return refuse_empty(error);
    for (;;) {
        const listed_output y = find_output(d, rng_below256(rng, &sum));
        if (!sampler_bernoulli_exp(y.closeness.fraction, rng))
            continue;
        *out = y.id;
        return TEM_OK;
    }
}

/* ---- one position ---- */

static tem_status set_envelope(one_draw *d, tem_error *error) {
    if (d->word == TEM_NO_WORD)
        return TEM_OK;
    TRY(d->c->form->ops->list(d->c->form, d->word, &d->list, error));
    add_list(d);
    d->all = d->near;
    u256_add_product(&d->all, &d->list.bound.whole, d->at->total);
    return is_zero(&d->all) ? refuse_empty(error) : TEM_OK;
}

/* The rounds of rank_context.c. */
static bool draw_by_rank(const one_draw *d, tem_rng *rng, uint32_t *out) {
    bool over = false;
    rank_draw quick;
    rank_draw_begin(&quick, d->c->ranked, (char *)d->at->document + scratch_at(d->c), d->at,
                    d->word);
    rank_draw_run(&quick, CONTEXT_ROUNDS, rng, out, &over);
    explicit_bzero(&quick, sizeof quick);
    return over;
}

static tem_status draw_at(one_draw *d, tem_rng *rng, uint32_t *out, tem_error *error) {
    const bool is_known = d->word != TEM_NO_WORD;
    if (is_known && d->c->ranked != NULL)
        return draw_by_rank(d, rng, out) ? TEM_OK : draw_summed(d, rng, out, error);
    tem_status status = set_envelope(d, error);
    bool over = false;
    for (int round = 0; round < CONTEXT_ROUNDS && !over && status == TEM_OK; round++)
        status = is_known ? try_round(d, rng, out, &over, error)
                          : try_unknown(d, rng, out, &over, error);
    return over || status != TEM_OK ? status : draw_summed(d, rng, out, error);
}

static tem_status find_position(const word_context *c, void *document, const released_past *past,
                                position_weights *at, tem_error *error) {
    *at = (position_weights){.state = c->language->state, .document = document};
    const tem_status status =
        c->language->ops->position(c->language->state, document, past, at, error);
    if (status != TEM_OK || (at->total > 0 && at->total <= INT64_MAX))
        return status;
    return core_fail(error, TEM_ERR_DAMAGED, "the weights of the language model have no valid sum");
}

/* PRIVACY: one set of weights per position. A second question, after a rejection, could have
 * another answer: then accepted words would have no law at all. */
tem_status context_draw(const word_context *c, void *document, const released_past *past,
                        uint32_t word, tem_rng *rng, uint32_t *out, tem_error *error) {
    position_weights at;
    TRY(find_position(c, document, past, &at, error));
    one_draw d = {.c = c, .at = &at, .word = word};
    const tem_status status = draw_at(&d, rng, out, error);
    explicit_bzero(&d, sizeof d);
    return status;
}

tem_status context_weights(const word_context *c, void *document, const released_past *past,
                           uint64_t *values, tem_error *error) {
    position_weights at;
    const tem_status status = find_position(c, document, past, &at, error);
    const uint32_t words = c->form->weights->count;
    uint32_t ids[TILE] = {0};
    for (uint32_t first = 0; first < words && status == TEM_OK; first += TILE) {
        const uint32_t count = words - first < TILE ? words - first : TILE;
        for (uint32_t i = 0; i < count; i++)
            ids[i] = first + i;
        weigh(c, &at, ids, count, values + first);
    }
    return status;
}
