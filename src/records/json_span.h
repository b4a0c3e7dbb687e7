/* json_span.h - finds the fields of a JSON object, as spans of bytes.
 *
 * The scanner validates the whole record (RFC 8259: UTF-8, nothing after the object, nesting up to
 * JSON_DEPTH_MAX), so that it finds the fields where every other reader finds them. */
#ifndef RECORDS_JSON_SPAN_H
#define RECORDS_JSON_SPAN_H

#include "records/format.h"

enum { JSON_DEPTH_MAX = 1024 };

/* Calls `visit` for each member of the object, in order. TEM_ERR_FORMAT with `byte` set if the
 * record is not a JSON object, or as `visit` fails. */
tem_status json_visit(const char *record, size_t size, record_visit *visit, void *context,
                      tem_error *error);

/* Appends the characters of a JSON string to out. string: as json_visit found it, quotes included.
 * TEM_ERR_FORMAT for an escaped surrogate without its other half, TEM_ERR_MEMORY. */
tem_status json_decode(const char *string, size_t size, core_buffer *out, tem_error *error);

/* Appends a UTF-8 text to out as a JSON string, quotes included. TEM_ERR_MEMORY. */
tem_status json_encode(const char *text, size_t bytes, core_buffer *out, tem_error *error);

#endif
