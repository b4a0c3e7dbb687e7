/* labelled.h - reads labelled texts from a file: TSV with a header, or one JSON object per line. */
#ifndef EVAL_LABELLED_H
#define EVAL_LABELLED_H

#include "corpus.h"
#include "eval.h"

/* The labels seen so far; the class of a label is its index. */
typedef struct label_names {
    char **names;
    uint32_t count;
} label_names;

void label_names_free(label_names *l);

/* Reads `path`. Adds new labels to the names if `may_add`, refuses them otherwise. Skips blank
 * lines. Fails with TEM_ERR_FILE, TEM_ERR_MEMORY, or TEM_ERR_FORMAT. The format error has the line
 * of a header without the two fields, a record with fewer or more fields than the header, a record
 * without the two fields, invalid JSON, a text that is not UTF-8, or an empty label. It has no line
 * if the file has no records. */
tem_status labelled_read(const char *path, const eval_files *files, const tem_model *model,
                         bool may_add, label_names *labels, corpus *out, tem_error *error);

#endif
