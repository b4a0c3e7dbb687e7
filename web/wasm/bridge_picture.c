/* bridge_picture.c - pictures from plain arrays. */
#include "bridge_picture.h"

#include "core/memory.h"
#include "core/status.h"
#include "picture/picture.h"

#include <string.h>

static tem_status fail_shape(tem_error *error) {
    return core_fail(error, TEM_ERR_ARGUMENT, "the data of a picture are incomplete");
}

/* The strings, one after the other. */
typedef struct string_reader {
    const char *next, *end;
} string_reader;

/* The next string; NULL if there is none. */
static const char *read_string(string_reader *reader) {
    const char *start = reader->next;
    const char *nul = memchr(start, 0, (size_t)(reader->end - start));
    if (nul == NULL)
        return NULL;
    reader->next = nul + 1;
    return start;
}

static tem_status read_frame(const picture_data *data, string_reader *strings,
                             tem_picture_frame *frame, tem_error *error) {
    *strings = (string_reader){data->strings, data->strings + data->string_bytes};
    memset(frame, 0, sizeof *frame);
    frame->title = read_string(strings);
    if (frame->title == NULL || data->number_count < 3 || !(data->numbers[0] >= 0) ||
        data->numbers[0] > TEM_PICTURE_WIDTH_MAX)
        return fail_shape(error);
    frame->width = (uint32_t)data->numbers[0];
    return TEM_OK;
}

static tem_status draw_law(const picture_data *data, core_buffer *out, tem_error *error) {
    tem_picture_law law;
    string_reader strings;
    memset(&law, 0, sizeof law);
    tem_status status = read_frame(data, &strings, &law.frame, error);
    if (status != TEM_OK)
        return status;
    const double *numbers = data->numbers;
    if (!(numbers[1] >= 0) || numbers[1] > UINT32_MAX || data->number_count % 2 == 0)
        return fail_shape(error);
    law.other_words = (uint64_t)numbers[1];
    law.other_probability = numbers[2];
    law.bar_count = (data->number_count - 3) / 2;
    tem_picture_bar *bars = core_alloc_zero(law.bar_count + 1, sizeof *bars);
    if (bars == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < law.bar_count && status == TEM_OK; i++) {
        bars[i].word = read_string(&strings);
        if (bars[i].word == NULL)
            status = fail_shape(error);
        else
            bars[i].bytes = strlen(bars[i].word);
        bars[i].probability = numbers[3 + 2 * i];
        bars[i].is_marked = numbers[4 + 2 * i] != 0;
    }
    law.bars = bars;
    if (status == TEM_OK)
        status = picture_draw_law(&law, out, error);
    core_free(bars);
    return status;
}

static tem_status draw_curve(const picture_data *data, core_buffer *out, tem_error *error) {
    tem_picture_curve curve;
    tem_picture_series series[TEM_PICTURE_SERIES_MAX];
    string_reader strings;
    memset(&curve, 0, sizeof curve);
    memset(series, 0, sizeof series);
    tem_status status = read_frame(data, &strings, &curve.frame, error);
    if (status != TEM_OK)
        return status;
    size_t rest = data->number_count - 3;
    double count = data->numbers[2];
    if (!(count >= 1) || count > (double)rest || rest % (size_t)count != 0)
        return fail_shape(error);
    curve.chosen = data->numbers[1];
    curve.count = (size_t)count;
    curve.epsilons = data->numbers + 3;
    curve.series_count = rest / curve.count - 1;
    if (curve.series_count > TEM_PICTURE_SERIES_MAX)
        return fail_shape(error);
    for (size_t i = 0; i < curve.series_count; i++) {
        series[i].name = read_string(&strings);
        series[i].values = curve.epsilons + (i + 1) * curve.count;
        if (series[i].name == NULL)
            return fail_shape(error);
    }
    curve.series = series;
    return picture_draw_curve(&curve, out, error);
}

static tem_status draw_map(const picture_data *data, core_buffer *out, tem_error *error) {
    tem_picture_map map;
    string_reader strings;
    memset(&map, 0, sizeof map);
    tem_status status = read_frame(data, &strings, &map.frame, error);
    if (status != TEM_OK)
        return status;
    if ((data->number_count - 1) % 4 != 0)
        return fail_shape(error);
    map.point_count = (data->number_count - 1) / 4;
    tem_picture_point *points = core_alloc_zero(map.point_count + 1, sizeof *points);
    if (points == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < map.point_count && status == TEM_OK; i++) {
        const double *numbers = data->numbers + 1 + 4 * i;
        points[i].word = read_string(&strings);
        if (points[i].word == NULL)
            status = fail_shape(error);
        else
            points[i].bytes = strlen(points[i].word);
        points[i].x = numbers[0];
        points[i].y = numbers[1];
        points[i].probability = numbers[2];
        points[i].is_marked = numbers[3] != 0;
    }
    map.points = points;
    if (status == TEM_OK)
        status = picture_draw_map(&map, out, error);
    core_free(points);
    return status;
}

tem_status bridge_draw_picture(bridge_picture_kind kind, const picture_data *data, core_buffer *out,
                               tem_error *error) {
    switch (kind) {
    case BRIDGE_PICTURE_LAW:
        return draw_law(data, out, error);
    case BRIDGE_PICTURE_CURVE:
        return draw_curve(data, out, error);
    case BRIDGE_PICTURE_MAP:
        return draw_map(data, out, error);
    }
    return core_fail(error, TEM_ERR_ARGUMENT, "there is no such kind of picture");
}
