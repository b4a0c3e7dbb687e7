/* records.c - finds the text in a stream of records, whatever their format. */
#include "records/records.h"

#include "core/status.h"
#include "records/format.h"
#include "records/json_span.h"

size_t records_whole(const record_reader *r, const char *data, size_t size, bool at_end) {
    return at_end ? size : r->format->last_end(data, size);
}

size_t records_first(const record_reader *r, const char *data, size_t size, size_t *content) {
    const size_t end = r->format->first_end(data, size);
    *content = end;
    if (*content > 0 && data[*content - 1] == '\n')
        --*content;
    const bool ended = *content < end;
    if (ended && *content > 0 && data[*content - 1] == '\r')
        --*content;
    while (r->format->ignores_returns && *content > 0 && data[*content - 1] == '\r')
        --*content;
    return end;
}

bool records_is_blank(const record_reader *r, size_t content) {
    return content == 0 && !r->format->blank_is_record;
}

bool records_have_fields(const record_reader *r) {
    return r->format->has_fields;
}

bool records_have_header(const record_reader *r) {
    return r->format->columns != NULL;
}

tem_status records_decode(const record_span *span, const char *record, core_buffer *out,
                          tem_error *error) {
    if (span->quoting == RECORD_JSON)
        return json_decode(record + span->start, span->end - span->start, out, error);
    const size_t bytes = span->end - span->start;
    if (bytes == 0 || span->quoting == RECORD_NOTHING) /* with 0 bytes, record may be NULL */
        return TEM_OK;
    const char *text = record + span->start;
    const bool done = span->quoting == RECORD_CSV_QUOTED
                          ? format_decode_csv(text + 1, bytes - 2, out)
                          : core_buffer_add(out, text, bytes);
    return done ? TEM_OK : core_fail_memory(error);
}

tem_status records_encode(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                          tem_error *error) {
    return r->format->encode(r, text, bytes, out, error);
}
