/* outputs.h - files to be written. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>

/* Whether `path` can be written, as far as can be told before the work: it is not there
 * already, or `force` is set, and its folder takes files. Says why not. */
bool outputs_check(const char *path, bool force);

/* Whether this file is one that outputs_check was asked about, under whatever name. */
bool outputs_include(const char *path);

/* Whether both names are of one file, be it there or not; false if one is NULL. */
bool outputs_are_same(const char *a, const char *b);

#endif
