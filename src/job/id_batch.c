/* id_batch.c - draws for documents of ids. */
#include "job/id_batch.h"

#include "core/memory.h"
#include "core/status.h"
#include "job/charge.h"
#include "job/workers.h"

#include <string.h>

enum {
    CHUNK_WORDS = 1024,   /* a chunk ends with the first document that ends after so many */
    CHUNKS_PER_THREAD = 4 /* with fewer, a thread costs more than it saves */
};

/* Words that one thread draws for: whole documents or, where positions are independent, a part of a
 * long one. With a seed, each chunk has a random stream of its own. */
typedef struct id_chunk {
    size_t first, end;             /* of the words of the batch */
    size_t document, document_end; /* the document that has the first word, and where it ends */
} id_chunk;

typedef struct id_batch {
    const tem_job *job;
    uint32_t *words; /* of all documents: the input words, then the output words */
    size_t word_count;
    tem_document *documents; /* for the charge: the counts and the person of each document */
    size_t document_count;
    id_chunk *chunks;
    size_t chunk_count;
    workers workers;
    tem_status status; /* of the first chunk that failed */
    tem_error error;
    atomic_flag failed;
} id_batch;

/* ---- one chunk, one thread ---- */

static void note_failure(id_batch *b, tem_status status, const tem_error *error) {
    if (!atomic_flag_test_and_set(&b->failed)) {
        b->status = status;
        b->error = *error;
    }
    atomic_store_explicit(&b->workers.stop, true, memory_order_relaxed);
}

/* Draws for the known words among `count` words, in place.
 * PRIVACY: every word is drawn for, except an unknown word under a policy that the user named; its
 * place then holds TEM_NO_WORD, which says nothing about the word but that it is unknown. */
static tem_status draw_known(text_drawing *d, tem_rng *rng, uint32_t *words, size_t count,
                             tem_error *error) {
    for (size_t i = 0; i < count; i++) {
        size_t known = 0;
        while (i + known < count && words[i + known] != TEM_NO_WORD)
            known++;
        TRY(drawing_draw(d, rng, words + i, known, error));
        i += known;
        if (i < count)
            TRY(drawing_show(d, RELEASED_MASK, error));
    }
    return TEM_OK;
}

/* Draws for the words of one document or, where positions are independent, for any words. */
static tem_status draw_document(const id_batch *b, worker *w, uint32_t *words, size_t count,
                                tem_error *error) {
    const tem_oov oov = b->job->text.oov;
    text_drawing *d = &w->replacer.drawing;
    d->run = &w->run;
    tem_status status = drawing_begin(d, error);
    if (status == TEM_OK && (oov == 0 || oov == TEM_OOV_UNIFORM))
        status = drawing_draw(d, &w->rng, words, count, error);
    else if (status == TEM_OK)
        status = draw_known(d, &w->rng, words, count, error);
    drawing_end(d);
    return status;
}

static tem_status draw_chunk(const id_batch *b, worker *w, const id_chunk *c, tem_error *error) {
    const bool all_at_once = !mechanism_depends_on_past(w->replacer.mechanism);
    size_t document = c->document, end = c->document_end;
    for (size_t at = c->first; at < c->end;) {
        const size_t part = all_at_once || end > c->end ? c->end : end;
        if (part > at)
            TRY(draw_document(b, w, b->words + at, part - at, error));
        at = part;
        if (at < c->end)
            end += b->documents[++document].counts.words;
    }
    return TEM_OK;
}

/* A core_task. If one chunk fails, all threads stop, since nothing would be handed out. */
static void draw_one(void *context, uint64_t item, unsigned thread) {
    id_batch *b = context;
    worker *w = &b->workers.items[thread];
    const id_chunk *c = &b->chunks[item];
    tem_error error;
    tem_status status = worker_begin(w, item, &error);
    worker_end(w); /* a chunk is no document that a user could look for */
    if (status == TEM_OK)
        status = draw_chunk(b, w, c, &error);
    if (status != TEM_OK)
        note_failure(b, status, &error);
    else
        atomic_fetch_add_explicit(&b->workers.done, c->end - c->first, memory_order_relaxed);
}

/* ---- all chunks ---- */

/* Cuts the documents into chunks, which end where a document ends; inside a document only if it is
 * long and `may_cut`. Every chunk but the last has CHUNK_WORDS or more. */
static tem_status make_chunks(id_batch *b, bool may_cut, tem_error *error) {
    id_chunk c = {0};
    size_t end = 0;
    b->chunks = core_alloc(b->word_count / CHUNK_WORDS + 1, sizeof *b->chunks);
    if (b->chunks == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < b->document_count; i++) {
        const size_t words = b->documents[i].counts.words;
        end += words;
        if (c.first == end - words)
            c.document = i, c.document_end = end;
        for (;;) {
            const bool is_long = may_cut && words > CHUNK_WORDS && end - c.first > CHUNK_WORDS;
            if (!is_long && end - c.first < CHUNK_WORDS && i + 1 < b->document_count)
                break;
            c.end = is_long ? c.first + CHUNK_WORDS : end;
            if (c.end > c.first)
                b->chunks[b->chunk_count++] = c;
            c = (id_chunk){.first = c.end, .document = i, .document_end = end};
            if (!is_long)
                break;
        }
    }
    return TEM_OK;
}

