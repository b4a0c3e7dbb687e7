/* file_job.c - runs a job over files or a stream. */
#include "job/file_job.h"

#include "core/status.h"
#include "job/record_fields.h"
#include "job/record_input.h"
#include "job/source_watch.h"

typedef struct file_job {
    const tem_job *options;
    const tem_run *run;
    record_run records;
    source_watch watch;
    bool has_output; /* the output was opened */
} file_job;

/* The functions of a record_source. */
static tem_status ask_workers(void *records, uint64_t bytes, tem_error *error) {
    record_run *r = records;
    atomic_fetch_add(&r->workers.done, bytes);
    return workers_tell(&r->workers, error);
}

static tem_status put_header(void *records, const char *header, size_t size, tem_error *error) {
    record_run *r = records;
    core_buffer out = {0};
    tem_status status = record_fields_header(r, header, size, &out, error);
    if (status == TEM_OK && !core_buffer_add(&out, "\n", 1))
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = record_run_put(r, out.data, out.size, error);
    core_buffer_free(&out);
    return status;
}

/* If an input was a text of the language model: fails while nothing is released, before the first
 * draw or into a file that appears only at the end; else counts all documents.
 * PRIVACY: lines may be short, or sampled; a whole text needs no line to be recognized. */
static tem_status tell_public_input(file_job *j, bool counting, tem_error *error) {
    tem_counts *c = &j->records.counts;
    const uint32_t all = (uint32_t)(c->documents < UINT32_MAX ? c->documents : UINT32_MAX);
    if (j->watch.found == NULL)
        return TEM_OK;
    const bool is_released = !counting && !j->records.output.to_file;
    c->public_documents = is_released ? all : 0; /* 0: the error says it */
    c->public_found =
        (uint16_t)(c->public_documents < UINT16_MAX ? c->public_documents : UINT16_MAX);
    return is_released ? TEM_OK : source_watch_refuse(&j->watch, error);
}

/* Reads all inputs once, from the beginning. Releases their records or, if `counting`, only counts
 * them. */
static tem_status read_inputs(file_job *j, bool counting, tem_error *error) {
    const tem_job *o = j->options;
    record_input inputs;
    const char *data = NULL;
    size_t size = 0;
    record_run_begin(&j->records, counting, stream_total_bytes(o->inputs, o->input_count));
    j->watch.found = NULL;
    const record_source from = {.paths = o->inputs,
                                .count = o->input_count,
                                .reader = &j->records.reader,
                                .place = &j->records.place,
                                .run = j->run,
                                .context = &j->records,
                                .ask = ask_workers,
                                .header = put_header,
                                .watch = &j->watch};
    record_input_begin(&inputs, &from);
    tem_status status = record_input_next(&inputs, &data, &size, error);
    while (status == TEM_OK && size > 0) {
        status = record_batch_release(&j->records, data, size, error);
        if (status == TEM_OK)
            status = record_input_next(&inputs, &data, &size, error);
    }
    record_input_end(&inputs);
    const tem_status told = tell_public_input(j, counting, status == TEM_OK ? error : NULL);
    status = status == TEM_OK ? told : status;
    return status == TEM_OK ? record_fields_check_dropped(&j->records, error) : status;
}

/* Counts all records, pays for all of them at once, and rewinds the inputs. A dry run pays for
 * nothing and does not rewind. */
static tem_status count_and_pay(file_job *j, int64_t start, tem_error *error) {
    const tem_job *o = j->options;
    tem_status status = read_inputs(j, true, error);
    if (status == TEM_OK)
        status = spending_settle(&j->records.spending, error);
    if (status == TEM_OK && !o->dry_run)
        status = stream_rewind(o->inputs, o->input_count, start, error);
    if (!o->dry_run)
        j->records.counts = (tem_counts){0}; /* nothing was released yet */
    return status;
}

/* Whether a mistyped name of a field to leave out would show only after the release: JSON has no
 * header that tells, and what is on standard output cannot be taken back. */
static bool may_show_too_late(const file_job *j) {
    return j->options->dropped_count > j->options->dropped_if_present &&
           !records_have_header(&j->records.reader) && !j->records.output.to_file;
}

/* Whether to read all inputs before the first draw.
 * PRIVACY: if tem can read the inputs twice, it pays for all of them before it draws a word, and
 * looks for the fields that it must leave out before it releases a record. It pays for a stream
 * batch by batch (record_batch.c). */
static bool counts_first(const file_job *j, int64_t *start) {
    const tem_job *o = j->options;
    return o->dry_run || ((j->records.spending.active || may_show_too_late(j)) &&
                          stream_can_reread(o->inputs, o->input_count, start));
}

