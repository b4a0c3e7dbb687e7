/* test_picture.c - pictures: what is refused, how numbers and texts are written, where labels are.
 * tests/check-picture reads whole pictures with an XML parser. */
#include "picture/markup.h"
#include "picture/svg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static core_buffer written;

static markup writer(void) {
    core_buffer_clear(&written);
    return (markup){.out = &written};
}

#define WRITES(call, expected)                                                                     \
    do {                                                                                           \
        markup m = writer();                                                                       \
        call;                                                                                      \
        assert_int_equal(m.status, TEM_OK);                                                        \
        assert_int_equal(written.size, strlen(expected));                                          \
        assert_memory_equal(written.data, expected, strlen(expected));                             \
    } while (0)

#define NO_BREAK "\xc2\xa0" /* the space before a percent sign */

static void test_numbers(void **state) {
    (void)state;
    WRITES(markup_number(&m, 0, 1), "0");
    WRITES(markup_number(&m, -0.04, 1), "0");
    WRITES(markup_number(&m, -12.55, 1), "-12.6");
    WRITES(markup_number(&m, 3.0, 3), "3");
    WRITES(markup_number(&m, 1234567.25, 2), "1234567.25");
    WRITES(markup_number(&m, 0.05, 2), "0.05");
    WRITES(markup_number(&m, NAN, 2), "unknown");
    WRITES(markup_number(&m, INFINITY, 2), "over 9e18");
    WRITES(markup_fixed(&m, 17, 1), "17.0");
    WRITES(markup_digits(&m, 0.00123456, 3), "0.00123");
    WRITES(markup_digits(&m, 13560.4, 4), "13,560");
    WRITES(markup_digits(&m, 2.5, 4), "2.5");
    WRITES(markup_digits(&m, 9.9996, 4), "10");
    WRITES(markup_digits(&m, 0, 4), "0");
    WRITES(markup_count(&m, 0), "0");
    WRITES(markup_count(&m, 999), "999");
    WRITES(markup_count(&m, 1000), "1,000");
    WRITES(markup_count(&m, UINT64_MAX), "18,446,744,073,709,551,615");
}

/* 0 % and 100 % are exact: a word that nearly always stays itself does not always stay itself. */
static void test_percentages(void **state) {
    (void)state;
    WRITES(markup_percent(&m, 0), "0" NO_BREAK "%");
    WRITES(markup_percent(&m, 1e-9), "under 0.01" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.0001), "0.01" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.00314), "0.31" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.0314), "3.1" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.314), "31" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.989), "99" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.9944), "99.4" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.9993), "99.93" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.999949), "99.99" NO_BREAK "%");
    WRITES(markup_percent(&m, 0.99999), "over 99.99" NO_BREAK "%");
    WRITES(markup_percent(&m, 1), "100" NO_BREAK "%");
}

