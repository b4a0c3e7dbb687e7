/* tem_picture.h - pictures of what an epsilon protects, as SVG text.
 *
 * Each call turns numbers into one picture: the law of a word, a curve over epsilon, how often the
 * words of a vocabulary stay themselves, the neighborhood of a word. The HTML report, the command
 * and the page in a browser show the same pictures. No call reads a model, a file, a clock or the
 * locale: equal input gives equal bytes.
 *
 * A picture is an <svg> element of its own, for a file or for the middle of an HTML page. It has a
 * title and a description for screen readers, no script, no <style>, no id and no reference to
 * anything outside it, so it needs no exception in a Content-Security-Policy. Text has the color
 * of its surroundings (currentColor). Other colors are attributes, which the stylesheet of a page
 * may override: tem_picture_style.
 *
 * Words and names are UTF-8. Characters that XML forbids, and bytes that are not UTF-8, become
 * U+FFFD; everything else is escaped. The rules of tem.h hold here, too. */
#ifndef TEM_PICTURE_H
#define TEM_PICTURE_H

#include "tem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sizes of a picture, in CSS pixels. Text is 13 pixels high, whatever the width. */
#define TEM_PICTURE_WIDTH 360u
#define TEM_PICTURE_WIDTH_MIN 240u
#define TEM_PICTURE_WIDTH_MAX 2000u

/* The most bars, points of a curve, values and points of a map in one picture. */
#define TEM_PICTURE_BARS_MAX 1000u
#define TEM_PICTURE_POINTS_MAX 4096u

/* What every picture has. */
typedef struct tem_picture_frame {
    const char *title;       /* what the picture shows, in a few words; needed */
    const char *description; /* the same in sentences; NULL: the main numbers of the picture */
    uint32_t width;          /* TEM_PICTURE_WIDTH_MIN to _MAX; 0: TEM_PICTURE_WIDTH */
    uint64_t reserved[4];    /* must be 0 */
} tem_picture_frame;

/* One bar: a word and its probability. */
typedef struct tem_picture_bar {
    const char *word;
    size_t bytes;         /* of the word; it need not end in NUL */
    double probability;   /* 0 to 1 */
    int is_marked;        /* 1: in the color of marks, for the input word itself */
    uint64_t reserved[2]; /* must be 0 */
} tem_picture_bar;

/* The law of a word, as horizontal bars. */
typedef struct tem_picture_law {
    tem_picture_frame frame;
    const tem_picture_bar *bars;
    size_t bar_count;         /* 1 to TEM_PICTURE_BARS_MAX, drawn from top to bottom */
    uint64_t other_words;     /* words that have no bar; 0: no bar for them */
    double other_probability; /* of these words together */
    uint64_t reserved[4];     /* must be 0 */
} tem_picture_law;

/* Draws the law of a word.
 *   svg     receives the picture, NUL-terminated; free with tem_text_free
 *   bytes   receives its length without the NUL
 * Fails with TEM_ERR_ARGUMENT (a number that is not finite or out of range, too many bars) or
 * TEM_ERR_MEMORY. */
TEM_API tem_status tem_picture_draw_law(const tem_picture_law *picture, char **svg, size_t *bytes,
                                        tem_error *error);

#define TEM_PICTURE_SERIES_MAX 4u

/* One line of a curve. */
typedef struct tem_picture_series {
    const char *name;     /* "best guess is right" */
    const double *values; /* one for each epsilon, 0 to 1; NaN: not known, the line has a gap */
    uint64_t reserved[2]; /* must be 0 */
} tem_picture_series;

/* Shares, such as the best guess or the accuracy of a classifier, against epsilon. */
typedef struct tem_picture_curve {
    tem_picture_frame frame;
    const double *epsilons; /* `count` numbers above 0, each larger than the one before */
    size_t count;           /* 1 to TEM_PICTURE_POINTS_MAX */
    const tem_picture_series *series;
    size_t series_count;  /* 1 to TEM_PICTURE_SERIES_MAX */
    double chosen;        /* an epsilon to mark, with the value of each line there, interpolated
                           * between the two nearest epsilons; 0: none. It need not be one of
                           * `epsilons`; outside their range it has no values */
    uint64_t reserved[4]; /* must be 0 */
} tem_picture_curve;

/* Draws a curve. Epsilon has a logarithmic axis if the largest is 8 times the least or more. Fails
 * as tem_picture_draw_law does. */
TEM_API tem_status tem_picture_draw_curve(const tem_picture_curve *picture, char **svg,
                                          size_t *bytes, tem_error *error);

#define TEM_PICTURE_MARKS_MAX 5u

/* A named place of a distribution. */
typedef struct tem_picture_mark {
    const char *name;     /* "median word" */
    double at;            /* share of the words that are at or below this place: 0 to 1 */
    uint64_t reserved[2]; /* must be 0 */
} tem_picture_mark;

/* How often words stay themselves, over a vocabulary: a quantile curve. */
typedef struct tem_picture_spread {
    tem_picture_frame frame;
    const double *values; /* probabilities in ascending order: of each word, or quantiles in equal
                           * steps. The first is at 0, the last at 1 */
    size_t count;         /* 1 or more */
    const tem_picture_mark *marks;
    size_t mark_count;    /* 0 to TEM_PICTURE_MARKS_MAX */
    const char *x_name;   /* NULL: "share of the vocabulary, best protected first" */
    const char *y_name;   /* NULL: "stays itself" */
    uint64_t reserved[4]; /* must be 0 */
} tem_picture_spread;

/* Draws a distribution. Fails as tem_picture_draw_law does. */
TEM_API tem_status tem_picture_draw_spread(const tem_picture_spread *picture, char **svg,
                                           size_t *bytes, tem_error *error);

/* One word of a map. */
typedef struct tem_picture_point {
    const char *word;
    size_t bytes;         /* of the word */
    double x, y;          /* finite; y grows upwards */
    double probability;   /* 0 to 1; the area of the dot grows with it; 0: the smallest dot */
    int is_marked;        /* 1: in the color of marks, for the word in the middle */
    uint64_t reserved[2]; /* must be 0 */
} tem_picture_point;

/* The neighborhood of a word. */
typedef struct tem_picture_map {
    tem_picture_frame frame;
    const tem_picture_point *points; /* the first is in the middle of the picture. Where labels
                                      * would overlap, only the earlier point has one */
    size_t point_count;              /* 1 to TEM_PICTURE_POINTS_MAX */
    uint64_t reserved[4];            /* must be 0 */
} tem_picture_map;

/* Draws a map; x and y have the same scale. Fails as tem_picture_draw_law does. */
TEM_API tem_status tem_picture_draw_map(const tem_picture_map *picture, char **svg, size_t *bytes,
                                        tem_error *error);

/* A stylesheet for pages with pictures: a static string. It lets a picture shrink with its column
 * and takes the colors from the variables --tem-ink, --tem-bar, --tem-mark, --tem-line-1 to
 * --tem-line-4, whose defaults are readable on light and dark ground and on paper. */
TEM_API const char *tem_picture_style(void);

#ifdef __cplusplus
}
#endif
#endif
