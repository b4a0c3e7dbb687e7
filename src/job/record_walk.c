/* record_walk.c - goes through the records of one file, for code that reads released text. */
#include "job/record_walk.h"

#include "core/status.h"
#include "core/threads.h"
#include "job/record_run.h"

#include <string.h>

enum { READ_BYTES = 16 << 20 };

/* The state of one reading. */
typedef struct walk {
    const tem_records *records;
    const char *path; /* for errors */
    tem_record_fn *take;
    void *context;
    const tem_run *run;
    record_reader reader;
    bool header_due;
    uint64_t line; /* of the next record, from 1 */
    core_buffer parts, text, group;
} walk;

static tem_status check_fields(walk *w, tem_error *error) {
    const tem_records *r = w->records;
    const record_format *format = format_find(r->format == 0 ? TEM_FORMAT_TEXT : r->format);
    if (format == NULL)
        return format_refuse_unknown("", error);
    w->reader = (record_reader){.format = format, .delimiter = r->delimiter};
    const tem_status known = records_check_delimiter(&w->reader, error);
    if (known != TEM_OK)
        return known;
    const bool has_fields = records_have_fields(&w->reader);
    if (!has_fields && (r->field != NULL || r->by != NULL))
        return core_fail(error, TEM_ERR_ARGUMENT, "plain text has no fields");
    if (has_fields && r->field == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "the field with the text must be named");
    w->header_due = records_have_header(&w->reader);
    const tem_status status = records_add_name(&w->reader, r->field, RECORD_TEXT, error);
    return status == TEM_OK && r->by != NULL
               ? records_add_name(&w->reader, r->by, RECORD_PERSON, error)
               : status;
}

static tem_status take_header(walk *w, const char *header, size_t size, tem_error *error) {
    w->header_due = false;
    return records_header(&w->reader, header, size, error);
}

static tem_status take_record(walk *w, const char *record, size_t size, tem_error *error) {
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

static tem_status take_all(walk *w, const char *data, size_t size, tem_error *error) {
    static const char mark[] = "\xef\xbb\xbf";
    const size_t mark_size = sizeof mark - 1;
    tem_status status = TEM_OK;
    size_t at = size >= mark_size && memcmp(data, mark, mark_size) == 0 ? mark_size : 0;
    for (size_t length = 0; at < size && status == TEM_OK; at += length) {
        size_t content = 0;
        const char *record = data + at;
        length = records_first(&w->reader, record, size - at, &content);
        if (!records_is_blank(&w->reader, content))
            status = w->header_due ? take_header(w, record, content, error)
                                   : take_record(w, record, content, error);
        if (status == TEM_ERR_FORMAT && error != NULL)
            record_set_place(error, w->path, w->line);
        if (status == TEM_OK)
            status = core_progress(w->run, "reading", at, size, error);
        w->line += record_count_lines(record, length);
    }
    if (status == TEM_OK && w->header_due)
        return core_fail_at(error, TEM_ERR_FORMAT, w->path, 1, 0,
                            "expected a header, found an empty file");
    return status;
}

tem_status record_walk(const tem_records *records, tem_record_fn *take, void *context,
                       const tem_run *run, tem_error *error) {
    walk w = {.records = records,
              .path = strcmp(records->path, "-") == 0 ? "standard input" : records->path,
              .take = take,
              .context = context,
              .run = run,
              .line = 1};
    stream_input in = {.path = NULL};
    tem_status status = check_fields(&w, error);
    if (status == TEM_OK)
        status = stream_input_open(&in, records->path, run, error);
    if (status != TEM_OK)
        return status;
    while (status == TEM_OK && !in.at_end)
        status = stream_input_fill(&in, in.data.size + READ_BYTES, error);
    if (status == TEM_OK)
        status = take_all(&w, in.data.data, in.data.size, error);
    core_buffer_free(&w.parts);
    core_buffer_free(&w.text);
    core_buffer_free(&w.group);
    stream_input_close(&in);
    return status;
}
