/* tem_command.h - functions that the command and `tem eval` need besides tem.h.
 *
 * This header is not installed, and the shared library does not export these functions: they are
 * conveniences of one program, not promises to others. */
#ifndef TEM_COMMAND_H
#define TEM_COMMAND_H

#include "tem_account.h"

/* Removes the temporary files of all calls that are writing a file. A program calls it from the
 * handler of a signal that is about to end it: it is safe in a signal handler, at any time,
 * whatever other threads do. The calls that were writing fail after it. */
void tem_temporaries_remove(void);

/* Who can read a file that tem_file_write writes. */
typedef enum tem_readers {
    TEM_READERS_USUAL = 0, /* as umask says, or as before if the file is overwritten */
    TEM_READERS_OWNER = 1  /* only the owner, even if others could read the overwritten file */
} tem_readers;

/* Writes a file that belongs to a run, such as its report or a picture, as tem_model_save writes a
 * model. Whatever happens, `path` is the old file, or does not exist, or is the whole new file.
 *   bytes    `count` bytes; may be NULL if count is 0
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_EXISTS, TEM_ERR_FILE, TEM_ERR_MEMORY. Any thread. */
tem_status tem_file_write(const char *path, const void *bytes, size_t count,
                          tem_overwrite overwrite, tem_readers readers, tem_error *error);

/* Where the texts of a file of records are. */
typedef struct tem_records {
    const char *path;  /* plain, gzip or zstd; "-" is standard input */
    tem_format format; /* 0: TEM_FORMAT_TEXT */
    const char *field; /* the field with the text; NULL for plain text */
    const char *by;    /* the field that names the group of a record; NULL: none */
    char delimiter;    /* as in tem_job */
} tem_records;

/* Takes one record: its text, and the value of the field that names its group. Both are unquoted,
 * valid until the call returns, and NULL where they are empty. What it returns ends the reading,
 * unless it is TEM_OK; after TEM_ERR_FORMAT tem adds the file and the line to *error. */
typedef tem_status tem_record_fn(void *context, const char *text, size_t bytes, const char *group,
                                 size_t group_bytes, tem_error *error);

/* Hands all records of a file to `take`, in order. Refuses what tem_privatize_files refuses. Fails
 * with TEM_ERR_ARGUMENT (the fields do not suit the format), TEM_ERR_FILE, TEM_ERR_FORMAT,
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or as `take` does. */
tem_status tem_records_read(const tem_records *records, tem_record_fn *take, void *context,
                            const tem_run *run, tem_error *error);

/* The number of letters that a user got wrong who typed `typed` and meant `name`, or TEM_NOT_NEAR
 * if that is too many for "did you mean ...?". The case of ASCII letters does not count. */
#define TEM_NOT_NEAR 0x7fffffffU
unsigned tem_edits(const char *typed, size_t typed_bytes, const char *name, size_t name_bytes);

/* Whether the list of trusted models and certificates has a place: whether its directory, or the
 * nearest existing directory above it, can be written. Unlike tem_trust_ready it makes nothing, and
 * does not look at the list itself. Returns 0 or 1. Any thread. */
int tem_trust_has_place(void);

/* As tem_accountant_summarise, with the success of the best guess, for a caller who has no
 * accountant with the weights of the mechanism and needs only one summary. If a weight is above 1,
 * the call takes a third of the time of tem_accountant_create: it needs no profile. Fails as
 * tem_accountant_create and tem_accountant_summarise do. Any thread. */
tem_status tem_summarise_once(const tem_mechanism *mechanism, const tem_prior *prior,
                              const tem_run *run, tem_summary *summary, tem_error *error);

#endif
