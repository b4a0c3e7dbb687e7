/* picture_curve.c - shares against epsilon, with the chosen epsilon marked.
 *
 * The names of the lines stand above the plot, each with a piece of its line and its value at the
 * chosen epsilon: names beside the lines would overlap each other, or the lines, in a picture as
 * narrow as a phone. */
#include "core/reserved.h"
#include "core/status.h"
#include "picture/picture.h"
#include "picture/svg.h"

#include <math.h>
#include <string.h>

enum { LEFT = 46, RIGHT = 12, ABOVE = 26, BELOW = 40, LOGARITHMIC_FROM = 8, TICKS_MAX = 12 };

/* The axis of epsilon. */
typedef struct epsilon_axis {
    double first, last; /* where it begins and ends */
    bool is_logarithmic;
    svg_plot plot;
} epsilon_axis;

static tem_status check_series(const tem_picture_curve *p, tem_error *error) {
    if (p->series == NULL || p->series_count == 0 || p->series_count > TEM_PICTURE_SERIES_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "a curve has 1 to %u lines",
                         TEM_PICTURE_SERIES_MAX);
    for (size_t i = 0; i < p->series_count; i++) {
        const tem_picture_series *series = &p->series[i];
        if (is_for_newer(series, error))
            return TEM_ERR_ARGUMENT;
        if (series->name == NULL || series->values == NULL)
            return core_fail(error, TEM_ERR_ARGUMENT, "a line of a curve needs a name and values");
        for (size_t k = 0; k < p->count; k++)
            if (!isnan(series->values[k]) && !svg_is_share(series->values[k]))
                return core_fail(error, TEM_ERR_ARGUMENT, "a share is not within 0 and 1");
    }
    return TEM_OK;
}

static tem_status check(const tem_picture_curve *p, tem_error *error) {
    const tem_status status = svg_check_frame(&p->frame, error);
    if (status != TEM_OK || is_for_newer(p, error))
        return TEM_ERR_ARGUMENT;
    if (p->epsilons == NULL || p->count == 0 || p->count > TEM_PICTURE_POINTS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "a curve has 1 to %u points",
                         TEM_PICTURE_POINTS_MAX);
    for (size_t i = 0; i < p->count; i++)
        if (!(p->epsilons[i] > 0) || !isfinite(p->epsilons[i]) ||
            (i > 0 && !(p->epsilons[i] > p->epsilons[i - 1])))
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "the epsilons of a curve are finite, above 0 and ascending");
    if (p->chosen < 0 || !isfinite(p->chosen))
        return core_fail(error, TEM_ERR_ARGUMENT, "the chosen epsilon is not finite or below 0");
    return check_series(p, error);
}

/* ---- the axis ---- */

static epsilon_axis axis_of(const tem_picture_curve *p) {
    const double width = svg_width(&p->frame), top = SVG_ROW * (double)p->series_count + ABOVE;
    epsilon_axis a = {.first = p->epsilons[0], .last = p->epsilons[p->count - 1]};
    if (p->chosen > 0) {
        a.first = fmin(a.first, p->chosen);
        a.last = fmax(a.last, p->chosen);
    }
    a.is_logarithmic = a.last >= LOGARITHMIC_FROM * a.first;
    if (a.first == a.last) { /* one point: in the middle */
        a.first *= 0.5;
        a.last *= 1.5;
    }
    a.plot = (svg_plot){LEFT, width - RIGHT, top, top + fmin(fmax(0.5 * width, 150), 300)};
    return a;
}

static double x_of(const epsilon_axis *a, double epsilon) {
    const double part = a->is_logarithmic ? log(epsilon / a->first) / log(a->last / a->first)
                                          : (epsilon - a->first) / (a->last - a->first);
    return a->plot.left + part * (a->plot.right - a->plot.left);
}

/* The largest of 1, 2, 5 times a power of ten that is not above x. */
static double round_step(double x) {
    const double power = pow(10, floor(log10(x)));
    return power * (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1);
}

