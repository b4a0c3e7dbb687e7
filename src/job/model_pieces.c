/* model_pieces.c - the words of a text, and their ids in a model. */
#include "job/model_pieces.h"

#include "job/replacer.h"

tem_status model_pieces(const tem_model *model, const char *text, size_t bytes, uint32_t *ids,
                        size_t max, size_t *count, tem_error *error) {
    text_pieces pieces;
    text_pieces_init(&pieces, replacer_find, &model->words);
    tem_status status = text_pieces_begin(&pieces, text, bytes, error);
    size_t found = 0;
    do {
        if (status == TEM_OK)
            status = text_pieces_next(&pieces, error);
        for (size_t i = 0; i < pieces.count && status == TEM_OK; i++)
            if (pieces.pieces[i].word) {
                if (found < max)
                    ids[found] = pieces.pieces[i].id;
                found++;
            }
    } while (status == TEM_OK && pieces.count > 0);
    if (status == TEM_OK)
        *count = found;
    text_pieces_free(&pieces);
    return status;
}
