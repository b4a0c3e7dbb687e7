/* ngram_train.c - counts n-grams of public texts, and smooths them by interpolated Kneser-Ney.
 *
 * Each word of a text, and the end of each document, is one key of 64 bits: the two words before
 * it, and the word. The first word of a document has `pad` before the begin, so that its key has
 * three parts, too. Sorted keys give counts and rows. */
#include "language/ngram.h"

#include "audit/public_text.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "model/model.h"

#include <stdlib.h>

enum { PART_BITS = 21 };
#define PART_MASK (((uint64_t)1 << PART_BITS) - 1)
_Static_assert(TEM_NGRAM_WORDS_MAX + 3 <= PART_MASK, "words, unknown, edge and pad fit");

/* The counts of one order: keys, ascending, and how often each occurs. */
typedef struct key_counts {
    uint64_t *keys;
    uint32_t *counts;
    uint64_t count;
} key_counts;

typedef struct ngram_training {
    tem_ngram *g;
    uint32_t order;
    uint64_t *keys; /* one per word, in the order of the text */
    uint64_t count, room;
    uint32_t u, v;        /* the last two symbols of this document */
    uint64_t in_document; /* words of this document */
    line_hash line;       /* this document */
    bool out_of_memory;
    key_counts three, two; /* of trigrams, for order 3, and of bigrams; order 1: of words */
} ngram_training;

/* ------------------------------------------------------------- counting -- */

static uint64_t key_of(uint32_t u, uint32_t v, uint32_t w) {
    return (uint64_t)u << (2 * PART_BITS) | (uint64_t)v << PART_BITS | w;
}

static uint32_t key_u(uint64_t key) {
    return (uint32_t)(key >> (2 * PART_BITS));
}

static uint32_t key_v(uint64_t key) {
    return (uint32_t)(key >> PART_BITS & PART_MASK);
}

static uint32_t key_w(uint64_t key) {
    return (uint32_t)(key & PART_MASK);
}

static void add_symbol(ngram_training *t, uint32_t w) {
    if (t->count == t->room) {
        const uint64_t room = t->room < 65536 ? 65536 : t->room * 2;
        uint64_t *grown = core_resize(t->keys, room * sizeof *grown);
        if (grown == NULL) {
            t->out_of_memory = true;
            return;
        }
        t->keys = grown;
        t->room = room;
    }
    t->keys[t->count++] = key_of(t->order == 3 ? t->u : 0, t->order == 1 ? 0 : t->v, w);
    t->u = t->v;
    t->v = w;
}

static void add_word(void *context, uint32_t id) {
    ngram_training *t = context;
    t->g->info.unknown += id == TEM_NO_WORD;
    t->in_document++;
    line_hash_add(&t->line, id);
    add_symbol(t, id == TEM_NO_WORD ? t->g->unknown : id);
}

static void begin_document(ngram_training *t) {
    t->u = t->g->symbols; /* pad */
    t->v = t->g->edge;
    t->in_document = 0;
    t->line = (line_hash){.state = 0};
}

/* Notes which text this is. */
static tem_status note_text(ngram_training *t, const public_text *text, tem_error *error) {
    source_text source = {.bytes = text->file.size};
    core_hash256(text->file.data, text->file.size, source.hash);
    return text_sources_add_text(&t->g->sources, &source, error);
}

static tem_status end_document(ngram_training *t, tem_error *error) {
    if (t->in_document > 0) {
        add_symbol(t, t->g->edge);
        t->g->info.documents++;
        t->g->info.words += t->in_document;
    }
    if (line_hash_counts(&t->line))
        TRY(text_sources_add_line(&t->g->sources, line_hash_end(&t->line), error));
    return t->out_of_memory ? core_fail_memory(error) : TEM_OK;
}

static tem_status read_text(ngram_training *t, const tem_model *model, const char *path,
                            const tem_run *run, tem_error *error) {
    public_text text;
    const char *line = NULL;
    size_t bytes = 0;
    tem_status status = public_text_open(&text, model, path, run, "counting n-grams", error);
    if (status != TEM_OK)
        return status;
    status = note_text(t, &text, error);
    while (status == TEM_OK && public_text_line(&text, &line, &bytes)) {
        begin_document(t);
        status = public_text_words(&text, line, bytes, add_word, t, error);
        if (status == TEM_OK)
            status = end_document(t, error);
    }
    public_text_close(&text);
    return status;
}