/* The next of 1, 2, 5, 10, 20, ... after a number of that kind. */
static double next_of_125(double tick) {
    const double power = pow(10, floor(log10(tick * 1.01))), lead = tick / power;
    return power * (lead < 1.5 ? 2 : lead < 3 ? 5 : 10);
}

/* Chooses at most TICKS_MAX ticks; returns their number. */
static int choose_ticks(const epsilon_axis *a, double ticks[TICKS_MAX]) {
    int count = 0;
    if (a->is_logarithmic) {
        double tick = round_step(a->first);
        const bool is_wide = a->last > 1e4 * a->first; /* then powers of ten are enough */
        for (; tick <= a->last * (1 + 1e-9) && count < TICKS_MAX;
             tick = is_wide ? 10 * tick : next_of_125(tick))
            if (tick >= a->first * (1 - 1e-9))
                ticks[count++] = tick;
        return count;
    }
    const double step = round_step((a->last - a->first) / 3);
    for (double k = ceil(a->first / step - 1e-9);
         k * step <= a->last * (1 + 1e-9) && count < TICKS_MAX; k++)
        ticks[count++] = k * step;
    return count;
}

/* About how wide an epsilon is in print: digits, commas and a few decimals. */
static double label_width(double epsilon) {
    const double digits = fmax(floor(log10(epsilon)), 0) + 1;
    return 8 * (digits + floor((digits - 1) / 3) / 2 + (epsilon < 1 ? 3 : 0));
}

static void put_axis(markup *m, const epsilon_axis *a) {
    double ticks[TICKS_MAX];
    const int count = choose_ticks(a, ticks);
    double free_from = 0;
    svg_share_axis(m, &a->plot);
    for (int i = 0; i < count; i++) {
        const double x = x_of(a, ticks[i]), half = label_width(ticks[i]) / 2;
        svg_rule(m, x, a->plot.bottom, x, a->plot.bottom + 4, true);
        if (x - half < free_from) /* the label would touch the one before */
            continue;
        free_from = x + half + 4;
        svg_begin_text(m, x, a->plot.bottom + 17, SVG_MIDDLE, "tem-axis");
        markup_digits(m, ticks[i], 4);
        svg_end_text(m);
    }
    svg_begin_text(m, (a->plot.left + a->plot.right) / 2, a->plot.bottom + 34, SVG_MIDDLE,
                   "tem-axis");
    markup_put(m, "epsilon: smaller is more private");
    svg_end_text(m);
}

/* ---- lines ---- */

/* The value of a line at the chosen epsilon; NaN if it has none there. */
static double value_at(const tem_picture_curve *p, const epsilon_axis *a, const double *values) {
    for (size_t i = 0; i < p->count; i++) {
        if (p->epsilons[i] == p->chosen)
            return values[i];
        if (i > 0 && p->epsilons[i - 1] < p->chosen && p->chosen < p->epsilons[i]) {
            const double left = x_of(a, p->epsilons[i - 1]), right = x_of(a, p->epsilons[i]);
            const double part = (x_of(a, p->chosen) - left) / (right - left);
            return values[i - 1] + part * (values[i] - values[i - 1]);
        }
    }
    return NAN;
}

static bool is_alone(const double *values, size_t count, size_t i) {
    return !isnan(values[i]) && (i == 0 || isnan(values[i - 1])) &&
           (i + 1 == count || isnan(values[i + 1]));
}

static void put_line(markup *m, const tem_picture_curve *p, const epsilon_axis *a, size_t which) {
    const double *values = p->series[which].values;
    const svg_role role = (svg_role)(SVG_LINE_1 + (int)which);
    bool is_open = false;
    for (size_t i = 0; i < p->count; i++) {
        if (isnan(values[i]) || is_alone(values, p->count, i)) {
            if (is_open)
                svg_end_path(m);
            is_open = false;
            continue;
        }
        if (!is_open)
            svg_begin_path(m, role);
        svg_path_to(m, x_of(a, p->epsilons[i]), svg_share_y(&a->plot, values[i]), !is_open);
        is_open = true;
    }
    if (is_open)
        svg_end_path(m);
    for (size_t i = 0; i < p->count; i++)
        if (is_alone(values, p->count, i))
            svg_dot(m, x_of(a, p->epsilons[i]), svg_share_y(&a->plot, values[i]), 3, role);
}

