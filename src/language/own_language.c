/* own_language.c - language models of the user's own functions.
 *
 * With `weights`: an array per position, which this file adds up in place. What is looked up, the
 * total, and what is drawn are then the same integers, whatever the function does. With `look`: the
 * functions are asked directly, and nobody knows whether they agree; so such a language model has a
 * caveat. */
#include "language/own_language.h"

#include "core/memory.h"
#include "core/status.h"
#include "mech/language.h"
#include "rng/rng.h"

#include <string.h>

_Static_assert(TEM_PAST_KEPT_WORD == RELEASED_KEPT_WORD && TEM_PAST_MASK == RELEASED_MASK &&
                   TEM_PAST_PUNCTUATION == RELEASED_PUNCTUATION &&
                   TEM_PAST_LINE_END == RELEASED_LINE_END,
               "functions see what the output shows");

typedef struct own_language {
    tem_language_functions functions;
    language_ops ops; /* with the user's past_words */
    uint32_t words;
    uint8_t outputs[]; /* 1 for each output, 0 for each excluded word */
} own_language;

typedef struct own_document {
    const own_language *own;
    void *document; /* the user's */
    bool is_begun;
    uint64_t
        *numbers;    /* with `weights`: of each word y, the sum of the weights of the words 0 to y;
                        * with `look`: the weight of each word that was asked for here */
    uint32_t *asked; /* with `look`: the last position at which somebody asked for a word */
    uint32_t position; /* from 1 */
} own_document;

static size_t bytes_of(const own_language *own) {
    return own->words * sizeof(uint64_t);
}

static tem_status fail_function(tem_error *error) {
    return core_fail(error, TEM_ERR_CANCELLED, "a function of the language model failed");
}

/* ---- documents ---- */

static tem_status own_begin(const void *state, void *document, tem_error *error) {
    const own_language *own = state;
    own_document *d = document;
    d->own = own;
    d->numbers = core_alloc(own->words, sizeof *d->numbers);
    if (own->functions.look != NULL)
        d->asked = core_alloc_zero(own->words, sizeof *d->asked);
    if (d->numbers == NULL || (own->functions.look != NULL && d->asked == NULL))
        return core_fail_memory(error);
    if (own->functions.begin != NULL &&
        own->functions.begin(own->functions.context, &d->document) != 0)
        return fail_function(error);
    d->is_begun = true;
    return TEM_OK;
}

static void own_end(const void *state, void *document) {
    const own_language *own = state;
    own_document *d = document;
    if (d->is_begun && own->functions.end != NULL)
        own->functions.end(own->functions.context, d->document);
    /* The weights tell which words the document shows. */
    core_free_erased(d->numbers, bytes_of(own));
    core_free_erased(d->asked, own->words * sizeof *d->asked);
    *d = (own_document){.own = NULL};
}

static tem_past past_of(const released_past *past) {
    return (tem_past){.words = past->words, .count = past->count, .before = past->before};
}

/* ---- an array of weights ---- */

/* Turns weights into sums. */
static tem_status add_up(const own_language *own, uint64_t *sums, uint64_t *total,
                         tem_error *error) {
    uint64_t sum = 0;
    for (uint32_t y = 0; y < own->words; y++) {
        /* PRIVACY: excluded words weigh nothing, whatever the function says. */
        const uint64_t weight = own->outputs[y] != 0 ? sums[y] : 0;
        if (weight > INT64_MAX - sum)
            return core_fail(error, TEM_ERR_RANGE,
                             "the weights of the language model add up to 2^63 or more");
        sum += weight;
        sums[y] = sum;
    }
    if (sum == 0)
        return core_fail(error, TEM_ERR_RANGE, "the language model gives no output any weight");
    *total = sum;
    return TEM_OK;
}

static tem_status array_position(const void *state, void *document, const released_past *past,
                                 position_weights *at, tem_error *error) {
    const own_language *own = state;
    own_document *d = document;
    const tem_past shown = past_of(past);
    memset(d->numbers, 0, bytes_of(own));
    if (own->functions.weights(own->functions.context, d->document, &shown, d->numbers) != 0)
        return fail_function(error);
    return add_up(own, d->numbers, &at->total, error);
}

static uint64_t array_weight(const position_weights *at, uint32_t y) {
    const uint64_t *sums = ((const own_document *)at->document)->numbers;
    return sums[y] - (y > 0 ? sums[y - 1] : 0);
}

static void array_weights(const position_weights *at, const uint32_t *ids, uint32_t count,
                          uint64_t *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = array_weight(at, ids[i]);
}