/* -------------------------------------------------------------- sorting -- */

static int compare_keys(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Sorts keys and counts equal ones. */
static tem_status count_keys(uint64_t *keys, uint64_t count, key_counts *out, tem_error *error) {
    qsort(keys, count, sizeof *keys, compare_keys);
    uint64_t different = 0;
    for (uint64_t i = 0; i < count; i++)
        different += i == 0 || keys[i] != keys[i - 1];
    out->keys = core_alloc(different, sizeof *out->keys);
    out->counts = core_alloc_zero(different, sizeof *out->counts);
    if (out->keys == NULL || out->counts == NULL)
        return core_fail_memory(error);
    for (uint64_t i = 0; i < count; i++) {
        if (i == 0 || keys[i] != keys[i - 1])
            out->keys[out->count++] = keys[i];
        out->counts[out->count - 1] += out->counts[out->count - 1] < UINT32_MAX;
    }
    return TEM_OK;
}

/* The bigrams of trigrams: each counts how many different words come before it. A bigram that
 * begins a document has only `pad` before it, and counts as often as it occurs. */
static tem_status count_lower(const ngram_training *t, key_counts *out, tem_error *error) {
    const key_counts *from = &t->three;
    uint64_t total = 0, at = 0;
    for (uint64_t i = 0; i < from->count; i++)
        total += key_u(from->keys[i]) == t->g->symbols ? from->counts[i] : 1;
    uint64_t *keys = core_alloc(total, sizeof *keys);
    if (keys == NULL)
        return core_fail_memory(error);
    for (uint64_t i = 0; i < from->count; i++) {
        const bool first = key_u(from->keys[i]) == t->g->symbols;
        for (uint32_t k = 0; k < (first ? from->counts[i] : 1); k++)
            keys[at++] = key_of(0, key_v(from->keys[i]), key_w(from->keys[i]));
    }
    const tem_status status = count_keys(keys, total, out, error);
    core_free(keys);
    return status;
}

/* Leaves out what has `pad`: these are no trigrams. */
static void drop_padded(ngram_training *t) {
    key_counts *c = &t->three;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < c->count; i++)
        if (key_u(c->keys[i]) != t->g->symbols) {
            c->keys[kept] = c->keys[i];
            c->counts[kept++] = c->counts[i];
        }
    c->count = kept;
}

/* ------------------------------------------------------------ smoothing -- */

static double discount_of(const uint32_t *counts, uint64_t count) {
    uint64_t ones = 0, twos = 0;
    for (uint64_t i = 0; i < count; i++) {
        ones += counts[i] == 1;
        twos += counts[i] == 2;
    }
    return ones == 0 ? 0.5 : (double)ones / ((double)ones + 2 * (double)twos);
}

static tem_status smooth_words(ngram_training *t, tem_error *error) {
    tem_ngram *g = t->g;
    uint32_t *before = core_alloc_zero(g->symbols, sizeof *before);
    if (before == NULL)
        return core_fail_memory(error);
    for (uint64_t i = 0; i < t->two.count; i++)
        before[key_w(t->two.keys[i])] += t->order == 1 ? t->two.counts[i] : 1;
    const double discount = discount_of(before, g->symbols);
    double total = 0;
    uint64_t different = 0;
    for (uint32_t w = 0; w < g->symbols; w++) {
        different += before[w] > 0;
        total += before[w];
    }
    const double rest = discount * (double)different / total;
    for (uint32_t w = 0; w < g->symbols; w++)
        g->p[w] = (before[w] > 0 ? (before[w] - discount) / total : 0) + rest / g->symbols;
    g->info.discounts[0] = discount;
    core_free(before);
    return TEM_OK;
}

