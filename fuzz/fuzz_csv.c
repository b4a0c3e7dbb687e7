/* fuzz_csv.c - any bytes as a CSV or TSV stream with one private column.
 *
 * In an accepted record the spans of the fields follow each other. After another text is put into
 * the private field, the record is accepted again with the same end, the field is that text, and
 * the other fields are unchanged. */
#include "target.h"

#include "../tests/unit/one_field.h"
#include "records/records.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds) {
    if (!holds)
        abort();
}

/* Decodes one column of a record that is known to be valid. */
static core_buffer decode(const record_reader *r, uint32_t column, const core_buffer *record) {
    record_reader other = *r;
    record_span span;
    core_buffer text = {0};
    other.names[0].column = column;
    require(find_one(&other, record->data, record->size, &span, NULL) == TEM_OK);
    require(span.start <= span.end && span.end <= record->size);
    require(records_decode(&span, record->data, &text, NULL) == TEM_OK);
    require(text.size <= span.end - span.start);
    return text;
}

static bool equal(const core_buffer *buffer, const char *bytes, size_t size) {
    return buffer->size == size && (size == 0 || memcmp(buffer->data, bytes, size) == 0);
}

/* The record with the marker in its private field, and a line end. */
static core_buffer splice(const record_reader *r, const core_buffer *record,
                          const record_span *span, const char *marker) {
    core_buffer out = {0};
    require(core_buffer_add(&out, record->data, span->start));
    require(records_encode(r, marker, strlen(marker), &out, NULL) == TEM_OK);
    require(core_buffer_add(&out, record->data + span->end, record->size - span->end));
    require(core_buffer_add(&out, "\r\n", 2));
    return out;
}

static void check_splice(const record_reader *r, const core_buffer *record,
                         const record_span *span) {
    const char *const marker = r->format == &format_csv ? "a, \"marker\"\r\n" : "a, \"marker\"";
    core_buffer spliced = splice(r, record, span, marker);
    size_t content = 0;
    require(records_first(r, spliced.data, spliced.size, &content) == spliced.size);
    require(content == spliced.size - 2);
    spliced.size = content;
    for (uint32_t column = 0; column < r->columns && column < 64; column++) {
        core_buffer before = decode(r, column, record), after = decode(r, column, &spliced);
        require(column == r->names[0].column ? equal(&after, marker, strlen(marker))
                                             : equal(&after, before.data, before.size));
        core_buffer_free(&before);
        core_buffer_free(&after);
    }
    core_buffer_free(&spliced);
}

/* Returns whether the record is accepted. */
static bool check_record(const record_reader *r, char *bytes, size_t size) {
    const core_buffer record = {.data = bytes, .size = size, .capacity = size};
    record_span span;
    tem_error error = {.status = TEM_OK};
    const tem_status status = find_one(r, bytes, size, &span, &error);
    require(status == TEM_OK || (error.status == status && error.byte <= size + 1));
    if (status == TEM_OK)
        check_splice(r, &record, &span);
    return status == TEM_OK;
}

/* Reads the header, after a byte order mark; if it has no field "text", the input chooses the
 * columns. */
static void take_header(record_reader *r, const char *record, size_t size, uint8_t choice) {
    static const char mark[] = "\xef\xbb\xbf";
    const size_t mark_bytes = sizeof mark - 1;
    const bool is_marked = size >= mark_bytes && memcmp(record, mark, mark_bytes) == 0;
    const size_t skipped = is_marked ? mark_bytes : 0;
    r->delimiter = choice / 64 == 1 ? '\0' : r->delimiter; /* the header decides */
    if (records_header(r, record + skipped, size - skipped, NULL) == TEM_OK) {
        require(r->names[0].column < r->columns);
        return;
    }
    r->delimiter = r->format == &format_csv ? ',' : '\t';
    r->columns = 1 + choice / 2 % 4;
    r->names[0].column = choice / 8 % r->columns;
}

/* The first byte chooses the format and the columns; the rest is the stream. */
bool fuzz_input(const uint8_t *data, size_t size) {
    bool accepted = true;
    if (size < 2)
        return false;
    record_reader r = one_field(data[0] % 2 ? &format_csv : &format_tsv, "text");
    char *stream = malloc(--size);
    if (stream == NULL)
        return false;
    memcpy(stream, data + 1, size);
    require(records_whole(&r, stream, size, false) <= size);
    for (size_t at = 0; at < size;) {
        size_t content = 0;
        const size_t length = records_first(&r, stream + at, size - at, &content);
        require(length > 0 && length <= size - at && content <= length);
        if (at == 0)
            take_header(&r, stream, content, data[0]);
        else
            accepted &= check_record(&r, stream + at, content) || records_is_blank(&r, content);
        at += length;
    }
    free(stream);
    return accepted;
}
