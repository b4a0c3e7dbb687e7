/* context_exposure.c - how often words stay themselves at the places of a public text. */
#include "audit/context_exposure.h"

#include "audit/public_text.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "mech/law_row.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A document with places: its words are ids[first .. first + words - 1]. */
typedef struct text_document {
    size_t first, words;
    uint64_t line;
    uint32_t place, places; /* which of the places are in it */
} text_document;

/* What a thread needs. */
typedef struct exposure_scratch {
    uint64_t *values;
    double *row;
    void *state; /* of the document that is drawn */
    tem_status status;
    tem_error error;
} exposure_scratch;

typedef struct exposure_pass {
    const tem_mechanism *m;
    core_buffer ids, documents; /* uint32_t, text_document */
    uint64_t line, in_line;     /* of the line that is read */
    bool has_memory;
    tem_context_exposure found;
    tem_exposed_place *places;
    exposure_scratch *scratch;
    unsigned threads;
} exposure_pass;

/* ---- reading ---- */

static bool is_content(const tem_mechanism *m, uint32_t id) {
    return id < m->count && !function_words_have(&m->function_words, id);
}

static text_document *documents_of(const exposure_pass *p) {
    return (text_document *)(void *)p->documents.data;
}

static size_t document_count(const exposure_pass *p) {
    return p->documents.size / sizeof(text_document);
}

static const uint32_t *ids_of(const exposure_pass *p) {
    return (const uint32_t *)(const void *)p->ids.data;
}

static void read_word(void *context, uint32_t id) {
    exposure_pass *p = context;
    if (p->in_line == 0) {
        const text_document d = {.first = p->ids.size / sizeof id, .line = p->line};
        p->has_memory = p->has_memory && core_buffer_add(&p->documents, &d, sizeof d);
    }
    p->found.words++;
    if (!p->has_memory || p->in_line++ >= EXPOSURE_DOCUMENT_WORDS)
        return;
    p->has_memory = core_buffer_add(&p->ids, &id, sizeof id);
    documents_of(p)[document_count(p) - 1].words++;
    p->found.content += is_content(p->m, id);
}

static tem_status read_text(exposure_pass *p, const char *path, const tem_run *run,
                            tem_error *error) {
    public_text text;
    const char *line = NULL;
    size_t bytes = 0;
    TRY(public_text_open(&text, p->m->model, path, run, "reading the public text", error));
    tem_status status = TEM_OK;
    while (status == TEM_OK && public_text_line(&text, &line, &bytes)) {
        p->in_line = 0;
        p->line = text.line;
        status = public_text_words(&text, line, bytes, read_word, p, error);
        if (status == TEM_OK && !p->has_memory)
            status = core_fail_memory(error);
    }
    public_text_close(&text);
    p->found.documents = document_count(p);
    if (status == TEM_OK && p->found.content == 0)
        return core_fail_at(error, TEM_ERR_FORMAT, path, 0, 0,
                            "it has no word of the model's vocabulary but function words");
    return status;
}

/* ---- places ---- */

/* Notes what stands before a place; what is drawn for it comes later. */
static void set_place(const exposure_pass *p, const text_document *d, size_t at,
                      tem_exposed_place *place) {
    const uint32_t *words = ids_of(p) + d->first;
    const size_t before = at < TEM_PLACE_WORDS ? at : TEM_PLACE_WORDS;
    *place = (tem_exposed_place){
        .line = d->line, .position = at + 1, .word = words[at], .before = (uint32_t)before};
    memcpy(place->original, words + (at - before), before * sizeof *words);
}

/* The places of one document. */
static void set_places(exposure_pass *p, text_document *d) {
    d->place = p->found.positions;
    for (size_t k = 0; k < d->words; k++)
        if (is_content(p->m, ids_of(p)[d->first + k]))
            set_place(p, d, k, &p->places[p->found.positions++]);
    d->places = p->found.positions - d->place;
}

/* How many documents have about so many content positions: at least 1, at most all. */
static size_t documents_for(const exposure_pass *p, uint32_t positions) {
    const double share = (double)positions / (double)p->found.content;
    const size_t all = document_count(p);
    return share < 1 ? (size_t)ceil(share * (double)all) : all;
}

/* Chooses documents at equal distances, with all of their content positions: a place costs the
 * draws of the words before it, which the places of one document share. */
static tem_status choose_places(exposure_pass *p, uint32_t positions, tem_error *error) {
    const size_t chosen = documents_for(p, positions), all = document_count(p);
    p->places = core_alloc(chosen * EXPOSURE_DOCUMENT_WORDS, sizeof *p->places);
    if (p->places == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < chosen; i++)
        set_places(p, &documents_of(p)[i * all / chosen]);
    if (p->found.positions == 0)
        return core_fail(error, TEM_ERR_FORMAT,
                         "the documents that were chosen have no content words; look at more "
                         "positions");
    return TEM_OK;
}

/* ---- one document ---- */

/* Sets how often the word of a place stays itself. Without a language model that is N_w. */
static tem_status measure_place(const exposure_pass *p, exposure_scratch *s,
                                const released_past *past, tem_exposed_place *place) {
    const tem_mechanism *m = p->m;
    double sum = 0;
    if (m->context.language == NULL) {
        TRY(mechanism_row(m, place->word, s->row, &s->error));
        place->stays = s->row[place->word];
        return TEM_OK;
    }
    TRY(context_weights(&m->context, s->state, past, s->values, &s->error));
    law_row_weighed(m->context.form, s->values, place->word, s->row);
    for (uint32_t y = 0; y < m->count; y++)
        sum += (double)s->values[y];
    place->stays = s->row[place->word];
    place->share = (double)s->values[place->word] / sum;
    return TEM_OK;
}

