/* records.h - where the text is in a stream of records.
 *
 * A stream is text (each line a document), TSV or CSV (RFC 4180; the first record names
 * the fields), or JSONL (an object a line). Of each record one field is private and is
 * replaced; the other fields, and the bytes between fields, stay as they are. The line end is no
 * part of a record. A blank line is a record of text, and none of the other formats.
 *
 * PRIVACY: what is not understood in full is refused, since a field that is not found is
 * a field that is not replaced: an unclosed quote, a record with another number of
 * fields than the header, a JSON key that occurs twice, however it is escaped.
 *
 * A second reader, with `person` set, finds the field that tells whose record it is. */
#ifndef RECORDS_RECORDS_H
#define RECORDS_RECORDS_H

#include "core/buffer.h"
#include "tem.h"

#include <stdbool.h>

/* How records are written: format.h. */
typedef struct record_format record_format;
extern const record_format format_text, format_tsv, format_csv, format_jsonl;

/* The format with this number, or NULL. The i-th of all, from 0, or NULL beyond the last. */
const record_format *format_find(tem_format id);
const record_format *format_at(unsigned i);

/* TEM_ERR_ARGUMENT, with the names that there are. */
tem_status format_refuse_unknown(tem_error *error);

typedef struct record_reader {
    const record_format *format;
    const char *field; /* its name; NULL for text */
    bool person;       /* the field is not the private one but that which names a person */

    /* TSV, CSV: from the header. */
    uint32_t columns, column;
} record_reader;

/* How the private span of a record is written in the input. */
typedef enum record_quoting {
    RECORD_PLAIN,      /* text, TSV: as it is */
    RECORD_CSV,        /* CSV without quotes */
    RECORD_CSV_QUOTED, /* CSV within quotes, which are part of the span */
    RECORD_JSON,       /* a JSON string, its quotes included */
    RECORD_NOTHING     /* JSON null: there is no text */
} record_quoting;

typedef struct record_span {
    size_t start, end;
    record_quoting quoting;
} record_span;

/* The end of the field that starts at `at`, and how it is written. TEM_ERR_FORMAT with `byte`. */
typedef tem_status record_field_end(const char *record, size_t size, size_t at, record_span *span,
                                    tem_error *error);

/* The bytes at the beginning of `data` that are whole records, with their line ends. The
 * rest is the beginning of a record; if at_end it is the last one, and all bytes are
 * returned. */
size_t records_whole(const record_reader *r, const char *data, size_t size, bool at_end);

/* The length of the first record of data, its line end included; data holds whole
 * records and is not empty. *content receives the length without the line end, which is LF, CR LF
 * or the end of the data, and in JSONL also any number of CR. */
size_t records_first(const record_reader *r, const char *data, size_t size, size_t *content);

/* Whether a line of this length, without its end, is blank and no record. A blank line of text is
 * one, of no words. */
bool records_is_blank(const record_reader *r, size_t content);

/* Whether records have fields, of which one is private; and whether the first record names them. */
bool records_have_fields(const record_reader *r);
bool records_have_header(const record_reader *r);

/* Takes the header, without its line end: finds the field. TEM_ERR_FORMAT if it is not
 * there, or twice. Only where records have a header. */
tem_status records_header(record_reader *r, const char *record, size_t size, tem_error *error);

/* The private span of a record, without its line end. TEM_ERR_FORMAT with `byte` set. */
tem_status records_span(const record_reader *r, const char *record, size_t size, record_span *span,
                        tem_error *error);

/* The text within a span, unquoted, appended to out; nothing for null. TEM_ERR_MEMORY, or
 * TEM_ERR_FORMAT for a JSON string that is not valid. */
tem_status records_decode(const record_span *span, const char *record, core_buffer *out,
                          tem_error *error);

/* A text as the field of a record, appended to out: in CSV quoted only where it has a comma, a
 * quote or a line end, or is empty and the only field, since a blank line is no record.
 * PRIVACY: how the field was written in the input is not known here, so it cannot show.
 * TEM_ERR_MEMORY. */
tem_status records_encode(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                          tem_error *error);

#endif
