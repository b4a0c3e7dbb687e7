/* picture_style.c - the stylesheet for pages with pictures. */
#include "picture/picture.h"

/* The defaults are those of svg.c. */
static const char style[] =
    ".tem-picture{max-width:100%;height:auto;color:var(--tem-ink,inherit)}\n"
    ".tem-bar{fill:var(--tem-bar,#3477b8)}\n"
    ".tem-mark{fill:var(--tem-mark,#c2571a)}\n"
    ".tem-other{fill:var(--tem-other,#8a8a8a)}\n"
    ".tem-mark-line{stroke:var(--tem-mark,#c2571a)}\n"
    "path.tem-line-1{stroke:var(--tem-line-1,#3477b8)}\n"
    "path.tem-line-2{stroke:var(--tem-line-2,#23857a)}\n"
    "path.tem-line-3{stroke:var(--tem-line-3,#8a63b8)}\n"
    "path.tem-line-4{stroke:var(--tem-line-4,#8a7a1f)}\n"
    "circle.tem-line-1{fill:var(--tem-line-1,#3477b8)}\n"
    "circle.tem-line-2{fill:var(--tem-line-2,#23857a)}\n"
    "circle.tem-line-3{fill:var(--tem-line-3,#8a63b8)}\n"
    "circle.tem-line-4{fill:var(--tem-line-4,#8a7a1f)}\n";

const char *picture_style(void) {
    return style;
}
