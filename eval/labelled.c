/* labelled.c - reads labeled texts from a file. */
#include "labelled.h"

#include "failure.h"
#include "tem_command.h"

#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 10000 };

void label_names_free(label_names *l) {
    for (uint32_t i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
    *l = (label_names){0};
}

/* The state of one reading. */
typedef struct reader {
    const tem_model *model;
    bool may_add;
    label_names *labels;
    corpus *c;
} reader;

/* tem_records_read adds the file and the line. */
static tem_status refuse(tem_error *error, const char *what) {
    return eval_fail_at(error, TEM_ERR_FORMAT, "", 0, "%s", what);
}

static tem_status add_label(const reader *r, const char *label, size_t bytes, uint32_t *class,
                            tem_error *error) {
    if (!r->may_add)
        return refuse(error, "the training file does not have this label");
    if (r->labels->count == CLASSES_MAX)
        return refuse(error, "more than 10,000 different labels: is that the right field?");
    char **names = realloc(r->labels->names, (r->labels->count + (size_t)1) * sizeof *names);
    if (names != NULL)
        r->labels->names = names;
    char *copy = names != NULL ? strndup(label, bytes) : NULL;
    if (copy == NULL)
        return eval_out_of_memory(error);
    names[r->labels->count] = copy;
    *class = r->labels->count++;
    return TEM_OK;
}

static tem_status class_of(const reader *r, const char *label, size_t bytes, uint32_t *class,
                           tem_error *error) {
    if (bytes == 0 || memchr(label, '\0', bytes) != NULL)
        return refuse(error, "the label is empty or contains NUL");
    for (uint32_t i = 0; i < r->labels->count; i++)
        if (strlen(r->labels->names[i]) == bytes &&
            memcmp(r->labels->names[i], label, bytes) == 0) {
            *class = i;
            return TEM_OK;
        }
    return add_label(r, label, bytes, class, error);
}

/* A tem_record_fn: the group of a record is its label. */
static tem_status take_record(void *context, const char *text, size_t bytes, const char *label,
                              size_t label_bytes, tem_error *error) {
    reader *r = context;
    uint32_t class = 0;
    const tem_status status = class_of(r, label, label_bytes, &class, error);
    return status == TEM_OK ? corpus_add(r->c, r->model, text, bytes, class, error) : status;
}

tem_status labelled_read(const char *path, const eval_files *files, const tem_model *model,
                         bool may_add, label_names *labels, corpus *out, tem_error *error) {
    corpus c = {0};
    reader r = {.model = model, .may_add = may_add, .labels = labels, .c = &c};
    const tem_records records = {.path = path,
                                 .format = files->format,
                                 .field = files->text,
                                 .by = files->label,
                                 .delimiter = files->delimiter};
    tem_status status = tem_records_read(&records, take_record, &r, NULL, error);
    if (status == TEM_OK && c.count == 0)
        status = eval_fail_at(error, TEM_ERR_FORMAT, path, 0, "the file has no records");
    if (status == TEM_OK)
        *out = c;
    else
        corpus_free(&c);
    return status;
}
