/* split.c - finds the named fields of a record, whatever its format. */
#include "core/status.h"
#include "records/format.h"
#include "records/json_span.h"
#include "records/near_field.h"

#include <stdio.h>
#include <string.h>

static unsigned count_role(const record_reader *r, uint32_t end, record_role role) {
    unsigned count = 0;
    for (uint32_t i = 0; i < end; i++)
        count += r->names[i].role == role;
    return count;
}

const char *format_name_field(const record_reader *r, uint32_t name,
                              char text[FORMAT_FIELD_BYTES]) {
    const record_role role = r->names[name].role;
    const char *what = role == RECORD_PERSON    ? "the field that names people, groups or labels"
                       : role == RECORD_DROPPED ? "the field to leave out"
                                                : "the field of the text";
    if (count_role(r, r->name_count, role) == 1)
        snprintf(text, FORMAT_FIELD_BYTES, "%s", what);
    else
        snprintf(text, FORMAT_FIELD_BYTES, "%s (number %u of those named)", what,
                 count_role(r, name + 1, role));
    return text;
}

tem_status records_add_name(record_reader *r, const char *name, record_role role,
                            tem_error *error) {
    for (uint32_t i = 0; i < r->name_count && name != NULL; i++) {
        const unsigned both = r->names[i].role | role;
        if (r->names[i].name == NULL || strcmp(r->names[i].name, name) != 0 ||
            both == (RECORD_PERSON | RECORD_DROPPED))
            continue;
        return core_fail(
            error, TEM_ERR_ARGUMENT, "%s",
            both == RECORD_TEXT || both == RECORD_DROPPED ? "a field is named twice"
            : both == (RECORD_TEXT | RECORD_DROPPED)
                ? "a field is private or left out, not both"
                : "the field that names people, groups or labels must not be a private one");
    }
    if (r->name_count == RECORD_NAMES_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "at most %d fields may be named",
                         RECORD_NAMES_MAX);
    r->names[r->name_count++] = (record_name){.name = name, .role = role};
    return TEM_OK;
}

/* One record on its way through the visitor. */
typedef struct splitter {
    const record_reader *reader;
    const char *record;
    size_t size;
    core_buffer *parts;
    record_watch *watch;
    void *context;
    uint32_t fields, dropped; /* before this one */
    size_t last_end;          /* the end of the field before */
    size_t open;              /* the first part of the field before */
    unsigned char found[RECORD_NAMES_MAX];
} splitter;

static tem_status refuse(const splitter *s, uint32_t name, size_t at, const char *before,
                         const char *after, tem_error *error) {
    char which[FORMAT_FIELD_BYTES];
    return core_fail_at(error, TEM_ERR_FORMAT, "", 0, at + 1, "JSON: expected %s%s%s", before,
                        format_name_field(s->reader, name, which), after);
}

/* *equal receives whether a JSON key, with its escapes resolved, is `name`. */
static tem_status compare_key(const char *key, size_t size, const char *name, bool *equal,
                              tem_error *error) {
    const size_t length = strlen(name);
    *equal = size - 2 == length && memcmp(key + 1, name, length) == 0;
    if (memchr(key, '\\', size) == NULL)
        return TEM_OK;
    core_buffer plain = {0};
    const tem_status status = json_decode(key, size, &plain, error);
    *equal = status == TEM_OK && plain.size == length &&
             (length == 0 || memcmp(plain.data, name, length) == 0);
    core_buffer_free(&plain);
    return status;
}

static tem_status is_named(const splitter *s, const record_field *field, uint32_t name,
                           bool *matches, tem_error *error) {
    const record_name *n = &s->reader->names[name];
    *matches = n->column == field->column;
    if (!s->reader->format->has_fields || s->reader->format->columns != NULL)
        return TEM_OK;
    return compare_key(s->record + field->key.start, field->key.end - field->key.start, n->name,
                       matches, error);
}

