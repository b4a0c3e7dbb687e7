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

/* The format with fields in whose name the path ends, in any case, before a .gz or .zst: .csv,
 * .TSV.gz, ...; 0: none. And the packing by that ending. */
tem_format format_of_path(const char *path);
tem_packing format_packing_of_path(const char *path);

/* Parses the value of --format; NULL: leaves *format. Says what to do with the files of other
 * programs. Returns an exit status. */
int format_parse(const char *command, const char *name, tem_format *format);

/* Takes the format from the endings of the inputs, if *format is 0: the one with fields that all of
 * them name, or 0 if none does. Returns an exit status; prints what to type, also for a file whose
 * ending names a format that tem does not read.
 * PRIVACY: a file that looks like a table is never read as text unless the user says so.
 *   has_field   the user has named a field */
int format_guess(const char *command, const char *const *paths, size_t count, bool has_field,
                 tem_format *format);

/* Parses the value of --delimiter; NULL: leaves *delimiter. Returns an exit status. */
int format_parse_delimiter(const char *command, const char *name, tem_format format,
                           char *delimiter);

#endif
