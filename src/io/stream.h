/* stream.h - reads inputs in chunks, and writes to standard output or to a whole file. */
#ifndef IO_STREAM_H
#define IO_STREAM_H

#include "core/buffer.h"
#include "io/file.h"
#include "io/packed.h"
#include "tem.h"

/* One input, open for reading. */
typedef struct stream_input {
    const char *path; /* "-": standard input */
    int descriptor;
    const tem_run *run; /* while reading waits, tem asks its callback whether to go on */
    bool at_end;
    core_buffer data;   /* bytes read, and unpacked, and not yet dropped */
    bool is_recognised; /* the first bytes have told whether the input is compressed */
    unpacker unpacker;  /* state NULL: the input is not compressed */
    core_buffer packed; /* bytes read and not yet unpacked */
    size_t unpacked;    /* so many bytes of `packed` are done */
} stream_input;

/* Opens an input, plain or compressed (packed.h). Fails with TEM_ERR_FILE. The caller closes it
 * with stream_input_close. */
tem_status stream_input_open(stream_input *in, const char *path, const tem_run *run,
                             tem_error *error);
void stream_input_close(stream_input *in);

/* Reads until in->data has `wanted` bytes, the input ends, or no more bytes arrive for a moment
 * (10 ms) after the first read: so tem handles the bytes of a slow pipe as they come. The first
 * read waits as long as it takes. Fails with TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or
 * TEM_ERR_FORMAT for a compressed input that is damaged or cut. */
tem_status stream_input_fill(stream_input *in, size_t wanted, tem_error *error);

/* Returns the sum of the sizes of regular files, or 0 if one of the paths is not a regular file. */
uint64_t stream_total_bytes(const char *const *paths, size_t count);

/* Whether all inputs are regular files, so that tem can read them twice. count 0 means standard
 * input. If standard input is among the inputs, *start receives its position for stream_rewind. */
bool stream_can_reread(const char *const *paths, size_t count, int64_t *start);

/* The size of an input that can be read twice, or what is left of standard input; 0: it cannot, or
 * has nothing. *start is for stream_rewind. */
uint64_t stream_reread_bytes(const char *path, int64_t *start);

/* Sets standard input, if it is among the inputs, back to the position `start`. Fails with
 * TEM_ERR_FILE. */
tem_status stream_rewind(const char *const *paths, size_t count, int64_t start, tem_error *error);

/* Drops the first `bytes` of in->data. */
void stream_input_drop(stream_input *in, size_t bytes);

/* Standard output, or a file that appears only when it is complete. */
typedef struct stream_output {
    bool to_file;
    bool may_wait; /* standard output is not a regular file: its reader may be slow */
    file_writer file;
    const tem_run *run;
    packer packer; /* state NULL: the output is not compressed */
    core_buffer packed;
} stream_output;

/* TEM_ERR_EXISTS if the output, under any name, is one of the inputs: it would replace its own
 * original. The paths are as those of a job; count 0 means standard input. */
tem_status stream_check_output(const char *path, const char *const *inputs, size_t count,
                               tem_error *error);

/* Opens an output; path NULL or "-" means standard output. Fails with TEM_ERR_FILE, TEM_ERR_EXISTS
 * or TEM_ERR_MEMORY. */
tem_status stream_output_open(stream_output *out, const char *path, tem_overwrite overwrite,
                              tem_packing packing, const tem_run *run, tem_error *error);
tem_status stream_output_put(stream_output *out, const void *bytes, size_t count, tem_error *error);

/* Closes the output. A file appears under its name if `keep` is true, and is removed otherwise.
 * With `keep`, ends the stream of a compressed output. Fails as file_writer_commit does. */
tem_status stream_output_close(stream_output *out, bool keep, tem_error *error);

#endif
