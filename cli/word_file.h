/* word_file.h - reads a file of words: one word per line. */
#ifndef CLI_WORD_FILE_H
#define CLI_WORD_FILE_H

#include "tem.h"

#include <stddef.h>
#include <stdint.h>

/* The words of a file in its order, as they are written there, repetitions included. */
typedef struct word_file {
    char **words;
    uint64_t *lines; /* the line of each word, counted from 1 */
    uint32_t count;
} word_file;

/* Reads a UTF-8 file of words; "-" is standard input. A word is a line without the blanks around
 * it. A line that begins with # is a comment; comments and empty lines are skipped. Fails with
 * TEM_ERR_FILE, TEM_ERR_MEMORY, or TEM_ERR_FORMAT and the line: a NUL, or a word with more than
 * TEM_WORD_BYTES_MAX bytes. After TEM_OK the caller frees the words with word_file_free. */
tem_status word_file_read(const char *path, word_file *out, tem_error *error);
void word_file_free(word_file *file);

#endif
