/* imdb.c - reads the IMDB reviews. */
#include "imdb.h"

#include "failure.h"
#include "whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char layout[] = "this is not the aclImdb directory, which has train/pos, train/neg, "
                             "test/pos and test/neg with one .txt file per review";

static int is_review(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

static tem_status add_review(const char *path, const tem_model *model, uint32_t label, corpus *c,
                             tem_error *error) {
    char *text = NULL;
    size_t bytes = 0;
    tem_status status = whole_file_read(path, &text, &bytes, error);
    if (status != TEM_OK)
        return status;
    status = corpus_add(c, model, text, bytes, label, error);
    free(text);
    if (status == TEM_ERR_FORMAT)
        eval_fail_at(error, status, path, 0, "the review is not valid UTF-8");
    return status;
}

static tem_status read_class(const char *folder, const char *part, uint32_t label,
                             const tem_model *model, const tem_run *run, corpus *c,
                             tem_error *error) {
    char path[4096];
    struct dirent **names = NULL;
    const int length =
        snprintf(path, sizeof path, "%s/%s/%s", folder, part, label == 1 ? "pos" : "neg");
    if (length < 0 || (size_t)length >= sizeof path)
        return eval_fail_at(error, TEM_ERR_ARGUMENT, folder, 0, "the name is too long");
    const int count = scandir(path, &names, is_review, alphasort);
    if (count < 0 && errno != ENOENT && errno != ENOTDIR)
        return eval_fail_at(error, TEM_ERR_FILE, path, 0, "cannot read the directory");
    if (count <= 0) {
        free(names);
        return eval_fail_at(error, TEM_ERR_FORMAT, folder, 0, layout);
    }
    tem_status status = TEM_OK;
    for (int i = 0; i < count; i++) {
        snprintf(path + length, sizeof path - (size_t)length, "/%s", names[i]->d_name);
        if (status == TEM_OK)
            status = add_review(path, model, label, c, error);
        if (status == TEM_OK)
            status = eval_progress(run, "reading reviews", (uint64_t)i, (uint64_t)count, error);
        free(names[i]);
    }
    free(names);
    return status;
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
