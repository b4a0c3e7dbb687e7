/* json_span.h - finds one field of a JSON object, as a span of bytes.
 *
 * The scanner validates the whole record (RFC 8259: UTF-8, nothing after the object, nesting up to
 * JSON_DEPTH_MAX), so that it finds the field where every other reader finds it. */
#ifndef RECORDS_JSON_SPAN_H
#define RECORDS_JSON_SPAN_H

#include "records/records.h"

enum { JSON_DEPTH_MAX = 1024 };

/* Finds the value of the top-level key `field`: a string or null. TEM_ERR_FORMAT with `byte` set if
 * the record is not a JSON object, the key is missing or occurs twice, or its value is something
 * else. TEM_ERR_MEMORY. */
tem_status json_span(const char *record, size_t size, const char *field, record_span *span,
                     tem_error *error);

/* The same for the field that names a person: a string or a whole number. The span of a number is
 * RECORD_PLAIN. */
tem_status json_person(const char *record, size_t size, const char *field, record_span *span,
                       tem_error *error);

/* Appends the characters of a JSON string to out. string: as json_span found it, quotes included.
 * TEM_ERR_FORMAT for an escaped surrogate without its other half, TEM_ERR_MEMORY. */
tem_status json_decode(const char *string, size_t size, core_buffer *out, tem_error *error);

/* Appends a UTF-8 text to out as a JSON string, quotes included. TEM_ERR_MEMORY. */
tem_status json_encode(const char *text, size_t bytes, core_buffer *out, tem_error *error);

#endif
