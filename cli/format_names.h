/* format_names.h - the record formats, for help and messages. */
#ifndef CLI_FORMAT_NAMES_H
#define CLI_FORMAT_NAMES_H

#include "tem.h"

#include <stdbool.h>

/* All formats, the first being the default; and those whose records have fields, joined by "or" or
 * by commas alone. Static strings, until the next call of the same function. */
const char *format_names_all(void);
const char *format_names_with_fields(void);
const char *format_names_listed(void);

/* Whether records of the format have fields; false for 0, the default. */
bool format_has_fields(tem_format format);

/* Whether a file is called as one of a format that has fields: .csv, .tsv, ... */
bool format_is_ending(const char *path);

#endif
