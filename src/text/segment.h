/* segment.h - the part of a text between two word boundaries. */
#ifndef TEXT_SEGMENT_H
#define TEXT_SEGMENT_H

#include <stddef.h>

typedef enum segment_kind {
    SEGMENT_BLANK,       /* white space and control characters */
    SEGMENT_PUNCTUATION, /* everything else */
    SEGMENT_WORD         /* has a letter or a digit */
} segment_kind;

typedef struct segment {
    size_t start, end;
    segment_kind kind;
} segment;

#endif
