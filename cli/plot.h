/* plot.h - curves as a picture, drawn by gnuplot. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct plot_curve {
    const char *label;   /* NULL: not in the key */
    const double *x, *y; /* points that are not finite are left out */
    size_t count;
    bool points; /* not joined by a line */
    bool right;  /* belongs to the axis on the right */
    size_t like; /* from 1: dashed, in the colour of that curve; 0: in one of its own */
} plot_curve;

/* A line all the way through the picture. */
typedef struct plot_mark {
    const char *label;
    double at;
    bool vertical;
} plot_mark;

typedef struct plot {
    const char *title, *x_label, *y_label;
    const char *right_label; /* NULL: no axis on the right */
    bool x_log, right_log;
    const plot_curve *curves;
    size_t curve_count;
    const plot_mark *marks;
    size_t mark_count;
} plot;

/* Whether a picture can be written to `path`, as far as can be told before the work: it ends in
 * .svg or .png, outputs_check agrees, and gnuplot is there. Returns an exit status, after saying
 * why not. */
int plot_check(const char *command, const char *path, bool force);

/* Draws, and writes `path`, which appears when it is complete. Returns an exit status, after
 * saying what went wrong. */
int plot_write(const char *path, const plot *p);

#endif
