/* svg.c - the elements of which pictures are made, and the width of text in them. */
#include "picture/svg.h"

#include "core/reserved.h"
#include "core/status.h"

#include <math.h>
#include <string.h>
#include <unistr.h>

typedef struct role_look {
    const char *class_name, *colour, *dashes;
} role_look;

/* Each color has a contrast of at least 3 to white and to #121212; the lines differ in their
 * dashes, too, for readers and printers without colors. */
static const role_look looks[SVG_ROLES] = {
    [SVG_BAR] = {"tem-bar", "#3477b8", NULL},
    [SVG_MARK] = {"tem-mark", "#c2571a", NULL},
    [SVG_OTHER] = {"tem-other", "#8a8a8a", NULL},
    [SVG_LINE_1] = {"tem-line-1", "#3477b8", NULL},
    [SVG_LINE_2] = {"tem-line-2", "#23857a", "7 4"},
    [SVG_LINE_3] = {"tem-line-3", "#8a63b8", "2 3"},
    [SVG_LINE_4] = {"tem-line-4", "#8a7a1f", "10 3 2 3"},
};

/* ---- the frame ---- */

tem_status svg_check_frame(const tem_picture_frame *frame, tem_error *error) {
    if (is_for_newer(frame, error))
        return TEM_ERR_ARGUMENT;
    if (frame->title == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a picture needs a title");
    if (frame->width != 0 &&
        (frame->width < TEM_PICTURE_WIDTH_MIN || frame->width > TEM_PICTURE_WIDTH_MAX))
        return core_fail(error, TEM_ERR_ARGUMENT, "a picture is %u to %u pixels wide",
                         TEM_PICTURE_WIDTH_MIN, TEM_PICTURE_WIDTH_MAX);
    return TEM_OK;
}

double svg_width(const tem_picture_frame *frame) {
    return frame->width != 0 ? frame->width : TEM_PICTURE_WIDTH;
}

bool svg_is_share(double x) {
    return x >= 0 && x <= 1 + 1e-6;
}

static void put_attribute(markup *m, const char *name, double value) {
    markup_put(m, " ");
    markup_put(m, name);
    markup_put(m, "=\"");
    markup_number(m, value, 1);
    markup_put(m, "\"");
}

void svg_begin(markup *m, const tem_picture_frame *frame, double height) {
    markup_put(m, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tem-picture\" role=\"img\"");
    put_attribute(m, "width", svg_width(frame));
    put_attribute(m, "height", height);
    markup_put(m, " viewBox=\"0 0 ");
    markup_number(m, svg_width(frame), 1);
    markup_put(m, " ");
    markup_number(m, height, 1);
    markup_put(m, "\" font-family=\"system-ui, sans-serif\"");
    put_attribute(m, "font-size", SVG_TEXT);
    markup_put(m, " fill=\"currentColor\">\n<title>");
    markup_text(m, frame->title);
    markup_put(m, "</title>\n<desc>");
    if (frame->description != NULL)
        markup_text(m, frame->description);
}

void svg_begin_shapes(markup *m) {
    markup_put(m, "</desc>\n");
}

void svg_end(markup *m) {
    markup_put(m, "</svg>\n");
}

/* ---- shapes ---- */

static void put_class(markup *m, const char *class_name) {
    markup_put(m, " class=\"");
    markup_put(m, class_name);
    markup_put(m, "\"");
}

static void put_fill(markup *m, svg_role role) {
    put_class(m, looks[role].class_name);
    markup_put(m, " fill=\"");
    markup_put(m, looks[role].colour);
    markup_put(m, "\"");
}

void svg_begin_text(markup *m, double x, double y, svg_anchor anchor, const char *class_name) {
    static const char *const anchors[] = {"start", "middle", "end"};
    markup_put(m, "<text");
    put_class(m, class_name);
    put_attribute(m, "x", x);
    put_attribute(m, "y", y);
    if (anchor != SVG_START) {
        markup_put(m, " text-anchor=\"");
        markup_put(m, anchors[anchor]);
        markup_put(m, "\"");
    }
    if (strcmp(class_name, "tem-axis") == 0)
        put_attribute(m, "font-size", SVG_SMALL_TEXT);
    if (strcmp(class_name, "tem-strong") == 0)
        markup_put(m, " font-weight=\"600\"");
    markup_put(m, ">");
}

void svg_end_text(markup *m) {
    markup_put(m, "</text>\n");
}

void svg_rect(markup *m, double x, double y, double width, double height, svg_role role) {
    markup_put(m, "<rect");
    put_fill(m, role);
    put_attribute(m, "x", x);
    put_attribute(m, "y", y);
    put_attribute(m, "width", width);
    put_attribute(m, "height", height);
    markup_put(m, " rx=\"2\"/>\n");
}

void svg_dot(markup *m, double x, double y, double radius, svg_role role) {
    markup_put(m, "<circle");
    put_fill(m, role);
    put_attribute(m, "cx", x);
    put_attribute(m, "cy", y);
    put_attribute(m, "r", radius);
    markup_put(m, "/>\n");
}

static void put_line(markup *m, double x1, double y1, double x2, double y2) {
    put_attribute(m, "x1", x1);
    put_attribute(m, "y1", y1);
    put_attribute(m, "x2", x2);
    put_attribute(m, "y2", y2);
    markup_put(m, "/>\n");
}

void svg_rule(markup *m, double x1, double y1, double x2, double y2, bool is_axis) {
    markup_put(m, "<line");
    put_class(m, is_axis ? "tem-rule" : "tem-grid");
    markup_put(m, is_axis ? " stroke=\"currentColor\" stroke-opacity=\"0.6\""
                          : " stroke=\"currentColor\" stroke-opacity=\"0.15\"");
    put_line(m, x1, y1, x2, y2);
}

static void put_stroke(markup *m, svg_role role) {
    put_class(m, looks[role].class_name);
    markup_put(m, " fill=\"none\" stroke=\"");
    markup_put(m, looks[role].colour);
    markup_put(m, "\"");
    if (looks[role].dashes != NULL) {
        markup_put(m, " stroke-dasharray=\"");
        markup_put(m, looks[role].dashes);
        markup_put(m, "\"");
    }
}

void svg_mark_line(markup *m, double x1, double y1, double x2, double y2) {
    markup_put(m, "<line class=\"tem-mark-line\" stroke=\"");
    markup_put(m, looks[SVG_MARK].colour);
    markup_put(m, "\" stroke-width=\"1.5\" stroke-dasharray=\"4 3\"");
    put_line(m, x1, y1, x2, y2);
}

void svg_begin_path(markup *m, svg_role role) {
    markup_put(m, "<path");
    put_stroke(m, role);
    markup_put(m, " stroke-width=\"2.2\" stroke-linejoin=\"round\" d=\"");
}

void svg_path_to(markup *m, double x, double y, bool is_first) {
    markup_put(m, is_first ? "M" : "L");
    markup_number(m, x, 1);
    markup_put(m, " ");
    markup_number(m, y, 1);
}

void svg_end_path(markup *m) {
    markup_put(m, "\"/>\n");
}

/* ---- the width of text ---- */

/* In parts of the height, as common sans-serif fonts have it. */
static double character_width(ucs4_t c) {
    if (c >= 0x1100)
        return c >= 0xfb50 && c <= 0xfefc ? 0.6 : 1.0; /* Hangul, Han, emoji; Arabic forms */
    if (c >= 0x80)
        return 0.64;
    if (c == 'm' || c == 'w' || c == 'M' || c == 'W' || c == '%' || c == '@')
        return 0.9;
    if (strchr("iljtfrI.,:;'|!()[]- ", (int)c) != NULL)
        return 0.34;
    return c >= 'A' && c <= 'Z' ? 0.69 : 0.57;
}

/* Decodes the character at `text` and returns its bytes; one byte that is not UTF-8 becomes one
 * character. */
static size_t next_character(const char *text, size_t bytes, ucs4_t *c) {
    const int length = u8_mbtoucr(c, (const uint8_t *)text, bytes);
    if (length > 0)
        return (size_t)length;
    *c = 0xfffd;
    return 1;
}

double svg_text_width(const char *text, size_t bytes) {
    double width = 0;
    for (size_t at = 0; at < bytes;) {
        ucs4_t c = 0;
        at += next_character(text + at, bytes - at, &c);
        width += character_width(c);
    }
    return 1.08 * width * SVG_TEXT; /* for wide fonts and bold text */
}

void svg_fitted(markup *m, const char *text, size_t bytes, double width) {
    if (svg_text_width(text, bytes) <= width) {
        markup_bytes(m, text, bytes);
        return;
    }
    double used = SVG_TEXT; /* the ellipsis */
    size_t at = 0;
    while (at < bytes) {
        ucs4_t c = 0;
        const size_t length = next_character(text + at, bytes - at, &c);
        used += 1.08 * character_width(c) * SVG_TEXT;
        if (used > width)
            break;
        at += length;
    }
    markup_bytes(m, text, at);
    markup_put(m, "\xe2\x80\xa6");
}

/* ---- the axis of shares ---- */

double svg_share_y(const svg_plot *plot, double share) {
    return plot->bottom - fmin(share, 1) * (plot->bottom - plot->top);
}

void svg_share_axis(markup *m, const svg_plot *plot) {
    for (int percent = 0; percent <= 100; percent += 25) {
        const double y = svg_share_y(plot, percent / 100.0);
        svg_rule(m, plot->left, y, plot->right, y, percent == 0);
        svg_begin_text(m, plot->left - 6, y + 4, SVG_END, "tem-axis");
        markup_number(m, percent, 0);
        markup_put(m, " %");
        svg_end_text(m);
    }
}
