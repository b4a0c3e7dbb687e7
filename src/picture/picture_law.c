/* picture_law.c - the law of a word as horizontal bars. */
#include "core/reserved.h"
#include "core/status.h"
#include "picture/picture.h"
#include "picture/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR = 14, GAP = 8, VALUE = 62, EDGE = 4 };

/* Where things are. */
typedef struct bars_layout {
    double names, scale; /* width of the column of words; pixels for a probability of 1 */
    char others[48];     /* the name of the bar for all other words */
} bars_layout;

static tem_status check(const tem_picture_law *p, tem_error *error) {
    const tem_status status = svg_check_frame(&p->frame, error);
    if (status != TEM_OK || is_for_newer(p, error))
        return TEM_ERR_ARGUMENT;
    if (p->bars == NULL || p->bar_count == 0 || p->bar_count > TEM_PICTURE_BARS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "a picture of a law has 1 to %u bars",
                         TEM_PICTURE_BARS_MAX);
    if (!svg_is_share(p->other_probability))
        return core_fail(error, TEM_ERR_ARGUMENT, "a probability is not within 0 and 1");
    for (size_t i = 0; i < p->bar_count; i++) {
        const tem_picture_bar *bar = &p->bars[i];
        if (is_for_newer(bar, error))
            return TEM_ERR_ARGUMENT;
        if (bar->word == NULL && bar->bytes > 0)
            return core_fail(error, TEM_ERR_ARGUMENT, "a bar has no word");
        if (!svg_is_share(bar->probability))
            return core_fail(error, TEM_ERR_ARGUMENT, "a probability is not within 0 and 1");
    }
    return TEM_OK;
}

static bars_layout lay_out(const tem_picture_law *p) {
    bars_layout l = {.names = 0};
    const double width = svg_width(&p->frame);
    double largest = p->other_words > 0 ? p->other_probability : 0, names = 0;
    char room[MARKUP_COUNT_BYTES];
    if (p->other_words > 0)
        snprintf(l.others, sizeof l.others, p->other_words == 1 ? "%s other" : "all %s others",
                 markup_grouped(p->other_words, room));
    for (size_t i = 0; i < p->bar_count; i++) {
        largest = fmax(largest, p->bars[i].probability);
        names = fmax(names, svg_text_width(p->bars[i].word, p->bars[i].bytes));
    }
    names = fmax(names, svg_text_width(l.others, strlen(l.others)));
    l.names = fmin(names + 4, width * 0.4);
    l.scale = largest > 0 ? (width - l.names - 2 * EDGE - VALUE - GAP) / largest : 0;
    return l;
}

static void put_bar(markup *m, const bars_layout *l, double y, const tem_picture_bar *bar,
                    svg_role role) {
    const double x = EDGE + l->names + GAP,
                 length = bar->probability > 0 ? fmax(bar->probability * l->scale, 1) : 0;
    svg_begin_text(m, x - GAP, y + 15, SVG_END, bar->is_marked ? "tem-strong" : "tem-label");
    svg_fitted(m, bar->word, bar->bytes, l->names);
    svg_end_text(m);
    svg_rect(m, x, y + (SVG_ROW - BAR) / 2.0, length, BAR, role);
    svg_begin_text(m, x + length + 6, y + 15, SVG_START, "tem-value");
    markup_percent(m, bar->probability);
    svg_end_text(m);
}

static void describe(markup *m, const tem_picture_law *p) {
    for (size_t i = 0; i < p->bar_count; i++) {
        markup_bytes(m, p->bars[i].word, p->bars[i].bytes);
        markup_put(m, " ");
        markup_percent(m, p->bars[i].probability);
        markup_put(m, i + 1 < p->bar_count ? ", " : ".");
    }
    if (p->other_words > 0) {
        markup_put(m, p->other_words == 1 ? " The other word: " : " All ");
        if (p->other_words > 1) {
            markup_count(m, p->other_words);
            markup_put(m, " other words together: ");
        }
        markup_percent(m, p->other_probability);
        markup_put(m, ".");
    }
}

tem_status picture_draw_law(const tem_picture_law *picture, core_buffer *out, tem_error *error) {
    const tem_status status = check(picture, error);
    if (status != TEM_OK)
        return status;
    markup m = {.out = out, .error = error};
    const bars_layout l = lay_out(picture);
    const double rows = (double)picture->bar_count + (picture->other_words > 0 ? 1.4 : 0);
    svg_begin(&m, &picture->frame, 2 * EDGE + rows * SVG_ROW);
    if (picture->frame.description == NULL)
        describe(&m, picture);
    svg_begin_shapes(&m);
    double y = EDGE;
    for (size_t i = 0; i < picture->bar_count; i++, y += SVG_ROW)
        put_bar(&m, &l, y, &picture->bars[i], picture->bars[i].is_marked ? SVG_MARK : SVG_BAR);
    if (picture->other_words > 0) {
        const tem_picture_bar others = {
            l.others, strlen(l.others), picture->other_probability, 0, {0}};
        put_bar(&m, &l, y + 0.4 * SVG_ROW, &others, SVG_OTHER);
    }
    svg_end(&m);
    return m.status;
}
