/* format.h - one interface for all record formats.
 *
 * A format is one file, format_NAME.c, and one line in formats.c. The rest of tem looks at the
 * fields below and never compares formats. So code that does not know a format handles it through
 * the functions of the format, or refuses it. Such code never takes the format for lines of
 * text. */
#ifndef RECORDS_FORMAT_H
#define RECORDS_FORMAT_H

#include "records/records.h"

/* Called for each field of a record. */
typedef tem_status record_visit(void *context, const record_field *field, tem_error *error);

struct record_format {
    tem_format id;
    const char *name;    /* as the user writes it */
    const char *meaning; /* one line for help texts */

    bool has_fields;        /* records have named fields; else the whole record is private */
    bool blank_is_record;   /* a blank line is a record without words; else it is not a record */
    bool ignores_returns;   /* any number of carriage returns at the end of a record is ignored */
    const char *delimiters; /* the bytes that may stand between fields, if the job names none */
    bool has_own_delimiter; /* the job may name another one */
    record_field_end *columns; /* finds the end of a field, where the first record names the
                                * fields and all records have as many; else NULL */

    /* first_end returns the end of the first record, its line end included, or `size` if it does
     * not end. last_end returns the end of the last record that ends, or 0 if none ends. */
    size_t (*first_end)(const char *data, size_t size);
    size_t (*last_end)(const char *data, size_t size);

    /* Calls `visit` for each field of a record, in order, and stops at the first failure. Validates
     * the whole record. TEM_ERR_FORMAT, TEM_ERR_MEMORY, and the failures of `visit`. */
    tem_status (*visit)(const record_reader *r, const char *record, size_t size,
                        record_visit *visit, void *context, tem_error *error);

    /* See records_encode. */
    tem_status (*encode)(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                         tem_error *error);
};

/* ---- shared by several formats ---- */

/* first_end and last_end, for formats in which a record is a line. */
size_t format_first_line(const char *data, size_t size);
size_t format_last_line(const char *data, size_t size);

/* encode, for formats that write a text as it is. */
tem_status format_encode_plain(const record_reader *r, const char *text, size_t bytes,
                               core_buffer *out, tem_error *error);

/* visit, for formats that have `columns`. */
tem_status format_visit_columns(const record_reader *r, const char *record, size_t size,
                                record_visit *visit, void *context, tem_error *error);

/* Says which field a name of the reader stands for, for messages: by its role and number. Returns
 * `text`. */
enum { FORMAT_FIELD_BYTES = 80 };
const char *format_name_field(const record_reader *r, uint32_t name, char text[FORMAT_FIELD_BYTES]);

/* Returns the offset just after the quote that closes the quote at `at`, or size + 1 if no quote
 * closes it. A doubled quote does not close the quote at `at`. */
size_t format_quoted_end(const char *record, size_t size, size_t at);

/* Returns TEM_ERR_FORMAT with the message `what`. byte: the offset in the record, from 0. */
tem_status format_refuse(tem_error *error, size_t byte, const char *what);

/* Refuses a carriage return at an offset of the record.
 * PRIVACY: programs differ in what a carriage return alone means. Where that would move the borders
 * of the private field, tem refuses it. */
tem_status format_refuse_return(tem_error *error, size_t byte);

/* Appends the text of a quoted CSV field to out. text: the bytes between the quotes. Returns false
 * if there is no memory. */
bool format_decode_csv(const char *text, size_t bytes, core_buffer *out);

#endif
