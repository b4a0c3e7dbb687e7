/* columns.c - finds the fields that a header names, in TSV and CSV. */
#include "core/status.h"
#include "records/format.h"
#include "records/near_field.h"

#include <string.h>

tem_status records_check_delimiter(const record_reader *r, tem_error *error) {
    static const char allowed[] = "\t !#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    if (r->delimiter == '\0')
        return TEM_OK;
    if (!r->format->has_own_delimiter)
        return core_fail(error, TEM_ERR_ARGUMENT, "only CSV has a delimiter that can be named");
    if (strchr(allowed, r->delimiter) == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the delimiter is one ASCII character: punctuation without the double "
                         "quote, a space or a tab");
    return TEM_OK;
}

/* visit, without comparing the number of fields with the header. *columns receives it. */
static tem_status visit_columns(const record_reader *r, const char *record, size_t size,
                                record_visit *visit, void *context, uint32_t *columns,
                                tem_error *error) {
    record_field field = {.column = 0};
    for (;; field.column++) {
        TRY(r->format->columns(r->delimiter, record, size, field.start, &field.value, error));
        TRY(visit(context, &field, error));
        if (field.value.end >= size) {
            *columns = field.column + 1;
            return TEM_OK;
        }
        field.start = field.value.end + 1;
    }
}

tem_status format_visit_columns(const record_reader *r, const char *record, size_t size,
                                record_visit *visit, void *context, tem_error *error) {
    uint32_t columns = 0;
    TRY(visit_columns(r, record, size, visit, context, &columns, error));
    if (columns != r->columns)
        return core_fail_at(error, TEM_ERR_FORMAT, "", 0, 0,
                            "expected %u fields, as in the header, found %u", r->columns, columns);
    return TEM_OK;
}

/* The header with one delimiter. */
typedef struct header_search {
    record_reader *reader;
    const char *record;
    size_t size;
    unsigned char found[RECORD_NAMES_MAX]; /* how often each name occurs; at most 2 */
} header_search;

static tem_status look_at_name(void *context, const record_field *field, tem_error *error) {
    header_search *search = context;
    record_reader *r = search->reader;
    core_buffer name = {0};
    const tem_status status = records_decode(&field->value, search->record, &name, error);
    for (uint32_t i = 0; status == TEM_OK && i < r->name_count; i++) {
        const char *wanted = r->names[i].name;
        if (name.size != strlen(wanted) ||
            (name.size > 0 && memcmp(name.data, wanted, name.size) != 0))
            continue;
        r->names[i].column = field->column;
        search->found[i] = search->found[i] == 0 ? 1 : 2;
    }
    core_buffer_free(&name);
    return status;
}

/* Returns the first name that occurs more often than `most`, or that is missing and may not be;
 * name_count if there is none. */
static uint32_t first_bad(const header_search *search, unsigned most) {
    const record_reader *r = search->reader;
    for (uint32_t i = 0; i < r->name_count; i++)
        if (search->found[i] > most || (search->found[i] == 0 && !r->names[i].may_be_missing))
            return i;
    return r->name_count;
}

typedef struct near_search {
    const char *record;
    near_field near;
} near_search;

static tem_status look_near(void *context, const record_field *field, tem_error *error) {
    near_search *search = context;
    core_buffer name = {0};
    const tem_status status = records_decode(&field->value, search->record, &name, error);
    if (status == TEM_OK && name.size > 0)
        near_field_look(&search->near, name.data, name.size);
    core_buffer_free(&name);
    return status;
}

static tem_status find_near(const header_search *search, const char *wanted, bool *is_near,
                            char text[NEAR_FIELD_TEXT_BYTES], tem_error *error) {
    near_search near = {.record = search->record, .near = near_field_for(wanted)};
    uint32_t columns = 0;
    TRY(visit_columns(search->reader, search->record, search->size, look_near, &near, &columns,
                      error));
    *is_near = near_field_say(&near.near, text);
    return TEM_OK;
}

