/* model_pieces.c - the words of a text, and their ids in a model. */
#include "job/model_pieces.h"

#include "core/status.h"
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

tem_status model_count_unreachable(const tem_model *model, uint32_t *count, tem_error *error) {
    text_pieces pieces;
    tem_status status = TEM_OK;
    uint32_t unreachable = 0;
    text_pieces_init(&pieces, replacer_find, &model->words);
    for (uint32_t id = 0; id < model->words.count && status == TEM_OK; id++) {
        size_t length = 0;
        const char *word = vocab_word(&model->words, id, &length);
        status = word == NULL
                     ? core_fail(error, TEM_ERR_DAMAGED, "damaged model: a word is missing")
                     : text_pieces_cut(&pieces, word, length, error);
        unreachable += pieces.count != 1 || pieces.pieces[0].id != id;
    }
    text_pieces_free(&pieces);
    if (status == TEM_ERR_FORMAT)
        return core_fail(error, TEM_ERR_DAMAGED, "damaged model: a word is not UTF-8");
    if (status == TEM_OK)
        *count = unreachable;
    return status;
}