/* The first word whose sum is above a number below the total. */
static uint32_t array_draw(const position_weights *at, tem_rng *rng) {
    const own_document *d = at->document;
    const uint64_t drawn = rng_below(rng, at->total);
    uint32_t first = 0, last = d->own->words - 1;
    while (first < last) {
        const uint32_t middle = first + (last - first) / 2;
        if (d->numbers[middle] > drawn)
            last = middle;
        else
            first = middle + 1;
    }
    return first;
}

/* ---- weights and draws one by one ---- */

static tem_status lazy_position(const void *state, void *document, const released_past *past,
                                position_weights *at, tem_error *error) {
    const tem_language_functions *f = &((const own_language *)state)->functions;
    own_document *d = document;
    const tem_past shown = past_of(past);
    uint64_t total = 0;
    d->position++;
    if (f->look(f->context, d->document, &shown, &total) != 0)
        return fail_function(error);
    if (total == 0 || total > INT64_MAX)
        return core_fail(error, TEM_ERR_RANGE,
                         "the language model says a sum of weights that is 0, or 2^63 or more");
    at->total = total;
    return TEM_OK;
}

/* PRIVACY: one set of weights per position, also where a function has another answer each time.
 * Draws rely on it, too: they find an output by its share of a sum that was taken before. */
static uint64_t lazy_weight(const position_weights *at, uint32_t y) {
    own_document *d = at->document;
    const tem_language_functions *f = &d->own->functions;
    if (d->asked[y] != d->position) {
        d->numbers[y] = d->own->outputs[y] != 0 ? f->weight(f->context, d->document, y) : 0;
        d->asked[y] = d->position;
    }
    return d->numbers[y];
}

static void lazy_weights(const position_weights *at, const uint32_t *ids, uint32_t count,
                         uint64_t *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = lazy_weight(at, ids[i]);
}

static uint32_t lazy_draw(const position_weights *at, tem_rng *rng) {
    const own_document *d = at->document;
    const tem_language_functions *f = &d->own->functions;
    return f->draw(f->context, d->document, rng);
}

/* ---- making ---- */

static const language_ops array_ops = {.position = array_position,
                                       .weight = array_weight,
                                       .weights = array_weights,
                                       .draw = array_draw};
static const language_ops lazy_ops = {
    .position = lazy_position, .weight = lazy_weight, .weights = lazy_weights, .draw = lazy_draw};

static tem_status check_functions(const tem_language_functions *f, tem_error *error) {
    const bool is_lazy = f->look != NULL || f->weight != NULL || f->draw != NULL;
    const bool is_whole = f->look != NULL && f->weight != NULL && f->draw != NULL;
    if ((f->weights != NULL) == is_lazy || is_lazy != is_whole)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a language model needs `weights`, or `look`, `weight` and `draw`");
    if (f->past_words > MECHANISM_PAST_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "a language model sees at most %d words before",
                         MECHANISM_PAST_MAX);
    return TEM_OK;
}

/* A function of the user's may take long, so the caller is asked after each word. */
static language_ops ops_of(const tem_language_functions *f) {
    language_ops ops = f->weights != NULL ? array_ops : lazy_ops;
    ops.free = core_free;
    ops.past_words = f->past_words > 0 ? f->past_words : MECHANISM_PAST_MAX;
    ops.slow_draws = 1;
    ops.document_bytes = sizeof(own_document);
    ops.begin = own_begin;
    ops.end = own_end;
    return ops;
}

tem_status own_language_make(const tem_model *model, const tem_language_functions *functions,
                             tem_language **out, tem_error *error) {
    TRY(check_functions(functions, error));
    const uint32_t words = model->words.count;
    tem_language *language = core_alloc_zero(1, sizeof *language);
    own_language *own = core_alloc_zero(1, sizeof *own + words);
    if (language == NULL || own == NULL) {
        core_free(own);
        core_free(language);
        return core_fail_memory(error);
    }
    own->functions = *functions;
    own->ops = ops_of(functions);
    own->words = words;
    for (uint32_t y = 0; y < words; y++)
        own->outputs[y] = !model_is_excluded(model, y);
    language->ops = &own->ops;
    language->state = own;
    if (functions->name != NULL)
        memcpy(language->name, functions->name, strlen(functions->name));
    model_outputs_hash(model, language->outputs);
    /* PRIVACY: if weights and draws disagree by a rounding, losses are above the bound. */
    if (functions->look != NULL)
        language->caveat =
            "its language model draws by functions of the user's own, and tem cannot "
            "check that they agree with its weights; state all weights instead";
    *out = language;
    return TEM_OK;
}
