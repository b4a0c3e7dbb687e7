/* format.h - one interface for all record formats.
 *
 * A format is one file, format_NAME.c, and one line in formats.c. The rest of tem asks the fields
 * below and never compares formats: one that a caller does not know is served by its functions or
 * refused, and is never taken for lines of text. */
#ifndef RECORDS_FORMAT_H
#define RECORDS_FORMAT_H

#include "records/records.h"

struct record_format {
    tem_format id;
    const char *name;    /* as the user writes it */
    const char *meaning; /* one line for help texts */

    bool has_fields;      /* records have named fields, of which one is private; else all of a
                                * record is */
    bool blank_is_record; /* a blank line is a record without words; else it is none */
    bool ignores_returns; /* carriage returns at the end of a record are blanks, however many */
    record_field_end *columns; /* where a field ends: the first record names the fields, and all
                                * have as many; or NULL */

    /* The end of the first record, its line end included; `size` if it does not end. And the end of
     * the last record that does; 0 if none does. */
    size_t (*first_end)(const char *data, size_t size);
    size_t (*last_end)(const char *data, size_t size);

    /* See records_span and records_encode. */
    tem_status (*find_field)(const record_reader *r, const char *record, size_t size,
                             record_span *span, tem_error *error);
    tem_status (*encode)(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                         tem_error *error);
};

/* ---- what several formats share ---- */

/* Records that end with their line. */
size_t format_first_line(const char *data, size_t size);
size_t format_last_line(const char *data, size_t size);

/* A field that is written as it is. */
tem_status format_encode_plain(const record_reader *r, const char *text, size_t bytes,
                               core_buffer *out, tem_error *error);

/* find_field for a format that has `columns`. */
tem_status format_find_column(const record_reader *r, const char *record, size_t size,
                              record_span *span, tem_error *error);

/* One past the quote that closes the one at `at`, a doubled one being none; size + 1 if no quote
 * does. */
size_t format_quoted_end(const char *record, size_t size, size_t at);

/* TEM_ERR_FORMAT at a byte of the record. */
tem_status format_refuse(tem_error *error, size_t byte, const char *what);

/* PRIVACY: programs differ in what a carriage return alone means. Where that would move the borders
 * of the private field, it is refused. */
tem_status format_refuse_return(tem_error *error, size_t byte);

/* What stands between the quotes of a field of CSV, appended to out; false without memory. */
bool format_decode_csv(const char *text, size_t bytes, core_buffer *out);

#endif
