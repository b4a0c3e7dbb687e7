/* vectors.h - embedding files, from bytes to numbers.
 *
 * vectors_load recognises the format by content and hands the bytes to one of the
 * readers below; each reader fills a `vectors_raw`, and vectors_load makes the
 * vocabulary and the object from it. */
#ifndef MODEL_VECTORS_H
#define MODEL_VECTORS_H

#include "space/vocab.h"
#include "tem.h"

#include <stdbool.h>

struct tem_vectors {
    vocab words;
    uint32_t dimension;
    float *values;      /* count * dimension, all finite; NULL if `grid` is set */
    int16_t *grid;      /* count * dimension on the grid already, row by row; or NULL */
    uint32_t step_log2; /* of the grid */
    tem_dist deviation; /* of the grid from the vectors it was made from */
    const char *format; /* static string */
};

/* What a reader found. Word spans point into the file's bytes or into
 * `word_storage`. Row r of the result is reported as line first_line + r of the
 * file; where first_line is 0, as byte `row_bytes[r]`; and where row_bytes is NULL
 * too, as word r + 1 of the compressed part.
 * After TEM_ERR_FORMAT `count` is the number of rows before the one refused whose
 * words are in place, so that a refused word among these can be told first. */
typedef struct vectors_raw {
    const char *format;
    uint32_t count, dimension;
    word_span *words;
    float *values;
    int16_t *grid;
    uint32_t step_log2;
    tem_dist deviation;
    uint64_t first_line;
    uint64_t *row_bytes;
    char *word_storage;
} vectors_raw;

/* The line `n dimension` that starts a word2vec file. Numbers beyond 64 bits are
 * held as UINT64_MAX; nothing about them is checked yet. */
typedef struct vectors_header {
    uint64_t count, dimension;
    size_t bytes; /* the line with its end; 0: the file has no header */
} vectors_header;

/* The bytes of a file, unpacked, with the name to report. */
typedef struct vectors_source {
    const char *path;
    const char *data;
    size_t size;
    uint64_t limit; /* rows to read at most; 0: all */
    const tem_run *run;
    size_t chunk_bytes;    /* text handled at a time by a thread; 0: 1 MiB. The result
                            * does not depend on it */
    vectors_header header; /* set by vectors_from_bytes, which recognises the format */
} vectors_source;

/* The readers. Each fills *raw, whose arrays the caller frees with
 * vectors_raw_free, also after a failure. Whatever the number of threads, the
 * first fault in the order of the file is the one that is told. */
tem_status vectors_read_text(const vectors_source *source, vectors_raw *raw, tem_error *error);
tem_status vectors_read_binary(const vectors_source *source, vectors_raw *raw, tem_error *error);
tem_status vectors_read_grid(const vectors_source *source, vectors_raw *raw, tem_error *error);
void vectors_raw_free(vectors_raw *raw);

/* Whether a header's numbers, or those of a file without one, can be served; and
 * if not, a failure at `line`. Shared by the readers. */
tem_status vectors_check_shape(const vectors_source *source, uint64_t count, uint64_t dimension,
                               uint64_t line, tem_error *error);

/* What the first line after a header looks like to someone who expects
 * `dimension` numbers. */
typedef struct vectors_line {
    uint64_t columns; /* an empty one before a leading separator included */
    uint64_t numbers; /* the numbers that end it, the first column left aside */
    bool is_row;      /* a word and `dimension` finite numbers */
} vectors_line;

/* Examines the line at `start`; `end` is that of the data. */
vectors_line vectors_text_line(const char *start, const char *end, uint64_t dimension);

/* Reads vectors from memory that holds a whole file, not packed; vectors_load is
 * this after opening and unpacking. source->header need not be set. */
tem_status vectors_from_bytes(const vectors_source *source, tem_vectors **out, tem_error *error);

/* tem_vectors_load and tem_vectors_create; see tem.h. */
tem_status vectors_load(const char *path, uint64_t limit, const tem_run *run, tem_vectors **out,
                        tem_error *error);
tem_status vectors_create(const char *const *words, const float *values, uint32_t count,
                          uint32_t dimension, tem_vectors **out, tem_error *error);
void vectors_free(tem_vectors *vectors);

#endif
