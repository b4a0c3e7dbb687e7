/* record_fields.h - which fields the records of a run have, for the report: all names, and what the
 * values of the first records look like. */
#ifndef JOB_RECORD_FIELDS_H
#define JOB_RECORD_FIELDS_H

#include "job/record_run.h"

enum { RECORD_FIELDS_LOOK = 1000 }; /* the values of so many records are looked at */

/* Notes the columns of a header, and appends the header without its dropped columns to out.
 * TEM_ERR_FORMAT, TEM_ERR_MEMORY. */
tem_status record_fields_header(record_run *r, const char *header, size_t size, core_buffer *out,
                                tem_error *error);

/* Looks at the first records of a run, if they are in the current batch. Does not fail: records
 * that cannot be read fail later. */
void record_fields_look(record_run *r);

/* A record_watch that notes the JSON keys of a record in a tem_fields. */
tem_status record_fields_note(void *fields, const char *record, const record_field *field,
                              unsigned roles, tem_error *error);

/* Where the first record decides: TEM_ERR_FORMAT if the current batch has the first record of the
 * run, and that record lacks a field to leave out. TEM_ERR_MEMORY. A record that cannot be read
 * fails later.
 * PRIVACY: a mistyped name leaves nothing out. Where tem cannot read the input twice, and cannot
 * take back what it wrote, it must know before the first byte. */
tem_status record_fields_check_first(const record_run *r, tem_error *error);

/* TEM_ERR_FORMAT if the run had records, and none had one of the fields to leave out: the name may
 * be mistyped. */
tem_status record_fields_check_dropped(const record_run *r, tem_error *error);

#endif
