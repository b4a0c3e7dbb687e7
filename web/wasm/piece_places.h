/* piece_places.h - the pieces of a text, and where they are in it. */
#ifndef WASM_PIECE_PLACES_H
#define WASM_PIECE_PLACES_H

#include "core/buffer.h"
#include "model/model.h"

typedef struct piece_place {
    uint32_t start, end; /* in the text, in units of UTF-16 */
    uint32_t id;         /* TEM_NO_WORD: not in the vocabulary */
    uint32_t word;       /* 1: a word; 0: punctuation */
} piece_place;

/* Appends a piece_place to `out` for each piece of a text in UTF-8, in order (text/pieces.h). Fails
 * as text_pieces_next does. */
tem_status piece_places(const tem_model *model, const char *text, size_t bytes, core_buffer *out,
                        tem_error *error);

#endif
