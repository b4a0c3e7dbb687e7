/* record_chunk.c - replaces and pays for the records of one chunk. */
#include "core/status.h"
#include "job/record_fields.h"

#include <stdio.h>
#include <string.h>

/* Says in the error of a chunk that it is about the record at `at`. */
static void place_error(record_chunk *c, size_t at) {
    record_place place = c->place;
    record_place_pass(&place, c->data, at);
    record_place_error(&place, &c->error);
}

/* Returns the part of the record in w->parts that names its person, or NULL if there is none. */
static const record_part *person_part(const record_run *r, const worker *w) {
    for (size_t i = 0; i < records_part_count(&w->parts); i++)
        if (r->reader.names[records_part(&w->parts, i)->name].role == RECORD_PERSON)
            return records_part(&w->parts, i);
    return NULL;
}

/* Finds the person that a record belongs to, and writes the 16 bytes that stand for them to
 * `person`. Does nothing if the job has no `by`. TEM_ERR_FORMAT if the record names nobody, since
 * nobody could be charged for it. */
static tem_status find_person(const record_run *r, worker *w, const char *record,
                              unsigned char person[PERSON_BYTES], tem_error *error) {
    const record_part *part = person_part(r, w);
    if (part == NULL)
        return TEM_OK;
    w->person.size = 0;
    const tem_status status = records_decode(&part->value, record, &w->person, error);
    if (status == TEM_OK && w->person.size == 0)
        return core_fail(error, TEM_ERR_FORMAT,
                         "the field that names people is empty: whose record is it?");
    if (status == TEM_OK)
        spending_person(&r->spending, w->person.data, w->person.size, person);
    return status;
}

static tem_status append(const record_run *r, core_buffer *out, const char *bytes, size_t count,
                         tem_error *error) {
    return r->counting || core_buffer_add(out, bytes, count) ? TEM_OK : core_fail_memory(error);
}

/* Decodes a quoted or escaped field into w->plain, and clears w->private. */
static tem_status decode_field(worker *w, const char *record, const record_span *span,
                               tem_error *error) {
    core_buffer_clear(&w->plain);
    core_buffer_clear(&w->private);
    return records_decode(span, record, &w->plain, error);
}

/* Encodes w->private as a field and appends it to out; while counting, appends nothing. Clears
 * both buffers. */
static tem_status encode_field(const record_run *r, worker *w, core_buffer *out, tem_error *error) {
    tem_status status = TEM_OK;
    core_buffer_clear(&w->plain);
    if (!r->counting)
        status = records_encode(&r->reader, w->private.data, w->private.size, out, error);
    core_buffer_clear(&w->private);
    return status;
}

/* Replaces one private field, and appends it to out. A RECORD_PLAIN field is read where it is: a
 * copy would be most of the memory that a large document takes.
 * PRIVACY: of the private field, only what replacer_run made of its pieces reaches the output. The
 * output does not show how the field was quoted or escaped. It does not show whether the field was
 * null, unless the user asked for that (TEM_MISSING_KEEP). */
static tem_status replace_field(const record_run *r, worker *w, const char *record,
                                const record_span *span, core_buffer *out, tem_counts *counts,
                                tem_error *error) {
    const bool plain = span->quoting == RECORD_PLAIN;
    if (span->quoting == RECORD_NOTHING && r->missing == TEM_MISSING_KEEP)
        return append(r, out, record + span->start, span->end - span->start, error);
    tem_status status = plain ? TEM_OK : decode_field(w, record, span, error);
    if (status == TEM_OK)
        status = replacer_run(&w->replacer, &w->rng, plain ? record + span->start : w->plain.data,
                              plain ? span->end - span->start : w->plain.size,
                              plain ? out : &w->private, counts, error);
    return status == TEM_OK && !plain ? encode_field(r, w, out, error) : status;
}

/* Replaces the private fields of the record in w->parts, leaves out its dropped fields, and appends
 * the record to out. The output record always ends in a line feed.
 * PRIVACY: every part that is private is replaced, and every part that is dropped is cut. Only the
 * bytes between the parts are copied. */
