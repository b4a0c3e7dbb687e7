/* columns.c - finds the fields that a header names, in TSV and CSV. */
#include "core/status.h"
#include "records/format.h"

#include <string.h>

/* Called for each field of a record; column: its number, from 0. */
typedef tem_status visit_field(void *context, uint32_t column, const record_span *span,
                               tem_error *error);

/* Calls `visit` for each field of a record, in order, and stops at the first failure. *columns
 * receives the number of fields. TEM_ERR_FORMAT, and the failures of `visit`. */
static tem_status visit_fields(const record_reader *r, const char *record, size_t size,
                               visit_field *visit, void *context, uint32_t *columns,
                               tem_error *error) {
    *columns = 0;
    for (size_t at = 0;;) {
        record_span span;
        tem_status status = r->format->columns(record, size, at, &span, error);
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
        return core_fail_at(
            error, TEM_ERR_FORMAT, "", 0, 0,
            "%s is %s in the header, which has %u field%s (names are "
            "case-sensitive; is the format right?%s)",
            r->person ? "the field that names people, groups or labels" : "the field of the text",
            search.found == 0 ? "not" : "twice", r->columns, r->columns == 1 ? "" : "s",
            r->columns == 1 ? " CSV has commas between fields, TSV tabs" : "");
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

tem_status format_find_column(const record_reader *r, const char *record, size_t size,
                              record_span *span, tem_error *error) {
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
