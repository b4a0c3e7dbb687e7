/* api_picture.c - the pictures of tem_picture.h. */
#include "api/hand_out.h"
#include "picture/picture.h"

/* Makes a call of tem_picture.h: `draw` checks what the picture says. */
#define DRAW(draw)                                                                                 \
    do {                                                                                           \
        core_buffer out = {0};                                                                     \
        if (picture == NULL || svg == NULL || bytes == NULL)                                       \
            return core_fail(error, TEM_ERR_ARGUMENT,                                              \
                             "what to draw and a place for the picture are needed");               \
        return hand_out(&out, draw(picture, &out, error), svg, bytes, error);                      \
    } while (0)

tem_status tem_picture_draw_law(const tem_picture_law *picture, char **svg, size_t *bytes,
                                tem_error *error) {
    DRAW(picture_draw_law);
}

tem_status tem_picture_draw_curve(const tem_picture_curve *picture, char **svg, size_t *bytes,
                                  tem_error *error) {
    DRAW(picture_draw_curve);
}

tem_status tem_picture_draw_spread(const tem_picture_spread *picture, char **svg, size_t *bytes,
                                   tem_error *error) {
    DRAW(picture_draw_spread);
}

tem_status tem_picture_draw_map(const tem_picture_map *picture, char **svg, size_t *bytes,
                                tem_error *error) {
    DRAW(picture_draw_map);
}

const char *tem_picture_style(void) {
    return picture_style();
}
