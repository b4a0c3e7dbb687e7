/* labelled.h - reads labeled texts from a file of records: TSV, CSV or JSONL. */
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

/* Reads `path`. Adds new labels to the names if `may_add`, refuses them otherwise. Fails as
 * tem_records_read does, and with TEM_ERR_FORMAT for an empty label; it has no line if the file has
 * no records. */
tem_status labelled_read(const char *path, const eval_files *files, const tem_model *model,
                         bool may_add, label_names *labels, corpus *out, tem_error *error);

#endif
