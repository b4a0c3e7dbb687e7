/* file.h - the only place that opens, reads, maps and writes files. */
#ifndef IO_FILE_H
#define IO_FILE_H

#include "command/tem_command.h"

#include <stdbool.h>

/* The whole content of a file, read-only. */
typedef struct file_view {
    const char *data;
    size_t size;
    bool mapped; /* else allocated */
} file_view;

/* Opens what is there for reading, and does not wait: neither for the other end of a pipe, nor
 * later for its content (EAGAIN). -1 with errno. */
int file_open_reading(const char *path);

/* Waits until there is something to read, or nothing more comes; asks the run's callback all the
 * time, as `stage`, whether to go on. A signal that comes just before a call that waits would not
 * end it, so no call waits for long. TEM_ERR_CANCELLED. */
tem_status file_await(int descriptor, const tem_run *run, const char *stage, uint64_t done,
                      tem_error *error);

/* Maps a regular file; reads anything else ("-": standard input, a pipe, a
 * device) to its end into memory. TEM_ERR_FILE, TEM_ERR_MEMORY, or
 * TEM_ERR_CANCELLED. Free with file_close. */
tem_status file_open(const char *path, const tem_run *run, file_view *view, tem_error *error);
void file_close(file_view *view);

/* Maps a regular file and refuses everything else, TEM_ERR_FILE, before reading from it. */
tem_status file_map(const char *path, file_view *view, tem_error *error);

/* Whether the bytes start a gzip file. */
bool file_is_gzip(const file_view *view);

/* Replaces a gzip view by its unpacked content; members that follow one another
 * are joined, as gzip does. TEM_ERR_FORMAT with the byte for damaged or truncated
 * data; on failure *view is closed. */
tem_status file_unpack(const char *path, const tem_run *run, file_view *view, tem_error *error);

/* Writing a file that appears whole or not at all: a temporary file beside the
 * path, then fsync, rename, fsync of the folder. */
typedef struct file_writer {
    const char *path; /* the caller's, alive until commit or abandon */
    char *temporary;
    bool noted; /* for file_remove_temporaries */
    int descriptor;
    tem_overwrite overwrite;
} file_writer;

/* Creates the temporary file. TEM_ERR_EXISTS if `path` is there and overwrite is
 * TEM_KEEP_EXISTING; TEM_ERR_FILE; TEM_ERR_MEMORY. */
tem_status file_writer_open(file_writer *writer, const char *path, tem_overwrite overwrite,
                            tem_error *error);

/* The same for a file that only its owner can read, from its first byte on, and whatever the
 * permissions of the file that it replaces. */
tem_status file_writer_open_private(file_writer *writer, const char *path, tem_overwrite overwrite,
                                    tem_error *error);

tem_status file_writer_put(file_writer *writer, const void *bytes, size_t count, tem_error *error);

/* The same at a given place; for a header that is known last. */
tem_status file_writer_put_at(file_writer *writer, const void *bytes, size_t count, uint64_t offset,
                              tem_error *error);

/* Makes the file appear under its name. With TEM_KEEP_EXISTING it fails with
 * TEM_ERR_EXISTS if another file has taken the name meanwhile, and replaces
 * nothing. The writer is finished either way. */
tem_status file_writer_commit(file_writer *writer, tem_error *error);

/* Removes the temporary file. Does nothing after commit or a failed open. */
void file_writer_abandon(file_writer *writer);

/* tem_file_write. */
tem_status file_write(const char *path, const void *bytes, size_t count, tem_overwrite overwrite,
                      tem_readers readers, tem_error *error);

/* As tem_temporaries_remove. */
void file_remove_temporaries(void);

/* ---- files that several processes change: they take turns (flock) ---- */

/* Waits for the lock of an open file, telling the run's callback, as `stage`, while it waits.
 * TEM_ERR_FILE or TEM_ERR_CANCELLED. */
tem_status lock_wait(int descriptor, const char *path, bool shared, const char *stage,
                     const tem_run *run, tem_error *error);

/* Opens the regular file that has this name and waits for its lock, as lock_wait does. As long as
 * it is held, and everybody who replaces the file by a rename holds it, the file keeps its name.
 * *descriptor: -1 if there is no such file. Give it back with lock_close. */
tem_status lock_by_name(const char *path, const tem_run *run, int *descriptor, tem_error *error);
void lock_close(int descriptor);

#endif