static tem_status replace_record(const record_run *r, worker *w, const char *record, size_t content,
                                 core_buffer *out, tem_counts *counts, tem_error *error) {
    tem_status status = TEM_OK;
    size_t at = 0;
    for (size_t i = 0; status == TEM_OK && i < records_part_count(&w->parts); i++) {
        const record_part *part = records_part(&w->parts, i);
        const record_role role = r->reader.names[part->name].role;
        if (role == RECORD_DROPPED) {
            status = append(r, out, record + at, part->cut_start - at, error);
            at = part->cut_end;
        } else if (role == RECORD_TEXT) {
            status = append(r, out, record + at, part->value.start - at, error);
            if (status == TEM_OK)
                status = replace_field(r, w, record, &part->value, out, counts, error);
            at = part->value.end;
        }
    }
    if (status == TEM_OK)
        status = append(r, out, record + at, content - at, error);
    return status == TEM_OK ? append(r, out, "\n", 1, error) : status;
}

/* Finds the named fields of a record, and notes them in the chunk. */
static tem_status split_record(const record_run *r, worker *w, const char *record, size_t content,
                               record_chunk *c) {
    const bool notes =
        r->fields != NULL && records_have_fields(&r->reader) && !records_have_header(&r->reader);
    const tem_status status =
        records_split(&r->reader, record, content, &w->parts, notes ? record_fields_note : NULL,
                      &c->fields, &c->error);
    for (size_t i = 0; status == TEM_OK && i < records_part_count(&w->parts); i++)
        c->found[records_part(&w->parts, i)->name] = true;
    return status;
}

/* Counts a record that was replaced. With a ledger, also keeps the note by which record_chunk_pay
 * pays for it. */
static tem_status note_record(const record_run *r, record_chunk *c, spending_document *note) {
    note->out_end = c->out.size;
    if (r->spending.active && !core_buffer_add(&c->documents, note, sizeof *note))
        return core_fail_memory(&c->error);
    counts_add(&c->counts, &note->counts);
    return TEM_OK;
}

void record_chunk_replace(void *context, uint64_t item, unsigned thread) {
    const record_run *r = context;
    worker *w = &r->workers.items[thread];
    record_chunk *c = &r->chunks[item];
    uint64_t document = c->first_document;
    for (size_t at = 0, size = 0; at < c->size; at += size) {
        size_t content = 0;
        const char *record = c->data + at;
        spending_document note = {.out_end = 0};
        size = records_first(&r->reader, record, c->size - at, &content);
        if (records_is_blank(&r->reader, content))
            continue;
        const size_t written = c->out.size;
        c->status = worker_begin(w, document, &c->error);
        if (c->status != TEM_OK)
            return;
        c->status = split_record(r, w, record, content, c);
        if (c->status == TEM_OK)
            c->status = find_person(r, w, record, note.person, &c->error);
        if (c->status == TEM_OK)
            c->status = replace_record(r, w, record, content, &c->out, &note.counts, &c->error);
        if (c->status == TEM_OK)
            c->status = note_record(r, c, &note);
        if (c->status != TEM_OK) {
            c->out.size = written; /* keep whole documents only */
            place_error(c, at);
            return;
        }
        document++;
    }
}

/* Returns where record number `record`, from 0, begins in a chunk. The chunk has that record. */
static size_t start_of(const record_run *r, const record_chunk *c, size_t record) {
    for (size_t at = 0;;) {
        size_t content = 0;
        const size_t size = records_first(&r->reader, c->data + at, c->size - at, &content);
        if (!records_is_blank(&r->reader, content) && record-- == 0)
            return at;
        at += size;
    }
}

/* Cuts a chunk off after its first `paid` documents, as if it had failed at the next one with the
 * error `why`. */
static void cut_off(const record_run *r, record_chunk *c, size_t paid, const tem_error *why) {
    const spending_document *documents = (const void *)c->documents.data;
    c->counts = (tem_counts){0};
    c->out.size = paid == 0 ? 0 : documents[paid - 1].out_end;
    for (size_t i = 0; i < paid; i++)
        counts_add(&c->counts, &documents[i].counts);
    c->status = why->status;
    c->error = *why;
    place_error(c, start_of(r, c, paid));
}

void record_chunk_pay(record_run *r, record_chunk *c) {
    const spending_document *documents = (const void *)c->documents.data;
    const size_t count = c->documents.size / sizeof *documents;
    tem_error error;
    for (size_t i = 0; i < count; i++) {
        const uint64_t record = c->first_document + i + 1;
        const tem_status status = r->counting
                                      ? spending_count(&r->spending, &documents[i], record, &error)
                                      : spending_take(&r->spending, &documents[i], record, &error);
        if (status != TEM_OK) {
            cut_off(r, c, i, &error);
            return;
        }
    }
}
