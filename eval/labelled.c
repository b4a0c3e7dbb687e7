/* labelled.c - reads labelled texts from a file. */
#include "labelled.h"

#include "failure.h"
#include "whole_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 10000 };

void label_names_free(label_names *l) {
    for (uint32_t i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
    *l = (label_names){0};
}

/* A reader and its position. */
typedef struct reader {
    const char *path;
    const eval_files *files;
    const tem_model *model;
    bool may_add;
    label_names *labels;
    corpus *c;
    uint64_t line;
    bool header_seen; /* this and the next three are for TSV */
    size_t fields, text_column, label_column;
    tem_error *error;
} reader;

static tem_status refuse(reader *r, const char *what) {
    return eval_fail_at(r->error, TEM_ERR_FORMAT, r->path, r->line, "%s", what);
}

static tem_status add_label(reader *r, const char *label, size_t bytes, uint32_t *class) {
    if (!r->may_add)
        return refuse(r, "the training file does not have this label");
    if (r->labels->count == CLASSES_MAX)
        return refuse(r, "more than 10,000 different labels: is that the right field?");
    char **names = realloc(r->labels->names, (r->labels->count + (size_t)1) * sizeof *names);
    if (names != NULL)
        r->labels->names = names;
    char *copy = names != NULL ? strndup(label, bytes) : NULL;
    if (copy == NULL)
        return eval_out_of_memory(r->error);
    names[r->labels->count] = copy;
    *class = r->labels->count++;
    return TEM_OK;
}

static tem_status class_of(reader *r, const char *label, size_t bytes, uint32_t *class) {
    if (bytes == 0 || memchr(label, '\0', bytes) != NULL)
        return refuse(r, "the label is empty or contains NUL");
    for (uint32_t i = 0; i < r->labels->count; i++)
        if (strlen(r->labels->names[i]) == bytes &&
            memcmp(r->labels->names[i], label, bytes) == 0) {
            *class = i;
            return TEM_OK;
        }
    return add_label(r, label, bytes, class);
}

static tem_status add_record(reader *r, const char *text, size_t text_bytes, const char *label,
                             size_t label_bytes) {
    uint32_t class = 0;
    tem_status status = class_of(r, label, label_bytes, &class);
    if (status == TEM_OK)
        status = corpus_add(r->c, r->model, text, text_bytes, class, r->error);
    return status == TEM_ERR_FORMAT && r->error != NULL && r->error->line == 0
               ? refuse(r, "the text is not valid UTF-8")
               : status;
}

/* Finds column `wanted` of a line; false if the line has too few. */
static bool column(const char *line, size_t bytes, size_t wanted, const char **start,
                   size_t *length) {
    const char *at = line, *end = line + bytes;
    for (; wanted > 0; wanted--) {
        at = memchr(at, '\t', (size_t)(end - at));
        if (at == NULL)
            return false;
        at++;
    }
    const char *stop = memchr(at, '\t', (size_t)(end - at));
    *start = at;
    *length = (size_t)((stop != NULL ? stop : end) - at);
    return true;
}

/* Finds the column called `name`; false unless there is exactly one. */
static bool find_column(const char *header, size_t bytes, const char *name, size_t *number) {
    const char *start = NULL;
    size_t length = 0, found = 0;
    for (size_t i = 0; column(header, bytes, i, &start, &length); i++)
        if (length == strlen(name) && memcmp(start, name, length) == 0) {
            *number = i;
            found++;
        }
    return found == 1;
}

static size_t count_fields(const char *line, size_t bytes) {
    size_t fields = 1;
    for (size_t i = 0; i < bytes; i++)
        fields += line[i] == '\t';
    return fields;
}

static tem_status read_header(reader *r, const char *line, size_t bytes) {
    if (!find_column(line, bytes, r->files->text, &r->text_column) ||
        !find_column(line, bytes, r->files->label, &r->label_column))
        return refuse(r, "the first line must be the field names, separated by tabs, with the "
                         "fields of --text and --label exactly once");
    r->fields = count_fields(line, bytes);
    r->header_seen = true;
    return TEM_OK;
}

static tem_status read_tsv_line(reader *r, const char *line, size_t bytes) {
    const char *text = NULL, *label = NULL;
    size_t text_bytes = 0, label_bytes = 0;
    if (!r->header_seen)
        return read_header(r, line, bytes);
    const size_t fields = count_fields(line, bytes);
    if (fields < r->fields)
        return refuse(r, "fewer fields than the first line has");
    if (fields > r->fields)
        return refuse(r, "more fields than the first line has: is a tab in one of them?");
    column(line, bytes, r->text_column, &text, &text_bytes);
    column(line, bytes, r->label_column, &label, &label_bytes);
    return add_record(r, text, text_bytes, label, label_bytes);
}

static tem_status read_json_line(reader *r, const char *line, size_t bytes) {
    char number[32];
    json_t *object = json_loadb(line, bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    const json_t *text = json_object_get(object, r->files->text);
    const json_t *label = json_object_get(object, r->files->label);
    tem_status status;
    if (!json_is_object(object))
        status = refuse(r, "expected one JSON object per line, in valid UTF-8, with no key twice");
    else if (!json_is_string(text))
        status = refuse(r, "the field of --text is missing or not a string");
    else if (json_is_string(label))
        status = add_record(r, json_string_value(text), json_string_length(text),
                            json_string_value(label), json_string_length(label));
    else if (json_is_integer(label))
        status = add_record(r, json_string_value(text), json_string_length(text), number,
                            (size_t)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
                                             json_integer_value(label)));
    else
        status = refuse(r, "the field of --label is missing, or not a string or whole number");
    json_decref(object);
    return status;
}

static tem_status read_lines(reader *r, const char *all, size_t bytes) {
    tem_status status = TEM_OK;
    for (size_t at = 0; at < bytes && status == TEM_OK;) {
        const char *end = memchr(all + at, '\n', bytes - at);
        const size_t next = end != NULL ? (size_t)(end - all) + 1 : bytes;
        size_t length = (end != NULL ? next - 1 : bytes) - at;
        if (length > 0 && all[at + length - 1] == '\r')
            length--;
        r->line++;
        if (length > 0 && r->files->format == TEM_FORMAT_TSV)
            status = read_tsv_line(r, all + at, length);
        else if (length > 0)
            status = read_json_line(r, all + at, length);
        at = next;
    }
    return status;
}

tem_status labelled_read(const char *path, const eval_files *files, const tem_model *model,
                         bool may_add, label_names *labels, corpus *out, tem_error *error) {
    corpus c = {0};
    reader r = {.path = path,
                .files = files,
                .model = model,
                .may_add = may_add,
                .labels = labels,
                .c = &c,
                .error = error};
    char *all = NULL;
    size_t bytes = 0;
    tem_status status = whole_file_read(path, &all, &bytes, error);
    if (status == TEM_OK)
        status = read_lines(&r, all, bytes);
    free(all);
    if (status == TEM_OK && c.count == 0)
        status = eval_fail_at(error, TEM_ERR_FORMAT, path, 0, "the file has no records");
    if (status == TEM_OK)
        *out = c;
    else
        corpus_free(&c);
    return status;
}
