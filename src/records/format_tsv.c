/* format_tsv.c - tab-separated values, without quoting. */
#include "records/format.h"

/* PRIVACY: programs differ in whether TSV has quotes. Where a quote would move the borders of the
 * private field, tem refuses it. */
static tem_status field_end(char delimiter, const char *record, size_t size, size_t at,
                            record_span *span, tem_error *error) {
    *span = (record_span){at, at, RECORD_PLAIN};
    for (; span->end < size && record[span->end] != delimiter; span->end++)
        if (record[span->end] == '\r')
            return format_refuse_return(error, span->end);
    if (span->end > at && record[at] == '"' && format_quoted_end(record, span->end, at) > span->end)
        return format_refuse(error, at,
                             "TSV: a field begins with a quote that does not close in it");
    return TEM_OK;
}

const record_format format_tsv = {
    .id = TEM_FORMAT_TSV,
    .name = "tsv",
    .meaning = "tab-separated, without quoting; the first line names the fields",
    .has_fields = true,
    .delimiters = "\t",
    .columns = field_end,
    .first_end = format_first_line,
    .last_end = format_last_line,
    .visit = format_visit_columns,
    .encode = format_encode_plain,
};
