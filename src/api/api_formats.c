/* api_formats.c - tem_format of tem.h, and records for the command. */
#include "core/status.h"
#include "job/record_texts.h"
#include "records/format.h"

#include <string.h>

const char *tem_format_at(unsigned i, tem_format *format, int *has_fields, const char **meaning) {
    const record_format *found = format_at(i);
    if (found == NULL)
        return NULL;
    if (format != NULL)
        *format = found->id;
    if (has_fields != NULL)
        *has_fields = found->has_fields;
    if (meaning != NULL)
        *meaning = found->meaning;
    return found->name;
}

const char *tem_format_name(tem_format format) {
    const record_format *found = format_find(format);
    return found == NULL ? "unknown" : found->name;
}

tem_status tem_format_parse(const char *name, tem_format *format, tem_error *error) {
    if (name == NULL || format == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a name and a place for the format are needed");
    for (unsigned i = 0; format_at(i) != NULL; i++)
        if (strcmp(format_at(i)->name, name) == 0) {
            *format = format_at(i)->id;
            return TEM_OK;
        }
    return format_refuse_unknown(name, error);
}

tem_status tem_records_read(const tem_records *records, tem_record_fn *take, void *context,
                            const tem_run *run, tem_error *error) {
    if (records == NULL || records->path == NULL || take == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "records and a function to take them are needed");
    return record_texts_read(records, take, context, run, error);
}
