/* reachable.c - the words of a model that a text can contain. */
#include "audit/reachable.h"

#include "core/memory.h"
#include "core/status.h"
#include "text/pieces.h"

static uint32_t find_word(const void *vocabulary, const char *word, size_t length) {
    return vocab_find(vocabulary, word, length);
}

/* A text contains the word if it is a piece of itself: then a text of this word alone has it. */
static tem_status take_reachable(const tem_model *model, text_pieces *pieces, uint32_t *ids,
                                 uint32_t *count, tem_error *error) {
    tem_status status = TEM_OK;
    *count = 0;
    for (uint32_t id = 0; id < model->words.count && status == TEM_OK; id++) {
        size_t length = 0;
        const char *word = vocab_word(&model->words, id, &length);
        status = word == NULL
                     ? core_fail(error, TEM_ERR_DAMAGED, "damaged model: a word is missing")
                     : text_pieces_cut(pieces, word, length, error);
        if (status == TEM_OK && pieces->count == 1 && pieces->pieces[0].id == id)
            ids[(*count)++] = id;
    }
    return status == TEM_ERR_FORMAT
               ? core_fail(error, TEM_ERR_DAMAGED, "damaged model: a word is not UTF-8")
               : status;
}

tem_status reachable_find(const tem_model *model, uint32_t **ids, uint32_t *count,
                          tem_error *error) {
    text_pieces pieces;
    uint32_t found = 0, *made = core_alloc(model->words.count, sizeof *made);
    if (made == NULL)
        return core_fail_memory(error);
    text_pieces_init(&pieces, find_word, &model->words);
    const tem_status status = take_reachable(model, &pieces, made, &found, error);
    text_pieces_free(&pieces);
    if (status != TEM_OK) {
        core_free(made);
        return status;
    }
    *ids = made;
    *count = found;
    return TEM_OK;
}
