/* follows.c - an example of a mechanism whose law depends on what the document shows already.
 *
 *     meson setup build -Dextra_mechanism=tests/mechanisms/follows.c
 *
 * The output is a function of the word, of the last three places of the past and of how many there
 * were: no random number is used, so tests/unit/test_past.c can tell from the output alone whether
 * each draw saw exactly its own past. It states no guarantee. */
#include "follows.h"

#include "core/status.h"

typedef struct follows {
    uint32_t words; /* in the vocabulary */
} follows;

/* What it keeps of a document. */
typedef struct follows_document {
    uint64_t drawn;
    bool is_open;
} follows_document;

follows_watch follows_seen;

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    (void)beta, (void)error;
    ((follows *)state)->words = setup->space->count;
    return TEM_OK;
}

static void free_state(void *state) {
    (void)state;
}

static tem_status begin(const void *state, void *document, tem_error *error) {
    follows_document *d = document;
    (void)state;
    if (d->is_open || d->drawn != 0)
        return core_fail(error, TEM_ERR_DAMAGED, "a document began with the state of another one");
    d->is_open = true;
    atomic_fetch_add(&follows_seen.begun, 1);
    return TEM_OK;
}

static void end(const void *state, void *document) {
    (void)state, (void)document;
    atomic_fetch_add(&follows_seen.ended, 1);
}

uint32_t follows_next(uint32_t words, const released_past *past, uint32_t word) {
    uint64_t sum = 7 * (past->before + past->count) + (word == TEM_NO_WORD ? 5 : 3 * word);
    for (size_t i = 0; i < past->count; i++)
        sum = 31 * sum + past->words[i];
    return (uint32_t)(sum % words);
}

static tem_status draw_next(const void *state, void *document, const released_past *past,
                            uint32_t word, tem_rng *rng, uint32_t *out, tem_error *error) {
    follows_document *d = document;
    (void)rng;
    if (!d->is_open || past->count > FOLLOWS_PAST || (past->count > 0 && past->words == NULL))
        return core_fail(error, TEM_ERR_DAMAGED, "a draw outside a document, or a past too long");
    d->drawn++;
    *out = follows_next(((const follows *)state)->words, past, word);
    return TEM_OK;
}

static const tem_parameter parameters[] = {
    {.name = "epsilon", .meaning = "taken, and without effect", .most = 1e300}, {.name = NULL}};

const mechanism_ops mechanism_extra = {
    .properties = {.name = "follows",
                   .summary = "a word that follows from those before: an example",
                   .parameters = parameters},
    .state_bytes = sizeof(follows),
    .init = init,
    .free = free_state,
    .draw_next = draw_next,
    .past_words = FOLLOWS_PAST,
    .document_bytes = sizeof(follows_document),
    .begin = begin,
    .end = end};
