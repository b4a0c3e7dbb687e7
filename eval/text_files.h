/* text_files.h - the .txt files of a directory. */
#ifndef EVAL_TEXT_FILES_H
#define EVAL_TEXT_FILES_H

#include "tem.h"

/* Handles one file. */
typedef tem_status text_files_fn(void *context, const char *path, tem_error *error);

/* Calls `visit` for each .txt file of the directory in the order of their names, and reports
 * progress as `stage`. *count receives their number; 0 if the directory does not exist. Fails with
 * TEM_ERR_ARGUMENT (a name that is too long), TEM_ERR_FILE, TEM_ERR_CANCELLED, and as `visit`
 * does. */
tem_status text_files_visit(const char *directory, const tem_run *run, const char *stage,
                            text_files_fn *visit, void *context, uint32_t *count, tem_error *error);

#endif
