/* vectors.h - reads embedding files.
 *
 * vectors_from_bytes recognizes the format by content and passes the bytes to one of
 * the readers below. Each reader fills a `vectors_raw`, from which vectors_from_bytes
 * makes the vocabulary and the tem_vectors. */
#ifndef MODEL_VECTORS_H
#define MODEL_VECTORS_H

#include "space/vocab.h"
#include "tem.h"

#include <stdbool.h>

struct tem_vectors {
    vocab words;
    uint32_t dimension;
    float *values;       /* count * dimension, all finite; NULL if `grid` is set */
    int16_t *grid;       /* count * dimension, already on the grid, row by row; or NULL */
    uint32_t step_log2;  /* the grid has steps of 2^-step_log2 */
    tem_dist deviation;  /* of `grid` from the original vectors */
    const char *format;  /* static string */
    tem_recipe recipe;   /* space 0: the vectors are not prepared */
    char *path;          /* for messages; NULL: none */
    uint64_t first_line; /* the row of id is at line first_line + id of that file; 0: none */
};

/* The result of a reader. Word spans point into the file's bytes or into
 * `word_storage`. Messages name row r in one of three ways:
 *  - as line first_line + r of the file;
 *  - if first_line is 0, as byte row_bytes[r] + 1: row_bytes counts from 0, messages from 1;
 *  - if row_bytes is NULL too, as word r + 1 of the compressed content.
 * After TEM_ERR_FORMAT, `count` is the number of rows before the refused one whose
 * words are in place. The caller checks these words, so that it can report the first
 * fault of the file. */
typedef struct vectors_raw {
    const char *format;
    uint32_t count, dimension;
    word_span *words;
    float *values;
    int16_t *grid;
    uint32_t step_log2;
    tem_dist deviation;
    tem_recipe recipe;
    uint64_t first_line;
    uint64_t *row_bytes;
    char *word_storage;
} vectors_raw;

/* The line `n dimension` that starts a word2vec file, not yet checked. A number beyond
 * 64 bits becomes UINT64_MAX. */
typedef struct vectors_header {
    uint64_t count, dimension;
    size_t bytes; /* length of the line with its line end; 0: the file has no header */
} vectors_header;

/* The uncompressed bytes of a file, and the file's name for messages. */
typedef struct vectors_source {
    const char *path;
    const char *data;
    size_t size;
    uint64_t limit; /* most rows to read; 0: all */
    const tem_run *run;
    size_t chunk_bytes;    /* bytes of text per task of a thread; 0: 1 MiB. The result
                            * does not depend on chunk_bytes */
    vectors_header header; /* set by vectors_from_bytes, which recognizes the format */
} vectors_source;

/* The readers. Each fills *raw, whose arrays the caller frees with
 * vectors_raw_free, also after a failure. Each reports the first fault in the order of
 * the file, whatever the number of threads. */
tem_status vectors_read_text(const vectors_source *source, vectors_raw *raw, tem_error *error);
tem_status vectors_read_binary(const vectors_source *source, vectors_raw *raw, tem_error *error);
tem_status vectors_read_grid(const vectors_source *source, vectors_raw *raw, tem_error *error);
void vectors_raw_free(vectors_raw *raw);

/* Checks the number of words and the dimension, whether they come from a header or
 * not. Fails with TEM_ERR_FORMAT at `line` if tem does not support them. Shared by
 * the readers. */
tem_status vectors_check_shape(const vectors_source *source, uint64_t count, uint64_t dimension,
                               uint64_t line, tem_error *error);

/* A line of text, examined as a row of `dimension` numbers. */
typedef struct vectors_line {
    uint64_t columns; /* with the empty column before a leading separator */
    uint64_t numbers; /* numbers at the end of the line; the first column does not count */
    bool is_row;      /* a word and `dimension` finite numbers */
} vectors_line;

/* Examines the line at `start`; `end` is the end of the data. */
vectors_line vectors_text_line(const char *start, const char *end, uint64_t dimension);

/* Reads vectors from memory that holds a whole uncompressed file. vectors_load opens
 * and unpacks a file and calls this. source->header need not be set. */
tem_status vectors_from_bytes(const vectors_source *source, tem_vectors **out, tem_error *error);

/* tem_vectors_load and tem_vectors_create; see tem.h. */
tem_status vectors_load(const char *path, uint64_t limit, const tem_run *run, tem_vectors **out,
                        tem_error *error);
tem_status vectors_create(const char *const *words, const float *values, uint32_t count,
                          uint32_t dimension, tem_vectors **out, tem_error *error);
void vectors_free(tem_vectors *vectors);

/* Keeps the rows `rows`, which ascend, under other names, and drops all other rows. The names must
 * differ, and may point into the vocabulary. TEM_ERR_MEMORY, or TEM_ERR_FORMAT for a name that
 * vocab_make refuses; then nothing has changed. */
tem_status vectors_keep(tem_vectors *vectors, const word_span *names, const uint32_t *rows,
                        uint32_t count, tem_error *error);

#endif
