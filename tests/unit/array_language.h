/* array_language.h - a language model for tests, whose weights are an array per position. It notes
 * what it was asked. Include it after cmocka.h. */
#ifndef TESTS_ARRAY_LANGUAGE_H
#define TESTS_ARRAY_LANGUAGE_H

#include "mech/language.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum { ARRAY_WORDS_MAX = 64, ARRAY_ASKED_MAX = 4096, ARRAY_PAST = 3 };

/* Sets the weights after a past; those of excluded words become 0. */
typedef void array_rule(uint32_t words, const released_past *past, uint64_t *values);

typedef struct array_language {
    tem_language language;
    const tem_model *model;
    array_rule *rule;
    tem_status fails; /* what `position` returns */
    uint32_t changes; /* a word that weighs more each time that somebody asks, if above 0 */

    /* What was asked, and the documents. */
    uint32_t pasts[ARRAY_ASKED_MAX][ARRAY_PAST + 1]; /* how many words, and the words */
    uint64_t before[ARRAY_ASKED_MAX];
    size_t asked, begun, ended;
} array_language;

typedef struct array_document {
    uint64_t values[ARRAY_WORDS_MAX];
    uint32_t words;
    int is_open;
} array_document;

static tem_status array_begin(const void *state, void *document, tem_error *error) {
    array_document *d = document;
    (void)error;
    assert_int_equal(d->is_open, 0);
    d->is_open = 1;
    ((array_language *)state)->begun++;
    return TEM_OK;
}

static void array_end(const void *state, void *document) {
    (void)document;
    ((array_language *)state)->ended++;
}

static void array_note(array_language *l, const released_past *past) {
    assert_true(past->count <= ARRAY_PAST);
    if (l->asked < ARRAY_ASKED_MAX) {
        l->pasts[l->asked][0] = (uint32_t)past->count;
        for (size_t i = 0; i < past->count; i++)
            l->pasts[l->asked][1 + i] = past->words[i];
        l->before[l->asked] = past->before;
    }
    l->asked++;
}

static tem_status array_position(const void *state, void *document, const released_past *past,
                                 position_weights *at, tem_error *error) {
    array_language *l = (array_language *)state;
    array_document *d = document;
    assert_int_equal(d->is_open, 1);
    array_note(l, past);
    if (l->fails != TEM_OK) {
        if (error != NULL)
            *error = (tem_error){.status = l->fails};
        return l->fails;
    }
    d->words = l->model->words.count;
    l->rule(d->words, past, d->values);
    if (l->changes > 0)
        d->values[l->changes] = (uint64_t)1 << l->asked % 40;
    for (uint32_t y = 0; y < d->words; y++) {
        if (tem_model_is_excluded(l->model, y))
            d->values[y] = 0;
        at->total += d->values[y];
    }
    return TEM_OK;
}

static uint64_t array_weight(const position_weights *at, uint32_t y) {
    return ((const array_document *)at->document)->values[y];
}

static void array_weights(const position_weights *at, const uint32_t *ids, uint32_t count,
                          uint64_t *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = array_weight(at, ids[i]);
}

static uint32_t array_draw(const position_weights *at, tem_rng *rng) {
    const array_document *d = at->document;
    uint64_t left = rng_below(rng, at->total);
    uint32_t y = 0;
    while (y + 1 < d->words && left >= d->values[y]) /* the total may be an old one */
        left -= d->values[y++];
    return y;
}

static const language_ops array_ops = {.past_words = ARRAY_PAST,
                                       .document_bytes = sizeof(array_document),
                                       .begin = array_begin,
                                       .end = array_end,
                                       .position = array_position,
                                       .weight = array_weight,
                                       .weights = array_weights,
                                       .draw = array_draw};

static array_language *array_language_make(const tem_model *model, array_rule *rule) {
    array_language *l = calloc(1, sizeof *l);
    assert_true(l != NULL && model->words.count <= ARRAY_WORDS_MAX);
    *l = (array_language){.model = model, .rule = rule};
    l->language = (tem_language){.ops = &array_ops, .state = l, .name = "array", .hash = "00"};
    model_outputs_hash(model, l->language.outputs);
    return l;
}

#endif