/* Adds the fields that the job names to the reader. */
static tem_status name_fields(const tem_job *o, record_reader *r, tem_error *error) {
    tem_status status = TEM_OK;
    if (o->field != NULL || !records_have_fields(r))
        status = records_add_name(r, o->field, RECORD_TEXT, error);
    for (size_t i = 0; status == TEM_OK && i < o->more_field_count; i++)
        status = records_add_name(r, o->more_fields[i], RECORD_TEXT, error);
    for (size_t i = 0; status == TEM_OK && i < o->dropped_count; i++) {
        status = records_add_name(r, o->dropped[i], RECORD_DROPPED, error);
        if (status == TEM_OK && i >= o->dropped_count - o->dropped_if_present)
            r->names[r->name_count - 1].may_be_missing = true;
    }
    if (status == TEM_OK && o->by != NULL)
        status = records_add_name(r, o->by, RECORD_PERSON, error);
    return status;
}

static tem_status check_job(const tem_job *options, record_run *r, tem_error *error) {
    const record_format *format =
        format_find(options->format == 0 ? TEM_FORMAT_TEXT : options->format);
    if (format == NULL)
        return format_refuse_unknown("", error);
    r->reader = (record_reader){.format = format, .delimiter = options->delimiter};
    TRY(records_check_delimiter(&r->reader, error));
    TRY(stream_check_output(options->output, options->inputs, options->input_count, error));
    if (options->dropped_if_present > options->dropped_count)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "more fields may be missing than are to be left out");
    if (options->packing > TEM_PACKING_ZSTD)
        return core_fail(error, TEM_ERR_ARGUMENT, "the output is plain, gzip or zstd");
    const bool has_text = options->field != NULL || options->more_field_count > 0;
    if (!records_have_fields(&r->reader) &&
        (has_text || options->dropped_count > 0 || options->by != NULL))
        return core_fail(error, TEM_ERR_ARGUMENT, "plain text has no fields");
    if (records_have_fields(&r->reader) && !has_text)
        return core_fail(error, TEM_ERR_ARGUMENT, "which field is private must be named");
    return name_fields(options, &r->reader, error);
}

/* Sets up the workers and opens the ledger and the output. A dry run opens no output. */
static tem_status open_job(file_job *j, const tem_mechanism *mechanism, tem_error *error) {
    const tem_job *o = j->options;
    spending *spent = &j->records.spending;
    tem_status status = record_run_init(&j->records, mechanism, o, j->run, error);
    if (status == TEM_OK)
        status = spending_open(spent, mechanism, o, j->run, error);
    if (status == TEM_OK)
        status = spending_check_files(spent, error);
    if (status != TEM_OK || o->dry_run)
        return status;
    status = stream_output_open(&j->records.output, o->output, o->overwrite,
                                o->packing != 0 ? o->packing : TEM_PACKING_NONE, j->run, error);
    j->has_output = status == TEM_OK;
    return status;
}

/* Closes and frees everything. The output file appears only if `status` is TEM_OK. Returns `status`
 * or, if that is TEM_OK, the failure to close the output. */
static tem_status close_job(file_job *j, tem_status status, tem_balance *balance,
                            tem_error *error) {
    if (j->has_output) {
        const tem_status closed = stream_output_close(&j->records.output, status == TEM_OK, error);
        status = status == TEM_OK ? closed : status;
    }
    spending_close(&j->records.spending, balance);
    record_run_free(&j->records);
    return status;
}

tem_status file_job_run(const tem_mechanism *mechanism, const tem_job *options, const tem_run *run,
                        tem_counts *counts, tem_balance *balance, tem_fields *fields,
                        tem_error *error) {
    file_job j = {.options = options, .run = run, .records = {.fields = fields}};
    int64_t start = 0; /* offset of standard input, for stream_rewind */
    j.records.spending.ledger.descriptor = -1;
    TRY(check_job(options, &j.records, error));
    TRY(spending_check(mechanism, options, error));
    TRY(source_watch_open(&j.watch, mechanism, error));
    TRY(source_watch_check(&j.watch, options->inputs, options->input_count, run, error));
    tem_status status = open_job(&j, mechanism, error);
    const bool twice = status == TEM_OK && counts_first(&j, &start);
    j.records.first_decides = may_show_too_late(&j) && !twice;
    if (twice)
        status = count_and_pay(&j, start, error);
    if (status == TEM_OK && !options->dry_run)
        status = read_inputs(&j, false, error);
    source_watch_close(&j.watch);
    status = close_job(&j, status, balance, error);
    if (counts != NULL)
        *counts = j.records.counts;
    return status;
}
