/* public_text.h - reads a public text line by line, and cuts its lines into words of a model.
 *
 * Priors and vectors are made from such texts. Errors name the file and the line, and never contain
 * the text. */
#ifndef AUDIT_PUBLIC_TEXT_H
#define AUDIT_PUBLIC_TEXT_H

#include "io/file.h"
#include "text/pieces.h"

typedef struct public_text {
    const char *path;
    const tem_run *run;
    const char *stage; /* what the progress callback hears */
    file_view file;
    text_pieces pieces;
    const char *next; /* the start of the next line */
    uint64_t line;    /* the number of the line read last, from 1 */
    size_t untold;    /* bytes cut since the last progress report */
} public_text;

/* Opens a text, plain or gzip; `path` and `run` must stay until it is closed. Fails as file_open
 * and file_unpack do. */
tem_status public_text_open(public_text *t, const tem_model *model, const char *path,
                            const tem_run *run, const char *stage, tem_error *error);
void public_text_close(public_text *t);

/* The next line without its end, a line feed and a carriage return before it. False after the last
 * line. */
bool public_text_line(public_text *t, const char **line, size_t *bytes);

/* Receives the words of a line in their order. `id` is TEM_NO_WORD for an unknown word. */
typedef void public_word(void *context, uint32_t id);

/* Cuts a line, or a part of it, into words. Fails with TEM_ERR_FORMAT if it is not UTF-8 or too
 * long, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Then some of the words may have been handed over. */
tem_status public_text_words(public_text *t, const char *line, size_t bytes, public_word *each,
                             void *context, tem_error *error);

#endif