static tem_status refuse_name(const header_search *search, uint32_t bad, tem_error *error) {
    const record_reader *r = search->reader;
    char which[FORMAT_FIELD_BYTES], near[NEAR_FIELD_TEXT_BYTES];
    bool is_near = false;
    format_name_field(r, bad, which);
    if (search->found[bad] > 1)
        return core_fail_at(error, TEM_ERR_FORMAT, "", 0, 0,
                            "%s is twice in the header, which has %u fields", which, r->columns);
    TRY(find_near(search, r->names[bad].name, &is_near, near, error));
    if (is_near)
        return core_fail_at(error, TEM_ERR_FORMAT, "", 0, 0, "%s is not in the header%s", which,
                            near);
    return core_fail_at(
        error, TEM_ERR_FORMAT, "", 0, 0, "%s is not in the header, which has %u field%s (%s)",
        which, r->columns, r->columns == 1 ? "" : "s",
        strchr(r->names[bad].name, ',') != NULL ? "fields are named one by one"
        : r->columns > 1                        ? "case matters; is line 1 the header?"
                         : "is the format right? CSV has commas or semicolons "
                           "between fields, or the delimiter that you name; TSV has "
                           "tabs");
}

/* Reads the header with the delimiter of the reader. *has_all receives whether every name occurs,
 * once or more often, apart from those that may be missing. TEM_ERR_FORMAT unless every name occurs
 * exactly once, or may be missing and is. */
static tem_status try_header(record_reader *r, const char *record, size_t size, bool *has_all,
                             tem_error *error) {
    header_search search = {.reader = r, .record = record, .size = size};
    for (uint32_t i = 0; i < r->name_count; i++)
        r->names[i].column = RECORD_NO_COLUMN;
    const tem_status status =
        visit_columns(r, record, size, look_at_name, &search, &r->columns, error);
    *has_all = false;
    if (status != TEM_OK)
        return status;
    *has_all = first_bad(&search, 2) == r->name_count;
    r->dropped = 0;
    for (uint32_t i = 0; i < r->name_count; i++)
        r->dropped += r->names[i].role == RECORD_DROPPED && search.found[i] > 0;
    const uint32_t bad = first_bad(&search, 1);
    return bad == r->name_count ? TEM_OK : refuse_name(&search, bad, error);
}

/* PRIVACY: with a wrong delimiter the private text would be in another column. So tem chooses a
 * delimiter by itself only if the header has the named fields with that delimiter and with no
 * other. A header of one field is the same with every delimiter. */
tem_status records_header(record_reader *r, const char *record, size_t size, tem_error *error) {
    const char named[2] = {r->delimiter, '\0'};
    const char *candidates = r->delimiter != '\0' ? named : r->format->delimiters;
    record_reader chosen = *r;
    tem_status status = TEM_OK;
    tem_error why = {.status = TEM_OK};
    unsigned fitting = 0;
    for (const char *c = candidates; *c != '\0'; c++) {
        record_reader tried = *r;
        tem_error problem;
        bool has_all = false;
        tried.delimiter = *c;
        const tem_status found = try_header(&tried, record, size, &has_all, &problem);
        if (found == TEM_ERR_MEMORY)
            return core_fail_memory(error);
        const bool is_same = fitting > 0 && tried.columns == 1 && chosen.columns == 1;
        if (c != candidates && (!has_all || is_same)) {
            if (fitting == 0 && tried.columns > chosen.columns)
                why = problem; /* most fields: that is the delimiter of the file */
            continue;
        }
        if (has_all && ++fitting > 1)
            return core_fail_at(error, TEM_ERR_FORMAT, "", 0, 0,
                                "the header has the named fields with more than one delimiter: "
                                "the delimiter must be named");
        chosen = tried;
        status = found;
        if (found != TEM_OK)
            why = problem;
    }
    if (status == TEM_OK)
        *r = chosen;
    else if (error != NULL)
        *error = why;
    return status;
}
