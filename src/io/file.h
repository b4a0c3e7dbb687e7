/* file.h - opens, reads, maps, locks and writes files.
 *
 * All other modules go through src/io, except src/ledger and src/trust, which open the ledger and
 * the list of trusted hashes themselves. */
#ifndef IO_FILE_H
#define IO_FILE_H

#include "command/tem_command.h"

#include <stdbool.h>

/* The whole content of a file, read-only. */
typedef struct file_view {
    const char *data;
    size_t size;
    bool mapped; /* false: data is allocated */
} file_view;

/* Opens an existing file for reading. It never waits for the other end of a pipe. Reading from the
 * descriptor does not wait for content either: it fails with EAGAIN. Returns the descriptor, or -1
 * and sets errno. */
int file_open_reading(const char *path);

/* Waits until the descriptor has something to read or has ended. Meanwhile it asks the run's
 * callback, as `stage`, at least every 100 ms whether to go on. It never blocks for longer, because
 * a signal that arrives just before a blocking call would not end that call. Fails with
 * TEM_ERR_CANCELLED. */
tem_status file_await(int descriptor, const tem_run *run, const char *stage, uint64_t done,
                      tem_error *error);

/* Maps a regular file. Reads anything else ("-" for standard input, a pipe, a device)
 * into memory, to its end. Fails with TEM_ERR_FILE, TEM_ERR_MEMORY or
 * TEM_ERR_CANCELLED. The caller frees the view with file_close. */
tem_status file_open(const char *path, const tem_run *run, file_view *view, tem_error *error);
void file_close(file_view *view);

/* Maps a regular file. Refuses everything else with TEM_ERR_FILE, before reading from it. The
 * caller frees the view with file_close. */
tem_status file_map(const char *path, file_view *view, tem_error *error);

/* Whether the bytes start a gzip file. */
bool file_is_gzip(const file_view *view);

/* Replaces a gzip view by its unpacked content. Joins members that follow one another,
 * as gzip does. Fails with TEM_ERR_FORMAT and the byte for damaged or truncated data,
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Closes *view when it fails. */
tem_status file_unpack(const char *path, const tem_run *run, file_view *view, tem_error *error);

/* Writes a file that appears whole or not at all: it fills a temporary file beside the
 * path, then calls fsync, rename, and fsync of the directory. */
typedef struct file_writer {
    const char *path; /* owned by the caller; must live until commit or abandon */
    char *temporary;
    bool noted; /* file_remove_temporaries knows the temporary file */
    int descriptor;
    tem_overwrite overwrite;
} file_writer;

/* Creates the temporary file. Fails with TEM_ERR_EXISTS if `path` exists and overwrite
 * is TEM_KEEP_EXISTING, with TEM_ERR_FILE or TEM_ERR_MEMORY. */
tem_status file_writer_open(file_writer *writer, const char *path, tem_overwrite overwrite,
                            tem_error *error);

/* As file_writer_open, for a file that only its owner can read: from its first byte on, and
 * whatever the permissions of the file that it replaces. */
tem_status file_writer_open_private(file_writer *writer, const char *path, tem_overwrite overwrite,
                                    tem_error *error);

/* Appends bytes. Fails with TEM_ERR_FILE. */
tem_status file_writer_put(file_writer *writer, const void *bytes, size_t count, tem_error *error);

/* Writes bytes at an offset, for a header that is known last. Fails with TEM_ERR_FILE. */
tem_status file_writer_put_at(file_writer *writer, const void *bytes, size_t count, uint64_t offset,
                              tem_error *error);

/* Makes the file appear under its name. With TEM_KEEP_EXISTING, if another file has
 * taken the name meanwhile, it fails with TEM_ERR_EXISTS and replaces nothing. The
 * writer is finished in any case. */
tem_status file_writer_commit(file_writer *writer, tem_error *error);

/* Removes the temporary file. Does nothing after commit or a failed open. */
void file_writer_abandon(file_writer *writer);

/* As tem_file_write. */
tem_status file_write(const char *path, const void *bytes, size_t count, tem_overwrite overwrite,
                      tem_readers readers, tem_error *error);

/* As tem_temporaries_remove. */
void file_remove_temporaries(void);

/* ---- locks (flock), so that processes that change the same file take turns ---- */

/* Waits for the lock of an open file, and asks the run's callback, as `stage`, while it waits.
 * Fails with TEM_ERR_FILE or TEM_ERR_CANCELLED. */
tem_status lock_wait(int descriptor, const char *path, bool shared, const char *stage,
                     const tem_run *run, tem_error *error);

/* Opens the regular file with this name and waits for its lock, as lock_wait does. *descriptor
 * receives the open file, or -1 if there is no such file. The caller unlocks and closes it with
 * lock_close. While the caller holds the lock, the file keeps its name, provided that everybody who
 * replaces the file by a rename takes the lock first. Fails with TEM_ERR_FILE or
 * TEM_ERR_CANCELLED. */
tem_status lock_by_name(const char *path, const tem_run *run, int *descriptor, tem_error *error);
void lock_close(int descriptor);

#endif
