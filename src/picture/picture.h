/* picture.h - the pictures of tem_picture.h. Each function checks its input and appends the picture
 * to out; it fails as the public call does. */
#ifndef PICTURE_PICTURE_H
#define PICTURE_PICTURE_H

#include "core/buffer.h"
#include "tem_picture.h"

tem_status picture_draw_law(const tem_picture_law *picture, core_buffer *out, tem_error *error);
tem_status picture_draw_curve(const tem_picture_curve *picture, core_buffer *out, tem_error *error);
tem_status picture_draw_spread(const tem_picture_spread *picture, core_buffer *out,
                               tem_error *error);
tem_status picture_draw_map(const tem_picture_map *picture, core_buffer *out, tem_error *error);

/* As tem_picture_style. */
const char *picture_style(void);

#endif