/* Fills the row of the keys `first` to `end` - 1, which have the same history. */
static void smooth_row(ngram_rows *rows, uint64_t row, const key_counts *c, uint64_t first,
                       uint64_t end, double discount) {
    double total = 0;
    for (uint64_t i = first; i < end; i++)
        total += c->counts[i];
    for (uint64_t i = first; i < end; i++) {
        rows->ids[i] = key_w(c->keys[i]);
        rows->extra[i] = (c->counts[i] - discount) / total;
    }
    rows->bow[row] = discount * (double)(end - first) / total;
}

static tem_status smooth_two(ngram_training *t, tem_error *error) {
    tem_ngram *g = t->g;
    const key_counts *c = &t->two;
    if (!ngram_rows_alloc(&g->two, g->symbols, c->count))
        return core_fail_memory(error);
    const double discount = discount_of(c->counts, c->count);
    uint64_t at = 0;
    for (uint32_t v = 0; v < g->symbols; v++) {
        const uint64_t first = at;
        while (at < c->count && key_v(c->keys[at]) == v)
            at++;
        if (at > first)
            smooth_row(&g->two, v, c, first, at, discount);
        g->two.starts[v + 1] = at;
    }
    g->info.discounts[1] = t->order == 1 ? 0 : discount;
    g->info.bigrams = c->count;
    return TEM_OK;
}

static tem_status smooth_three(ngram_training *t, tem_error *error) {
    tem_ngram *g = t->g;
    const key_counts *c = &t->three;
    if (!ngram_rows_alloc(&g->three, t->two.count, c->count))
        return core_fail_memory(error);
    const double discount = discount_of(c->counts, c->count);
    uint64_t at = 0;
    for (uint64_t row = 0; row < t->two.count; row++) {
        const uint64_t first = at, history = t->two.keys[row];
        while (at < c->count && c->keys[at] >> PART_BITS == history)
            at++;
        if (at > first)
            smooth_row(&g->three, row, c, first, at, discount);
        g->three.starts[row + 1] = at;
    }
    g->info.discounts[2] = discount;
    g->info.trigrams = c->count;
    return TEM_OK;
}

/* --------------------------------------------------------------- object -- */

static tem_status count_all(ngram_training *t, tem_error *error) {
    if (t->order < 3)
        return count_keys(t->keys, t->count, &t->two, error);
    tem_status status = count_keys(t->keys, t->count, &t->three, error);
    core_free(t->keys);
    t->keys = NULL;
    if (status == TEM_OK)
        status = count_lower(t, &t->two, error);
    if (status == TEM_OK)
        drop_padded(t);
    return status;
}

static tem_status smooth(ngram_training *t, tem_error *error) {
    tem_status status = smooth_words(t, error);
    if (t->order == 1)
        t->two.count = 0; /* every word follows every word alike */
    if (status == TEM_OK)
        status = smooth_two(t, error);
    return status == TEM_OK && t->order == 3 ? smooth_three(t, error) : status;
}

static void free_counts(key_counts *c) {
    core_free(c->keys);
    core_free(c->counts);
}

tem_status ngram_train(const tem_model *model, const char *const *paths, size_t count,
                       uint32_t order, const tem_run *run, tem_ngram **ngram, tem_error *error) {
    tem_status status = ngram_check_model(model, error);
    if (status != TEM_OK)
        return status;
    ngram_training t = {.g = ngram_make(model), .order = order};
    if (t.g == NULL)
        return core_fail_memory(error);
    t.g->info.order = order;
    for (size_t i = 0; status == TEM_OK && i < count; i++)
        status = read_text(&t, model, paths[i], run, error);
    text_sources_settle(&t.g->sources);
    if (status == TEM_OK && t.g->info.words == t.g->info.unknown)
        status = core_fail_at(error, TEM_ERR_FORMAT, paths[0], 0, 0,
                              "no word of it is in the model's vocabulary");
    if (status == TEM_OK)
        status = core_progress(run, "sorting n-grams", 0, 0, error);
    if (status == TEM_OK)
        status = count_all(&t, error);
    if (status == TEM_OK)
        status = smooth(&t, error);
    free_counts(&t.two);
    free_counts(&t.three);
    core_free(t.keys);
    if (status == TEM_OK)
        *ngram = t.g;
    else
        ngram_free(t.g);
    return status;
}
