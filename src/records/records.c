/* records.c - where the text is in a stream of records: text, TSV, CSV. JSON is in
 * json_span.c. */
#include "records/records.h"

#include "core/status.h"
#include "records/json_span.h"

#include <string.h>

/* ---- where records end ---- */

/* The end of the first line, line feed included; `size` if there is none. */
static size_t line_end(const char *data, size_t size) {
    const char *end = memchr(data, '\n', size);
    return end == NULL ? size : (size_t)(end - data) + 1;
}

/* The end of the first, or of the last whole, record of CSV, where a line feed between
 * quotes ends nothing; `none` if there is none. A quote inside an unquoted field is refused
 * later, by field_end; here any quote opens or closes. */
static size_t csv_end(const char *data, size_t size, bool first, size_t none) {
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

static size_t record_end(const record_reader *r, const char *data, size_t size) {
    return r->format == TEM_FORMAT_CSV ? csv_end(data, size, true, size) : line_end(data, size);
}

size_t records_whole(const record_reader *r, const char *data, size_t size, bool at_end) {
    if (at_end)
        return size;
    if (r->format == TEM_FORMAT_CSV)
        return csv_end(data, size, false, 0);
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
    /* To JSON these are blanks, and would be copied. In CSV and TSV they are refused. */
    while (r->format == TEM_FORMAT_JSONL && *content > 0 && data[*content - 1] == '\r')
        --*content;
    return end;
}

bool records_is_blank(const record_reader *r, size_t content) {
    return content == 0 && r->format != TEM_FORMAT_TEXT;
}

/* ---- fields of TSV and CSV ---- */

static tem_status bad(tem_error *error, size_t byte, const char *what) {
    return core_fail_at(error, TEM_ERR_FORMAT, "", 0, byte, "%s", what);
}

/* One past the quote that closes the one at `at`; size + 1 if none does. */
static size_t quoted_end(const char *record, size_t size, size_t at) {
    for (at++; at < size; at++) {
        if (record[at] != '"')
            continue;
        if (at + 1 < size && record[at + 1] == '"')
            at++;
        else
            return at + 1;
    }
    return size + 1;
}

static tem_status quoted_field(const char *record, size_t size, record_span *span,
                               tem_error *error) {
    span->quoting = RECORD_CSV_QUOTED;
    span->end = quoted_end(record, size, span->start);
    if (span->end > size)
        return bad(error, span->start, "CSV: a quote is not closed");
    if (span->end < size && record[span->end] != ',')
        return bad(error, span->end, "CSV: expected a comma after a closing quote");
    return TEM_OK;
}

/* The end of the field that starts at `at`, and how it is written.
 * PRIVACY: programs differ in what a carriage return alone means, and in whether TSV has
 * quotes. Where that would move the borders of the private field, it is refused. */
static tem_status field_end(const record_reader *r, const char *record, size_t size, size_t at,
                            record_span *span, tem_error *error) {
    const bool csv = r->format == TEM_FORMAT_CSV;
    const char separator = csv ? ',' : '\t';
    *span = (record_span){at, at, csv ? RECORD_CSV : RECORD_PLAIN};
    if (csv && at < size && record[at] == '"')
        return quoted_field(record, size, span, error);
    for (; span->end < size && record[span->end] != separator; span->end++) {
        if (csv && record[span->end] == '"')
            return bad(error, span->end, "CSV: a quote inside a field that is not quoted");
        if (record[span->end] == '\r')
            return bad(error, span->end,
                       "a carriage return without line feed: lines must end in LF or CR LF");
    }
    if (!csv && span->end > at && record[at] == '"' &&
        quoted_end(record, span->end, at) > span->end)
        return bad(error, at, "TSV: a field begins with a quote that does not close in it");
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
    tem_status status = records_decode(span, search->record, &name, error);
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
        return core_fail_at(error, TEM_ERR_FORMAT, "", 0, 0,
                            "the field that %s names is %s in the header, which has %u "
                            "field%s (names are case-sensitive; is --format right?)",
                            r->person ? "--by" : "--field", search.found == 0 ? "not" : "twice",
                            r->columns, r->columns == 1 ? "" : "s");
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
        return r->person ? json_person(record, size, r->field, span, error)
                         : json_span(record, size, r->field, span, error);
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

/* What stands between the quotes of a field, each quote in it doubled. */
static bool decode_csv(const char *text, size_t bytes, core_buffer *out) {
    if (!core_buffer_reserve(out, bytes))
        return false;
    for (size_t at = 0; at < bytes; at++) {
        out->data[out->size++] = text[at];
        at += text[at] == '"';
    }
    return true;
}

tem_status records_decode(const record_span *span, const char *record, core_buffer *out,
                          tem_error *error) {
    if (span->quoting == RECORD_JSON)
        return json_decode(record + span->start, span->end - span->start, out, error);
    const size_t bytes = span->end - span->start;
    if (bytes == 0 || span->quoting == RECORD_NOTHING) /* the former of a record that is nowhere */
        return TEM_OK;
    const char *text = record + span->start;
    const bool done = span->quoting == RECORD_CSV_QUOTED ? decode_csv(text + 1, bytes - 2, out)
                                                         : core_buffer_add(out, text, bytes);
    return done ? TEM_OK : core_fail_memory(error);
}

static bool needs_quotes(const record_reader *r, const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r')
            return true;
    return bytes == 0 && r->columns == 1;
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

tem_status records_encode(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                          tem_error *error) {
    if (r->format == TEM_FORMAT_JSONL)
        return json_encode(text, bytes, out, error);
    if (r->format == TEM_FORMAT_CSV && needs_quotes(r, text, bytes))
        return encode_csv(text, bytes, out, error);
    return core_buffer_add(out, text, bytes) ? TEM_OK : core_fail_memory(error);
}
