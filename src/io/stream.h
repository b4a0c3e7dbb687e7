/* stream.h - reading inputs piece by piece, and writing a stream or a whole file. */
#ifndef IO_STREAM_H
#define IO_STREAM_H

#include "core/buffer.h"
#include "io/file.h"
#include "tem.h"

/* One input. */
typedef struct stream_input {
    const char *path; /* "-": standard input */
    int descriptor;
    const tem_run *run; /* asked whether to go on when a signal interrupts the waiting */
    bool at_end;
    core_buffer data; /* read and not yet dropped */
} stream_input;

/* TEM_ERR_FILE. Close with stream_input_close. */
tem_status stream_input_open(stream_input *in, const char *path, const tem_run *run,
                             tem_error *error);
void stream_input_close(stream_input *in);

/* Reads at least once, and on until `wanted` bytes are there, the input ends, or no more are to
 * be had for a moment: so that a slow pipe is served as it comes. TEM_ERR_FILE, TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. */
tem_status stream_input_fill(stream_input *in, size_t wanted, tem_error *error);

/* The sizes of regular files added up; 0 if one of them is something else. */
uint64_t stream_total_bytes(const char *const *paths, size_t count);

/* Whether all inputs (none: standard input) are regular files, so that they can be read twice.
 * *start receives where standard input is, for stream_rewind. */
bool stream_can_reread(const char *const *paths, size_t count, int64_t *start);

/* Puts standard input, if it is among the inputs, back to where it was. TEM_ERR_FILE. */
tem_status stream_rewind(const char *const *paths, size_t count, int64_t start, tem_error *error);

/* Forgets the first `bytes`. */
void stream_input_drop(stream_input *in, size_t bytes);

/* Standard output, or a file that appears when it is whole. */
typedef struct stream_output {
    bool to_file;
    bool may_wait; /* standard output is no regular file: a reader may be slow */
    file_writer file;
    const tem_run *run;
} stream_output;

/* path NULL or "-": standard output. TEM_ERR_FILE, TEM_ERR_EXISTS, TEM_ERR_MEMORY. */
tem_status stream_output_open(stream_output *out, const char *path, tem_overwrite overwrite,
                              const tem_run *run, tem_error *error);
tem_status stream_output_put(stream_output *out, const void *bytes, size_t count, tem_error *error);

/* Ends it: a file appears, or, if `keep` is false, does not. */
tem_status stream_output_close(stream_output *out, bool keep, tem_error *error);

#endif
