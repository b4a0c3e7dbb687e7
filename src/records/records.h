/* records.h - finds the fields in a stream of records.
 *
 * A stream is text (each line is a document), TSV or CSV (RFC 4180; the first record names the
 * fields), or JSONL (each line is an object). A job names the fields that are private, those that
 * tem leaves out, and the one that names people. The other fields, and the bytes between fields,
 * stay as they are. The line end is not part of a record. A blank line is a record in text; in the
 * other formats it is not a record.
 *
 * PRIVACY: tem refuses what it does not understand in full, since a field that it does not find is
 * a field that it does not replace. So it refuses an unclosed quote, a record with another number
 * of fields than the header, and a named JSON key that occurs twice, however it is escaped. */
#ifndef RECORDS_RECORDS_H
#define RECORDS_RECORDS_H

#include "core/buffer.h"
#include "records/near_field.h"
#include "tem.h"

#include <stdbool.h>

/* One format of records: format.h. */
typedef struct record_format record_format;
extern const record_format format_text, format_tsv, format_csv, format_jsonl;

/* format_find returns the format with this id, or NULL if there is none. format_at returns number i
 * of all formats, from 0, or NULL beyond the last. */
const record_format *format_find(tem_format id);
const record_format *format_at(unsigned i);

/* Returns TEM_ERR_ARGUMENT with a message that names all formats, and the one that may be meant.
 *   typed   what the user typed; "" if that is not known */
tem_status format_refuse_unknown(const char *typed, tem_error *error);

typedef enum record_role {
    RECORD_TEXT = 1,   /* private: tem replaces it */
    RECORD_PERSON = 2, /* names the person, or the group, of the record; also a dropped field may */
    RECORD_DROPPED = 4 /* tem leaves it out; a JSON object may lack it */
} record_role;

#define RECORD_NO_COLUMN UINT32_MAX

/* A field that a job names. */
typedef struct record_name {
    const char *name; /* NULL: plain text, the whole record */
    record_role role;
    bool may_be_missing; /* dropped: it is no mistake if no record has it */
    uint32_t column; /* TSV, CSV, from the header: its place, from 0; RECORD_NO_COLUMN: not there */
} record_name;

enum { RECORD_NAMES_MAX = 256 };

typedef struct record_reader {
    const record_format *format;
    char delimiter; /* CSV: the byte between fields; 0: the header decides */
    record_name names[RECORD_NAMES_MAX];
    uint32_t name_count;
    uint32_t columns; /* TSV, CSV, from the header: the number of fields */
    uint32_t dropped; /* ... of which so many are left out */
} record_reader;

/* How a field is written in the input. */
typedef enum record_quoting {
    RECORD_PLAIN,      /* as it is: text, TSV */
    RECORD_CSV,        /* CSV without quotes */
    RECORD_CSV_QUOTED, /* CSV within quotes, which are part of the span */
    RECORD_JSON,       /* a JSON string, its quotes included */
    RECORD_NUMBER,     /* JSON: a whole number, which may name a person */
    RECORD_NOTHING,    /* JSON null: no text */
    RECORD_OTHER       /* any other JSON value */
} record_quoting;

typedef struct record_span {
    size_t start, end;
    record_quoting quoting;
} record_span;

/* One field of a record, named or not. */
typedef struct record_field {
    size_t start;      /* where it begins: its JSON key, else its value */
    record_span key;   /* JSON: the key, its quotes included; else empty */
    record_span value; /* the field ends where its value ends */
    uint32_t column;   /* its place in the record, from 0 */
} record_field;

/* A named field of a record. To leave it out, leave out the bytes from cut_start to cut_end: the
 * field and one separator. If no field before it stays, that is the separator after it. */
typedef struct record_part {
    uint32_t name; /* index in the names of the reader */
    record_span value;
    size_t cut_start, cut_end;
} record_part;

/* Called for each field of a record, in order. roles: those of all its names; 0: it stays as it
 * is. */
typedef tem_status record_watch(void *context, const char *record, const record_field *field,
                                unsigned roles, tem_error *error);

/* Finds the end of the field that starts at `at`, and how the field is written. TEM_ERR_FORMAT with
 * `byte` set. */
typedef tem_status record_field_end(char delimiter, const char *record, size_t size, size_t at,
                                    record_span *span, tem_error *error);

/* Adds a field that the job names. TEM_ERR_ARGUMENT if there are more than RECORD_NAMES_MAX names,
 * or if the field has a role already that excludes this one: a person may be dropped, nothing
 * else may have two roles. */
tem_status records_add_name(record_reader *r, const char *name, record_role role, tem_error *error);

/* TEM_ERR_ARGUMENT if the delimiter of the reader is not one of its format, or could be part of a
 * word, a number or a quoted field. */
tem_status records_check_delimiter(const record_reader *r, tem_error *error);

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

/* Whether records have fields, which the job names; and whether the first record names them. */
bool records_have_fields(const record_reader *r);
bool records_have_header(const record_reader *r);

/* Finds the named fields in the header, which is given without its line end; in CSV also the
 * delimiter, if it is not known. TEM_ERR_FORMAT if a field is missing that may not be, or occurs
 * twice, or if the
 * header has the fields with more than one delimiter; TEM_ERR_MEMORY. Only where records have a
 * header. */
tem_status records_header(record_reader *r, const char *record, size_t size, tem_error *error);

/* Finds the named fields of a record, which is given without its line end. parts receives a
 * record_part for each, in the order of the record; unspecified after a failure. watch, unless it
 * is NULL, sees every field. TEM_ERR_FORMAT with `byte` set where it is known, TEM_ERR_MEMORY, or
 * as watch fails. */
tem_status records_split(const record_reader *r, const char *record, size_t size,
                         core_buffer *parts, record_watch *watch, void *context, tem_error *error);

/* Says which member of a JSON object a name of the reader may mean, as near_field_say does. */
bool records_near_key(const record_reader *r, const char *record, size_t size, uint32_t name,
                      char text[NEAR_FIELD_TEXT_BYTES]);

/* Returns part i of records_split. */
const record_part *records_part(const core_buffer *parts, size_t i);
size_t records_part_count(const core_buffer *parts);

/* Appends the text of a span, unquoted, to out; nothing for null. TEM_ERR_MEMORY, or TEM_ERR_FORMAT
 * for a JSON string that is not valid. */
tem_status records_decode(const record_span *span, const char *record, core_buffer *out,
                          tem_error *error);

/* Appends a text to out, as the field of a record. CSV gets quotes only if the text has a
 * delimiter, a quote or a line end, or if it is empty and the only field, since a blank line is not
 * a record. TEM_ERR_MEMORY.
 * PRIVACY: this function does not know how the field was written in the input, so the output cannot
 * show it. */
tem_status records_encode(const record_reader *r, const char *text, size_t bytes, core_buffer *out,
                          tem_error *error);

#endif
