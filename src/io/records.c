/* records.c - where the text is in a stream of records: text, TSV, CSV. JSON is in
 * json_span.c. */
#include "io/records.h"

#include "core/status.h"
#include "io/json_span.h"

#include <string.h>

/* ---- where records end ---- */

/* The end of the first line, line feed included; `size` if there is none. */
static size_t line_end(const char *data, size_t size) {
    const char *end = memchr(data, '\n', size);
    return end == NULL ? size : (size_t)(end - data) + 1;
}

/* The same for CSV, where a line feed between quotes ends nothing. A quote inside an
 * unquoted field is refused later, by split_csv; here any quote opens or closes. */
static size_t csv_end(const char *data, size_t size) {
    bool quoted = false;
    for (size_t at = 0; at < size; at++) {
        if (data[at] == '"')
            quoted = !quoted;
        else if (data[at] == '\n' && !quoted)
            return at + 1;
    }
    return size;
}

static size_t record_end(const record_reader *r, const char *data, size_t size) {
    return r->format == TEM_FORMAT_CSV ? csv_end(data, size) : line_end(data, size);
}

static size_t whole_csv(const char *data, size_t size) {
    size_t whole = 0;
    bool quoted = false;
    for (size_t at = 0; at < size; at++) {
        if (data[at] == '"')
            quoted = !quoted;
        else if (data[at] == '\n' && !quoted)
            whole = at + 1;
    }
    return whole;
}

size_t records_whole(const record_reader *r, const char *data, size_t size, bool at_end) {
    if (at_end)
        return size;
    if (r->format == TEM_FORMAT_CSV)
        return whole_csv(data, size);
    const char *last = memrchr(data, '\n', size);
    return last == NULL ? 0 : (size_t)(last - data) + 1;
}

size_t records_first(const record_reader *r, const char *data, size_t size, size_t *content) {
    const size_t end = record_end(r, data, size);
    *content = end;
    if (*content > 0 && data[*content - 1] == '\n')
        --*content;
    const bool ended = *content < end;
    if (ended && *content > 0 && data[*content - 1] == '\r')
        --*content;
    return end;
}

/* ---- fields of TSV and CSV ---- */

static tem_status bad(tem_error *error, size_t byte, const char *what) {
    return core_fail_at(error, TEM_ERR_FORMAT, "", 0, byte, "%s", what);
}

/* The end of the field that starts at `at`, and how it is written. */
static tem_status field_end(const record_reader *r, const char *record, size_t size, size_t at,
                            record_span *span, tem_error *error) {
    const char separator = r->format == TEM_FORMAT_CSV ? ',' : '\t';
    *span = (record_span){at, at, r->format == TEM_FORMAT_CSV ? RECORD_CSV : RECORD_PLAIN};
    if (r->format == TEM_FORMAT_CSV && at < size && record[at] == '"') {
        span->quoting = RECORD_CSV_QUOTED;
        for (at++;; at++) {
            if (at >= size)
                return bad(error, span->start, "CSV: a quote is not closed");
            if (record[at] != '"')
                continue;
            if (at + 1 < size && record[at + 1] == '"')
                at++;
            else
                break;
        }
        span->end = at + 1;
        if (span->end < size && record[span->end] != separator)
            return bad(error, span->end, "CSV: expected a comma after a closing quote");
        return TEM_OK;
    }
    while (span->end < size && record[span->end] != separator) {
        if (r->format == TEM_FORMAT_CSV && record[span->end] == '"')
            return bad(error, span->end, "CSV: a quote inside a field that is not quoted");
        span->end++;
    }
    return TEM_OK;
}

/* Goes over the fields; calls `visit` for each. Returns their number in *columns. */
typedef tem_status visit_field(void *context, uint32_t column, const record_span *span,
                               tem_error *error);

static tem_status visit_fields(const record_reader *r, const char *record, size_t size,
                               visit_field *visit, void *context, uint32_t *columns,
                               tem_error *error) {
    *columns = 0;
    for (size_t at = 0;;) {
        record_span span;
        tem_status status = field_end(r, record, size, at, &span, error);
        if (status == TEM_OK)
            status = visit(context, *columns, &span, error);
        if (status != TEM_OK)
            return status;
        ++*columns;
        if (span.end >= size)
            return TEM_OK;
        at = span.end + 1;
    }
}

