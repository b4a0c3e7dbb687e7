/* html.c - sentences, tables and sections of a page. */
#include "page/html.h"

#include "core/number.h"

#include <math.h>

enum { DIGITS = 5, FACTOR_DIGITS = 3 };

static void put_bound(markup *m, double bound) {
    if (isfinite(bound))
        markup_digits(m, bound > 0 ? number_round_up(bound, DIGITS) : 0, DIGITS);
    else
        markup_put(m, "no bound");
}

static void put_factor(markup *m, double log_factor) {
    const double powers = log_factor / log(10);
    if (!isfinite(log_factor)) {
        markup_put(m, "no bound");
    } else if (powers < 4) {
        markup_digits(m, number_round_up(exp(log_factor), FACTOR_DIGITS), FACTOR_DIGITS);
    } else {
        markup_put(m, "10<sup>");
        markup_count(m, (uint64_t)ceil(powers));
        markup_put(m, "</sup>");
    }
}

/* One digit more than markup_percent where that has none after the point. */
static void put_precise(markup *m, double share) {
    if (share < 0.1 || share >= 0.9895) {
        markup_percent(m, share);
    } else {
        markup_fixed(m, 100 * share, 1);
        markup_put(m, "&nbsp;%");
    }
}

static void put_part(markup *m, const html_part *part) {
    switch (part->kind) {
    case HTML_LITERAL:
        markup_put(m, part->text);
        return;
    case HTML_TEXT:
        markup_bytes(m, part->text, part->bytes);
        return;
    case HTML_COUNT:
        markup_count(m, part->count);
        return;
    case HTML_SHARE:
        markup_percent(m, part->number);
        return;
    case HTML_PRECISE:
        put_precise(m, part->number);
        return;
    case HTML_NUMBER:
        markup_digits(m, part->number, DIGITS);
        return;
    case HTML_AT_MOST:
        put_bound(m, part->number);
        return;
    default:
        put_factor(m, part->number);
    }
}

void html_say(markup *m, const html_part *parts) {
    for (; parts->kind != HTML_END; parts++)
        put_part(m, parts);
}

void html_begin_section(markup *m, const char *id, const char *heading) {
    SAY(m, LIT("<section id=\""), ONE_OF(id), LIT("\">\n<h2>"), ONE_OF(heading), LIT("</h2>\n"));
}

void html_end_section(markup *m) {
    markup_put(m, "</section>\n");
}

void html_begin_row(markup *m, const char *name) {
    SAY(m, LIT("<tr><th scope=\"row\">"), ONE_OF(name), LIT("</th><td>"));
}

void html_end_row(markup *m) {
    markup_put(m, "</td></tr>\n");
}
