/* api_fields.c - tem_fields of tem.h: which fields a run released unchanged. */
#include "core/memory.h"
#include "core/status.h"
#include "records/fields.h"

#include <string.h>

tem_status tem_fields_create(tem_fields **fields, tem_error *error) {
    if (fields == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the fields is needed");
    tem_fields *made = core_alloc_zero(1, sizeof *made);
    if (made == NULL)
        return core_fail_memory(error);
    *fields = made;
    return TEM_OK;
}

tem_status tem_fields_add(tem_fields *fields, const char *name, size_t bytes, tem_field_use use,
                          size_t *index, tem_error *error) {
    if (fields == NULL || (name == NULL && bytes > 0) || fields_use_name(use) == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "fields, a name and its use are needed");
    size_t found = 0;
    const tem_status status = fields_find(fields, name, bytes, use, &found, error);
    if (status == TEM_OK && index != NULL)
        *index = found;
    return status;
}

void tem_fields_look(tem_fields *fields, size_t i, const char *value, size_t bytes) {
    if (fields != NULL && value != NULL && i < fields_count(fields))
        personal_look(&fields_at(fields, i)->tally, value, bytes);
}

size_t tem_fields_count(const tem_fields *fields) {
    return fields == NULL ? 0 : fields_count(fields);
}

int tem_fields_have_more(const tem_fields *fields) {
    return fields != NULL && fields->more;
}

int tem_fields_at(const tem_fields *fields, size_t i, tem_field *field) {
    if (fields == NULL || field == NULL || i >= fields_count(fields))
        return 0;
    *field = fields_get(fields, i);
    return 1;
}

void tem_fields_free(tem_fields *fields) {
    if (fields != NULL)
        fields_free(fields);
    core_free(fields);
}

const char *tem_field_use_name(tem_field_use use) {
    const char *name = fields_use_name(use);
    return name == NULL ? "unknown" : name;
}

tem_status tem_field_use_parse(const char *name, tem_field_use *use, tem_error *error) {
    if (name == NULL || use == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a name and a place for the use are needed");
    for (tem_field_use found = TEM_FIELD_UNCHANGED; fields_use_name(found) != NULL; found++)
        if (strcmp(fields_use_name(found), name) == 0) {
            *use = found;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT, "a field is unchanged, private or dropped");
}
