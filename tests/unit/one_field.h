/* one_field.h - records with one private field, for tests. */
#ifndef UNIT_ONE_FIELD_H
#define UNIT_ONE_FIELD_H

#include "records/records.h"

/* A reader whose only named field is private. CSV has commas, TSV tabs. */
static inline record_reader one_field(const record_format *format, const char *field) {
    return (record_reader){.format = format,
                           .delimiter = format == &format_csv   ? ','
                                        : format == &format_tsv ? '\t'
                                                                : '\0',
                           .names = {{.name = field, .role = RECORD_TEXT}},
                           .name_count = 1};
}

/* Finds that field in a record. On failure *span is untouched. */
static inline tem_status find_one(const record_reader *r, const char *record, size_t size,
                                  record_span *span, tem_error *error) {
    core_buffer parts = {0};
    const tem_status status = records_split(r, record, size, &parts, NULL, NULL, error);
    if (status == TEM_OK)
        *span = records_part(&parts, 0)->value;
    core_buffer_free(&parts);
    return status;
}

#endif
