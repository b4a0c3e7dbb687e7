/* format_csv.c - comma-separated values, RFC 4180; also with another delimiter. */
#include "core/status.h"
#include "records/format.h"

/* Returns the end of the first record or, unless `first`, of the last whole record; `none` if there
 * is no such record. A line feed between quotes does not end a record. Here any quote opens or
 * closes; field_end later refuses a quote inside an unquoted field. */
static size_t record_end(const char *data, size_t size, bool first, size_t none) {
    size_t end = none;
    bool quoted = false;
    for (size_t at = 0; at < size; at++) {
        if (data[at] == '"')
            quoted = !quoted;
        else if (data[at] == '\n' && !quoted) {
            end = at + 1;
            if (first)
                break;
        }
    }
    return end;
}

static size_t first_end(const char *data, size_t size) {
    return record_end(data, size, true, size);
}

static size_t last_end(const char *data, size_t size) {
    return record_end(data, size, false, 0);
}

static tem_status quoted_field(char delimiter, const char *record, size_t size, record_span *span,
                               tem_error *error) {
    span->quoting = RECORD_CSV_QUOTED;
    span->end = format_quoted_end(record, size, span->start);
    if (span->end > size)
        return format_refuse(error, span->start, "CSV: a quote is not closed");
    if (span->end < size && record[span->end] != delimiter)
        return format_refuse(error, span->end,
                             "CSV: expected a delimiter, such as a comma, after a closing quote; a "
                             "quote within a quoted field is written twice");
    return TEM_OK;
}

static tem_status field_end(char delimiter, const char *record, size_t size, size_t at,
                            record_span *span, tem_error *error) {
    *span = (record_span){at, at, RECORD_CSV};
    if (at < size && record[at] == '"')
        return quoted_field(delimiter, record, size, span, error);
    for (; span->end < size && record[span->end] != delimiter; span->end++) {
        if (record[span->end] == '"')
            return format_refuse(error, span->end,
                                 "CSV: a quote inside a field that is not quoted");
        if (record[span->end] == '\r')
            return format_refuse_return(error, span->end);
    }
    return TEM_OK;
}

/* Each quote in the text is doubled: copies one and skips the other. */
bool format_decode_csv(const char *text, size_t bytes, core_buffer *out) {
    if (!core_buffer_reserve(out, bytes))
        return false;
    for (size_t at = 0; at < bytes; at++) {
        out->data[out->size++] = text[at];
        at += text[at] == '"';
    }
    return true;
}

static bool needs_quotes(const record_reader *r, const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '"' || text[i] == r->delimiter || text[i] == '\n' || text[i] == '\r')
            return true;
    return bytes == 0 && r->columns - r->dropped == 1;
}

static tem_status encode(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                         tem_error *error) {
    if (!needs_quotes(r, text, bytes))
        return format_encode_plain(r, text, bytes, out, error);
    if (!core_buffer_reserve(out, 2 * bytes + 2))
        return core_fail_memory(error);
    out->data[out->size++] = '"';
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"')
            out->data[out->size++] = '"';
        out->data[out->size++] = text[i];
    }
    out->data[out->size++] = '"';
    return TEM_OK;
}

const record_format format_csv = {
    .id = TEM_FORMAT_CSV,
    .name = "csv",
    .meaning = "comma-separated (RFC 4180); the first record names the fields",
    .has_fields = true,
    .delimiters = ",;",
    .has_own_delimiter = true,
    .columns = field_end,
    .first_end = first_end,
    .last_end = last_end,
    .visit = format_visit_columns,
    .encode = encode,
};
