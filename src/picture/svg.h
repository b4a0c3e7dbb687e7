/* svg.h - the elements of which pictures are made, and the width of text in them.
 *
 * Colors are attributes, so that a picture needs no stylesheet; classes let a page choose others
 * (tem_picture_style). Coordinates are pixels of the picture, y downwards. */
#ifndef PICTURE_SVG_H
#define PICTURE_SVG_H

#include "picture/markup.h"
#include "tem_picture.h"

#include <stdbool.h>

enum { SVG_TEXT = 13, SVG_SMALL_TEXT = 12, SVG_ROW = 20 };

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

/* What a shape is for: decides color and class. Lines 1 to 4 follow each other. */
typedef enum svg_role {
    SVG_BAR,
    SVG_MARK,
    SVG_OTHER,
    SVG_LINE_1,
    SVG_LINE_2,
    SVG_LINE_3,
    SVG_LINE_4,
    SVG_ROLES
} svg_role;

/* TEM_ERR_ARGUMENT if the frame is not valid. */
tem_status svg_check_frame(const tem_picture_frame *frame, tem_error *error);
double svg_width(const tem_picture_frame *frame);

/* Whether x is a probability. Sums of many may exceed 1 by rounding. */
bool svg_is_share(double x);

/* Opens the picture: element, title, description. After svg_begin the caller writes the description
 * if the frame has none, and then calls svg_begin_shapes. */
void svg_begin(markup *m, const tem_picture_frame *frame, double height);
void svg_begin_shapes(markup *m);
void svg_end(markup *m);

/* Opens a text element whose content the caller writes; svg_end_text closes it. */
void svg_begin_text(markup *m, double x, double y, svg_anchor anchor, const char *class_name);
void svg_end_text(markup *m);

void svg_rect(markup *m, double x, double y, double width, double height, svg_role role);
void svg_dot(markup *m, double x, double y, double radius, svg_role role);
/* A line of the grid, or an axis. */
void svg_rule(markup *m, double x1, double y1, double x2, double y2, bool is_axis);
/* The dashed line at a mark. */
void svg_mark_line(markup *m, double x1, double y1, double x2, double y2);

/* A line through points: open it, add points, close it. */
void svg_begin_path(markup *m, svg_role role);
void svg_path_to(markup *m, double x, double y, bool is_first);
void svg_end_path(markup *m);

/* About how wide a text is, in pixels, at SVG_TEXT. No font is known here: it may differ by a
 * tenth. */
double svg_text_width(const char *text, size_t bytes);

/* Appends a text, escaped, and cuts it with an ellipsis if it is wider than `width`. */
void svg_fitted(markup *m, const char *text, size_t bytes, double width);

/* An axis of shares, 0 to 100 %, within a plot: grid, ticks and labels. */
typedef struct svg_plot {
    double left, right, top, bottom; /* the area of the curve */
} svg_plot;
void svg_share_axis(markup *m, const svg_plot *plot);
double svg_share_y(const svg_plot *plot, double share);

#endif
