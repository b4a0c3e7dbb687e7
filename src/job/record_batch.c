/* record_batch.c - replaces, pays for and writes a batch of whole records. */
#include "core/memory.h"
#include "core/status.h"
#include "job/record_fields.h"

enum { CHUNK_BYTES = 64 << 10, CHUNKS_MIN = RECORD_BATCH_BYTES / CHUNK_BYTES };

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
    core_free(r->chunks);
    workers_free(&r->workers);
}

void record_run_begin(record_run *r, bool counting, uint64_t total) {
    r->counting = counting;
    workers_set_counting(&r->workers, counting);
    r->workers.done = 0;
    r->workers.total = total;
    r->counts = (tem_counts){0};
    r->documents = 0;
    r->looked = 0;
    if (r->fields != NULL)
        fields_clear(r->fields);
}

/* Cuts whole records into chunks and numbers the records. A blank line that is not a record gets no
 * number, so that a seed gives the same output with and without blank lines. */
static void make_chunks(record_run *r, const char *data, size_t size) {
    const size_t share = size / r->chunk_max + 1;
    const size_t target = share > CHUNK_BYTES ? share : CHUNK_BYTES;
    r->chunk_count = 0;
    for (size_t at = 0; at < size;) {
        record_chunk *c = &r->chunks[r->chunk_count++];
        *c = (record_chunk){.data = data + at,
                            .first_document = r->documents,
                            .place = r->place,
                            .out = c->out,
                            .documents = c->documents,
                            .fields = c->fields};
        c->out.size = c->documents.size = 0;
        fields_clear(&c->fields);
        while (at < size && c->size < target) {
            size_t content = 0;
            const size_t record = records_first(&r->reader, data + at, size - at, &content);
            r->documents += !records_is_blank(&r->reader, content);
            record_place_pass(&r->place, data + at, record);
            c->size += record;
            at += record;
        }
    }
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
    TRY(record_fields_check_first(r, data, size, error));
    make_chunks(r, data, size);
    record_fields_look(r, data, size);
    TRY(core_parallel(&watched, r->workers.stage, r->chunk_count, record_chunk_replace, r, error));
    TRY(pay_batch(r, error));
    return put_chunks(r, error);
}
