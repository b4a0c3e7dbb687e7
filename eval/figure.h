/* figure.h - results as pictures, drawn by gnuplot. */
#ifndef EVAL_FIGURE_H
#define EVAL_FIGURE_H

#include "results.h"

/* Writes NAME.gp into the directory and runs gnuplot to draw NAME.svg and NAME.png: accuracy, and
 * with `membership` also the attacks and accuracy against the attacks; with several learners also
 * accuracy against the success of the best guess. A picture is always either
 * the complete old one or the complete new one. Returns false on failure. */
bool figure_write_all(const results *r, const char *folder, bool membership);

#endif
