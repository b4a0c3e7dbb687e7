/* outputs.h - checks of the files that a command is going to write. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>

/* Whether `path` can be written, as far as tem can know before the work: it does not exist, or it
 * is a regular file and `force` is set; it is none of the files that the command reads, under any
 * name (options_find_input); and outputs_check_directory agrees. Prints why not. Call it after
 * options_parse. */
bool outputs_check(const char *path, bool force);

/* Whether files can be made in the directory of `path`. Prints why not. */
bool outputs_check_directory(const char *path);

/* Whether this is a file that outputs_check was called for, perhaps under another name. */
bool outputs_include(const char *path);

/* Whether the name of a file ends in `ending`, such as ".svg", and has more before it. */
bool outputs_ends_in(const char *path, const char *ending);

/* Whether both names are of the same file, which need not exist. Returns false if one is NULL. */
bool outputs_are_same(const char *a, const char *b);

#endif
