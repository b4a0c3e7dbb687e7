/* record_batch.c - replaces, pays for and writes a batch of whole records. */
#include "core/memory.h"
#include "core/status.h"
#include "job/record_fields.h"

enum { CHUNK_BYTES = 64 << 10, CHUNKS_MIN = RECORD_BATCH_BYTES / CHUNK_BYTES };

/* About so many records are found before they are replaced. At 16 bytes each, a batch of empty
 * lines takes about as much memory as any other. */
enum { RECORDS_AT_ONCE = RECORD_BATCH_BYTES / sizeof(record_view) };

tem_status record_run_init(record_run *r, const tem_mechanism *mechanism, const tem_job *job,
                           const tem_run *run, tem_error *error) {
    const unsigned threads = core_thread_count(run);
    r->missing = job->missing;
    r->chunk_max = 4 * threads > CHUNKS_MIN ? 4 * threads : CHUNKS_MIN;
    const tem_status status = workers_init(&r->workers, mechanism, job, threads, run, error);
    r->chunks = core_alloc_zero((size_t)r->chunk_max + 1, sizeof *r->chunks);
    return status == TEM_OK && r->chunks == NULL ? core_fail_memory(error) : status;
}

void record_run_free(record_run *r) {
    for (unsigned i = 0; r->chunks != NULL && i <= r->chunk_max; i++) {
        core_buffer_free(&r->chunks[i].out);
        core_buffer_free(&r->chunks[i].documents);
        fields_free(&r->chunks[i].fields);
    }
    core_buffer_free(&r->records);
    core_free(r->chunks);
    workers_free(&r->workers);
}

void record_run_begin(record_run *r, bool counting, uint64_t total) {
    r->counting = counting;
    workers_set_counting(&r->workers, counting);
    r->workers.done = 0;
    r->workers.total = total;
    r->counts = (tem_counts){0};
    r->documents = r->in_file = 0;
    r->file = NULL;
    r->looked = 0;
    if (r->fields != NULL)
        fields_clear(r->fields);
}

size_t record_run_count(const record_run *r) {
    return r->records.size / sizeof(record_view);
}

const record_view *record_run_at(const record_run *r, size_t i) {
    return (const record_view *)(const void *)r->records.data + i;
}

/* Finds the first record of `data` and numbers it; *length receives its length with its line end. A
 * blank line that is not a record gets no number, so that a seed gives the same output with and
 * without blank lines. */
static tem_status find_record(record_run *r, const char *data, size_t size, size_t *length,
                              tem_error *error) {
    record_view record = {.bytes = data};
    *length = records_first(&r->reader, data, size, &record.size);
    record_place_pass(&r->place, data, *length);
    if (records_is_blank(&r->reader, record.size))
        return TEM_OK;
    r->documents++;
    return core_buffer_add(&r->records, &record, sizeof record) ? TEM_OK : core_fail_memory(error);
}

/* Finds the first records of `data`, and cuts them into chunks. *taken receives their length. */
static tem_status make_chunks(record_run *r, const char *data, size_t size, size_t *taken,
                              tem_error *error) {
    const size_t share = size / r->chunk_max + 1;
    const size_t target = share > CHUNK_BYTES ? share : CHUNK_BYTES;
    r->chunk_count = 0;
    if (r->file != r->place.path) {
        r->file = r->place.path;
        r->in_file = r->documents;
    }
    r->records.size = 0;
    size_t at = 0;
    while (at < size && record_run_count(r) < RECORDS_AT_ONCE) {
        record_chunk *c = &r->chunks[r->chunk_count++];
        *c = (record_chunk){.data = data + at,
                            .first = record_run_count(r),
                            .first_document = r->documents,
                            .first_in_file = r->in_file,
                            .place = r->place,
                            .out = c->out,
                            .documents = c->documents,
                            .fields = c->fields};
        c->out.size = c->documents.size = 0;
        fields_clear(&c->fields);
        while (at < size && data + at < c->data + target) {
            size_t length = 0;
            TRY(find_record(r, data + at, size - at, &length, error));
            at += length;
        }
        c->count = record_run_count(r) - c->first;
    }
    *taken = at;
    return TEM_OK;
}

tem_status record_run_put(record_run *r, const char *bytes, size_t count, tem_error *error) {
    if (r->counting || count == 0)
        return TEM_OK;
    return stream_output_put(&r->output, bytes, count, error);
}

/* Notes which fields the records of a chunk have. */
static tem_status note_fields(record_run *r, const record_chunk *c, tem_error *error) {
    for (uint32_t i = 0; i < r->reader.name_count; i++)
        r->found[i] |= c->found[i];
    return r->fields == NULL ? TEM_OK : fields_merge(r->fields, &c->fields, error);
}

/* Writes the chunks in order. After the first chunk that failed it stops, and returns the failure
 * of that chunk, whose output is the whole documents before the failure. */
static tem_status put_chunks(record_run *r, tem_error *error) {
    for (unsigned i = 0; i < r->chunk_count; i++) {
        record_chunk *c = &r->chunks[i];
        tem_status status = record_run_put(r, c->out.data, c->out.size, error);
        core_buffer_clear(&c->out);
        if (status == TEM_OK)
            status = note_fields(r, c, error);
        if (status != TEM_OK)
            return status;
        counts_add(&r->counts, &c->counts);
        if (c->status != TEM_OK) {
            if (error != NULL)
                *error = c->error;
            return c->status;
        }
    }
    return TEM_OK;
}

/* PRIVACY: with a ledger, the charge is on the disk when this returns TEM_OK. It covers everything
 * that put_chunks then writes: the chunks up to and including the first that failed. While the run
 * counts, this only adds to what will be charged, and put_chunks writes nothing. */
static tem_status pay_batch(record_run *r, tem_error *error) {
    if (!r->spending.active)
        return TEM_OK;
    TRY(r->counting ? TEM_OK : spending_begin(&r->spending, error));
    for (unsigned i = 0; i < r->chunk_count; i++) {
        record_chunk_pay(r, &r->chunks[i]);
        if (r->chunks[i].status != TEM_OK)
            break;
    }
    return r->counting ? TEM_OK : spending_end(&r->spending, error);
}

tem_status record_batch_release(record_run *r, const char *data, size_t size, tem_error *error) {
    const tem_run watched = workers_watch(&r->workers);
    for (size_t at = 0, taken = 0; at < size; at += taken) {
        TRY(make_chunks(r, data + at, size - at, &taken, error));
        TRY(record_fields_check_first(r, error));
        record_fields_look(r);
        TRY(core_parallel(&watched, r->workers.stage, r->chunk_count, record_chunk_replace, r,
                          error));
        TRY(pay_batch(r, error));
        TRY(put_chunks(r, error));
    }
    return TEM_OK;
}
