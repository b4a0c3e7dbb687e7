/* record_fields.c - which fields the records of a run have, for the report. */
#include "job/record_fields.h"

#include "core/status.h"

#include <string.h>

enum { LOOK_BYTES = 4096 }; /* of a value */

static tem_field_use use_of(unsigned roles) {
    return (roles & RECORD_TEXT) != 0      ? TEM_FIELD_PRIVATE
           : (roles & RECORD_DROPPED) != 0 ? TEM_FIELD_DROPPED
                                           : TEM_FIELD_UNCHANGED;
}

/* A record_watch for the header: columns keep their places, also if two have the same name. */
static tem_status note_column(void *fields, const char *record, const record_field *field,
                              unsigned roles, tem_error *error) {
    core_buffer name = {0};
    tem_status status = records_decode(&field->value, record, &name, error);
    if (status == TEM_OK)
        status = fields_append(fields, name.data, name.size, use_of(roles), error);
    core_buffer_free(&name);
    return status;
}

tem_status record_fields_header(record_run *r, const char *header, size_t size, core_buffer *out,
                                tem_error *error) {
    core_buffer parts = {0};
    size_t at = 0;
    tem_status status = records_split(&r->reader, header, size, &parts,
                                      r->fields != NULL ? note_column : NULL, r->fields, error);
    bool done = true;
    for (size_t i = 0; status == TEM_OK && i < records_part_count(&parts); i++) {
        const record_part *part = records_part(&parts, i);
        if (r->reader.names[part->name].role != RECORD_DROPPED)
            continue;
        done = done && core_buffer_add(out, header + at, part->cut_start - at);
        at = part->cut_end;
    }
    if (status == TEM_OK && !(done && core_buffer_add(out, header + at, size - at)))
        status = core_fail_memory(error);
    core_buffer_free(&parts);
    return status;
}

/* Finds the entry of a JSON member. */
static tem_status find_member(tem_fields *fields, const char *record, const record_field *field,
                              unsigned roles, size_t *index, tem_error *error) {
    const char *key = record + field->key.start;
    const size_t bytes = field->key.end - field->key.start;
    if (memchr(key, '\\', bytes) == NULL)
        return fields_find(fields, key + 1, bytes - 2, use_of(roles), index, error);
    core_buffer name = {0};
    tem_status status = records_decode(&field->key, record, &name, error);
    if (status == TEM_OK)
        status = fields_find(fields, name.data, name.size, use_of(roles), index, error);
    core_buffer_free(&name);
    return status;
}

tem_status record_fields_note(void *fields, const char *record, const record_field *field,
                              unsigned roles, tem_error *error) {
    size_t index = 0;
    return find_member(fields, record, field, roles, &index, error);
}

/* A record_watch that looks at the value of a field that stays as it is. */
static tem_status look_at_field(void *run, const char *record, const record_field *field,
                                unsigned roles, tem_error *error) {
    const record_run *r = run;
    size_t index = field->column;
    core_buffer value = {0};
    tem_status status = TEM_OK;
    if (!records_have_header(&r->reader))
        status = find_member(r->fields, record, field, roles, &index, error);
    if (status != TEM_OK || use_of(roles) != TEM_FIELD_UNCHANGED ||
        index >= fields_count(r->fields))
        return status;
    personal_tally *tally = &fields_at(r->fields, index)->tally;
    const size_t bytes = field->value.end - field->value.start;
    const bool is_raw = field->value.quoting == RECORD_OTHER || bytes > LOOK_BYTES;
    if (!is_raw)
        status = records_decode(&field->value, record, &value, error);
    if (is_raw)
        personal_look(tally, record + field->value.start, bytes < LOOK_BYTES ? bytes : LOOK_BYTES);
    else if (status == TEM_OK && value.size > 0)
        personal_look(tally, value.data, value.size);
    core_buffer_free(&value);
    return status;
}

