/* picture_map.c - the neighborhood of a word: dots with labels.
 *
 * Each label takes the first of eight places around its dot that overlaps no dot and no earlier
 * label. A word without such a place keeps its dot and has no label. */
#include "core/memory.h"
#include "core/reserved.h"
#include "core/status.h"
#include "picture/picture.h"
#include "picture/svg.h"

#include <math.h>
#include <string.h>

enum { EDGE = 8, LABEL = 16, SMALLEST = 3, LARGEST = 14 };

typedef struct map_box {
    double left, top, right, bottom;
} map_box;

typedef struct map_place {
    double x, y, radius;
    bool has_label;
    map_box label;
} map_place;

static tem_status check(const tem_picture_map *p, tem_error *error) {
    const tem_status status = svg_check_frame(&p->frame, error);
    if (status != TEM_OK || is_for_newer(p, error))
        return TEM_ERR_ARGUMENT;
    if (p->points == NULL || p->point_count == 0 || p->point_count > TEM_PICTURE_POINTS_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "a map has 1 to %u points",
                         TEM_PICTURE_POINTS_MAX);
    for (size_t i = 0; i < p->point_count; i++) {
        const tem_picture_point *point = &p->points[i];
        if (is_for_newer(point, error))
            return TEM_ERR_ARGUMENT;
        if (point->word == NULL && point->bytes > 0)
            return core_fail(error, TEM_ERR_ARGUMENT, "a point has no word");
        if (!isfinite(point->x) || !isfinite(point->y) || !svg_is_share(point->probability))
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "a point has a place that is not finite or a probability that is not "
                             "within 0 and 1");
    }
    return TEM_OK;
}

/* Puts the first point into the middle and scales the others to fit. Halves first: the difference
 * of two finite numbers may be infinite. */
static void place_dots(const tem_picture_map *p, double width, double height, map_place *places) {
    const tem_picture_point *middle = &p->points[0];
    double reach = 0;
    for (size_t i = 0; i < p->point_count; i++) {
        const double x = fabs(p->points[i].x / 2 - middle->x / 2);
        const double y = fabs(p->points[i].y / 2 - middle->y / 2);
        reach = fmax(reach, fmax(x / width, y / height));
    }
    const double scale = reach > 0 ? 0.42 / reach : 0;
    for (size_t i = 0; i < p->point_count; i++) {
        const tem_picture_point *point = &p->points[i];
        places[i] = (map_place){
            .x = width / 2 + (point->x / 2 - middle->x / 2) * scale,
            .y = height / 2 - (point->y / 2 - middle->y / 2) * scale,
            .radius = SMALLEST + (LARGEST - SMALLEST) * sqrt(fmin(point->probability, 1)),
        };
    }
}

static bool overlap(const map_box *a, const map_box *b) {
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static map_box box_of_dot(const map_place *place) {
    const double r = place->radius;
    return (map_box){place->x - r, place->y - r, place->x + r, place->y + r};
}

static bool is_free(const map_box *box, const map_place *places, size_t count, size_t self,
                    double width, double height) {
    if (box->left < 0 || box->top < 0 || box->right > width || box->bottom > height)
        return false;
    for (size_t i = 0; i < count; i++) {
        const map_box dot = box_of_dot(&places[i]);
        if ((i != self && overlap(box, &dot)) ||
            (places[i].has_label && overlap(box, &places[i].label)))
            return false;
    }
    return true;
}

/* Tries the places right, left, below, above and the corners. */
static void place_label(map_place *places, size_t count, size_t self, double label, double width,
                        double height) {
    static const int sides[8][2] = {{1, 0},  {-1, 0}, {0, 1},  {0, -1},
                                    {1, -1}, {1, 1},  {-1, 1}, {-1, -1}};
    map_place *place = &places[self];
    for (int i = 0; i < 8 && !place->has_label; i++) {
        const double dx = place->radius + 3 + label / 2, dy = place->radius + LABEL / 2.0;
        const double x = place->x + sides[i][0] * dx, y = place->y + sides[i][1] * dy;
        const map_box box = {x - label / 2, y - LABEL / 2.0, x + label / 2, y + LABEL / 2.0};
        if (is_free(&box, places, count, self, width, height)) {
            place->label = box;
            place->has_label = true;
        }
    }
}

static void put_points(markup *m, const tem_picture_map *p, const map_place *places) {
    for (size_t i = p->point_count; i-- > 0;) /* the first on top */
        svg_dot(m, places[i].x, places[i].y, places[i].radius,
                p->points[i].is_marked ? SVG_MARK : SVG_BAR);
    for (size_t i = 0; i < p->point_count; i++) {
        const tem_picture_point *point = &p->points[i];
        const map_box *box = &places[i].label;
        if (!places[i].has_label)
            continue;
        svg_begin_text(m, (box->left + box->right) / 2, box->bottom - 4, SVG_MIDDLE,
                       point->is_marked ? "tem-strong" : "tem-label");
        svg_fitted(m, point->word, point->bytes, box->right - box->left);
        svg_end_text(m);
    }
}

static void describe(markup *m, const tem_picture_map *p) {
    const size_t shown = p->point_count < 11 ? p->point_count : 11;
    markup_put(m, "In the middle: ");
    markup_bytes(m, p->points[0].word, p->points[0].bytes);
    markup_put(m, shown > 1 ? ". Around it: " : ".");
    for (size_t i = 1; i < shown; i++) {
        markup_bytes(m, p->points[i].word, p->points[i].bytes);
        markup_put(m, i + 1 < shown ? ", " : "");
    }
    if (p->point_count > shown) {
        markup_put(m, " and ");
        markup_count(m, p->point_count - shown);
        markup_put(m, " more");
    }
    markup_put(m, shown > 1 ? "." : "");
}

tem_status picture_draw_map(const tem_picture_map *picture, core_buffer *out, tem_error *error) {
    const tem_status status = check(picture, error);
    if (status != TEM_OK)
        return status;
    markup m = {.out = out, .error = error};
    const double width = svg_width(&picture->frame), height = fmin(0.75 * width, 600);
    map_place *places = core_alloc(picture->point_count, sizeof *places);
    if (places == NULL)
        return core_fail_memory(error);
    place_dots(picture, width, height, places);
    for (size_t i = 0; i < picture->point_count; i++) {
        const tem_picture_point *point = &picture->points[i];
        const double label = svg_text_width(point->word, point->bytes) + EDGE;
        place_label(places, picture->point_count, i, fmin(label, width / 3), width, height);
    }
    svg_begin(&m, &picture->frame, height);
    if (picture->frame.description == NULL)
        describe(&m, picture);
    svg_begin_shapes(&m);
    put_points(&m, picture, places);
    svg_end(&m);
    core_free(places);
    return m.status;
}