typedef struct header_search {
    record_reader *reader;
    const char *record;
    unsigned found;
} header_search;

static tem_status look_at_name(void *context, uint32_t column, const record_span *span,
                               tem_error *error) {
    header_search *search = context;
    core_buffer name = {0};
    record_span trimmed = *span;
    /* A byte order mark before the first name is not part of it. */
    if (column == 0 && span->end - span->start >= 3 && span->quoting != RECORD_CSV_QUOTED &&
        memcmp(search->record + span->start, "\xef\xbb\xbf", 3) == 0)
        trimmed.start += 3;
    tem_status status = records_decode(&trimmed, search->record, &name, error);
    const char *wanted = search->reader->field;
    if (status == TEM_OK && name.size == strlen(wanted) &&
        memcmp(name.data == NULL ? "" : name.data, wanted, name.size) == 0) {
        search->reader->column = column;
        search->found++;
    }
    core_buffer_free(&name);
    return status;
}

tem_status records_header(record_reader *r, const char *record, size_t size, tem_error *error) {
    header_search search = {r, record, 0};
    tem_status status = visit_fields(r, record, size, look_at_name, &search, &r->columns, error);
    if (status == TEM_OK && search.found != 1)
        return bad(error, 0,
                   search.found == 0 ? "the header does not have the field that --field names"
                                     : "the header has the field that --field names twice");
    return status;
}

typedef struct column_search {
    uint32_t column;
    record_span span;
} column_search;

static tem_status look_at_column(void *context, uint32_t column, const record_span *span,
                                 tem_error *error) {
    column_search *search = context;
    (void)error;
    if (column == search->column)
        search->span = *span;
    return TEM_OK;
}

tem_status records_span(const record_reader *r, const char *record, size_t size, record_span *span,
                        tem_error *error) {
    if (r->format == TEM_FORMAT_TEXT) {
        *span = (record_span){0, size, RECORD_PLAIN};
        return TEM_OK;
    }
    if (r->format == TEM_FORMAT_JSONL)
        return json_span(record, size, r->field, span, error);
    column_search search = {r->column, {0, 0, RECORD_PLAIN}};
    uint32_t columns = 0;
    tem_status status = visit_fields(r, record, size, look_at_column, &search, &columns, error);
    if (status == TEM_OK && columns != r->columns)
        return core_fail_at(error, TEM_ERR_FORMAT, "", 0, 0,
                            "expected %u fields, as in the header, found %u", r->columns, columns);
    if (status == TEM_OK)
        *span = search.span;
    return status;
}

/* ---- quoting ---- */

tem_status records_decode(const record_span *span, const char *record, core_buffer *out,
                          tem_error *error) {
    if (span->quoting == RECORD_JSON)
        return json_decode(record + span->start, span->end - span->start, out, error);
    size_t start = span->start, end = span->end;
    if (span->quoting == RECORD_CSV_QUOTED) {
        start++;
        end--;
    }
    if (!core_buffer_reserve(out, end - start))
        return core_fail_memory(error);
    for (size_t at = start; at < end; at++) {
        out->data[out->size++] = record[at];
        if (span->quoting == RECORD_CSV_QUOTED && record[at] == '"')
            at++; /* doubled */
    }
    return TEM_OK;
}

static bool needs_quotes(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r')
            return true;
    return false;
}

static tem_status encode_csv(const char *text, size_t bytes, core_buffer *out, tem_error *error) {
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

tem_status records_encode(record_quoting quoting, const char *text, size_t bytes, core_buffer *out,
                          tem_error *error) {
    if (quoting == RECORD_JSON)
        return json_encode(text, bytes, out, error);
    if (quoting == RECORD_CSV_QUOTED || (quoting == RECORD_CSV && needs_quotes(text, bytes)))
        return encode_csv(text, bytes, out, error);
    return core_buffer_add(out, text, bytes) ? TEM_OK : core_fail_memory(error);
}
