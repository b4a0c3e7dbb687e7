/* record_chunk.c - replaces and pays for the records of one chunk. */
#include "core/status.h"
#include "job/record_fields.h"

/* Says in the error of a chunk that it is about the record at `record`. */
static void place_error(record_chunk *c, const char *record) {
    record_place place = c->place;
    record_place_pass(&place, c->data, (size_t)(record - c->data));
    record_place_error(&place, &c->error);
}

/* One record on its way through a thread. Its failures go into the error of its chunk. */
typedef struct current_record {
    const record_run *run;
    worker *worker; /* worker->parts: its named fields */
    record_chunk *chunk;
    const char *bytes; /* its line end is behind them */
    size_t size;
    spending_document note; /* what it costs */
} current_record;

/* Returns the part of the record that names its person, or NULL if there is none. */
static const record_part *person_part(const current_record *c) {
    const core_buffer *parts = &c->worker->parts;
    for (size_t i = 0; i < records_part_count(parts); i++)
        if (c->run->reader.names[records_part(parts, i)->name].role == RECORD_PERSON)
            return records_part(parts, i);
    return NULL;
}

/* Finds the person that a record belongs to, and notes the 16 bytes that stand for them. Does
 * nothing if the job has no `by`. TEM_ERR_FORMAT if the record names nobody, since nobody could be
 * charged for it. */
static tem_status find_person(current_record *c) {
    core_buffer *person = &c->worker->person;
    const record_part *part = person_part(c);
    if (part == NULL)
        return TEM_OK;
    person->size = 0;
    TRY(records_decode(&part->value, c->bytes, person, &c->chunk->error));
    if (person->size == 0)
        return core_fail(&c->chunk->error, TEM_ERR_FORMAT,
                         "the field that names people is empty: whose record is it?");
    spending_person(&c->run->spending, person->data, person->size, c->note.person);
    return TEM_OK;
}

static tem_status append(current_record *c, const char *bytes, size_t count) {
    return c->run->counting || core_buffer_add(&c->chunk->out, bytes, count)
               ? TEM_OK
               : core_fail_memory(&c->chunk->error);
}

/* Appends the bytes of the record from `start` to `end`, as they are. */
static tem_status append_part(current_record *c, size_t start, size_t end) {
    return append(c, c->bytes + start, end - start);
}

static tem_status replace_text_of(current_record *c, const char *text, size_t bytes,
                                  core_buffer *out) {
    return replacer_run(&c->worker->replacer, &c->worker->rng, text, bytes, out, &c->note.counts,
                        &c->chunk->error);
}

/* Replaces a quoted or escaped field: decodes it, and encodes what came out. */
static tem_status replace_quoted(current_record *c, const record_span *span) {
    core_buffer *plain = &c->worker->plain, *private = &c->worker->private;
    core_buffer_clear(plain);
    core_buffer_clear(private);
    tem_status status = records_decode(span, c->bytes, plain, &c->chunk->error);
    if (status == TEM_OK)
        status = replace_text_of(c, plain->data, plain->size, private);
    core_buffer_clear(plain); /* before the copy that encodes: a field may be large */
    if (status == TEM_OK && !c->run->counting)
        status = records_encode(&c->run->reader, private->data, private->size, &c->chunk->out,
                                &c->chunk->error);
    core_buffer_clear(private);
    return status;
}

/* Replaces one private field, and appends it to the output. A RECORD_PLAIN field is read where it
 * is: a copy would be most of the memory that a large document takes.
 * PRIVACY: of the private field, only what replacer_run made of its pieces reaches the output. The
 * output does not show how the field was quoted or escaped. It does not show whether the field was
 * null, unless the user asked for that (TEM_MISSING_KEEP). */
static tem_status replace_field(current_record *c, const record_span *span) {
    if (span->quoting == RECORD_NOTHING && c->run->missing == TEM_MISSING_KEEP)
        return append_part(c, span->start, span->end);
    return span->quoting == RECORD_PLAIN
               ? replace_text_of(c, c->bytes + span->start, span->end - span->start, &c->chunk->out)
               : replace_quoted(c, span);
}

/* Replaces the private fields of the record, leaves out its dropped fields, and appends the record
 * to the output. It always ends in a line feed there.
 * PRIVACY: every part that is private is replaced, and every part that is dropped is cut. Only the
 * bytes between the parts are copied. */
static tem_status replace_record(current_record *c) {
    const core_buffer *parts = &c->worker->parts;
    tem_status status = TEM_OK;
    size_t at = 0;
    for (size_t i = 0; status == TEM_OK && i < records_part_count(parts); i++) {
        const record_part *part = records_part(parts, i);
        const record_role role = c->run->reader.names[part->name].role;
        if (role == RECORD_DROPPED) {
            status = append_part(c, at, part->cut_start);
            at = part->cut_end;
        } else if (role == RECORD_TEXT) {
            status = append_part(c, at, part->value.start);
            if (status == TEM_OK)
                status = replace_field(c, &part->value);
            at = part->value.end;
        }
    }
    if (status == TEM_OK)
        status = append_part(c, at, c->size);
    return status == TEM_OK ? append(c, "\n", 1) : status;
}

/* Finds the named fields of the record, and notes them in the chunk. */
static tem_status split_record(current_record *c) {
    const record_reader *reader = &c->run->reader;
    const core_buffer *parts = &c->worker->parts;
    const bool notes =
        c->run->fields != NULL && records_have_fields(reader) && !records_have_header(reader);
    TRY(records_split(reader, c->bytes, c->size, &c->worker->parts,
                      notes ? record_fields_note : NULL, &c->chunk->fields, &c->chunk->error));
    for (size_t i = 0; i < records_part_count(parts); i++)
        c->chunk->found[records_part(parts, i)->name] = true;
    return TEM_OK;
}

/* Counts a record that was replaced. With a ledger, also keeps the note by which record_chunk_pay
 * pays for it. */
static tem_status note_record(current_record *c) {
    c->note.out_end = c->chunk->out.size;
    if (c->run->spending.active && !core_buffer_add(&c->chunk->documents, &c->note, sizeof c->note))
        return core_fail_memory(&c->chunk->error);
    counts_add(&c->chunk->counts, &c->note.counts);
    return TEM_OK;
}

/* Does all of that. If it fails, nothing of the record is in the output. */
static tem_status handle_record(current_record *c, uint64_t document) {
    const size_t written = c->chunk->out.size;
    TRY(worker_begin(c->worker, document, &c->chunk->error));
    tem_status status = split_record(c);
    if (status == TEM_OK)
        status = find_person(c);
    if (status == TEM_OK)
        status = replace_record(c);
    if (status == TEM_OK)
        status = note_record(c);
    if (status != TEM_OK) {
        c->chunk->out.size = written;
        place_error(c->chunk, c->bytes);
    }
    return status;
}

void record_chunk_replace(void *context, uint64_t item, unsigned thread) {
    const record_run *r = context;
    record_chunk *chunk = &r->chunks[item];
    worker_reads(&r->workers.items[thread], chunk->place.path, chunk->first_in_file);
    for (size_t i = 0; i < chunk->count && chunk->status == TEM_OK; i++) {
        const record_view *record = record_run_at(r, chunk->first + i);
        current_record c = {.run = r,
                            .worker = &r->workers.items[thread],
                            .chunk = chunk,
                            .bytes = record->bytes,
                            .size = record->size};
        chunk->status = handle_record(&c, chunk->first_document + i);
    }
    worker_end(&r->workers.items[thread]);
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
    place_error(c, record_run_at(r, c->first + paid)->bytes);
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
