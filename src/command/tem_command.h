/* tem_command.h - what the command and `tem eval` need of the library besides tem.h.
 *
 * This header is not installed and the shared library does not export these functions: they are
 * conveniences of one program, not promises to others. */
#ifndef TEM_COMMAND_H
#define TEM_COMMAND_H

#include "tem.h"

/* Removes the temporary files that calls under way are writing, beside the files that they will
 * become. For a program that a signal is about to end, from its handler: it may be called in one,
 * at any time, and whatever else is going on. The calls under way fail after it. */
void tem_temporaries_remove(void);

/* Who can read a file that is written. */
typedef enum tem_readers {
    TEM_READERS_USUAL = 0, /* whom the system lets (umask), or those of the file that is replaced */
    TEM_READERS_OWNER = 1  /* its owner alone, also where the file that is replaced had more */
} tem_readers;

/* Writes a file that goes with a run, such as its report or a picture, as tem_model_save writes a
 * model: whatever happens, `path` is the old file, or none, or the whole new one.
 *   bytes    `count` of them; NULL if count is 0
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_EXISTS, TEM_ERR_FILE, TEM_ERR_MEMORY. Any thread. */
tem_status tem_file_write(const char *path, const void *bytes, size_t count,
                          tem_overwrite overwrite, tem_readers readers, tem_error *error);

#endif
