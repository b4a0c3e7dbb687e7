/* file_job.c - a run over files or a stream. */
#include "job/file_job.h"

#include "core/memory.h"
#include "core/status.h"
#include "io/stream.h"
#include "job/record_run.h"

#include <string.h>

typedef struct file_job {
    const tem_job *options;
    const tem_run *run;
    record_run records;
    core_buffer header; /* of the first TSV or CSV, without its line end */
    bool header_known;
} file_job;

/* Takes a header, without its line end. The other inputs must have the same as the first, or one
 * table could not hold them; it is not repeated. */
static tem_status take_header(file_job *j, const char *header, size_t size, tem_error *error) {
    if (j->header_known)
        return size == j->header.size && memcmp(header, j->header.data, size) == 0
                   ? TEM_OK
                   : core_fail(error, TEM_ERR_FORMAT,
                               "expected the same header as in the first file");
    tem_status status = records_header(&j->records.reader, header, size, error);
    if (status == TEM_OK && j->records.person_reader.field != NULL)
        status = records_header(&j->records.person_reader, header, size, error);
    if (status != TEM_OK)
        return status;
    j->header_known = true;
    if (!core_buffer_add(&j->header, header, size) || !core_buffer_add(&j->header, "\n", 1))
        return core_fail_memory(error);
    j->header.size = size; /* which the others are compared with */
    return record_run_put(&j->records, j->header.data, size + 1, error);
}

/* Looks for the header among whole records from *at on, and moves *at past it; *due stays true if
 * there are only blank lines. */
