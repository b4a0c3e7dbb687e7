/* imdb.c - reads the IMDB reviews. */
#include "imdb.h"

#include "failure.h"
#include "text_files.h"
#include "whole_file.h"

#include <stdio.h>
#include <stdlib.h>

static const char layout[] = "this is not the aclImdb directory, which has train/pos, train/neg, "
                             "test/pos and test/neg with one .txt file per review";

/* The class that is being read. */
typedef struct reading {
    const tem_model *model;
    uint32_t label;
    corpus *corpus;
} reading;

static tem_status add_review(void *context, const char *path, tem_error *error) {
    const reading *r = context;
    char *text = NULL;
    size_t bytes = 0;
    tem_status status = whole_file_read(path, &text, &bytes, error);
    if (status != TEM_OK)
        return status;
    status = corpus_add(r->corpus, r->model, text, bytes, r->label, error);
    free(text);
    if (status == TEM_ERR_FORMAT)
        eval_fail_at(error, status, path, 0, "the review is not valid UTF-8");
    return status;
}

static tem_status read_class(const char *folder, const char *part, uint32_t label,
                             const tem_model *model, const tem_run *run, corpus *c,
                             tem_error *error) {
    char path[4096];
    reading r = {model, label, c};
    uint32_t count = 0;
    const int length =
        snprintf(path, sizeof path, "%s/%s/%s", folder, part, label == 1 ? "pos" : "neg");
    if (length < 0 || (size_t)length >= sizeof path)
        return eval_fail_at(error, TEM_ERR_ARGUMENT, folder, 0, "the name is too long");
    const tem_status status =
        text_files_visit(path, run, "reading reviews", add_review, &r, &count, error);
    return status == TEM_OK && count == 0 ? eval_fail_at(error, TEM_ERR_FORMAT, folder, 0, layout)
                                          : status;
}

tem_status imdb_read(const char *folder, const char *part, const tem_model *model,
                     const tem_run *run, corpus *out, tem_error *error) {
    corpus c = {0};
    uint32_t negative = 0;
    tem_status status = read_class(folder, part, 0, model, run, &c, error);
    negative = c.count;
    if (status == TEM_OK)
        status = read_class(folder, part, 1, model, run, &c, error);
    if (status == TEM_OK && c.count != 2 * negative)
        status = eval_fail_at(error, TEM_ERR_FORMAT, folder, 0,
                              "%s has %u negative and %u positive reviews; the numbers should be "
                              "equal: is the directory complete?",
                              part, negative, c.count - negative);
    if (status == TEM_OK)
        *out = c;
    else
        corpus_free(&c);
    return status;
}
