/* format_jsonl.c - JSONL: each line is a JSON object. */
#include "records/format.h"
#include "records/json_span.h"

static tem_status visit_members(const record_reader *r, const char *record, size_t size,
                                record_visit *visit, void *context, tem_error *error) {
    (void)r;
    return json_visit(record, size, visit, context, error);
}

static tem_status encode(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                         tem_error *error) {
    (void)r;
    return json_encode(text, bytes, out, error);
}

const record_format format_jsonl = {
    .id = TEM_FORMAT_JSONL,
    .name = "jsonl",
    .meaning = "an object a line; the field is a string or null",
    .has_fields = true,
    .ignores_returns = true, /* carriage returns are blanks in JSON, and tem would copy them */
    .first_end = format_first_line,
    .last_end = format_last_line,
    .visit = visit_members,
    .encode = encode,
};
