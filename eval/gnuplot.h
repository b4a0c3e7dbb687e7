/* gnuplot.h - runs gnuplot as a separate process. cli/plot.c uses it too. */
#ifndef EVAL_GNUPLOT_H
#define EVAL_GNUPLOT_H

#include "tem.h"

#include <stdbool.h>

/* Runs a script without the user's own settings. No shell is involved, so no name is interpreted.
 *   script   a file, relative to `inside`; "-": standard input
 *   inside   the directory to run in; NULL: the program's current directory
 *   files    replace standard input, output and error; -1: the program's own
 * Returns whether gnuplot succeeded. */
bool gnuplot_run(const char *script, const char *inside, const int files[3]);

/* Writes a picture that gnuplot has drawn to `path`, by tem_file_write. First checks that the
 * picture is complete: on a full disk gnuplot writes part of it, or nothing, and reports success.
 *   drawn    the picture, open for reading
 *   path     ends in .svg or .png, which names the expected kind
 * Fails with TEM_ERR_FORMAT (incomplete), TEM_ERR_FILE, TEM_ERR_MEMORY. */
tem_status gnuplot_keep(int drawn, const char *path, tem_error *error);

#endif