static void test_text_is_escaped(void **state) {
    (void)state;
    WRITES(markup_text(&m, "a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;&#39;c");
    WRITES(markup_text(&m, "\x01\x0c\x1f\x7f\xc2\x80 \t\n"),
           "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \t\n");
    WRITES(markup_text(&m, "\xff\xc3"), "\xef\xbf\xbd\xef\xbf\xbd");                 /* not UTF-8 */
    WRITES(markup_text(&m, "\xef\xbf\xbe\xef\xb7\x90"), "\xef\xbf\xbd\xef\xbf\xbd"); /* no
                                                                              * characters */
    WRITES(markup_text(&m, "h\xc3\xa9\xf0\x9f\x98\x80"), "h\xc3\xa9\xf0\x9f\x98\x80");
    WRITES(markup_bytes(&m, "a\0b", 3), "a\xef\xbf\xbd"
                                        "b");
}

static void test_long_texts_are_cut(void **state) {
    (void)state;
    const char word[] = "wwwwwwwwwwwwwwwwwwww";
    WRITES(svg_fitted(&m, word, 3, 100), "www");
    WRITES(svg_fitted(&m, word, 20, 60), "www\xe2\x80\xa6");
    WRITES(svg_fitted(&m, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 10, 30),
           "\xc3\xa9\xe2\x80\xa6"); /* whole characters */
    WRITES(svg_fitted(&m, word, 20, 0), "\xe2\x80\xa6");
}

/* ---- refused ---- */

static const double not_shares[] = {-0.1, 1.1, NAN, INFINITY, -INFINITY};
enum { NOT_SHARES = sizeof not_shares / sizeof *not_shares };

#define REFUSES(draw, picture)                                                                     \
    do {                                                                                           \
        char *svg = NULL;                                                                          \
        size_t bytes = 7;                                                                          \
        tem_error error;                                                                           \
        assert_int_equal(draw(picture, &svg, &bytes, &error), TEM_ERR_ARGUMENT);                   \
        assert_true(svg == NULL && bytes == 7 && error.message[0] != '\0');                        \
    } while (0)

#define DRAWS(draw, picture)                                                                       \
    do {                                                                                           \
        char *svg = NULL;                                                                          \
        size_t bytes = 0;                                                                          \
        assert_int_equal(draw(picture, &svg, &bytes, NULL), TEM_OK);                               \
        assert_int_equal(strlen(svg), bytes);                                                      \
        tem_text_free(svg);                                                                        \
    } while (0)

static void test_frames(void **state) {
    (void)state;
    const tem_picture_bar bar = {.word = "a", .bytes = 1, .probability = 0.5};
    tem_picture_law p = {.frame = {.title = "t"}, .bars = &bar, .bar_count = 1};
    DRAWS(tem_picture_draw_law, &p);
    p.frame.width = TEM_PICTURE_WIDTH_MIN - 1;
    REFUSES(tem_picture_draw_law, &p);
    p.frame.width = TEM_PICTURE_WIDTH_MAX + 1;
    REFUSES(tem_picture_draw_law, &p);
    p.frame.width = TEM_PICTURE_WIDTH_MAX;
    DRAWS(tem_picture_draw_law, &p);
    p.frame.title = NULL;
    REFUSES(tem_picture_draw_law, &p);
}

static void test_laws(void **state) {
    (void)state;
    tem_picture_bar bar = {.word = "a", .bytes = 1, .probability = 1 + 1e-9};
    tem_picture_law p = {.frame = {.title = "t"}, .bars = &bar, .bar_count = 1};
    DRAWS(tem_picture_draw_law, &p);
    for (int i = 0; i < NOT_SHARES; i++) {
        bar.probability = not_shares[i];
        REFUSES(tem_picture_draw_law, &p);
    }
    bar.probability = 0;
    DRAWS(tem_picture_draw_law, &p);
    p.other_probability = NAN;
    REFUSES(tem_picture_draw_law, &p);
    p.other_probability = 0;
    bar.word = NULL;
    REFUSES(tem_picture_draw_law, &p);
    bar.word = "a";
    p.bar_count = 0;
    REFUSES(tem_picture_draw_law, &p);
    p.bar_count = TEM_PICTURE_BARS_MAX + 1;
    REFUSES(tem_picture_draw_law, &p);
}

static void test_curves(void **state) {
    (void)state;
    double epsilons[] = {1, 2}, values[] = {0.1, NAN};
    tem_picture_series series = {.name = "n", .values = values};
    tem_picture_curve p = {.frame = {.title = "t"},
                           .epsilons = epsilons,
                           .count = 2,
                           .series = &series,
                           .series_count = 1};
    DRAWS(tem_picture_draw_curve, &p);
    p.chosen = 1e300;
    DRAWS(tem_picture_draw_curve, &p);
    p.chosen = -1;
    REFUSES(tem_picture_draw_curve, &p);
    p.chosen = NAN;
    REFUSES(tem_picture_draw_curve, &p);
    p.chosen = INFINITY;
    REFUSES(tem_picture_draw_curve, &p);
    p.chosen = 0;
    const double not_epsilons[] = {0, -1, 2, 3, NAN, INFINITY};
    for (size_t i = 0; i < sizeof not_epsilons / sizeof *not_epsilons; i++) {
        epsilons[0] = not_epsilons[i];
        REFUSES(tem_picture_draw_curve, &p);
    }
    epsilons[0] = 1;
    for (int i = 0; i < NOT_SHARES; i++)
        if (!isnan(not_shares[i])) {
            values[0] = not_shares[i];
            REFUSES(tem_picture_draw_curve, &p);
        }
    values[0] = NAN;
    DRAWS(tem_picture_draw_curve, &p);
    series.name = NULL;
    REFUSES(tem_picture_draw_curve, &p);
    p.series_count = 0;
    REFUSES(tem_picture_draw_curve, &p);
    p.series_count = TEM_PICTURE_SERIES_MAX + 1;
    REFUSES(tem_picture_draw_curve, &p);
    p.series_count = 1;
    p.count = 0;
    REFUSES(tem_picture_draw_curve, &p);
}

static void test_spreads(void **state) {
    (void)state;
    double values[] = {0.1, 0.2};
    tem_picture_mark mark = {.name = "m", .at = 1};
    tem_picture_spread p = {
        .frame = {.title = "t"}, .values = values, .count = 2, .marks = &mark, .mark_count = 1};
    DRAWS(tem_picture_draw_spread, &p);
    for (int i = 0; i < NOT_SHARES; i++) {
        mark.at = not_shares[i];
        REFUSES(tem_picture_draw_spread, &p);
    }
    mark.at = 0;
    for (int i = 0; i < NOT_SHARES; i++) {
        values[1] = not_shares[i];
        REFUSES(tem_picture_draw_spread, &p);
    }
    values[1] = 0.05; /* descending */
    REFUSES(tem_picture_draw_spread, &p);
    p.count = 0;
    REFUSES(tem_picture_draw_spread, &p);
    p.count = 1;
    mark.name = NULL;
    REFUSES(tem_picture_draw_spread, &p);
    p.mark_count = TEM_PICTURE_MARKS_MAX + 1;
    REFUSES(tem_picture_draw_spread, &p);
    p.mark_count = 0;
    DRAWS(tem_picture_draw_spread, &p);
}

static void test_maps(void **state) {
    (void)state;
    tem_picture_point points[2] = {{.word = "a", .bytes = 1}, {.word = "b", .bytes = 1}};
    tem_picture_map p = {.frame = {.title = "t"}, .points = points, .point_count = 2};
    DRAWS(tem_picture_draw_map, &p); /* both at one place */
    points[1].x = NAN;
    REFUSES(tem_picture_draw_map, &p);
    points[1].x = INFINITY;
    REFUSES(tem_picture_draw_map, &p);
    points[1].x = 1;
    for (int i = 0; i < NOT_SHARES; i++) {
        points[1].probability = not_shares[i];
        REFUSES(tem_picture_draw_map, &p);
    }
    points[1].probability = 0;
    points[0].word = NULL;
    REFUSES(tem_picture_draw_map, &p);
    points[0].word = "a";
    p.point_count = 0;
    REFUSES(tem_picture_draw_map, &p);
    p.point_count = TEM_PICTURE_POINTS_MAX + 1;
    REFUSES(tem_picture_draw_map, &p);
}

/* Labels that would overlap are left out: the later word has a dot and no label. */
static void test_map_labels(void **state) {
    (void)state;
    enum { SAME = 30 };
    tem_picture_point points[SAME];
    const char *at = NULL;
    int labels = 0, dots = 0;
    for (int i = 0; i < SAME; i++)
        points[i] = (tem_picture_point){.word = "crowd", .bytes = 5};
    const tem_picture_map p = {
        .frame = {.title = "t", .description = "d"}, .points = points, .point_count = SAME};
    char *svg = NULL;
    size_t bytes = 0;
    assert_int_equal(tem_picture_draw_map(&p, &svg, &bytes, NULL), TEM_OK);
    for (at = svg; (at = strstr(at, ">crowd<")) != NULL; at++)
        labels++;
    for (at = svg; (at = strstr(at, "<circle")) != NULL; at++)
        dots++;
    assert_int_equal(dots, SAME);
    assert_int_equal(labels, 2); /* right and left of the dot: they leave no other place */
    tem_text_free(svg);
}

static int free_written(void **state) {
    (void)state;
    core_buffer_free(&written);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_percentages),
        cmocka_unit_test(test_text_is_escaped),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_spreads),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_map_labels),
    };
    return cmocka_run_group_tests(tests, NULL, free_written);
}
