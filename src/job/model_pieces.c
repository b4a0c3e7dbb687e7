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

/* Whether a token has only small ASCII letters and digits. Folding does not change it, and no word
 * boundary cuts it, so it is one piece as it is. */
static bool is_plain(const char *token, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (!(token[i] >= 'a' && token[i] <= 'z') && !(token[i] >= '0' && token[i] <= '9'))
            return false;
    return bytes > 0;
}

tem_status model_find_token(const tem_model *model, const char *token, size_t bytes, uint32_t *id,
                            tem_error *error) {
    if (is_plain(token, bytes)) { /* five times as fast */
        *id = replacer_find(&model->words, token, bytes);
        return TEM_OK;
    }
    text_pieces pieces;
    text_pieces_init(&pieces, replacer_find, &model->words);
    const tem_status status = text_pieces_cut(&pieces, token, bytes, error);
    if (status == TEM_OK)
        *id = pieces.count == 1 ? pieces.pieces[0].id
                                : replacer_find(&model->words, pieces.text.data, pieces.text.size);
    text_pieces_free(&pieces);
    return status;
}
