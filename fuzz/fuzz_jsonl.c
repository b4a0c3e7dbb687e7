/* fuzz_jsonl.c - any bytes as a stream of JSON records with a private field "text".
 *
 * In an accepted record the span is a string or null within it. After another text is put in its
 * place, the record is accepted again, the field is that text, and everything before and after it
 * is unchanged. */
#include "target.h"

#include "../tests/unit/one_field.h"
#include "records/json_span.h"

#include <stdlib.h>
#include <string.h>

static const char marker[] = "a \"marker\" \\ \n\x01 \u00e9";

static void require(bool holds) {
    if (!holds)
        abort();
}

static void check_span(const char *record, size_t size, const record_span *span) {
    require(span->start < span->end && span->end <= size);
    if (span->quoting == RECORD_NOTHING)
        require(span->end - span->start == 4 && memcmp(record + span->start, "null", 4) == 0);
    else
        require(span->quoting == RECORD_JSON && span->end - span->start >= 2 &&
                record[span->start] == '"' && record[span->end - 1] == '"');
}

static void check_splice(const record_reader *r, const char *record, size_t size,
                         const record_span *span) {
    core_buffer spliced = {0}, text = {0};
    record_span again;
    const size_t length = sizeof marker - 1, rest = size - span->end;
    if (core_buffer_add(&spliced, record, span->start) &&
        records_encode(r, marker, length, &spliced, NULL) == TEM_OK &&
        core_buffer_add(&spliced, record + span->end, rest)) {
        require(memchr(spliced.data + span->start, '\n', spliced.size - rest - span->start) ==
                NULL);
        require(find_one(r, spliced.data, spliced.size, &again, NULL) == TEM_OK);
        require(again.start == span->start && spliced.size - again.end == rest);
        require(records_decode(&again, spliced.data, &text, NULL) == TEM_OK);
        require(text.size == length && memcmp(text.data, marker, length) == 0);
    }
    core_buffer_free(&spliced);
    core_buffer_free(&text);
}

/* Returns whether the record is accepted. */
static bool check_record(const record_reader *r, const char *record, size_t size) {
    record_span span;
    core_buffer text = {0};
    tem_error error = {.status = TEM_OK};
    const tem_status status = find_one(r, record, size, &span, &error);
    require(status == TEM_OK || (error.status == status && error.byte <= size + 1));
    if (status != TEM_OK)
        return false;
    bool decoded = true;
    check_span(record, size, &span);
    if (span.quoting == RECORD_JSON) {
        /* Only decoding detects half a character (a lone surrogate). */
        decoded = records_decode(&span, record, &text, NULL) == TEM_OK;
        require(!decoded || text.size <= span.end - span.start - 2);
    }
    check_splice(r, record, size, &span);
    core_buffer_free(&text);
    return decoded;
}

bool fuzz_input(const uint8_t *data, size_t size) {
    const record_reader r = one_field(&format_jsonl, "text");
    bool accepted = true;
    for (size_t at = 0; at < size;) {
        size_t content = 0;
        const char *record = (const char *)data + at;
        const size_t length = records_first(&r, record, size - at, &content);
        require(length > 0 && length <= size - at && content <= length);
        accepted &= check_record(&r, record, content);
        at += length;
    }
    return accepted;
}
