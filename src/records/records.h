/* records.h - finds the text in a stream of records.
 *
 * A stream is text (each line is a document), TSV or CSV (RFC 4180; the first record names the
 * fields), or JSONL (each line is an object). In each record one field is private, and tem replaces
 * it. The other fields, and the bytes between fields, stay as they are. The line end is not part of
 * a record. A blank line is a record in text; in the other formats it is not a record.
 *
 * PRIVACY: tem refuses what it does not understand in full, since a field that it does not find is
 * a field that it does not replace. So it refuses an unclosed quote, a record with another number
 * of fields than the header, and a JSON key that occurs twice, however it is escaped.
 *
 * A second reader, with `person` set, finds the field that names the person, or the group, of a
 * record. */
#ifndef RECORDS_RECORDS_H
#define RECORDS_RECORDS_H

#include "core/buffer.h"
#include "tem.h"

#include <stdbool.h>

/* One format of records: format.h. */
typedef struct record_format record_format;
extern const record_format format_text, format_tsv, format_csv, format_jsonl;

/* format_find returns the format with this id, or NULL if there is none. format_at returns number i
 * of all formats, from 0, or NULL beyond the last. */
const record_format *format_find(tem_format id);
const record_format *format_at(unsigned i);

/* Returns TEM_ERR_ARGUMENT with a message that names all formats. */
tem_status format_refuse_unknown(tem_error *error);

typedef struct record_reader {
    const record_format *format;
    const char *field; /* its name; NULL for text */
    bool person;       /* the field is not the private one; it names a person or group */

    /* TSV, CSV, from the header: the number of fields, and the place of this field among them, from
     * 0. */
    uint32_t columns, column;
} record_reader;

/* How a field is written in the input. */
typedef enum record_quoting {
    RECORD_PLAIN,      /* as it is: text, TSV, a number in JSON that names a person */
    RECORD_CSV,        /* CSV without quotes */
    RECORD_CSV_QUOTED, /* CSV within quotes, which are part of the span */
    RECORD_JSON,       /* a JSON string, its quotes included */
    RECORD_NOTHING     /* JSON null: no text */
} record_quoting;

typedef struct record_span {
    size_t start, end;
    record_quoting quoting;
} record_span;

/* Finds the end of the field that starts at `at`, and how the field is written. TEM_ERR_FORMAT with
 * `byte` set. */
typedef tem_status record_field_end(const char *record, size_t size, size_t at, record_span *span,
                                    tem_error *error);

/* Returns how many bytes at the beginning of `data` are whole records, line ends included. The rest
 * is the beginning of a record. If at_end, the rest is the last record: returns `size`. */
size_t records_whole(const record_reader *r, const char *data, size_t size, bool at_end);

/* Returns the length of the first record of data, its line end included. data holds whole records
 * and is not empty. *content receives the length without the line end, which is LF, CR LF or the
 * end of the data; in JSONL any number of CR before it belongs to it. */
size_t records_first(const record_reader *r, const char *data, size_t size, size_t *content);

/* Whether a line is blank and not a record. content: its length without the line end. In text a
 * blank line is a record, without words. */
bool records_is_blank(const record_reader *r, size_t content);

/* Whether records have fields, one of them private; and whether the first record names them. */
bool records_have_fields(const record_reader *r);
bool records_have_header(const record_reader *r);

/* Finds the field in the header, which is given without its line end. TEM_ERR_FORMAT if the field
 * is missing or occurs twice, TEM_ERR_MEMORY. Only where records have a header. */
tem_status records_header(record_reader *r, const char *record, size_t size, tem_error *error);

/* Finds the field of the reader in a record, which is given without its line end. TEM_ERR_FORMAT
 * with `byte` set where it is known, TEM_ERR_MEMORY. */
tem_status records_span(const record_reader *r, const char *record, size_t size, record_span *span,
                        tem_error *error);

/* Appends the text of a span, unquoted, to out; nothing for null. TEM_ERR_MEMORY, or TEM_ERR_FORMAT
 * for a JSON string that is not valid. */
tem_status records_decode(const record_span *span, const char *record, core_buffer *out,
                          tem_error *error);

/* Appends a text to out, as the field of a record. CSV gets quotes only if the text has a comma, a
 * quote or a line end, or if it is empty and the only field, since a blank line is not a record.
 * TEM_ERR_MEMORY.
 * PRIVACY: this function does not know how the field was written in the input, so the output cannot
 * show it. */
tem_status records_encode(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                          tem_error *error);

#endif