/* Draws a document up to its last place. */
static tem_status draw_document(const exposure_pass *p, exposure_scratch *s, tem_rng *rng,
                                const text_document *d) {
    const bool has_past = p->m->context.language != NULL;
    const size_t most = mechanism_document_of(p->m).past_words;
    const uint32_t *words = ids_of(p) + d->first;
    uint32_t drawn[EXPOSURE_DOCUMENT_WORDS];
    size_t at = 0;
    for (uint32_t i = 0; i < d->places && !core_task_stopped(); i++) {
        tem_exposed_place *place = &p->places[d->place + i];
        for (; at + 1 < place->position && has_past; at++) {
            const size_t seen = at < most ? at : most;
            const released_past past = {drawn + (at - seen), seen, at - seen};
            drawn[at] = words[at];
            TRY(mechanism_draw_next(p->m, s->state, &past, rng, &drawn[at], &s->error));
        }
        const size_t seen = at < most ? at : most;
        const released_past past = {drawn + (at - seen), seen, at - seen};
        if (has_past)
            memcpy(place->released, drawn + (at - place->before), place->before * sizeof *drawn);
        TRY(measure_place(p, s, &past, place));
    }
    return TEM_OK;
}

static void measure_document(void *context, uint64_t item, unsigned thread) {
    exposure_pass *p = context;
    exposure_scratch *s = &p->scratch[thread];
    const text_document *d = &documents_of(p)[item];
    tem_rng rng;
    if (d->places == 0 || s->status != TEM_OK)
        return;
    memset(s->state, 0, mechanism_document_of(p->m).bytes);
    rng_init_seeded(&rng, EXPOSURE_SEED, item);
    s->status = mechanism_begin(p->m, s->state, &s->error);
    if (s->status == TEM_OK)
        s->status = draw_document(p, s, &rng, d);
    mechanism_end(p->m, s->state);
    rng_wipe(&rng);
}

static tem_status measure_all(exposure_pass *p, const tem_run *run, tem_error *error) {
    p->threads = core_thread_count(run);
    p->scratch = core_alloc_zero(p->threads, sizeof *p->scratch);
    bool has_memory = p->scratch != NULL;
    for (unsigned i = 0; i < p->threads && has_memory; i++) {
        exposure_scratch *s = &p->scratch[i];
        s->values = core_alloc(p->m->count, sizeof *s->values);
        s->row = core_alloc(p->m->count, sizeof *s->row);
        s->state = core_alloc_zero(1, mechanism_document_of(p->m).bytes + 1);
        has_memory = s->values != NULL && s->row != NULL && s->state != NULL;
    }
    if (!has_memory)
        return core_fail_memory(error);
    TRY(core_parallel(run, "drawing the public text", document_count(p), measure_document, p,
                      error));
    for (unsigned i = 0; i < p->threads; i++)
        if (p->scratch[i].status != TEM_OK) {
            if (error != NULL)
                *error = p->scratch[i].error;
            return p->scratch[i].status;
        }
    return TEM_OK;
}

/* ---- results ---- */

/* The most exposed first; of equally exposed ones the first of the text. */
static int compare_places(const void *a, const void *b) {
    const tem_exposed_place *x = a, *y = b;
    if (x->stays != y->stays)
        return (x->stays < y->stays) - (x->stays > y->stays);
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->position > y->position) - (x->position < y->position);
}

/* The least value that the share `part` of the places does not exceed. */
static double quantile_of(const exposure_pass *p, double part) {
    const uint32_t count = p->found.positions;
    const double kept = fmin(fmax(ceil(part * count - 1e-9), 1), count);
    return p->places[count - (uint32_t)kept].stays;
}

static void summarise(exposure_pass *p) {
    const uint32_t count = p->found.positions;
    uint32_t above = 0;
    qsort(p->places, count, sizeof *p->places, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        p->found.mean += p->places[i].stays / count;
        above += p->places[i].stays > 0.5;
    }
    p->found.median = quantile_of(p, 0.5);
    p->found.high = quantile_of(p, 0.95);
    p->found.highest = p->places[0].stays;
    p->found.above_half = (double)above / count;
}

/* The most exposed places, one of each word. */
static uint32_t take_most(const exposure_pass *p, tem_exposed_place *most, uint32_t max) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->found.positions && count < max; i++) {
        bool is_there = false;
        for (uint32_t k = 0; k < count && !is_there; k++)
            is_there = most[k].word == p->places[i].word;
        if (!is_there)
            most[count++] = p->places[i];
    }
    return count;
}

static void free_pass(exposure_pass *p) {
    for (unsigned i = 0; i < p->threads && p->scratch != NULL; i++) {
        core_free(p->scratch[i].values);
        core_free(p->scratch[i].row);
        core_free(p->scratch[i].state);
    }
    core_free(p->scratch);
    core_free(p->places);
    core_buffer_free(&p->ids);
    core_buffer_free(&p->documents);
}

tem_status context_exposure(const tem_mechanism *m, const char *path, uint32_t positions,
                            const tem_run *run, tem_context_exposure *exposure,
                            tem_exposed_place *most, uint32_t max, uint32_t *count,
                            tem_error *error) {
    exposure_pass p = {.m = m, .has_memory = true};
    tem_status status = read_text(&p, path, run, error);
    if (status == TEM_OK)
        status = choose_places(&p, positions, error);
    if (status == TEM_OK)
        status = measure_all(&p, run, error);
    if (status == TEM_OK) {
        summarise(&p);
        *exposure = p.found;
        const uint32_t found = take_most(&p, most, max);
        if (count != NULL)
            *count = found;
    }
    free_pass(&p);
    return status;
}