static tem_status find_header(file_job *j, const char *data, size_t whole, size_t *at, bool *due,
                              tem_error *error) {
    while (*due && *at < whole) {
        size_t content = 0;
        const size_t size = records_first(&j->records.reader, data + *at, whole - *at, &content);
        *due = records_is_blank(&j->records.reader, content);
        const tem_status status = *due ? TEM_OK : take_header(j, data + *at, content, error);
        if (status != TEM_OK) {
            if (error != NULL && status == TEM_ERR_FORMAT)
                record_set_place(error, j->records.path, j->records.line);
            return status;
        }
        j->records.line += record_count_lines(data + *at, size);
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
static tem_status read_batch(file_job *j, stream_input *in, size_t *whole, tem_error *error) {
    size_t wanted = RECORD_BATCH_BYTES;
    for (;;) {
        const size_t before = in->data.size;
        /* Asked before the waiting, which a signal that came earlier would not end. */
        tem_status status = workers_tell(&j->records.workers, error);
        if (status == TEM_OK)
            status = stream_input_fill(in, wanted, error);
        if (status != TEM_OK)
            return status;
        atomic_fetch_add(&j->records.workers.done, in->data.size - before);
        *whole = in->data.size == 0
                     ? 0
                     : records_whole(&j->records.reader, in->data.data, in->data.size, in->at_end);
        if (*whole > 0 || in->at_end)
            return TEM_OK;
        if (in->data.size > 2 * (size_t)TEXT_BYTES_MAX)
            return core_fail_at(error, TEM_ERR_RANGE, in->path, j->records.line, 0,
                                "a record is larger than 2 GiB");
        wanted = in->data.size < RECORD_BATCH_BYTES ? RECORD_BATCH_BYTES : 2 * in->data.size;
    }
}

/* Batch by batch. */
static tem_status read_input(file_job *j, stream_input *in, tem_error *error) {
    bool header_due = records_have_header(&j->records.reader);
    for (bool begins = true;; begins = false) {
        size_t whole = 0;
        tem_status status = read_batch(j, in, &whole, error);
        if (status == TEM_OK)
            status = workers_tell(&j->records.workers, error);
        if (status != TEM_OK)
            return status;
        if (whole == 0)
            return header_due ? core_fail_at(error, TEM_ERR_FORMAT, j->records.path, 1, 0,
                                             "expected a header, found an empty file")
                              : TEM_OK;
        const char *data = in->data.data;
        size_t at = begins ? mark_length(data, whole) : 0;
        status = find_header(j, data, whole, &at, &header_due, error);
        if (status == TEM_OK && at < whole)
            status = record_batch_release(&j->records, data + at, whole - at, error);
        if (status != TEM_OK)
            return status;
        stream_input_drop(in, whole);
    }
}

/* Reads all inputs once, from the beginning. */
static tem_status read_inputs(file_job *j, bool counting, tem_error *error) {
    const tem_job *o = j->options;
    record_run_begin(&j->records, counting, stream_total_bytes(o->inputs, o->input_count));
    j->header.size = 0;
    j->header_known = false;
    for (size_t i = 0; i == 0 || i < o->input_count; i++) {
        stream_input in;
        const char *path = o->input_count == 0 ? "-" : o->inputs[i];
        tem_status status = stream_input_open(&in, path, j->run, error);
        if (status != TEM_OK)
            return status;
        j->records.path = strcmp(path, "-") == 0 ? "standard input" : path;
        j->records.line = 1;
        status = read_input(j, &in, error);
        stream_input_close(&in);
        if (status != TEM_OK)
            return status;
    }
    return TEM_OK;
}

/* Counts, and pays for all at once; then the inputs stand at their beginning again. */
static tem_status count_and_pay(file_job *j, int64_t start, tem_error *error) {
    const tem_job *o = j->options;
    tem_status status = read_inputs(j, true, error);
    if (status == TEM_OK)
        status = spending_settle(&j->records.spending, error);
    if (status == TEM_OK && !o->dry_run)
        status = stream_rewind(o->inputs, o->input_count, start, error);
    if (!o->dry_run)
        j->records.counts = (tem_counts){0}; /* nothing of it was done yet */
    return status;
}

/* PRIVACY: what can be read twice is paid for before a word of it is drawn; a stream batch by
 * batch. */
static tem_status read_and_release(file_job *j, tem_error *error) {
    const tem_job *o = j->options;
    int64_t start = 0;
    if (o->dry_run)
        return count_and_pay(j, start, error);
    stream_output *out = &j->records.output;
    tem_status status = stream_output_open(out, o->output, o->overwrite, j->run, error);
    if (status != TEM_OK)
        return status;
    if (j->records.spending.active && stream_can_reread(o->inputs, o->input_count, &start))
        status = count_and_pay(j, start, error);
    if (status == TEM_OK)
        status = read_inputs(j, false, error);
    const tem_status closed = stream_output_close(out, status == TEM_OK, error);
    return status == TEM_OK ? closed : status;
}

static tem_status check_job(const tem_job *options, record_run *r, tem_error *error) {
    const record_format *format =
        format_find(options->format == 0 ? TEM_FORMAT_TEXT : options->format);
    if (format == NULL)
        return format_refuse_unknown(error);
    r->reader = (record_reader){.format = format, .field = options->field};
    r->person_reader = (record_reader){.format = format, .field = options->by, .person = true};
    if (!records_have_fields(&r->reader) && options->field != NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "plain text has no fields");
    if (records_have_fields(&r->reader) && options->field == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "which field is private must be named");
    if (options->by != NULL && options->field == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "people are named by a field of a record, next to the private one");
    if (options->by != NULL && strcmp(options->by, options->field) == 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the field that names people must not be the private one");
    return TEM_OK;
}

tem_status file_job_run(const tem_mechanism *mechanism, const tem_job *options, const tem_run *run,
                        tem_counts *counts, tem_balance *balance, tem_error *error) {
    file_job j = {.options = options, .run = run};
    spending *spent = &j.records.spending;
    spent->ledger.descriptor = -1;
    tem_status status = check_job(options, &j.records, error);
    if (status == TEM_OK)
        status = spending_check(mechanism, options, error);
    if (status != TEM_OK)
        return status;
    status = record_run_init(&j.records, mechanism, options, run, error);
    if (status == TEM_OK)
        status = spending_open(spent, mechanism, options, run, error);
    if (status == TEM_OK)
        status = spending_check_files(spent, error);
    if (status == TEM_OK)
        status = read_and_release(&j, error);
    spending_close(spent, balance);
    record_run_free(&j.records);
    core_buffer_free(&j.header);
    if (counts != NULL)
        *counts = j.records.counts;
    return status;
}
