/* record_texts.c - hands out the texts of the records of one file. */
#include "job/record_texts.h"

#include "core/status.h"
#include "core/threads.h"
#include "job/record_input.h"

/* The state of one reading. */
typedef struct record_reading {
    const tem_records *records;
    tem_record_fn *take;
    void *context;
    const tem_run *run;
    uint64_t done, total; /* bytes; total 0: not known */
    record_reader reader;
    record_place place;
    core_buffer parts, text, group;
} record_reading;

static tem_status check_fields(record_reading *w, tem_error *error) {
    const tem_records *r = w->records;
    const record_format *format = format_find(r->format == 0 ? TEM_FORMAT_TEXT : r->format);
    if (format == NULL)
        return format_refuse_unknown("", error);
    w->reader = (record_reader){.format = format, .delimiter = r->delimiter};
    TRY(records_check_delimiter(&w->reader, error));
    const bool has_fields = records_have_fields(&w->reader);
    if (!has_fields && (r->field != NULL || r->by != NULL))
        return core_fail(error, TEM_ERR_ARGUMENT, "plain text has no fields");
    if (has_fields && r->field == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "the field with the text must be named");
    const tem_status status = records_add_name(&w->reader, r->field, RECORD_TEXT, error);
    return status == TEM_OK && r->by != NULL
               ? records_add_name(&w->reader, r->by, RECORD_PERSON, error)
               : status;
}

static tem_status take_record(record_reading *w, const char *record, size_t size,
                              tem_error *error) {
    tem_status status = records_split(&w->reader, record, size, &w->parts, NULL, NULL, error);
    core_buffer_clear(&w->text);
    core_buffer_clear(&w->group);
    for (size_t i = 0; status == TEM_OK && i < records_part_count(&w->parts); i++) {
        const record_part *part = records_part(&w->parts, i);
        const bool is_text = w->reader.names[part->name].role == RECORD_TEXT;
        status = records_decode(&part->value, record, is_text ? &w->text : &w->group, error);
    }
    return status == TEM_OK ? w->take(w->context, w->text.data, w->text.size, w->group.data,
                                      w->group.size, error)
                            : status;
}

/* The `ask` of a record_source. */
static tem_status ask(void *context, uint64_t bytes, tem_error *error) {
    record_reading *w = context;
    w->done += bytes;
    if (w->done > w->total) /* a pipe, a file that grows, or a compressed one */
        w->total = 0;
    return core_progress(w->run, "reading", w->done, w->total, error);
}

static tem_status take_batch(record_reading *w, const char *data, size_t size, tem_error *error) {
    tem_status status = TEM_OK;
    for (size_t at = 0, length = 0; at < size && status == TEM_OK; at += length) {
        size_t content = 0;
        const char *record = data + at;
        length = records_first(&w->reader, record, size - at, &content);
        if (!records_is_blank(&w->reader, content))
            status = take_record(w, record, content, error);
        if (status == TEM_ERR_FORMAT)
            record_place_error(&w->place, error);
        if (status == TEM_OK)
            status = core_progress(w->run, "reading", w->done, w->total, error);
        record_place_pass(&w->place, record, length);
    }
    return status;
}

tem_status record_texts_read(const tem_records *records, tem_record_fn *take, void *context,
                             const tem_run *run, tem_error *error) {
    record_reading w = {.records = records,
                        .take = take,
                        .context = context,
                        .run = run,
                        .total = stream_total_bytes(&records->path, 1)};
    TRY(check_fields(&w, error));
    const record_source from = {.paths = &records->path,
                                .count = 1,
                                .reader = &w.reader,
                                .place = &w.place,
                                .run = run,
                                .context = &w,
                                .ask = ask};
    record_input input;
    const char *data = NULL;
    size_t size = 0;
    tem_status status = TEM_OK;
    record_input_begin(&input, &from);
    do {
        status = record_input_next(&input, &data, &size, error);
        if (status == TEM_OK)
            status = take_batch(&w, data, size, error);
    } while (status == TEM_OK && size > 0);
    record_input_end(&input);
    core_buffer_free(&w.parts);
    core_buffer_free(&w.text);
    core_buffer_free(&w.group);
    return status;
}
