/* gnuplot.h - runs gnuplot, a process of its own. cli/plot.c draws with it, too. */
#ifndef EVAL_GNUPLOT_H
#define EVAL_GNUPLOT_H

#include "tem.h"

#include <stdbool.h>

/* Runs a script without the user's own settings; no shell sees any name.
 *   script   a file, seen from `inside`; "-": standard input
 *   inside   the folder to run in; NULL: where the program is
 *   files    what stands in for standard input, output and error; -1: the program's own
 * Returns whether it ran and was content. */
bool gnuplot_run(const char *script, const char *inside, const int files[3]);

/* Writes a picture that gnuplot has drawn to `path`, by tem_file_write. First looks whether it is
 * whole: where a disk is full, gnuplot leaves a part of it, or nothing, and is content.
 *   drawn    the picture, open for reading
 *   path     ends in .svg or .png, which says what kind it should be
 * Fails with TEM_ERR_FORMAT (not whole), TEM_ERR_FILE, TEM_ERR_MEMORY. */
tem_status gnuplot_keep(int drawn, const char *path, tem_error *error);

#endif