/* Refuses a JSON value that cannot be a text, or cannot name a person. */
static tem_status check_value(const splitter *s, uint32_t name, const record_span *value,
                              tem_error *error) {
    const record_role role = s->reader->names[name].role;
    const bool is_text = role == RECORD_TEXT;
    if (role == RECORD_DROPPED || (value->quoting != RECORD_OTHER &&
                                   value->quoting != (is_text ? RECORD_NUMBER : RECORD_NOTHING)))
        return TEM_OK;
    return refuse(s, name, value->start,
                  is_text ? "a string or null in " : "a string or a whole number in ", "", error);
}

static tem_status add_part(splitter *s, const record_field *field, uint32_t name,
                           tem_error *error) {
    if (s->found[name])
        return refuse(s, name, s->size, "", " once, not twice", error);
    TRY(check_value(s, name, &field->value, error));
    s->found[name] = 1;
    const bool leads = s->fields == s->dropped;
    const record_part part = {.name = name,
                              .value = field->value,
                              .cut_start = leads ? field->start : s->last_end,
                              .cut_end = field->value.end};
    return core_buffer_add(s->parts, &part, sizeof part) ? TEM_OK : core_fail_memory(error);
}

/* A field that no kept field precedes is cut together with the separator after it. */
static void close_parts(splitter *s, size_t next_start) {
    record_part *parts = (void *)s->parts->data;
    for (; s->open < records_part_count(s->parts); s->open++)
        if (s->fields == s->dropped)
            parts[s->open].cut_end = next_start;
}

static tem_status split_field(void *context, const record_field *field, tem_error *error) {
    splitter *s = context;
    const record_reader *r = s->reader;
    unsigned roles = 0;
    close_parts(s, field->start);
    for (uint32_t i = 0; i < r->name_count; i++) {
        bool matches = false;
        tem_status status = is_named(s, field, i, &matches, error);
        if (status == TEM_OK && matches)
            status = add_part(s, field, i, error);
        if (status != TEM_OK)
            return status;
        roles |= matches ? r->names[i].role : 0;
    }
    s->fields++;
    s->dropped += (roles & RECORD_DROPPED) != 0;
    s->last_end = field->value.end;
    return s->watch == NULL ? TEM_OK : s->watch(s->context, s->record, field, roles, error);
}

/* The keys of a JSON object and the key that is looked for. */
typedef struct near_key {
    const char *record;
    near_field near;
} near_key;

static tem_status look_near(void *context, const record_field *field, tem_error *error) {
    near_key *key = context;
    core_buffer name = {0};
    const tem_status status = json_decode(key->record + field->key.start,
                                          field->key.end - field->key.start, &name, error);
    if (status == TEM_OK && name.size > 0)
        near_field_look(&key->near, name.data, name.size);
    core_buffer_free(&name);
    return status;
}

bool records_near_key(const record_reader *r, const char *record, size_t size, uint32_t name,
                      char text[NEAR_FIELD_TEXT_BYTES]) {
    near_key key = {.record = record, .near = near_field_for(r->names[name].name)};
    r->format->visit(r, record, size, look_near, &key, NULL);
    return near_field_say(&key.near, text);
}

static tem_status refuse_missing(const splitter *s, uint32_t name, tem_error *error) {
    char near[NEAR_FIELD_TEXT_BYTES];
    return refuse(s, name, s->size, "",
                  records_near_key(s->reader, s->record, s->size, name, near)
                      ? near
                      : " (case matters; tem does not look for it inside other values)",
                  error);
}

tem_status records_split(const record_reader *r, const char *record, size_t size,
                         core_buffer *parts, record_watch *watch, void *context, tem_error *error) {
    splitter s = {.reader = r,
                  .record = record,
                  .size = size,
                  .parts = parts,
                  .watch = watch,
                  .context = context};
    parts->size = 0;
    TRY(r->format->visit(r, record, size, split_field, &s, error));
    for (uint32_t i = 0; i < r->name_count; i++)
        if (!s.found[i] && r->names[i].role != RECORD_DROPPED)
            return refuse_missing(&s, i, error);
    return TEM_OK;
}

const record_part *records_part(const core_buffer *parts, size_t i) {
    return (const record_part *)(const void *)parts->data + i;
}

size_t records_part_count(const core_buffer *parts) {
    return parts->size / sizeof(record_part);
}
