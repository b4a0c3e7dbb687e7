/* joined_text.h - public text as one file, one document per line, in memory. */
#ifndef EVAL_JOINED_TEXT_H
#define EVAL_JOINED_TEXT_H

#include "tem.h"

typedef struct joined_text {
    int file;        /* in memory; -1: none */
    char path[32];   /* under which the library can open it */
    uint64_t digest; /* two different texts have the same one with probability about 2^-64 */
} joined_text;

/* Reads a file, whose lines are documents, or all .txt files of a directory in the order of their
 * names, each of which is a document. A tab and an HTML line break become blanks. Fails with
 * TEM_ERR_FILE, TEM_ERR_FORMAT (a directory without .txt files), TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. */
tem_status joined_text_open(const char *path, const tem_run *run, joined_text *out,
                            tem_error *error);
void joined_text_close(joined_text *t);

#endif