void record_fields_look(record_run *r) {
    core_buffer parts = {0};
    if (r->fields == NULL || !records_have_fields(&r->reader))
        return;
    for (size_t i = 0; i < record_run_count(r) && r->looked < RECORD_FIELDS_LOOK; i++) {
        const record_view *record = record_run_at(r, i);
        records_split(&r->reader, record->bytes, record->size, &parts, look_at_field, r, NULL);
        r->looked++;
    }
    core_buffer_free(&parts);
}

/* Whether every field to leave out that may not be missing was found. */
static bool has_dropped(const record_reader *r, const bool *found) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (r->names[i].role == RECORD_DROPPED && !r->names[i].may_be_missing && !found[i])
            return false;
    return true;
}

/* Notes in `found` which names a record has; all, if it cannot be read. `near` receives what a
 * missing name may mean. */
static tem_status find_names(const record_reader *r, const record_view *record,
                             bool found[RECORD_NAMES_MAX], char near[NEAR_FIELD_TEXT_BYTES],
                             tem_error *error) {
    core_buffer parts = {0};
    const tem_status status =
        records_split(r, record->bytes, record->size, &parts, NULL, NULL, error);
    memset(found, status != TEM_OK, RECORD_NAMES_MAX * sizeof *found);
    for (size_t i = 0; status == TEM_OK && i < records_part_count(&parts); i++)
        found[records_part(&parts, i)->name] = true;
    core_buffer_free(&parts);
    near[0] = '\0';
    for (uint32_t i = 0; status == TEM_OK && i < r->name_count && near[0] == '\0'; i++)
        if (!found[i] && r->names[i].role == RECORD_DROPPED && !r->names[i].may_be_missing)
            records_near_key(r, record->bytes, record->size, i, near);
    return status == TEM_ERR_FORMAT ? TEM_OK : status;
}

tem_status record_fields_check_first(const record_run *r, tem_error *error) {
    bool found[RECORD_NAMES_MAX];
    char near[NEAR_FIELD_TEXT_BYTES];
    const size_t count = record_run_count(r);
    if (!r->first_decides || count == 0 || r->documents > count)
        return TEM_OK;
    TRY(find_names(&r->reader, record_run_at(r, 0), found, near, error));
    if (has_dropped(&r->reader, found))
        return TEM_OK;
    record_place place = r->chunks[0].place;
    const char *data = r->chunks[0].data; /* blank lines may stand before the first record */
    record_place_pass(&place, data, (size_t)(record_run_at(r, 0)->bytes - data));
    if (near[0] != '\0')
        return core_fail_at(error, TEM_ERR_FORMAT, place.path, place.line, 0,
                            "the first record lacks a field that is to be left out%s", near);
    return core_fail_at(error, TEM_ERR_FORMAT, place.path, place.line, 0,
                        "the first record lacks a field that is to be left out (names are "
                        "case-sensitive), and a pipe cannot be searched for it before the release");
}

/* Which of the names that the records have the first missing one may mean. */
static bool find_near(const record_run *r, char text[NEAR_FIELD_TEXT_BYTES]) {
    uint32_t missing = 0;
    while (missing < r->reader.name_count &&
           (r->reader.names[missing].role != RECORD_DROPPED ||
            r->reader.names[missing].may_be_missing || r->found[missing]))
        missing++;
    if (r->fields == NULL || missing == r->reader.name_count)
        return false;
    near_field near = near_field_for(r->reader.names[missing].name);
    for (size_t i = 0; i < fields_count(r->fields); i++) {
        const tem_field field = fields_get(r->fields, i);
        near_field_look(&near, field.name, field.name_bytes);
    }
    return near_field_say(&near, text);
}

tem_status record_fields_check_dropped(const record_run *r, tem_error *error) {
    char near[NEAR_FIELD_TEXT_BYTES];
    if (records_have_header(&r->reader) || r->documents == 0 || has_dropped(&r->reader, r->found))
        return TEM_OK;
    if (find_near(r, near))
        return core_fail(error, TEM_ERR_FORMAT, "no record has a field that was to be left out%s",
                         near);
    return core_fail(error, TEM_ERR_FORMAT,
                     "no record has a field that was to be left out (names are case-sensitive)");
}
