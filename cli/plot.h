/* plot.h - plots of curves and bars, drawn by gnuplot. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct plot_curve {
    const char *label;   /* in the legend; NULL: not there */
    const double *x, *y; /* points that are not finite are not drawn */
    size_t count;
    bool points; /* draw points without a line */
    bool right;  /* y belongs to the axis on the right */
    size_t like; /* from 1: dashed, in the color of that curve; 0: in a color of its own */
} plot_curve;

/* A line across the whole plot. */
typedef struct plot_mark {
    const char *label;
    double at;
    bool vertical;
} plot_mark;

typedef struct plot {
    const char *title, *x_label, *y_label;
    const char *right_label; /* NULL: there is no axis on the right */
    bool x_log, right_log;
    const plot_curve *curves;
    size_t curve_count;
    const plot_mark *marks;
    size_t mark_count;
} plot;

/* One bar with its interval per name, in one color. */
typedef struct plot_series {
    const char *label; /* in the legend */
    const double *value, *low, *high;
} plot_series;

/* A bar chart: at each name a bar of every series, and a mark for the value expected there, unless
 * `expected` is NULL. */
typedef struct plot_bars {
    const char *title, *y_label, *expected_label;
    const char *const *names;
    const double *expected;
    size_t name_count;
    const plot_series *series;
    size_t series_count;
} plot_bars;

/* Checks, before the work, that a plot can be written to `path`: the name ends in .svg or .png,
 * outputs_check agrees, and gnuplot is installed. Returns an exit status; prints why not. */
int plot_check(const char *command, const char *path, bool force);

/* Draws the plot and writes it to `path`, which appears when it is complete. Returns an exit
 * status; prints what went wrong. */
int plot_write(const char *path, const plot *p);
int plot_write_bars(const char *path, const plot_bars *p);

#endif
