/* format_text.c - plain text: each line is a document. */
#include "records/format.h"

static tem_status find_all(const record_reader *r, const char *record, size_t size,
                           record_span *span, tem_error *error) {
    (void)r, (void)record, (void)error;
    *span = (record_span){0, size, RECORD_PLAIN};
    return TEM_OK;
}

const record_format format_text = {
    .id = TEM_FORMAT_TEXT,
    .name = "text",
    .meaning = "each line is a document",
    .blank_is_record = true,
    .first_end = format_first_line,
    .last_end = format_last_line,
    .find_field = find_all,
    .encode = format_encode_plain,
};
