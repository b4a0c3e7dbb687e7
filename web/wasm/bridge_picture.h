/* bridge_picture.h - pictures (tem_picture.h) from plain arrays, as JavaScript has them. */
#ifndef WASM_BRIDGE_PICTURE_H
#define WASM_BRIDGE_PICTURE_H

#include "core/buffer.h"
#include "tem.h"

typedef enum bridge_picture_kind {
    BRIDGE_PICTURE_LAW,
    BRIDGE_PICTURE_CURVE,
    BRIDGE_PICTURE_MAP
} bridge_picture_kind;

/* What a picture shows.
 *   strings   each followed by NUL: the title, then one for each bar, line or point
 *   numbers   the width, and then
 *               law:   other words, their probability; for each bar: probability, 1 if marked
 *               curve: chosen epsilon, number of epsilons; the epsilons; the values of each line
 *               map:   for each point: x, y, probability, 1 if marked */
typedef struct picture_data {
    const char *strings;
    size_t string_bytes;
    const double *numbers;
    size_t number_count;
} picture_data;

/* Appends the picture to `out`. Fails with TEM_ERR_ARGUMENT if strings and numbers do not belong
 * together, and as the functions of tem_picture.h do. */
tem_status bridge_draw_picture(bridge_picture_kind kind, const picture_data *data, core_buffer *out,
                               tem_error *error);

#endif
