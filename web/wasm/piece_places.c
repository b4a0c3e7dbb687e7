/* piece_places.c - the pieces of a text, and where they are in it.
 *
 * text/pieces.h cuts the folded text, and tells where a piece is there. Folding may change the
 * number of bytes, but a text may be folded part by part where text_folds_apart says so. So this
 * file walks through the text cluster by cluster (a character and what composes with it). It counts
 * the folded bytes of each cluster, and follows the pieces, which ascend in both texts. A piece
 * that begins or ends within a cluster gets the whole cluster. */
#include "piece_places.h"

#include "core/status.h"
#include "job/replacer.h"

#include <unistr.h>

typedef struct walk {
    const char *text;
    size_t bytes;
    text_pieces fold; /* folds single clusters */

    /* The current cluster: where it begins and ends, in the bytes of the text, in units of UTF-16,
     * and in the bytes of the folded text. */
    size_t end_byte;
    uint32_t start_unit, end_unit;
    size_t end_folded;
} walk;

/* The end of the cluster that begins at `at`, and its units of UTF-16. */
static size_t cluster_end(const walk *w, size_t at, uint32_t *units) {
    *units = 0;
    for (bool first = true; at < w->bytes; first = false) {
        ucs4_t c = (unsigned char)w->text[at];
        int length = 1;
        if (c >= 0x80)
            length = u8_mbtouc(&c, (const uint8_t *)w->text + at, w->bytes - at);
        if (!first && (c < 0x80 || text_folds_apart(c)))
            break;
        *units += c >= 0x10000 ? 2 : 1;
        at += (size_t)length;
    }
    return at;
}

static tem_status next_cluster(walk *w, tem_error *error) {
    const size_t start = w->end_byte;
    uint32_t units = 0;
    w->end_byte = cluster_end(w, start, &units);
    w->start_unit = w->end_unit;
    w->end_unit += units;
    if (w->end_byte == start + 1) { /* ASCII */
        w->end_folded++;
        return TEM_OK;
    }
    const tem_status status =
        text_pieces_cut(&w->fold, w->text + start, w->end_byte - start, error);
    w->end_folded += w->fold.text.size;
    return status;
}

/* Walks until the current cluster contains the folded byte `at`. */
static tem_status walk_to(walk *w, size_t at, tem_error *error) {
    tem_status status = TEM_OK;
    while (status == TEM_OK && w->end_folded <= at && w->end_byte < w->bytes)
        status = next_cluster(w, error);
    return status;
}

static tem_status add_place(walk *w, const text_piece *piece, size_t before, core_buffer *out,
                            tem_error *error) {
    piece_place place = {.id = piece->id, .word = piece->word};
    tem_status status = walk_to(w, before + piece->start, error);
    place.start = w->start_unit;
    if (status == TEM_OK)
        status = walk_to(w, before + piece->start + piece->length - 1, error);
    place.end = w->end_unit;
    if (status != TEM_OK)
        return status;
    return core_buffer_add(out, &place, sizeof place) ? TEM_OK : core_fail_memory(error);
}

tem_status piece_places(const tem_model *model, const char *text, size_t bytes, core_buffer *out,
                        tem_error *error) {
    text_pieces pieces;
    walk w = {.text = text, .bytes = bytes};
    size_t before = 0; /* folded bytes of the windows before this one */
    text_pieces_init(&pieces, replacer_find, &model->words);
    text_pieces_init(&w.fold, replacer_find, &model->words);
    tem_status status = text_pieces_begin(&pieces, text, bytes, error);
    while (status == TEM_OK && pieces.rest_bytes > 0) {
        status = text_pieces_window(&pieces, error);
        for (size_t i = 0; i < pieces.count && status == TEM_OK; i++)
            status = add_place(&w, &pieces.pieces[i], before, out, error);
        before += pieces.cut;
    }
    text_pieces_free(&w.fold);
    text_pieces_free(&pieces);
    return status;
}
