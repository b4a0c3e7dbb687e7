/* fold_vectors.c - vectors whose words are folded as text is. */
#include "audit/fold_vectors.h"

#include "core/memory.h"
#include "core/status.h"
#include "text/pieces.h"

#include <stdlib.h>
#include <string.h>

/* A folded word, and the row that it comes from. */
typedef struct folded_word {
    size_t start, length; /* in the bytes of all folded words */
    uint32_t row;
} folded_word;

typedef struct folding {
    tem_vectors *vectors;
    core_buffer bytes;
    folded_word *words; /* one per row */
    word_span *names;   /* of the rows that stay, */
    uint32_t *rows;     /* and these rows, in ascending order */
    uint32_t count;     /* of them */
    uint32_t changed;   /* words that folding changes */
} folding;

static uint32_t find_nothing(const void *vocabulary, const char *word, size_t length) {
    (void)vocabulary, (void)word, (void)length;
    return TEM_NO_WORD;
}

static tem_status append_folded(text_pieces *pieces, const char *word, size_t bytes,
                                core_buffer *out, tem_error *error) {
    TRY(text_pieces_cut(pieces, word, bytes, error));
    const size_t length = pieces->text.size;
    const bool fits = length > 0 && length <= TEM_WORD_BYTES_MAX;
    return core_buffer_add(out, fits ? pieces->text.data : word, fits ? length : bytes)
               ? TEM_OK
               : core_fail_memory(error);
}

tem_status fold_word(const char *word, size_t bytes, core_buffer *out, tem_error *error) {
    text_pieces pieces;
    text_pieces_init(&pieces, find_nothing, NULL);
    const tem_status status = append_folded(&pieces, word, bytes, out, error);
    text_pieces_free(&pieces);
    return status;
}

static tem_status fold_words(folding *f, text_pieces *pieces, tem_error *error) {
    for (uint32_t row = 0; row < f->vectors->words.count; row++) {
        size_t bytes = 0;
        const char *word = vocab_word(&f->vectors->words, row, &bytes);
        const size_t start = f->bytes.size;
        TRY(append_folded(pieces, word, bytes, &f->bytes, error));
        const size_t length = f->bytes.size - start;
        f->words[row] = (folded_word){start, length, row};
        f->changed += length != bytes || memcmp(f->bytes.data + start, word, bytes) != 0;
    }
    return TEM_OK;
}

static int compare_words(const void *a, const void *b, void *bytes) {
    const folded_word *first = a, *second = b;
    const char *text = bytes;
    if (first->length != second->length)
        return first->length < second->length ? -1 : 1;
    const int order = memcmp(text + first->start, text + second->start, first->length);
    return order != 0 ? order : (first->row > second->row) - (first->row < second->row);
}

static bool are_equal(const folding *f, const folded_word *a, const folded_word *b) {
    return a->length == b->length &&
           memcmp(f->bytes.data + a->start, f->bytes.data + b->start, a->length) == 0;
}

static int compare_rows(const void *a, const void *b) {
    const folded_word *first = a, *second = b;
    return (first->row > second->row) - (first->row < second->row);
}

/* Of equal words the first row stays. */
static void choose_rows(folding *f) {
    const uint32_t rows = f->vectors->words.count;
    uint32_t kept = 0;
    qsort_r(f->words, rows, sizeof *f->words, compare_words, f->bytes.data);
    for (uint32_t i = 0; i < rows; i++)
        if (i == 0 || !are_equal(f, &f->words[i], &f->words[kept - 1]))
            f->words[kept++] = f->words[i];
    qsort(f->words, kept, sizeof *f->words, compare_rows);
    for (uint32_t i = 0; i < kept; i++) {
        f->names[i] = (word_span){f->bytes.data + f->words[i].start, f->words[i].length};
        f->rows[i] = f->words[i].row;
    }
    f->count = kept;
}

/* Most files have nothing to fold: then nothing is copied. */
static tem_status fold(folding *f, tem_error *error) {
    text_pieces pieces;
    text_pieces_init(&pieces, find_nothing, NULL);
    const tem_status status = fold_words(f, &pieces, error);
    text_pieces_free(&pieces);
    f->count = f->vectors->words.count;
    if (status != TEM_OK || f->changed == 0)
        return status;
    choose_rows(f);
    if (f->count < 2)
        return core_fail(error, TEM_ERR_FORMAT,
                         "only one word is left after folding; a model needs two");
    return vectors_keep(f->vectors, f->names, f->rows, f->count, error);
}

tem_status fold_vectors(tem_vectors *vectors, tem_folding *done, tem_error *error) {
    const uint32_t rows = vectors->words.count;
    if (vectors->values == NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "these vectors are on the grid, as the file has them: fold the words of "
                         "the original vectors");
    folding f = {.vectors = vectors,
                 .words = core_alloc(rows, sizeof *f.words),
                 .names = core_alloc(rows, sizeof *f.names),
                 .rows = core_alloc(rows, sizeof *f.rows)};
    const tem_status status = f.words == NULL || f.names == NULL || f.rows == NULL
                                  ? core_fail_memory(error)
                                  : fold(&f, error);
    if (status == TEM_OK && done != NULL)
        *done = (tem_folding){.changed = f.changed, .left_out = rows - f.count};
    core_buffer_free(&f.bytes);
    core_free(f.words);
    core_free(f.names);
    core_free(f.rows);
    return status;
}
