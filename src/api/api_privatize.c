/* api_privatize.c - whole texts, files and streams: the calls of tem.h.
 *
 * A run reads a batch of whole records, cuts it into chunks, lets the threads replace the
 * chunks, pays for them if there is a ledger (spending.h), writes the results in order, and
 * starts again. Reading and writing wait for the threads: simpler than a pipeline, and memory
 * stays at one batch. A dry run, and the first reading of files that a ledger pays for, go the same
 * way and draw and write nothing. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "io/stream.h"
#include "job/replacer.h"
#include "job/spending.h"
#include "records/records.h"
#include "rng/rng.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    BATCH_BYTES = 4 << 20, /* read at a time, unless one record is larger */
    CHUNK_BYTES = 64 << 10,
    CHUNKS_MAX = BATCH_BYTES / CHUNK_BYTES
};

/* ---- one document ---- */

tem_status tem_privatize_text(const tem_mechanism *mechanism, const tem_text_options *options,
                              tem_rng *rng, const char *text, size_t bytes, const tem_run *run,
                              char **out, size_t *out_bytes, tem_counts *counts, tem_error *error) {
    if (mechanism == NULL || rng == NULL || (text == NULL && bytes > 0) || out == NULL ||
        out_bytes == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a generator, a text and a place for the result are needed");
    replacer r;
    core_buffer result = {0};
    tem_counts added = {0};
    tem_status status = replacer_init(&r, mechanism, options, false, error);
    if (status != TEM_OK)
        return status;
    r.run = run;
    status = replacer_run(&r, rng, text, bytes, &result, &added, error);
    if (status == TEM_OK && !core_buffer_add(&result, "", 1))
        status = core_fail_memory(error);
    replacer_free(&r);
    const size_t size = result.size;
    char *block = status == TEM_OK ? core_buffer_take(&result) : NULL;
    if (status == TEM_OK && block == NULL)
        status = core_fail_memory(error);
    if (status != TEM_OK) {
        core_buffer_free(&result);
        return status;
    }
    *out = block;
    *out_bytes = size - 1;
    if (counts != NULL)
        counts_add(counts, &added);
    return TEM_OK;
}

void tem_text_free(char *text) {
    core_free(text);
}

/* ---- a run over files ---- */

/* A part of a batch, for one thread. */
typedef struct chunk {
    const char *data;
    size_t size;
    uint64_t first_document, first_line;
    core_buffer out;
    core_buffer documents; /* spending_document, with a ledger: what is to be paid */
    tem_counts counts;
    tem_status status;
    tem_error error;
} chunk;

typedef struct job job;

/* What a thread has for itself. */
typedef struct worker {
    job *job;
    unsigned thread;
    tem_run run; /* asks whether to go on */
    replacer replacer;
    tem_rng rng;
    core_buffer plain, private, person;
} worker;

struct job {
    const tem_mechanism *mechanism;
    const tem_job *options;
    const tem_run *run;
    record_reader reader, person_reader; /* the latter without a field: nobody is named */
    spending spending;
    bool counting; /* nothing is drawn or written */
    worker *workers;
    unsigned worker_count;
    chunk *chunks;
    unsigned chunk_count, chunk_max;
    stream_output output;
    tem_counts counts;
    const char *path;     /* of the input being read */
    uint64_t documents;   /* records handed to chunks so far, over all inputs */
    uint64_t line;        /* of the next record in this input, from 1 */
    uint64_t input_bytes; /* read so far, for progress */
    uint64_t input_total; /* 0: not known */
    core_buffer header;   /* of the first TSV or CSV, without its line end */
    bool header_known;
    atomic_bool stop; /* the progress callback asked to stop */
};

/* The same where the field is written as it is: without copies of it, which would be most of the
 * memory that a large document takes. */
static tem_status replace_plain(const job *j, worker *w, const char *record, size_t content,
                                const record_span *span, core_buffer *out, tem_counts *counts,
                                tem_error *error) {
    if (!j->counting && !core_buffer_add(out, record, span->start))
        return core_fail_memory(error);
    const tem_status status = replacer_run(&w->replacer, &w->rng, record + span->start,
                                           span->end - span->start, out, counts, error);
    if (status == TEM_OK && !j->counting &&
        (!core_buffer_add(out, record + span->end, content - span->end) ||
         !core_buffer_add(out, "\n", 1)))
        return core_fail_memory(error);
    return status;
}

/* The private form of the field, in w->private. */
static tem_status replace_field(worker *w, const char *record, const record_span *span,
                                tem_counts *counts, tem_error *error) {
    core_buffer_clear(&w->plain);
    core_buffer_clear(&w->private);
    const tem_status status = records_decode(span, record, &w->plain, error);
    return status != TEM_OK ? status
                            : replacer_run(&w->replacer, &w->rng, w->plain.data, w->plain.size,
                                           &w->private, counts, error);
}

/* Replaces the private field of one record, and appends the whole record, which always ends in a
 * line feed.
 * PRIVACY: of the private field nothing reaches the output but what replacer_run made of its
 * pieces: not how it was quoted or escaped, nor whether it was null, unless that is asked for. */
static tem_status replace_record(job *j, worker *w, const char *record, size_t content,
                                 core_buffer *out, tem_counts *counts, tem_error *error) {
    record_span span;
    tem_status status = records_span(&j->reader, record, content, &span, error);
    if (status != TEM_OK)
        return status;
    if (span.quoting == RECORD_PLAIN)
        return replace_plain(j, w, record, content, &span, out, counts, error);
    const bool kept = span.quoting == RECORD_NOTHING && j->options->missing == TEM_MISSING_KEEP;
    if (!kept)
        status = replace_field(w, record, &span, counts, error);
    core_buffer_clear(&w->plain);
    if (status != TEM_OK || j->counting)
        return status;
    if (!core_buffer_add(out, record, kept ? span.end : span.start))
        return core_fail_memory(error);
    if (!kept)
        status = records_encode(&j->reader, w->private.data, w->private.size, out, error);
    core_buffer_clear(&w->private);
    if (status == TEM_OK && (!core_buffer_add(out, record + span.end, content - span.end) ||
                             !core_buffer_add(out, "\n", 1)))
        return core_fail_memory(error);
    return status;
}

/* Whose record it is. A record that names nobody could not be charged to anybody. */
static tem_status find_person(job *j, worker *w, const char *record, size_t content,
                              unsigned char person[PERSON_BYTES], tem_error *error) {
    record_span span = {0, 0, RECORD_NOTHING};
    if (j->person_reader.field == NULL)
        return TEM_OK;
    tem_status status = records_span(&j->person_reader, record, content, &span, error);
    w->person.size = 0;
    if (status == TEM_OK)
        status = records_decode(&span, record, &w->person, error);
    if (status == TEM_OK && w->person.size == 0)
        return core_fail(error, TEM_ERR_FORMAT,
                         "the field that --by names is empty: whose record is it?");
    if (status == TEM_OK)
        spending_person(&j->spending, w->person.data, w->person.size, person);
    return status;
}

/* Replaces a record, and notes what it costs. */
static tem_status replace_and_note(job *j, worker *w, chunk *c, const char *record, size_t content,
                                   tem_error *error) {
    tem_counts counts = {0};
    spending_document note = {.out_end = 0};
    tem_status status = find_person(j, w, record, content, note.person, error);
    if (status == TEM_OK)
        status = replace_record(j, w, record, content, &c->out, &counts, error);
    if (status != TEM_OK)
        return status;
    if (j->spending.active) {
        note.out_end = c->out.size;
        note.counts = counts;
        if (!core_buffer_add(&c->documents, &note, sizeof note))
            return core_fail_memory(error);
    }
    counts_add(&c->counts, &counts);
    return TEM_OK;
}

static uint64_t count_lines(const char *record, size_t size) {
    const char *end = record + size;
    uint64_t lines = 0;
    for (; (record = memchr(record, '\n', (size_t)(end - record))) != NULL; record++)
        lines++;
    return lines;
}

static tem_status tell_progress(job *j, tem_error *error) {
    if (j->input_bytes > j->input_total) /* a pipe, or a file that grows */
        j->input_total = 0;
    return core_progress(j->run, j->counting ? "counting" : "privatizing", j->input_bytes,
                         j->input_total, error);
}

/* The place of an error, for the user. */
static void set_place(tem_error *error, const char *path, uint64_t line) {
    snprintf(error->file, sizeof error->file, "%s", path);
    error->line = line;
}

/* Asked at each document and within large ones. The caller's thread asks the run's callback; the
 * others see what it found. */
static bool is_stopped(job *j, unsigned thread) {
    if (thread == 0 && tell_progress(j, NULL) != TEM_OK)
        atomic_store_explicit(&j->stop, true, memory_order_relaxed);
    return atomic_load_explicit(&j->stop, memory_order_relaxed);
}

/* The progress callback of a worker. */
static int ask_worker(void *context, const char *stage, uint64_t done, uint64_t total) {
    const worker *w = context;
    (void)stage, (void)done, (void)total;
    return is_stopped(w->job, w->thread);
}

/* While the caller's thread has nothing to do but wait for the others. It does not end the loop:
 * each chunk ends by itself, and those that are whole are written. */
static int ask_while_waiting(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage, (void)done, (void)total;
    is_stopped(context, 0);
    return 0;
}

static void replace_chunk(void *context, uint64_t item, unsigned thread) {
    job *j = context;
    worker *w = &j->workers[thread];
    chunk *c = &j->chunks[item];
    uint64_t document = c->first_document;
    for (size_t at = 0, size = 0; at < c->size; at += size) {
        size_t content = 0;
        const char *record = c->data + at;
        size = records_first(&j->reader, record, c->size - at, &content);
        if (records_is_blank(&j->reader, content))
            continue;
        const size_t written = c->out.size;
        if (j->options->insecure_seeded)
            rng_init_seeded(&w->rng, j->options->insecure_seed, document);
        if (is_stopped(j, thread)) {
            c->status = core_fail(&c->error, TEM_ERR_CANCELLED, "stopped while privatizing");
            return;
        }
        c->status = replace_and_note(j, w, c, record, content, &c->error);
        if (c->status != TEM_OK) {
            c->out.size = written; /* whole documents only */
            set_place(&c->error, j->path, c->first_line + count_lines(c->data, at));
            return;
        }
        document++;
    }
}

/* Cuts whole records into chunks and numbers them. Blank lines have no number: a seed must give the
 * same with them and without. */
static void make_chunks(job *j, const char *data, size_t size) {
    const size_t share = size / j->chunk_max + 1;
    const size_t target = share > CHUNK_BYTES ? share : CHUNK_BYTES;
    j->chunk_count = 0;
    for (size_t at = 0; at < size;) {
        chunk *c = &j->chunks[j->chunk_count++];
        *c = (chunk){.data = data + at,
                     .first_document = j->documents,
                     .first_line = j->line,
                     .out = c->out,
                     .documents = c->documents};
        c->out.size = c->documents.size = 0;
        while (at < size && c->size < target) {
            size_t content = 0;
            const size_t record = records_first(&j->reader, data + at, size - at, &content);
            j->documents += !records_is_blank(&j->reader, content);
            j->line += count_lines(data + at, record);
            c->size += record;
            at += record;
        }
    }
}

static tem_status put_output(job *j, const char *bytes, size_t count, tem_error *error) {
    if (j->counting || count == 0)
        return TEM_OK;
    return stream_output_put(&j->output, bytes, count, error);
}

/* Writes the chunks in order, up to the first that failed. */
static tem_status put_chunks(job *j, tem_error *error) {
    for (unsigned i = 0; i < j->chunk_count; i++) {
        chunk *c = &j->chunks[i];
        tem_status status = put_output(j, c->out.data, c->out.size, error);
        core_buffer_clear(&c->out);
        if (status != TEM_OK)
            return status;
        counts_add(&j->counts, &c->counts);
        if (c->status != TEM_OK) {
            if (error != NULL)
                *error = c->error;
            return c->status;
        }
    }
    return TEM_OK;
}

/* Where a record of a chunk begins, the first being 0. */
static size_t start_of(const job *j, const chunk *c, size_t record) {
    for (size_t at = 0;;) {
        size_t content = 0;
        const size_t size = records_first(&j->reader, c->data + at, c->size - at, &content);
        if (!records_is_blank(&j->reader, content) && record-- == 0)
            return at;
        at += size;
    }
}

/* Cuts a chunk off before a document that is not paid for: it failed there. */
static void cut_chunk(const job *j, chunk *c, size_t paid, const tem_error *why) {
    const spending_document *documents = (const void *)c->documents.data;
    c->counts = (tem_counts){0};
    c->out.size = paid == 0 ? 0 : documents[paid - 1].out_end;
    for (size_t i = 0; i < paid; i++)
        counts_add(&c->counts, &documents[i].counts);
    c->status = why->status;
    c->error = *why;
    set_place(&c->error, j->path, c->first_line + count_lines(c->data, start_of(j, c, paid)));
}

/* Takes the documents of a chunk into account, up to the first that cannot be paid. */
static void pay_chunk(job *j, chunk *c) {
    const spending_document *documents = (const void *)c->documents.data;
    const size_t count = c->documents.size / sizeof *documents;
    tem_error error;
    for (size_t i = 0; i < count; i++) {
        const uint64_t record = c->first_document + i + 1;
        const tem_status status = j->counting
                                      ? spending_count(&j->spending, &documents[i], record, &error)
                                      : spending_take(&j->spending, &documents[i], record, &error);
        if (status != TEM_OK) {
            cut_chunk(j, c, i, &error);
            return;
        }
    }
}

/* PRIVACY: the charge is on the disk when this returns TEM_OK, and covers what put_chunks
 * then writes: the chunks up to the first that failed. */
static tem_status pay_batch(job *j, tem_error *error) {
    if (!j->spending.active)
        return TEM_OK;
    tem_status status = j->counting ? TEM_OK : spending_begin(&j->spending, error);
    if (status != TEM_OK)
        return status;
    for (unsigned i = 0; i < j->chunk_count; i++) {
        pay_chunk(j, &j->chunks[i]);
        if (j->chunks[i].status != TEM_OK)
            break;
    }
    return j->counting ? TEM_OK : spending_end(&j->spending, error);
}

static tem_status replace_batch(job *j, const char *data, size_t size, tem_error *error) {
    const tem_run watched = {
        .threads = j->worker_count, .progress = ask_while_waiting, .progress_context = j};
    make_chunks(j, data, size);
    tem_status status =
        core_parallel(&watched, "privatizing", j->chunk_count, replace_chunk, j, error);
    if (status == TEM_OK)
        status = pay_batch(j, error);
    return status == TEM_OK ? put_chunks(j, error) : status;
}

/* Takes a header, without its line end. The other inputs must have the same as the first, or one
 * table could not hold them; it is not repeated. */
static tem_status take_header(job *j, const char *header, size_t size, tem_error *error) {
    if (j->header_known)
        return size == j->header.size && memcmp(header, j->header.data, size) == 0
                   ? TEM_OK
                   : core_fail(error, TEM_ERR_FORMAT,
                               "expected the same header as in the first file");
    tem_status status = records_header(&j->reader, header, size, error);
    if (status == TEM_OK && j->person_reader.field != NULL)
        status = records_header(&j->person_reader, header, size, error);
    if (status != TEM_OK)
        return status;
    j->header_known = true;
    if (!core_buffer_add(&j->header, header, size) || !core_buffer_add(&j->header, "\n", 1))
        return core_fail_memory(error);
    j->header.size = size; /* which the others are compared with */
    return put_output(j, j->header.data, size + 1, error);
}

/* Looks for the header among whole records from *at on, and moves *at past it; *due stays true if
 * there are only blank lines. */
static tem_status find_header(job *j, const char *data, size_t whole, size_t *at, bool *due,
                              tem_error *error) {
    while (*due && *at < whole) {
        size_t content = 0;
        const size_t size = records_first(&j->reader, data + *at, whole - *at, &content);
        *due = records_is_blank(&j->reader, content);
        const tem_status status = *due ? TEM_OK : take_header(j, data + *at, content, error);
        if (status != TEM_OK) {
            if (error != NULL && status == TEM_ERR_FORMAT)
                set_place(error, j->path, j->line);
            return status;
        }
        j->line += count_lines(data + *at, size);
        *at += size;
    }
    return TEM_OK;
}

/* The length of the byte order mark with which an input may begin. It is no text, and left out. */
static size_t mark_length(const char *data, size_t size) {
    return size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Reads until there is a whole record, and tells how many bytes are whole records; 0 at
 * the end. */
static tem_status read_batch(job *j, stream_input *in, size_t *whole, tem_error *error) {
    size_t wanted = BATCH_BYTES;
    for (;;) {
        const size_t before = in->data.size;
        /* Asked before the waiting, which a signal that came earlier would not end. */
        tem_status status = tell_progress(j, error);
        if (status == TEM_OK)
            status = stream_input_fill(in, wanted, error);
        if (status != TEM_OK)
            return status;
        j->input_bytes += in->data.size - before;
        *whole = in->data.size == 0
                     ? 0
                     : records_whole(&j->reader, in->data.data, in->data.size, in->at_end);
        if (*whole > 0 || in->at_end)
            return TEM_OK;
        if (in->data.size > 2 * (size_t)TEXT_BYTES_MAX)
            return core_fail_at(error, TEM_ERR_RANGE, in->path, j->line, 0,
                                "a record is larger than 2 GiB");
        wanted = in->data.size < BATCH_BYTES ? BATCH_BYTES : 2 * in->data.size;
    }
}

static tem_status run_batches(job *j, stream_input *in, tem_error *error) {
    bool header_due = j->reader.format == TEM_FORMAT_TSV || j->reader.format == TEM_FORMAT_CSV;
    for (bool begins = true;; begins = false) {
        size_t whole = 0;
        tem_status status = read_batch(j, in, &whole, error);
        if (status == TEM_OK)
            status = tell_progress(j, error);
        if (status != TEM_OK)
            return status;
        if (whole == 0)
            return header_due ? core_fail_at(error, TEM_ERR_FORMAT, j->path, 1, 0,
                                             "expected a header, found an empty file")
                              : TEM_OK;
        const char *data = in->data.data;
        size_t at = begins ? mark_length(data, whole) : 0;
        status = find_header(j, data, whole, &at, &header_due, error);
        if (status == TEM_OK && at < whole)
            status = replace_batch(j, data + at, whole - at, error);
        if (status != TEM_OK)
            return status;
        stream_input_drop(in, whole);
    }
}

static tem_status run_input(job *j, const char *path, tem_error *error) {
    stream_input in;
    tem_status status = stream_input_open(&in, path, j->run, error);
    if (status != TEM_OK)
        return status;
    j->path = strcmp(path, "-") == 0 ? "standard input" : path;
    j->line = 1;
    status = run_batches(j, &in, error);
    stream_input_close(&in);
    return status;
}

static tem_status run_inputs(job *j, tem_error *error) {
    if (j->options->input_count == 0)
        return run_input(j, "-", error);
    for (size_t i = 0; i < j->options->input_count; i++) {
        tem_status status = run_input(j, j->options->inputs[i], error);
        if (status != TEM_OK)
            return status;
    }
    return TEM_OK;
}

static tem_status make_workers(job *j, tem_error *error) {
    const unsigned threads = core_thread_count(j->run);
    j->chunk_max = 4 * threads > CHUNKS_MAX ? 4 * threads : CHUNKS_MAX;
    j->workers = core_alloc_zero(threads, sizeof *j->workers);
    j->chunks = core_alloc_zero((size_t)j->chunk_max + 1, sizeof *j->chunks);
    if (j->workers == NULL || j->chunks == NULL)
        return core_fail_memory(error);
    for (; j->worker_count < threads; j->worker_count++) {
        worker *w = &j->workers[j->worker_count];
        tem_status status =
            replacer_init(&w->replacer, j->mechanism, &j->options->text, false, error);
        if (status != TEM_OK)
            return status;
        w->job = j;
        w->thread = j->worker_count;
        w->run = (tem_run){.progress = ask_worker, .progress_context = w};
        w->replacer.run = &w->run;
        if (!j->options->insecure_seeded)
            rng_init_secure(&w->rng);
    }
    return TEM_OK;
}

static void free_workers(job *j) {
    for (unsigned i = 0; i < j->worker_count; i++) {
        worker *w = &j->workers[i];
        replacer_free(&w->replacer);
        rng_wipe(&w->rng);
        core_buffer_free(&w->plain);
        core_buffer_free(&w->private);
        core_buffer_free(&w->person);
    }
    for (unsigned i = 0; j->chunks != NULL && i <= j->chunk_max; i++) {
        core_buffer_free(&j->chunks[i].out);
        core_buffer_free(&j->chunks[i].documents);
    }
    core_buffer_free(&j->header);
    core_free(j->workers);
    core_free(j->chunks);
}

static tem_status check_job(const tem_job *options, record_reader *reader, tem_error *error) {
    *reader = (record_reader){.format = options->format == 0 ? TEM_FORMAT_TEXT : options->format,
                              .field = options->field};
    if (reader->format < TEM_FORMAT_TEXT || reader->format > TEM_FORMAT_JSONL)
        return core_fail(error, TEM_ERR_ARGUMENT, "the format is text, tsv, csv or jsonl");
    if (reader->format == TEM_FORMAT_TEXT && options->field != NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "plain text has no fields");
    if (reader->format != TEM_FORMAT_TEXT && options->field == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "which field is private must be named");
    if (options->by != NULL && options->field == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "people are named by a field of a record, next to the private one");
    if (options->by != NULL && strcmp(options->by, options->field) == 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the field that names people must not be the private one");
    return TEM_OK;
}

/* Reads all inputs once, from the beginning. */
static tem_status run_once(job *j, bool counting, tem_error *error) {
    j->counting = counting;
    for (unsigned i = 0; i < j->worker_count; i++)
        j->workers[i].replacer.dry_run = counting;
    j->counts = (tem_counts){0};
    j->documents = j->input_bytes = 0;
    j->header.size = 0;
    j->header_known = false;
    j->input_total = stream_total_bytes(j->options->inputs, j->options->input_count);
    return run_inputs(j, error);
}

/* Counts, and pays for all at once; then the inputs stand at their beginning again. */
static tem_status count_and_pay(job *j, int64_t start, tem_error *error) {
    const tem_job *o = j->options;
    tem_status status = run_once(j, true, error);
    if (status == TEM_OK)
        status = spending_settle(&j->spending, error);
    if (status == TEM_OK && !o->dry_run)
        status = stream_rewind(o->inputs, o->input_count, start, error);
    if (!o->dry_run)
        j->counts = (tem_counts){0}; /* nothing of it was done yet */
    return status;
}

static tem_status run_job(job *j, tem_error *error) {
    const tem_job *o = j->options;
    int64_t start = 0;
    if (o->dry_run)
        return count_and_pay(j, start, error);
    tem_status status = stream_output_open(&j->output, o->output, o->overwrite, j->run, error);
    if (status != TEM_OK)
        return status;
    if (j->spending.active && stream_can_reread(o->inputs, o->input_count, &start))
        status = count_and_pay(j, start, error);
    if (status == TEM_OK)
        status = run_once(j, false, error);
    const tem_status closed = stream_output_close(&j->output, status == TEM_OK, error);
    return status == TEM_OK ? closed : status;
}

tem_status tem_privatize_files(const tem_mechanism *mechanism, const tem_job *options,
                               const tem_run *run, tem_counts *counts, tem_error *error) {
    if (mechanism == NULL || options == NULL ||
        (options->input_count > 0 && options->inputs == NULL))
        return core_fail(error, TEM_ERR_ARGUMENT, "a mechanism and a job are needed");
    job j = {.mechanism = mechanism,
             .options = options,
             .run = run,
             .spending = {.ledger = {.descriptor = -1}}};
    tem_status status = check_job(options, &j.reader, error);
    if (status == TEM_OK)
        status = spending_check(mechanism, options, error);
    if (status != TEM_OK)
        return status;
    j.person_reader =
        (record_reader){.format = j.reader.format, .field = options->by, .person = true};
    status = make_workers(&j, error);
    if (status == TEM_OK)
        status = spending_open(&j.spending, mechanism, options, run, error);
    if (status == TEM_OK)
        status = spending_check_files(&j.spending, error);
    if (status == TEM_OK)
        status = run_job(&j, error);
    spending_close(&j.spending);
    free_workers(&j);
    if (counts != NULL)
        *counts = j.counts;
    return status;
}
