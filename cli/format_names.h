/* format_names.h - the record formats, for help and messages. */
#ifndef CLI_FORMAT_NAMES_H
#define CLI_FORMAT_NAMES_H

#include "tem.h"

#include <stdbool.h>

/* The names of all formats, the first of which is the default; of the formats whose records have
 * fields, with "or" before the last; and the same with commas alone. Each returns its own static
 * buffer, which its next call overwrites. */
const char *format_names_all(void);
const char *format_names_with_fields(void);
const char *format_names_listed(void);

/* Whether records of the format have fields; false for 0, the default. */
bool format_has_fields(tem_format format);

/* The format with fields in whose name the path ends, before a .gz: .csv, .tsv.gz, ...; 0: none. */
tem_format format_of_path(const char *path);

/* Refuses a file whose name ends in the name of a format with fields, .csv, .tsv, ..., if the user
 * has named no format (0). Returns an exit status; prints what to type. */
int format_check_path(const char *command, const char *path, tem_format format);

#endif
