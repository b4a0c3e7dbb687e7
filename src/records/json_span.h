/* json_span.h - one field of a JSON object, as a span of bytes.
 *
 * The whole record is validated (RFC 8259: UTF-8, nothing after the object, nesting up to
 * JSON_DEPTH_MAX), so that the field is found where every other reader finds it. */
#ifndef RECORDS_JSON_SPAN_H
#define RECORDS_JSON_SPAN_H

#include "records/records.h"

enum { JSON_DEPTH_MAX = 1024 };

/* The value of the top-level key `field`: a string, or null. TEM_ERR_FORMAT with `byte` if
 * the record is not a JSON object, the key is missing or there twice, or its value is
 * something else. */
tem_status json_span(const char *record, size_t size, const char *field, record_span *span,
                     tem_error *error);

/* The same for the field that names a person: a string, or a whole number, of which the span
 * is plain. */
tem_status json_person(const char *record, size_t size, const char *field, record_span *span,
                       tem_error *error);

/* The characters of a JSON string that json_span found, quotes included, appended to
 * out. TEM_ERR_FORMAT for an escaped surrogate without its other half. */
tem_status json_decode(const char *string, size_t size, core_buffer *out, tem_error *error);

/* UTF-8 as a JSON string, quotes included, appended to out. */
tem_status json_encode(const char *text, size_t bytes, core_buffer *out, tem_error *error);

#endif
