/* gnuplot.h - runs gnuplot, a process of its own. cli/plot.c draws with it, too. */
#ifndef EVAL_GNUPLOT_H
#define EVAL_GNUPLOT_H

#include <stdbool.h>

/* Runs a script without the user's own settings; no shell sees any name.
 *   script   a file, seen from `inside`; "-": standard input
 *   inside   the folder to run in; NULL: where the program is
 *   files    what stands in for standard input, output and error; -1: the program's own
 * Returns whether it ran and was content. */
bool gnuplot_run(const char *script, const char *inside, const int files[3]);

#endif
