/* word_order.c - the drawn words of one document whose order must not be seen. */
#include "job/word_order.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "records/json_span.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ASK_WORDS = 1 << 16 }; /* words between two questions to the callback */

static uint32_t *drawn_of(const word_order *o) {
    return (uint32_t *)(void *)o->drawn.data;
}

static size_t count_of(const word_order *o) {
    return o->drawn.size / sizeof(uint32_t);
}

void word_order_begin(word_order *o) {
    for (size_t i = 0; o->counts != NULL && i < count_of(o); i++)
        o->counts[drawn_of(o)[i]] = 0;
    core_buffer_clear(&o->drawn);
}

void word_order_free(word_order *o) {
    core_free_erased(o->counts, o->words == NULL ? 0 : o->words->count * sizeof *o->counts);
    core_buffer_free(&o->drawn);
    o->counts = NULL;
}

/* ---- adding ---- */

/* Counts a word, and lists it if it is new. */
static tem_status count_word(word_order *o, uint32_t word, tem_error *error) {
    if (o->counts[word] == 0 && !core_buffer_add(&o->drawn, &word, sizeof word))
        return core_fail_memory(error);
    o->counts[word]++;
    return TEM_OK;
}

tem_status word_order_add(word_order *o, const uint32_t *drawn, size_t count, tem_error *error) {
    if (o->kind != TEM_ORDER_COUNTS)
        return count == 0 || core_buffer_add(&o->drawn, drawn, count * sizeof *drawn)
                   ? TEM_OK
                   : core_fail_memory(error);
    if (o->counts == NULL)
        o->counts = core_alloc_zero(o->words->count, sizeof *o->counts);
    if (o->counts == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        TRY(count_word(o, drawn[i], error));
    return TEM_OK;
}

/* ---- a random order ---- */

static tem_status ask(const tem_run *run, size_t done, tem_error *error) {
    return done % ASK_WORDS == ASK_WORDS - 1 ? core_progress(run, "privatizing", 0, 0, error)
                                             : TEM_OK;
}

/* Fisher and Yates: each place, from the last on, gets one of the words that are left, all equally
 * likely. So all orders are equally likely.
 * PRIVACY: the numbers come from the generator that draws, and after all draws, so the order is
 * independent of the words. */
static tem_status shuffle(word_order *o, tem_rng *rng, const tem_run *run, tem_error *error) {
    uint32_t *words = drawn_of(o);
    for (size_t left = count_of(o); left > 1; left--) {
        const size_t chosen = rng_below(rng, left);
        const uint32_t word = words[chosen];
        words[chosen] = words[left - 1];
        words[left - 1] = word;
        TRY(ask(run, left, error));
    }
    return TEM_OK;
}

static tem_status fail_damaged(tem_error *error) {
    return core_fail(error, TEM_ERR_DAMAGED,
                     "damaged model: a word is not there; verify the model");
}

static tem_status put_words(const word_order *o, const tem_run *run, core_buffer *out,
                            tem_error *error) {
    for (size_t i = 0; i < count_of(o); i++) {
        size_t length = 0;
        const char *word = vocab_word(o->words, drawn_of(o)[i], &length);
        if (word == NULL)
            return fail_damaged(error);
        if ((i > 0 && !core_buffer_add(out, " ", 1)) || !core_buffer_add(out, word, length))
            return core_fail_memory(error);
        TRY(ask(run, i, error));
    }
    return TEM_OK;
}

/* ---- counts ---- */

/* Whether word a comes after word b in the order of their bytes. */
static bool is_after(const word_order *o, uint32_t a, uint32_t b) {
    size_t a_length = 0, b_length = 0;
    const char *x = vocab_word(o->words, a, &a_length), *y = vocab_word(o->words, b, &b_length);
    const size_t common = a_length < b_length ? a_length : b_length;
    const int order = x == NULL || y == NULL || common == 0 ? 0 : memcmp(x, y, common);
    return order > 0 || (order == 0 && a_length > b_length);
}

/* Moves the word at `top` of a heap down to its place; the last word of the order is on top. */
static void sift_down(const word_order *o, uint32_t *heap, size_t top, size_t count) {
    const uint32_t word = heap[top];
    for (size_t child; (child = 2 * top + 1) < count; top = child) {
        if (child + 1 < count && is_after(o, heap[child + 1], heap[child]))
            child++;
        if (!is_after(o, heap[child], word))
            break;
        heap[top] = heap[child];
    }
    heap[top] = word;
}

/* Sorts the words by a heap, in place: qsort may copy them to memory that nobody erases. */
static void sort_words(const word_order *o) {
    uint32_t *words = drawn_of(o);
    const size_t count = count_of(o);
    for (size_t top = count / 2; top-- > 0;)
        sift_down(o, words, top, count);
    for (size_t left = count; left > 1; left--) {
        const uint32_t last = words[0];
        words[0] = words[left - 1];
        words[left - 1] = last;
        sift_down(o, words, 0, left - 1);
    }
}

static tem_status put_count(const word_order *o, uint32_t id, core_buffer *out, tem_error *error) {
    char number[24];
    size_t length = 0;
    const char *word = vocab_word(o->words, id, &length);
    if (word == NULL)
        return fail_damaged(error);
    TRY(json_encode(word, length, out, error));
    const int digits = snprintf(number, sizeof number, ": %" PRIu64, o->counts[id]);
    if (!core_buffer_add(out, number, (size_t)digits))
        return core_fail_memory(error);
    return TEM_OK;
}

static tem_status put_counts(const word_order *o, const tem_run *run, core_buffer *out,
                             tem_error *error) {
    tem_status status = core_buffer_add(out, "{", 1) ? TEM_OK : core_fail_memory(error);
    sort_words(o);
    for (size_t i = 0; i < count_of(o) && status == TEM_OK; i++) {
        if (i > 0 && !core_buffer_add(out, ", ", 2))
            return core_fail_memory(error);
        status = put_count(o, drawn_of(o)[i], out, error);
        if (status == TEM_OK)
            status = ask(run, i, error);
    }
    if (status == TEM_OK && !core_buffer_add(out, "}", 1))
        return core_fail_memory(error);
    return status;
}

tem_status word_order_put(word_order *o, tem_rng *rng, const tem_run *run, core_buffer *out,
                          tem_error *error) {
    if (o->kind == TEM_ORDER_COUNTS)
        return put_counts(o, run, out, error);
    TRY(shuffle(o, rng, run, error));
    return put_words(o, run, out, error);
}
