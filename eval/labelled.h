/* labelled.h - labelled texts from a file: TSV with a header, or an object a line. */
#ifndef EVAL_LABELLED_H
#define EVAL_LABELLED_H

#include "corpus.h"
#include "eval.h"

/* The labels met so far; the class of a label is its place. */
typedef struct label_names {
    char **names;
    uint32_t count;
} label_names;

void label_names_free(label_names *l);

/* Reads `path`. New labels are added to the names if `may_add`, and refused otherwise. Fails with
 * TEM_ERR_FILE, TEM_ERR_MEMORY, or TEM_ERR_FORMAT with the line for: a header without the fields, a
 * record with fewer or more fields than the header, or without those two; JSON that is none, a text
 * that is not UTF-8, an empty label; and without a line for a file that has no record. Blank lines
 * are passed over. */
tem_status labelled_read(const char *path, const eval_files *files, const tem_model *model,
                         bool may_add, label_names *labels, corpus *out, tem_error *error);

#endif
