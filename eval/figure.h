/* figure.h - results as pictures, drawn by gnuplot. */
#ifndef EVAL_FIGURE_H
#define EVAL_FIGURE_H

#include "results.h"

/* Writes NAME.gp into the folder and has gnuplot draw NAME.svg and NAME.png: accuracy, and with
 * `membership` the attacks and accuracy against the attacks. A picture is the old one or the new
 * one. False if that could not be done. */
bool figure_write_all(const results *r, const char *folder, bool membership);

#endif
