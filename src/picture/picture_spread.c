/* picture_spread.c - how often words stay themselves, over a vocabulary: a quantile curve.
 *
 * Named places of the curve have numbered dots; their names stand above the plot, where they cannot
 * overlap. */
#include "core/reserved.h"
#include "core/status.h"
#include "picture/picture.h"
#include "picture/svg.h"

#include <math.h>
#include <string.h>

enum { LEFT = 46, RIGHT = 22, ABOVE = 32, BELOW = 40, DOT = 8 };

static tem_status check(const tem_picture_spread *p, tem_error *error) {
    const tem_status status = svg_check_frame(&p->frame, error);
    if (status != TEM_OK || is_for_newer(p, error))
        return TEM_ERR_ARGUMENT;
    if (p->values == NULL || p->count == 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "a distribution needs values");
    for (size_t i = 0; i < p->count; i++)
        if (!svg_is_share(p->values[i]) || (i > 0 && p->values[i] < p->values[i - 1]))
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "the values of a distribution are probabilities in ascending order");
    if (p->mark_count > TEM_PICTURE_MARKS_MAX || (p->marks == NULL && p->mark_count > 0))
        return core_fail(error, TEM_ERR_ARGUMENT, "a distribution has 0 to %u marks",
                         TEM_PICTURE_MARKS_MAX);
    for (size_t i = 0; i < p->mark_count; i++) {
        const tem_picture_mark *mark = &p->marks[i];
        if (is_for_newer(mark, error))
            return TEM_ERR_ARGUMENT;
        if (mark->name == NULL || !svg_is_share(mark->at))
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "a mark needs a name and a place within 0 and 1");
    }
    return TEM_OK;
}

/* The value at this share of the words. */
static double value_at(const tem_picture_spread *p, double at) {
    const double place = fmin(at, 1) * (double)(p->count - 1);
    const size_t below = (size_t)floor(place);
    const size_t above = below + 1 < p->count ? below + 1 : below;
    return p->values[below] + (place - (double)below) * (p->values[above] - p->values[below]);
}

static double x_at(const svg_plot *plot, double at) {
    return plot->left + fmin(at, 1) * (plot->right - plot->left);
}

/* One point for each pixel, and the last value, which is the most exposed word. */
static void put_curve(markup *m, const tem_picture_spread *p, const svg_plot *plot) {
    const int steps = (int)(plot->right - plot->left);
    svg_begin_path(m, SVG_LINE_1);
    for (int i = 0; i <= steps; i++) {
        const double at = (double)i / steps;
        svg_path_to(m, x_at(plot, at), svg_share_y(plot, value_at(p, at)), i == 0);
    }
    svg_end_path(m);
}

static void put_axes(markup *m, const tem_picture_spread *p, const svg_plot *plot) {
    svg_share_axis(m, plot);
    for (int percent = 0; percent <= 100; percent += 25) {
        const double x = x_at(plot, percent / 100.0);
        svg_rule(m, x, plot->bottom, x, plot->bottom + 4, true);
        svg_begin_text(m, x, plot->bottom + 17, SVG_MIDDLE, "tem-axis");
        markup_number(m, percent, 0);
        markup_put(m, " %");
        svg_end_text(m);
    }
    const char *x_name = p->x_name;
    if (x_name == NULL)
        x_name = "share of the vocabulary, best protected first";
    svg_begin_text(m, (plot->left + plot->right) / 2, plot->bottom + 34, SVG_MIDDLE, "tem-axis");
    svg_fitted(m, x_name, strlen(x_name), plot->right - plot->left + 40);
    svg_end_text(m);
    const char *y_name = p->y_name != NULL ? p->y_name : "stays itself";
    svg_begin_text(m, 2, plot->top - 14, SVG_START, "tem-axis");
    svg_fitted(m, y_name, strlen(y_name), plot->right);
    svg_end_text(m);
}

static void put_number_dot(markup *m, double x, double y, size_t number) {
    svg_dot(m, x, y, DOT, SVG_MARK);
    markup_put(m, "<g fill=\"#ffffff\" font-weight=\"600\">");
    svg_begin_text(m, x, y + 4, SVG_MIDDLE, "tem-axis");
    markup_count(m, number);
    svg_end_text(m);
    markup_put(m, "</g>");
}

static void put_marks(markup *m, const tem_picture_spread *p, const svg_plot *plot) {
    for (size_t i = 0; i < p->mark_count; i++) {
        const tem_picture_mark *mark = &p->marks[i];
        const double value = value_at(p, mark->at), y = SVG_ROW * (double)i;
        put_number_dot(m, DOT + 2, y + 11, i + 1);
        svg_begin_text(m, 2 * DOT + 10, y + 15, SVG_START, "tem-label");
        svg_fitted(m, mark->name, strlen(mark->name), svg_width(&p->frame) - 96);
        markup_put(m, ": <tspan font-weight=\"600\">");
        markup_percent(m, value);
        markup_put(m, "</tspan>");
        svg_end_text(m);
        put_number_dot(m, x_at(plot, mark->at), svg_share_y(plot, value), i + 1);
    }
}

static void describe(markup *m, const tem_picture_spread *p) {
    markup_put(m, "From ");
    markup_percent(m, p->values[0]);
    markup_put(m, " to ");
    markup_percent(m, p->values[p->count - 1]);
    markup_put(m, ".");
    for (size_t i = 0; i < p->mark_count; i++) {
        markup_put(m, " ");
        markup_text(m, p->marks[i].name);
        markup_put(m, ": ");
        markup_percent(m, value_at(p, p->marks[i].at));
        markup_put(m, ".");
    }
}

tem_status picture_draw_spread(const tem_picture_spread *picture, core_buffer *out,
                               tem_error *error) {
    const tem_status status = check(picture, error);
    if (status != TEM_OK)
        return status;
    markup m = {.out = out, .error = error};
    const double width = svg_width(&picture->frame);
    const double top = SVG_ROW * (double)picture->mark_count + ABOVE;
    const svg_plot plot = {LEFT, width - RIGHT, top, top + fmin(fmax(0.45 * width, 140), 280)};
    svg_begin(&m, &picture->frame, plot.bottom + BELOW);
    if (picture->frame.description == NULL)
        describe(&m, picture);
    svg_begin_shapes(&m);
    put_axes(&m, picture, &plot);
    put_curve(&m, picture, &plot);
    put_marks(&m, picture, &plot);
    svg_end(&m);
    return m.status;
}