static void put_name(markup *m, const tem_picture_curve *p, const epsilon_axis *a, size_t which) {
    const tem_picture_series *series = &p->series[which];
    const double y = SVG_ROW * (double)which + 15, value = value_at(p, a, series->values);
    svg_begin_path(m, (svg_role)(SVG_LINE_1 + (int)which));
    svg_path_to(m, 2, y - 4, true);
    svg_path_to(m, 28, y - 4, false);
    svg_end_path(m);
    svg_begin_text(m, 36, y, SVG_START, "tem-label");
    svg_fitted(m, series->name, strlen(series->name), svg_width(&p->frame) - 36 - 70);
    if (p->chosen > 0 && !isnan(value)) {
        markup_put(m, ": <tspan font-weight=\"600\">");
        markup_percent(m, value);
        markup_put(m, "</tspan>");
    }
    svg_end_text(m);
}

/* ---- the chosen epsilon ---- */

static void put_chosen(markup *m, const tem_picture_curve *p, const epsilon_axis *a) {
    const double x = x_of(a, p->chosen), half = (66 + label_width(p->chosen)) / 2;
    const double label = fmin(fmax(x, half), svg_width(&p->frame) - half);
    svg_mark_line(m, x, a->plot.top - 6, x, a->plot.bottom);
    for (size_t i = 0; i < p->series_count; i++) {
        const double value = value_at(p, a, p->series[i].values);
        if (!isnan(value))
            svg_dot(m, x, svg_share_y(&a->plot, value), 4.5, SVG_MARK);
    }
    svg_begin_text(m, label, a->plot.top - 10, SVG_MIDDLE, "tem-strong");
    markup_put(m, "epsilon ");
    markup_digits(m, p->chosen, 4);
    svg_end_text(m);
}

static void describe(markup *m, const tem_picture_curve *p, const epsilon_axis *a) {
    for (size_t i = 0; i < p->series_count; i++) {
        const tem_picture_series *series = &p->series[i];
        const double first = series->values[0], last = series->values[p->count - 1];
        const double chosen = value_at(p, a, series->values);
        markup_text(m, series->name);
        markup_put(m, ":");
        if (!isnan(first)) {
            markup_put(m, " ");
            markup_percent(m, first);
            markup_put(m, " at epsilon ");
            markup_digits(m, p->epsilons[0], 4);
        }
        if (!isnan(last) && p->count > 1) {
            markup_put(m, isnan(first) ? " " : ", ");
            markup_percent(m, last);
            markup_put(m, " at epsilon ");
            markup_digits(m, p->epsilons[p->count - 1], 4);
        }
        if (p->chosen > 0 && !isnan(chosen)) {
            markup_put(m, "; ");
            markup_percent(m, chosen);
            markup_put(m, " at the chosen epsilon ");
            markup_digits(m, p->chosen, 4);
        }
        markup_put(m, i + 1 < p->series_count ? ". " : ".");
    }
}

tem_status picture_draw_curve(const tem_picture_curve *picture, core_buffer *out,
                              tem_error *error) {
    const tem_status status = check(picture, error);
    if (status != TEM_OK)
        return status;
    markup m = {.out = out, .error = error};
    const epsilon_axis a = axis_of(picture);
    svg_begin(&m, &picture->frame, a.plot.bottom + BELOW);
    if (picture->frame.description == NULL)
        describe(&m, picture, &a);
    svg_begin_shapes(&m);
    put_axis(&m, &a);
    for (size_t i = 0; i < picture->series_count; i++) {
        put_name(&m, picture, &a, i);
        put_line(&m, picture, &a, i);
    }
    if (picture->chosen > 0)
        put_chosen(&m, picture, &a);
    svg_end(&m);
    return m.status;
}
