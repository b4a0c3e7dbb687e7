/* fields.h - the fields of the records of a run, and what the run did with them.
 *
 * PRIVACY: a list has names of fields and no values. What a value looks like is counted, and the
 * value is not kept. */
#ifndef RECORDS_FIELDS_H
#define RECORDS_FIELDS_H

#include "core/buffer.h"
#include "records/personal.h"
#include "tem.h"

#include <stdbool.h>

enum { FIELDS_MAX = TEM_FIELDS_MAX };

typedef struct fields_entry {
    size_t start, bytes; /* of its name, which NUL follows */
    tem_field_use use;
    personal_tally tally;
} fields_entry;

struct tem_fields {
    core_buffer names;
    core_buffer entries; /* fields_entry, in the order in which they were found */
    bool more;           /* there were more than FIELDS_MAX */
    size_t next;         /* the entry that probably comes next: records often have equal fields */
};

/* Returns the name of a use, or NULL if there is no such use. */
const char *fields_use_name(tem_field_use use);

/* Finds a field by its name, or appends it; *index receives its place, or FIELDS_MAX if the list is
 * full. A field that was found keeps its use. TEM_ERR_MEMORY. Takes constant time if fields come in
 * the order in which they were added. */
tem_status fields_find(tem_fields *f, const char *name, size_t bytes, tem_field_use use,
                       size_t *index, tem_error *error);

/* Adds a field at the end, also if the list has one of this name; does nothing but note that there
 * are more if the list is full. TEM_ERR_MEMORY. */
tem_status fields_append(tem_fields *f, const char *name, size_t bytes, tem_field_use use,
                         tem_error *error);

/* Adds the fields of another list, in their order. TEM_ERR_MEMORY. */
tem_status fields_merge(tem_fields *f, const tem_fields *added, tem_error *error);

/* Field i as the caller sees it; the list has it. */
tem_field fields_get(const tem_fields *f, size_t i);

fields_entry *fields_at(const tem_fields *f, size_t i);
size_t fields_count(const tem_fields *f);
const char *fields_name(const tem_fields *f, size_t i);

/* Makes the list empty; and frees its memory, but not the list itself. */
void fields_clear(tem_fields *f);
void fields_free(tem_fields *f);

#endif
