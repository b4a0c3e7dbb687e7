/* format_text.c - plain text: each line is a document. */
#include "records/format.h"

static tem_status visit_all(const record_reader *r, const char *record, size_t size,
                            record_visit *visit, void *context, tem_error *error) {
    (void)r, (void)record;
    const record_field all = {.value = {0, size, RECORD_PLAIN}};
    return visit(context, &all, error);
}

const record_format format_text = {
    .id = TEM_FORMAT_TEXT,
    .name = "text",
    .meaning = "each line is a document",
    .blank_is_record = true,
    .first_end = format_first_line,
    .last_end = format_last_line,
    .visit = visit_all,
    .encode = format_encode_plain,
};