static tem_status draw_all(id_batch *b, const tem_mechanism *mechanism, const tem_run *run,
                           tem_error *error) {
    TRY(make_chunks(b, !mechanism_depends_on_past(mechanism), error));
    const size_t useful = b->chunk_count / CHUNKS_PER_THREAD + 1;
    const unsigned asked = core_thread_count(run);
    tem_status status = workers_init(&b->workers, mechanism, b->job,
                                     useful < asked ? (unsigned)useful : asked, run, error);
    if (status == TEM_OK && !b->job->dry_run) {
        const tem_run watched = workers_watch(&b->workers);
        b->workers.total = b->word_count;
        status = core_parallel(&watched, b->workers.stage, b->chunk_count, draw_one, b, error);
    }
    if (status == TEM_OK && b->status != TEM_OK) {
        status = b->status;
        if (error != NULL)
            *error = b->error;
    } else if (status == TEM_OK && atomic_load(&b->workers.stop)) {
        /* The caller asked to stop while other threads drew the last chunks. */
        status = core_fail(error, TEM_ERR_CANCELLED, "stopped while privatizing");
    }
    workers_free(&b->workers);
    return status;
}

/* Copies the words of all documents, and counts them. */
static tem_status read_documents(id_batch *b, const function_words *functions,
                                 const tem_ids_input *documents, size_t count, tem_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (documents[i].count > SIZE_MAX / sizeof *b->words - total)
            return core_fail_memory(error);
        total += documents[i].count;
    }
    b->words = core_alloc(total + 1, sizeof *b->words);
    b->documents = core_alloc_zero(count + 1, sizeof *b->documents);
    if (b->words == NULL || b->documents == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const tem_ids_input *given = &documents[i];
        tem_document *d = &b->documents[i];
        *d = (tem_document){.counts = {.documents = 1, .words = given->count},
                            .person = given->person,
                            .person_bytes = given->person_bytes};
        for (size_t k = 0; k < given->count; k++) {
            d->counts.unknown += given->ids[k] == TEM_NO_WORD;
            d->counts.function_words += function_words_have(functions, given->ids[k]);
            b->words[b->word_count++] = given->ids[k];
        }
    }
    b->document_count = count;
    return TEM_OK;
}

/* ---- the call ---- */

/* Refuses options that do not apply to ids. Ignoring them would be wrong: the caller would believe
 * that they have an effect. */
static tem_status check_job(const tem_job *job, tem_error *error) {
    const tem_text_options *text = &job->text;
    if (job->format != 0 || job->field != NULL || job->more_field_count > 0 ||
        job->dropped_count > 0 || job->dropped_if_present > 0 || job->delimiter != 0 ||
        job->packing != 0 || job->input_count > 0 || job->inputs != NULL || job->output != NULL ||
        job->overwrite != TEM_KEEP_EXISTING)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "words in memory have no format, fields, inputs or output");
    if (text->repeat != 0 && text->repeat != TEM_REPEAT_EACH)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "ids do not tell which unknown words are equal, so each word is drawn "
                         "for: privatize texts to draw once for a repeated word");
    if (text->strip_tags || text->keep_lines ||
        (text->order != 0 && text->order != TEM_ORDER_KEPT) ||
        (text->style != 0 && text->style != TEM_STYLE_WORDS) ||
        (text->punctuation != 0 && text->punctuation != TEM_PUNCTUATION_WORD))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "words by their ids have no tags, lines, punctuation or style, and keep "
                         "their order");
    return TEM_OK;
}

/* PRIVACY: nothing is handed out unless the charge for all of it is on the disk. */
static tem_status draw_and_charge(id_batch *b, const tem_mechanism *mechanism, const tem_run *run,
                                  tem_balance *balance, tem_error *error) {
    spending s = {.ledger = {.descriptor = -1}};
    tem_status status = charge_check(b->job, b->documents, b->document_count, error);
    if (status == TEM_OK)
        status = spending_open(&s, mechanism, b->job, run, error);
    if (status == TEM_OK)
        status = draw_all(b, mechanism, run, error);
    if (status == TEM_OK)
        status = charge_settle(&s, b->documents, b->document_count, error);
    spending_close(&s, balance);
    return status;
}

static tem_counts sum_of(const id_batch *b) {
    tem_counts sum = {0};
    for (size_t i = 0; i < b->document_count; i++)
        counts_add(&sum, &b->documents[i].counts);
    return sum;
}

tem_status id_batch_run(const tem_mechanism *mechanism, const tem_job *job,
                        const tem_ids_input *documents, size_t count, const tem_run *run,
                        uint32_t *out, tem_counts *counts, tem_balance *balance, tem_error *error) {
    id_batch b = {.job = job, .failed = ATOMIC_FLAG_INIT};
    tem_status status = check_job(job, error);
    if (status == TEM_OK)
        status = spending_check(mechanism, job, error);
    if (status == TEM_OK)
        status = read_documents(&b, &mechanism->function_words, documents, count, error);
    if (status == TEM_OK)
        status = draw_and_charge(&b, mechanism, run, balance, error);
    if (counts != NULL && status == TEM_OK)
        *counts = sum_of(&b);
    if (status == TEM_OK && !job->dry_run && b.word_count > 0)
        memcpy(out, b.words, b.word_count * sizeof *out);
    if (b.words != NULL) /* after a failure they may be those of the text */
        explicit_bzero(b.words, b.word_count * sizeof *b.words);
    core_free(b.chunks);
    core_free(b.documents);
    core_free(b.words);
    return status;
}
