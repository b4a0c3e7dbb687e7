/* public_text.c - reads a public text line by line, and cuts its lines into words of a model. */
#include "audit/public_text.h"

#include "core/status.h"
#include "core/threads.h"
#include "model/model.h"

#include <string.h>

static uint32_t find_word(const void *vocabulary, const char *word, size_t length) {
    return vocab_find(vocabulary, word, length);
}

tem_status public_text_open(public_text *t, const tem_model *model, const char *path,
                            const tem_run *run, const char *stage, tem_error *error) {
    *t = (public_text){.path = path, .run = run, .stage = stage};
    tem_status status = file_open(path, run, &t->file, error);
    if (status == TEM_OK && file_is_gzip(&t->file))
        status = file_unpack(path, run, &t->file, error); /* closes the file if it fails */
    if (status != TEM_OK)
        return status;
    t->next = t->file.data;
    text_pieces_init(&t->pieces, find_word, &model->words);
    return TEM_OK;
}

void public_text_close(public_text *t) {
    text_pieces_free(&t->pieces);
    file_close(&t->file);
}

bool public_text_line(public_text *t, const char **line, size_t *bytes) {
    const size_t left = t->file.size - (size_t)(t->next - t->file.data);
    if (left == 0)
        return false;
    const char *feed = memchr(t->next, '\n', left);
    const size_t length = feed == NULL ? left : (size_t)(feed - t->next);
    *line = t->next;
    *bytes = length - (length > 0 && t->next[length - 1] == '\r');
    t->next += feed == NULL ? left : length + 1;
    t->line++;
    return true;
}

/* Hands over the words of t->pieces, and reports progress now and then. */
static tem_status hand_over(public_text *t, public_word *each, void *context, tem_error *error) {
    enum { BYTES_A_REPORT = 1 << 20 };
    for (size_t i = 0; i < t->pieces.count; i++)
        if (t->pieces.pieces[i].word)
            each(context, t->pieces.pieces[i].id);
    t->untold += t->pieces.cut;
    if (t->untold < BYTES_A_REPORT)
        return TEM_OK;
    t->untold = 0;
    return core_progress(t->run, t->stage, (uint64_t)(t->pieces.rest - t->file.data), t->file.size,
                         error);
}

tem_status public_text_words(public_text *t, const char *line, size_t bytes, public_word *each,
                             void *context, tem_error *error) {
    tem_status status = text_pieces_begin(&t->pieces, line, bytes, error);
    do {
        if (status == TEM_OK)
            status = text_pieces_next(&t->pieces, error);
        if (status == TEM_OK)
            status = hand_over(t, each, context, error);
    } while (status == TEM_OK && t->pieces.count > 0);
    if (status == TEM_ERR_FORMAT)
        return core_fail_at(error, status, t->path, t->line, 0, "the line is not UTF-8");
    if (status == TEM_ERR_RANGE)
        return core_fail_at(error, TEM_ERR_FORMAT, t->path, t->line, 0,
                            "the line, or a word in it, is too long");
    return status;
}
