/* whole_file.h - reads and writes whole files. */
#ifndef EVAL_WHOLE_FILE_H
#define EVAL_WHOLE_FILE_H

#include "tem.h"

#include <stdio.h>

/* Reads the content and adds a NUL; free with free(). Fails with TEM_ERR_FILE, TEM_ERR_MEMORY, or
 * TEM_ERR_CANCELLED if a signal interrupts it. */
tem_status whole_file_read(const char *path, char **text, size_t *bytes, tem_error *error);

typedef void whole_file_printer(FILE *out, const void *context);

/* Writes the output of `print` to a file, by tem_file_write. */
tem_status whole_file_print(const char *path, whole_file_printer *print, const void *context,
                            tem_error *error);

#endif
